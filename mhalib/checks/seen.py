"""What was seen: each case with what came of it and what is right; and other cases like it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib.checks.exercise import Case, Exercise
from mhalib.checks.exercises import EXERCISES
from mhalib.checks.run import Outcome, run_all
from mhalib.checks.values import is_float, same

Array = NDArray[Any]


@dataclass(frozen=True)
class Seen:
    """A case, what came of it, and what is right."""

    case: Case
    outcome: Outcome
    right: Any
    wide: Case  # the same in float64, of which `right` was computed

    @cached_property
    def wrong(self) -> bool:
        if self.outcome.dtype == "float16" and largest(self.case) > np.finfo(np.float16).max:
            return False  # there is no such number in float16
        return self.outcome.error is not None or not same(
            self.outcome.value, self.right, self.outcome.tolerance
        )


def seen_of(
    exercise: Exercise, cases: Sequence[Case], outcomes: Sequence[Outcome], torch_dtype: str | None
) -> list[Seen]:
    rights = _right(exercise.name, torch_dtype)
    return [Seen(case, outcome, *right) for case, outcome, right in zip(cases, outcomes, rights)]


@lru_cache(maxsize=64)
def _right(exercise: str, torch_dtype: str | None) -> list[tuple[Any, Case]]:
    """Return the right values of an exercise's cases, computed in float64, and those inputs."""
    known = EXERCISES[exercise]
    cases = [
        Case(*(wide(arg, torch_dtype) for arg in case.args), note=case.note)
        for case in known.searched + known.batches
    ]
    outcomes, _ = run_all(known, known.reference, cases)
    return [(outcome.value, case) for outcome, case in zip(outcomes, cases)]


def wide(arg: Any, torch_dtype: str | None) -> Any:
    """Return an argument with the numbers that arrive in `torch_dtype`, in float64."""
    if not is_float(arg):
        return arg
    return (arg.astype(torch_dtype) if torch_dtype else arg).astype(np.float64)


def parts(value: Any, right: Any) -> list[tuple[Array, Array]]:
    return list(zip(value, right)) if isinstance(right, list) else [(value, right)]


def holds_arrays(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], np.ndarray)


def with_other(case: Case, k: int) -> Case | None:
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


def others_of(case: Case, k: int) -> list[Case]:
    """Return cases with another k-th argument; if that is a number, with several."""
    other = with_other(case, k)
    several = [0.02, 0.2, 0.4, 0.6, 0.8, 0.98] if isinstance(case.args[k], float) else []
    cases = [Case(*case.args[:k], value, *case.args[k + 1 :]) for value in several]
    return cases if other is None else [*cases, other]


def has_dtype(case: Case, dtype: str) -> bool:
    return any(isinstance(arg, np.ndarray) and arg.dtype == dtype for arg in case.args)


def largest(case: Case) -> float:
    arrays = [arg for arg in case.args if isinstance(arg, np.ndarray) and arg.dtype.kind == "f"]
    return max((float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in arrays), default=0.0)
