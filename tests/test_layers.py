"""mhalib.layers: layer norm, activations, feed-forward, the two blocks."""

import math

import numpy as np
import pytest
from arrays import assert_array
from numpy.testing import assert_array_equal

from mhalib import (
    feed_forward,
    gelu,
    gelu_tanh,
    layer_norm,
    multi_head_attention,
    post_norm_block,
    pre_norm_block,
    relu,
)

DTYPES = [np.float16, np.float32, np.float64]


def block_parameters(d=6, d_ff=7, seed=0):
    rng = np.random.default_rng(seed)
    shapes = {
        "W_Q": (d, 6),
        "W_K": (d, 6),
        "W_V": (d, 9),
        "W_O": (9, d),
        "gamma_1": (d,),
        "beta_1": (d,),
        "W_1": (d, d_ff),
        "b_1": (d_ff,),
        "W_2": (d_ff, d),
        "b_2": (d,),
        "gamma_2": (d,),
        "beta_2": (d,),
    }
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


class TestLayerNorm:
    def test_row_by_row(self):
        X = np.random.default_rng(0).normal(size=(2, 3, 5))
        gamma, beta = np.arange(1.0, 6.0), np.arange(5.0)
        right = np.empty_like(X)
        for place in np.ndindex(2, 3):
            x = list(X[place])
            mean = sum(x) / 5
            deviation = math.sqrt(sum((value - mean) ** 2 for value in x) / 5 + 0.1)
            right[place] = [
                g * (value - mean) / deviation + b for value, g, b in zip(x, gamma, beta)
            ]
        assert_array(layer_norm(X, gamma, beta, eps=0.1), right)

    def test_a_constant_row_becomes_beta(self):
        assert_array_equal(layer_norm(np.full(3, 7.0), beta=np.arange(3.0)), np.arange(3.0))

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtype_is_kept(self, dtype):
        X = np.array([[1, 2, 4]], dtype)
        assert layer_norm(X, np.ones(3), np.zeros(3)).dtype == dtype

    def test_float16_does_not_overflow(self):
        X = np.array([-6e4, 6e4], np.float16)
        assert_array(layer_norm(X), np.float16([-1, 1]))

    def test_errors(self):
        with pytest.raises(ValueError, match=r"gamma must broadcast to \(3,\), got shape \(2,\)"):
            layer_norm(np.ones((2, 3)), gamma=np.ones(2))
        with pytest.raises(ValueError, match=r"beta must broadcast to \(3,\), got shape \(2, 1\)"):
            layer_norm(np.ones((2, 3)), beta=np.ones((2, 1)))


class TestActivations:
    def test_relu(self):
        assert_array_equal(relu([-2.0, 0.0, 3.0]), [0.0, 0.0, 3.0])

    def test_gelu_is_x_times_the_normal_distribution(self):
        # Φ from a sum over the density, another way than erf
        grid = np.linspace(-10, 1.5, 200_001)
        density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
        assert gelu([1.5])[0] == pytest.approx(1.5 * np.trapezoid(density, grid), abs=1e-8)

    def test_gelu_tanh_is_close_but_not_equal(self):
        x = np.linspace(-5, 5, 101)
        difference = np.abs(gelu(x) - gelu_tanh(x)).max()
        assert 1e-4 < difference < 1e-3

    @pytest.mark.parametrize("activation", [relu, gelu, gelu_tanh])
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtype_and_shape_are_kept(self, activation, dtype):
        x = np.ones((2, 3), dtype)
        assert activation(x).dtype == dtype
        assert activation(x).shape == (2, 3)
        assert activation(np.zeros((0, 3), dtype)).shape == (0, 3)


class TestFeedForward:
    def test_by_hand(self):
        # hidden: [1 − 2, 2·2 + 1] = [−1, 5] → [0, 5]; then 5·[3, 1, 0] + [1, 1, 1]
        W_1, b_1 = np.array([[1.0, 0.0], [-1.0, 2.0]]), np.array([0.0, 1.0])
        W_2, b_2 = np.array([[7.0, 7.0, 7.0], [3.0, 1.0, 0.0]]), np.ones(3)
        assert_array_equal(feed_forward([[1.0, 2.0]], W_1, b_1, W_2, b_2), [[16.0, 6.0, 1.0]])

    def test_each_token_on_its_own(self):
        rng = np.random.default_rng(0)
        W = [rng.normal(size=shape) for shape in ((5, 11), (11,), (11, 5), (5,))]
        X = rng.normal(size=(2, 3, 5))
        Y = feed_forward(X, *W)
        for place in np.ndindex(2, 3):
            assert_array(Y[place], feed_forward(X[place], *W))

    def test_error(self):
        with pytest.raises(ValueError, match=r"W_1 must have 4 entries on axis 0 .*\(5, 11\)"):
            feed_forward(
                np.ones((3, 4)), np.ones((5, 11)), np.ones(11), np.ones((11, 4)), np.ones(4)
            )


class TestBlocks:
    p = block_parameters()
    X = np.random.default_rng(1).normal(size=(2, 5, 6))

    def attend(self, X):
        return multi_head_attention(X, *(self.p[f"W_{name}"] for name in "QKVO"), 3, causal=True)

    def ffn(self, X):
        return feed_forward(X, *(self.p[name] for name in ("W_1", "b_1", "W_2", "b_2")))

    def norm(self, i, X):
        return layer_norm(X, self.p[f"gamma_{i}"], self.p[f"beta_{i}"])

    def test_post_norm(self):
        first = self.norm(1, self.X + self.attend(self.X))
        second = self.norm(2, first + self.ffn(first))
        trace = post_norm_block(self.X, self.p, 3, causal=True)
        assert_array(trace.norm_1, first)
        assert_array(trace.output, second)
        assert trace.ffn_hidden.shape == (2, 5, 7)

    def test_pre_norm(self):
        first = self.X + self.attend(self.norm(1, self.X))
        second = first + self.ffn(self.norm(2, first))
        trace = pre_norm_block(self.X, self.p, 3, causal=True)
        assert_array(trace.residual_1, first)
        assert_array(trace.output, second)

    @pytest.mark.parametrize("block", [post_norm_block, pre_norm_block])
    def test_options(self, block):
        other = block(self.X, self.p, 3, causal=True, activation=gelu).output
        assert not np.allclose(other, block(self.X, self.p, 3, causal=True).output)
        plain = block(
            self.X, self.p, 3, norm=lambda X, gamma, beta: X, residual=lambda X, f: f
        ).output
        assert_array(
            plain,
            self.ffn(multi_head_attention(self.X, *(self.p[f"W_{n}"] for n in "QKVO"), 3)),
        )

    @pytest.mark.parametrize("block", [post_norm_block, pre_norm_block])
    def test_inputs_are_not_changed(self, block):
        X, p = self.X.copy(), {name: array.copy() for name, array in self.p.items()}
        for array in (X, *p.values()):
            array.flags.writeable = False  # an in-place edit would raise
        block(X, p, 3)
