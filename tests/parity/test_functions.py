"""Function by function: `mhalib.torch` gives what `mhalib` gives, in float64 and in float32."""

import inspect
from functools import partial

import numpy as np
import pytest
import torch
from arrays import assert_array, draw

import mhalib
import mhalib.torch

# What two float64 (float32) computations of the same formula may differ by, at values near 1.
TOLERANCE = {np.float64: 1e-12, np.float32: 2e-6}

# What lives in NumPy alone: text, choosing a word, files, and what torch has as modules.
NUMPY_ONLY = {
    "Ablation", "Config", "Tokenizer", "Trace", "generate", "greedy", "init_parameters",
    "load_model", "load_tokenizer", "parameter_shapes", "post_norm_block", "pre_norm_block",
    "sample", "show_source", "top_k_filter", "top_p_filter", "train_bpe",
}  # fmt: skip
TORCH_ONLY = {"MultiHeadAttention", "PostNormBlock", "PreNormBlock"}


def keep(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).random(shape) < 0.6


ids = np.random.default_rng(0).integers(0, 13, size=(2, 7))
qkv = draw(2, 3, 5, 7), draw(2, 3, 11, 7), draw(2, 3, 11, 2)  # batch, h, n, d
matrices = [draw(*shape) / shape[0] ** 0.5 for shape in ((7, 6), (7, 6), (7, 15), (15, 7))]
heads = draw(2, 5, 7), *matrices  # X, W_Q, W_K, W_V, W_O
empty_row = keep(5, 11) & (np.arange(5) != 3)[:, None]

CASES = {
    "softmax": ("softmax", [draw(3, 5)], {}),
    "softmax, a row of −∞": ("softmax", [np.where(keep(3, 1), draw(3, 5), -np.inf)], {}),
    "log_softmax": ("log_softmax", [draw(3, 5)], {}),
    "log_softmax, a row of −∞": ("log_softmax", [np.where(keep(3, 1), 0.5, [[-np.inf]])], {}),
    "causal_mask": ("causal_mask", [5, 11], {}),
    "causal_mask, more queries": ("causal_mask", [11, 5], {}),
    "window_mask": ("window_mask", [5, 11], {"left": 3, "right": 1}),
    "window_mask, open": ("window_mask", [7], {"left": 2}),
    "padding_mask": ("padding_mask", [np.array([3, 0, 5])], {}),
    "padding_mask, padded further": ("padding_mask", [np.array([3, 5])], {"n_k": 7}),
    "scores": ("scores", qkv[:2], {}),
    "scores, scale": ("scores", qkv[:2], {"scale": 0.3}),
    "weights": ("attention_weights", [draw(2, 5, 11)], {"mask": empty_row, "bias": draw(11)}),
    "attention": ("attention", qkv, {}),
    "attention, causal": ("attention", qkv, {"causal": True}),
    "attention, mask": ("attention", qkv, {"mask": empty_row}),
    "attention, all": (
        "attention",
        qkv,
        {"mask": keep(2, 1, 1, 11), "causal": True, "bias": draw(1, 3, 5, 11), "scale": 0.7},
    ),
    "attention, softcap": ("attention", qkv, {"softcap": 0.5}),
    "attention, weights": ("attention", qkv, {"causal": True, "return_weights": True}),
    "split_heads": ("split_heads", [draw(2, 5, 21), 3], {}),
    "merge_heads": ("merge_heads", [draw(2, 3, 5, 7)], {}),
    "repeat_heads": ("repeat_heads", [draw(2, 3, 5, 7), 6], {}),
    "multi-head": ("multi_head_attention", [*heads, 3], {}),
    "multi-head, across": ("multi_head_attention", [*heads, 3], {"X_kv": draw(2, 11, 7)}),
    "multi-head, weights": (
        "multi_head_attention",
        [*heads, 3],
        {"causal": True, "mask": keep(2, 1, 5, 5), "bias": draw(5, 5), "return_weights": True},
    ),
    "embed": ("embed", [ids, draw(13, 5)], {}),
    "embed, scale": ("embed", [ids, draw(13, 5)], {"scale": 1.0}),
    "positions": ("sinusoidal_positions", [11, 6], {}),
    "positions, odd": ("sinusoidal_positions", [5, 7], {"start": 3, "base": 100.0}),
    "layer_norm": ("layer_norm", [draw(2, 5, 7), draw(7), draw(7, seed=1)], {}),
    "layer_norm, eps": ("layer_norm", [draw(5, 7), draw(7), draw(7, seed=1)], {"eps": 0.1}),
    "relu": ("relu", [draw(5, 7)], {}),
    "gelu": ("gelu", [draw(5, 7)], {}),
    "gelu_tanh": ("gelu_tanh", [draw(5, 7)], {}),
    "feed_forward": (
        "feed_forward",
        [draw(2, 5, 7), draw(7, 11), draw(11), draw(11, 7), draw(7)],
        {},
    ),
    "tied_logits": ("tied_logits", [draw(2, 5, 7), draw(13, 7)], {}),
    "next_token_pairs": ("next_token_pairs", [ids], {}),
    "cross_entropy": ("cross_entropy", [draw(2, 7, 13), ids], {}),
    "cross_entropy, mask": ("cross_entropy", [draw(2, 7, 13), ids], {"mask": keep(2, 7)}),
}


def cast(value, dtype):
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value.astype(dtype)
    return value


def tensor(value):
    return torch.from_numpy(value) if isinstance(value, np.ndarray) else value


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("dtype", TOLERANCE, ids=["float64", "float32"])
@pytest.mark.parametrize("case", CASES)
def test_function(case, dtype):
    name, args, options = CASES[case]
    args = [cast(a, dtype) for a in args]
    options = {key: cast(value, dtype) for key, value in options.items()}
    ours = parts(getattr(mhalib, name)(*args, **options))
    theirs = parts(
        getattr(mhalib.torch, name)(
            *map(tensor, args), **{k: tensor(v) for k, v in options.items()}
        )
    )
    assert len(ours) == len(theirs)
    for numpy_part, torch_part in zip(ours, theirs):
        assert not np.isnan(numpy_part).any()
        assert_array(torch_part, numpy_part, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_every_function_has_a_case():
    functions = {name for name in mhalib.torch.__all__ if name[0].islower()}
    assert functions - {name for name, _, _ in CASES.values()} == {"multi_head_trace"}


def test_the_same_names():
    ours, theirs = set(mhalib.__all__), set(mhalib.torch.__all__)
    assert ours - theirs == NUMPY_ONLY
    assert theirs - ours == TORCH_ONLY


@pytest.mark.parametrize("name", [name for name in mhalib.torch.__all__ if name[0].islower()])
def test_the_same_arguments(name):
    """Same names in the same order; torch says `dim`, and can ask for a device or a fused path."""
    names = [
        [p.name for p in inspect.signature(getattr(package, name)).parameters.values()]
        for package in (mhalib, mhalib.torch)
    ]
    ours, theirs = names
    theirs = ["axis" if p == "dim" else p for p in theirs if p not in ("device", "like", "fused")]
    if "options" in theirs:  # passed on by name to multi_head_trace
        passed = inspect.signature(mhalib.torch.multi_head_trace).parameters
        assert set(ours) - set(theirs) <= set(passed)
    else:
        assert theirs == ours


def test_float16_does_not_overflow():
    """Both sides: the products of float16 numbers exceed its largest, 65504."""
    Q, K, V = (A.astype(np.float16) for A in (300 * draw(5, 7), 300 * draw(3, 7), draw(3, 2)))
    for attend in (
        mhalib.attention,
        lambda *QKV: mhalib.torch.attention(*map(torch.from_numpy, QKV)).numpy(),
        lambda *QKV: mhalib.torch.attention(
            *map(torch.from_numpy, QKV), return_weights=True
        )[0].numpy(),
    ):  # fmt: skip
        O = attend(Q, K, V)
        assert O.dtype == np.float16
        exact = mhalib.attention(*(A.astype(np.float64) for A in (Q, K, V)))
        assert_array(O.astype(np.float64), exact, atol=2e-3)


def test_an_independent_reference():
    """Both sides against einsum and an explicit exponential: another path to the same numbers."""
    Q, K, V = qkv
    allowed = np.tri(5, 11, 11 - 5, dtype=bool)
    share = np.exp(np.einsum("bhid,bhjd->bhij", Q, K) / np.sqrt(7)) * allowed
    expected = np.einsum("bhij,bhjd,bhi->bhid", share, V, 1 / share.sum(-1))
    assert_array(mhalib.attention(Q, K, V, causal=True), expected, rtol=1e-12, atol=1e-12)
    attend = partial(mhalib.torch.attention, causal=True)
    assert_array(
        attend(*map(torch.from_numpy, qkv)).numpy(), expected, rtol=1e-12, atol=1e-12
    )  # fmt: skip
