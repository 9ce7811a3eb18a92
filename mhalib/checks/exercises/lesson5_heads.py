"""Exercises of lesson 5: splitting the features into heads, and merging them again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake, normal, numbers, sizes
from mhalib.checks.properties import H, attend_in_heads, merge, split

Array = NDArray[Any]
MIXED = "a change to the last token changes rows that belong to earlier ones"

RESHAPED = (
    "reshaped before transposing",
    "The numbers were read off row by row and filled into heads: your heads mix tokens,"
    " so that head 0 holds only the first tokens. First cut the features of each token "
    "into blocks, an axis of its own; then move that axis to the front.",
)
NOT_TRANSPOSED = (
    "merged without transposing back",
    "The numbers were read off head by head: a row of the result mixes different tokens"
    " of one head. First bring the blocks of one token together, then join them.",
)


def bad_split(X: Array, n_heads: int) -> Array:
    *batch, n, width = X.shape
    return X.reshape(*batch, n_heads, n, width // n_heads)


def bad_merge(heads: Array) -> Array:
    *batch, h, n, d = heads.shape
    return heads.reshape(*batch, n, h * d)


def interleaved(X: Array, n_heads: int) -> Array:
    """Head i gets features i, i + h, i + 2h, …"""
    *batch, n, width = X.shape
    return np.moveaxis(X.reshape(*batch, n, width // n_heads, n_heads), -1, -3)


def _token_blocks(X: Array, n_heads: int) -> Array:
    *batch, n, width = X.shape
    return X.reshape(*batch, n, n_heads, width // n_heads)


def _draw_split(rng: Generator, i: int) -> Case:
    n, h, d_k = sizes(rng, 3)
    return Case(numbers(rng, i, n, h * d_k), h)


def _draw_merge(rng: Generator, i: int) -> Case:
    return Case(numbers(rng, i, *sizes(rng, 3)))


split_heads = Exercise(
    "split_heads(X, n_heads)",
    (5, "The reshape trap"),
    mhalib.split_heads,
    cases=(
        Case(np.array([[0.0, 1, 2, 3], [4, 5, 6, 7]]), 2),
        Case(np.arange(24.0).reshape(2, 12), 3),
        Case(np.arange(9.0).reshape(3, 3), 1),
        Case(normal(7, 15), 5),
        Case(normal(5, 14), 2),
        Case(normal(1, 6), 2),
        Case(normal(3, 2), 2),
    ),
    batches=(
        Case(normal(2, 5, 21), 3),
        Case(normal(2, 3, 7, 10), 2),
        Case(normal(1, 3, 4), 2),
        Case(normal(2, 1, 2, 3, 4), 2),
    ),
    batch_needed=True,
    draw=_draw_split,
    mistakes=(
        Mistake(*RESHAPED, bad_split, MIXED),
        Mistake(
            "features interleaved",
            "Head i got every h-th feature. It gets a block of neighbouring ones, so that block"
            " i of the columns of W_Q belongs to head i.",
            interleaved,
        ),
        Mistake(
            "the head axis is not in front",
            "The blocks are cut correctly, (n, h, d_k). The head comes before the token: (h, n, "
            "d_k), so that X[i] is what head i sees.",
            _token_blocks,
        ),
        Mistake(
            "tokens and features exchanged",
            "Each head came out as (d_k, n), its transpose.",
            lambda X, n_heads: mhalib.split_heads(X, n_heads).swapaxes(-1, -2),
        ),
        Mistake(
            "heads in reverse order",
            "Head 0 takes the first block of features.",
            lambda X, n_heads: mhalib.split_heads(X, n_heads)[..., ::-1, :, :],
        ),
        Mistake(
            "the tokens were split",
            "Each head must see all tokens and its own features. Here each head has some of the"
            " tokens.",
            lambda X, n_heads: np.stack(np.split(X, n_heads, axis=-2)),
        ),
        Mistake(
            "each head gets everything",
            "The features are divided among the heads, d_k for each.",
            lambda X, n_heads: np.stack([X] * n_heads),
        ),
        Mistake(
            "n_heads taken as the width",
            "There are n_heads heads, each d_k = width / n_heads wide. Here it is the other way "
            "round.",
            lambda X, n_heads: mhalib.split_heads(X, X.shape[-1] // n_heads),
        ),
        Mistake(
            "reshaped from the transpose",
            "The features of different tokens were mixed. First cut the features of each token "
            "into "
            "blocks, then move the axis of the heads to the front.",
            lambda X, n_heads: np.swapaxes(X, -1, -2).reshape(n_heads, X.shape[-2], -1),
            MIXED,
        ),
        Mistake(
            "axes moved into the wrong places",
            "The blocks are cut correctly, then the axes were put in another order. It is head, "
            "token, "
            "feature.",
            lambda X, n_heads: _token_blocks(X, n_heads).swapaxes(-1, -3),
        ),
        Mistake(
            "axes moved into the wrong places",
            "The blocks are cut correctly, then the axes were put in another order. It is head, "
            "token, "
            "feature.",
            lambda X, n_heads: _token_blocks(X, n_heads).swapaxes(-1, -2),
        ),
        Mistake(
            "axes moved into the wrong places",
            "The blocks are cut correctly, then the axes were put in another order. It is head, "
            "token, "
            "feature.",
            lambda X, n_heads: np.moveaxis(_token_blocks(X, n_heads), -1, -3),
        ),
        Mistake(
            "only the first head",
            "All heads are wanted, on an axis of their own.",
            lambda X, n_heads: mhalib.split_heads(X, n_heads)[..., 0, :, :],
        ),
    ),
    trial=lambda f: lambda X, W_V: merge(attend_in_heads(X, W_V, lambda X: f(X, H))),
)

merge_heads = Exercise(
    "merge_heads(heads)",
    (5, "The reshape trap"),
    mhalib.merge_heads,
    cases=(
        Case(np.array([[[0.0, 1], [4, 5]], [[2, 3], [6, 7]]])),
        Case(np.arange(24.0).reshape(3, 2, 4)),
        Case(normal(5, 7, 3)),
        Case(normal(2, 5, 7)),
        Case(normal(2, 1, 4)),
        Case(normal(1, 3, 2)),
        Case(normal(2, 3, 1)),
    ),
    batches=(
        Case(normal(2, 3, 5, 7)),
        Case(normal(2, 3, 7, 5, 2)),
        Case(normal(1, 2, 3, 4)),
        Case(normal(2, 1, 2, 2, 3, 4)),
    ),
    batch_needed=True,
    draw=_draw_merge,
    mistakes=(
        Mistake(*NOT_TRANSPOSED, bad_merge, MIXED),
        Mistake(
            "heads averaged",
            "The heads stand side by side, (n, h·d_v). Their mean forgets which head said what.",
            lambda heads: heads.mean(axis=-3),
        ),
        Mistake(
            "heads added",
            "The heads stand side by side, (n, h·d_v). Adding comes later, through W_O.",
            lambda heads: heads.sum(axis=-3),
        ),
        Mistake(
            "features interleaved",
            "The first features of all heads came first, then the second ones. Each head keeps "
            "its block of neighbouring columns.",
            lambda heads: np.moveaxis(heads, -3, -1).reshape(
                *heads.shape[:-3], heads.shape[-2], -1
            ),
        ),
        Mistake(
            "heads stacked along the tokens",
            "The heads were put one below the other, as if they were more tokens. They stand "
            "side by side, along the features.",
            lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1]),
        ),
        Mistake(
            "still separate heads",
            "Each token has its blocks together, (n, h, d_v). They are to be joined into one row.",
            lambda heads: heads.swapaxes(-2, -3),
        ),
        Mistake(
            "still separate heads",
            "These are the heads, as they came. They are to be joined into one row for each token.",
            lambda heads: heads * 1,
        ),
        Mistake(
            "heads in reverse order",
            "The block of head 0 comes first.",
            lambda heads: mhalib.merge_heads(heads[..., ::-1, :, :]),
        ),
        Mistake(
            "only the first head",
            "The blocks of all heads stand side by side.",
            lambda heads: heads[..., 0, :, :],
        ),
        Mistake(
            "tokens and features exchanged",
            "One row for each token: (n, h·d_v). This is its transpose.",
            lambda heads: mhalib.merge_heads(heads).swapaxes(-1, -2),
        ),
        Mistake(
            "axes moved into the wrong places",
            "Before the join the axes must stand as token, head, feature.",
            lambda heads: np.moveaxis(heads, -1, -3).reshape(
                *heads.shape[:-3], heads.shape[-2], -1
            ),
        ),
        Mistake(
            "axes moved into the wrong places",
            "Before the join the axes must stand as token, head, feature.",
            lambda heads: heads.swapaxes(-1, -2).reshape(*heads.shape[:-3], heads.shape[-2], -1),
        ),
        Mistake(
            "axes moved into the wrong places",
            "Before the join the axes must stand as token, head, feature.",
            lambda heads: heads.swapaxes(-1, -3).reshape(*heads.shape[:-3], heads.shape[-2], -1),
        ),
        Mistake(
            "joined without the tokens",
            "Each token keeps a row of its own.",
            lambda heads: heads.reshape(*heads.shape[:-3], -1),
        ),
        Mistake(
            "joined without the tokens",
            "Each token keeps a row of its own.",
            lambda heads: mhalib.merge_heads(heads).reshape(*heads.shape[:-3], -1),
        ),
        Mistake(
            "the largest of the heads",
            "The heads stand side by side, (n, h·d_v).",
            lambda heads: heads.max(axis=-3),
        ),
    ),
    trial=lambda f: lambda X, W_V: f(attend_in_heads(X, W_V, split)),
)

EXERCISES = (split_heads, merge_heads)
