"""Multi-head attention: project, split, attend in each head, concatenate, mix (chapter 5).

Splitting and merging are in `mhalib.heads`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.attention import attention_weights, scores, weighted_values
from mhalib.heads import merge_heads, split_heads
from mhalib.masks import combine_masks
from mhalib.softmax import widened

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Real

Array = NDArray[Any]
A = TypeVar("A")  # the kind of array in a trace: NumPy's or torch's


@dataclass(frozen=True)
class MultiHeadTrace(Generic[A]):
    """Every intermediate of one multi-head attention; `O` is its output."""

    Q: Float[A, "*#batch h n_q d_k"]
    K: Float[A, "*#batch h n_k d_k"]
    V: Float[A, "*#batch h n_k d_v"]
    scores: Float[A, "*batch h n_q n_k"]  # scaled, before mask and softmax
    weights: Float[A, "*batch h n_q n_k"]
    heads: Float[A, "*batch h n_q d_v"]
    concat: Float[A, "*batch n_q width"]
    O: Float[A, "*batch n_q d_out"]


def multi_head_trace(
    X: Real[Array, "*#batch n_q d_model"],
    W_Q: Real[Array, "d_model width_k"],
    W_K: Real[Array, "d_kv width_k"],
    W_V: Real[Array, "d_kv width_v"],
    W_O: Real[Array, "width_v d_out"],
    n_heads: int,
    *,
    X_kv: Real[Array, "*#batch n_k d_kv"] | None = None,
    mask: Bool[Array, "*#scores"] | None = None,
    causal: bool = False,
    bias: Real[Array, "*#scores"] | None = None,
    scale: float | None = None,
    past: tuple[Array, Array] | None = None,
    edit_heads: Callable[[Array], Array] | None = None,
) -> MultiHeadTrace[Array]:
    """Return every intermediate of `multi_head_attention`.

    Parameters
    ----------
    X : array (*batch, n_q, d_model)
        As in `multi_head_attention`, like all arguments that are not named here.
    W_Q, W_K, W_V, W_O : array
        The projections.
    n_heads : int
        How many heads they hold.
    X_kv : array (*batch, n_k, d_model), optional
        The tokens that are looked at.
    mask : bool array, optional
        True = may attend.
    causal : bool
        Let each query see only the keys up to its own place.
    bias : array, optional
        Numbers added to the scores.
    scale : float, optional
        Factor of the scores.
    past : pair of arrays (*batch, h, n_past, ·), optional
        K and V of earlier tokens, put before the new ones.
    edit_heads : callable, optional
        Replaces the heads' outputs (*batch, h, n_q, d_v) before they are concatenated.

    Returns
    -------
    MultiHeadTrace
        Queries, keys, values, scores, weights, heads, their concatenation, and O.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or shape; the message names it.
    """
    X = validate.float_array("X", X, ndim=2)
    X_kv = X if X_kv is None else validate.float_array("X_kv", X_kv, ndim=2)
    validate.same_batch(X=X.shape, X_kv=X_kv.shape)
    Q = split_heads(_project("X", X, "W_Q", W_Q), n_heads)  # (*batch, h, n_q, d_k)
    K = split_heads(_project("X_kv", X_kv, "W_K", W_K), n_heads)  # (*batch, h, n_k, d_k)
    V = split_heads(_project("X_kv", X_kv, "W_V", W_V), n_heads)  # (*batch, h, n_k, d_v)
    if past is not None:
        K, V = _after("K", past[0], K), _after("V", past[1], V)
        validate.same_length("past V", V.shape, -2, K.shape[-2], "n_k, as in K")
    validate.same_length("W_K", K.shape, -1, Q.shape[-1], "d_k, as in W_Q")
    S = scores(widened(Q), widened(K), scale)  # (*batch, h, n_q, n_k)
    allowed = combine_masks(mask, causal, S.shape, n_batch := S.ndim - 3)
    if bias is not None:
        bias = validate.float_array("bias", bias)
        bias = bias.reshape(validate.one_reading("bias", bias.shape, S.shape, n_batch))
    weights = attention_weights(S, allowed, bias)
    heads = weighted_values(weights, widened(V)).astype(V.dtype)  # (*batch, h, n_q, d_v)
    if edit_heads is not None:
        heads = edit_heads(heads)
    concat = merge_heads(heads)  # (*batch, n_q, h·d_v)
    O = _project("concat(heads)", concat, "W_O", W_O)  # (*batch, n_q, d_model)
    return MultiHeadTrace(Q, K, V, S, weights.astype(V.dtype, copy=False), heads, concat, O)


@overload
def multi_head_attention(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    W_O: Array,
    n_heads: int,
    *,
    X_kv: Array | None = ...,
    mask: Array | None = ...,
    causal: bool = ...,
    bias: Array | None = ...,
    scale: float | None = ...,
    return_weights: Literal[False] = ...,
) -> Array: ...
@overload
def multi_head_attention(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    W_O: Array,
    n_heads: int,
    *,
    X_kv: Array | None = ...,
    mask: Array | None = ...,
    causal: bool = ...,
    bias: Array | None = ...,
    scale: float | None = ...,
    return_weights: Literal[True],
) -> tuple[Array, Array]: ...
def multi_head_attention(
    X: Real[Array, "*#batch n_q d_model"],
    W_Q: Real[Array, "d_model width_k"],
    W_K: Real[Array, "d_kv width_k"],
    W_V: Real[Array, "d_kv width_v"],
    W_O: Real[Array, "width_v d_out"],
    n_heads: int,
    *,
    X_kv: Real[Array, "*#batch n_k d_kv"] | None = None,
    mask: Bool[Array, "*#scores"] | None = None,
    causal: bool = False,
    bias: Real[Array, "*#scores"] | None = None,
    scale: float | None = None,
    return_weights: bool = False,
) -> Array | tuple[Array, Array]:
    r"""Attend h times in parallel, each head on its own projection, and mix the results.

    Evaluates ``concat(head_1, …, head_h) W_O`` with
    ``head_i = attention(X W_Q^i, X_kv W_K^i, X_kv W_V^i)``, where ``W_Q^i`` is block i of the
    columns of `W_Q`.

    Parameters
    ----------
    X : array (*batch, n_q, d_model)
        The tokens that ask.
    W_Q, W_K : array (d_model, h·d_k)
        Projections of all heads, side by side.
    W_V : array (d_model, h·d_v)
        The same for the values.
    W_O : array (h·d_v, d_model)
        Mixes what the heads give.
    n_heads : int
        h.
    X_kv : array (*batch, n_k, d_model), optional
        The tokens that are looked at, `X` if not given.
    mask : bool array, optional
        True = may attend. One axis for each axis of the scores (*batch, h, n_q, n_k), of the same
        length or 1; or (n_q, n_k), or (n_k,), the same for the whole batch and all heads. A
        padding mask needs an axis for the heads: ``padding_mask(lengths)[:, None]``.
    causal : bool
        Let each query see only the keys up to its own place.
    bias : array, optional
        Numbers added to the scores; its axes are those of a mask.
    scale : float, optional
        Factor of the scores, 1/√d_k if not given.
    return_weights : bool
        Return ``(O, weights)``, the weights of every head.

    Returns
    -------
    O : array (*batch, n_q, d_model)
        In the dtype of the inputs.
    weights : array (*batch, h, n_q, n_k)
        Only with ``return_weights=True``.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or shape; the message names it.

    Notes
    -----
    With d_k = d_v = d_model / h the cost and the number of parameters, 4 d_model², do not
    depend on h. In torch: ``torch.nn.MultiheadAttention``, which stores the transposes of
    these matrices and adds biases unless told not to.

    References
    ----------
    Vaswani et al. (2017), *Attention Is All You Need*, §3.2.2.

    Examples
    --------
    Two heads of one feature each; with Q = K = 0 each token gets the mean of the values.

    >>> X = np.array([[1.0, 10.0], [3.0, 30.0]])
    >>> multi_head_attention(X, np.zeros((2, 2)), np.zeros((2, 2)), np.eye(2), np.eye(2), 2)
    array([[ 2., 20.],
           [ 2., 20.]])
    """
    trace = multi_head_trace(
        X, W_Q, W_K, W_V, W_O, n_heads,
        X_kv=X_kv, mask=mask, causal=causal, bias=bias, scale=scale,
    )  # fmt: skip
    both = validate.boolean("return_weights", return_weights)
    return (trace.O, trace.weights) if both else trace.O


def _project(x_name: str, X: Array, w_name: str, W: Array) -> Array:
    W = validate.float_array(w_name, W, ndim=2, exact=True)
    validate.same_length(w_name, W.shape, 0, X.shape[-1], f"the columns of {x_name}")
    return X @ W


def _after(name: str, past: Array, new: Array) -> Array:
    past = validate.float_array(f"past {name}", past, ndim=3)
    expected = (*new.shape[:-2], past.shape[-2], new.shape[-1])
    if past.shape != expected:
        raise ValueError(f"past {name} must have shape {expected}, got {past.shape}")
    return np.concatenate([past, new], axis=-2)
