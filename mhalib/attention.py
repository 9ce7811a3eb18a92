r"""Scaled dot-product attention, one head (chapters 3 and 4).

``softmax(Q Kᵀ / √d_k) V``, with the pieces that lead there: `scores` before the softmax,
`attention_weights` after it, and the masks that say who may look at whom.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int

Array = NDArray[Any]


def softmax(x: Float[Array, "*shape"], axis: int = -1) -> Float[Array, "*shape"]:
    r"""Turn numbers into positive shares that sum to 1 along `axis`.

    Evaluates ``exp(x − max x) / Σ exp(x − max x)``. Subtracting the maximum changes nothing
    in exact arithmetic and keeps `exp` from overflowing.

    Parameters
    ----------
    x : (...,) real numbers; −∞ gets share 0
    axis : axis along which the shares sum to 1

    Returns
    -------
    (...,) same shape and dtype as `x`. A row of nothing but −∞ has no share to give: it is
    all 0, where the bare formula would divide 0 by 0.

    Examples
    --------
    >>> softmax(np.log([1.0, 2.0, 3.0])).round(4)
    array([0.1667, 0.3333, 0.5   ])
    """
    x = validate.float_array("x", x)
    exp = np.exp(_shifted(x, axis))
    total = exp.sum(axis=axis, keepdims=True)
    return (exp / np.where(total == 0, 1, total)).astype(x.dtype)


def log_softmax(x: Float[Array, "*shape"], axis: int = -1) -> Float[Array, "*shape"]:
    r"""Return the logarithm of `softmax` without taking the logarithm of a rounded 0.

    Evaluates ``x − max x − log Σ exp(x − max x)``. Parameters as in `softmax`; a row of
    nothing but −∞ stays −∞.

    Examples
    --------
    >>> log_softmax([0.0, -2000.0])  # log(softmax(…)) would be −∞ here
    array([    0., -2000.])
    """
    x = validate.float_array("x", x)
    shifted = _shifted(x, axis)
    total = np.exp(shifted).sum(axis=axis, keepdims=True)
    return (shifted - np.log(np.where(total == 0, 1, total))).astype(x.dtype)


def _shifted(x: Array, axis: int) -> Array:
    wide = widened(x)
    maximum = wide.max(axis=axis, keepdims=True, initial=-np.inf)
    with np.errstate(over="ignore"):  # a difference beyond the largest float is −∞: share 0
        return wide - np.where(maximum == -np.inf, 0, maximum)


def widened(x: Array) -> Array:
    """Return float16 as float32, so that sums and products of it do not overflow."""
    return x.astype(np.promote_types(x.dtype, np.float32), copy=False)


def causal_mask(n_q: int, n_k: int | None = None) -> Bool[Array, "n_q n_k"]:
    """Return the mask in which a token may look at itself and at what came before.

    ``mask[i, j] = (j ≤ i + n_k − n_q)``: aligned bottom-right, so the last query sees the last
    key. That is what decoding with cached keys needs (one query, many keys).

    Parameters
    ----------
    n_q : number of queries
    n_k : number of keys, `n_q` if not given

    Returns
    -------
    (n_q, n_k) boolean, True = may attend

    Notes
    -----
    ``torch.nn.functional.scaled_dot_product_attention(is_causal=True)`` aligns top-left.
    The two agree when n_q = n_k.

    Examples
    --------
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    >>> causal_mask(1, 3).astype(int)
    array([[1, 1, 1]])
    """
    return window_mask(n_q, n_k, right=0)


def window_mask(
    n_q: int, n_k: int | None = None, *, left: int | None = None, right: int | None = None
) -> Bool[Array, "n_q n_k"]:
    """Return the mask in which a token sees `left` tokens back and `right` tokens ahead.

    ``mask[i, j] = (−left ≤ j − (i + n_k − n_q) ≤ right)``; None is no limit. Aligned as in
    `causal_mask`, which is the case ``right=0``.

    Examples
    --------
    >>> window_mask(4, left=1, right=0).astype(int)
    array([[1, 0, 0, 0],
           [1, 1, 0, 0],
           [0, 1, 1, 0],
           [0, 0, 1, 1]])
    """
    n_q = validate.positive_int("n_q", n_q, minimum=0)
    n_k = n_q if n_k is None else validate.positive_int("n_k", n_k, minimum=0)
    ahead = np.arange(n_k) - (np.arange(n_q)[:, None] + n_k - n_q)
    mask = np.ones((n_q, n_k), dtype=bool)
    if left is not None:
        mask &= ahead >= -validate.positive_int("left", left, minimum=0)
    if right is not None:
        mask &= ahead <= validate.positive_int("right", right, minimum=0)
    return mask


def padding_mask(
    lengths: Int[Array, "*batch"], n_k: int | None = None
) -> Bool[Array, "*batch 1 n_k"]:
    """Return the mask that hides the padding after the first `lengths` tokens.

    ``mask[..., 0, j] = (j < length)``. The axis of length 1 broadcasts over the queries; for
    multi-head tensors add the head axis: ``padding_mask(lengths)[:, None]``.

    Parameters
    ----------
    lengths : (*batch) number of real tokens in each sequence
    n_k : padded length, the longest of `lengths` if not given

    Returns
    -------
    (*batch, 1, n_k) boolean, True = may attend

    Examples
    --------
    >>> padding_mask([2, 3]).astype(int)
    array([[[1, 1, 0]],
    <BLANKLINE>
           [[1, 1, 1]]])
    """
    longest = int(np.max(lengths, initial=0)) if n_k is None else n_k
    n_k = validate.positive_int("n_k", longest, minimum=0)
    counts = validate.int_array("lengths", lengths, below=n_k + 1)
    return np.arange(n_k) < counts[..., None, None]


def scores(
    Q: Float[Array, "*batch n_q d_k"],
    K: Float[Array, "*batch n_k d_k"],
    scale: float | None = None,
) -> Float[Array, "*batch n_q n_k"]:
    r"""Return how well each query matches each key, before the softmax.

    Evaluates ``scale · Q Kᵀ``, by default with ``scale = 1/√d_k``.

    Parameters
    ----------
    Q : (*batch, n_q, d_k) queries, one a row
    K : (*batch, n_k, d_k) keys, one a row
    scale : factor of the products, 1/√d_k if not given

    Returns
    -------
    (*batch, n_q, n_k) real numbers of either sign

    Raises
    ------
    ValueError
        If the queries and keys differ in d_k, or their batch axes do not broadcast.

    Notes
    -----
    Cost: n_q · n_k · d_k multiplications. The paper writes the unscaled product ``QKᵀ``.

    References
    ----------
    Vaswani et al. (2017), *Attention Is All You Need*, §3.2.1.

    Examples
    --------
    >>> scores([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]], scale=1.0)
    array([[11.,  2.]])
    """
    Q, K = validate.float_array("Q", Q, ndim=2), validate.float_array("K", K, ndim=2)
    validate.same_length("K", K, -1, Q.shape[-1], "d_k, as in Q")
    _batch_shape(Q=Q, K=K)
    factor = 1 / math.sqrt(max(Q.shape[-1], 1)) if scale is None else scale
    factor = validate.real_number("scale", factor)
    with np.errstate(invalid="ignore"):  # an infinite key may be one that the mask leaves out
        S = (widened(Q) * factor) @ widened(K).swapaxes(-1, -2)
    return S.astype(np.result_type(Q, K), copy=False)


def attention_weights(
    S: Float[Array, "*batch n_q n_k"],
    mask: Bool[Array, "*#batch #n_q #n_k"] | None = None,
    bias: Float[Array, "*#batch #n_q #n_k"] | None = None,
) -> Float[Array, "*batch n_q n_k"]:
    r"""Return the share of its attention that each query gives to each key.

    Evaluates ``softmax(S + bias)`` over the keys that `mask` allows. A masked key is left out
    (its score counts as −∞), whatever its score is, NaN included.

    Parameters
    ----------
    S : (*batch, n_q, n_k) scores
    mask : boolean, broadcastable to `S`, True = may attend
    bias : numbers added to the scores, broadcastable to `S`

    Returns
    -------
    (*batch, n_q, n_k) each row sums to 1; a row with no allowed key is all 0

    Raises
    ------
    TypeError
        If `mask` is not boolean.
    ValueError
        If `mask` or `bias` does not broadcast to the shape of `S`.

    Notes
    -----
    Older texts call these weights "attention scores".

    Examples
    --------
    >>> attention_weights(np.log([[1.0, 3.0, 9.0]]), mask=[[True, True, False]])
    array([[0.25, 0.75, 0.  ]])
    """
    S = validate.float_array("S", S, ndim=2)
    if bias is not None:
        bias = validate.float_array("bias", bias)
        validate.broadcasts_to("bias", bias, S.shape)
        S = S + bias.astype(S.dtype)
    if mask is not None:
        S = np.where(validate.boolean_mask("mask", mask, S.shape), S, -np.inf).astype(S.dtype)
    return softmax(S)


def weighted_values(
    weights: Float[Array, "*batch n_q n_k"], V: Float[Array, "*batch n_k d_v"]
) -> Float[Array, "*batch n_q d_v"]:
    """Return ``weights @ V``, in which a value of weight 0 takes no part, even if it is NaN."""
    if np.isfinite(V).all():
        return weights @ V
    chosen = weights[..., None] != 0  # (*batch, n_q, n_k, 1): 0 · NaN would be NaN
    terms = weights[..., None] * np.where(chosen, V[..., None, :, :], 0)
    return terms.sum(axis=-2)


@overload
def attention(
    Q: Array,
    K: Array,
    V: Array,
    *,
    mask: Array | None = ...,
    causal: bool = ...,
    bias: Array | None = ...,
    scale: float | None = ...,
    softcap: float | None = ...,
    return_weights: Literal[False] = ...,
) -> Array: ...
@overload
def attention(
    Q: Array,
    K: Array,
    V: Array,
    *,
    mask: Array | None = ...,
    causal: bool = ...,
    bias: Array | None = ...,
    scale: float | None = ...,
    softcap: float | None = ...,
    return_weights: Literal[True],
) -> tuple[Array, Array]: ...
def attention(
    Q: Float[Array, "*batch n_q d_k"],
    K: Float[Array, "*batch n_k d_k"],
    V: Float[Array, "*batch n_k d_v"],
    *,
    mask: Bool[Array, "*#batch #n_q #n_k"] | None = None,
    causal: bool = False,
    bias: Float[Array, "*#batch #n_q #n_k"] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
) -> Array | tuple[Array, Array]:
    r"""Return, for each query, the average of the values, weighted by how well the keys match.

    Evaluates ``softmax(scale · Q Kᵀ + bias) V`` over the allowed keys, ``scale = 1/√d_k``.

    Parameters
    ----------
    Q : (*batch, n_q, d_k) queries
    K : (*batch, n_k, d_k) keys
    V : (*batch, n_k, d_v) values
    mask : boolean, broadcastable to (*batch, n_q, n_k), True = may attend
    causal : let each query see only the keys up to its own place (`causal_mask`)
    bias : numbers added to the scores, broadcastable to (*batch, n_q, n_k)
    scale : factor of the scores, 1/√d_k if not given
    softcap : keeps the scores between ±softcap: they become ``softcap · tanh(scores / softcap)``
        before mask and bias
    return_weights : return ``(O, weights)`` instead of ``O``

    Returns
    -------
    O : (*batch, n_q, d_v) dtype of the inputs; a query with no allowed key gets 0
    weights : (*batch, n_q, n_k), only with ``return_weights=True``

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or shape; the message names it.

    Notes
    -----
    Cost: n_q · n_k · (d_k + d_v) multiplications. In torch:
    ``torch.nn.functional.scaled_dot_product_attention``.

    References
    ----------
    Vaswani et al. (2017), *Attention Is All You Need*, §3.2.1, equation 1.

    Examples
    --------
    Weights 1 : 2 : 3, so the mean of 12, 24, 36 is 28; the causal rows see 1, 2, 3 keys.

    >>> Q, K, V = np.ones((3, 1)), np.log([[1.0], [2.0], [3.0]]), np.array([[12.0], [24.0], [36.0]])
    >>> attention(Q, K, V, scale=1.0).round(10).ravel()
    array([28., 28., 28.])
    >>> attention(Q, K, V, scale=1.0, causal=True).round(10).ravel()
    array([12., 20., 28.])
    """
    Q, K, V = (validate.float_array(n, A, 2) for n, A in (("Q", Q), ("K", K), ("V", V)))
    S = scores(widened(Q), widened(K), scale)
    validate.same_length("V", V, -2, S.shape[-1], "n_k, as in K")
    _batch_shape(**{"Q Kᵀ": S, "V": V})
    if softcap is not None:
        S = cap_scores(S, softcap)
    weights = attention_weights(S, combine_masks(mask, causal, S.shape), bias)
    dtype = np.result_type(Q, K, V)
    O = weighted_values(weights, widened(V)).astype(dtype, copy=False)
    return (O, weights.astype(dtype, copy=False)) if return_weights else O


def cap_scores(S: Float[Array, "*shape"], softcap: float) -> Float[Array, "*shape"]:
    """Return ``softcap · tanh(S / softcap)``: small scores as they are, large ones held back.

    References
    ----------
    Gemma Team (2024), *Gemma 2: Improving Open Language Models at a Practical Size*, §2.
    """
    softcap = validate.real_number("softcap", softcap)
    if softcap <= 0:
        raise ValueError(f"softcap must be positive, got {softcap}")
    return softcap * np.tanh(S / softcap)


def combine_masks(
    mask: Array | None, causal: bool, shape: tuple[int, ...]
) -> NDArray[np.bool_] | None:
    """Return `mask` and the causal mask as one mask for scores of `shape`, or None for neither."""
    if mask is not None:
        mask = validate.boolean_mask("mask", mask, shape)
    if not causal:
        return mask
    earlier = causal_mask(*shape[-2:])
    return earlier if mask is None else mask & earlier


def _batch_shape(**arrays: Array) -> None:
    try:
        np.broadcast_shapes(*(A.shape[:-2] for A in arrays.values()))
    except ValueError:
        said = " and ".join(f"{name} {arrays[name].shape}" for name in arrays)
        raise ValueError(f"the batch axes of {said} do not broadcast") from None
