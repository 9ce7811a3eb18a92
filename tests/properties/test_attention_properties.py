"""What must hold for all inputs. Sizes are distinct primes, so that no transpose can hide."""

import numpy as np
from arrays import assert_array
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mhalib import (
    Config,
    Transformer,
    attention,
    attention_weights,
    causal_mask,
    layer_norm,
    log_softmax,
    merge_heads,
    multi_head_attention,
    parameter_shapes,
    scores,
    softmax,
    split_heads,
)

SEEDS = st.integers(0, 2**32 - 1)
PRIMES = [2, 3, 5, 7, 11, 13]


@st.composite
def arrays(draw, *shapes):
    """Normal numbers for shapes such as ``("n", "d")``; equal letters get equal primes."""
    letters = sorted({letter for shape in shapes for letter in shape})
    sizes = dict(zip(letters, draw(st.permutations(PRIMES))))
    rng = np.random.default_rng(draw(SEEDS))
    return [rng.normal(size=[sizes[letter] for letter in shape]) for shape in shapes]


@st.composite
def multi_head(draw):
    """X (b, n, d), the four matrices, and h; all sizes distinct primes."""
    n, d, h, d_k, d_v = draw(st.permutations(PRIMES))[:5]
    rng = np.random.default_rng(draw(SEEDS))
    shapes = (2, n, d), (d, h * d_k), (d, h * d_k), (d, h * d_v), (h * d_v, d)
    return [rng.normal(size=shape) for shape in shapes], h


QKV = arrays("bqk", "bsk", "bsv")


@given(arrays("nd"), st.floats(0.1, 100))
def test_softmax_rows_sum_to_one(x, size):
    rows = softmax(x[0] * size)
    assert_array(rows.sum(axis=-1), np.ones(len(rows)))
    assert (rows >= 0).all()


@given(arrays("nd"), st.floats(-1e3, 1e3))
def test_softmax_shift_invariance(x, shift):
    assert_array(softmax(x[0] + shift), softmax(x[0]), rtol=1e-9)
    assert_array(log_softmax(x[0] + shift), log_softmax(x[0]), rtol=1e-9, atol=1e-9)


@given(QKV, SEEDS)
def test_weights_sum_to_one_or_zero(qkv, seed):
    S = scores(*qkv[:2])
    mask = np.random.default_rng(seed).random(S.shape) < 0.3
    weights = attention_weights(S, mask)
    assert_array(weights.sum(axis=-1), mask.any(axis=-1).astype(float))
    assert (weights[~mask] == 0).all()


@given(QKV)
def test_output_lies_between_the_values(qkv):
    O, V = attention(*qkv), qkv[2]
    assert (O <= V.max(axis=-2, keepdims=True) + 1e-12).all()
    assert (O >= V.min(axis=-2, keepdims=True) - 1e-12).all()


@given(QKV, SEEDS)
def test_the_order_of_the_keys_does_not_matter(qkv, seed):
    Q, K, V = qkv
    order = np.random.default_rng(seed).permutation(K.shape[-2])
    assert_array(attention(Q, K[:, order], V[:, order]), attention(Q, K, V), atol=1e-12)


@given(QKV)
def test_batches_are_independent(qkv):
    together = attention(*qkv, causal=True)
    for b in range(len(together)):
        assert_array(together[b], attention(*(A[b] for A in qkv), causal=True), atol=1e-12)


@given(multi_head(), st.data())
def test_no_leak(case, data):
    """A change of token j leaves every output before j bit-identical."""
    (X, *W), h = case
    j = data.draw(st.integers(0, X.shape[1] - 1))
    changed = X.copy()
    changed[:, j] += 1.0
    before = multi_head_attention(X, *W, h, causal=True)
    after = multi_head_attention(changed, *W, h, causal=True)
    assert_array_equal(before[:, :j], after[:, :j])
    assert (before[:, j] != after[:, j]).any()


@given(multi_head())
def test_reach(case):
    """The last output depends on every token."""
    (X, *W), h = case
    W[0] = W[0] * 0.1  # scores near 0, so that no weight rounds away
    last = multi_head_attention(X, *W, h, causal=True)[:, -1]
    for j in range(X.shape[1]):
        changed = X.copy()
        changed[:, j] += 1.0
        assert (multi_head_attention(changed, *W, h, causal=True)[:, -1] != last).any()


@given(multi_head(), st.data())
def test_prefix(case, data):
    """The outputs of a prefix are the first outputs of the whole."""
    (X, *W), h = case
    n = data.draw(st.integers(1, X.shape[1]))
    whole = multi_head_attention(X, *W, h, causal=True)
    assert_array(multi_head_attention(X[:, :n], *W, h, causal=True), whole[:, :n], atol=1e-10)


@given(multi_head(), SEEDS)
def test_permutation_equivariance(case, seed):
    """Without mask and positions, permuted tokens give permuted outputs."""
    (X, *W), h = case
    order = np.random.default_rng(seed).permutation(X.shape[1])
    permuted = multi_head_attention(X[:, order], *W, h)
    assert_array(permuted, multi_head_attention(X, *W, h)[:, order], atol=1e-10)


@given(arrays("bnhd"))
def test_split_and_merge_are_inverse(heads):
    X = heads[0].reshape(*heads[0].shape[:2], -1)
    h = heads[0].shape[2]
    split = split_heads(X, h)
    assert_array_equal(split, heads[0].transpose(0, 2, 1, 3))
    assert_array_equal(merge_heads(split), X)
    assert_array_equal(split_heads(merge_heads(split), h), split)


@given(multi_head())
def test_one_head_is_single_head_attention(case):
    (X, W_Q, W_K, W_V, W_O), _ = case
    one = attention(X @ W_Q, X @ W_K, X @ W_V, causal=True) @ W_O
    assert_array(multi_head_attention(X, W_Q, W_K, W_V, W_O, 1, causal=True), one, atol=1e-10)


@given(multi_head())
def test_concat_times_w_o_is_a_sum_over_heads(case):
    (X, W_Q, W_K, W_V, W_O), h = case
    blocks = zip(*(np.split(W, h, axis=1) for W in (W_Q, W_K, W_V)), np.split(W_O, h), strict=True)
    total = sum(attention(X @ Q, X @ K, X @ V, causal=True) @ O for Q, K, V, O in blocks)
    assert_array(multi_head_attention(X, W_Q, W_K, W_V, W_O, h, causal=True), total, atol=1e-9)


@given(arrays("nd"), st.floats(0.01, 100), st.floats(-100, 100))
def test_layer_norm_forgets_scale_and_shift(x, factor, shift):
    rows = layer_norm(x[0], eps=0.0)
    assert_array(rows.mean(axis=-1), np.zeros(len(rows)), atol=1e-9)
    assert_array(rows.var(axis=-1), np.ones(len(rows)), rtol=1e-9)
    assert_array(layer_norm(x[0] * factor + shift, eps=0.0), rows, rtol=1e-6, atol=1e-6)


@given(st.integers(0, 20), st.integers(0, 20))
def test_causal_mask_of_the_last_queries(n_q, more):
    """The mask of the last queries is the end of the whole mask: what a cache needs."""
    whole = causal_mask(n_q + more)
    assert_array_equal(causal_mask(n_q, n_q + more), whole[more:])


@given(SEEDS, st.sampled_from(["post", "pre"]), st.data())
def test_the_whole_model_does_not_leak_and_reaches(seed, norm, data):
    config = Config(
        vocab_size=13, d_model=10, n_heads=2, n_layers=3, d_k=3, d_v=7, d_ff=11, norm=norm
    )
    rng = np.random.default_rng(seed)
    shapes = parameter_shapes(config)
    model = Transformer(config, {name: rng.normal(0, 0.3, shape) for name, shape in shapes.items()})
    ids = rng.integers(0, 13, 7)
    j = data.draw(st.integers(0, 6))
    changed = ids.copy()
    changed[j] = (ids[j] + 1) % 13
    before, after = model.forward(ids).logits, model.forward(changed).logits
    assert_array_equal(before[:j], after[:j])
    assert (before[j] != after[j]).any()
    assert (before[-1] != after[-1]).any()
