"""mhalib.embedding: the lookup and the sinusoidal positions."""

import numpy as np
import pytest
from arrays import assert_array
from numpy.testing import assert_array_equal

from mhalib import embed, sinusoidal_positions


class TestEmbed:
    E = np.random.default_rng(0).normal(size=(11, 5))

    def test_is_a_one_hot_product_times_the_root(self):
        ids = np.array([[3, 10, 3], [0, 1, 2]])
        one_hot = np.eye(11)[ids]
        assert_array(embed(ids, self.E), one_hot @ self.E * 5**0.5)

    def test_scale(self):
        assert_array_equal(embed([4], self.E, scale=1.0), self.E[[4]])

    def test_dtype_is_that_of_the_table(self):
        for dtype in (np.float16, np.float32, np.float64):
            assert embed([4], self.E.astype(dtype)).dtype == dtype

    def test_no_ids(self):
        assert embed([], self.E).shape == (0, 5)

    def test_the_table_is_not_handed_out(self):
        E = self.E.copy()
        embed([4], E, scale=1.0)[:] = 0
        assert_array_equal(E, self.E)

    @pytest.mark.parametrize(
        "ids, error, message",
        [
            ([11], ValueError, "ids must lie in 0 … 10, got 11"),
            ([-1], ValueError, "ids must lie in 0 … 10, got -1"),
            ([1.0], TypeError, "ids must hold integers, got dtype float64"),
            ([True], TypeError, "ids must hold integers, got dtype bool"),
            ("bats", TypeError, "ids must hold integers, got dtype <U4"),
        ],
    )
    def test_errors(self, ids, error, message):
        with pytest.raises(error, match=message):
            embed(ids, self.E)


class TestPositions:
    def test_entry_by_entry(self):
        P = sinusoidal_positions(7, 6)
        for position in range(7):
            for column in range(6):
                pair = column // 2
                angle = position / 10000 ** (2 * pair / 6)
                right = np.sin(angle) if column % 2 == 0 else np.cos(angle)
                assert P[position, column] == pytest.approx(right, abs=1e-15)

    def test_odd_width_ends_with_a_sine(self):
        P = sinusoidal_positions(3, 5)
        assert P.shape == (3, 5)
        assert_array(P[:, 4], np.sin(np.arange(3) / 10000 ** (4 / 5)))
        assert_array_equal(sinusoidal_positions(3, 1)[:, 0], np.sin(np.arange(3)))

    def test_start_goes_on(self):
        assert_array_equal(sinusoidal_positions(3, 6, start=4), sinusoidal_positions(7, 6)[4:])

    def test_product_depends_on_the_distance(self):
        P = sinusoidal_positions(50, 64)
        products = P @ P.T
        for distance in (1, 7, 30):
            along = np.diagonal(products, distance)
            assert_array(along, np.full_like(along, along[0]))

    def test_base(self):
        assert_array(sinusoidal_positions(2, 4, base=100.0)[1, 2], np.sin(0.1))

    @pytest.mark.parametrize(
        "arguments, error, message",
        [
            ((-1, 4), ValueError, "n must be at least 0, got -1"),
            ((3, 0), ValueError, "d_model must be at least 1, got 0"),
            ((3, 4, -1), ValueError, "start must be at least 0, got -1"),
            ((3, 4, 0, 0.0), ValueError, "base must be positive, got 0.0"),
            ((3, "4"), TypeError, "d_model must be an integer, got '4'"),
        ],
    )
    def test_errors(self, arguments, error, message):
        with pytest.raises(error, match=message):
            sinusoidal_positions(*arguments)
