"""mhalib.vocab: logits, loss, the filters, sampling, generation."""

import math

import numpy as np
import pytest
from arrays import assert_array
from numpy.testing import assert_array_equal

from mhalib import (
    cross_entropy,
    generate,
    greedy,
    next_token_pairs,
    sample,
    softmax,
    tied_logits,
    top_k_filter,
    top_p_filter,
)


class TestTiedLogits:
    def test_is_a_dot_product_with_each_row(self):
        rng = np.random.default_rng(0)
        X, E = rng.normal(size=(2, 3, 5)), rng.normal(size=(11, 5))
        logits = tied_logits(X, E)
        assert logits.shape == (2, 3, 11)
        assert logits[1, 2, 7] == pytest.approx(float(X[1, 2] @ E[7]))

    def test_one_table(self):
        E = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
        assert_array_equal(tied_logits([1.0, 2.0], E), [1, 4, 3])
        E[0] = 10.0  # the head reads the table itself, no copy of it
        assert_array_equal(tied_logits([1.0, 2.0], E), [30, 4, 3])

    def test_error(self):
        with pytest.raises(ValueError, match=r"E must have 4 entries on axis -1 .*\(3, 2\)"):
            tied_logits(np.ones(4), np.ones((3, 2)))


class TestCrossEntropy:
    def test_by_hand(self):
        logits = np.log([[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]]) + [[3.0], [-1.0]]
        right = -(math.log(0.25) + math.log(0.125)) / 2
        assert cross_entropy(logits, [1, 0]) == pytest.approx(right)

    def test_knowing_nothing_costs_log_v(self):
        assert cross_entropy(np.zeros((3, 7)), [0, 3, 6]) == pytest.approx(math.log(7))

    def test_mask_leaves_out(self):
        rng = np.random.default_rng(0)
        logits, targets = rng.normal(size=(2, 3, 7)), np.array([[0, 1, 2], [3, 4, 5]])
        mask = np.array([[True, True, True], [True, False, False]])
        right = cross_entropy(np.concatenate([logits[0], logits[1, :1]]), [0, 1, 2, 3])
        assert cross_entropy(logits, targets, mask) == pytest.approx(right)

    def test_confident_and_wrong_is_finite(self):
        assert cross_entropy([[0.0, 2000.0]], [0]) == 2000.0

    def test_pairs_shift_by_one(self):
        inputs, targets = next_token_pairs(np.array([[1, 2, 3], [4, 5, 6]]))
        assert_array_equal(inputs, [[1, 2], [4, 5]])
        assert_array_equal(targets, [[2, 3], [5, 6]])

    @pytest.mark.parametrize(
        "targets, mask, error, message",
        [
            ([0, 1], None, ValueError, r"targets must have shape \(3,\), got \(2,\)"),
            ([0, 1, 7], None, ValueError, "targets must lie in 0 … 6, got 7"),
            ([0.0, 1, 2], None, TypeError, "targets must hold integers, got dtype float64"),
            ([0, 1, 2], [1, 1, 0], TypeError, "mask must be boolean"),
            ([0, 1, 2], [False] * 3, ValueError, "no token to average over"),
        ],
    )
    def test_errors(self, targets, mask, error, message):
        with pytest.raises(error, match=message):
            cross_entropy(np.zeros((3, 7)), targets, mask)


class TestFilters:
    logits = np.log([0.1, 0.4, 0.2, 0.3])

    def test_top_k(self):
        for k, kept in (
            (1, [1]),
            (2, [1, 3]),
            (3, [1, 2, 3]),
            (4, [0, 1, 2, 3]),
            (9, [0, 1, 2, 3]),
        ):
            filtered = top_k_filter(self.logits, k)
            assert_array_equal(np.flatnonzero(np.isfinite(filtered)), kept)
            assert_array_equal(filtered[kept], self.logits[kept])

    def test_top_p(self):
        for p, kept in (
            (0.1, [1]),
            (0.4, [1]),
            (0.41, [1, 3]),
            (0.7, [1, 3]),
            (0.71, [1, 2, 3]),
            (1.0, [0, 1, 2, 3]),
        ):
            filtered = top_p_filter(self.logits, p)
            assert_array_equal(np.flatnonzero(np.isfinite(filtered)), kept)

    def test_ties_keep_the_smaller_id(self):
        assert_array_equal(
            np.isfinite(top_k_filter(np.zeros(5), 2)), [True, True, False, False, False]
        )
        assert_array_equal(
            np.isfinite(top_p_filter(np.zeros(5), 0.3)), [True, True, False, False, False]
        )

    def test_inputs_are_not_changed(self):
        logits = self.logits.copy()
        logits.flags.writeable = False
        top_k_filter(logits, 2), top_p_filter(logits, 0.5)

    @pytest.mark.parametrize(
        "call, error, message",
        [
            (lambda x: top_k_filter(x, 0), ValueError, "k must be at least 1, got 0"),
            (lambda x: top_p_filter(x, 0.0), ValueError, r"p must lie in \(0, 1\], got 0.0"),
            (lambda x: top_p_filter(x, 1.1), ValueError, r"p must lie in \(0, 1\], got 1.1"),
            (lambda x: greedy([x]), ValueError, r"logits must have shape \(V,\), got \(1, 4\)"),
            (
                lambda x: sample(x, np.random.default_rng(0), temperature=0),
                ValueError,
                "temperature must be positive",
            ),
            (lambda x: greedy([]), ValueError, r"logits must have shape \(V,\), got \(0,\)"),
        ],
    )
    def test_errors(self, call, error, message):
        with pytest.raises(error, match=message):
            call(self.logits)


class TestSampling:
    logits = np.log([0.1, 0.4, 0.2, 0.3])

    def frequencies(self, n=20_000, **options):
        rng = np.random.default_rng(0)
        return np.bincount([sample(self.logits, rng, **options) for _ in range(n)], minlength=4) / n

    def test_frequencies_are_the_probabilities(self):
        # three standard deviations of a share near one half, 20 000 draws
        assert_array(self.frequencies(), [0.1, 0.4, 0.2, 0.3], atol=0.011)

    def test_temperature(self):
        assert_array(self.frequencies(temperature=0.5), softmax(2 * self.logits), atol=0.011)

    def test_cuts(self):
        assert_array(self.frequencies(top_k=2), [0, 4 / 7, 0, 3 / 7], atol=0.011)
        assert_array(self.frequencies(top_p=0.8), [0, 4 / 9, 2 / 9, 3 / 9], atol=0.011)

    def test_greedy_takes_the_first_of_equals(self):
        assert greedy([1.0, 3.0, 3.0]) == 1

    def test_seeded(self):
        draws = [
            [sample(self.logits, np.random.default_rng(5)) for _ in range(2)] for _ in range(2)
        ]
        assert draws[0] == draws[1]


class TestGenerate:
    @staticmethod
    def count_up(new, cache):
        """A model that always says: the next id is one more. It remembers what it was given."""
        seen = (cache or []) + list(new)
        return np.eye(9)[(seen[-1] + 1) % 9], seen

    def test_goes_on(self):
        assert generate(self.count_up, [3, 4], 3) == [3, 4, 5, 6, 7]
        assert generate(self.count_up, [3], 0) == [3]

    def test_each_step_gets_only_what_is_new(self):
        calls = []

        def step(new, cache):
            calls.append(list(new))
            return self.count_up(new, cache)

        generate(step, [1, 2], 3)
        assert calls == [[1, 2], [3], [4]]

    def test_stops(self):
        assert generate(self.count_up, [3], 5, stop={5}) == [3, 4, 5]

    def test_choose(self):
        assert generate(self.count_up, [3], 2, choose=lambda logits: 0) == [3, 0, 0]

    def test_the_beginning_is_not_changed(self):
        ids = [3]
        generate(self.count_up, ids, 2)
        assert ids == [3]


def tenths(total=10, largest=10):
    """All ways to write `total` as a falling sum of whole numbers."""
    if total == 0:
        yield []
    for first in range(min(total, largest), 0, -1):
        yield from ([first, *rest] for rest in tenths(total - first, first))


class TestExactSums:
    """Probabilities that add up to p exactly on paper: what reaches p is enough."""

    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
    @pytest.mark.parametrize("p", range(1, 11))
    def test_tenths(self, p, dtype):
        for shares in tenths():
            before = np.cumsum(shares) - shares
            logits = np.log(np.array(shares) / 10).astype(dtype)
            kept = np.isfinite(top_p_filter(logits, p / 10))
            assert_array_equal(kept, before < p, err_msg=f"{shares}, p = {p / 10}")

    @pytest.mark.parametrize("V, p, kept", [(24, 0.5, 12), (30, 0.5, 15), (48, 0.25, 12)])
    def test_equal_logits(self, V, p, kept):
        for level in (0.0, -3.7, 11.0):
            filtered = top_p_filter(np.full(V, level), p)
            assert_array_equal(np.isfinite(filtered), np.arange(V) < kept)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
    def test_one_keeps_everything(self, dtype):
        logits = (50 * np.random.default_rng(0).normal(size=5000)).astype(dtype)
        assert_array_equal(top_p_filter(logits, 1.0), logits)
        logits[7] = -np.inf
        assert_array_equal(top_p_filter(logits, 1), logits)

    def test_something_is_always_kept(self):
        assert np.isfinite(top_p_filter(np.zeros(5), 1e-12)).sum() == 1


class OneNumber(np.random.Generator):
    """A generator that always draws the same number of [0, 1)."""

    def __init__(self, number):
        super().__init__(np.random.PCG64(0))
        self.number = number

    def random(self):
        return self.number


class TestOnlyWhatCanCome:
    LAST = np.nextafter(1.0, 0.0)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
    @pytest.mark.parametrize("number", [0.0, 0.5, LAST])
    def test_an_id_of_the_vocabulary_with_a_probability(self, dtype, number):
        rng = np.random.default_rng(0)
        for V in (1, 2, 7, 97, 5000):
            logits = rng.normal(size=V).astype(dtype)
            logits[rng.random(V) < 0.3] = -np.inf
            logits[V // 2] = 1.0
            drawn = sample(logits, OneNumber(number))
            assert 0 <= drawn < V
            assert np.isfinite(logits[drawn])

    def test_the_tail_of_a_large_vocabulary_comes(self):
        """Float16, 5000 equal logits: their running sum stops growing at id 2180 in float16."""
        assert sample(np.zeros(5000, np.float16), OneNumber(self.LAST)) == 4999
        assert sample(np.zeros(5000, np.float16), OneNumber(0.50001)) == 2500

    @pytest.mark.parametrize("temperature", [5e-324, 1e-300, 1e300])
    def test_any_temperature(self, temperature):
        drawn = sample([0.0, 800.0, -800.0], OneNumber(0.5), temperature=temperature)
        assert drawn == 1

    @pytest.mark.parametrize("choose", [
        greedy, lambda x: sample(x, OneNumber(0.5)), lambda x: top_k_filter(x, 2),
        lambda x: top_p_filter(x, 0.5),
    ])  # fmt: skip
    @pytest.mark.parametrize("logits", [[-np.inf] * 3, [0.0, np.nan, 1.0], [0.0, np.inf, 1.0]])
    def test_nothing_to_choose_from(self, choose, logits):
        with pytest.raises(ValueError, match="logits must be finite or −∞, one at least finite"):
            choose(logits)


class TestGenerateRefuses:
    @pytest.mark.parametrize(
        "ids, n_new, stop, error, message",
        [
            ([], 3, (), ValueError, r"ids must be one row of at least one id, got shape \(0,\)"),
            ([[1, 2]], 3, (), ValueError, r"ids must be one row .* got shape \(1, 2\)"),
            (5, 3, (), ValueError, r"ids must be one row .* got shape \(\)"),
            ([1.5], 3, (), TypeError, "ids must hold integers, got dtype float64"),
            ([[1], [2, 3]], 3, (), ValueError, "ids cannot be read as an array"),
            ([1], -1, (), ValueError, "n_new must be at least 0, got -1"),
            ([1], 3, 3, TypeError, "stop must be a collection of ids, such as .3., got 3"),
            ([1], 3, "3", TypeError, "stop must be a collection of ids"),
        ],
    )
    def test_before_the_first_step(self, ids, n_new, stop, error, message):
        def step(new, cache):
            raise AssertionError("a step was taken")

        with pytest.raises(error, match=message):
            generate(step, ids, n_new, stop=stop)
