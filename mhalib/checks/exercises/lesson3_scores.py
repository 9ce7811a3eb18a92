"""Exercises of lesson 3: raw scores and the softmax."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake, normal
from mhalib.checks.exercises.shared import NO_TRANSPOSE, QK, ROWS, SWAPPED, scaled
from mhalib.checks.properties import CAUSAL, W, raw, weigh

Array = NDArray[Any]

raw_scores = Exercise(
    "raw_scores(Q, K)",
    (3, "The score of one pair, by hand"),
    partial(mhalib.scores, scale=1.0),
    cases=tuple(Case(Q, K) for Q, K in QK),
    batches=(Case(normal(2, 3, 5), normal(2, 7, 5, seed=1)),),
    mistakes=(
        Mistake(*NO_TRANSPOSE, lambda Q, K: Q @ K),
        Mistake(*SWAPPED, lambda Q, K: K @ Q.swapaxes(-1, -2)),
        Mistake(
            "scaled already",
            "The raw products were asked for; dividing by √d_k is a step of its own.",
            scaled,
        ),
        Mistake(
            "queries against queries",
            "Each query meets the keys. Q Qᵀ compares the queries with each other.",
            lambda Q, K: Q @ Q.swapaxes(-1, -2),
        ),
    ),
    trial=lambda f: lambda X, W_V: weigh(f(X @ W[0], X @ W[1]) / 4) @ X @ W_V,
)


def _no_maximum(x: Array) -> Array:
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)


softmax = Exercise(
    "softmax(x)",
    (3, "Softmax, then the average of the values"),
    mhalib.softmax,
    cases=(
        Case(np.log([1.0, 2.0, 5.0])),
        Case(np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0]])),
        Case(normal(3, 5)),
        Case(np.array([[1000.0, 1000.0], [-1000.0, -1001.0]]), note="large numbers"),
        Case(np.array([0.0, -np.inf, 0.0]), note="a masked score"),
    ),
    batches=(Case(normal(2, 3, 5)), Case(normal(2, 3, 5, 7))),
    batch_needed=True,
    mistakes=(
        Mistake(
            "maximum not subtracted",
            "exp of a large number overflows, and ∞/∞ is NaN. Subtracting the row's maximum "
            "first changes no share.",
            _no_maximum,
            "large scores give NaN; shift invariance",
        ),
        Mistake(
            "over the wrong axis",
            "Each row is to be shared out. Here the columns sum to 1.",
            lambda x: mhalib.softmax(x, axis=0),
            ROWS,
        ),
        Mistake(
            "over everything",
            "All entries together sum to 1. Each row has to sum to 1.",
            lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
            ROWS,
        ),
        Mistake(
            "not divided by the sum",
            "exp makes the numbers positive; their sum is still to be divided by.",
            np.exp,
            ROWS,
        ),
        Mistake(
            "not divided by the sum",
            "The maximum is subtracted, exp taken; their sum is still to be divided by.",
            lambda x: np.exp(x - x.max(axis=-1, keepdims=True)),
            ROWS,
        ),
        Mistake(
            "exp forgotten",
            "The numbers were divided by their sum. Scores can be negative: exp comes first.",
            lambda x: x / x.sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "logarithm returned",
            "These are the logarithms of the shares.",
            mhalib.log_softmax,
            ROWS,
        ),
        Mistake(
            "sign turned round",
            "The largest score gets the smallest share: the sign is wrong.",
            lambda x: mhalib.softmax(-x),
        ),
    ),
    trial=lambda f: lambda X, W_V: f(np.where(CAUSAL, raw(X), -np.inf)) @ X @ W_V,
)


EXERCISES = (raw_scores, softmax)
