"""Values that readers' functions return: read, in one form, compared in the precision that came."""

from __future__ import annotations

import copy
import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mhalib.checks.exercise import Misuse, Nothing

# Relative differences that are rounding. Narrow types are named by what came out or went in.
TOLERANCES = {"float16": 3e-2, "bfloat16": 5e-2}
TOLERANCE = 1e-4


def read(value: Any, returns: str) -> tuple[Any, str]:
    """Return `value` in the one form in which values are compared, and its dtype.

    Raises
    ------
    Misuse : if it is not what is asked for; the message says what it is
    """
    kind = type(value).__name__
    try:
        value, dtype = to_numpy(value)
        return _read(value, returns, kind), dtype
    except Misuse:
        raise
    except Exception as error:  # its own __array__ or __iter__ may do anything
        reason = f" ({type(error).__name__}: {error})".replace("\n", " ")
        raise Misuse(
            f"It returned a value of type {kind} that cannot be read{reason[:200]}."
        ) from None


def _read(value: Any, returns: str, kind: str) -> Any:
    if value is None or value is ... or value is NotImplemented:
        raise Nothing(value)
    if returns in ("ids", "pairs"):
        return _read_list(value, returns, kind)
    if returns == "arrays":
        return [_read(to_numpy(part)[0], "array", type(part).__name__) for part in value]
    if returns == "vector" and isinstance(value, (list, tuple)):
        value = np.array([to_numpy(part)[0] for part in value])
    if returns == "number":
        if np.shape(value) != () or np.asarray(value).dtype.kind not in "fiu":
            raise Misuse(f"It returned a value of type {kind}. One number was expected.")
        return np.asarray(float(value))
    if isinstance(value, np.ma.MaskedArray):
        raise Misuse("It returned a masked array. An ordinary array of numbers was expected.")
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fiub":
        of = f" of {value.dtype}" if hasattr(value, "dtype") else ""
        hint = " np.array turns it into one." if isinstance(value, (list, tuple)) and kind in (
            "list",
        ) else ""  # fmt: skip
        raise Misuse(
            f"It returned a value of type {kind}{of}. An array of numbers was expected.{hint}"
        )
    return np.array(value)


def _read_list(value: Any, returns: str, kind: str) -> list[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        raise Misuse(f"It returned a value of type {kind}. A list of {returns} was expected.")
    try:
        if returns == "ids":
            return [_whole(i) for i in value]
        return [(_whole(a), _whole(b)) for a, b in value]
    except (TypeError, ValueError):
        text = f"{value!r}"
        text = text if len(text) <= 200 else f"{text[:200]}…"
        raise Misuse(f"It returned {text}. A list of {returns} was expected.") from None


def _whole(value: Any) -> int:
    value = to_numpy(value)[0]
    return operator.index(value.item() if isinstance(value, (np.ndarray, np.generic)) else value)


def same(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """Return whether two values agree: shape, kind, and numbers up to rounding.

    Differences are measured against the largest number of `b`, so that small values count.
    """
    if isinstance(a, list) or isinstance(b, list):
        if not (isinstance(a, list) and isinstance(b, list) and len(a) == len(b)):
            return False
        if b and isinstance(b[0], np.ndarray):
            return all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
        return bool(a == b)
    if np.shape(a) != np.shape(b) or (a.dtype == bool) != (b.dtype == bool):
        return False
    return bool(np.all(close(a, b, tolerance)))


def close(a: Any, b: Any, tolerance: float = TOLERANCE) -> Any:
    """Return, number by number, whether `a` equals `b` up to rounding."""
    if b.dtype == bool:
        return a == b
    a, size = np.asarray(a), np.abs(b)
    finite = np.isfinite(b)
    scale = max(float(np.max(size, where=finite, initial=0.0)), 1e-30)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= tolerance * (size + 0.1 * scale)
        if finite.all():
            return near
        return np.where(finite, near, (a == b) | (np.isnan(a) & np.isnan(b)))


def tolerance_of(dtype: str, args: Iterable[Any] = ()) -> float:
    """Return which relative difference is rounding, for a value of this dtype, made of `args`."""
    narrow = any(isinstance(arg, np.ndarray) and arg.dtype == np.float16 for arg in args)
    return max(TOLERANCES.get(dtype, TOLERANCE), TOLERANCES["float16"] if narrow else 0.0)


def unchanged(before: Any, now: Any, rounded: bool) -> bool:
    """Return whether an argument is still what it was."""
    try:
        if isinstance(before, np.ndarray):
            now = to_numpy(now)[0]
            if rounded and before.dtype.kind == "f":
                before, now = before.astype(np.float32), np.asarray(now).astype(np.float32)
            if before.shape != np.shape(now):
                return False
            same = before == now
            return bool(same.all() or (same | ((before != before) & (now != now))).all())
        return callable(before) or (type(before) is type(now) and bool(before == now))
    except Exception:  # what cannot even be compared has changed
        return False


def to_numpy(value: Any) -> tuple[Any, str]:
    """Return a tensor as an array, anything else as it is, and the name of its dtype."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        value = value.detach().cpu()
        value = value.to_dense() if value.layout != torch.strided else value
        return (value.float() if dtype == "bfloat16" else value).numpy(), dtype
    if hasattr(value, "__array__") and not isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
    return value, str(getattr(value, "dtype", ""))


def to_torch(value: Any, dtype: str) -> Any:
    """Return an array as a tensor, its floating-point numbers as `dtype`; the same for results."""
    torch = sys.modules["torch"]
    if isinstance(value, np.ndarray):
        tensor = torch.from_numpy(value.copy())
        return tensor.to(getattr(torch, dtype)) if value.dtype.kind == "f" else tensor
    if callable(value):
        return lambda *args: to_torch(value(*(to_numpy(arg)[0] for arg in args)), dtype)
    return copy.deepcopy(value)


def in_numpy(function: Callable[..., Any], torch_dtype: str | None) -> Callable[..., Any]:
    """Return `function`, taking and giving NumPy arrays whichever it works with."""
    if torch_dtype is None:
        return function

    def wrapped(*args: Any) -> Any:
        result = function(*(to_torch(arg, torch_dtype) for arg in args))
        if isinstance(result, tuple):
            return tuple(to_numpy(part)[0] for part in result)
        return to_numpy(result)[0]

    return wrapped


def is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"
