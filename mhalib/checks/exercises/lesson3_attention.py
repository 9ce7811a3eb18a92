"""Exercises of lesson 3: masked weights, and attention as a whole."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal, numbers, sizes
from mhalib.checks.exercises.draws import LARGE, NO_KEY, draw_mask
from mhalib.checks.exercises.edges import AT_THE_EDGE, at_the_edge
from mhalib.checks.exercises.shared import (
    ALL_SEEN,
    MASKINGS,
    NO_TRANSPOSE,
    ROWS,
    SCALES,
    SWAPPED,
    ignored,
    inverted,
    inverted_with_rule,
    scaled,
)
from mhalib.checks.properties import CAUSAL, W, raw

Array = NDArray[Any]


_S = (np.log([[1.0, 2.0, 3.0]] * 3), normal(3, 5), normal(5, 7, seed=3), normal(2, 3, seed=4))
_MASKS = (np.tri(3, dtype=bool), np.tri(3, 5, k=2, dtype=bool), np.tri(5, 7, k=2, dtype=bool))
_EMPTY_ROW = np.array([[True, False, True], [False, False, False]])


def _draw_weights(rng: Generator, i: int) -> Case:
    n_q, n_k = sizes(rng, 2)
    mask = draw_mask(rng, i, n_q, n_k)
    S = numbers(rng, 0 if i % 3 == 2 else i, n_q, n_k)
    if not mask.any(axis=-1).all():
        return Case(S, mask, note=NO_KEY)
    if i % 6 == 2:
        return Case((S * 2).round() * 2.0**9, mask, note=LARGE)
    return Case(S, mask)


attention_weights = Exercise(
    "attention_weights(S, mask)",
    (3, "Softmax, then the average of the values"),
    mhalib.attention_weights,
    cases=(
        *(Case(S, mask) for S, mask in zip(_S, _MASKS, strict=False)),
        Case(_S[3], _EMPTY_ROW, note=NO_KEY),
        Case(np.array([[-20000.0, 0.0]]), np.array([[True, False]]), note=LARGE),
        Case(np.array([[0.0, 800.0]]), np.array([[True, False]]), note="a large hidden score"),
        Case(np.array([[800.0, 0.0]]), np.array([[True, True]]), note=LARGE),
        *at_the_edge(lambda X, W_Q, W_K, W_V, mask: (scaled(X @ W_Q, X @ W_K), mask)),
    ),
    batches=(Case(normal(2, 3, 5), np.tri(3, 5, k=2, dtype=bool)),),
    draw=_draw_weights,
    masked=True,
    shares=True,
    mistakes=(
        *(Mistake(name, why, wrong, breaks) for name, why, wrong, breaks in MASKINGS),
        *(Mistake(*mistake) for mistake in AT_THE_EDGE),
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
    if mask is ALL_SEEN and masking in (inverted, inverted_with_rule):
        masking = ignored
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
    Mistake(name, why, partial(_attention, factor=factor)) for name, why, factor in SCALES
)


def _causal(Q: Array, K: Array) -> Array:
    return np.tri(len(Q), len(K), dtype=bool)


def _draw_attention(rng: Generator, i: int) -> Case:
    n_q, n_k, d_k, d_v = sizes(rng, 4)
    kind = 0 if i % 3 == 2 else i  # special ones in float64
    Q, K, V = (numbers(rng, kind, *n) for n in ((n_q, d_k), (n_k, d_k), (n_k, d_v)))
    if i % 4 == 0:
        return Case(Q, K, V)
    mask = draw_mask(rng, i, n_q, n_k)
    if not mask.any(axis=-1).all():
        return Case(Q, K, V, mask, note=NO_KEY)
    if i % 6 == 2:
        return Case((2 * Q).round() * 2.0**9, (2 * K).round(), V, mask, note=LARGE)
    return Case(Q, K, V, mask)


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
        Case(*_qkv(1, 3, 5, 2)),
        Case(*_qkv(2, 3, 5, 7), _EMPTY_ROW, note=NO_KEY),
        *at_the_edge(lambda X, W_Q, W_K, W_V, mask: (X @ W_Q, X @ W_K, X @ W_V, mask)),
    ),
    batches=(Case(*_qkv(3, 5, 7, 2, 2)), Case(*_qkv(3, 5, 7, 2, 2), np.tri(3, 5, k=2, dtype=bool))),
    draw=_draw_attention,
    masked=True,
    mistakes=(
        *ATTENTION_SCALES,
        *(
            Mistake(name, why, partial(_attention, masking=wrong), breaks)
            for name, why, wrong, breaks in MASKINGS
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
        *(
            Mistake(name, why, partial(_attention, masking=wrong), breaks)
            for name, why, wrong, breaks in AT_THE_EDGE
        ),
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the length of a query, not of the number of keys.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(
                Q, K, V, mask, factor=lambda d: len(K) ** -0.5
            ),
        ),
        Mistake(
            "scale √d_v",
            "The divisor is √d_k: it belongs to queries and keys, not to the values.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(
                Q, K, V, mask, factor=lambda d: V.shape[-1] ** -0.5
            ),
        ),
        Mistake(
            "keys taken as values",
            "The weights take the average of the values, V.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(Q, K, K, mask),
        ),
        Mistake(
            "a causal mask of its own",
            "Without a mask every query sees every key. Only the mask that is given hides some.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(
                Q, K, V, mask & np.tri(len(Q), len(K), dtype=bool)
            ),
        ),
        Mistake(
            "a causal mask of its own",
            "Without a mask every query sees every key. Only the mask that is given hides some.",
            lambda Q, K, V, mask=None: _attention(Q, K, V, _causal(Q, K) if mask is None else mask),
        ),
        Mistake(
            "a causal mask of its own",
            "The mask that is given says who sees whom. Here a causal one took its place.",
            lambda Q, K, V, mask=None: _attention(Q, K, V, _causal(Q, K)),
        ),
        Mistake(
            "residual added here",
            "The sum with the stream belongs to the block. Attention returns the averages alone.",
            lambda Q, K, V, mask=ALL_SEEN: Q + _attention(Q, K, V, mask),
        ),
        Mistake(
            "residual added here",
            "The sum with the stream belongs to the block. Attention returns the averages alone.",
            lambda Q, K, V, mask=ALL_SEEN: V + _attention(Q, K, V, mask),
        ),
        Mistake(
            "scaled twice",
            "The scores were divided by √d_k, and the weights again.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(Q, K, V, mask, after=Q.shape[-1] ** -0.5),
            ROWS,
        ),
        Mistake(
            "queries against queries",
            "Each query meets the keys. Q Qᵀ compares the queries with each other.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(Q, Q, V, mask),
        ),
        *(
            Mistake(
                "a fixed divisor",
                "The divisor has to be read off the inputs: √d_k.",
                partial(_attention, factor=lambda d_k, c=c: 1 / c),
            )
            for c in (8.0, 2.0, 4.0)
        ),
        Mistake(
            "a causal mask of its own",
            "The mask that is given says who sees whom. Here a causal one took its place.",
            lambda Q, K, V, mask=None: mhalib.attention(Q, K, V, causal=True),
        ),
        Mistake(
            "a causal mask of its own",
            "Without a mask every query sees every key. Only the mask that is given hides some.",
            lambda Q, K, V, mask=ALL_SEEN: _attention(
                Q, K, V, mask & mhalib.causal_mask(len(Q), len(K))
            ),
        ),
        Mistake(
            "a causal mask of its own",
            "Without a mask every query sees every key. Only the mask that is given hides some.",
            lambda Q, K, V, mask=None: _attention(
                Q, K, V, mhalib.causal_mask(len(Q), len(K)) if mask is None else mask
            ),
        ),
    ),
    trial=lambda f: lambda X, W_V: f(X @ W[0], X @ W[1], X @ W_V, CAUSAL),
)


EXERCISES = (attention_weights, attention)
