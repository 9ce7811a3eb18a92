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
