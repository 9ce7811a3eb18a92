"""Multi-head attention: split the features, attend in each head, concatenate, mix (chapter 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.attention import attention_weights, combine_masks, scores, weighted_values, widened

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

Array = NDArray[Any]
A = TypeVar("A")  # the kind of array in a trace: NumPy's or torch's


def split_heads(X: Float[Array, "*batch n h*d_k"], n_heads: int) -> Float[Array, "*batch h n d_k"]:
    """Give each head its own block of columns.

    Column ``i · d_k + j`` of token t becomes ``heads[i, t, j]``.

    Parameters
    ----------
    X : (*batch, n, h·d_k)
    n_heads : h, must divide the number of columns

    Returns
    -------
    (*batch, h, n, d_k)

    Notes
    -----
    A bare ``reshape(h, n, d_k)`` has the right shape and mixes the tokens.

    Examples
    --------
    >>> split_heads(np.array([[0, 1, 2, 3], [4, 5, 6, 7]]), 2)[0]
    array([[0, 1],
           [4, 5]])
    """
    X = validate.array("X", X, ndim=2)
    *batch, n, width = X.shape
    h = validate.positive_int("n_heads", n_heads)
    if width % h:
        raise ValueError(f"n_heads must divide the {width} columns of X, got {h}")
    by_head = X.reshape(*batch, n, h, width // h)  # (*batch, n, h, d_k): columns, cut in blocks
    return by_head.swapaxes(-2, -3)  # (*batch, h, n, d_k): the head before the token


def merge_heads(
    heads: Float[Array, "*batch h n d_v"],
) -> Float[Array, "*batch n h*d_v"]:
    """Put the heads' columns side by side again: the inverse of `split_heads`.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(2, 6)
    >>> bool((merge_heads(split_heads(X, 3)) == X).all())
    True
    """
    heads = validate.array("heads", heads, ndim=3)
    *batch, h, n, d_v = heads.shape
    by_token = heads.swapaxes(-2, -3)  # (*batch, n, h, d_v): the token before the head
    return by_token.reshape(*batch, n, h * d_v)


def repeat_heads(K: Float[Array, "*batch h_kv n d"], n_heads: int) -> Float[Array, "*batch h n d"]:
    """Let groups of query heads share a key head ("grouped-query attention").

    Query head i reads key head ``i // (h / h_kv)``: each key head is repeated, h / h_kv times in
    a row.

    References
    ----------
    Ainslie et al. (2023), *GQA: Training Generalized Multi-Query Transformer Models*, §2.2.

    Examples
    --------
    >>> repeat_heads(np.array([[[1.0]], [[2.0]]]), 4).ravel()
    array([1., 1., 2., 2.])
    """
    K = validate.array("K", K, ndim=3)
    h = validate.positive_int("n_heads", n_heads)
    if h % K.shape[-3]:
        raise ValueError(f"n_heads must be a multiple of the {K.shape[-3]} heads of K, got {h}")
    return np.repeat(K, h // K.shape[-3], axis=-3)


@dataclass(frozen=True)
class MultiHeadTrace(Generic[A]):
    """Every intermediate of one multi-head attention; `O` is its output."""

    Q: Float[A, "*batch h n_q d_k"]
    K: Float[A, "*batch h n_k d_k"]
    V: Float[A, "*batch h n_k d_v"]
    scores: Float[A, "*batch h n_q n_k"]  # scaled, before mask and softmax
    weights: Float[A, "*batch h n_q n_k"]
    heads: Float[A, "*batch h n_q d_v"]
    concat: Float[A, "*batch n_q h*d_v"]
    O: Float[A, "*batch n_q d_model"]


def multi_head_trace(
    X: Float[Array, "*batch n_q d_model"],
    W_Q: Float[Array, "d_model h*d_k"],
    W_K: Float[Array, "d_model h*d_k"],
    W_V: Float[Array, "d_model h*d_v"],
    W_O: Float[Array, "h*d_v d_model"],
    n_heads: int,
    *,
    X_kv: Float[Array, "*batch n_k d_model"] | None = None,
    mask: Bool[Array, "*#batch #h #n_q #n_k"] | None = None,
    causal: bool = False,
    bias: Float[Array, "*#batch #h #n_q #n_k"] | None = None,
    scale: float | None = None,
    past: tuple[Array, Array] | None = None,
    edit_heads: Callable[[Array], Array] | None = None,
) -> MultiHeadTrace[Array]:
    """Return every intermediate of `multi_head_attention`, whose parameters these are.

    Two more serve decoding and ablation:

    past : K and V of earlier tokens, each (*batch, h, n_past, ·), put before the new ones
    edit_heads : replaces the heads' outputs (*batch, h, n_q, d_v) before they are concatenated
    """
    X = validate.float_array("X", X, ndim=2)
    X_kv = X if X_kv is None else validate.float_array("X_kv", X_kv, ndim=2)
    Q = split_heads(_project("X", X, "W_Q", W_Q), n_heads)  # (*batch, h, n_q, d_k)
    K = split_heads(_project("X_kv", X_kv, "W_K", W_K), n_heads)  # (*batch, h, n_k, d_k)
    V = split_heads(_project("X_kv", X_kv, "W_V", W_V), n_heads)  # (*batch, h, n_k, d_v)
    if past is not None:
        K, V = (
            np.concatenate([past[0], K], axis=-2),
            np.concatenate([past[1], V], axis=-2),
        )
    S = scores(widened(Q), widened(K), scale)  # (*batch, h, n_q, n_k)
    weights = attention_weights(S, combine_masks(mask, causal, S.shape), bias)
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
    X: Float[Array, "*batch n_q d_model"],
    W_Q: Float[Array, "d_model h*d_k"],
    W_K: Float[Array, "d_model h*d_k"],
    W_V: Float[Array, "d_model h*d_v"],
    W_O: Float[Array, "h*d_v d_model"],
    n_heads: int,
    *,
    X_kv: Float[Array, "*batch n_k d_model"] | None = None,
    mask: Bool[Array, "*#batch #h #n_q #n_k"] | None = None,
    causal: bool = False,
    bias: Float[Array, "*#batch #h #n_q #n_k"] | None = None,
    scale: float | None = None,
    return_weights: bool = False,
) -> Array | tuple[Array, Array]:
    r"""Attend h times in parallel, each head on its own projection, and mix the results.

    Evaluates ``concat(head_1, …, head_h) W_O`` with
    ``head_i = attention(X W_Q^i, X_kv W_K^i, X_kv W_V^i)``, where ``W_Q^i`` is block i of the
    columns of `W_Q`.

    Parameters
    ----------
    X : (*batch, n_q, d_model) the tokens that ask
    W_Q, W_K : (d_model, h·d_k) projections of all heads, side by side
    W_V : (d_model, h·d_v)
    W_O : (h·d_v, d_model)
    n_heads : h
    X_kv : (*batch, n_k, d_model) the tokens that are looked at, `X` if not given
    mask, causal, bias, scale : as in `attention`; a mask without a head axis needs one added,
        (*batch, 1, n_q, n_k)
    return_weights : return ``(O, weights)``, the weights of every head

    Returns
    -------
    O : (*batch, n_q, d_model)
    weights : (*batch, h, n_q, n_k), only with ``return_weights=True``

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
    return (trace.O, trace.weights) if return_weights else trace.O


def _project(x_name: str, X: Array, w_name: str, W: Array) -> Array:
    W = validate.float_array(w_name, W, ndim=2)
    validate.same_length(w_name, W, 0, X.shape[-1], f"the columns of {x_name}")
    return X @ W
