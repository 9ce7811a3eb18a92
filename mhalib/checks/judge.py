"""Judging a function: is it right, and if not, which mistake was made?"""

from __future__ import annotations

import difflib
import dis
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mhalib.checks import properties
from mhalib.checks.compare import expected, named_mistake, tensors_for
from mhalib.checks.exercise import Case, Exercise, Function, Misuse
from mhalib.checks.exercises import EXERCISES
from mhalib.checks.result import Result, shown
from mhalib.checks.run import Outcome, in_numpy, run, same


def exercises() -> list[str]:
    """Return the signatures of all exercises, in the order of the lessons."""
    return [exercise.signature for exercise in EXERCISES.values()]


def check(name: str, function: Function, seconds: float = 5.0) -> Result:
    """Test `function` as the answer to exercise `name`.

    Parameters
    ----------
    name : of an exercise, see `exercises`
    function : the reader's function, in NumPy or torch
    seconds : time limit of each call

    Returns
    -------
    Result, which prints what was found; true if the function is right

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
        return _unsolved(exercise)
    if not callable(function):
        return Result("type", "not a function", (
            f"check needs the function itself, check({name!r}, {name}), without a call. "
            f"A value of type {type(function).__name__} came.",))  # fmt: skip
    return _Judge(exercise, function, seconds).result()


class _Judge:
    def __init__(self, exercise: Exercise, function: Function, seconds: float) -> None:
        self.exercise, self.function, self.seconds = exercise, function, seconds
        self.torch_dtype = tensors_for(exercise, function, seconds)

    def result(self) -> Result:
        exercise = self.exercise
        plain = [case for case in exercise.cases if not case.note]
        stages = [plain, exercise.cases, exercise.batches if exercise.batch_needed else ()]
        for cases in stages:
            if (answer := self.verdict(cases)) is not None:
                return answer
        return Result("correct", "Correct", tuple(self.remarks()))

    def outcome(self, case: Case) -> Outcome:
        return run(
            self.function, case.args, self.exercise.returns,
            call=self.exercise.call, torch_dtype=self.torch_dtype, seconds=self.seconds,
        )  # fmt: skip

    def verdict(self, cases: Sequence[Case]) -> Result | None:
        """Return what is wrong on `cases`, or None."""
        right = [expected(self.exercise, case).value for case in cases]
        outcomes = []
        for case in cases:
            outcome = self.outcome(case)
            outcomes.append(outcome)
            if outcome.hung or outcome.changed is not None or self.is_unsolved(outcome):
                return self.misuse(case, outcome)
        failing = [i for i, o in enumerate(outcomes) if o.error or not same(o.value, right[i])]
        if not failing:
            return None
        mistake = named_mistake(self.exercise, cases, outcomes, failing)
        if mistake is not None:
            i = next((i for i in failing if outcomes[i].error is None), failing[0])
            clue = f"What gives it away: {mistake.breaks}."
            example = self.example(cases[i], outcomes[i], right[i])
            return Result("mistake", mistake.name, (mistake.why, clue), example, self.pointer())
        first = failing[0]
        if outcomes[first].error is not None:
            return self.misuse(cases[first], outcomes[first])
        return self.wrong(cases[first], outcomes[first], right[first])

    def is_unsolved(self, outcome: Outcome) -> bool:
        error = outcome.error
        if isinstance(error, Misuse):
            return "ellipsis" in str(error) or ("NoneType" in str(error) and is_stub(self.function))
        return isinstance(error, NotImplementedError) or (
            isinstance(error, (TypeError, AttributeError)) and "ellipsis" in str(error)
        )

    def misuse(self, case: Case, outcome: Outcome) -> Result:
        """Answer a call that gave no value to compare."""
        example = self.arguments(case)
        if self.is_unsolved(outcome):
            return _unsolved(self.exercise)
        if outcome.hung:
            text = (f"It was stopped after {self.seconds:g} seconds on this input. "
                    "Is there a loop that never ends?")  # fmt: skip
            return Result("hang", "no answer in time", (text,), example)
        if outcome.changed is not None:
            name = self.exercise.argument_names[outcome.changed]
            text = (
                f"After the call, {name} is not what it was: the function writes into it. "
                "Whoever calls it still needs the old values. Build a new array instead."
            )
            return Result(
                "changed", f"the input {name} was changed", (text,), example, self.pointer()
            )
        error = outcome.error
        if isinstance(error, Misuse):
            if "NoneType" in str(error):
                text = (
                    "The function computes something and gives nothing back. Is a return missing?"
                )
                return Result("type", "nothing was returned", (text,), example)
            return Result("type", "a value of the wrong type", (str(error),), example)
        where = _reader_line(error)
        text = f"{type(error).__name__}: {error}"
        expects = f"It is called as {self.exercise.signature}."
        return Result(
            "error",
            "it stopped with an error",
            (*([where] if where else []), text, expects),
            example,
        )

    def wrong(self, case: Case, outcome: Outcome, right: Any) -> Result:
        """Answer a wrong value that no known mistake explains."""
        texts = []
        if isinstance(right, np.ndarray) and right.shape != outcome.value.shape:
            title = "a wrong shape"
            texts.append(f"Shape {outcome.value.shape} came, {right.shape} was expected.")
        elif isinstance(right, np.ndarray) and right.dtype == bool:
            title = (
                "not the right mask" if outcome.value.dtype == bool else "not a mask of booleans"
            )
        else:
            title = "not the right values"
        function = in_numpy(self.function, self.torch_dtype and "float64")
        texts += [text for test in properties.of(self.exercise) if (text := test(function))]
        if not texts:
            texts.append(
                "It is none of the mistakes this grader knows. Work out the small input by hand."
            )
        return Result(
            "wrong", title, tuple(texts), self.example(case, outcome, right), self.pointer()
        )

    def remarks(self) -> list[str]:
        """Say what a right function could still do better."""
        exercise, texts = self.exercise, []
        if (
            exercise.batches
            and not exercise.batch_needed
            and self.verdict(exercise.batches) is not None
        ):
            texts.append(
                "For later: with a batch axis in front it does not work yet. The library's does."
            )
        if self.torch_dtype is None and exercise.returns == "array":
            case = exercise.cases[-1]
            narrow = Case(*(a.astype(np.float32) if _is_float(a) else a for a in case.args))
            outcome, given = self.outcome(narrow), any(map(_is_float, case.args))
            if given and outcome.error is None and outcome.dtype != np.float32:
                texts.append(
                    f"For later: float32 in, {outcome.dtype} out. The library keeps the dtype."
                )
        return texts

    def arguments(self, case: Case) -> tuple[tuple[str, str], ...]:
        names = zip(self.exercise.argument_names, case.args, strict=False)
        return tuple((name, shown(value)) for name, value in names)

    def example(self, case: Case, outcome: Outcome, right: Any) -> tuple[tuple[str, str], ...]:
        error = outcome.error
        yours = f"{type(error).__name__}: {error}" if error else shown(outcome.value)
        return (*self.arguments(case), ("yours", yours), ("right", shown(right)))

    def pointer(self) -> str:
        lesson, heading = self.exercise.section
        return f"See lesson {lesson}, “{heading}”."


def _unsolved(exercise: Exercise) -> Result:
    return Result(
        "unsolved",
        "Not solved yet",
        (f"Write {exercise.signature} above, then run this cell again.",),
    )


def is_stub(function: Function) -> bool:
    """Return whether the body is empty: nothing but `...`, `pass` or a docstring."""
    code = getattr(function, "__code__", None)
    idle = {
        "RESUME",
        "NOP",
        "LOAD_CONST",
        "RETURN_VALUE",
        "RETURN_CONST",
        "POP_TOP",
        "COPY_FREE_VARS",
    }
    return code is not None and {i.opname for i in dis.get_instructions(code)} <= idle


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _reader_line(error: BaseException | None) -> str:
    """Return the last line outside this package and other people's where `error` came from."""
    here = str(Path(__file__).parent)
    for frame in reversed(traceback.extract_tb(error.__traceback__ if error else None)):
        if frame.line and not frame.filename.startswith(here) and "-packages" not in frame.filename:
            return f"In {frame.name}, at: {frame.line}"
    return ""
