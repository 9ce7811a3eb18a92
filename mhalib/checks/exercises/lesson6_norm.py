"""Exercise of lesson 6: layer norm."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake, normal, numbers

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


def _draw_norm(rng: Generator, i: int) -> Case:
    n, d = int(rng.choice([1, 3, 5])), int(rng.choice([2, 7, 11]))
    X, gamma, beta = numbers(rng, i, n, d), numbers(rng, i, d), numbers(rng, i, d)
    eps = (0.0, 1e-5, 0.3, 2.0)[i % 4]
    if i % 6 == 5:
        X[:] = X[:, :1].round()
        return Case(X, gamma, beta, max(eps, 1e-5), note="rows of equal numbers")
    if i % 6 == 2:
        return Case(X.astype(float) * 1e-3, gamma, beta, 1e-5)
    if i % 6 == 4:
        return Case((40 * X).round() + 500, gamma, beta, eps, note="large numbers")
    return Case(X, gamma, beta, eps)


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
        Case(normal(1, 3, 5), *_plain(5), 0.1),
        Case(normal(2, 1, 3, 5), *_plain(5), 0.1),
    ),
    batch_needed=True,
    draw=_draw_norm,
    rowwise=True,
    mistakes=(
        Mistake(
            "variance divided by n − 1",
            "The variance is the sum of the squared differences, divided by the number of "
            "features. Some libraries' std divides by one less.",
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
            "A constant row has variance 0. eps prevents a division by 0.",
            lambda X, gamma, beta, eps: _norm(X, gamma, beta, 0.0),
            "with a large eps the values differ",
        ),
        Mistake(
            "over the tokens, not the features",
            "Each token is normalised on its own, over the last axis. Here a token's output "
            "depends on the other tokens.",
            partial(_norm, axis=-2),
            "a token's output changes when another token changes",
        ),
        Mistake(
            "over everything",
            "Each token has its own mean and variance, over the last axis.",
            partial(_norm, axis=None),
            "a token's output changes when another token changes",
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
        Mistake(
            "** 1/2 is half, not the root",
            "Powers come before division: v ** 1/2 is (v ** 1) / 2. The root needs brackets.",
            lambda X, gamma, beta, eps: _norm(X, 2 * gamma, beta, eps, power=1.0),
        ),
        Mistake(
            "gamma and beta exchanged",
            "gamma stretches, beta shifts: gamma · x + beta.",
            lambda X, gamma, beta, eps: _norm(X, beta, gamma, eps),
        ),
        Mistake(
            "eps squared",
            "eps is added to the variance as it is.",
            lambda X, gamma, beta, eps: _norm(X, gamma, beta, eps * eps),
            "with a large eps the values differ",
        ),
        Mistake(
            "the larger of variance and eps",
            "eps is added to the variance, also where the variance is larger.",
            lambda X, gamma, beta, eps: (
                gamma
                * (X - X.mean(-1, keepdims=True))
                / np.sqrt(np.maximum(X.var(-1, keepdims=True), eps))
                + beta
            ),
            "with a large eps the values differ",
        ),
        Mistake(
            "eps subtracted",
            "eps is added to the variance.",
            lambda X, gamma, beta, eps: _norm(X, gamma, beta, -eps),
        ),
        Mistake(
            "eps added twice",
            "eps is added to the variance, once, and under the root.",
            lambda X, gamma, beta, eps: (
                gamma
                * (X - X.mean(-1, keepdims=True))
                / (np.sqrt(X.var(-1, keepdims=True) + eps) + eps)
                + beta
            ),
        ),
        *(
            Mistake(
                "a fixed eps",
                "eps is an argument: take the one that came.",
                lambda X, gamma, beta, eps, fixed=fixed: _norm(X, gamma, beta, fixed),
                "with a large eps the values differ",
            )
            for fixed in (1e-5, 1e-6, 1e-8, 1e-12)
        ),
        Mistake(
            "not divided",
            "The mean was subtracted; divide by the root of the variance as well.",
            lambda X, gamma, beta, eps: gamma * (X - X.mean(-1, keepdims=True)) + beta,
            "the rows of the result do not have variance 1",
        ),
        Mistake(
            "mean not subtracted in the numerator",
            "The variance is right, but X itself was divided, not X minus its mean.",
            lambda X, gamma, beta, eps: gamma * X / np.sqrt(X.var(-1, keepdims=True) + eps) + beta,
            "the rows of the result do not have mean 0",
        ),
        Mistake(
            "multiplied by the spread",
            "The numbers are divided by the root of the variance, not multiplied.",
            partial(_norm, power=-0.5),
        ),
        Mistake(
            "variance divided by n − 1, eps outside the root",
            "Two things: divide the squares by n, not n − 1, and add eps under the root.",
            partial(_norm, ddof=1, outside=True),
        ),
        Mistake(
            "the sum of squares, not their mean",
            "The variance is the mean of the squares: divided by the number of features.",
            lambda X, gamma, beta, eps: (
                gamma
                * (X - X.mean(-1, keepdims=True))
                / np.sqrt(X.var(-1, keepdims=True) * X.shape[-1] + eps)
                + beta
            ),
        ),
        Mistake(
            "scaled to 0 … 1",
            "Layer norm subtracts the mean and divides by the root of the variance.",
            lambda X, gamma, beta, eps: (
                gamma * (X - X.min(-1, keepdims=True)) / (np.ptp(X, axis=-1, keepdims=True) + eps)
                + beta
            ),
        ),
        Mistake(
            "median instead of mean",
            "The mean of the features is subtracted.",
            lambda X, gamma, beta, eps: (
                gamma
                * (X - np.median(X, axis=-1, keepdims=True))
                / np.sqrt(X.var(-1, keepdims=True) + eps)
                + beta
            ),
        ),
        Mistake(
            "absolute deviation instead of the root of the variance",
            "The spread is the root of the mean square, not the mean of the absolute values.",
            lambda X, gamma, beta, eps: (
                gamma
                * (X - X.mean(-1, keepdims=True))
                / (abs(X - X.mean(-1, keepdims=True)).mean(-1, keepdims=True) + eps)
                + beta
            ),
        ),
        Mistake(
            "variance without subtracting the mean",
            "The mean square of X was taken for the variance. The mean is subtracted first, there "
            "too.",
            lambda X, gamma, beta, eps: (
                gamma
                * (X - X.mean(-1, keepdims=True))
                / np.sqrt((X**2).mean(-1, keepdims=True) + eps)
                + beta
            ),
        ),
        Mistake(
            "normalised twice",
            "Once is enough.",
            lambda X, gamma, beta, eps: _norm(_norm(X, gamma, beta, eps), gamma, beta, eps),
        ),
        Mistake(
            "1 + gamma instead of gamma",
            "The normalised values are stretched by gamma itself.",
            lambda X, gamma, beta, eps: _norm(X, 1 + gamma, beta, eps),
        ),
    ),
)


EXERCISES = (layer_norm,)
