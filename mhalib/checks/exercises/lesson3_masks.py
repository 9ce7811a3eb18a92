"""Exercises of lesson 3: the causal mask and the padding mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
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


def _mask_case(n_q: int, n_k: int) -> Case:
    return Case(n_q, n_k, note="more queries than keys" * (n_q > n_k))


MANY = Case(3, 1031, note="many keys"), Case(301, 2, note="many queries")


def _draw_causal(rng: Generator, i: int) -> Case:
    return _mask_case(int(rng.integers(1, 9)), int(rng.integers(1, 9)))


causal_mask = Exercise(
    "causal_mask(n_q, n_k)",
    (3, "The future is hidden: the causal mask"),
    mhalib.causal_mask,
    cases=(Case(2, 2), Case(3, 3), Case(1, 5), Case(2, 5), Case(7, 7), _mask_case(3, 2), *MANY),
    draw=_draw_causal,
    masked=True,
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
            "the last key. Aligned top-left, the newest query does not see the newest keys.",
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
        Mistake(
            "shifted to the wrong side",
            "With fewer queries than keys the triangle moves to the right, so that the last query "
            "sees the last key.",
            lambda n_q, n_k: np.tri(n_q, n_k, k=n_q - n_k, dtype=bool),
        ),
        Mistake(
            "shifted one token too few",
            "The first query is token number n_k − n_q, and sees itself too.",
            lambda n_q, n_k: np.tri(n_q, n_k, k=max(n_k - n_q - 1, 0), dtype=bool),
        ),
        Mistake(
            "only the token itself",
            "A token sees itself and all before it.",
            lambda n_q, n_k: np.eye(n_q, n_k, k=n_k - n_q, dtype=bool),
        ),
        Mistake(
            "only the token itself",
            "A token sees itself and all before it.",
            lambda n_q, n_k: np.eye(n_q, n_k, dtype=bool),
        ),
        Mistake(
            "the future only",
            "True means may attend: what comes later is hidden. Here the future is allowed.",
            lambda n_q, n_k: np.triu(np.ones((n_q, n_k), bool)),
            LEAK,
        ),
        Mistake(
            "the future only",
            "True means may attend: what comes later is hidden. Here the future is allowed.",
            lambda n_q, n_k: np.triu(np.ones((n_q, n_k), bool), 1),
            LEAK,
        ),
        Mistake(
            "as if there were as many queries as keys",
            "There are n_q rows, one for each query, and n_k columns.",
            lambda n_q, n_k: np.tri(n_q, dtype=bool),
        ),
        Mistake(
            "as if there were as many queries as keys",
            "There are n_q rows, one for each query, and n_k columns.",
            lambda n_q, n_k: np.tri(n_k, dtype=bool),
        ),
        Mistake(
            "queries and keys exchanged",
            "Rows are queries, columns keys: the shape is (n_q, n_k).",
            lambda n_q, n_k: np.tri(n_k, n_q, k=n_q - n_k, dtype=bool),
        ),
        Mistake(
            "queries and keys exchanged",
            "Rows are queries, columns keys: the shape is (n_q, n_k).",
            lambda n_q, n_k: _tri(n_q, n_k, 0).T,
        ),
        Mistake(
            "queries and keys exchanged",
            "Rows are queries, columns keys: the shape is (n_q, n_k).",
            lambda n_q, n_k: np.tri(n_k, n_q, dtype=bool),
        ),
        Mistake(*NUMBERS, lambda n_q, n_k: np.tri(n_q, n_k)),
        Mistake(*NUMBERS, lambda n_q, n_k: np.tri(n_q, n_k, k=1)),
        Mistake(*NUMBERS, lambda n_q, n_k: 1.0 - _tri(n_q, n_k, 0)),
        Mistake(
            "an additive mask instead of booleans",
            "0 and a large negative number are to be added to scores. This course's masks are "
            "booleans, True = may attend.",
            lambda n_q, n_k: np.where(_tri(n_q, n_k, 0), 0.0, -1e9),
        ),
        Mistake(
            "an additive mask instead of booleans",
            "0 and −∞ are to be added to scores. This course's masks are booleans, True = may "
            "attend.",
            lambda n_q, n_k: np.where(np.tri(n_q, n_k), 0.0, -np.inf),
        ),
        Mistake(
            "nothing allowed",
            "A token sees itself and all before it.",
            lambda n_q, n_k: np.zeros((n_q, n_k), bool),
        ),
        Mistake(
            "a query before all keys sees something",
            "With more queries than keys the first ones stand before all keys: they see none. The "
            "last query still sees the last key.",
            lambda n_q, n_k: np.tri(n_q, n_k, k=max(n_k - n_q, 0), dtype=bool),
            "more queries than keys",
        ),
        Mistake(
            "rows in reverse order",
            "The first query sees the fewest keys, the last query all of them. Here it is the "
            "other way round.",
            lambda n_q, n_k: _tri(n_q, n_k, 0)[::-1],
            LEAK,
        ),
        Mistake(
            "the offset without its sign",
            "With more queries than keys the triangle moves to the other side.",
            lambda n_q, n_k: np.tri(n_q, n_k, k=abs(n_k - n_q), dtype=bool),
            "more queries than keys",
        ),
    ),
    returns="mask",
    trial=lambda f: lambda X, W_V: weigh(raw(X), f(N, N)) @ X @ W_V,
)

_PLACES = np.arange


def _draw_padding(rng: Generator, i: int) -> Case:
    n_k = int(rng.integers(1, 9))
    return Case(rng.integers(0, n_k + 1, 1 + i % 5), n_k)


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
    draw=_draw_padding,
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
            "a change to the first padding token changes the output",
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
        Mistake(
            "one axis too many",
            "The mask has one axis for the queries: (batch, 1, n_k). The axis of the heads is "
            "added later.",
            lambda lengths, n_k: (_PLACES(n_k) < lengths[:, None])[:, None, None],
        ),
        Mistake(
            "queries hidden, too",
            "A mask hides keys. What a query of the padding sees does no harm: (batch, 1, n_k) is "
            "enough.",
            lambda lengths, n_k: (
                (_PLACES(n_k) < lengths[:, None])[:, None]
                & (_PLACES(n_k) < lengths[:, None])[:, :, None]
            ),
        ),
        Mistake(
            "one row for each query",
            "One row serves all queries: (batch, 1, n_k).",
            lambda lengths, n_k: np.repeat((_PLACES(n_k) < lengths[:, None])[:, None], n_k, axis=1),
        ),
        Mistake(
            "an additive mask instead of booleans",
            "0 and −∞ are to be added to scores. This course's masks are booleans, True = may "
            "attend.",
            lambda lengths, n_k: np.where(_PLACES(n_k) < lengths[:, None], 0.0, -np.inf)[:, None],
        ),
        Mistake(
            "only the last word allowed",
            "All places before the length are words.",
            lambda lengths, n_k: (_PLACES(n_k) == lengths[:, None] - 1)[:, None],
        ),
    ),
    returns="mask",
)


EXERCISES = (causal_mask, padding_mask)
