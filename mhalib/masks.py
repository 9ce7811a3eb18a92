"""Masks: who may look at whom (chapter 3). Boolean, True = may attend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate

if TYPE_CHECKING:
    from jaxtyping import Bool, Integer

Array = NDArray[Any]


def causal_mask(n_q: int, n_k: int | None = None) -> Bool[Array, "{n_q} n_k"]:
    """Return the mask in which a token may look at itself and at what came before.

    ``mask[i, j] = (j ≤ i + n_k − n_q)``: aligned bottom-right, so the last query sees the last
    key. That is what decoding with cached keys needs (one query, many keys).

    Parameters
    ----------
    n_q : int
        Number of queries.
    n_k : int, optional
        Number of keys, `n_q` if not given.

    Returns
    -------
    bool array (n_q, n_k)
        True = may attend.

    Raises
    ------
    TypeError, ValueError
        If a number is not an integer, or negative.

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
) -> Bool[Array, "{n_q} n_k"]:
    """Return the mask in which a token sees `left` tokens back and `right` tokens ahead.

    ``mask[i, j] = (−left ≤ j − (i + n_k − n_q) ≤ right)``, aligned as in `causal_mask`, which
    is the case ``right=0``.

    Parameters
    ----------
    n_q : int
        Number of queries.
    n_k : int, optional
        Number of keys, `n_q` if not given.
    left, right : int, optional
        How far a token sees to each side; None is no limit.

    Returns
    -------
    bool array (n_q, n_k)
        True = may attend.

    Raises
    ------
    TypeError, ValueError
        If a number is not an integer, or negative.

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
    lengths: Integer[Array, "*batch"], n_k: int | None = None
) -> Bool[Array, "*batch 1 n_k"]:
    """Return the mask that hides the padding after the first `lengths` tokens.

    ``mask[..., 0, j] = (j < length)``. The axis of length 1 stands for the queries, as
    `attention` wants it for (*batch, n, d). Tensors with heads, and so `multi_head_attention`
    and `Transformer.forward`, need one for the heads as well: ``padding_mask(lengths)[:, None]``.

    Parameters
    ----------
    lengths : int array (*batch)
        Number of real tokens in each sequence.
    n_k : int, optional
        Padded length, the longest of `lengths` if not given.

    Returns
    -------
    bool array (*batch, 1, n_k)
        True = may attend.

    Raises
    ------
    TypeError, ValueError
        If a length is not an integer, negative, or above `n_k`.

    Examples
    --------
    >>> padding_mask([2, 3]).astype(int)
    array([[[1, 1, 0]],
    <BLANKLINE>
           [[1, 1, 1]]])
    """
    if n_k is not None:
        n_k = validate.positive_int("n_k", n_k, minimum=0)
    counts = validate.int_array("lengths", lengths, below=None if n_k is None else n_k + 1)
    longest = int(counts.max(initial=0)) if n_k is None else n_k
    return np.arange(longest) < counts[..., None, None]


def combine_masks(
    mask: Array | None, causal: bool, shape: tuple[int, ...], n_batch: int | None = None
) -> NDArray[np.bool_] | None:
    """Return `mask` and the causal mask, if `causal`, as one for scores of `shape`.

    It has an axis for each axis of the scores, of which `n_batch` are batch axes; None if all may
    be seen.

    Raises
    ------
    TypeError, ValueError
        If `mask` is not boolean or can be read in two ways, or `causal` is not True or False.
    """
    if mask is not None:
        mask = validate.boolean_mask("mask", mask)
        mask = mask.reshape(validate.one_reading("mask", mask.shape, shape, n_batch))
    if not validate.boolean("causal", causal):
        return mask
    earlier = causal_mask(*shape[-2:]).reshape((1,) * (len(shape) - 2) + shape[-2:])
    return earlier if mask is None else mask & earlier
