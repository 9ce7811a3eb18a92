"""Write what the teachers' page says about the exercises: the keys, and which test notices what.

``python scripts/kill_matrix.py`` computes both from the answers in tests/checks.
"""

import inspect
import re
import sys
from pathlib import Path

import numpy as np

from mhalib.checks import EXERCISES
from mhalib.checks.grader import judged
from mhalib.checks.properties import Trial
from mhalib.checks.values import in_numpy

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "tests" / "checks"))

from mutants import MUTANTS  # noqa: E402
from solutions import SOLUTIONS  # noqa: E402

TESTS = ("shape or error", "rows sum to 1", "no leak", "reach", "values")


def noticed(exercise, function):
    """Return the tests that notice that `function` is wrong, as a set of names."""
    _, judge = judged(exercise, function)
    found = set()
    for s in judge.seen:
        if s.case not in exercise.cases:
            continue
        if s.outcome.error is not None:  # on special inputs much overflows
            found |= {"values"} if s.case.note else {"shape or error", "values"}
        elif s.wrong:
            found.add("values")
            shapes = [getattr(value, "shape", None) for value in (s.outcome.value, s.right)]
            found |= {"shape or error"} if shapes[0] != shapes[1] else set()
    torch_dtype = judge.torch_dtype and "float64"
    trial = Trial(exercise.trial(in_numpy(function, torch_dtype)))
    for name, test in (
        ("rows sum to 1", trial.rows),
        ("no leak", trial.leak),
        ("reach", trial.reach),
    ):
        try:
            with np.errstate(all="ignore"):
                found |= {name} if test() else set()
        except (ValueError, RuntimeError, IndexError, TypeError):
            found.add("shape or error")  # the result does not fit into the rest of the machine
    return found


def rows():
    """Yield (exercise, mistake, tests that notice it), in the order of the lessons."""
    for name, exercise in EXERCISES.items():
        if exercise.trial is None:
            continue
        by_mistake = {}
        for mutated, mistake, function in MUTANTS:
            if mutated == name:
                by_mistake.setdefault(mistake, set()).update(noticed(exercise, function))
        for mistake, found in by_mistake.items():
            yield name, mistake, found


def matrix():
    """Return how many mistakes each kind of test notices, and the whole table, in Markdown."""
    found = list(rows())
    counts = [f"{sum(test in tests for _, _, tests in found)} of {len(found)}" for test in TESTS]
    line = "| {} |\n".format
    head, rule = " | ".join(TESTS), "|---" * len(TESTS) + "|\n"
    total = line(head) + rule + line(" | ".join(counts))
    table = "| exercise | mistake " + line(head) + "|---|---" + rule
    for name, mistake, tests in found:
        marks = " | ".join("caught" if test in tests else "–" for test in TESTS)
        table += f"| `{name}` | {mistake} " + line(marks)
    return f"{total}\n{folded('Mistake by mistake', table)}"


def folded(title, text):
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n"


def keys():
    """Return one right answer to each exercise, folded."""
    blocks = []
    for name, exercise in EXERCISES.items():
        source = inspect.getsource(SOLUTIONS[name][0]).replace("@solution\n", "").strip()
        source = re.sub(r"\b(\w+?)__\w+\(", r"\1(", source)  # split_heads__loops is split_heads
        title = f"{name} (lesson {exercise.section[0]})"
        blocks.append(folded(title, f"```python\n{source}\n```\n"))
    return "\n".join(blocks)


PAGE = ROOT / "chapters" / "teachers.md"


def filled_in(text):
    """Return the page's `text` with the computed parts between their marks."""
    for mark, part in (("keys", keys()), ("matrix", matrix())):
        pattern = rf"(<!-- {mark} -->\n).*?(<!-- end -->\n)"
        text = re.sub(pattern, lambda m, part=part: f"{m[1]}\n{part}\n{m[2]}", text, flags=re.S)
    return text


if __name__ == "__main__":
    PAGE.write_text(filled_in(PAGE.read_text("utf-8")), "utf-8")
