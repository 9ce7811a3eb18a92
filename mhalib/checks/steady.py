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
from mhalib.checks.values import same, tolerance_of, unchanged

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
EARLIER = (
    "This was right for an earlier call, in which an argument was another. Something of that "
    "call was kept: compute everything from what comes in."
)


def unsteady(
    exercise: Exercise, function: Function, seen: Sequence[Seen], **how: Any
) -> Result | None:
    """Call again, and tell if other values come than what was `seen`."""
    wrong = [s for s in seen if s.wrong][:2]
    last = next((s for s in reversed(seen) if not s.case.note), seen[-1])  # special ones take long
    again = [s for s in [seen[0], *wrong, last] if s.outcome.error is None]
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


def earlier(exercise: Exercise, called: Sequence[Seen], wrong: Sequence[Seen]) -> Result | None:
    """Tell if each wrong value is what was right for an earlier one of the calls."""
    if len(wrong) < 3:  # one or two may agree by chance
        return None
    for s in wrong:
        before = called[: next(i for i, other in enumerate(called) if other is s)]
        if s.outcome.error is not None or not any(
            same(s.outcome.value, other.right, 1e-9)
            and any(unchanged(a, b, False) for a, b in zip(s.case.args, other.case.args))
            for other in before
        ):
            return None
    s = wrong[0]
    rows = example(exercise.argument_names, s.case.args, s.outcome.value, s.right)
    return Result("unsteady", "something is kept between calls", (EARLIER,), rows)


def kept(exercise: Exercise, function: Function, **how: Any) -> Result | None:
    """Call with other numbers of the same shape, in the same arrays, and tell what is kept."""
    for case, other, right, other_right, alone in _pairs(exercise.name, how["torch_dtype"]):
        answers = in_turn(exercise, function, case, other, [one for one, _ in alone], **how)
        tests = [(KEPT[0], 1, other, other_right), (KEPT[1], 2, case, right)]
        tests += [(KEPT[0], place, *pair) for place, pair in enumerate(alone, 3)]
        tests += [(KEPT[2], 3 + len(alone), case, right)]
        for text, place, given, expected in tests:
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
def _pairs(
    name: str, torch_dtype: str | None
) -> list[tuple[Case, Case, Any, Any, list[tuple[Case, Any]]]]:
    """Return pairs of cases of the same shapes, one for each number of arguments, and what is
    right for them; and the first ones with one argument changed, with what is right for these."""
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
        found = next((found for found in four if not same(found[2], found[3])), None)
        if found is not None:
            alone = []
            for k in range(count):
                tried = ((one, right(one)) for one in _alone(found[0], k, plain))
                fits = (p for p in tried if p[1] is not None and not same(found[2], p[1]))
                alone += list(islice(fits, 1))
            pairs.append((*found, alone))
    return pairs


def _alone(case: Case, k: int, spares: Sequence[Case]) -> list[Case]:
    """Return cases with another k-th argument, the others as they are."""
    arg = case.args[k]
    if isinstance(arg, (int, str, list)):
        others = [1, 2] if isinstance(arg, int) else []
        others += [spare.args[k] for spare in spares if len(spare.args) > k]
        return [Case(*case.args[:k], new, *case.args[k + 1 :]) for new in others if new != arg]
    other = with_other(case, k)
    return [] if other is None else [other]


def _other(case: Case, spare: Case) -> Case:
    """Return a case with other numbers in arrays of the same shapes; lists are those of `spare`.

    Without arrays and lists it is `spare`.
    """
    if not any(isinstance(arg, (np.ndarray, list)) for arg in case.args):
        return spare
    for k, arg in enumerate(case.args):
        if isinstance(arg, np.ndarray):
            case = with_other(case, k) or case
        elif isinstance(arg, list):
            case = Case(*case.args[:k], spare.args[k], *case.args[k + 1 :])
    return case
