"""Checks of arguments, shared by the modules of the library: every error says what came."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def array(name: str, value: ArrayLike, ndim: int) -> NDArray[Any]:
    """Return `value` as an array with at least `ndim` axes."""
    result = np.asarray(value)
    if result.ndim < ndim:
        raise ValueError(f"{name} must have at least {ndim} axes, got shape {result.shape}")
    return result


def float_array(name: str, value: ArrayLike, ndim: int = 0) -> NDArray[Any]:
    """Return `value` as a floating-point array with at least `ndim` axes.

    Floating dtypes are kept; integers and booleans become float64.
    """
    result = array(name, value, ndim)
    if result.dtype.kind in "iub":
        return result.astype(np.float64)
    if result.dtype.kind != "f":
        raise TypeError(f"{name} must hold real numbers, got dtype {result.dtype}")
    return result


def int_array(name: str, value: ArrayLike, below: int) -> NDArray[Any]:
    """Return `value` as an integer array whose entries lie in 0 … `below` − 1."""
    array = np.asarray(value)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)  # np.asarray([]) is float64
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got dtype {array.dtype}")
    outside = array[(array < 0) | (array >= below)]
    if outside.size:
        raise ValueError(f"{name} must lie in 0 … {below - 1}, got {outside.flat[0]}")
    return array


def positive_int(name: str, value: Any, minimum: int = 1) -> int:
    """Return `value` as an int that is at least `minimum`."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {number}")
    return number


def real_number(name: str, value: Any) -> float:
    """Return `value` as a finite float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


def boolean_mask(name: str, value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return `value` as a boolean array that broadcasts to `shape`."""
    mask = np.asarray(value)
    if mask.dtype != np.bool_:
        raise TypeError(
            f"{name} must be boolean (True = may attend), got dtype {mask.dtype}: "
            "a mask of numbers could mean 'add this' or 'keep this'. "
            "Write `mask != 0` if 1 means 'may attend'; pass numbers to be added as `bias`."
        )
    broadcasts_to(name, mask, shape)
    return mask


def broadcasts_to(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Refuse an `array` that cannot be broadcast to `shape`."""
    try:
        fits = np.broadcast_shapes(array.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"{name} must broadcast to {shape}, got shape {array.shape}")


def same_length(name: str, array: NDArray[Any], axis: int, expected: int, what: str) -> None:
    """Refuse an `array` whose length along `axis` is not `expected`."""
    if array.shape[axis] != expected:
        raise ValueError(
            f"{name} must have {expected} entries on axis {axis} ({what}), got shape {array.shape}"
        )
