"""Naming a mistake: a known one that agrees with the reader's function on every input."""

from __future__ import annotations

from collections.abc import Sequence

from mhalib.checks.exercise import Case, Exercise, Mistake
from mhalib.checks.run import Outcome, run
from mhalib.checks.seen import Seen
from mhalib.checks.values import is_float, same


def named_mistake(
    exercise: Exercise, seen: Sequence[Seen], later: Sequence[Seen] = ()
) -> Mistake | None:
    """Return the known mistake that gives the same values, right ones included, everywhere.

    One case that agrees is no proof: all of `seen` must, so it has to hold inputs of many kinds.
    Of several such mistakes it is the one that agrees on most of the `later` cases.
    """
    order = sorted(seen, key=lambda s: not s.wrong)  # those tell most mistakes apart
    only_errors = all(s.outcome.error is not None for s in seen if s.wrong)
    found = (
        mistake
        for mistake in exercise.mistakes
        if all(_agree(exercise, mistake, s, only_errors) for s in order)
    )
    if not later:
        return next(found, None)
    several = list(found)
    if len({mistake.name for mistake in several}) < 2:
        return several[0] if several else None
    return max(several, key=lambda m: sum(_agree(exercise, m, s, only_errors) for s in later))


def _agree(exercise: Exercise, mistake: Mistake, s: Seen, exactly: bool) -> bool:
    """Return whether the mistake gives what the reader's function gave: in float64 or, for what
    overflows in a narrow type already, in that."""
    if _alike(s.outcome, run(exercise, mistake.wrong, s.wide), exactly):
        return True
    if not s.case.note or s.outcome.dtype not in ("float16", "float32"):
        return False
    narrow = (arg.astype(s.outcome.dtype) if is_float(arg) else arg for arg in s.case.args)
    return _alike(s.outcome, run(exercise, mistake.wrong, Case(*narrow)), exactly)


def _alike(yours: Outcome, theirs: Outcome, exactly: bool) -> bool:
    """Return whether two calls gave the same value, or failed alike.

    Shapes that do not fit raise errors. Where there are values too, any such error will do;
    where there is nothing else to go by, `exactly` the same message must have come.
    """
    if yours.error or theirs.error:
        errors = (ValueError, RuntimeError, IndexError)
        fits = isinstance(yours.error, errors) and isinstance(theirs.error, errors)
        return fits and (str(yours.error) == str(theirs.error) or not exactly)
    return yours.changed == theirs.changed and same(yours.value, theirs.value, yours.tolerance)
