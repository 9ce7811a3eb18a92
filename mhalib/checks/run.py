"""Calling a function that may do anything: raise, hang, change its inputs, return nothing."""

from __future__ import annotations

import copy
import ctypes
import inspect
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from mhalib.checks.exercise import Function, Misuse


class _Stopped(BaseException):
    """Raised inside a reader's function that runs too long."""


@dataclass(frozen=True)
class Outcome:
    """What a call did: `value` (as NumPy arrays or lists), or what went wrong instead."""

    value: Any = None
    error: BaseException | None = None
    hung: bool = False
    changed: int | None = None  # index of an argument that was changed
    dtype: Any = None  # of the value, if it is one array


def run(
    function: Function,
    args: Sequence[Any],
    returns: str,
    *,
    call: Callable[..., Any] | None = None,
    torch_dtype: str | None = None,
    seconds: float | None = None,
) -> Outcome:
    """Call `function` on copies of `args`.

    With `seconds`, in a thread of its own and for at most so long: a thread, since signals work
    neither on Windows nor outside the main thread. With `torch_dtype`, floating-point arrays
    arrive as torch tensors of this dtype.
    """
    given = [_to_torch(arg, torch_dtype) if torch_dtype else copy.deepcopy(arg) for arg in args]
    box: list[Any] = []

    def work() -> None:
        try:
            with np.errstate(all="ignore"):
                box.append(call(function, *given) if call else function(*given))
        except BaseException as error:  # whatever the reader's code raises, SystemExit too
            box.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if seconds is None:
            work()
        else:
            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            thread.join(seconds)
            if thread.is_alive():
                _stop(thread)
                return Outcome(hung=True)
    raw = box[0]
    if isinstance(raw, BaseException):
        return Outcome(error=raw)
    for i, (arg, now) in enumerate(zip(args, given, strict=True)):
        if not _unchanged(arg, _to_numpy(now), torch_dtype is not None):
            return Outcome(changed=i)
    try:
        value = normalised(raw, returns)
    except Misuse as error:
        return Outcome(error=error)
    return Outcome(value, dtype=getattr(value, "dtype", None))


def _stop(thread: threading.Thread) -> None:
    """Ask the thread to end. A loop in Python ends; a call that hangs in C stays behind."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(_Stopped)
        )
        thread.join(1.0)


def normalised(value: Any, returns: str) -> Any:
    """Return `value` in the one form in which values are compared, or say what it should be."""
    kind = type(value).__name__
    value = _to_numpy(value)
    if returns in ("ids", "pairs"):
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, (list, tuple)):
            raise Misuse(f"It returned a value of type {kind}. A list of {returns} was expected.")
        try:
            if returns == "ids":
                return [int(i) for i in value]
            return [(int(a), int(b)) for a, b in value]
        except (TypeError, ValueError):
            raise Misuse(f"It returned {value!r}. A list of {returns} was expected.") from None
    if returns == "arrays":
        return [normalised(part, "array") for part in value]
    if returns == "number":
        if np.shape(value) != () or np.asarray(value).dtype.kind not in "fiu":
            raise Misuse(f"It returned a value of type {kind}. One number was expected.")
        return np.asarray(float(value))
    if (
        not isinstance(value, (np.ndarray, np.generic))
        or np.asarray(value).dtype.kind not in "fiub"
    ):
        raise Misuse(f"It returned a value of type {kind}. An array of numbers was expected.")
    return np.asarray(value)


def same(a: Any, b: Any) -> bool:
    """Return whether two normalised values agree: shape, kind, and numbers up to rounding."""
    if isinstance(a, list) or isinstance(b, list):
        if not (isinstance(a, list) and isinstance(b, list) and len(a) == len(b)):
            return False
        if a and isinstance(a[0], np.ndarray):
            return all(same(x, y) for x, y in zip(a, b, strict=True))
        return a == b
    if np.shape(a) != np.shape(b) or (a.dtype == bool) != (b.dtype == bool):
        return False
    return bool(np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True))


def _unchanged(before: Any, now: Any, rounded: bool) -> bool:
    if isinstance(before, np.ndarray):
        if rounded and before.dtype.kind == "f":
            before, now = before.astype(np.float32), np.asarray(now).astype(np.float32)
        return before.shape == np.shape(now) and np.array_equal(
            before, now, equal_nan=before.dtype.kind == "f"
        )
    return callable(before) or bool(before == now)


def _to_numpy(value: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    return value


def _to_torch(value: Any, dtype: str) -> Any:
    torch = sys.modules["torch"]
    if isinstance(value, np.ndarray):
        tensor = torch.from_numpy(value.copy())
        return tensor.to(getattr(torch, dtype)) if value.dtype.kind == "f" else tensor
    if callable(value):
        return lambda *args: _to_torch(value(*map(_to_numpy, args)), dtype)
    return copy.deepcopy(value)


def in_numpy(function: Function, torch_dtype: str | None) -> Function:
    """Return `function`, taking and giving NumPy arrays whichever it works with."""
    if torch_dtype is None:
        return function

    def wrapped(*args: Any) -> Any:
        result = function(*(_to_torch(arg, torch_dtype) for arg in args))
        return tuple(map(_to_numpy, result)) if isinstance(result, tuple) else _to_numpy(result)

    return wrapped


def uses_torch(function: Any) -> bool:
    """Return whether `function`, or a function it calls, refers to torch."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    waiting, seen = [function], set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, torch.nn.Module):
            return True
        item = inspect.unwrap(item) if callable(item) else item
        code = getattr(item, "__code__", None)
        if not isinstance(code, CodeType) or code in seen:
            continue
        seen.add(code)
        cells = [cell.cell_contents for cell in item.__closure__ or () if _filled(cell)]
        for value in [*cells, *(item.__globals__.get(name) for name in _names(code))]:
            home = (
                value.__name__
                if isinstance(value, ModuleType)
                else getattr(value, "__module__", "")
            )
            if str(home).partition(".")[0] == "torch" or isinstance(value, torch.nn.Module):
                return True
            if callable(value):
                waiting.append(value)
    return False


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _names(code: CodeType) -> set[str]:
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*map(_names, inner))
