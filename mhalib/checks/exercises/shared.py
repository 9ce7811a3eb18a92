"""What the exercises of several lessons share: names of mistakes, and the wrong steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import REFERENCE, Function, normal

Array = NDArray[Any]
ROWS, LEAK = (
    "the rows of weights do not sum to 1",
    "a change to the last token changes earlier outputs",
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
RESHAPED_KEYS = (
    "reshape instead of a transpose",
    "A reshape fills the numbers, read row by row, into another shape: the rows are torn apart. "
    "The transpose makes columns of them.",
)
SWAPPED = (
    "Q and K swapped",
    "Rows belong to the queries, columns to the keys: Q Kᵀ. K Qᵀ is its transpose.",
)
NO_TRANSPOSE = (
    "Kᵀ missing",
    "Each query is multiplied with each key: rows with rows. Q @ K takes columns of K, "
    "which are features of different tokens.",
)
SCALES: tuple[tuple[str, str, Any], ...] = (
    (
        "no scale",
        "The scores were not divided by √d_k. Their spread grows with d_k, and the softmax "
        "becomes nearly one-hot.",
        lambda d_k: 1.0,
    ),
    (
        "divided by d_k",
        "Too flat. The divisor is √d_k, its root. (Dividing Q and K both by √d_k comes to "
        "the same.)",
        lambda d_k: 1 / d_k,
    ),
    (
        "d_k ** 1/2 is half of d_k",
        "Powers come before division: d_k ** 1/2 is (d_k ** 1) / 2, and a / d ** 1 / 2 is a / d / "
        "2. The "
        "root needs brackets.",
        lambda d_k: 1 / d_k / 2,
    ),
    (
        "d_k ** 1/2 is half of d_k",
        "Powers come before division: d_k ** 1/2 is (d_k ** 1) / 2. The root needs brackets.",
        lambda d_k: 2 / d_k,
    ),
    (
        "the root cut to a whole number",
        "√d_k is rarely a whole number: divide by it as it is.",
        lambda d_k: 1 / int(d_k**0.5),
    ),
    (
        "the logarithm of d_k instead of its root",
        "The divisor is √d_k.",
        lambda d_k: 1 / math.log(d_k + 1e-300) if d_k > 1 else math.inf,
    ),
    (
        "the cube root of d_k",
        "The divisor is √d_k, the square root.",
        lambda d_k: d_k ** (-1 / 3),
    ),
    (
        "multiplied by d_k",
        "Much too sharp: the scores are divided by √d_k, not multiplied.",
        lambda d_k: d_k,
    ),
    (
        "divided by the fourth root of d_k",
        "The divisor of a score is √d_k. (The fourth root is right only if Q and K are both "
        "divided by it.)",
        lambda d_k: d_k**-0.25,
    ),
    ("divided by d_k²", "Far too flat: the divisor is √d_k.", lambda d_k: d_k**-2.0),
    ("multiplied by √d_k", "Too sharp: the scores are divided by √d_k, not multiplied.", math.sqrt),
)


def scaled(Q: Array, K: Array, factor: Any = lambda d_k: d_k**-0.5) -> Array:
    return Q @ K.swapaxes(-1, -2) * factor(Q.shape[-1])


def torn(Q: Array, K: Array) -> Array:
    """Q Kᵀ, with a reshape for the transpose."""
    return Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])


def plain(S: Array, axis: int = -1) -> Array:
    """Softmax without a rule for empty rows: they become NaN."""
    exp = np.exp(S - S.max(axis=axis, keepdims=True))
    return exp / exp.sum(axis=axis, keepdims=True)


def fill(value: float) -> Function:
    return lambda S, mask: plain(np.where(mask, S, value))


def inverted(S: Array, mask: Array) -> Array:
    return plain(np.where(mask, -np.inf, S))


def inverted_with_rule(S: Array, mask: Array) -> Array:
    return mhalib.attention_weights(S, ~mask)


def ignored(S: Array, mask: Array) -> Array:
    return plain(S)


# Wrong ways to apply a mask, shared by `attention_weights`, `attention` and `multi_head_attention`
MASKINGS: tuple[tuple[str, str, Function, str], ...] = (
    (
        "masked score set to 0",
        "A score of 0 is an ordinary score, exp(0) = 1. What is masked still gets a share. "
        "−∞ gets none.",
        fill(0.0),
        LEAK,
    ),
    (
        "mask added as a bias",
        "Adding 1 to the allowed scores only makes them a little likelier. What is masked "
        "still gets a share.",
        lambda S, mask: plain(S + mask),
        LEAK,
    ),
    (
        "mask after the softmax",
        "The shares were handed out first, to the masked keys too, and then some were "
        "deleted. The rest no longer sums to 1. Mask the scores.",
        lambda S, mask: plain(S) * mask,
        ROWS,
    ),
    (
        "mask inverted",
        "True means may attend. Here the allowed keys were hidden and the others seen.",
        inverted,
        LEAK,
    ),
    (
        "0 times ∞",
        "0 · ∞ is not 0: it is NaN. Choose between the score and −∞ instead of calculating.",
        lambda S, mask: plain(S + np.where(mask, np.nan, -np.inf)),
        "all weights are NaN",
    ),
    (
        "no softmax",
        "The scores themselves were taken for weights. The weights are their softmax.",
        lambda S, mask: np.where(mask, S, 0),
        ROWS,
    ),
    (
        "not divided by the sum",
        "exp makes the scores positive; each row is still to be divided by its sum.",
        lambda S, mask: np.where(mask, np.exp(S), 0),
        ROWS,
    ),
    (
        "not divided by the sum",
        "The maximum is subtracted, exp taken; each row is still to be divided by its sum.",
        lambda S, mask: np.where(
            mask, np.exp(S - np.where(mask, S, -np.inf).max(-1, keepdims=True)), 0
        ),
        ROWS,
    ),
    (
        "divided by the sum without exp",
        "The scores were divided by their sum. They can be negative: exp comes first.",
        lambda S, mask: np.where(mask, S, 0) / np.where(mask, S, 0).sum(axis=-1, keepdims=True),
        REFERENCE,
    ),
    (
        "softmax over everything",
        "All weights together sum to 1. Each row has to.",
        lambda S, mask: np.where(mask, np.exp(S), 0) / np.where(mask, np.exp(S), 0).sum(),
        ROWS,
    ),
    (
        "only the largest score",
        "Each query takes the value of one key alone. The softmax gives each key a share.",
        lambda S, mask: (
            1.0
            * (np.where(mask, S, -np.inf) == np.where(mask, S, -np.inf).max(-1, keepdims=True))
            * mask
        ),
        REFERENCE,
    ),
    (
        "scores ignored",
        "All allowed keys get equal shares, whatever their scores.",
        lambda S, mask: mask / np.maximum(mask.sum(axis=-1, keepdims=True), 1),
        REFERENCE,
    ),
    (
        "sign turned round",
        "The largest score gets the smallest share: the sign is wrong.",
        lambda S, mask: mhalib.attention_weights(-S, mask),
        REFERENCE,
    ),
    (
        "mask inverted",
        "True means may attend. Here the allowed keys were hidden and the others seen.",
        inverted_with_rule,
        LEAK,
    ),
    (
        "mask transposed",
        "Rows of the mask are queries, columns are keys. Here they are exchanged.",
        lambda S, mask: mhalib.attention_weights(S, mask.swapaxes(-1, -2)),
        LEAK,
    ),
    (
        "each token sees itself, whatever the mask says",
        "The mask alone says which keys a query may see, its own included.",
        lambda S, mask: mhalib.attention_weights(S, mask | (np.eye(*S.shape[-2:]) > 0)),
        "a mask that hides a token from itself",
    ),
    ("mask ignored", "The mask plays no part: every key is seen.", ignored, LEAK),
    (
        "softmax over the queries",
        "The columns sum to 1. Each query shares out its attention over the keys, the last axis.",
        lambda S, mask: mhalib.softmax(np.where(mask, S, -np.inf), axis=-2),
        ROWS,
    ),
)


ALL_SEEN = np.ones((1, 1), bool)
