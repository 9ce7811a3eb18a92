"""Exercise of lesson 4: scores with their divisor."""

from __future__ import annotations

import math
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
    SCALES,
    SWAPPED,
    scaled,
    torn,
)
from mhalib.checks.properties import W, weigh

Array = NDArray[Any]


def _unit(X: Array) -> Array:
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


scores = Exercise(
    "scores(Q, K)",
    (4, "Why: variances add"),
    mhalib.scores,
    cases=tuple(Case(Q, K) for Q, K in QK),
    batches=(Case(normal(2, 3, 5), normal(2, 7, 5, seed=1)),),
    draw=draw_scores,
    mistakes=(
        *(Mistake(name, why, partial(scaled, factor=factor)) for name, why, factor in SCALES),
        Mistake(*NO_TRANSPOSE, lambda Q, K: Q @ K / math.sqrt(Q.shape[-1])),
        Mistake(*RESHAPED_KEYS, lambda Q, K: torn(Q, K) / math.sqrt(Q.shape[-1])),
        Mistake(*SWAPPED, lambda Q, K: scaled(K, Q)),
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the length of a query, not of the number of keys.",
            lambda Q, K: Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-2]),
        ),
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the length of a query, not of the number of queries.",
            lambda Q, K: Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-2]),
        ),
        Mistake(
            "divided by n",
            "The divisor is √d_k, the root of the length of a query.",
            lambda Q, K: Q @ K.swapaxes(-1, -2) / K.shape[-2],
        ),
        Mistake(
            "softmax already",
            "The scores were asked for, before the softmax.",
            lambda Q, K: mhalib.softmax(scaled(Q, K)),
        ),
        Mistake(
            "√ of the whole size",
            "The divisor is √d_k, the root of the length of one query, not of all numbers in Q.",
            lambda Q, K: Q @ K.swapaxes(-1, -2) / math.sqrt(Q.size),
        ),
        Mistake(
            "divided by the lengths of the vectors",
            "That is the cosine. The divisor is √d_k, the same for all.",
            lambda Q, K: scaled(_unit(Q), _unit(K), lambda d_k: 1.0),
        ),
        Mistake(
            "divided by their spread",
            "The divisor is √d_k, whatever the numbers are.",
            lambda Q, K: scaled(Q, K, lambda d_k: 1.0) / scaled(Q, K, lambda d_k: 1.0).std(),
        ),
        Mistake(
            "queries against queries",
            "Each query meets the keys. Q Qᵀ compares the queries with each other.",
            lambda Q, K: scaled(Q, Q),
        ),
        *(
            Mistake(
                "a fixed divisor",
                f"{c:g} is √{c * c:g}. The divisor has to be read off the inputs: √d_k.",
                lambda Q, K, c=c: scaled(Q, K, lambda d_k: 1 / c),
            )
            for c in (8.0, 2.0, 4.0, 16.0, 64.0)
        ),
    ),
    trial=lambda f: lambda X, W_V: weigh(f(X @ W[0], X @ W[1])) @ X @ W_V,
)

EXERCISES = (scores,)
