"""Exercises of lesson 6: layer norm and the feed-forward network."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal

Array = NDArray[Any]


def _norm(
    X: Array,
    gamma: Array,
    beta: Array,
    eps: float,
    *,
    axis: Any = -1,
    ddof: int = 0,
    power: float = 0.5,
    outside: bool = False,
    centred: bool = True,
) -> Array:
    mean = X.mean(axis=axis, keepdims=True)
    variance = ((X - mean) ** 2).sum(axis=axis, keepdims=True) / (X.size / mean.size - ddof)
    if not centred:
        mean, variance = 0.0, (X**2).mean(axis=axis, keepdims=True)
    below = variance**power + eps if outside else (variance + eps) ** power
    result: Array = gamma * (X - mean) / below + beta
    return result


def _plain(n: int) -> tuple[Array, Array]:
    return np.ones(n), np.zeros(n)


layer_norm = Exercise(
    "layer_norm(X, gamma, beta, eps)",
    (6, "LayerNorm, by hand"),
    mhalib.layer_norm,
    cases=(
        Case(np.array([[1.0, 2.0, 3.0, 4.0]]), *_plain(4), 0.0),
        Case(np.array([[1.0, 2.0, 3.0, 4.0]]), *_plain(4), 0.75),
        Case(np.array([[1.0, 3.0], [5.0, 2.0], [0.0, 8.0]]), *_plain(2), 0.0),
        Case(np.array([[1.0, 3.0]]), np.array([2.0, 5.0]), np.array([10.0, 20.0]), 0.0),
        Case(normal(3, 5), normal(5, seed=1), normal(5, seed=2), 0.1),
        Case(normal(7, 2), normal(2, seed=1), normal(2, seed=2), 0.5),
    ),
    batches=(
        Case(normal(2, 3, 5), normal(5, seed=1), normal(5, seed=2), 0.1),
        Case(normal(5), *_plain(5), 0.1),
    ),
    batch_needed=True,
    mistakes=(
        Mistake(
            "variance divided by n − 1",
            "The variance is the mean of the squares, divided by the number of features. Some "
            "libraries' std divides by one less.",
            partial(_norm, ddof=1),
            "the rows of the result do not have variance 1",
        ),
        Mistake(
            "eps outside the root",
            "eps belongs to the variance: √(variance + eps).",
            partial(_norm, outside=True),
            "with a large eps the values differ",
        ),
        Mistake(
            "eps left out",
            "A constant row has variance 0. eps keeps it from dividing by 0.",
            lambda X, gamma, beta, eps: _norm(X, gamma, beta, 0.0),
            "with a large eps the values differ",
        ),
        Mistake(
            "over the tokens, not the features",
            "Each token is normalised on its own, over the last axis. Here a token's output "
            "depends on the other tokens.",
            partial(_norm, axis=-2),
            "it changes when another token changes",
        ),
        Mistake(
            "over everything",
            "Each token has its own mean and variance, over the last axis.",
            partial(_norm, axis=None),
            "it changes when another token changes",
        ),
        Mistake(
            "divided by the variance",
            "The divisor is the root of the variance plus eps.",
            partial(_norm, power=1.0),
            "the rows of the result do not have variance 1",
        ),
        Mistake(
            "mean not subtracted",
            "Without subtracting the mean this is RMS norm, a relative of layer norm.",
            partial(_norm, centred=False),
            "the rows of the result do not have mean 0",
        ),
        Mistake(
            "gamma and beta left out",
            "The normalised values are still to be stretched by gamma and shifted by beta.",
            lambda X, gamma, beta, eps: _norm(X, np.ones(1), np.zeros(1), eps),
        ),
        Mistake(
            "gamma left out",
            "The normalised values are still to be stretched by gamma.",
            lambda X, gamma, beta, eps: _norm(X, np.ones(1), beta, eps),
        ),
        Mistake(
            "beta left out",
            "The stretched values are still to be shifted by beta.",
            lambda X, gamma, beta, eps: _norm(X, gamma, np.zeros(1), eps),
        ),
        Mistake(
            "shifted before it is stretched",
            "beta is added last: gamma · x + beta, not gamma · (x + beta).",
            lambda X, gamma, beta, eps: _norm(X, gamma, gamma * beta, eps),
        ),
    ),
)


def _ffn(
    X: Array,
    W_1: Array,
    b_1: Array,
    W_2: Array,
    b_2: Array,
    *,
    bend: Function = mhalib.relu,
    end: Function = lambda Y: Y,
) -> Array:
    result: Array = end(bend(X @ W_1 + b_1) @ W_2 + b_2)
    return result


def _ffn_case(*batch: int, d: int, d_ff: int) -> tuple[Array, ...]:
    shapes = (d, d_ff), (d_ff,), (d_ff, d), (d,)
    return (normal(*batch, d), *(normal(*shape, seed=i) for i, shape in enumerate(shapes, 1)))


feed_forward = Exercise(
    "feed_forward(X, W_1, b_1, W_2, b_2)",
    (6, "The feed-forward network"),
    mhalib.feed_forward,
    cases=(
        Case(
            np.array([[1.0, 2.0]]),
            np.array([[1.0, 0.0], [-1.0, 2.0]]),
            np.array([0.0, 1.0]),
            np.array([[7.0, 7.0], [1.0, -1.0]]),
            np.array([1.0, 1.0]),
        ),
        Case(*_ffn_case(3, d=2, d_ff=5)),
        Case(*_ffn_case(5, d=7, d_ff=11)),
    ),
    batches=(Case(*_ffn_case(2, 3, d=5, d_ff=7)),),
    batch_needed=True,
    mistakes=(
        Mistake(
            "no activation",
            "Two linear layers in a row are one linear layer. Between them negative numbers "
            "have to become 0.",
            partial(_ffn, bend=lambda X: X),
        ),
        Mistake(
            "activation after the second layer",
            "ReLU stands between the two layers. At the end it would keep the network from ever"
            " subtracting.",
            partial(_ffn, bend=lambda X: X, end=mhalib.relu),
        ),
        Mistake(
            "activation after both layers",
            "ReLU stands between the two layers, and only there.",
            partial(_ffn, end=mhalib.relu),
        ),
        Mistake(
            "b_1 left out",
            "The first bias is missing.",
            lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, 0 * b_1, W_2, b_2),
        ),
        Mistake(
            "b_2 left out",
            "The second bias is missing.",
            lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, b_1, W_2, 0 * b_2),
        ),
        Mistake(
            "b_1 added after the activation",
            "The bias comes before ReLU: it moves the bend.",
            lambda X, W_1, b_1, W_2, b_2: (mhalib.relu(X @ W_1) + b_1) @ W_2 + b_2,
        ),
        Mistake(
            "GELU instead of ReLU",
            "This exercise uses ReLU, max(x, 0), as the paper does.",
            partial(_ffn, bend=mhalib.gelu),
        ),
        Mistake(
            "absolute value instead of ReLU",
            "ReLU turns negative numbers into 0, not into positive ones.",
            partial(_ffn, bend=np.abs),
        ),
        Mistake(
            "residual added here",
            "The sum with X belongs to the block, not to the feed-forward network.",
            lambda X, W_1, b_1, W_2, b_2: X + _ffn(X, W_1, b_1, W_2, b_2),
        ),
    ),
)


EXERCISES = (layer_norm, feed_forward)
