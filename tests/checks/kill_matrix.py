"""The table of the teachers' page: which kind of test notices which mistake.

``python tests/checks/kill_matrix.py`` prints it, computed from the mutants of this folder.
"""

from mutants import MUTANTS

from mhalib.checks import EXERCISES
from mhalib.checks.judge import expected, tensors_for
from mhalib.checks.properties import TRIALS, Trial
from mhalib.checks.run import in_numpy, run, same

TESTS = ("shape or error", "rows sum to 1", "no leak", "reach", "values")


def noticed(exercise, function):
    """Return the tests that notice that `function` is wrong, as a set of names."""
    torch_dtype = tensors_for(exercise, function) and "float64"
    found = set()
    for case in exercise.cases:
        outcome = run(
            function, case.args, exercise.returns, call=exercise.call, torch_dtype=torch_dtype
        )
        right = expected(exercise, case).value
        if outcome.error is not None:
            found |= {"shape or error", "values"}
        elif not same(outcome.value, right):
            found.add("values")
            shapes = [getattr(value, "shape", None) for value in (outcome.value, right)]
            found |= {"shape or error"} if shapes[0] != shapes[1] else set()
    trial = Trial(TRIALS[exercise.name](in_numpy(function, torch_dtype)))
    for name, test in (
        ("rows sum to 1", trial.rows),
        ("no leak", trial.leak),
        ("reach", trial.reach),
    ):
        try:
            found |= {name} if test() else set()
        except (ValueError, RuntimeError, IndexError, TypeError):
            found.add("shape or error")  # the result does not fit into the rest of the machine
    return found


def rows():
    """Yield (exercise, mistake, tests that notice it), in the order of the lessons."""
    for name, exercise in EXERCISES.items():
        if name not in TRIALS:
            continue
        by_mistake = {}
        for mutated, mistake, function in MUTANTS:
            if mutated == name:
                by_mistake.setdefault(mistake, set()).update(noticed(exercise, function))
        for mistake, found in by_mistake.items():
            yield name, mistake, found


def table():
    """Return the table in Markdown."""
    lines = [
        "| exercise | mistake | " + " | ".join(TESTS) + " |",
        "|---|---|" + "---|" * len(TESTS),
    ]
    for name, mistake, found in rows():
        marks = " | ".join("caught" if test in found else "–" for test in TESTS)
        lines.append(f"| `{name}` | {mistake} | {marks} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
