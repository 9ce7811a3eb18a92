"""What can be said about a wrong value that no known mistake explains.

Each clue is computed from what the function gave, on all inputs where it is wrong, and is left out
if it does not hold on each of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks import properties
from mhalib.checks.exercise import Case, Exercise, Function
from mhalib.checks.places import where
from mhalib.checks.run import Outcome, names_in, run, run_all
from mhalib.checks.values import close, in_numpy, is_float, same

Array = NDArray[Any]


@dataclass(frozen=True)
class Seen:
    """A case, what came of it, and what is right."""

    case: Case
    outcome: Outcome
    right: Any
    wide: Case  # the same in float64, of which `right` was computed

    @property
    def wrong(self) -> bool:
        return self.outcome.error is not None or not same(
            self.outcome.value, self.right, self.outcome.tolerance
        )


@dataclass(frozen=True)
class Findings:
    """An exercise, the reader's function, and all that was seen."""

    exercise: Exercise
    function: Function
    torch_dtype: str | None
    seconds: float
    seen: Sequence[Seen]

    def clues(self) -> list[str]:
        """Return what is true of the wrong values, at most two sentences."""
        with np.errstate(all="ignore"):
            return self._clues()

    def _clues(self) -> list[str]:
        wrong = [s for s in self.seen if s.wrong and s.outcome.error is None]
        first = wrong[0]
        texts: list[str] = []
        if isinstance(first.right, list) and not _arrays(first.right):
            texts = [_of_list(first)]
        elif isinstance(first.right, np.ndarray) and first.right.dtype == bool:
            texts = [_of_mask(first)]
        else:
            pairs = [
                (np.asarray(a, float), np.asarray(b, float))
                for s in wrong
                for a, b in _parts(s.outcome.value, s.right)
                if a.shape == b.shape and not close(a, b, s.outcome.tolerance).all()
            ]
            if not pairs:
                texts = [_of_shape(self.exercise, first)]
            else:
                texts = [not_finite(pairs)]
                texts = texts if texts[0] else self._of_numbers(pairs, wrong)
        texts = [self._outside(), *(texts if any(texts) else [self._when()])]
        return [text for text in texts if text][:2]

    def _of_numbers(self, pairs: list[tuple[Array, Array]], wrong: list[Seen]) -> list[str]:
        tests: list[Callable[[], str]] = [
            self._formula,
            self._unused,
            lambda: self._argument(wrong),
            lambda: self._kept(wrong),
            lambda: self._added(wrong),
            *(lambda pattern=pattern: pattern(pairs) for pattern in PATTERNS),
            lambda: self._shares(wrong),
            self._rows,
            lambda: where(pairs),
            lambda: function_of(pairs),
            lambda: self._first_part(wrong),
        ]
        texts = [next((text for test in tests if (text := test())), "")]
        function = in_numpy(self.function, self.torch_dtype and "float64")
        return texts + [text for test in properties.of(self.exercise) if (text := test(function))]

    def _calls(self, cases: Sequence[Case], function: Function | None = None) -> list[Outcome]:
        if function is not None:
            return run_all(self.exercise, function, cases)[0]
        how = {"torch_dtype": self.torch_dtype, "seconds": self.seconds}
        return run_all(self.exercise, self.function, cases, **how)[0]  # type: ignore[arg-type]

    def _formula(self) -> str:
        """Tell what the function computes, if it is one of the formulas that are at hand."""
        seen = sorted((s for s in self.seen if s.outcome.error is None), key=lambda s: not s.wrong)
        for words, formula in self.exercise.formulas():
            if all(
                same(
                    s.outcome.value, run(self.exercise, formula, s.wide).value, s.outcome.tolerance
                )
                for s in seen
            ):
                return f"Your function computes {words}."
        return ""

    def _kept(self, wrong: list[Seen]) -> str:
        """Tell which places of a vector stay."""
        if self.exercise.returns != "vector":
            return ""
        yours, right = (
            np.flatnonzero(np.isfinite(v)) for v in (wrong[0].outcome.value, wrong[0].right)
        )
        if len(yours) == len(wrong[0].right) or list(yours) == list(right):
            return ""
        return f"It keeps {_ids(yours)}. Right is {_ids(right)}."

    def _added(self, wrong: list[Seen]) -> str:
        """Tell an argument that was added to, subtracted from or multiplied into the result."""
        for k, name in enumerate(self.exercise.argument_names):
            for word, undo in _UNDO.items():
                if all(
                    isinstance(s.right, np.ndarray)
                    and len(s.case.args) > k
                    and is_float(s.case.args[k])
                    and s.case.args[k].ndim == np.ndim(s.right) > 0
                    and s.case.args[k].shape == np.shape(s.outcome.value) == s.right.shape
                    and same(undo(s.outcome.value, s.wide.args[k]), s.right, 1e-3)
                    for s in wrong
                ):
                    return f"{name} was {word} the right result."
        return ""

    def _first_part(self, wrong: list[Seen]) -> str:
        """Tell that the first of several calls is right."""
        if not all(_arrays(s.right) for s in wrong):
            return ""
        rights = [
            [np.shape(a) == np.shape(b) and same(a, b) for a, b in _parts(s.outcome.value, s.right)]
            for s in wrong
        ]
        if all(right[0] for right in rights):
            return "The first call, without a cache, is right. A later one, with the cache, is not."
        return ""

    def _unused(self) -> str:
        """Tell an argument without effect: with another one the result stays the same."""
        most = max(len(s.case.args) for s in self.seen)
        for k in range(most):
            pool = [s.case for s in self.seen if len(s.case.args) > k and s.outcome.error is None]
            pool = sorted(pool, key=lambda case: case.size)[-6:]
            others = [_with_other(case, k) for case in pool]
            tried = [(a, b) for a, b in zip(pool, others, strict=True) if b is not None]
            if len(tried) < 2:
                continue
            olds, news = [a for a, _ in tried], [b for _, b in tried]
            reference = self.exercise.reference
            right = list(zip(self._calls(olds, reference), self._calls(news, reference)))
            if any(o.error for pair in right for o in pair):
                continue
            matters = [not same(a.value, b.value) for a, b in right]
            yours = list(zip(self._calls(olds), self._calls(news)))
            if sum(matters) >= 2 and all(
                a.error is None and b.error is None and same(a.value, b.value, 1e-9)
                for a, b in yours
            ):
                name = self.exercise.argument_names[k]
                return f"{name} plays no part: with another {name} your result stays the same."
        return ""

    def _argument(self, wrong: list[Seen]) -> str:
        """Tell an argument that comes back as it is."""
        for k, name in enumerate(self.exercise.argument_names):
            values = [s.case.args[k] if len(s.case.args) > k else None for s in wrong]
            if all(
                isinstance(value, np.ndarray)
                and isinstance(s.outcome.value, np.ndarray)
                and same(s.outcome.value, np.asarray(value, float))
                for value, s in zip(values, wrong, strict=True)
            ):
                return f"This is {name}, as it came."
        return ""

    def _shares(self, wrong: list[Seen]) -> str:
        if not self.exercise.shares:
            return ""
        values = [(s.outcome.value, s.outcome.tolerance) for s in wrong]
        sums = [(value.sum(axis=-1), 10 * tolerance) for value, tolerance in values]
        if all((np.abs(total - 1) > tolerance).any() for total, tolerance in sums):
            total = np.ravel(sums[0][0])
            off = total[np.abs(total - 1).argmax()]
            columns = all(
                v.ndim > 1 and np.allclose(v.sum(axis=-2), 1, atol=10 * t) for v, t in values
            )
            more = " Here the columns do." if columns else ""
            return f"Each row must sum to 1. Here one sums to {off:.4g}.{more}"
        if all((value < 0).any() for value, _ in values):
            return "A share cannot be negative. Here some are."
        s = wrong[0]
        if len(s.case.args) > 1 and all((w.outcome.value[~w.case.args[1]] != 0).any() for w in wrong):
            i, j = np.argwhere(~s.case.args[1] & (s.outcome.value != 0))[0]
            return f"Key {j} is hidden from query {i}, and gets a share: {s.outcome.value[i, j]:.4g}."
        scores = [np.where(np.isfinite(w.wide.args[0]), w.wide.args[0], -1e300) for w in wrong]
        if len(s.case.args) == 1 and all(
            (np.take_along_axis(w.outcome.value, x.argmax(-1)[..., None], -1)[..., 0]
             < w.outcome.value.max(-1) - 1e-9).any()
            for w, x in zip(wrong, scores)
        ):  # fmt: skip
            return "The largest number must get the largest share. Here it does not."
        return ""

    def _rows(self) -> str:
        """Tell whether a row of the result depends on other rows of the first argument."""
        if not self.exercise.rowwise:
            return ""
        pool = [s.case for s in self.seen if not s.case.note and s.case.args[0].ndim > 1]
        pool = [case for case in pool if len(case.args[0]) > 1][-3:]
        changed = []
        for case in pool:
            first = case.args[0].copy()
            first[-1] = first[-1] / 2 + 1
            changed.append(Case(first, *case.args[1:]))
        before, after = self._calls(pool), self._calls(changed)
        if pool and all(
            a.error is None
            and b.error is None
            and np.shape(a.value) == np.shape(b.value)
            and not same(a.value[:-1], b.value[:-1], 1e-6)
            for a, b in zip(before, after, strict=True)
        ):
            name = self.exercise.argument_names[0]
            return (
                f"A change of the last row of {name} moves other rows of your result. Each row is "
                "computed by itself."
            )
        return ""

    def _outside(self) -> str:
        """Tell a variable from outside that the function reads."""
        code = getattr(self.function, "__code__", None)
        scope = getattr(self.function, "__globals__", {})
        if not isinstance(code, CodeType):
            return ""
        for name in sorted(names_in(code)):
            value = scope.get(name)
            if isinstance(value, (np.ndarray, np.generic, int, float)) and name in scope:
                text = f" (now {value})" if np.ndim(value) == 0 else ""
                return (
                    f"The function reads {name}{text}, a variable from outside. These inputs "
                    "know nothing of it."
                )
        return ""

    def _when(self) -> str:
        """Tell what the inputs have in common where it is wrong."""
        wrong = [s.case for s in self.seen if s.wrong]
        right = [s.case for s in self.seen if not s.wrong]
        if not right:
            return ""
        for k, name in enumerate(self.exercise.argument_names):
            if name in self.exercise.optional:
                given = [{len(case.args) > k for case in cases} for cases in (wrong, right)]
                if given == [{True}, {False}]:
                    return f"Without {name} it is right, with one it is wrong."
                if given == [{False}, {True}]:
                    return f"With a {name} it is right, without it is wrong."
        for dtype in ("float16", "float32"):
            if all(_has(case, dtype) for case in wrong):
                return f"It is right for float64 and wrong for {dtype} numbers."
        if min(map(_largest, wrong)) > max(map(_largest, right)):
            return "It is right as long as the numbers are small, and wrong for large ones."
        notes = {case.note for case in wrong}
        if notes == {wrong[0].note} and wrong[0].note:
            return f"On ordinary inputs it is right. This one is special: {wrong[0].note}."
        if len(right) > len(wrong):
            return (
                f"It is right for {len(right)} of {len(right) + len(wrong)} inputs. Of the others "
                "this is the smallest."
            )
        return ""


_UNDO: dict[str, Callable[[Array, Array], Array]] = {
    "added to": lambda value, arg: value - arg,
    "subtracted from": lambda value, arg: value + arg,
    "multiplied into": lambda value, arg: value / arg,
}


def _ids(places: Array) -> str:
    texts = [str(int(i)) for i in places[:8]]
    some = f"id{'s' * (len(places) != 1)} {', '.join(texts)}" + " …" * (len(places) > 8)
    return some if len(places) else "none"


def _parts(value: Any, right: Any) -> list[tuple[Array, Array]]:
    return list(zip(value, right)) if isinstance(right, list) else [(value, right)]


def _arrays(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], np.ndarray)


def _with_other(case: Case, k: int) -> Case | None:
    """Return the case with another k-th argument of the same kind, or None."""
    rng, arg = np.random.default_rng(k), case.args[k]
    other: Any = None
    if callable(arg):
        other = lambda X: 2 * arg(X) + 1  # noqa: E731
    elif isinstance(arg, np.ndarray) and arg.dtype == bool:
        other = rng.random(arg.shape) < 0.5
        other[..., 0] = True
    elif isinstance(arg, np.ndarray) and arg.dtype.kind == "f":
        other = np.asarray(1.5 * rng.normal(size=arg.shape)).astype(arg.dtype)
    elif isinstance(arg, np.ndarray):
        other = arg[::-1].copy()
    elif isinstance(arg, float):
        other = arg / 2 + 0.05
    elif isinstance(arg, (list, tuple)) and all(isinstance(i, (int, str)) for i in arg):
        other = arg[::-1]
    if other is None:
        return None
    return Case(*case.args[:k], other, *case.args[k + 1 :])


def _has(case: Case, dtype: str) -> bool:
    return any(isinstance(arg, np.ndarray) and arg.dtype == dtype for arg in case.args)


def _largest(case: Case) -> float:
    arrays = [arg for arg in case.args if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
    return max((float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in arrays), default=0.0)


def _of_shape(exercise: Exercise, seen: Seen) -> str:
    """Say more about a wrong shape than the two shapes."""
    (value, right), *_ = _parts(seen.outcome.value, seen.right)
    if value.size == right.size and sorted(value.shape) == sorted(right.shape):
        for axes in itertools.permutations(range(right.ndim)):
            if (
                value.shape == right.transpose(axes).shape
                and close(value, right.transpose(axes)).all()
            ):
                return "The numbers are right, the axes stand in another order."
        return "The sizes are right, in another order."
    if value.size == right.size and close(value.reshape(right.shape), right).all():
        return "The numbers are right, and in order, but divided into other axes."
    for name, arg in zip(exercise.argument_names, seen.case.args):
        if isinstance(arg, np.ndarray) and arg.shape == value.shape and arg.ndim:
            return f"That is the shape of {name}."
    if value.ndim != right.ndim:
        return f"It has {value.ndim} axes and should have {right.ndim}."
    return ""


def _of_mask(seen: Seen) -> str:
    """Say which keys the first wrong query may see."""
    value, right = seen.outcome.value, seen.right
    if value.shape != right.shape or value.dtype != bool:
        return _of_shape_mask(value, right)
    place = tuple(int(i) for i in np.argwhere(value != right)[0][:-1])
    which = f"Query {place[0]}" if len(place) == 1 else f"Row {list(place)}"
    return f"{which} may see {_keys(right[place])}. Yours lets it see {_keys(value[place])}."


def _of_shape_mask(value: Array, right: Array) -> str:
    if value.shape == right.shape:
        return "A mask holds True and False."
    return f"It has {value.ndim} axes and should have {right.ndim}." * (value.ndim != right.ndim)


def _keys(row: Array) -> str:
    keys = [str(int(i)) for i in np.flatnonzero(row)]
    if not keys:
        return "no key"
    return f"key{'s' * (len(keys) > 1)} {', '.join(keys)}"


def _of_list(seen: Seen) -> str:
    """Say where two lists part."""
    value, right = seen.outcome.value, seen.right
    if value == list(seen.case.args[0]):
        return "Nothing was changed: this is the list that came in."
    if sorted(value) == sorted(right):
        return "The right entries, in another order."
    if value == right[: len(value)]:
        return f"It stops too early: {len(value)} of {len(right)} entries came, all of them right."
    if right == value[: len(right)]:
        return f"It goes on too long: after {len(right)} right entries there is more."
    place = next(i for i, (a, b) in enumerate(zip(value, right)) if a != b)
    return f"Entry {place} is the first that differs: {value[place]} came."


def not_finite(pairs: list[tuple[Array, Array]]) -> str:
    """Say that there is NaN or ∞ where numbers should be."""
    bad = [(~np.isfinite(a) & np.isfinite(b), a) for a, b in pairs]
    if not all(where.any() for where, _ in bad):
        return ""
    if all(np.isnan(a[where]).any() for where, a in bad):
        return "There is NaN in it. NaN comes from 0/0, ∞/∞, ∞ − ∞, 0 · ∞ or a negative root."
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
            return f"The right numbers, rounded to {digits} digits."
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
            if all(b.ndim and close(a, function(b), 1e-3).all() for a, b in pairs):
                return f"These are {words}."
        low, high = (
            f([f(a[np.isfinite(a)], initial=-s * np.inf) for a, _ in pairs])
            for f, s in ((np.min, -1), (np.max, 1))
        )
        if all(close(a, np.clip(b, low, high), 1e-3).all() for a, b in pairs):
            return f"The right numbers, cut off below {low:.4g} and above {high:.4g}."
        powers = [
            np.log(a[..., 1:] / a[..., :1]) / np.log(b[..., 1:] / b[..., :1])
            for a, b in pairs
            if b.ndim and b.shape[-1] > 1
        ]
        powers = [p[np.isfinite(p)] for p in powers]
        first = [float(p[0]) for p in powers if p.size]
        if len(first) > 3 and all(np.allclose(p, p[:1], rtol=2e-2) for p in powers if p.size):
            more = "" if np.allclose(first, first[0], rtol=2e-2) else ", for other inputs by another"
            if not np.allclose(first, 1, rtol=2e-2):
                return f"As if the numbers in exp had been multiplied by {first[0]:.3g}{more}."
    return ""


PATTERNS = (_factor, _offset, _moved, _rounded, _along)
