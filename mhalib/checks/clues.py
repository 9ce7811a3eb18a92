"""What can be said about a wrong value that no known mistake explains.

Each clue is computed from what the function gave, on all inputs where it is wrong, and is left out
if it does not hold on each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib.checks import properties
from mhalib.checks.code import names_in
from mhalib.checks.exercise import Case, Exercise, Function
from mhalib.checks.kinds import of_list, of_mask, of_shape
from mhalib.checks.patterns import PATTERNS, function_of, nearly, not_finite
from mhalib.checks.places import where
from mhalib.checks.run import Outcome, run, run_all
from mhalib.checks.seen import Seen, has_dtype, holds_arrays, largest, others_of, parts
from mhalib.checks.values import close, in_numpy, is_float, same

Array = NDArray[Any]


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
        wrong = [s for s in self.seen if s.wrong and s.outcome.error is None]
        first = wrong[0]
        texts: list[str] = []
        if isinstance(first.right, list) and not holds_arrays(first.right):
            texts = [of_list(first.case, first.outcome.value, first.right), self._when()]
        elif isinstance(first.right, np.ndarray) and first.right.dtype == bool:
            texts = [of_mask(first.outcome.value, first.right)]
        else:
            pairs = [
                (np.asarray(a, float), np.asarray(b, float))
                for s in wrong
                for a, b in parts(s.outcome.value, s.right)
                if a.shape == b.shape and not close(a, b, s.outcome.tolerance).all()
            ]
            if not pairs:
                shapes = [parts(s.outcome.value, s.right)[0] for s in wrong]
                cases = [s.case for s in wrong]
                texts = [of_shape(self.exercise.argument_names, cases, shapes)]
            else:
                texts = [not_finite(pairs)]
                texts = [texts[0], self._when()] if texts[0] else self._of_numbers(pairs, wrong)
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
            lambda: nearly(pairs),
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
        if list(yours[:8]) != list(right[:8]):
            return f"It keeps {_ids(yours)}. It should keep {_ids(right)}."
        missing, extra = np.setdiff1d(right, yours), np.setdiff1d(yours, right)
        texts = [f"It cuts off {_ids(missing)}, which should stay."] * bool(len(missing))
        texts += [f"It keeps {_ids(extra)}, which should go."] * bool(len(extra))
        return " ".join(texts)

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
        if not all(holds_arrays(s.right) for s in wrong):
            return ""
        rights = [
            [np.shape(a) == np.shape(b) and same(a, b) for a, b in parts(s.outcome.value, s.right)]
            for s in wrong
        ]
        if all(right[0] for right in rights):
            return "The first call, without a cache, is right. A later one, with the cache, is not."
        return ""

    def _unused(self) -> str:
        """Tell an argument without effect: with another one the result stays the same."""
        most = max(len(s.case.args) for s in self.seen)
        for k in range(most):
            called = [s for s in self.seen if len(s.case.args) > k and s.outcome.error is None]
            pool = [s.case for s in called if s.wrong][:1]
            pool += sorted((s.case for s in called), key=lambda case: case.size)[-6:]
            tried = [(case, other) for case in pool for other in others_of(case, k)]
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
        if len(s.case.args) > 1 and all(
            (w.outcome.value[~w.case.args[1]] != 0).any() for w in wrong
        ):
            i, j = np.argwhere(~s.case.args[1] & (s.outcome.value != 0))[0]
            return (
                f"Key {j} is hidden from query {i}, and gets a share: {s.outcome.value[i, j]:.4g}."
            )
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
                f"A change to the last row of {name} changes other rows of your result. Each row "
                "is computed by itself."
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
                    f"The function reads {name}{text}, a variable from outside. It does not "
                    "change with the inputs."
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
                    return f"It is right without a {name}, and wrong with one."
                if given == [{False}, {True}]:
                    return f"It is right with a {name}, and wrong without one."
        if all(has_dtype(case, "float32") for case in wrong):
            return "It is right for float64 and wrong for float32 numbers."
        if min(map(largest, wrong)) > max(20, *map(largest, right)):
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
