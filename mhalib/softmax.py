r"""The softmax: numbers → shares that sum to 1 (chapters 3 and 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate

if TYPE_CHECKING:
    from jaxtyping import Float, Real

Array = NDArray[Any]


def softmax(x: Real[Array, "*shape"], axis: int = -1) -> Float[Array, "*shape"]:
    r"""Turn numbers into positive shares that sum to 1 along `axis`.

    Evaluates ``exp(x − max x) / Σ exp(x − max x)``. Subtracting the maximum changes nothing
    in exact arithmetic and keeps `exp` from overflowing.

    Parameters
    ----------
    x : array (...,)
        Real numbers; −∞ gets share 0.
    axis : int
        Along which the shares sum to 1.

    Returns
    -------
    array (...,)
        Same shape and dtype as `x`. A row of nothing but −∞ has no share to give: it is
        all 0, where the bare formula would divide 0 by 0.

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold real numbers, or has no such axis.

    Examples
    --------
    >>> softmax(np.log([1.0, 2.0, 3.0])).round(4)
    array([0.1667, 0.3333, 0.5   ])
    """
    x = validate.float_array("x", x, ndim=1)
    exp = np.exp(_shifted(x, axis))
    total = exp.sum(axis=axis, keepdims=True)
    return (exp / np.where(total == 0, 1, total)).astype(x.dtype)


def log_softmax(x: Real[Array, "*shape"], axis: int = -1) -> Float[Array, "*shape"]:
    r"""Return the logarithm of `softmax` without taking the logarithm of a rounded 0.

    Evaluates ``x − max x − log Σ exp(x − max x)``.

    Parameters
    ----------
    x : array (...,)
        Real numbers.
    axis : int
        Along which the shares sum to 1.

    Returns
    -------
    array (...,)
        Same shape and dtype as `x`; a row of nothing but −∞ stays −∞.

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold real numbers, or has no such axis.

    Examples
    --------
    >>> log_softmax([0.0, -2000.0])  # log(softmax(…)) would be −∞ here
    array([    0., -2000.])
    """
    x = validate.float_array("x", x, ndim=1)
    shifted = _shifted(x, axis)
    total = np.exp(shifted).sum(axis=axis, keepdims=True)
    return (shifted - np.log(np.where(total == 0, 1, total))).astype(x.dtype)


def _shifted(x: Array, axis: int) -> Array:
    wide = widened(x)
    axis = validate.axis_index("axis", axis, x.ndim)
    maximum = wide.max(axis=axis, keepdims=True, initial=-np.inf)
    # a difference beyond the largest float is −∞: share 0; ∞ − ∞ is NaN, and shows
    with np.errstate(over="ignore", invalid="ignore"):
        return wide - np.where(maximum == -np.inf, 0, maximum)


def widened(x: Array) -> Array:
    """Return `x`; float16 as float32, so that sums and products do not overflow."""
    return x.astype(np.promote_types(x.dtype, np.float32), copy=False)
