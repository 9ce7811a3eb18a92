"""Exercise of lesson 3: raw scores."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake, normal
from mhalib.checks.exercises.draws import draw_scores
from mhalib.checks.exercises.shared import (
    NO_TRANSPOSE,
    QK,
    RESHAPED_KEYS,
    SWAPPED,
    scaled,
    torn,
)
from mhalib.checks.properties import W, weigh

Array = NDArray[Any]


def _unit(X: Array) -> Array:
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


raw_scores = Exercise(
    "raw_scores(Q, K)",
    (3, "The score of one pair, by hand"),
    partial(mhalib.scores, scale=1.0),
    cases=tuple(Case(Q, K) for Q, K in QK),
    batches=(Case(normal(2, 3, 5), normal(2, 7, 5, seed=1)),),
    draw=draw_scores,
    mistakes=(
        Mistake(*NO_TRANSPOSE, lambda Q, K: Q @ K),
        Mistake(*RESHAPED_KEYS, torn),
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
        Mistake(
            "keys against keys",
            "Each query meets the keys. K Kᵀ compares the keys with each other.",
            lambda Q, K: K @ K.swapaxes(-1, -2),
        ),
        Mistake(
            "softmax already",
            "The raw products were asked for; the softmax is a step of its own.",
            lambda Q, K: mhalib.softmax(scaled(Q, K, lambda d_k: 1.0)),
        ),
        Mistake(
            "softmax already",
            "The raw products were asked for; the divisor and the softmax are steps of their own.",
            lambda Q, K: mhalib.softmax(scaled(Q, K)),
        ),
        Mistake(
            "cosine instead of dot product",
            "The vectors were brought to length 1. Their lengths count.",
            lambda Q, K: _unit(Q) @ _unit(K).swapaxes(-1, -2),
        ),
        Mistake(
            "divided by d_k",
            "The raw products were asked for, as they are.",
            lambda Q, K: scaled(Q, K, lambda d_k: 1 / d_k),
        ),
        Mistake(
            "distance instead of dot product",
            "A score is a dot product: large where two vectors point the same way.",
            lambda Q, K: np.linalg.norm(Q[:, None] - K, axis=-1),
        ),
        Mistake(
            "query i with key i only",
            "Each query meets every key: n_q times n_k scores.",
            lambda Q, K: (Q * K).sum(axis=-1),
        ),
        Mistake(
            "absolute values",
            "A score may be negative.",
            lambda Q, K: abs(scaled(Q, K, lambda d_k: 1.0)),
        ),
        *(
            Mistake(
                "later keys set to 0",
                "All scores were asked for, of every query with every key. Masks come later.",
                lambda Q, K, k=k: np.tril(scaled(Q, K, lambda d_k: 1.0), k),
            )
            for k in (0, -1)
        ),
        Mistake(
            "distance instead of dot product",
            "A score is a dot product: large where two vectors point the same way.",
            lambda Q, K: -np.linalg.norm(Q[:, None] - K, axis=-1),
        ),
        Mistake(
            "distance instead of dot product",
            "A score is a dot product: large where two vectors point the same way.",
            lambda Q, K: ((Q[:, None] - K) ** 2).sum(axis=-1),
        ),
        Mistake(
            "distance instead of dot product",
            "A score is a dot product: large where two vectors point the same way.",
            lambda Q, K: -((Q[:, None] - K) ** 2).sum(axis=-1),
        ),
        *(
            Mistake(
                "rounded",
                "The scores are wanted as they are, not rounded.",
                lambda Q, K, k=k: scaled(Q, K, lambda d_k: 1.0).round(k),
            )
            for k in (0, 1, 2)
        ),
    ),
    trial=lambda f: lambda X, W_V: weigh(f(X @ W[0], X @ W[1]) / 4) @ X @ W_V,
)


EXERCISES = (raw_scores,)
