"""Exercises of lessons 3 and 4: scores and softmax."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake, normal
from mhalib.checks.properties import all_of

Array = NDArray[Any]
ROWS, LEAK = (
    "the rows of weights do not sum to 1",
    "a change of the last token moves earlier outputs",
)

# The first can be done by hand and has as many keys as features, so that a missing transpose
# raises no error; the sizes of the others are distinct primes.
_QK = (
    (np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]])),
    (normal(3, 3), normal(3, 3, seed=1)),
    (normal(3, 2), normal(5, 2, seed=1)),
    (normal(2, 7), normal(3, 7, seed=1)),
)

# Names shared by `scores`, `attention` and `multi_head_attention`
SWAPPED = (
    "Q and K swapped",
    "Rows belong to the queries, columns to the keys: Q Kᵀ. K Qᵀ is its transpose.",
)
NO_TRANSPOSE = (
    "Kᵀ missing",
    "Each query is multiplied with each key: rows with rows. Q @ K takes columns of K, "
    "which are features of different tokens.",
)
SCALES = {
    "no scale": (
        "The scores were not divided by √d_k. Their spread grows with d_k, and the softmax "
        "becomes nearly one-hot.",
        lambda d_k: 1.0,
    ),
    "divided by d_k": (
        "Too flat. The divisor is √d_k, its root. (Dividing Q and K both by √d_k comes to "
        "the same.)",
        lambda d_k: 1 / d_k,
    ),
    "multiplied by √d_k": ("Too sharp: the scores are divided by √d_k, not multiplied.", math.sqrt),
}


def scaled(Q: Array, K: Array, factor: Any = lambda d_k: d_k**-0.5) -> Array:
    return Q @ K.swapaxes(-1, -2) * factor(Q.shape[-1])


raw_scores = Exercise(
    "raw_scores(Q, K)",
    (3, "The score of one pair, by hand"),
    partial(mhalib.scores, scale=1.0),
    cases=tuple(Case(Q, K) for Q, K in _QK),
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
    properties=all_of("raw_scores"),
)

scores = Exercise(
    "scores(Q, K)",
    (4, "Why: variances add"),
    mhalib.scores,
    cases=tuple(Case(Q, K) for Q, K in _QK),
    batches=(Case(normal(2, 3, 5), normal(2, 7, 5, seed=1)),),
    mistakes=(
        *(
            Mistake(name, why, partial(scaled, factor=factor))
            for name, (why, factor) in SCALES.items()
        ),
        Mistake(*NO_TRANSPOSE, lambda Q, K: Q @ K / math.sqrt(Q.shape[-1])),
        Mistake(*SWAPPED, lambda Q, K: scaled(K, Q)),
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the length of a query, not of the number of keys.",
            lambda Q, K: Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-2]),
        ),
    ),
    properties=all_of("scores"),
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
    properties=all_of("softmax"),
)


EXERCISES = (raw_scores, softmax, scores)
