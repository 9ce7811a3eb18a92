"""Exercises of lesson 3: masked weights, and attention as a whole."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal
from mhalib.checks.exercises.shared import (
    ALL_SEEN,
    EMPTY,
    FINITE,
    MASKINGS,
    NO_TRANSPOSE,
    ROWS,
    SCALES,
    SWAPPED,
    fill,
    scaled,
)
from mhalib.checks.properties import CAUSAL, W, raw

Array = NDArray[Any]


_S = (np.log([[1.0, 2.0, 3.0]] * 3), normal(3, 5), normal(5, 7, seed=3), normal(2, 3, seed=4))
_MASKS = (np.tri(3, dtype=bool), np.tri(3, 5, k=2, dtype=bool), np.tri(5, 7, k=2, dtype=bool))
_EMPTY_ROW = np.array([[True, False, True], [False, False, False]])

attention_weights = Exercise(
    "attention_weights(S, mask)",
    (3, "Softmax, then the average of the values"),
    mhalib.attention_weights,
    cases=(
        *(Case(S, mask) for S, mask in zip(_S, _MASKS, strict=False)),
        Case(np.array([[-20000.0, 0.0]]), np.array([[True, False]]), note="a large score"),
        Case(_S[3], _EMPTY_ROW, note="a row with no allowed key"),
    ),
    batches=(Case(normal(2, 3, 5), np.tri(3, 5, k=2, dtype=bool)),),
    mistakes=(
        *(Mistake(name, why, wrong, breaks) for name, (why, wrong, breaks) in MASKINGS.items()),
        Mistake(
            "finite fill",
            f"{FINITE} {EMPTY}; here they are uniform. And a real score can lie below the fill: "
            "then the masked key wins.",
            fill(-1e4),
            "a fully masked row",
        ),
        Mistake(
            "finite fill",
            f"{FINITE} {EMPTY}; here they are uniform.",
            fill(-1e9),
            "a fully masked row",
        ),
        Mistake(
            "empty row is NaN",
            f"{EMPTY}. Here they are 0/0 or ∞ − ∞, which is NaN, and NaN spreads.",
            fill(-np.inf),
            "a fully masked row",
        ),
    ),
    trial=lambda f: lambda X, W_V: f(raw(X), CAUSAL) @ X @ W_V,
)


def _attention(
    Q: Array,
    K: Array,
    V: Array,
    mask: Array = ALL_SEEN,
    *,
    factor: Any = lambda d_k: d_k**-0.5,
    masking: Function = mhalib.attention_weights,
    after: float = 1.0,
) -> Array:
    S = scaled(Q, K, factor)
    return masking(S, np.broadcast_to(mask, S.shape)) * after @ V


R3 = (np.ones((3, 1)), np.log([[1.0], [2.0], [3.0]]), np.array([[12.0], [24.0], [36.0]]))
_SQUARE = tuple(normal(3, 3, seed=seed) * 2 for seed in (5, 6, 7))


def _qkv(n_q: int, n_k: int, d_k: int, d_v: int, *batch: int) -> tuple[Array, Array, Array]:
    return (
        normal(*batch, n_q, d_k) * 2,
        normal(*batch, n_k, d_k, seed=1),
        normal(*batch, n_k, d_v, seed=2),
    )


ATTENTION_SCALES = tuple(
    Mistake(name, why, partial(_attention, factor=factor)) for name, (why, factor) in SCALES.items()
)

attention = Exercise(
    "attention(Q, K, V, mask=None)",
    (3, "Softmax, then the average of the values"),
    lambda Q, K, V, mask=None: mhalib.attention(Q, K, V, mask=mask),
    cases=(
        Case(*R3, np.tri(3, dtype=bool)),
        Case(*R3),
        Case(*_SQUARE),
        Case(*_SQUARE, np.tri(3, dtype=bool)),
        Case(*_qkv(3, 5, 7, 2), np.tri(3, 5, k=2, dtype=bool)),
        Case(*_qkv(2, 3, 5, 7)),
        Case(*_qkv(2, 3, 5, 7), _EMPTY_ROW, note="a row with no allowed key"),
    ),
    batches=(Case(*_qkv(3, 5, 7, 2, 2)), Case(*_qkv(3, 5, 7, 2, 2), np.tri(3, 5, k=2, dtype=bool))),
    mistakes=(
        *ATTENTION_SCALES,
        *(
            Mistake(name, why, partial(_attention, masking=wrong), breaks)
            for name, (why, wrong, breaks) in MASKINGS.items()
        ),
        Mistake(
            "scale after the softmax",
            "The weights were divided by √d_k, so that the rows sum to 1/√d_k. The scores have "
            "to be divided, before the softmax.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(
                Q, K, V, mask, factor=lambda d_k: 1.0, after=Q.shape[-1] ** -0.5
            ),
            ROWS,
        ),
        Mistake(
            "K and V swapped",
            "The queries meet the keys; the weights take the average of the values.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(Q, V, K, mask),
        ),
        Mistake(*SWAPPED, lambda Q, K, V, mask=ALL_SEEN: _attention(K, Q, V, mask)),
        Mistake(
            *NO_TRANSPOSE, lambda Q, K, V, mask=ALL_SEEN: _attention(Q, K.swapaxes(-1, -2), V, mask)
        ),
        Mistake(
            "no softmax",
            "The values were multiplied by the scores themselves. The weights are their softmax.",
            partial(_attention, masking=lambda S, mask: np.where(mask, S, 0)),
            ROWS,
        ),
        Mistake(
            "weights returned",
            "These are the weights. Their product with V was asked for.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(Q, K, np.eye(len(K)), mask),
        ),
        Mistake(
            "weights transposed",
            "Each row of weights belongs to one query: weights @ V. Here the columns were used.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(Q, K, np.eye(len(K)), mask).T @ V,
            ROWS,
        ),
        Mistake(
            "finite fill",
            f"{FINITE} {EMPTY}; here the output is the plain mean of all values.",
            partial(_attention, masking=fill(-1e9)),
            "a fully masked row",
        ),
        Mistake(
            "empty row is NaN",
            f"{EMPTY}, and so is the output. Here it is 0/0, which is NaN.",
            partial(_attention, masking=fill(-np.inf)),
            "a fully masked row",
        ),
    ),
    trial=lambda f: lambda X, W_V: f(X @ W[0], X @ W[1], X @ W_V, CAUSAL),
)


EXERCISES = (attention_weights, attention)
