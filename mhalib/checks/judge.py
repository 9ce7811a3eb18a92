"""Judging a function on the inputs of an exercise, with arrays or with tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mhalib.checks.clues import Findings
from mhalib.checks.code import has_placeholder, is_stub, reader_line, uses_torch, words_of
from mhalib.checks.exercise import Case, Exercise, Function, Misuse, Nothing
from mhalib.checks.naming import named_mistake
from mhalib.checks.result import Result
from mhalib.checks.run import Outcome, adapted, run, run_all
from mhalib.checks.seen import Seen, seen_of
from mhalib.checks.show import Rows, example, inputs
from mhalib.checks.steady import earlier, kept, unsteady
from mhalib.checks.values import is_float

GENERIC = "It is none of the mistakes this grader knows. Work out the small input by hand."


class Judge:
    """One function, judged with arrays (`torch_dtype` None) or with tensors."""

    def __init__(
        self, exercise: Exercise, function: Function, seconds: float, torch_dtype: str | None
    ) -> None:
        self.exercise, self.original, self.seconds = exercise, function, seconds
        self.function = adapted(function, exercise.parameters, exercise.optional)
        self.torch_dtype = torch_dtype
        self.cases = exercise.searched + exercise.batches
        self.how: dict[str, Any] = {"torch_dtype": torch_dtype, "seconds": seconds}
        outcomes, self.printed = run_all(exercise, self.function, self.cases, **self.how)
        self.gave_values = bool(outcomes) and any(o.error is None and not o.late for o in outcomes)
        self.seen = seen_of(exercise, self.cases, outcomes, torch_dtype)

    def result(self) -> Result:
        searched = self.seen[: len(self.exercise.searched)]
        batches = self.seen[len(searched) :]
        stages = [[s for s in searched if not s.case.note]]
        for note in dict.fromkeys(s.case.note for s in searched if s.case.note):
            stages.append([s for s in searched if s.case.note == note])
        passed: list[Seen] = []
        for stage in stages:
            if (answer := self.verdict(stage, passed)) is not None:
                return answer
            passed += stage
        if self.exercise.batch_needed and any(self.fails(s) for s in batches):
            return self.batch(batches)
        how = self.how
        for found in (
            unsteady(self.exercise, self.function, passed, **how),
            kept(self.exercise, self.function, **how),
        ):
            if found is not None:
                return found
        return Result("correct", "Correct", tuple(self.remarks(batches)))

    @staticmethod
    def fails(seen: Seen) -> bool:
        return bool(seen.outcome.late) or seen.outcome.changed is not None or seen.wrong

    def verdict(self, stage: Sequence[Seen], passed: Sequence[Seen]) -> Result | None:
        """Return what is wrong on the cases of this stage, or None."""
        for s in stage:
            if s.outcome.late or s.outcome.changed is not None or self.is_unsolved(s.outcome):
                return self.misuse(s)
        failing = [s for s in stage if s.wrong]
        if not failing:
            return None
        if has_placeholder(self.original):
            return unsolved(self.exercise)
        known = [*passed, *stage]
        if (found := unsteady(self.exercise, self.function, known, **self.how)) is not None:
            return found
        special = [s for s in self.seen if s.case.note] if stage[0].case.note else []
        mistake = named_mistake(self.exercise, known, special)
        if mistake is not None:
            s = next((s for s in failing if s.outcome.error is None), failing[0])
            clue = "No simple test shows it; only comparing with right values does."
            if mistake.breaks:
                clue = f"What gives it away: {mistake.breaks}."
            return Result(
                "mistake", mistake.name, (mistake.why, clue), self.example(s), self.pointer(),
                s.case.note,
            )  # fmt: skip
        if failing[0].outcome.error is not None:
            return self.misuse(failing[0])
        if (found := earlier(self.exercise, self.seen, failing)) is not None:
            return found
        return self.wrong(failing[0], known)

    def is_unsolved(self, outcome: Outcome) -> bool:
        """Return whether nothing was written yet: that is what came back, or was raised."""
        if isinstance(outcome.error, NotImplementedError):
            return True
        return isinstance(outcome.error, Nothing) and (
            str(outcome.error) != "It returned None." or is_stub(self.original)
        )

    def batch(self, batches: Sequence[Seen]) -> Result:
        """Answer a function that is right for the cases, and not for all numbers of axes."""
        s = next(s for s in batches if self.fails(s))
        if s.outcome.late or s.outcome.changed is not None:
            return self.misuse(s)
        first, shape = self.exercise.argument_names[0], s.case.args[0].shape
        plain = self.exercise.cases[0].args[0].ndim
        fewest = min(seen.case.args[0].ndim for seen in self.seen)
        axes = sorted({seen.case.args[0].ndim for seen in self.seen})
        wrong = {seen.case.args[0].ndim for seen in batches if self.fails(seen)}
        right = [str(n) for n in axes if n not in wrong]
        texts = [
            f"It is right where {first} has {' or '.join(right)} axes. "
            .replace(" 1 axes", " 1 axis") * bool(right)
            + f"Here {first} has shape {shape}, and any number of axes may stand in front of the "
            f"last{f' {fewest}' * (fewest > 1)}. "
            "Count axes from the end, −1, −2, …, and keep those in front."
        ]  # fmt: skip
        title = "right without batch axes, not with them"
        if len(shape) < plain:
            title = "right for rows, not for a single vector"
        elif any(n > plain and n not in wrong for n in axes):
            title = "right with some batch axes, not with all"
        if s.outcome.error is not None:
            texts += self.error_texts(s.outcome.error)
        elif isinstance(s.outcome.value, np.ndarray) and s.outcome.value.shape != s.right.shape:
            texts.append(f"Shape {s.outcome.value.shape} came, {s.right.shape} was expected.")
        rows = self.arguments(s) if s.outcome.error else self.example(s)
        return Result("mistake", title, tuple(texts), rows, self.pointer())

    def misuse(self, s: Seen) -> Result:
        """Answer a call that gave no value to compare."""
        rows, outcome = self.arguments(s), s.outcome
        if self.is_unsolved(outcome) or (outcome.error and has_placeholder(self.original)):
            return unsolved(self.exercise)
        if outcome.late:
            text = f"There was no answer after {outcome.late:g} seconds on this input, and it was "
            text += "stopped. " if outcome.ended else "left running: restart Python to end it. "
            text += "Is there a loop that never ends?"
            return Result("hang", "no answer in time", (text,), rows)
        if outcome.changed is not None:
            name = self.exercise.argument_names[outcome.changed]
            text = (
                f"After the call, {name} is not what it was: the function writes into it. "
                "Whoever calls it still needs the old values. Build a new array instead."
            )
            title = f"the input {name} was changed"
            return Result("changed", title, (text,), rows, self.pointer())
        error = outcome.error
        if isinstance(error, Misuse):
            if isinstance(error, Nothing):
                text = (
                    "The function computes something and gives nothing back. Is a return missing?"
                )
                return Result("type", "nothing was returned", (text,), rows)
            return Result("type", "a value of the wrong type", (str(error),), rows)
        return Result(
            "error", "it stopped with an error", tuple(self.error_texts(error)), rows, "",
            s.case.note,
        )  # fmt: skip

    def error_texts(self, error: BaseException | None) -> list[str]:
        where = reader_line(error)
        text = f"{type(error).__name__}: {words_of(error)}"
        expects = f"It is called as {self.exercise.signature}."
        return [*([where] if where else []), text, expects]

    def wrong(self, s: Seen, known: Sequence[Seen]) -> Result:
        """Answer a wrong value that no known mistake explains."""
        value, right, texts = s.outcome.value, s.right, []
        title = "not the right values"
        if isinstance(right, np.ndarray) and right.shape != value.shape:
            title = "a wrong shape"
            texts.append(f"Shape {value.shape} came, {right.shape} was expected.")
        elif isinstance(right, np.ndarray) and right.dtype == bool:
            title = "not the right mask" if value.dtype == bool else "not a mask of booleans"
        findings = Findings(self.exercise, self.function, self.torch_dtype, self.seconds, known)
        texts += findings.clues()
        texts = texts or [GENERIC] * (not self.exercise.story)
        texts += [self.exercise.story] * bool(self.exercise.story)
        return Result("wrong", title, tuple(texts), self.example(s), self.pointer(), s.case.note)

    def remarks(self, batches: Sequence[Seen]) -> list[str]:
        """Say what a right function could still do better."""
        exercise, texts = self.exercise, []
        if any(self.fails(s) for s in batches):
            texts.append(
                "For later: with a batch axis in front it does not work yet. The library's does."
            )
        if self.torch_dtype is not None and not uses_torch(self.original):
            texts.append("Judged with torch tensors; with NumPy arrays it is not right.")
        if self.torch_dtype is None and exercise.returns == "array":
            case = exercise.cases[-1]
            narrow = Case(*(a.astype(np.float32) if is_float(a) else a for a in case.args))
            outcome = run(exercise, self.function, narrow, seconds=self.seconds)
            given = any(map(is_float, case.args))
            if given and outcome.dtype not in ("", "float32"):
                texts.append(
                    f"For later: float32 in, {outcome.dtype} out. The library keeps the dtype."
                )
        return texts

    def arguments(self, s: Seen) -> Rows:
        return inputs(self.exercise.argument_names, s.case.args)

    def example(self, s: Seen) -> Rows:
        error = s.outcome.error
        yours = f"{type(error).__name__}: {words_of(error)}" if error else s.outcome.value
        return example(self.exercise.argument_names, s.case.args, yours, s.right)

    def pointer(self) -> str:
        lesson, heading = self.exercise.section
        return f"See lesson {lesson}, “{heading}”."


def unsolved(exercise: Exercise) -> Result:
    return Result(
        "unsolved",
        "Not solved yet",
        (f"Write {exercise.signature} above, then run this cell again.",),
    )
