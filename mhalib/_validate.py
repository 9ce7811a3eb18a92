"""Checks of arguments, shared by the modules of the library: every error says what came."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def array(name: str, value: ArrayLike, ndim: int = 0) -> NDArray[Any]:
    """Return `value` as an array with at least `ndim` axes."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must be a plain array, got a masked array, whose mask would be lost: "
            "pass its `.data`, and `mask=` where True means 'may attend'."
        )
    try:
        result = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # ragged lists, tensors with a gradient
        raise ValueError(f"{name} cannot be read as an array: {error}") from None
    enough_axes(name, result.shape, ndim)
    return result


def enough_axes(name: str, shape: tuple[int, ...], ndim: int, exact: bool = False) -> None:
    """Refuse a `shape` with fewer than `ndim` axes, or, if `exact`, with another number."""
    if len(shape) < ndim or (exact and len(shape) != ndim):
        axes = f"{ndim} {'axis' if ndim == 1 else 'axes'}"
        how_many = axes if exact else f"at least {axes}"
        raise ValueError(f"{name} must have {how_many}, got shape {tuple(shape)}")


def float_array(name: str, value: ArrayLike, ndim: int = 0, exact: bool = False) -> NDArray[Any]:
    """Return `value` as a floating-point array with at least (or exactly) `ndim` axes.

    Floating dtypes are kept; integers become float64.
    """
    result = array(name, value)
    if result.dtype.kind not in "fiu":
        raise TypeError(f"{name} must hold real numbers, got dtype {result.dtype}")
    enough_axes(name, result.shape, ndim, exact)
    return result if result.dtype.kind == "f" else result.astype(np.float64)


def number_array(name: str, value: ArrayLike, ndim: int = 0) -> NDArray[Any]:
    """Return `value` as an array of numbers of any kind with at least `ndim` axes."""
    result = array(name, value)
    if result.dtype.kind not in "fiubc":
        raise TypeError(f"{name} must hold numbers, got dtype {result.dtype}")
    enough_axes(name, result.shape, ndim)
    return result


def int_array(name: str, value: ArrayLike, below: int | None = None, ndim: int = 0) -> NDArray[Any]:
    """Return `value` as an integer array; its entries are 0 or more, and less than `below`."""
    result = array(name, value)
    if result.size == 0 and result.dtype.kind == "f":
        result = result.astype(np.int64)  # np.asarray([]) is float64
    if result.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, got dtype {result.dtype}")
    enough_axes(name, result.shape, ndim)
    outside = result[(result < 0) | (False if below is None else result >= below)]
    if outside.size:
        raise ValueError(outside_message(name, below, outside.flat[0]))
    return result


def outside_message(name: str, below: int | None, got: Any) -> str:
    """Return what is wrong with an entry `got` that is not in 0 … `below` − 1."""
    where = "be 0 or more" if below is None else f"lie in 0 … {below - 1}"
    return f"{name} must {where}, got {got}"


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


def axis_index(name: str, value: Any, ndim: int) -> int:
    """Return `value` as the index of one of `ndim` axes."""
    index = positive_int(name, value, minimum=-ndim)
    if index >= ndim:
        raise ValueError(f"{name} must lie in {-ndim} … {ndim - 1}, got {index}")
    return index


def real_number(
    name: str, value: Any, *, above: float = -math.inf, at_least: float = -math.inf
) -> float:
    """Return `value` as a finite float within the bounds."""
    try:
        plain = type(value) is float or type(value) is int
        if not plain and (isinstance(value, bool | np.bool_ | str | bytes) or np.ndim(value)):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    if number <= above:
        bound = "positive" if above == 0 else f"above {above}"
        raise ValueError(f"{name} must be {bound}, got {number}")
    if number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {number}")
    return number


def boolean(name: str, value: Any) -> bool:
    """Return `value`, which must be True or False itself: the text "no" counts as true."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def boolean_mask(name: str, value: ArrayLike) -> NDArray[np.bool_]:
    """Return `value` as a boolean array."""
    mask = array(name, value)
    if mask.dtype != np.bool_:
        raise TypeError(not_boolean_message(name, mask.dtype))
    return mask


def not_boolean_message(name: str, dtype: Any) -> str:
    """Return why a mask of `dtype` is refused."""
    return (
        f"{name} must be boolean (True = may attend), got dtype {dtype}: "
        "a mask of numbers could mean 'add this' or 'keep this'. "
        "Write `mask != 0` if 1 means 'may attend'; pass numbers to be added as `bias`."
    )


def one_reading(
    name: str, got: tuple[int, ...], shape: tuple[int, ...], n_batch: int | None = None
) -> tuple[int, ...]:
    """Return the shape, with all its axes, in which an array of shape `got` meets `shape`.

    The one rule for masks and biases, by rank: one axis for each axis of the scores, of the full
    length or 1; or (n_q, n_k) or (n_k,), the same for all that stands before. The ranks between
    could be read in two ways, and are refused with the call that is meant, whatever the sizes.

    Parameters
    ----------
    name : str
        The argument.
    got : tuple of int
        Its shape.
    shape : tuple of int
        That of the scores, (*batch, n_q, n_k) or (*batch, h, n_q, n_k).
    n_batch : int, optional
        How many axes of `shape` are batch axes. By default the third from the end counts as
        heads if there is a fourth.
    """
    got, shape = tuple(got), tuple(shape)
    if _fits(got, shape):
        return got
    if n_batch is None:
        n_batch = len(shape) - (3 if len(shape) > 3 else 2)
    missing = len(shape) - len(got)
    aligned = (1,) * missing + got
    by_batch = got[:1] + (1,) * missing + got[1:]
    in_front, behind = ("None, " * missing)[:-2], ":" + ", None" * missing
    may_be_batch = missing > 0 and len(got) > 1 and n_batch > 0 and _fits(by_batch, shape)
    if not _fits(aligned, shape):
        hint = f": write `{name}[{behind}]` if its first axis is the batch" if may_be_batch else ""
        raise ValueError(f"{name} must broadcast to {shape}, got shape {got}{hint}")
    if missing > 0 and len(got) > 2:
        what = "the heads" if n_batch < len(shape) - 2 else "no batch axis"
        calls = [f"`{name}[{in_front}]` if its first axis is {what}"]
        if may_be_batch:
            calls.append(f"`{name}[{behind}]` if it is the batch")
        raise ValueError(
            f"{name} must have an axis for each axis of {shape}, or be (n_q, n_k), and not be "
            f"readable in two ways; got shape {got}: write {', '.join(calls)}"
        )
    return aligned


def _fits(got: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return len(got) == len(shape) and all(a in (1, b) for a, b in zip(got, shape, strict=True))


def broadcasts_to(name: str, got: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Refuse an array of shape `got` that cannot be broadcast to `shape`."""
    if len(got) > len(shape) or not _fits((1,) * (len(shape) - len(got)) + tuple(got), shape):
        raise ValueError(f"{name} must broadcast to {tuple(shape)}, got shape {tuple(got)}")


def same_length(name: str, got: tuple[int, ...], axis: int, expected: int, what: str) -> None:
    """Refuse an array of shape `got` whose length along `axis` is not `expected`."""
    if got[axis] != expected:
        raise ValueError(
            f"{name} must have {expected} entries on axis {axis} ({what}), got shape {tuple(got)}"
        )


def same_batch(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes before the last two, broadcast; refuse shapes in which they do not fit."""
    batches = [tuple(shape[:-2]) for shape in shapes.values()]
    if all(batch == batches[0] for batch in batches):  # as a rule; the next line is slow
        return batches[0]
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        said = " and ".join(f"{name} {tuple(shape)}" for name, shape in shapes.items())
        raise ValueError(f"the batch axes of {said} do not broadcast") from None


def same_axes(name: str, got: tuple[int, ...], shape: tuple[int, ...], what: str) -> None:
    """Refuse a shape without one axis, of the full length or 1, for each axis of `what`."""
    got, shape = tuple(got), tuple(shape)
    if _fits(got, shape):
        return
    hint = ""
    if len(got) == 1 and len(shape) == 2:
        calls = [f"`{name}{i}`" for i, n in (("[:, None]", shape[0]), ("[None]", shape[1]))
                 if got[0] in (1, n)]  # fmt: skip
        hint = ": write " + " or ".join(calls) if calls else ""
    raise ValueError(
        f"{name} must have an axis for each axis of {what}, of its length or 1, {shape}; "
        f"got shape {got}{hint}"
    )
