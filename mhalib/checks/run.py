"""Calling a function that may do anything: raise, hang, print, change its inputs."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mhalib.checks.exercise import Case, Exercise, Function, Misuse
from mhalib.checks.limit import Called, call_all
from mhalib.checks.values import is_float, read, to_torch, tolerance_of, unchanged

PRINTED = 10_000  # so many characters of what a function prints are kept


@dataclass(frozen=True)
class Outcome:
    """What a call did: `value` (as NumPy arrays or lists), or what went wrong instead."""

    value: Any = None
    error: BaseException | None = None
    late: float = 0.0  # seconds waited in vain
    ended: bool = True
    changed: int | None = None  # index of an argument that was changed
    dtype: str = ""  # of the value, if it is one array
    tolerance: float = 0.0  # which relative difference is rounding
    tensor: bool = False  # whether it came as a tensor, or as no array at all


class _Printed(io.StringIO):
    """What the first call prints."""

    open = True

    def write(self, text: str) -> int:
        if self.open and self.tell() < PRINTED:
            super().write(text)
        return len(text)


def run_all(
    exercise: Exercise,
    function: Function,
    cases: Sequence[Case],
    *,
    torch_dtype: str | None = None,
    seconds: float | None = None,
) -> tuple[list[Outcome], str]:
    """Call `function` on copies of each case, and return the outcomes and what the first printed.

    With `torch_dtype`, floating-point arrays arrive as torch tensors of this dtype. The list ends
    with the first call that gives no answer within `seconds`.
    """
    use = exercise.call
    given = [[_copied(arg, torch_dtype) for arg in case.args] for case in cases]
    printed = _Printed()

    def call(args: list[Any]) -> Any:
        with np.errstate(all="ignore"):
            try:
                return use(function, *args) if use else function(*args)
            finally:
                printed.open = False

    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        answers = call_all([partial(call, args) for args in given], seconds)
    outcomes = [
        _outcome(exercise, called, case, args, torch_dtype is not None)
        for called, case, args in zip(answers, cases, given, strict=False)
    ]
    return outcomes, printed.getvalue()


def run(exercise: Exercise, function: Function, case: Case, **how: Any) -> Outcome:
    """Call `function` on a copy of one case."""
    return run_all(exercise, function, [case], **how)[0][0]


def in_turn(
    exercise: Exercise,
    function: Function,
    case: Case,
    other: Case,
    more: Sequence[Case],
    *,
    torch_dtype: str | None,
    seconds: float | None,
) -> list[Called]:
    """Call `function` on `case` and on `other`, then write the numbers of `case` into the arrays
    and lists of `other` and call it on these; then on each of `more`.

    Each answer is (value, dtype), read at once; that of the first call is read once more at the
    end, and is the last.
    """
    use = exercise.call
    first, second = ([_copied(arg, torch_dtype) for arg in c.args] for c in (case, other))
    results: list[Any] = []

    def call(args: list[Any]) -> Any:
        with np.errstate(all="ignore"):
            results.append(use(function, *args) if use else function(*args))
        return read(results[-1], exercise.returns)

    def changed() -> Any:
        for i, new in enumerate(_copied(arg, torch_dtype) for arg in case.args):
            if hasattr(new, "shape"):
                second[i][...] = new
            elif isinstance(new, list):
                second[i][:] = new
            elif not callable(new):
                second[i] = new
        return call(second)

    def first_again() -> Any:
        return read(results[0], exercise.returns)

    calls: list[Callable[[], Any]] = [partial(call, first), partial(call, second)]
    calls += [changed]
    calls += [partial(call, [_copied(arg, torch_dtype) for arg in one.args]) for one in more]
    calls += [first_again]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return call_all(calls, seconds)


def _outcome(
    exercise: Exercise, called: Called, case: Case, given: list[Any], torch: bool
) -> Outcome:
    if called.late:
        return Outcome(late=called.late, ended=called.ended)
    if called.error is not None:
        return Outcome(error=called.error)
    for i, (arg, now) in enumerate(zip(case.args, given, strict=True)):
        if not unchanged(arg, now, torch):
            return Outcome(changed=i)
    try:
        value, dtype = read(called.value, exercise.returns)
    except Misuse as error:
        return Outcome(error=error)
    tensor = not isinstance(called.value, np.ndarray)
    tolerance = tolerance_of(dtype, case.args)
    if (
        not torch
        and dtype == "float64"
        and all(not is_float(a) or a.dtype == dtype for a in case.args)
    ):
        tolerance = exercise.tolerance
    return Outcome(value, dtype=dtype, tolerance=tolerance, tensor=tensor)


def _copied(arg: Any, torch_dtype: str | None) -> Any:
    if torch_dtype is not None:
        return to_torch(arg, torch_dtype)
    return arg.copy() if isinstance(arg, np.ndarray) else copy.deepcopy(arg)


def adapted(function: Function, names: Sequence[str], optional: Sequence[str]) -> Function:
    """Return `function`, called by position; what it takes by name only is passed by name.

    Optional arguments go by their name wherever the function has it, so that another one may
    stand before.
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # many a function written in C does not tell
        return function
    kinds = {name: parameter.kind for name, parameter in parameters.items()}
    everything = inspect.Parameter.VAR_POSITIONAL in kinds.values()
    anything = inspect.Parameter.VAR_KEYWORD in kinds.values() and not everything
    by_name = {
        name
        for name in names
        if kinds.get(name) == inspect.Parameter.KEYWORD_ONLY
        or (name in optional and kinds.get(name) == inspect.Parameter.POSITIONAL_OR_KEYWORD)
        or (anything and name not in kinds and name in optional)
    }
    if not by_name:
        return function

    def called(*args: Any) -> Any:
        pairs = list(zip(names, args, strict=False))
        rest = [value for name, value in pairs if name not in by_name]
        return function(*rest, **{name: value for name, value in pairs if name in by_name})

    return called
