"""torch's own modules with copied weights: nn.MultiheadAttention, nn.TransformerEncoderLayer."""

import numpy as np
import pytest
import torch
from arrays import assert_array
from numpy.testing import assert_array_equal
from torch import nn
from torch.nn import functional as F

from mhalib import (
    attention,
    causal_mask,
    gelu,
    multi_head_attention,
    padding_mask,
    post_norm_block,
    pre_norm_block,
    relu,
)
from mhalib.model import Config, layer_shapes
from mhalib.torch import MultiHeadAttention
from mhalib.torch.convert import (
    from_encoder_layer,
    from_multihead_attention,
    to_encoder_layer,
    to_multihead_attention,
    to_torch,
)
from mhalib.torch.layers import BLOCKS

CONFIG = Config(vocab_size=13, d_model=15, n_heads=5, n_layers=1, d_ff=11)
LENGTHS = np.array([7, 4])
X = np.random.default_rng(3).normal(size=(2, 7, 15))
MATRICES = ("W_Q", "W_K", "W_V", "W_O")


def parameters():
    rng = np.random.default_rng(0)
    return {name: rng.normal(0, 0.4, shape) for name, shape in layer_shapes(CONFIG).items()}


def masks(kind):
    """The course's options, and the same said to torch's modules, where True = may not attend."""
    hidden = torch.from_numpy(~causal_mask(7))
    padded = torch.from_numpy(~padding_mask(LENGTHS)[:, 0])
    return {
        "none": ({}, {}),
        "causal": ({"causal": True}, {"attn_mask": hidden}),
        "padding": ({"mask": padding_mask(LENGTHS)[:, None]}, {"key_padding_mask": padded}),
        "both": (
            {"mask": padding_mask(LENGTHS)[:, None], "causal": True},
            {"attn_mask": hidden, "key_padding_mask": padded},
        ),
    }[kind]


@pytest.mark.parametrize("kind", ["none", "causal", "padding", "both"])
def test_multihead_attention(kind):
    p = parameters()
    ours, theirs = masks(kind)
    module = to_multihead_attention(p, CONFIG.n_heads)
    x = torch.from_numpy(X)
    O, weights = multi_head_attention(
        X, *(p[name] for name in MATRICES), CONFIG.n_heads, return_weights=True, **ours
    )
    torch_O, torch_weights = module(x, x, x, average_attn_weights=False, **theirs)
    assert_array(torch_O.detach(), O, rtol=1e-12, atol=1e-12)
    assert_array(torch_weights.detach(), weights, rtol=1e-12, atol=1e-12)
    _, averaged = module(x, x, x, **theirs)
    assert_array(averaged.detach(), weights.mean(axis=1), rtol=1e-12, atol=1e-12)
    own = MultiHeadAttention(15, CONFIG.n_heads).double()
    own.load_state_dict({name: to_torch(p)[name] for name in MATRICES})
    ours = {key: torch.from_numpy(v) if key == "mask" else v for key, v in ours.items()}
    assert_array(own(x, **ours).detach(), torch_O.detach(), rtol=1e-12, atol=1e-12)


def test_cross_attention():
    p = parameters()
    X_kv = np.random.default_rng(4).normal(size=(2, 11, 15))
    O = multi_head_attention(X, *(p[name] for name in MATRICES), CONFIG.n_heads, X_kv=X_kv)
    module = to_multihead_attention(p, CONFIG.n_heads)
    torch_O, _ = module(torch.from_numpy(X), *[torch.from_numpy(X_kv)] * 2)
    assert_array(torch_O.detach(), O, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["none", "causal", "padding", "both"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["post", "pre"])
def test_encoder_layer(norm, activation, kind):
    p = parameters()
    ours, theirs = masks(kind)
    if "attn_mask" in theirs:
        theirs["src_mask"] = theirs.pop("attn_mask")
    if "key_padding_mask" in theirs:
        theirs["src_key_padding_mask"] = theirs.pop("key_padding_mask")
    block = {"post": post_norm_block, "pre": pre_norm_block}[norm]
    function = {"relu": relu, "gelu": gelu}[activation]
    output = block(X, p, CONFIG.n_heads, activation=function, **ours).output
    layer = to_encoder_layer(p, CONFIG.n_heads, norm_first=norm == "pre", activation=activation)
    assert_array(
        layer(torch.from_numpy(X), **theirs).detach(), output, rtol=1e-11, atol=1e-11
    )  # fmt: skip
    config = Config(13, 15, 5, 1, d_ff=11, norm=norm, activation=activation)
    own = BLOCKS[norm](config).double()
    own.load_state_dict(to_torch(p))
    ours = {key: torch.from_numpy(v) if key == "mask" else v for key, v in ours.items()}
    assert_array(
        own(torch.from_numpy(X), **ours).detach(), output, rtol=1e-11, atol=1e-11
    )  # fmt: skip


def test_parameters_survive_the_way_there_and_back():
    p = parameters()
    for back in (
        from_multihead_attention(to_multihead_attention(p, CONFIG.n_heads)),
        from_encoder_layer(to_encoder_layer(p, CONFIG.n_heads)),
    ):
        assert set(back) == set(MATRICES if len(back) == 4 else p)
        for name, array in back.items():
            assert_array_equal(array, p[name], strict=True)


def test_conversions_refuse_what_the_course_has_no_name_for():
    with pytest.raises(ValueError, match="bias=False"):
        from_multihead_attention(nn.MultiheadAttention(6, 2))
    with pytest.raises(ValueError, match="without kdim"):
        from_multihead_attention(nn.MultiheadAttention(6, 2, bias=False, kdim=5))
    for own_keys in ("add_bias_kv", "add_zero_attn"):
        with pytest.raises(ValueError, match=own_keys):
            from_multihead_attention(nn.MultiheadAttention(6, 2, bias=False, **{own_keys: True}))
    with pytest.raises(ValueError, match="norm1 must have eps = 1e-05, got 0.1"):
        from_encoder_layer(nn.TransformerEncoderLayer(6, 2, 5, layer_norm_eps=0.1))
    layer = to_encoder_layer(parameters(), CONFIG.n_heads)
    nn.init.ones_(layer.self_attn.out_proj.bias)
    with pytest.raises(ValueError, match="out_proj.bias must be 0"):
        from_encoder_layer(layer)
    with pytest.raises(ValueError, match="bias=True; it lacks linear1.bias"):
        from_encoder_layer(nn.TransformerEncoderLayer(6, 2, 5, bias=False))
    narrow = {**parameters(), "W_V": np.zeros((15, 10))}
    with pytest.raises(ValueError, match=r"needs h·d_k = h·d_v = d_model, got .*\(15, 10\)"):
        to_multihead_attention(narrow, CONFIG.n_heads)


def test_sdpa_is_the_same_function_where_the_conventions_meet():
    """n_q = n_k: top-left and bottom-right are one. Its boolean mask has our polarity."""
    rng = np.random.default_rng(5)
    Q, K, V = (rng.normal(size=(2, 3, 7, d)) for d in (5, 5, 2))
    t = [torch.from_numpy(A) for A in (Q, K, V)]
    keep = rng.random((2, 1, 7, 7)) < 0.6
    bias = rng.normal(size=(1, 3, 7, 7))
    for ours, theirs in (
        ({}, {}),
        ({"causal": True}, {"is_causal": True}),
        ({"mask": keep}, {"attn_mask": torch.from_numpy(keep)}),
        ({"bias": bias}, {"attn_mask": torch.from_numpy(bias)}),
        ({"scale": 0.2}, {"scale": 0.2}),
    ):
        expected = F.scaled_dot_product_attention(*t, **theirs)
        assert_array(attention(Q, K, V, **ours), expected, rtol=1e-12, atol=1e-12)
