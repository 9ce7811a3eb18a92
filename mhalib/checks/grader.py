"""`check`: is a function the answer to an exercise, and if not, which mistake was made?"""

from __future__ import annotations

import difflib
import sys
import warnings
from typing import Any

import numpy as np

from mhalib._stream import printable
from mhalib.checks.code import uses_numpy, uses_torch
from mhalib.checks.exercise import Exercise, Function
from mhalib.checks.exercises import EXERCISES
from mhalib.checks.judge import Judge, unsolved
from mhalib.checks.result import Result
from mhalib.checks.run import run_all
from mhalib.checks.seen import seen_of


def check(name: str, function: Function, seconds: float = 5.0) -> Result:
    """Test `function` as the answer to an exercise.

    Parameters
    ----------
    name : str
        Name of the exercise, as in `exercises()`.
    function : callable
        The reader's function, in NumPy or torch.
    seconds : float
        Time limit of each call; the first one may take longer. Where Python has no threads (in a
        browser) there is no limit.

    Returns
    -------
    Result
        It prints what was found; true if the function is right.

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> check("split_heads", lambda X, h: X.reshape(h, len(X), -1)).title
    'reshaped before transposing'
    """
    if name not in EXERCISES:
        close = difflib.get_close_matches(str(name), EXERCISES, n=3, cutoff=0.5) or EXERCISES
        raise ValueError(f"name must be an exercise, such as {', '.join(close)}; got {name!r}")
    exercise = EXERCISES[name]
    if function is None or function is ...:
        return unsolved(exercise)
    if not callable(function):
        return Result("type", "not a function", (
            f"check needs the function itself, check({name!r}, {name}), without a call. "
            f"A value of type {type(function).__name__} came.",))  # fmt: skip
    result, judge = judged(exercise, function, seconds)
    if judge.printed:
        print(printable(judge.printed), end="")
    return result


def judged(exercise: Exercise, function: Function, seconds: float = 5.0) -> tuple[Result, Judge]:
    """Judge `function` as an answer to `exercise`, each call within `seconds`.

    With arrays and, unless it works on the first of these, with tensors too.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = None
        for kind in ["float32", None] if uses_torch(function) else [None, "float32"]:
            if kind is not None and "torch" not in sys.modules:
                continue
            if first is not None and first[1].gave_values and not meant_for(first[1], kind):
                continue
            judge = Judge(exercise, function, seconds, kind)
            answer = judge.result(), judge
            if answer[0].kind in ("correct", "unsolved", "hang"):
                return answer
            if first is None or (first[0].kind in ("error", "type") and judge.gave_values):
                first = answer
        assert first is not None
        return first


def meant_for(judge: Judge, torch_dtype: str | None) -> bool:
    """Return whether a function that `judge` found wrong is rather meant for another kind of input.

    So it is if it is right on the first inputs of that kind, tensors of `torch_dtype` or arrays,
    and answers in kind, and was wrong on the same inputs before. What computes with NumPy alone is
    not meant for tensors.
    """
    exercise = judge.exercise
    cases = exercise.searched[:3]
    if not any(Judge.fails(s) for s in judge.seen[:3]):
        return False
    if torch_dtype and uses_numpy(judge.original) and not uses_torch(judge.original):
        return False
    how: dict[str, Any] = {**judge.how, "torch_dtype": torch_dtype}
    outcomes, _ = run_all(exercise, judge.function, cases, **how)
    seen = seen_of(exercise, cases, outcomes, torch_dtype)
    return (
        len(seen) == len(cases)
        and not any(Judge.fails(s) for s in seen)
        and all(s.outcome.tensor for s in seen)
    )
