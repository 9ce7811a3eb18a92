"""Shapes: what is given, what follows, what is refused."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from small import SMALL, model

from mhalib import (
    Config,
    Transformer,
    init_parameters,
    parameter_shapes,
)


class TestConfig:
    def test_defaults(self):
        config = Config(vocab_size=7)
        assert (config.d_k, config.d_v, config.d_ff) == (16, 16, 256)

    @pytest.mark.parametrize(
        "changes, error, message",
        [
            ({"n_heads": 5}, ValueError, "n_heads must divide d_model = 64.*got 5"),
            ({"n_layers": 0}, ValueError, "n_layers must be at least 1, got 0"),
            ({"d_model": 6.0}, TypeError, "d_model must be an integer, got 6.0"),
            ({"d_ff": -3}, ValueError, "d_ff must be at least 1, got -3"),
            ({"norm": "middle"}, ValueError, "norm must be one of post, pre, got 'middle'"),
            ({"activation": "tanh"}, ValueError, "activation must be one of relu, gelu, gelu_tanh"),
            ({"positions": "learned"}, ValueError, "positions must be one of sinusoidal, none"),
        ],
    )
    def test_errors(self, changes, error, message):
        with pytest.raises(error, match=message):
            Config(vocab_size=7, **changes)


class TestParameters:
    def test_shapes(self):
        parameters = init_parameters(SMALL, np.random.default_rng(0))
        assert {name: array.shape for name, array in parameters.items()} == parameter_shapes(SMALL)
        assert "gamma_f" in parameter_shapes(dataclasses.replace(SMALL, norm="pre"))

    def test_variances(self):
        config = Config(vocab_size=500, d_model=64, n_heads=4, n_layers=1)
        p = init_parameters(config, np.random.default_rng(0))
        assert p["E"].var() == pytest.approx(1 / 64, rel=0.05)
        assert p["layers.0.W_1"].var() == pytest.approx(2 / (64 + 256), rel=0.05)
        assert_array_equal(p["layers.0.gamma_1"], np.ones(64))
        assert_array_equal(p["layers.0.b_1"], np.zeros(256))

    def test_seeded(self):
        one, two = (init_parameters(SMALL, np.random.default_rng(3)) for _ in range(2))
        for name in one:
            assert_array_equal(one[name], two[name])

    def test_count(self):
        assert model().n_parameters == sum(
            np.prod(shape) for shape in parameter_shapes(SMALL).values()
        )

    @pytest.mark.parametrize(
        "change, message",
        [
            ({"E": None}, r"missing \['E'\]"),
            ({"extra": np.ones(2)}, r"unknown \['extra'\]"),
            ({"E": np.ones((6, 11))}, r"E must have shape \(11, 6\), got \(6, 11\)"),
            ({"E": np.full((11, 6), np.nan)}, "E must be finite"),
        ],
    )
    def test_errors(self, change, message):
        parameters = {**model().parameters, **change}
        with pytest.raises(ValueError, match=message):
            Transformer(
                SMALL, {name: array for name, array in parameters.items() if array is not None}
            )
