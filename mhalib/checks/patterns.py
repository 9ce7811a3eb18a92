"""In what two lists of arrays, wrong ones and right ones, differ: a factor, an order, a function.

Each test returns a sentence, or nothing if it does not hold for all pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.values import close

Array = NDArray[Any]


def not_finite(pairs: list[tuple[Array, Array]]) -> str:
    """Say that there is NaN or ∞ where numbers should be."""
    bad = [(~np.isfinite(a) & np.isfinite(b), a) for a, b in pairs]
    if not all(where.any() for where, _ in bad):
        return ""
    if all(np.isnan(a[where]).any() for where, a in bad):
        return "There is NaN in it. NaN comes from 0/0, ∞/∞, ∞ − ∞, 0 · ∞ or a negative root."
    if all((a[where] == -np.inf).all() for where, a in bad):
        asked = any((b == -np.inf).any() for _, b in pairs)
        return "" if asked else "There is −∞ in it, such as the logarithm of 0."
    return "There is ∞ in it: a number grew too large, or was divided by 0."


def _factor(pairs: list[tuple[Array, Array]]) -> str:
    """Say that all numbers are off by one factor."""
    factors = []
    for a, b in pairs:
        used = np.isfinite(b) & (b != 0)
        if not used.any() or not (np.isfinite(a) | ~np.isfinite(b)).all():
            return ""
        ratio = a[used] / b[used]
        c = float(np.median(ratio))
        if c == 0 or not np.allclose(
            a[np.isfinite(b)], c * b[np.isfinite(b)], rtol=1e-3, atol=1e-6
        ):
            return ""
        factors.append(c)
    if sum(b.size for _, b in pairs) < 6:
        return ""
    c = factors[0]
    if np.allclose(factors, 1, rtol=1e-3):
        return ""
    if np.allclose(factors, -1, rtol=1e-3):
        return "The sign is wrong; otherwise each number is right."
    if np.allclose(factors, c, rtol=1e-3):
        return f"Each number is {_plain(c)} times the right one, on every input."
    if any(b.size < 2 for _, b in pairs) or all(b.ndim < 2 or len(b) < 2 for _, b in pairs):
        return ""  # one number, or one row, is always
    return (
        f"All numbers of an input are off by one factor. Here it is {_plain(c)}, for other inputs "
        "another."
    )


def _plain(c: float) -> str:
    for text, value in ((f"{c * c:.0f}", c * c), (f"1/{1 / (c * c):.0f}", 1 / (c * c))):
        if c > 0 and value > 1.5 and abs(value - round(value)) < 1e-3:
            root = round(value) ** 0.5
            if abs(root - round(root)) < 1e-9:
                return f"{round(root)}" if c > 1 else f"1/{round(root)}"
            return f"√{text}" if c > 1 else f"1/√{text[2:]}"
    return f"{c:.4g}"


def _offset(pairs: list[tuple[Array, Array]]) -> str:
    offsets = []
    for a, b in pairs:
        d = (a - b)[np.isfinite(b)]
        if not d.size or not np.isfinite(d).all() or np.ptp(d) > 1e-3 * max(np.abs(d).max(), 1e-9):
            return ""
        offsets.append(float(d[0]))
    if sum(b.size for _, b in pairs) < 6:
        return ""
    if np.allclose(offsets, offsets[0], rtol=1e-3):
        return f"Each number is too {_size(offsets[0])} by {abs(offsets[0]):.4g}, on every input."
    if any(b.size < 2 for _, b in pairs) or min(offsets) < 0 < max(offsets):
        return ""
    return f"All numbers of an input are too {_size(offsets[0])} by the same amount."


def _size(d: float) -> str:
    return "large" if d > 0 else "small"


def _moved(pairs: list[tuple[Array, Array]]) -> str:
    """Say that axes were exchanged, or rows reversed or shifted."""
    big = [(a, b) for a, b in pairs if b.size > 3]
    if len(big) < 2:
        return ""
    moves: dict[str, Callable[[Array], Array]] = {
        "The numbers are right, but rows and columns are exchanged.": lambda b: (
            b.swapaxes(-1, -2) if b.ndim > 1 else b
        ),
        "The rows are right, in reverse order.": lambda b: b[..., ::-1, :] if b.ndim > 1 else b,
        "The numbers of each row are right, in reverse order.": lambda b: b[..., ::-1],
        "The rows are right, moved by one.": lambda b: np.roll(b, 1, axis=-2) if b.ndim > 1 else b,
        "The rows are right, moved back by one.": lambda b: (
            np.roll(b, -1, axis=-2) if b.ndim > 1 else b
        ),
        "The columns are right, moved by one.": lambda b: np.roll(b, 1, axis=-1),
        "The columns are right, moved back by one.": lambda b: np.roll(b, -1, axis=-1),
    }
    for text, move in moves.items():
        if all(a.shape == move(b).shape and close(a, move(b)).all() for a, b in big):
            return text
    if all(close(np.sort(a, axis=None), np.sort(b, axis=None)).all() for a, b in big):
        return "The same numbers as in the right result, in other places."
    return ""


def _rounded(pairs: list[tuple[Array, Array]]) -> str:
    for digits in range(7):
        if all(close(a, np.round(b, digits), 1e-7).all() for a, b in pairs):
            return f"The right numbers, rounded to {digits} decimal{'s' * (digits != 1)}."
    return ""


def _along(pairs: list[tuple[Array, Array]]) -> str:
    """Say that each row (or column) is right up to a factor or an amount of its own."""
    big = [(a, b) for a, b in pairs if b.ndim > 1 and min(b.shape[-2:]) > 1]
    if len(big) < 2 or not all(np.isfinite(a).all() and np.isfinite(b).all() for a, b in big):
        return ""
    with np.errstate(all="ignore"):
        for axis, what in ((-1, "row"), (-2, "column")):
            ratios = [a / b for a, b in big]
            if all(
                np.allclose(np.where(b == 0, a, 0), 0, atol=1e-6)
                and (np.nanmax(r, axis) - np.nanmin(r, axis) < 1e-3 * np.nanmax(abs(r), axis)).all()
                for (a, b), r in zip(big, ratios, strict=True)
            ):
                return f"Each {what} is right up to a factor of its own."
            if all((np.ptp(a - b, axis=axis) <= 1e-3 * np.abs(a - b).max()).all() for a, b in big):
                return f"Each {what} is right up to a number added to all of it."
    return ""


def function_of(pairs: list[tuple[Array, Array]]) -> str:
    """Say which function of the right numbers these are."""
    if sum(b.size for _, b in pairs) < 6:
        return ""
    functions: dict[str, Callable[[Array], Array]] = {
        "the squares of the right numbers": np.square,
        "the absolute values of the right numbers": np.abs,
        "exp of the right numbers": np.exp,
        "the right numbers rounded down": np.floor,
        "the right numbers, cut to whole ones": np.trunc,
        "the right numbers, negative ones as 0": lambda b: np.maximum(b, 0),
        "the hyperbolic tangent of the right numbers": np.tanh,
        "the sine of the right numbers": np.sin,
        "the roots of the right numbers": np.sqrt,
        "the logarithms of the right numbers": np.log,
        "1 divided by the right numbers": lambda b: 1 / b,
        "1 minus the right numbers": lambda b: 1 - b,
        "the sigmoid of the right numbers": lambda b: 1 / (1 + np.exp(-b)),
        "the softmax of the right rows": lambda b: mhalib.softmax(b),
        "the right rows, brought to length 1": lambda b: (
            b / np.linalg.norm(b, axis=-1, keepdims=True)
        ),
        "the right rows, brought to sum 1": lambda b: b / b.sum(axis=-1, keepdims=True),
        "the right rows, their mean subtracted": lambda b: b - b.mean(axis=-1, keepdims=True),
        "the right rows, their maximum subtracted": lambda b: b - b.max(axis=-1, keepdims=True),
        "the right rows, normalised": lambda b: mhalib.layer_norm(b),
        "the running sums of the right rows": lambda b: np.cumsum(b, axis=-1),
    }
    with np.errstate(all="ignore"):
        for words, function in functions.items():
            if all(b.ndim and close(b, function(b), 1e-3).all() for _, b in pairs):
                continue  # such as the absolute values of positive numbers
            if all(b.ndim and close(a, function(b), 1e-3).all() for a, b in pairs):
                return f"These are {words}."
        if text := _cut(pairs):
            return text
    return _power(pairs)


def nearly(pairs: list[tuple[Array, Array]]) -> str:
    """Say that all numbers are nearly right."""
    if sum(b.size for _, b in pairs) < 6:
        return ""
    if not all((np.abs(a - b) <= 5e-3 * np.abs(b).max()).all() for a, b in pairs):
        return ""
    return (
        "Every number is nearly right: off by less than 1 % of the largest. Is something rounded "
        "on the way, such as to float16, or a small number added?"
    )


def _cut(pairs: list[tuple[Array, Array]]) -> str:
    """Say below and above what the numbers were cut off, if some were and most were not."""
    if not all(np.isfinite(a).all() for a, _ in pairs):
        return ""
    low = min(float(a.min()) for a, _ in pairs)
    high = max(float(a.max()) for a, _ in pairs)
    below, above = (sum(int(cut.sum()) for cut in cuts) for cuts in (
        [b < low - 1e-3 * abs(low) for _, b in pairs],
        [b > high + 1e-3 * abs(high) for _, b in pairs],
    ))  # fmt: skip
    count = sum(b.size for _, b in pairs)
    fits = all(close(a, np.clip(b, low, high), 1e-3).all() for a, b in pairs)
    if not fits or not 2 < below + above < count / 2:
        return ""
    limits = [f"below {low:.4g}"] * (below > 0) + [f"above {high:.4g}"] * (above > 0)
    return f"The right numbers, cut off {' and '.join(limits)}."


def _power(pairs: list[tuple[Array, Array]]) -> str:
    """Say by what the numbers in exp were multiplied, if that explains all shares."""
    if not all((a >= 0).all() and (b >= 0).all() and ((a > 0) == (b > 0)).all() for a, b in pairs):
        return ""
    first, parts = [], []
    for a, b in pairs:
        if not b.ndim or b.shape[-1] < 2:
            continue
        with np.errstate(all="ignore"):
            yours, right = (np.log(v[..., 1:]) - np.log(v[..., :1]) for v in (a, b))
        used = np.isfinite(yours) & np.isfinite(right) & (np.abs(right) > 1e-6)
        if used.any():
            parts.append(yours[used] / right[used])
            first.append(float(parts[-1][0]))
    if len(first) < 4 or not all(np.allclose(part, part[0], rtol=2e-2) for part in parts):
        return ""
    if np.allclose(first, 0, atol=1e-6) or np.allclose(first, 1, rtol=2e-2):
        return ""
    more = "" if np.allclose(first, first[0], rtol=2e-2) else ", for other inputs by another"
    return f"As if the numbers in exp had been multiplied by {first[0]:.3g}{more}."


PATTERNS = (_factor, _offset, _moved, _rounded, _along)
