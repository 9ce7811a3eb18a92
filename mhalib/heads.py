"""Heads: columns cut in blocks, and put together again (chapter 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate

if TYPE_CHECKING:
    from jaxtyping import Shaped

Array = NDArray[Any]


def split_heads(
    X: Shaped[Array, "*batch n width"], n_heads: int
) -> Shaped[Array, "*batch {n_heads} n d_k"]:
    """Give each head its own block of columns.

    Column ``i · d_k + j`` of token t becomes ``heads[i, t, j]``.

    Parameters
    ----------
    X : array (*batch, n, h·d_k)
        All heads side by side.
    n_heads : int
        h, must divide the number of columns.

    Returns
    -------
    array (*batch, h, n, d_k)
        The head before the token.

    Raises
    ------
    TypeError, ValueError
        If `X` has fewer than two axes, or `n_heads` does not divide its columns.

    Notes
    -----
    A bare ``reshape(h, n, d_k)`` has the right shape and mixes the tokens.

    Examples
    --------
    Two tokens, two heads of two features:

    >>> split_heads(np.array([[0, 1, 2, 3], [4, 5, 6, 7]]), 2)
    array([[[0, 1],
            [4, 5]],
    <BLANKLINE>
           [[2, 3],
            [6, 7]]])
    """
    X = validate.number_array("X", X, ndim=2)
    *batch, n, width = X.shape
    h = validate.positive_int("n_heads", n_heads)
    if width % h:
        raise ValueError(f"n_heads must divide the {width} columns of X, got {h}")
    by_head = X.reshape(*batch, n, h, width // h)  # (*batch, n, h, d_k): columns, cut in blocks
    return by_head.swapaxes(-2, -3)  # (*batch, h, n, d_k): the head before the token


def merge_heads(heads: Shaped[Array, "*batch h n d_v"]) -> Shaped[Array, "*batch n h*d_v"]:
    """Put the heads' columns side by side again: the inverse of `split_heads`.

    Parameters
    ----------
    heads : array (*batch, h, n, d_v)
        What each head gives.

    Returns
    -------
    array (*batch, n, h·d_v)
        All heads side by side.

    Raises
    ------
    ValueError
        If `heads` has fewer than three axes.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(2, 6)
    >>> bool((merge_heads(split_heads(X, 3)) == X).all())
    True
    """
    heads = validate.number_array("heads", heads, ndim=3)
    *batch, h, n, d_v = heads.shape
    by_token = heads.swapaxes(-2, -3)  # (*batch, n, h, d_v): the token before the head
    return by_token.reshape(*batch, n, h * d_v)


def repeat_heads(
    K: Shaped[Array, "*batch h_kv n d"], n_heads: int
) -> Shaped[Array, "*batch {n_heads} n d"]:
    """Let groups of query heads share a key head ("grouped-query attention").

    Query head i reads key head ``i // (h / h_kv)``: each key head is repeated, h / h_kv times in
    a row.

    Parameters
    ----------
    K : array (*batch, h_kv, n, d)
        Keys, or values, of the few heads.
    n_heads : int
        h, a multiple of h_kv.

    Returns
    -------
    array (*batch, h, n, d)
        The same for each of the h heads.

    Raises
    ------
    TypeError, ValueError
        If `K` has fewer than three axes, or `n_heads` is not a multiple of its heads.

    References
    ----------
    Ainslie et al. (2023), *GQA: Training Generalized Multi-Query Transformer Models*, §2.2.

    Examples
    --------
    >>> repeat_heads(np.array([[[1.0]], [[2.0]]]), 4).ravel()
    array([1., 1., 2., 2.])
    """
    K = validate.number_array("K", K, ndim=3)
    h, h_kv = validate.positive_int("n_heads", n_heads), K.shape[-3]
    if h_kv == 0 or h % h_kv:
        raise ValueError(f"n_heads must be a multiple of the {h_kv} heads of K, got {h}")
    return np.repeat(K, h // h_kv, axis=-3)
