"""A query that may look at nothing: 0 and finite, forward and backward, on every path."""

import numpy as np
import pytest
import torch
from arrays import assert_array

import mhalib
from mhalib.torch import MultiHeadAttention, Transformer, attention

EMPTY = 2  # the query without a key


def inputs(dtype):
    rng = np.random.default_rng(0)
    arrays = (rng.normal(size=shape) for shape in ((2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 11, 2)))
    return [torch.tensor(A, dtype=dtype, requires_grad=True) for A in arrays]


MASK = np.random.default_rng(1).random((2, 1, 5, 11)) < 0.7
MASK[:, :, EMPTY] = False
WAYS = {
    "mask": {"mask": torch.from_numpy(MASK)},
    "mask and causal": {"mask": torch.from_numpy(MASK), "causal": True},
    "bias of −∞": {"bias": torch.from_numpy(np.where(MASK, 0.0, -np.inf))},
    "mask and bias": {"mask": torch.from_numpy(MASK), "bias": torch.ones(11, dtype=torch.float64)},
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("explicit", [False, True], ids=["fused", "explicit"])
@pytest.mark.parametrize("way", WAYS)
def test_attention(way, explicit, dtype):
    Q, K, V = inputs(dtype)
    result = attention(Q, K, V, return_weights=explicit, **WAYS[way])
    O = result[0] if explicit else result
    assert not O[:, :, EMPTY].any()
    if explicit:
        assert not result[1][:, :, EMPTY].any()
    O.sum().backward()
    for tensor in (O, Q.grad, K.grad, V.grad):
        assert torch.isfinite(tensor).all()
    assert not Q.grad[:, :, EMPTY].any()
    ours = {k: v.numpy() if isinstance(v, torch.Tensor) else v for k, v in WAYS[way].items()}
    expected = mhalib.attention(*(A.detach().numpy() for A in (Q, K, V)), **ours)
    tolerance = 1e-12 if dtype == torch.float64 else 2e-6
    assert_array(O.detach(), expected, rtol=tolerance, atol=tolerance)


def test_more_queries_than_keys():
    """Causal, bottom-right: the first queries come before any key."""
    Q, K, V = (torch.ones(n, 3, requires_grad=True) for n in (5, 2, 2))
    O = attention(Q, K, V, causal=True)
    assert not O[:3].any()
    assert O[3:].all()
    O.sum().backward()
    assert torch.isfinite(Q.grad).all()


@pytest.mark.parametrize("return_weights", [False, True], ids=["fused", "explicit"])
def test_module(return_weights):
    module = MultiHeadAttention(6, 3)
    X = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0), requires_grad=True)
    mask = torch.ones(2, 1, 5, 5, dtype=torch.bool)
    mask[0, :, EMPTY] = False
    result = module(X, mask=mask, return_weights=return_weights)
    O = result[0] if return_weights else result
    assert not O[0, EMPTY].any()
    O.sum().backward()
    for tensor in (X, *module.parameters()):
        assert torch.isfinite(tensor.grad).all()


def test_a_padded_sequence_of_length_0_does_not_spoil_the_batch():
    config = mhalib.Config(vocab_size=7, d_model=6, n_heads=3, n_layers=2)
    model = Transformer(config)
    ids = torch.tensor([[1, 2, 3, 4, 5], [0, 0, 0, 0, 0]])
    mask = mhalib.torch.padding_mask(torch.tensor([5, 0]))[:, None]
    model(ids, mask=mask).sum().backward()
    for name, parameter in model.named_parameters():
        assert torch.isfinite(parameter.grad).all(), name
