"""Exercises of lesson 3: the causal mask and the padding mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake
from mhalib.checks.exercises.shared import LEAK
from mhalib.checks.properties import N, raw, weigh

Array = NDArray[Any]


def _tri(n_q: int, n_k: int, k: int) -> Array:
    return np.tri(n_q, n_k, k=n_k - n_q + k, dtype=bool)


NUMBERS = (
    "numbers instead of booleans",
    "A mask says yes or no: True = may attend. With numbers nobody knows whether they "
    "are to be added or multiplied.",
)

causal_mask = Exercise(
    "causal_mask(n_q, n_k)",
    (3, "The future is hidden: the causal mask"),
    mhalib.causal_mask,
    cases=(Case(2, 2), Case(3, 3), Case(1, 5), Case(2, 5), Case(3, 2), Case(7, 7)),
    mistakes=(
        Mistake(
            "mask inverted",
            "True means may attend. Here the future is allowed and the past hidden.",
            lambda n_q, n_k: ~_tri(n_q, n_k, 0),
            LEAK,
        ),
        Mistake(
            "diagonal hidden",
            "A token may see itself. Here row 0 sees nothing at all, and its softmax is 0/0.",
            lambda n_q, n_k: _tri(n_q, n_k, -1),
            "row 0 has no allowed key",
        ),
        Mistake(
            "one token too far",
            "Each token also sees the one after it: the triangle is off by one.",
            lambda n_q, n_k: _tri(n_q, n_k, 1),
            LEAK,
        ),
        Mistake(
            "top-left instead of bottom-right",
            "With more keys than queries the queries are the last tokens: the last query sees "
            "the last key. Aligned top-left, a query with a cache sees only the oldest keys.",
            lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool),
            "one query and five keys: only key 0 is seen",
        ),
        Mistake(
            "transposed",
            "Rows are queries, columns keys. Here each token sees itself and the future.",
            lambda n_q, n_k: np.tri(n_k, n_q, k=n_q - n_k, dtype=bool).T,
            LEAK,
        ),
        Mistake(*NUMBERS, lambda n_q, n_k: _tri(n_q, n_k, 0).astype(float)),
        Mistake(
            "an additive mask instead of booleans",
            "0 and −∞ are to be added to scores. This course's masks are booleans, True = may "
            "attend.",
            lambda n_q, n_k: np.where(_tri(n_q, n_k, 0), 0.0, -np.inf),
        ),
        Mistake(
            "everything allowed",
            "No token may see a later one.",
            lambda n_q, n_k: np.ones((n_q, n_k), bool),
            LEAK,
        ),
    ),
    returns="mask",
    trial=lambda f: lambda X, W_V: weigh(raw(X), f(N, N)) @ X @ W_V,
)

_PLACES = np.arange

padding_mask = Exercise(
    "padding_mask(lengths, n_k)",
    (3, "Padding"),
    mhalib.padding_mask,
    cases=(
        Case(np.array([2, 3]), 3),
        Case(np.array([1]), 2),
        Case(np.array([0, 2, 5]), 5),
        Case(np.array([3, 1]), 7),
    ),
    mistakes=(
        Mistake(
            "mask inverted",
            "True means may attend. Here the padding is allowed and the words are hidden.",
            lambda lengths, n_k: (_PLACES(n_k) >= lengths[:, None])[:, None],
            "a change of the padding changes the output",
        ),
        Mistake(
            "one token too far",
            "Places are counted from 0: with length 2, places 0 and 1 are words.",
            lambda lengths, n_k: (_PLACES(n_k) <= lengths[:, None])[:, None],
            "a change of the first padding token changes the output",
        ),
        Mistake(
            "one token too few",
            "With length 2, places 0 and 1 are words. The last word is hidden here.",
            lambda lengths, n_k: (_PLACES(n_k) < lengths[:, None] - 1)[:, None],
        ),
        Mistake(
            "no axis for the queries",
            "The mask must fit scores (batch, n_q, n_k): the axis of the queries, of length 1, "
            "is missing. Without it the batch meets the queries.",
            lambda lengths, n_k: _PLACES(n_k) < lengths[:, None],
        ),
        Mistake(
            "the padding at the left",
            "The words come first, the padding after them.",
            lambda lengths, n_k: (_PLACES(n_k) >= n_k - lengths[:, None])[:, None],
        ),
        Mistake(
            "the queries hidden, not the keys",
            "The axes are exchanged. A mask hides keys, the last axis.",
            lambda lengths, n_k: (_PLACES(n_k) < lengths[:, None])[:, :, None],
        ),
        Mistake(
            *NUMBERS, lambda lengths, n_k: (_PLACES(n_k) < lengths[:, None])[:, None].astype(float)
        ),
    ),
    returns="mask",
)


EXERCISES = (causal_mask, padding_mask)
