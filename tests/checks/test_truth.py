"""What the grader says of a wrong answer is true, and it says it without a warning."""

import re
import sys
import warnings

import numpy as np
import pytest
import torch

from mhalib.checks import EXERCISES, check
from mhalib.checks.exercise import Case
from mhalib.checks.exercises.draws import NO_KEY
from mhalib.checks.kinds import of_shape
from mhalib.checks.patterns import PATTERNS, function_of, not_finite

RNG = np.random.default_rng(0)
SHARES = [RNG.dirichlet(np.ones(n), 3) for n in (2, 3, 5, 7)]
NUMBERS = [RNG.normal(size=(3, n)) for n in (2, 3, 5, 7)]


def said(*pairs):
    """All that is said of pairs (yours, right)."""
    return " ".join(filter(None, [test(list(pairs)) for test in (*PATTERNS, function_of)]))


def filled_with(value, name):
    reference = EXERCISES[name].reference

    def answer(*args):
        right = reference(*args)
        return np.full_like(right, value) if hasattr(right, "dtype") else value

    return answer


@pytest.mark.parametrize("value", [0.0, -np.inf, np.nan])
@pytest.mark.parametrize("name", [e.name for e in EXERCISES.values() if e.returns == "array"])
def test_no_warning_reaches_the_reader(name, value):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = check(name, filled_with(value, name))
    assert not caught
    assert not result
    assert not re.search("cut off (below|above)|multiplied by|one factor", repr(result)), result


def test_numbers_are_cut_off_only_where_some_are():
    zeros = [(np.zeros_like(b), b) for b in NUMBERS]
    assert "cut off" not in said(*zeros)
    clipped = [(np.clip(b, -0.8, np.inf), b) for b in NUMBERS]
    assert said(*clipped) == "The right numbers, cut off below -0.8."


def test_a_factor_in_exp_explains_all_shares():
    sharper = [(b**2 / (b**2).sum(-1, keepdims=True), b) for b in SHARES]
    assert "multiplied by 2" in said(*sharper)
    alike = [(np.full_like(b, 1 / b.shape[-1]), b) for b in SHARES]
    assert "multiplied by" not in said(*alike)
    for _, b in alike:
        b[:, 0] = 0  # a masked score; in yours it has a share
    assert "multiplied by" not in said(*alike)


def test_one_number_is_always_off_by_one_factor():
    for shape in ((), (4,)):
        pairs = [(np.array(b * k), np.full(shape, 2.0) + b) for k, b in enumerate(range(1, 8), 2)]
        pairs = [(np.broadcast_to(a, shape), b) for a, b in pairs]
        assert "of an input" not in said(*pairs)
    assert "All numbers of an input" in said(*((b * k, b) for k, b in enumerate(NUMBERS, 2)))


def test_infinity_that_is_asked_for():
    right = np.array([1.0, -np.inf, 2.0])
    assert not not_finite([(np.array([-np.inf, 1.0, 2.0]), right)])
    assert "−∞" in not_finite([(np.array([-np.inf, 1.0]), np.ones(2))])
    assert "There is ∞" in not_finite([(np.array([np.inf, 1.0]), np.ones(2))])
    for name in ("top_k_filter", "top_p_filter"):
        reversed_ids = lambda *args, f=EXERCISES[name].reference: f(*args)[::-1]  # noqa: E731
        assert "There is" not in repr(check(name, reversed_ids))


def test_a_shape_is_an_arguments_only_if_it_always_is():
    cases = [Case(np.ones((n, 2)), np.ones(d)) for n, d in ((3, 2), (5, 7))]
    pairs = [(np.ones((2, 1)), np.ones((3, 2))), (np.ones((2, 1)), np.ones((5, 2)))]
    assert "shape of" not in of_shape(["X", "b"], cases, [(np.ones(2), b) for _, b in pairs])
    assert of_shape(["X", "b"], cases, [(c.args[1], np.ones((1, 3))) for c in cases])
    gone = [(np.ones(2), np.ones((3, 2))), (np.ones(2), np.ones((5, 2)))]
    assert of_shape(["X", "b"], cases, gone) == "Axis 0 is missing: its length was 3."


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.name)
def test_what_gives_it_away_is_in_the_example(exercise):
    """Numbers that are quoted are those of the case shown; so is what is special about it."""
    for mistake in exercise.mistakes:
        if "[" not in mistake.breaks and mistake.breaks != "a fully masked row":
            continue
        result = check(exercise.name, mistake.wrong)
        example = re.sub(r"\.|\s", "", " ".join(text for _, text in result.example))
        for quoted in re.findall(r"\[[\d−, ]+\]", mistake.breaks):
            assert re.sub(r"\s", "", quoted).replace("−", "-") in example, result
        if mistake.breaks == "a fully masked row":
            assert result.note == NO_KEY, result


def log_sum_subtracted(x):
    return np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))


def overflowing(x):
    e = np.exp(x)
    return e / e.sum(-1).reshape(*x.shape[:-1], 1)


@pytest.mark.parametrize("answer", [log_sum_subtracted, overflowing])
def test_the_verdict_is_the_same_without_torch(answer, monkeypatch):
    assert torch
    result = check("softmax", answer)
    monkeypatch.delitem(sys.modules, "torch")
    assert repr(check("softmax", answer)) == repr(result)
    assert bool(result) == (answer is log_sum_subtracted)


def test_what_works_with_tensors_alone_is_said_so():
    result = check("raw_scores", lambda Q, K: Q @ K.transpose(-2, -1))
    assert result
    assert "with NumPy's arrays it is not right" in repr(result)


@pytest.mark.parametrize("name", EXERCISES)
def test_nothing_is_asked_of_float16(name):
    for case in EXERCISES[name].searched:
        assert not any(getattr(arg, "dtype", None) == np.float16 for arg in case.args)


@pytest.mark.parametrize(
    "name", ["softmax", "attention_weights", "attention", "multi_head_attention", "next_token_loss"]
)
def test_rows_far_apart_and_very_low_scores(name):
    names = {mistake.name for mistake in EXERCISES[name].mistakes}
    assert "one maximum for all rows" in names
    assert "finite fill" in names or not EXERCISES[name].masked


def test_a_name_is_that_which_fits_all_cases():
    """Both are right on ordinary logits and give ∞ on the first large ones."""

    def log_of_softmax(logits, ids):
        e = np.exp(logits - logits.max(-1, keepdims=True))
        shares = e / e.sum(-1, keepdims=True)
        return -np.log(shares[np.arange(len(ids) - 1), ids[1:]]).mean()

    assert check("next_token_loss", log_of_softmax).title == "logarithm of a rounded 0"
