"""What torch does to functions: gradients past a NaN, vmap, meta, compile, export."""

import numpy as np
import pytest
import torch
from arrays import assert_array, draw

import mhalib
from mhalib.torch import MultiHeadAttention, Transformer, attention, cross_entropy

OPTIONS = {
    "nothing": {},
    "causal": {"causal": True},
    "mask": {"mask": torch.arange(5) < 4},
    "mask and bias": {"mask": torch.arange(5) < 4, "bias": torch.ones(5, 5)},
    "mask and weights": {"mask": torch.arange(5) < 4, "return_weights": True},
    "weights": {"causal": True, "return_weights": True},
    "softcap": {"softcap": 2.0},
}


def drawn(*shape, seed=0):
    return torch.from_numpy(draw(*shape, seed=seed)).float()


def qkv(*batch):
    return [drawn(*batch, 5, 3, seed=seed) for seed in range(3)]


def first(result):
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize("fill", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("slot", ["K", "V"])
@pytest.mark.parametrize("option", ["mask", "mask and bias", "mask and weights"])
def test_a_masked_slot_stays_out_of_the_gradient(option, slot, fill):
    clean = dict(zip("QKV", (t.requires_grad_() for t in qkv(2))))
    dirty = {name: t.detach().clone() for name, t in clean.items()}
    dirty[slot][:, 4] = fill
    dirty = {name: t.requires_grad_() for name, t in dirty.items()}
    for given in (clean, dirty):
        first(attention(**given, **OPTIONS[option])).sum().backward()
    for name in "QKV":
        ours, theirs = dirty[name].grad, clean[name].grad
        seen = slice(None, 4)
        assert_array(ours[:, seen], theirs[:, seen], atol=1e-6, name=name)
        assert torch.isfinite(ours).all()


@pytest.mark.parametrize("slot", ["K", "V"])
def test_a_nan_that_is_seen_shows_in_the_gradient(slot):
    given = dict(zip("QKV", qkv(2)))
    given[slot][:, 4] = torch.nan
    given["Q"].requires_grad_()
    attention(**given, causal=True).sum().backward()
    assert torch.isnan(given["Q"].grad[:, 4]).all()
    assert torch.isfinite(given["Q"].grad[:, :4]).all()


@pytest.mark.parametrize("option", OPTIONS)
def test_vmap(option):
    Q, K, V = qkv(7)
    mapped = torch.func.vmap(lambda q, k, v: attention(q, k, v, **OPTIONS[option]))(Q, K, V)
    for one, expected in zip(
        mapped if isinstance(mapped, tuple) else [mapped],
        parts(attention(Q, K, V, **OPTIONS[option])),
    ):
        assert_array(one, expected, atol=1e-6)


def parts(result):
    return result if isinstance(result, tuple) else [result]


def test_per_sample_gradients():
    Q, K, V = qkv(7)
    slope = torch.func.vmap(
        torch.func.grad(lambda q, k, v: attention(q, k, v, causal=True).square().sum())
    )(Q, K, V)
    Q.requires_grad_()
    attention(Q, K, V, causal=True).square().sum().backward()
    assert_array(slope, Q.grad, atol=1e-5)


@pytest.mark.parametrize("option", OPTIONS)
def test_meta(option):
    options = {
        name: value.to("meta") if isinstance(value, torch.Tensor) else value
        for name, value in OPTIONS[option].items()
    }  # fmt: skip
    O = first(attention(*(t.to("meta") for t in qkv(2, 3)), **options))
    assert O.is_meta and O.shape == (2, 3, 5, 3)


def test_modules_on_meta():
    X = torch.empty(2, 5, 6, device="meta")
    assert MultiHeadAttention(6, 3).to("meta")(X, causal=True).shape == (2, 5, 6)
    config = mhalib.Config(11, d_model=6, n_heads=3, n_layers=2, norm="pre")
    ids = torch.empty(2, 5, dtype=torch.long, device="meta")
    assert Transformer(config).to("meta")(ids).shape == (2, 5, 11)


class Attend(torch.nn.Module):
    def forward(self, Q, K, V):
        return attention(Q, K, V, causal=True)


@pytest.mark.parametrize("name", ["attention", "model", "loss"])
def test_compile_without_a_break(name):
    """Dynamo traces all of it; the backend runs what was traced, without a compiler."""
    config = mhalib.Config(11, d_model=6, n_heads=3, n_layers=2, norm="pre")
    ids = torch.tensor([[3, 1, 4, 1], [5, 9, 2, 6]])
    function, given = {
        "attention": (Attend(), qkv(2)),
        "model": (Transformer(config), [ids]),
        "loss": (cross_entropy, [drawn(2, 4, 11), ids, ids > 1]),
    }[name]
    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    assert_array(compiled(*given), function(*given), atol=1e-5)  # sums in another order


@pytest.mark.parametrize("strict", [False, True])
def test_export(strict):
    for module, given in (
        (Attend(), tuple(qkv(2))),
        (MultiHeadAttention(6, 3), (drawn(2, 5, 6),)),
    ):
        program = torch.export.export(module, given, strict=strict)
        assert_array(program.module()(*given), module(*given), atol=1e-6)


def test_float16_weights_are_finite():
    """Scores of 1e5 are above the largest float16."""
    X = 300 * torch.eye(5, dtype=torch.float16)
    eye = torch.eye(5, dtype=torch.float16)
    O, weights = mhalib.torch.multi_head_attention(X, eye, eye, eye, eye, 1, return_weights=True)
    assert torch.isfinite(O).all()
    assert_array(weights[0], eye)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_one_large_bias_on_a_whole_row_is_no_bias(dtype):
    """−1e9 is a number, not −∞, on every path and in every dtype."""
    Q, K, V = (t.to(dtype) for t in qkv())
    bias = torch.full((5, 5), -1e9)
    mean = V.float().mean(0).expand(5, 3)
    for wanted in (False, True):
        O = first(attention(Q, K, V, bias=bias, return_weights=wanted))
        assert_array(O.float(), mean.contiguous(), atol=1e-2 if dtype != torch.float32 else 1e-6)


def test_one_masked_nan_in_v_costs_no_n_squared_times_d():
    """NumPy and torch: 400 · 400 · 400 numbers would be half a gigabyte."""
    import tracemalloc

    n = 400
    Q, K, V = (np.random.default_rng(0).normal(size=(n, n)) for _ in range(3))
    V[-1, 0] = np.nan
    mask = np.arange(n) < n - 1
    tracemalloc.start()
    O = mhalib.attention(Q, K, V, mask=mask)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.isfinite(O).all()
    assert peak < 20 * n * n * 8


@pytest.mark.parametrize("sizes", [(0, 2), (8, 0), (8, -2), (8, 3), (8, 2, 0), (8, 2, 4, 0)])
def test_sizes_of_the_module(sizes):
    with pytest.raises(ValueError, match="^(d_model|n_heads|d_k|d_v) must"):
        MultiHeadAttention(*sizes)
