"""An error as a reader needs it."""

from __future__ import annotations

import traceback
from typing import Any


def absent_module(error: BaseException | None) -> str | None:
    """Return the module for want of which `error` came, "torch" for one."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name.partition(".")[0]
        error = error.__cause__ or error.__context__
    return None


def told(error: BaseException, name: str) -> dict[str, Any]:
    """Return an error as a reader needs it: only frames of cells, and the line in this cell."""
    if isinstance(error, SystemExit):
        return {"title": "SystemExit", "text": "The cell ended itself (exit).", "line": None}
    said = traceback.TracebackException.from_exception(error, limit=-60, compact=True)
    line, parts = None, []
    if isinstance(error, SyntaxError):
        line = error.lineno if error.filename == name else None
    seen: str | None = None
    for frame in traceback.extract_tb(error.__traceback__, limit=-2000):
        if not frame.filename.startswith("cell "):
            continue
        if frame.filename == name:
            line = frame.lineno
        inner = "" if frame.name == "<module>" else f", in {frame.name}"
        place = f"{frame.filename}, line {frame.lineno}{inner}"
        text = f"{place[0].upper()}{place[1:]}\n    {frame.line}\n"
        if text != seen:  # a recursion says the same a thousand times
            parts.append(text)
        seen = text
    if len(parts) > 12:
        parts = [*parts[:4], f"… {len(parts) - 8} more …\n", *parts[-4:]]
    last = "".join(said.format_exception_only()).replace(f'  File "{name}", ', "").rstrip("\n")
    if isinstance(error, SyntaxError):
        last = last.replace(f"line {line}\n", "", 1)
        parts = [f"{name[0].upper()}{name[1:]}, line {line}\n"] if line else []
    if isinstance(error, RecursionError):
        last += "\nA function calls itself endlessly, or too deeply for a browser."
    if isinstance(error, MemoryError):
        last = f"{last.rstrip(': ')}: more memory than a page has (2 GB)"
    return {"title": type(error).__name__, "text": "".join(parts) + last, "line": line}
