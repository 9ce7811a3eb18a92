"""The grader under test: it catches and names every mutant, and passes every right answer."""

import json
from pathlib import Path

import pytest
from mutants import MUTANTS
from solutions import SOLUTIONS

from mhalib.checks import EXERCISES, check
from mhalib.checks.run import run_all
from mhalib.checks.values import same

CHAPTERS = Path(__file__).parents[2] / "chapters"

# Common mistakes of multi-head attention, and the names under which the grader must know them
COMMON = {
    "reshape(h, n, d_k) to split": {"reshaped before transposing"},
    "merge without transposing back": {"merged without transposing back"},
    "both of these": {"reshaped before transposing, and merged without transposing back"},
    "scale √d_model": {"scale √d_model"},
    "scale √h, or multiplied by √d_k": {"scale √h", "multiplied by √d_k"},
    "no scale": {"no scale"},
    "scale after the softmax": {"scale after the softmax"},
    "divided by d_k": {"divided by d_k"},
    "masked score := 0": {"masked score set to 0"},
    "tril(ones) added as a bias": {"mask added as a bias"},
    "mask after the softmax": {"mask after the softmax"},
    "mask inverted": {"mask inverted"},
    "triangle off by one": {"diagonal hidden", "one token too far"},
    "finite fill": {"finite fill"},
    "softmax over queries or heads": {"softmax over the queries", "softmax over the heads"},
    "roles exchanged": {"Kᵀ missing", "K and V swapped", "Q and K swapped"},
    "W_O left out, or a head dropped": {"W_O left out", "a head dropped"},
    "heads averaged": {"heads averaged"},
    "each head reads a slice of X": {"each head reads a slice of X"},
    "norm with n − 1, eps outside": {"variance divided by n − 1", "eps outside the root"},
    "norm over tokens": {"over the tokens, not the features"},
    "residual from the normed input": {"residual from the normed input"},
    "positions: exponent over all dims": {"an exponent of its own for each column"},
    "tied head copied": {"tied head copied, not shared"},
    "labels shifted twice, or not": {"labels shifted twice", "labels not shifted"},
    "top-left causal with a cache": {"top-left causal mask", "top-left instead of bottom-right"},
    "BPE greedy from the left": {"merged greedily from the left"},
}


def ids(triple):
    exercise, name, function = triple
    return f"{exercise}-{name}-line{function.__code__.co_firstlineno}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=ids)
def test_mutant_is_killed_and_named(mutant):
    exercise, name, function = mutant
    result = check(exercise, function)
    assert (result.kind, result.title) == ("mistake", name), result
    assert dict(result.example)["yours"] != dict(result.example)["right"]


@pytest.mark.parametrize(
    "exercise, function",
    [(name, function) for name, functions in SOLUTIONS.items() for function in functions],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_right_answers_pass(exercise, function):
    result = check(exercise, function)
    assert result.kind == "correct", result


def test_there_are_two_right_answers_to_each_exercise():
    assert set(SOLUTIONS) == set(EXERCISES)
    assert min(map(len, SOLUTIONS.values())) >= 2


@pytest.mark.parametrize("mistake", COMMON)
def test_common_mistakes_are_among_the_mutants(mistake):
    assert COMMON[mistake] <= {name for _, name, _ in MUTANTS}


def test_there_are_enough_mutants_of_every_exercise():
    assert len(MUTANTS) >= 60
    assert {exercise for exercise, _, _ in MUTANTS} == set(EXERCISES)


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.name)
def test_known_mistakes_can_be_told_apart(exercise):
    """The grader's own wrong versions differ from what is right, and from each other."""
    cases = exercise.searched + exercise.batches * exercise.batch_needed
    right = [outcome.value for outcome in run_all(exercise, exercise.reference, cases)[0]]
    seen = []
    for mistake in exercise.mistakes:
        outcomes, _ = run_all(exercise, mistake.wrong, cases)
        assert not all(
            o.error is None and same(o.value, r, o.tolerance) for o, r in zip(outcomes, right)
        ), mistake.name
        for name, others in seen:
            equal = all(
                a.error is None and b.error is None and same(a.value, b.value)
                for a, b in zip(outcomes, others)
            )
            assert name == mistake.name or not equal, f"{mistake.name} gives values of {name}"
        seen.append((mistake.name, outcomes))


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.name)
def test_each_known_mistake_is_named(exercise):
    for mistake in exercise.mistakes:
        assert check(exercise.name, mistake.wrong).title == mistake.name


def test_the_smallest_inputs_are_small():
    for exercise in EXERCISES.values():
        sizes = [getattr(arg, "size", 1) for arg in exercise.cases[0].args]
        assert max(sizes) <= 12, exercise.name


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.name)
def test_the_pointer_leads_to_a_heading(exercise):
    number, heading = exercise.section
    (lesson,) = CHAPTERS.glob(f"0{number}-*.ipynb")
    cells = json.loads(lesson.read_text("utf-8"))["cells"]
    lines = "".join("".join(cell["source"]) + "\n" for cell in cells).splitlines()
    assert {f"## {heading}", f"### {heading}"} & set(lines)


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.name)
def test_the_solution_is_not_given_away(exercise):
    """No answer shows code that solves the exercise."""
    for mistake in exercise.mistakes:
        for sign in ("reshape(", "transpose(", "swapaxes", "np.", "lambda", "return "):
            assert sign not in mistake.why + mistake.name + mistake.breaks
