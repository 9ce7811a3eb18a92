"""What the exercises of several lessons share: names of mistakes, and the wrong steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Function, normal

Array = NDArray[Any]
ROWS, LEAK = (
    "the rows of weights do not sum to 1",
    "a change of the last token moves earlier outputs",
)

# The first can be done by hand and has as many keys as features, so that a missing transpose
# raises no error; the sizes of the others are distinct primes.
QK = (
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


def _plain(S: Array, axis: int = -1) -> Array:
    """Softmax without a rule for empty rows: they become NaN."""
    exp = np.exp(S - S.max(axis=axis, keepdims=True))
    return exp / exp.sum(axis=axis, keepdims=True)


def fill(value: float) -> Function:
    return lambda S, mask: _plain(np.where(mask, S, value))


# Wrong ways to apply a mask, shared by `attention_weights`, `attention` and `multi_head_attention`
MASKINGS: dict[str, tuple[str, Function, str]] = {
    "masked score set to 0": (
        "A score of 0 is an ordinary score, exp(0) = 1. What is masked still gets a share. "
        "−∞ gets none.",
        fill(0.0),
        LEAK,
    ),
    "mask added as a bias": (
        "Adding 1 to the allowed scores only makes them a little likelier. What is masked "
        "still gets a share.",
        lambda S, mask: _plain(S + mask),
        LEAK,
    ),
    "mask after the softmax": (
        "The shares were handed out first, to the masked keys too, and then some were "
        "deleted. The rest no longer sums to 1. Mask the scores.",
        lambda S, mask: _plain(S) * mask,
        ROWS,
    ),
    "mask inverted": (
        "True means may attend. Here the allowed keys were hidden and the others seen.",
        lambda S, mask: _plain(np.where(mask, -np.inf, S)),
        LEAK,
    ),
    "mask ignored": ("The mask plays no part: every key is seen.", lambda S, mask: _plain(S), LEAK),
    "softmax over the queries": (
        "The columns sum to 1. Each query shares out its attention over the keys, the last axis.",
        lambda S, mask: mhalib.softmax(np.where(mask, S, -np.inf), axis=-2),
        ROWS,
    ),
}
FINITE = "The masked scores are large negative numbers, not −∞."
EMPTY = (
    "A row in which everything is masked has nothing to share out. By the course's rule its "
    "weights are 0"
)

ALL_SEEN = np.ones((1, 1), bool)
