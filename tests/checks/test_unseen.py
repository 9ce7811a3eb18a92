"""The grader before answers that were not written for it: see `answers`."""

import numpy as np
import pytest
from answers import RIGHT, WRONG

from mhalib.checks import EXERCISES, check
from mhalib.checks.seen import seen_of
from mhalib.checks.show import LINES

GENERIC = "none of the mistakes this grader knows"


@pytest.mark.parametrize("name", EXERCISES)
def test_right_answers_pass(name):
    for exercise, function in RIGHT:
        if exercise == name:
            assert check(name, function), check(name, function)


@pytest.mark.parametrize("name", EXERCISES)
def test_wrong_answers_do_not_pass(name):
    for exercise, function in WRONG:
        if exercise == name:
            result = check(name, function)
            assert not result, function.__code__
            assert sum(text.count("\n") + 1 for _, text in result.example) <= LINES, result


def test_few_wrong_answers_get_the_generic_text():
    generic = [name for name, f in WRONG[::3] if GENERIC in repr(check(name, f))]
    assert len(generic) <= 0.15 * len(WRONG[::3]), generic


@pytest.mark.parametrize("name", EXERCISES)
def test_the_search_goes_where_answers_differ(name):
    """Sizes of drawn inputs are different, there are many, and the reference is finite on them."""
    exercise = EXERCISES[name]
    assert len(exercise.searched) > 24
    outcomes = [None] * len(exercise.searched)
    for s in seen_of(exercise, exercise.searched, outcomes, None):
        if isinstance(s.right, np.ndarray) and exercise.returns != "vector":
            assert np.isfinite(s.right.astype(float)).all()


def without(axis):
    """Return a step after which `axis` is gone where its length is 1 (None: any such axis)."""

    def dropped(array):
        if axis is None:
            return array.squeeze()
        there = -array.ndim <= axis < array.ndim and array.shape[axis] == 1
        return array.squeeze(axis) if there else array

    return dropped


@pytest.mark.parametrize("axis", [None, 0, -2])
@pytest.mark.parametrize("name", [e.name for e in EXERCISES.values() if e.returns == "array"])
def test_an_axis_of_length_1_stays(name, axis):
    exercise = EXERCISES[name]
    if exercise.call is None or name == "softmax":
        assert not check(name, lambda *args: without(axis)(exercise.reference(*args)))


@pytest.mark.parametrize("name", [e.name for e in EXERCISES.values() if e.batch_needed])
def test_any_number_of_batch_axes(name):
    exercise = EXERCISES[name]
    for most in {case.args[0].ndim for case in exercise.searched + exercise.batches}:

        def answer(X, *rest, most=most):
            if X.ndim >= most:
                raise ValueError("too many axes")
            return exercise.reference(X, *rest)

        assert not check(name, answer)
    assert (
        max(case.args[0].ndim for case in exercise.batches) >= exercise.cases[-1].args[0].ndim + 2
    )
