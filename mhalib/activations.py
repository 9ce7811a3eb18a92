"""The bend between the two layers of the feed-forward network (chapter 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.softmax import widened

if TYPE_CHECKING:
    from jaxtyping import Float, Real

Array = NDArray[Any]


def relu(x: Real[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Return ``max(x, 0)``.

    Parameters
    ----------
    x : array
        Real numbers.

    Returns
    -------
    array
        Of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` does not hold real numbers.
    """
    return np.maximum(validate.float_array("x", x), 0)


def gelu(x: Real[Array, "*shape"]) -> Float[Array, "*shape"]:
    r"""Return ``x Φ(x)``, Φ the standard normal CDF: ``x/2 · (1 + erf(x/√2))``.

    Parameters
    ----------
    x : array
        Real numbers.

    Returns
    -------
    array
        Of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` does not hold real numbers.

    References
    ----------
    Hendrycks, Gimpel (2016), *Gaussian Error Linear Units (GELUs)*.

    Examples
    --------
    >>> gelu([-1.0, 0.0, 1.0]).round(4)
    array([-0.1587,  0.    ,  0.8413])
    """
    x = validate.float_array("x", x)
    erf = np.vectorize(math.erf, otypes=[np.float64])  # NumPy has no erf of its own
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):  # −∞ · 0 is NaN
        return (wide / 2 * (1 + erf(wide / math.sqrt(2)))).astype(x.dtype)


def gelu_tanh(x: Real[Array, "*shape"]) -> Float[Array, "*shape"]:
    r"""Return GPT-2's approximation of `gelu`, ``x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))``.

    Parameters
    ----------
    x : array
        Real numbers.

    Returns
    -------
    array
        Of the same shape and dtype.

    Raises
    ------
    TypeError
        If `x` does not hold real numbers.
    """
    x = validate.float_array("x", x)
    wide = widened(x)
    with np.errstate(over="ignore", invalid="ignore"):  # tanh(±∞) is ±1; −∞ · 0 is NaN
        inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
        return (wide / 2 * (1 + np.tanh(inner))).astype(x.dtype)


ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
}
