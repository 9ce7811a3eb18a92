"""Writing inputs and values so that a reader can type them, in few lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mhalib.checks.values import TOLERANCE, close

LINES = 12  # an example has at most so many
WIDTH = 72
DIGITS = (4, 8, 12, 16)  # after the point
Rows = tuple[tuple[str, str], ...]


def example(names: Sequence[str], args: Sequence[Any], yours: Any, right: Any) -> Rows:
    """Return rows (label, text): the arguments, the reader's value and the right one.

    What is too long is written on one line, then only where the two values differ. They have as
    many digits as it takes to see that.
    """
    labels = [*names[: len(args)], "yours", "right"]
    digits = [_digits(arg) for arg in args]
    full, short = (list(map(write, args, digits)) for write in (shown, in_line))
    pairs = [(shown(yours, digits), shown(right, digits)) for digits in DIGITS]
    both = next((pair for pair in pairs if pair[0] != pair[1]), None)
    whole = [full + [*both], short + [*both]] if both else []
    return _first_that_fits(labels, *whole, [*short, *_difference(yours, right)])


def inputs(names: Sequence[str], args: Sequence[Any]) -> Rows:
    """Return rows (label, text) of the arguments alone."""
    return _first_that_fits(names, [shown(arg) for arg in args], [in_line(arg) for arg in args])


def _first_that_fits(labels: Sequence[str], *versions: list[str]) -> Rows:
    fits = (texts for texts in versions if len("\n".join(texts).splitlines()) <= LINES)
    return tuple(zip(labels, next(fits, versions[-1]), strict=False))


def shown(value: Any, digits: int = DIGITS[0]) -> str:
    """Write a value the way a reader would type it, long arrays shortened."""
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return "\n".join(shown(part, digits) for part in value)
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        if value.ndim == 0:
            return f"{float(value):.{digits + 2}g}" if value.dtype.kind == "f" else str(value)
        with np.printoptions(
            precision=digits, suppress=True, threshold=60, edgeitems=2, linewidth=72
        ):
            array = value + 0.0 if value.dtype.kind == "f" else value  # + 0 turns −0 into 0
            text = np.array2string(array, separator=", ").replace("\n\n", "\n")
        narrow = "" if value.dtype.itemsize >= 8 or value.dtype.kind != "f" else f"  {value.dtype}"
        return (text if value.size <= 60 else f"{text}  shape {value.shape}") + narrow
    text = value if isinstance(value, str) and "\n" in value else repr(value)
    if isinstance(value, str) and not text.startswith(("'", '"')):
        return text
    return text if len(text) <= 4 * WIDTH else f"{text[: 4 * WIDTH]}…"


def in_line(value: Any, digits: int = DIGITS[0]) -> str:
    """Write a value in one line; of a long array its beginning and its shape."""
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return "; ".join(in_line(part, digits) for part in value[:3]) + " …" * (len(value) > 3)
    text = " ".join(shown(value, digits).split())
    if not isinstance(value, np.ndarray) or (len(text) <= WIDTH and value.size <= 60):
        return text if len(text) <= 4 * WIDTH else f"{text[: 4 * WIDTH]}…"
    return f"{text[: WIDTH - 30].rpartition(',')[0]}, …  shape {value.shape}"


def _difference(yours: Any, right: Any) -> tuple[str, str]:
    """Write two values where they differ first."""
    if isinstance(right, list) and right and isinstance(right[0], np.ndarray):
        for i, (a, b) in enumerate(zip(yours, right, strict=False)):
            if np.shape(a) != np.shape(b) or not close(a, b).all():
                return tuple(f"{text}  (call {i})" for text in _difference(a, b))  # type: ignore[return-value]
    arrays = isinstance(yours, np.ndarray) and isinstance(right, np.ndarray)
    if not arrays or yours.shape != right.shape or not right.ndim:
        return in_line(yours), in_line(right)
    by_tolerance = (np.argwhere(~close(yours, right, t)) for t in (TOLERANCE, 1e-7, 1e-10, 0.0))
    wrong = next((found for found in by_tolerance if len(found)), None)
    if wrong is None:
        return in_line(yours), in_line(right)
    if right.shape[-1] > 12:  # a long row: the numbers themselves
        places = [tuple(int(i) for i in place) for place in wrong[:4]]
        names = [f" at {p[0] if len(p) == 1 else list(p)}" for p in places]
        more = " …" * (len(wrong) > 4)
        texts = _apart(lambda v, digits: [_number(v[p], digits) for p in places], yours, right)
        first, second = (", ".join(map("".join, zip(row, names))) + more for row in texts)
        return first, second
    row = tuple(int(i) for i in wrong[0][:-1])
    where = f"  (row {list(row)} of shape {right.shape})" if row else ""
    first, second = _apart(lambda v, digits: in_line(v[row], digits), yours, right)
    return first + where, second + where


def _digits(value: Any) -> int:
    """Return how many digits tell the numbers of a short vector apart."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.size > 12:
        return DIGITS[0]
    fits = (d for d in DIGITS if len(np.unique(value.round(d))) == len(np.unique(value)))
    return next(fits, DIGITS[-1])


def _apart(write: Callable[[Any, int], Any], *values: Any) -> list[Any]:
    """Write two values with so many digits that the texts differ."""
    texts = [[write(value, digits) for value in values] for digits in DIGITS]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def _number(value: Any, digits: int) -> str:
    return f"{float(value):.{digits}g}" if np.asarray(value).dtype.kind == "f" else str(value)
