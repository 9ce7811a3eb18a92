r"""Scaled dot-product attention, one head (chapters 3 and 4).

``softmax(Q Kᵀ / √d_k) V``, with the pieces that lead there: `scores` before the softmax,
`attention_weights` after it. The masks are in `mhalib.masks`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.masks import combine_masks
from mhalib.softmax import softmax, widened

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Real

Array = NDArray[Any]


def scores(
    Q: Real[Array, "*#batch n_q d_k"],
    K: Real[Array, "*#batch n_k d_k"],
    scale: float | None = None,
) -> Float[Array, "*batch n_q n_k"]:
    r"""Return how well each query matches each key, before the softmax.

    Evaluates ``scale · Q Kᵀ``, by default with ``scale = 1/√d_k``.

    Parameters
    ----------
    Q : array (*batch, n_q, d_k)
        Queries, one per row.
    K : array (*batch, n_k, d_k)
        Keys, one per row.
    scale : float, optional
        Factor of the products, 1/√d_k if not given.

    Returns
    -------
    array (*batch, n_q, n_k)
        Real numbers of either sign.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold real numbers, queries and keys differ in d_k, or their
        batch axes do not broadcast.

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
    validate.same_length("K", K.shape, -1, Q.shape[-1], "d_k, as in Q")
    validate.same_batch(Q=Q.shape, K=K.shape)
    factor = 1 / math.sqrt(max(Q.shape[-1], 1)) if scale is None else scale
    factor = validate.real_number("scale", factor)
    with np.errstate(invalid="ignore"):  # an infinite key may be one that the mask leaves out
        S = (widened(Q) * factor) @ widened(K).swapaxes(-1, -2)
    return S.astype(np.result_type(Q, K), copy=False)


def attention_weights(
    S: Real[Array, "*batch n_q n_k"],
    mask: Bool[Array, "*#scores"] | None = None,
    bias: Real[Array, "*#scores"] | None = None,
) -> Float[Array, "*batch n_q n_k"]:
    r"""Return the share of its attention that each query gives to each key.

    Evaluates ``softmax(S + bias)`` over the keys that `mask` allows. A masked key is left out
    (its score counts as −∞), whatever its score is, NaN included.

    Parameters
    ----------
    S : array (*batch, n_q, n_k)
        Scores.
    mask, bias : array, optional
        As in `attention`.

    Returns
    -------
    array (*batch, n_q, n_k)
        Each row sums to 1; a row with no allowed key is all 0.

    Raises
    ------
    TypeError
        If `mask` is not boolean, or `S` or `bias` does not hold real numbers.
    ValueError
        If `mask` or `bias` does not fit the shape of `S`, or fits it in two ways.

    Notes
    -----
    Older texts call these weights "attention scores".

    Examples
    --------
    >>> attention_weights(np.log([[1.0, 3.0, 9.0]]), mask=[[True, True, False]])
    array([[0.25, 0.75, 0.  ]])
    """
    S = validate.float_array("S", S, ndim=2)
    dtype, allowed = S.dtype, combine_masks(mask, False, S.shape)
    if bias is not None:
        bias = validate.float_array("bias", bias)
        S = S + widened(bias.reshape(validate.one_reading("bias", bias.shape, S.shape)))
    return softmax(S if allowed is None else np.where(allowed, S, -np.inf)).astype(dtype)


def weighted_values(
    weights: Float[Array, "*#batch n_q n_k"], V: Float[Array, "*#batch n_k d_v"]
) -> Float[Array, "*batch n_q d_v"]:
    """Return ``weights @ V``, in which a value of weight 0 takes no part, even if it is NaN."""
    finite = np.isfinite(V)
    if finite.all():
        return weights @ V
    O = weights @ np.where(finite, V, 0)  # 0 · NaN would be NaN
    seen = (weights != 0).astype(O.dtype)
    with np.errstate(invalid="ignore"):  # ∞ − ∞ is NaN
        for value in (np.inf, -np.inf, np.nan):
            there = np.isnan(V) if np.isnan(value) else V == value
            O = O + np.where(seen @ there.astype(O.dtype) > 0, value, 0).astype(O.dtype)
    return O


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
    Q: Real[Array, "*#batch n_q d_k"],
    K: Real[Array, "*#batch n_k d_k"],
    V: Real[Array, "*#batch n_k d_v"],
    *,
    mask: Bool[Array, "*#scores"] | None = None,
    causal: bool = False,
    bias: Real[Array, "*#scores"] | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
) -> Array | tuple[Array, Array]:
    r"""Return, for each query, the average of the values, weighted by how well the keys match.

    Evaluates ``softmax(scale · Q Kᵀ + bias) V`` over the allowed keys, ``scale = 1/√d_k``.

    Parameters
    ----------
    Q : array (*batch, n_q, d_k)
        Queries.
    K : array (*batch, n_k, d_k)
        Keys.
    V : array (*batch, n_k, d_v)
        Values.
    mask : bool array, optional
        True = may attend. One axis for each axis of the scores (*batch, n_q, n_k), of the same
        length or 1; or (n_q, n_k), or (n_k,), the same for the whole batch. Read by rank, never
        guessed: the ranks between are refused.
    causal : bool
        Let each query see only the keys up to its own place (`causal_mask`).
    bias : array, optional
        Numbers added to the scores; its axes are those of a mask.
    scale : float, optional
        Factor of the scores, 1/√d_k if not given.
    softcap : float, optional
        Keeps the scores between ±softcap: they become ``softcap · tanh(scores / softcap)``
        before mask and bias.
    return_weights : bool
        Return ``(O, weights)`` instead of ``O``.

    Returns
    -------
    O : array (*batch, n_q, d_v)
        In the dtype of the inputs; a query with no allowed key gets 0.
    weights : array (*batch, n_q, n_k)
        Only with ``return_weights=True``.

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
    validate.same_length("V", V.shape, -2, S.shape[-1], "n_k, as in K")
    validate.same_batch(Q=Q.shape, K=K.shape, V=V.shape)
    if softcap is not None:
        S = cap_scores(S, softcap)
    weights = attention_weights(S, combine_masks(mask, causal, S.shape), bias)
    dtype = np.result_type(Q, K, V)
    O = weighted_values(weights, widened(V)).astype(dtype, copy=False)
    both = validate.boolean("return_weights", return_weights)
    return (O, weights.astype(dtype, copy=False)) if both else O


def cap_scores(S: Float[Array, "*shape"], softcap: float) -> Float[Array, "*shape"]:
    """Return ``softcap · tanh(S / softcap)``: small scores as they are, large ones held back.

    Parameters
    ----------
    S : array
        Scores.
    softcap : float
        The bound that none of them passes.

    Returns
    -------
    array
        Of the same shape and dtype.

    Raises
    ------
    TypeError, ValueError
        If `softcap` is not a positive number.

    References
    ----------
    Gemma Team (2024), *Gemma 2: Improving Open Language Models at a Practical Size*, §2.
    """
    softcap = validate.real_number("softcap", softcap, above=0)
    return softcap * np.tanh(S / softcap)
