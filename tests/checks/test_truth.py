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
from mhalib.checks.show import example

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
    assert of_shape(["X", "b"], cases, gone) == "Axis 0 is missing: its length should be 3."


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


def test_a_mistake_that_no_property_shows_is_said_to_be_one():
    result = repr(check("embed", lambda ids, E: E[ids]))
    assert "\nNo simple test shows it; only comparing with right values does.\n" in result


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
    assert "with NumPy arrays it is not right" in repr(result)


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


def softmax_in(shift):
    def softmax(x):
        e = np.exp(x - shift(x))
        return e / e.sum(-1, keepdims=True)

    return softmax


@pytest.mark.parametrize(
    "shift, title",
    [
        (lambda x: x[..., :1], "first number of a row subtracted, not the largest"),
        (lambda x: x[..., -1:], "last number of a row subtracted, not the largest"),
        (lambda x: x.min(-1, keepdims=True), "minimum subtracted, not the maximum"),
        (lambda x: x.mean(-1, keepdims=True), "mean subtracted, not the maximum"),
    ],
)
def test_what_was_subtracted_is_told_apart(shift, title):
    assert check("softmax", softmax_in(shift)).title == title


def blind_rows_average(S, mask, fill=-np.inf):
    S = np.where(mask, S, fill)
    top = S.max(-1, keepdims=True)
    e = np.exp(S - np.where(np.isfinite(top), top, 0))
    total = e.sum(-1, keepdims=True)
    return np.where(total > 0, e / np.where(total > 0, total, 1), 1 / S.shape[-1])


def test_a_row_shared_out_equally_is_no_finite_fill():
    weights = blind_rows_average
    assert check("attention_weights", weights).title == "an empty row shared out equally"
    for fill in (-1e9, -1e4):
        result = check("attention_weights", lambda S, m, fill=fill: weights(S, m, fill))
        assert result.title == "finite fill"


@pytest.mark.parametrize(
    "name, answer, title",
    [
        (
            "tied_logits",
            lambda X, E: np.atleast_2d(X) @ E.T,
            "right for rows, not for a single vector",
        ),
        (
            "tied_logits",
            lambda X, E: X.reshape(-1, X.shape[-1]) @ E.T,
            "right without batch axes, not with them",
        ),
        (
            "split_heads",
            lambda X, h: (lambda Y: Y if X.ndim > 2 else Y[0])(
                X.reshape(-1, X.shape[-2], h, X.shape[-1] // h).swapaxes(1, 2)
            ),
            "right with some batch axes, not with all",
        ),
        (
            "merge_heads",  # a batch of one is right by chance
            lambda H: H.swapaxes(0, -2).reshape(*H.shape[:-3], H.shape[-2], -1),
            "right without batch axes, not with them",
        ),
    ],
)
def test_which_number_of_axes_is_right(name, answer, title):
    result = check(name, answer)
    assert result.title == title, result
    exercise = EXERCISES[name]
    words = result.paragraphs[0]
    for axes in re.findall(r"\d+(?= or|(?= ax[ei]s\.))", words.partition("Here")[0]):
        for case in exercise.searched + exercise.batches:
            if case.args[0].ndim == int(axes):
                right = exercise.reference(*case.args)
                assert np.shape(answer(*case.args)) == right.shape, result


def test_a_function_of_the_right_numbers_changes_them():
    half = softmax_in(lambda x: x.max(-1, keepdims=True))
    result = check("softmax", lambda x: half(x.astype(np.float16)).astype(float))
    assert "absolute values" not in repr(result)
    near = [(b * (1 + 3e-4), b) for b in SHARES]
    assert "These are the" not in function_of(near)
    flipped = [(np.abs(b), b) for b in NUMBERS]
    assert function_of(flipped) == "These are the absolute values of the right numbers."


def test_small_numbers_only_where_the_case_shown_has_large_ones():
    def first_skipped(logits, ids):
        Z, t = np.asarray(logits, float)[1:-1], np.asarray(ids)[2:]
        Z = Z - Z.max(-1, keepdims=True)
        Z = Z - np.log(np.exp(Z).sum(-1, keepdims=True))
        return -Z[np.arange(len(t)), t].mean()

    assert "numbers are small" not in repr(check("next_token_loss", first_skipped))


def above_p(logits, p):
    z = np.asarray(logits, float)
    q = np.exp(z - z.max())
    q = q / q.sum()
    order = np.argsort(-z, kind="stable")
    out = np.full(len(z), -np.inf)
    kept = order[(q[order] >= p) | (np.arange(len(z)) == 0)]
    out[kept] = z[kept]
    return out


def test_an_argument_plays_no_part_only_if_no_value_matters():
    assert "plays no part" not in repr(check("top_p_filter", above_p))
    result = check("top_p_filter", lambda logits, p: above_p(logits, 0.1))
    assert "p plays no part" in repr(result)


def test_ids_are_told_where_they_differ():
    def halves(logits, p):
        z = np.asarray(logits, float)
        q = np.exp(z - z.max())
        q = (q / q.sum()).astype(np.float16)
        order = np.argsort(-z, kind="stable")
        kept = order[(np.cumsum(q[order], dtype=np.float16) - q[order]) < p]
        out = np.full(len(z), -np.inf)
        out[kept] = z[kept]
        return out

    text = repr(check("top_p_filter", halves))
    found = re.search(r"It keeps ids? (.*?)\. It should keep ids? (.*?)\.", text)
    assert found is None or found[1] != found[2], text
    assert re.search("It (keeps|cuts off) ids? 26,? which should (go|stay)", text) or found, text


@pytest.mark.parametrize("small", [1e-6, 1e-5, 1e-3])
def test_digits_show_what_differs(small):
    def softmax(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / (e.sum(-1, keepdims=True) + small)

    rows = dict(check("softmax", softmax).example)
    assert rows["yours"] != rows["right"]
    long = np.linspace(0, 1, 300).reshape(20, 15)
    for a, b in ((long + 1e-6, long), (long[0] + 1e-9, long[0]), (long[0, :5] + 1e-9, long[0, :5])):
        rows = dict(example(["x"], [long], a, b))
        assert rows["yours"] != rows["right"]


def test_what_is_wrong_with_arrays_is_not_judged_with_tensors():
    result = check("tied_head", lambda E: (lambda W: lambda X: X @ W.T)(np.asarray(E, np.float32)))
    assert not result


def test_inputs_have_the_digits_that_matter():
    near = EXERCISES["top_k_filter"].reference
    result = check("top_k_filter", lambda logits, k: near(np.round(logits, 6), k))
    assert len(set(re.findall(r"[\d.]+", dict(result.example)["logits"]))) == 3, result


def test_what_was_done_before_the_last_use_is_told():
    def tied_head(E):
        first = E[0].copy()  # this row alone is no longer shared
        return lambda X: X @ np.vstack([first, E[1:]]).T

    assert "made from a table of zeros" in repr(check("tied_head", tied_head))


def test_a_small_number_for_each_place_is_no_rounding():
    def top_k_filter(logits, k):
        order = np.argsort(-(logits - 1e-6 * np.arange(len(logits))), kind="stable")
        out = np.full(len(logits), -np.inf)
        out[order[:k]] = logits[order[:k]]
        return out

    assert "rounded" not in repr(check("top_k_filter", top_k_filter))


def test_what_is_nearly_right_or_cut():
    def in_half(Q, K):
        return (Q.astype(np.float16) @ K.astype(np.float16).T).astype(float)

    assert "nearly right" in repr(check("raw_scores", in_half))
    assert "nearly right" not in repr(check("raw_scores", lambda Q, K: 1.1 * (Q @ K.T)))
    assert "cut to whole ones" in repr(check("raw_scores", lambda Q, K: (Q @ K.T).astype(int)))


@pytest.mark.parametrize("most", [2, 4, 16, 100])
def test_a_cache_that_forgets_is_told_by_its_size(most):
    def cached_attention(X, W_Q, W_K, W_V, cache):
        Q, K, V = X @ W_Q, X @ W_K, X @ W_V
        if cache is not None:
            K, V = np.vstack([cache[0], K]), np.vstack([cache[1], V])
        mask = np.tri(len(Q), len(K), len(K) - len(Q), dtype=bool)
        mask &= ~np.tri(len(Q), len(K), len(K) - len(Q) - most, dtype=bool)
        return EXERCISES["attention"].reference(Q, K, V, mask), (K, V)

    assert f"over the last {most} tokens" in repr(check("cached_attention", cached_attention))


@pytest.mark.parametrize(
    "name, answer, title",
    [
        ("raw_scores", lambda Q, K: Q @ K.reshape(K.shape[::-1]), "reshape instead of a transpose"),
        ("scores", lambda Q, K: Q @ K.reshape(K.shape[::-1]) / K.shape[1] ** 0.5,
         "reshape instead of a transpose"),
        ("tied_logits", lambda X, E: X @ E.reshape(E.shape[::-1]),
         "reshape instead of a transpose"),
        ("attention_weights", lambda S, mask: EXERCISES["attention_weights"].reference(
            S, mask | np.eye(*S.shape, dtype=bool)),
         "each token sees itself, whatever the mask says"),
        ("bpe_encode", lambda word, merges: EXERCISES["bpe_encode"].reference(
            word, sorted(merges)), "merges sorted"),
    ],
)  # fmt: skip
def test_common_mistakes_have_names(name, answer, title):
    assert check(name, answer).title == title
