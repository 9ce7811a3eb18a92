"""mhalib.attention: values, masks, dtypes, errors. The properties are in tests/properties."""

import numpy as np
import pytest
from arrays import assert_array, draw
from numpy.testing import assert_array_equal

from mhalib import (
    attention,
    attention_weights,
    causal_mask,
    log_softmax,
    padding_mask,
    scores,
    softmax,
)

DTYPES = [np.float16, np.float32, np.float64]


def qkv(n_q=3, n_k=5, d_k=2, d_v=7, batch=(), seed=0, dtype=np.float64):
    shapes = (*batch, n_q, d_k), (*batch, n_k, d_k), (*batch, n_k, d_v)
    return [draw(*shape, seed=seed).astype(dtype) for shape in shapes]


def attention_by_loops(Q, K, V, allowed):
    """One sequence, one number at a time."""
    O = np.zeros((len(Q), V.shape[1]))
    for i, q in enumerate(Q):
        seen = [j for j in range(len(K)) if allowed[i, j]]
        shares = [np.exp(sum(a * b for a, b in zip(q, K[j])) / len(q) ** 0.5) for j in seen]
        for share, j in zip(shares, seen):
            for c in range(V.shape[1]):
                O[i, c] += share / sum(shares) * V[j, c]
    return O


class TestSoftmax:
    def test_shares_of_logarithms(self):
        assert_array(softmax(np.log([1.0, 2.0, 5.0])), [0.125, 0.25, 0.625])

    def test_along_another_axis(self):
        x = np.random.default_rng(0).normal(size=(2, 3, 5))
        assert_array(softmax(x, axis=0), np.moveaxis(softmax(np.moveaxis(x, 0, -1)), -1, 0))

    def test_large_numbers_do_not_overflow(self):
        assert_array_equal(softmax([1e308, 0.0, -1e308]), [1.0, 0.0, 0.0])
        assert_array_equal(softmax(np.array([6e4, 6e4], np.float16)), np.float16([0.5, 0.5]))

    def test_minus_infinity_gets_nothing_and_a_row_of_it_is_zero(self):
        x = np.array([[0.0, -np.inf], [-np.inf, -np.inf]])
        assert_array_equal(softmax(x), [[1.0, 0.0], [0.0, 0.0]])

    def test_no_entries(self):
        assert softmax(np.zeros((3, 0))).shape == (3, 0)

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtype_is_kept(self, dtype):
        x = np.array([1, 2, 3], dtype)
        assert softmax(x).dtype == log_softmax(x).dtype == dtype

    def test_float16_sum_over_many_entries(self):
        # 70 000 terms of 1: the sum is above the largest float16
        assert softmax(np.zeros(70_000, np.float16)).max() > 0

    def test_integers_become_float64(self):
        assert softmax([0, 0]).dtype == np.float64

    def test_log_softmax_is_the_logarithm(self):
        x = np.random.default_rng(0).normal(size=(3, 5))
        assert_array(log_softmax(x), np.log(softmax(x)))
        assert_array(log_softmax(x, axis=0), np.log(softmax(x, axis=0)))

    def test_log_softmax_of_nothing_allowed(self):
        assert_array_equal(log_softmax([-np.inf, -np.inf]), [-np.inf, -np.inf])


class TestMasks:
    def test_causal_looks_back(self):
        assert_array_equal(
            causal_mask(3), [[True, False, False], [True, True, False], [True, True, True]]
        )
        assert causal_mask(3).dtype == np.bool_

    @pytest.mark.parametrize("n_q, n_k", [(1, 5), (2, 5), (5, 2), (3, 3), (0, 3), (3, 0)])
    def test_causal_is_aligned_bottom_right(self, n_q, n_k):
        mask = causal_mask(n_q, n_k)
        assert mask.shape == (n_q, n_k)
        for i in range(n_q):
            for j in range(n_k):
                assert mask[i, j] == (n_q - 1 - i <= n_k - 1 - j)

    def test_padding(self):
        mask = padding_mask([2, 0, 3], 5)
        assert mask.shape == (3, 1, 5)
        assert_array_equal(mask.sum(axis=(1, 2)), [2, 0, 3])
        assert mask[0, 0, :2].all()

    def test_padding_to_the_longest(self):
        assert padding_mask([2, 3]).shape == (2, 1, 3)
        assert padding_mask(2).shape == (1, 2)
        assert padding_mask([]).shape == (0, 1, 0)

    def test_padded_keys_do_not_matter(self):
        Q, K, V = qkv(n_q=5, batch=(2,))
        mask = padding_mask([3, 5], 5)
        O = attention(Q, K, V, mask=mask)
        assert_array(O[0], attention(Q[0], K[0, :3], V[0, :3]))
        assert_array(O[1], attention(Q[1], K[1], V[1]))


class TestScores:
    def test_one_pair_by_hand(self):
        assert_array(scores([[1.0, 2.0, 2.0, 0.0]], [[3.0, 1.0, 1.0, 9.0]]), [[3.5]])

    def test_scale_replaces_the_default(self):
        Q, K, _ = qkv()
        assert_array(scores(Q, K, scale=1.0), scores(Q, K) * 2**0.5)
        assert_array(scores(Q, K, scale=1.0), np.einsum("id,jd->ij", Q, K))

    def test_large_float16(self):
        # 300 · 300 · 4 features overflow float16, divided by √4 they do not
        Q = np.full((1, 4), 180, np.float16)
        assert_array(scores(Q, Q), np.float16([[64800]]))


class TestAttention:
    def test_equals_loops(self):
        Q, K, V = qkv()
        assert_array(attention(Q, K, V), attention_by_loops(Q, K, V, np.ones((3, 5))))
        assert_array(
            attention(Q, K, V, causal=True),
            attention_by_loops(Q, K, V, causal_mask(3, 5)),
        )

    def test_weights_come_along_and_change_nothing(self):
        Q, K, V = qkv(batch=(2, 11))
        O, weights = attention(Q, K, V, causal=True, return_weights=True)
        assert_array_equal(O, attention(Q, K, V, causal=True))
        assert_array(weights @ V, O)
        assert weights.shape == (2, 11, 3, 5)

    def test_mask_and_causal_together(self):
        Q, K, V = qkv(n_q=5)
        mask = np.random.default_rng(1).random((5, 5)) < 0.5
        assert_array_equal(
            attention(Q, K, V, mask=mask, causal=True),
            attention(Q, K, V, mask=mask & causal_mask(5)),
        )

    def test_bias_is_added_to_the_scores(self):
        Q, K, V = qkv()
        bias = np.random.default_rng(1).normal(size=(3, 5))
        weights = softmax(Q @ K.T / 2**0.5 + bias)
        assert_array(attention(Q, K, V, bias=bias), weights @ V)
        assert_array_equal(
            attention_weights(scores(Q, K), bias=np.where(causal_mask(3, 5), 0, -np.inf)),
            attention_weights(scores(Q, K), mask=causal_mask(3, 5)),
        )

    @pytest.mark.parametrize("return_weights", [False, True])
    def test_an_empty_row_is_zero(self, return_weights):
        Q, K, V = qkv()
        mask = np.ones((3, 5), bool)
        mask[1] = False
        result = attention(Q, K, V, mask=mask, return_weights=return_weights)
        O = result[0] if return_weights else result
        assert_array_equal(O[1], np.zeros(7))
        assert (O[[0, 2]] != 0).all()
        if return_weights:
            assert_array_equal(result[1][1], np.zeros(5))

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_a_masked_slot_may_hold_anything(self, bad):
        Q, K, V = qkv()
        mask = np.array([True, True, False, True, False])
        right = attention(Q, K, V, mask=mask)
        K[~mask], V[~mask] = bad, bad
        assert_array(attention(Q, K, V, mask=mask), right)

    def test_a_nan_in_an_allowed_slot_shows(self):
        Q, K, V = qkv()
        V[4] = np.nan
        O = attention(Q, K, V, causal=True)
        assert_array_equal(np.isnan(O).all(axis=1), [False, False, True])

    def test_no_keys(self):
        Q, K, V = qkv(n_k=0)
        assert_array_equal(attention(Q, K, V), np.zeros((3, 7)))
        assert attention(*qkv(n_q=0)).shape == (0, 7)

    def test_large_scores_beat_a_finite_fill(self):
        # a fill of −1e4 would win against these scores of about −1e8
        Q, K = np.full((1, 1), 1e4), np.array([[-1e4], [-1e4], [0.0]])
        mask = np.array([True, True, False])
        assert_array_equal(attention_weights(scores(Q, K), mask=mask[None]), [[0.5, 0.5, 0.0]])

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtype_is_kept(self, dtype):
        Q, K, V = qkv(dtype=dtype)
        O, weights = attention(Q, K, V, causal=True, return_weights=True)
        assert weights.dtype == scores(Q, K).dtype == dtype
        wide = attention(*(A.astype(np.float64) for A in (Q, K, V)), causal=True)
        assert_array(
            O, wide.astype(dtype), rtol=20 * np.finfo(dtype).eps, atol=20 * np.finfo(dtype).eps
        )

    def test_float16_does_not_overflow(self):
        Q, K, V = qkv(dtype=np.float16)
        O = attention(Q * 1000, K * 1000, V, causal=True)
        assert np.isfinite(O).all()

    def test_mixed_dtypes_follow_numpy(self):
        Q, K, V = qkv()
        assert attention(Q.astype(np.float32), K.astype(np.float32), V).dtype == np.float64

    def test_batch_axes_broadcast(self):
        Q, K, V = qkv(batch=(7,))
        O = attention(Q, K[0], V[0])
        for b in range(7):
            assert_array(O[b], attention(Q[b], K[0], V[0]))

    def test_inputs_are_not_changed(self):
        Q, K, V = qkv()
        mask, bias = causal_mask(3, 5), np.ones((3, 5))
        for A in (Q, K, V, mask, bias):
            A.flags.writeable = False  # an in-place edit would raise
        attention(Q, K, V, mask=mask, causal=True, bias=bias, return_weights=True)


class TestErrors:
    """Each message names the argument, what came, and what was expected."""

    @pytest.mark.parametrize(
        "change, error, message",
        [
            (
                {"mask": np.ones((3, 5))},
                TypeError,
                r"mask must be boolean \(True = may attend\).*float64",
            ),
            ({"mask": np.ones((3, 5), int)}, TypeError, r"mask must be boolean.*int64.*mask != 0"),
            (
                {"mask": np.ones((5, 3), bool)},
                ValueError,
                r"mask must broadcast to \(3, 5\).*\(5, 3\)",
            ),
            (
                {"mask": np.ones((2, 3, 5), bool)},
                ValueError,
                r"mask must broadcast to \(3, 5\).*\(2, 3, 5\)",
            ),
            ({"bias": np.ones((5, 3))}, ValueError, r"bias must broadcast to \(3, 5\).*\(5, 3\)"),
            ({"Q": np.ones(2)}, ValueError, r"Q must have at least 2 axes, got shape \(2,\)"),
            ({"K": np.ones((5, 3))}, ValueError, r"K must have 2 entries on axis -1 .*\(5, 3\)"),
            ({"V": np.ones((3, 7))}, ValueError, r"V must have 5 entries on axis -2 .*\(3, 7\)"),
            (
                {"V": np.ones((5, 7), complex)},
                TypeError,
                r"V must hold real numbers, got dtype complex128",
            ),
            ({"Q": np.array([["a", "b"]])}, TypeError, r"Q must hold real numbers"),
            ({"scale": "large"}, TypeError, r"scale must be a number, got 'large'"),
            ({"scale": np.nan}, ValueError, r"scale must be finite, got nan"),
        ],
    )
    def test_attention(self, change, error, message):
        arguments = dict(zip("QKV", qkv())) | change
        with pytest.raises(error, match=message):
            attention(**arguments)

    def test_batch_axes(self):
        with pytest.raises(ValueError, match=r"batch axes of Q \(2, 3, 5\) and K \(7, 3, 5\)"):
            scores(np.ones((2, 3, 5)), np.ones((7, 3, 5)))

    @pytest.mark.parametrize(
        "call, error, message",
        [
            (lambda: causal_mask(-1), ValueError, "n_q must be at least 0, got -1"),
            (lambda: causal_mask(2.0), TypeError, "n_q must be an integer, got 2.0"),
            (lambda: causal_mask(2, True), TypeError, "n_k must be an integer, got True"),
            (lambda: padding_mask([4], 3), ValueError, "lengths must lie in 0 … 3, got 4"),
            (lambda: padding_mask([-1], 3), ValueError, "lengths must lie in 0 … 3, got -1"),
            (
                lambda: padding_mask([1.0], 3),
                TypeError,
                "lengths must hold integers, got dtype float64",
            ),
        ],
    )
    def test_masks(self, call, error, message):
        with pytest.raises(error, match=message):
            call()
