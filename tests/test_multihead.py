"""mhalib.multihead: split, merge and the whole, against a loop over the heads."""

import numpy as np
import pytest
from arrays import assert_array
from numpy.testing import assert_array_equal

from mhalib import (
    attention,
    merge_heads,
    multi_head_attention,
    multi_head_trace,
    padding_mask,
    split_heads,
)


def weights(d_model=5, h=3, d_k=2, d_v=7, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    shapes = (d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v), (h * d_v, d_model)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def tokens(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def by_a_loop_over_heads(X, X_kv, W_Q, W_K, W_V, W_O, h, **options):
    """Σ head_i · W_O^i, each head with its own narrow matrices."""
    d_k, d_v = W_Q.shape[1] // h, W_V.shape[1] // h
    O = 0
    for i in range(h):
        k, v = slice(i * d_k, (i + 1) * d_k), slice(i * d_v, (i + 1) * d_v)
        head = attention(X @ W_Q[:, k], X_kv @ W_K[:, k], X_kv @ W_V[:, v], **options)
        O = O + head @ W_O[v]
    return O


def test_split_by_hand():
    X = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    assert_array_equal(split_heads(X, 2), [[[0, 1], [4, 5]], [[2, 3], [6, 7]]])


def test_split_entry_by_entry():
    X = tokens(2, 3, 35)
    heads = split_heads(X, 5)
    assert heads.shape == (2, 5, 3, 7)
    for i in range(5):
        for j in range(7):
            assert_array_equal(heads[:, i, :, j], X[:, :, i * 7 + j])


def test_merge_by_hand():
    heads = np.array([[[0, 1], [4, 5]], [[2, 3], [6, 7]]])
    assert_array_equal(merge_heads(heads), [[0, 1, 2, 3], [4, 5, 6, 7]])


@pytest.mark.parametrize("options", [{}, {"causal": True}, {"scale": 1.0}])
def test_equals_a_loop_over_heads(options):
    X, W = tokens(11, 5), weights()
    assert_array(
        multi_head_attention(X, *W, 3, **options),
        by_a_loop_over_heads(X, X, *W, 3, **options),
    )


def test_cross_attention():
    X, X_kv, W = tokens(2, 3, 5), tokens(2, 11, 5, seed=2), weights()
    O, shares = multi_head_attention(X, *W, 3, X_kv=X_kv, return_weights=True)
    assert shares.shape == (2, 3, 3, 11)
    assert_array(O, by_a_loop_over_heads(X, X_kv, *W, 3))


def test_padding_in_a_batch():
    X, W = tokens(2, 11, 5), weights()
    mask = padding_mask([7, 11], 11)[:, None]
    O = multi_head_attention(X, *W, 3, mask=mask, causal=True)
    assert_array(O[0, :7], multi_head_attention(X[0, :7], *W, 3, causal=True))


def test_a_mask_for_each_head():
    X, W = tokens(11, 5), weights()
    mask = np.random.default_rng(3).random((3, 11, 11)) < 0.5
    _, shares = multi_head_attention(X, *W, 3, mask=mask, return_weights=True)
    assert (shares[~mask] == 0).all()
    assert (shares[mask] > 0).all()


def test_trace_holds_every_step():
    X, W = tokens(2, 11, 5), weights()
    trace = multi_head_trace(X, *W, 3, causal=True)
    assert_array(trace.Q, split_heads(X @ W[0], 3))
    assert_array(trace.scores, trace.Q @ trace.K.swapaxes(-1, -2) / 2**0.5)
    assert_array(trace.heads, trace.weights @ trace.V)
    assert_array(trace.concat, merge_heads(trace.heads))
    assert_array(trace.O, trace.concat @ W[3])


@pytest.mark.parametrize("n_past", [1, 4, 10])
def test_past_keys_and_values(n_past):
    X, W = tokens(11, 5), weights()
    past = multi_head_trace(X[:n_past], *W, 3)
    rest = multi_head_trace(X[n_past:], *W, 3, past=(past.K, past.V), causal=True)
    assert_array(rest.O, multi_head_attention(X, *W, 3, causal=True)[n_past:])


def test_dtype_is_kept():
    for dtype in (np.float16, np.float32):
        O, shares = multi_head_attention(
            tokens(11, 5).astype(dtype), *weights(dtype=dtype), 3, return_weights=True
        )
        assert O.dtype == shares.dtype == dtype


def test_large_float16_does_not_overflow():
    X = np.eye(11, 5, dtype=np.float16) * 500  # 500² / √5 is above the largest float16, 65504
    eye = np.eye(5, dtype=np.float16)
    O, shares = multi_head_attention(X, eye, eye, eye, eye, 1, causal=True, return_weights=True)
    assert_array_equal(shares[..., :5, :5], eye[None])
    assert_array_equal(O[:5], X[:5])


def test_inputs_are_not_changed():
    X, W = tokens(11, 5), weights()
    for array in (X, *W):
        array.flags.writeable = False  # an in-place edit would raise
    multi_head_attention(X, *W, 3, causal=True)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: split_heads(np.ones((3, 7)), 2),
            ValueError,
            "n_heads must divide the 7 columns of X, got 2",
        ),
        (lambda: split_heads(np.ones((3, 6)), 0), ValueError, "n_heads must be at least 1, got 0"),
        (
            lambda: split_heads(np.ones((3, 6)), 2.0),
            TypeError,
            "n_heads must be an integer, got 2.0",
        ),
        (
            lambda: split_heads(np.ones(6), 2),
            ValueError,
            r"X must have at least 2 axes, got shape \(6,\)",
        ),
        (
            lambda: merge_heads(np.ones((3, 6))),
            ValueError,
            r"heads must have at least 3 axes, got shape \(3, 6\)",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 4)), *weights(), 3),
            ValueError,
            r"W_Q must have 4 entries on axis 0 \(the columns of X\), got shape \(5, 6\)",
        ),
        (
            lambda: multi_head_attention(
                np.ones((3, 5)), *weights(), 3, mask=np.ones((2, 3), bool)
            ),
            ValueError,
            r"mask must broadcast to \(3, 3, 3\), got shape \(2, 3\)",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 5)), *weights(), 3, mask=np.ones((3, 3))),
            TypeError,
            "mask must be boolean",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 5)), *weights(), 2),
            ValueError,
            "n_heads must divide the 21 columns",
        ),
        (
            lambda: multi_head_attention(np.ones((3, 5)), *weights()[:3], np.ones((20, 5)), 3),
            ValueError,
            r"W_O must have 21 entries on axis 0 \(the columns of concat\(heads\)\)",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
