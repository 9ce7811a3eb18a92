"""In which places two arrays differ, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib.checks.values import close

Array = NDArray[Any]


def where(pairs: list[tuple[Array, Array]]) -> str:
    """Return which places differ, if they are the same kind of place in all pairs."""
    wrong = [(~close(a, b), b) for a, b in pairs]
    for text, kind in _KINDS.items():
        places = [kind(b) for _, b in wrong]
        fits = [
            place is not None and not (off & ~place).any() for (off, _), place in zip(wrong, places)
        ]
        some = [place is not None and not place.all() for place in places]
        if all(fits) and sum(some) > len(some) / 2:
            verb = "differ" if text.startswith("columns") else "differs"
            return f"Only {text} {verb}; all other numbers are right."
    return ""


def _at(*index: Any) -> Any:
    def kind(b: Array) -> Array | None:
        if b.ndim < len(index):
            return None
        place = np.zeros(b.shape, bool)
        place[(..., *index)] = True
        return place

    return kind


def _triangle(k: int, below: bool) -> Any:
    def kind(b: Array) -> Array | None:
        if b.ndim < 2:
            return None
        low = np.tri(b.shape[-2], b.shape[-1], k, dtype=bool)
        return np.broadcast_to(low if below else ~low, b.shape)

    return kind


_ALL = slice(None)
_KINDS = {
    "the first row": _at(0, _ALL),
    "the last row": _at(-1, _ALL),
    "the first column": _at(_ALL, 0),
    "the last column": _at(_ALL, -1),
    "the diagonal": lambda b: (
        np.broadcast_to(np.eye(*b.shape[-2:]) > 0, b.shape) if b.ndim > 1 else None
    ),
    "columns 0, 2, 4, …": _at(_ALL, slice(0, None, 2)),
    "columns 1, 3, 5, …": _at(_ALL, slice(1, None, 2)),
    "the first number": _at(0),
    "the last number": _at(-1),
    "what lies above the diagonal": _triangle(0, False),
    "what lies below the diagonal": _triangle(-1, True),
    "what should be −∞": lambda b: b == -np.inf,
    "what should be 0": lambda b: b == 0,
    "what should not be −∞": lambda b: b != -np.inf,
    "what should be negative": lambda b: b < 0,
    "what should be positive": lambda b: b > 0,
}
