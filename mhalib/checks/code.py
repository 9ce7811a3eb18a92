"""What the reader's code looks like: empty, unfinished, in torch; and where an error came from."""

from __future__ import annotations

import dis
import inspect
import sys
import traceback
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from mhalib.checks.exercise import Function

_IDLE = {
    "RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "POP_TOP", "COPY_FREE_VARS",
    "LOAD_SMALL_INT", "NOT_TAKEN", "CACHE",
}  # fmt: skip


def is_stub(function: Function) -> bool:
    """Return whether the body is empty: nothing but `...`, `pass` or a docstring."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and {i.opname for i in dis.get_instructions(code)} <= _IDLE


def has_placeholder(function: Function) -> bool:
    """Return whether a `...` is left where a value belongs: assigned or returned."""
    code = getattr(function, "__code__", None)
    waiting = [code] if isinstance(code, CodeType) else []
    while waiting:
        code = waiting.pop()
        waiting += [const for const in code.co_consts if isinstance(const, CodeType)]
        steps = [i for i in dis.get_instructions(code) if i.opname != "CACHE"]
        for step, after in zip(steps, [*steps[1:], None], strict=True):
            if step.argval is not Ellipsis or not step.opname.startswith(("LOAD", "RETURN_CONST")):
                continue
            name = after.opname if after else ""
            kept = name.startswith("STORE_") and name not in ("STORE_SUBSCR", "STORE_SLICE")
            if step.opname == "RETURN_CONST" or kept or name == "RETURN_VALUE":
                return True
    return False


def words_of(error: BaseException | None) -> str:
    try:
        text = str(error)
    except Exception:  # an error of the reader's own may not be able to say what it is
        text = ""
    return text if len(text) <= 400 else f"{text[:400]}…"


def reader_line(error: BaseException | None) -> str:
    """Return the last line outside this package and other people's where `error` came from."""
    here = str(Path(__file__).parent)
    for frame in reversed(traceback.extract_tb(error.__traceback__ if error else None)):
        if frame.line and not frame.filename.startswith(here) and "-packages" not in frame.filename:
            return f"In {frame.name}, at: {frame.line}"
    return ""


def uses_torch(function: Any) -> bool:
    """Return whether `function`, or a function it calls, refers to torch."""
    return _uses(function, "torch")


def uses_numpy(function: Any) -> bool:
    return _uses(function, "numpy")


def _uses(function: Any, library: str) -> bool:
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    waiting, seen = [function], set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, torch.nn.Module):
            return library == "torch"
        item = inspect.unwrap(item) if callable(item) else item
        code = getattr(item, "__code__", None)
        if not isinstance(code, CodeType) or code in seen:
            continue
        seen.add(code)
        cells = [cell.cell_contents for cell in item.__closure__ or () if _filled(cell)]
        for value in [*cells, *(item.__globals__.get(name) for name in names_in(code))]:
            home = (
                value.__name__
                if isinstance(value, ModuleType)
                else getattr(value, "__module__", "")
            )
            if isinstance(value, torch.nn.Module):
                home = "torch"
            if str(home).partition(".")[0] == library:
                return True
            if callable(value):
                waiting.append(value)
    return False


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def names_in(code: CodeType) -> set[str]:
    """Return the names that code refers to, the functions inside it included."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*map(names_in, inner))
