"""Comparing a function with right and wrong ones, input by input."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mhalib.checks.exercise import Case, Exercise, Function, Mistake
from mhalib.checks.run import Outcome, run, same, uses_torch


def tensors_for(exercise: Exercise, function: Function, seconds: float = 5.0) -> str | None:
    """Return the dtype of the tensors that `function` works with, or None for NumPy arrays."""
    if "torch" not in sys.modules:
        return None
    kinds = ["float32", None] if uses_torch(function) else [None, "float32"]
    for kind in kinds:
        outcome = run(
            function, exercise.cases[0].args, exercise.returns,
            call=exercise.call, torch_dtype=kind, seconds=seconds,
        )  # fmt: skip
        if not isinstance(outcome.error, (TypeError, AttributeError)):
            return kind
    return kinds[0]


def expected(exercise: Exercise, case: Case) -> Outcome:
    """Return what a right function gives."""
    return run(exercise.reference, case.args, exercise.returns, call=exercise.call)


def named_mistake(
    exercise: Exercise, cases: Sequence[Case], outcomes: Sequence[Outcome], failing: Sequence[int]
) -> Mistake | None:
    """Return the known mistake that gives the same values: everywhere, else where it is wrong."""
    partly = None
    only_errors = all(outcomes[i].error for i in failing)
    for mistake in exercise.mistakes:
        agrees = [
            _alike(
                outcome,
                run(mistake.wrong, case.args, exercise.returns, call=exercise.call),
                only_errors,
            )
            for case, outcome in zip(cases, outcomes, strict=True)
        ]
        if all(agrees):
            return mistake
        if partly is None and all(agrees[i] for i in failing):
            partly = mistake
    return partly


def _alike(a: Outcome, b: Outcome, exactly: bool) -> bool:
    """Return whether two calls gave the same value, or failed alike.

    Shapes that do not fit raise errors. Where there are values too, any such error will do;
    where there is nothing else to go by, `exactly` the same message must have come.
    """
    if a.error or b.error:
        errors = (ValueError, RuntimeError, IndexError)
        fits = isinstance(a.error, errors) and isinstance(b.error, errors)
        return fits and (str(a.error) == str(b.error) or not exactly)
    return a.changed == b.changed and same(a.value, b.value)
