"""The values of common mistakes: what the library gives, and what each mistake would give.

The wrong versions are written out here, so that each stated wrong value is computed too.
"""

import numpy as np
import pytest
from arrays import assert_array, draw
from numpy.testing import assert_array_equal

from mhalib import (
    Tokenizer,
    attention,
    attention_weights,
    causal_mask,
    cross_entropy,
    layer_norm,
    merge_heads,
    multi_head_attention,
    next_token_pairs,
    post_norm_block,
    pre_norm_block,
    scores,
    sinusoidal_positions,
    softmax,
    split_heads,
    tied_logits,
)
from mhalib.analysis import entropy

# Fixture R3: weights 1 : 2 : 3 over the values 12, 24, 36
Q, K, V = np.ones((3, 1)), np.log([[1.0], [2.0], [3.0]]), np.array([[12.0], [24.0], [36.0]])
S = Q @ K.T
SEEN = np.tri(3, dtype=bool)


def U(n_q, n_k):
    """Fixture U: no preference, so each output is the mean of the allowed j + 1."""
    return np.zeros((n_q, 1)), np.zeros((n_k, 1)), np.arange(1.0, n_k + 1)[:, None]


def mean_entropy(weights):
    return entropy(weights).mean()


def test_r3():
    assert_array(attention(Q, K, V, scale=1.0).ravel(), [28, 28, 28])
    assert_array(attention(Q, K, V, scale=1.0, causal=True).ravel(), [12, 20, 28])


def test_split_by_reshape():
    X = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
    assert_array_equal(split_heads(X, 2)[0], [[0, 1], [4, 5]])
    assert_array_equal(X.reshape(2, 2, 2)[0], [[0, 1], [2, 3]])
    token = np.repeat(np.arange(6), 4).reshape(6, 4)  # each row is filled with its own number
    assert_array_equal(token.reshape(2, 6, 2)[0, :, 0], [0, 0, 1, 1, 2, 2])
    assert_array_equal(split_heads(token, 2)[0, :, 0], [0, 1, 2, 3, 4, 5])


def outputs(split, merge, X):
    heads = split(X)
    return merge(attention(heads, heads, heads, causal=True))


GOOD_SPLIT, GOOD_MERGE = lambda X: split_heads(X, 2), merge_heads
BAD_SPLIT, BAD_MERGE = lambda X: X.reshape(2, 6, 2), lambda heads: heads.reshape(6, 4)


@pytest.mark.parametrize(
    "split, merge, leaks, reaches",
    [
        (GOOD_SPLIT, GOOD_MERGE, False, True),
        (BAD_SPLIT, GOOD_MERGE, True, True),
        (GOOD_SPLIT, BAD_MERGE, True, True),
        (BAD_SPLIT, BAD_MERGE, False, False),
    ],
)
def test_which_property_catches_a_bad_split_or_merge(split, merge, leaks, reaches):
    X = draw(6, 4)
    before = outputs(split, merge, X)
    last_changed, first_changed = X.copy(), X.copy()
    last_changed[-1] += 1
    first_changed[0] += 1
    assert (outputs(split, merge, last_changed)[:-1] != before[:-1]).any() == leaks
    assert (outputs(split, merge, first_changed)[-1] != before[-1]).any() == reaches


def test_wrong_scales():
    # 64 keys, 8 heads of 64 features; sampled, so the figures are means over 200 queries
    q, k = draw(200, 64), draw(64, 64, seed=1)
    right = attention_weights(scores(q, k))
    assert mean_entropy(right) == pytest.approx(3.69, abs=0.05)
    flat = attention_weights(scores(q, k, scale=(8 * 64) ** -0.5))
    assert mean_entropy(flat) == pytest.approx(4.10, abs=0.02)
    assert mean_entropy(flat) < np.log(64)
    assert mean_entropy(attention_weights(scores(q, k, scale=8**-0.5))) < mean_entropy(
        right
    )  # √h: too sharp
    assert mean_entropy(attention_weights(scores(q, k, scale=64**0.5))) < 0.1  # times √d_k: one-hot
    assert mean_entropy(attention_weights(scores(q, k, scale=1 / 64))) > 4.1  # d_k: too flat


def test_no_scale():
    q, k = draw(200, 1024), draw(64, 1024, seed=1)
    right, wrong = attention_weights(scores(q, k)), attention_weights(scores(q, k, scale=1.0))
    assert right.max(axis=1).mean() == pytest.approx(0.11, abs=0.02)
    assert wrong.max(axis=1).mean() == pytest.approx(0.95, abs=0.03)
    assert mean_entropy(right) == pytest.approx(3.69, abs=0.05)
    assert mean_entropy(wrong) == pytest.approx(0.13, abs=0.05)


def test_scale_after_the_softmax():
    q, k = draw(3, 5), draw(7, 5, seed=1)
    assert_array((softmax(q @ k.T) / 5**0.5).sum(axis=1), np.full(3, 5**-0.5))
    assert_array(attention_weights(scores(q, k)).sum(axis=1), np.ones(3))


def test_masked_score_zero():
    assert_array((softmax(np.where(SEEN, S, 0)) @ V).ravel(), [24, 24, 28])
    rows = draw(2000, 8)
    leaked = softmax(np.where(np.arange(8) == 0, rows, 0))[:, 1:].sum(axis=1).mean()
    assert leaked == pytest.approx(0.84, abs=0.02)


def test_tril_added():
    assert_array((softmax(S + np.tri(3)) @ V).ravel(), [24.44, 24.30, 28], atol=0.005)
    rows = draw(2000, 8)
    leaked = softmax(rows + (np.arange(8) == 0))[:, 1:].sum(axis=1).mean()
    assert leaked == pytest.approx(0.75, abs=0.02)  # for scores of variance 1


def test_a_mask_of_numbers_is_refused():
    with pytest.raises(TypeError, match="mask must be boolean"):
        attention(Q, K, V, mask=np.tri(3))


def test_mask_after_the_softmax():
    weights = softmax(S) * SEEN
    assert_array((weights @ V).ravel(), [2, 10, 28])
    assert_array(weights.sum(axis=1), [1 / 6, 1 / 2, 1])
    assert_array((softmax(np.zeros(8)) * np.tri(8)).sum(axis=1)[[0, -1]], [0.125, 1])


def test_mask_inverted():
    keep = np.array([True, True, False])
    assert_array(attention(Q, K, V, scale=1.0, mask=keep).ravel(), [20, 20, 20])
    assert_array(attention(Q, K, V, scale=1.0, mask=~keep).ravel(), [36, 36, 36])


def test_triangle_off_by_one():
    with np.errstate(invalid="ignore"):
        hidden = np.where(np.tri(3, k=-1, dtype=bool), S, -np.inf)
        exp = np.exp(hidden - hidden.max(axis=1, keepdims=True))
        assert_array_equal(
            np.isnan(exp / exp.sum(axis=1, keepdims=True)).any(axis=1), [True, False, False]
        )
    # the library gives the empty row a value, and the other rows lack one token
    assert_array(
        attention(Q, K, V, scale=1.0, mask=np.tri(3, k=-1, dtype=bool)).ravel(), [0, 12, 20]
    )
    assert_array(
        attention(Q, K, V, scale=1.0, mask=np.tri(3, k=1, dtype=bool)).ravel(), [20, 28, 28]
    )


def test_finite_fill():
    empty = np.zeros((1, 3), bool)
    assert_array(softmax(np.where(empty, S[:1], -1e4)), np.full((1, 3), 1 / 3))
    assert_array_equal(attention_weights(S[:1], empty), np.zeros((1, 3)))
    large, seen = np.array([[-2e4, 0.0]]), np.array([[True, False]])
    assert_array_equal(softmax(np.where(seen, large, -1e4)), [[0, 1]])  # the masked key wins
    assert_array_equal(attention_weights(large, seen), [[1, 0]])


def test_softmax_over_queries():
    q, k = draw(3, 5), draw(7, 5, seed=1)
    assert_array(softmax(scores(q, k), axis=0).sum(axis=0), np.ones(7))
    assert_array(attention_weights(scores(q, k)).sum(axis=1), np.ones(3))


def test_exchanged_roles():
    q, k, v = draw(5, 5), draw(5, 5, seed=1), draw(5, 5, seed=2)
    right = attention(q, k, v)
    for wrong in (attention(q, k.T, v), attention(q, v, k), attention(k, q, v)):
        assert wrong.shape == right.shape
        assert not np.allclose(wrong, right)
    assert_array(scores(k, q), scores(q, k).T)


def test_mixing_heads():
    d, h = 6, 3
    X, W = draw(5, d), [draw(d, d, seed=i) for i in range(1, 5)]
    right = multi_head_attention(X, *W, h)
    no_mixing = multi_head_attention(X, *W[:3], np.eye(d), h)  # W_O left out
    dropped = multi_head_attention(X, *W[:3], np.concatenate([W[3][:4], np.zeros((2, d))]), h)
    sliced = (
        merge_heads(  # each head reads a slice of X
            np.stack(
                [
                    attention(*(x @ M[i * 2 : i * 2 + 2, i * 2 : i * 2 + 2] for M in W[:3]))
                    for i, x in enumerate(np.split(X, h, axis=1))
                ]
            )
        )
        @ W[3]
    )
    for wrong in (no_mixing, dropped, sliced):
        assert wrong.shape == right.shape
        assert not np.allclose(wrong, right)
    heads = split_heads(X @ W[2], h)
    assert heads.mean(axis=0).shape == (5, 2)  # averaged: not as wide as d_model
    assert merge_heads(heads).shape == (5, 6)


def test_a_head_sees_every_feature():
    d, h = 6, 3
    X, W = draw(5, d), [draw(d, d, seed=i) for i in range(1, 5)]
    changed = X.copy()
    changed[:, 0] += 1  # a feature of the "slice" of head 0
    _, before = multi_head_attention(X, *W, h, return_weights=True)
    _, after = multi_head_attention(changed, *W, h, return_weights=True)
    assert (before[1] != after[1]).any()


def test_layer_norm_values():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    right = [-1.3416407865, -0.4472135955, 0.4472135955, 1.3416407865]
    assert_array(layer_norm(x, eps=0.0), right, atol=5e-11)
    assert not np.allclose((x - x.mean()) / x.std(ddof=1), right)
    assert_array(layer_norm(x, eps=0.75), (x - 2.5) / 2**0.5)  # variance 1.25, inside the root


def test_norm_is_over_features():
    X = draw(3, 5)
    changed = X.copy()
    changed[2] += draw(5, seed=1)
    assert_array_equal(layer_norm(X)[:2], layer_norm(changed)[:2])
    over_tokens = layer_norm(X.T).T
    assert not np.allclose(over_tokens[:2], layer_norm(changed.T).T[:2])


def test_where_the_residual_starts():
    """x = [1, 3], and a sublayer that returns its input."""
    x = np.array([[1.0, 3.0]])

    def norm(X, gamma, beta):
        return layer_norm(X, eps=0.0)

    one = np.eye(2)  # one token attends to itself; W_V = W_O = 1 returns the input
    p = {
        "W_Q": one,
        "W_K": one,
        "W_V": one,
        "W_O": one,
        "W_1": one * 0,
        "b_1": 0,
        "W_2": one,
        "b_2": np.zeros(2),
        "gamma_1": 1,
        "beta_1": 0,
        "gamma_2": 1,
        "beta_2": 0,
    }
    pre, post = pre_norm_block(x, p, 1, norm=norm), post_norm_block(x, p, 1, norm=norm)
    assert_array(pre.residual_1, [[0, 4]])
    assert_array(post.norm_1, [[-1, 1]])
    assert_array(pre.norm_1 + pre.attention.O, [[-2, 2]])  # the mistake


def test_positions_values():
    right = [0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004]
    assert_array(sinusoidal_positions(2, 4)[1], right, atol=5e-11)
    columns = np.arange(4)  # the mistake: an exponent of its own for each column
    angles = 1 / 10000 ** (2 * columns / 4)
    assert not np.allclose(np.where(columns % 2 == 0, np.sin(angles), np.cos(angles)), right)


def test_tied_head_values():
    E = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    assert_array_equal(tied_logits(np.array([1.0, 2.0]), E), [1, 4, 3])


def test_labels():
    ids = np.array([0, 1, 2, 3])
    inputs, targets = next_token_pairs(ids)
    assert list(zip(inputs.tolist(), targets.tolist())) == [(0, 1), (1, 2), (2, 3)]
    knows_the_next = 20 * np.eye(4)[[1, 2, 3, 0]]  # row t is sure of t + 1
    assert cross_entropy(knows_the_next[:-1], targets) < 1e-6
    assert cross_entropy(knows_the_next[:-2], ids[2:]) > 19  # shifted twice
    assert cross_entropy(knows_the_next, ids) > 19  # not at all


def test_top_left_causal_with_a_cache():
    assert_array(attention(*U(1, 5), causal=True), [[3.0]])
    assert_array(attention(*U(1, 5), mask=np.tri(1, 5, dtype=bool)), [[1.0]])
    assert_array_equal(causal_mask(2, 5), [[True] * 4 + [False], [True] * 5])
    assert_array(attention(*U(5, 5), causal=True).ravel(), [1, 1.5, 2, 2.5, 3])


def test_bpe_order():
    assert Tokenizer([(98, 99), (97, 98)]).encode("abc") == [97, 256]


def test_a_token_does_not_attend_most_to_itself():
    """At random initialisation: chance (0.125 for 8 tokens); with W_Q = W_K far from it."""
    d, d_k, n, draws = 64, 16, 8, 400
    rng = np.random.default_rng(0)
    own, equal = [], []
    for _ in range(draws):
        X = rng.normal(size=(n, d))
        W_Q, W_K = rng.normal(size=(2, d, d_k)) / d**0.5
        own.append(np.diagonal(attention_weights(scores(X @ W_Q, X @ W_K))).mean())
        equal.append(np.diagonal(scores(X @ W_Q, X @ W_Q)).mean())
    assert np.mean(own) == pytest.approx(0.126, abs=0.004)
    assert np.mean(equal) > 3.5


def test_the_variance_of_a_score_is_sigma_to_the_fourth_times_d_k():
    for sigma in (0.5, 1.0, 2.0):
        raw = scores(sigma * draw(400, 64), sigma * draw(400, 64, seed=1), scale=1.0)
        assert raw.var() == pytest.approx(sigma**4 * 64, rel=0.05)
