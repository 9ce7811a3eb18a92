"""Calling again: the same input must give the same, and another input another result."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from mhalib.checks.exercise import Case, Exercise, Function
from mhalib.checks.exercises import EXERCISES
from mhalib.checks.result import Result
from mhalib.checks.run import in_turn, run, run_all
from mhalib.checks.seen import Seen, wide, with_other
from mhalib.checks.show import example
from mhalib.checks.values import same, tolerance_of

TWICE = (
    "Two calls with the same input gave different results. Random numbers (dropout left on?), or "
    "a variable outside the function that a call changes, can cause that."
)
KEPT = (
    "After a call with other numbers, the result for these is wrong: something of the earlier call "
    "was kept. Compute everything from what comes in.",
    "An input was changed in place and given again, and the result does not follow: something of "
    "the earlier call was kept. Compute everything from what comes in.",
    "The result of one call was overwritten by the next one. Give a new result back each time.",
)


def unsteady(
    exercise: Exercise, function: Function, seen: Sequence[Seen], **how: Any
) -> Result | None:
    """Call again, and tell if other values come than what was `seen`."""
    wrong = [s for s in seen if s.wrong][:2]
    again = [s for s in [seen[0], *wrong, seen[-1]] if s.outcome.error is None]
    calls = run_all(exercise, function, [s.case for s in again], **how)[0]
    for s, now in zip(again, calls, strict=False):
        if now.late or (now.error is None and same(now.value, s.outcome.value, 1e-9)):
            continue
        other = f"{type(now.error).__name__}: {now.error}" if now.error else now.value
        rows = example(exercise.argument_names, s.case.args, s.outcome.value, other)
        labels = {"yours": "first call", "right": "second call"}
        rows = tuple((labels.get(label, label), text) for label, text in rows)
        title = "two calls gave different results"
        return Result("unsteady", title, (TWICE,), rows, "", s.case.note)
    return None


def kept(exercise: Exercise, function: Function, **how: Any) -> Result | None:
    """Call with other numbers of the same shape, in the same arrays, and tell what is kept."""
    for case, other, right, other_right in _pairs(exercise.name, how["torch_dtype"]):
        answers = in_turn(exercise, function, case, other, **how)
        tests = ((1, other, other_right), (2, case, right), (3, case, right))
        for text, (place, given, expected) in zip(KEPT, tests, strict=True):
            if len(answers) <= place:  # no answer in time, where there was one before
                return None
            error = answers[place].error
            value, dtype = answers[place].value or (None, "")
            if error is None and same(value, expected, tolerance_of(dtype, given.args)):
                continue
            yours = f"{type(error).__name__}: {error}" if error else value
            rows = example(exercise.argument_names, given.args, yours, expected)
            return Result("unsteady", "something is kept between calls", (text,), rows)
    return None


@lru_cache(maxsize=64)
def _pairs(name: str, torch_dtype: str | None) -> list[tuple[Case, Case, Any, Any]]:
    """Return pairs of cases of the same shapes, one for each number of arguments, and what is
    right for them."""
    exercise = EXERCISES[name]

    def right(case: Case) -> Any:
        inputs = Case(*(wide(arg, torch_dtype) for arg in case.args))
        return run(exercise, exercise.reference, inputs).value

    plain = [case for case in exercise.searched if not case.note]
    pairs = []
    for count in {len(case.args) for case in plain}:
        cases = [case for case in plain if len(case.args) == count]
        cases = cases[len(cases) // 2 :]
        tried = ((case, _other(case, spare)) for case in cases for spare in cases)
        four = ((case, other, right(case), right(other)) for case, other in tried)
        pairs += list(islice((found for found in four if not same(found[2], found[3])), 1))
    return pairs


def _other(case: Case, spare: Case) -> Case:
    """Return a case with other numbers in arrays of the same shapes; lists are those of `spare`."""
    for k, arg in enumerate(case.args):
        if isinstance(arg, np.ndarray):
            case = with_other(case, k) or case
        elif isinstance(arg, list):
            case = Case(*case.args[:k], spare.args[k], *case.args[k + 1 :])
    return case
