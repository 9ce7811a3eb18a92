"""Attention with any mix of mask, causal order and bias: NumPy beside torch, fused and explicit."""

import numpy as np
import torch
from arrays import assert_array
from hypothesis import given, settings
from hypothesis import strategies as st

import mhalib
import mhalib.torch


@given(
    seed=st.integers(0, 10_000),
    n_q=st.sampled_from([1, 2, 3, 7]),
    n_k=st.sampled_from([1, 2, 5]),
    causal=st.booleans(),
    masked=st.booleans(),
    biased=st.booleans(),
    wanted=st.booleans(),
)
@settings(max_examples=60)
def test_attention_agrees_for_any_mask(seed, n_q, n_k, causal, masked, biased, wanted):
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=(2, 3, n, d)) for n, d in ((n_q, 5), (n_k, 5), (n_k, 7))]
    mask = rng.random((2, 1, n_q, n_k)) < 0.5 if masked else None
    bias = rng.normal(size=(1, 3, n_q, n_k)) if biased else None
    found = mhalib.torch.attention(
        *map(torch.from_numpy, arrays), causal=causal, return_weights=wanted,
        mask=None if mask is None else torch.from_numpy(mask),
        bias=None if bias is None else torch.from_numpy(bias),
    )  # fmt: skip
    O, weights = mhalib.attention(*arrays, causal=causal, mask=mask, bias=bias, return_weights=True)
    assert_array(found[0] if wanted else found, O, rtol=0, atol=1e-12)
    if wanted:
        assert_array(found[1], weights, rtol=0, atol=1e-12)


def test_masked_keys_stay_out_even_as_nan():
    rng = np.random.default_rng(0)
    Q, K, V = (torch.from_numpy(rng.normal(size=(5, d))) for d in (3, 3, 7))
    mask = torch.ones(5, 5, dtype=torch.bool)
    mask[:, 2] = False
    expected = mhalib.torch.attention(Q, K, V, mask=mask)
    K[2], V[2] = torch.nan, torch.nan
    torch.testing.assert_close(
        mhalib.torch.attention(Q, K, V, mask=mask), expected, rtol=0, atol=1e-12
    )
