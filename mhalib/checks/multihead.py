"""Exercises of lesson 5: split, merge, and multi-head attention as a whole."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.attention import ALL_SEEN, MASKINGS
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal
from mhalib.checks.properties import all_of
from mhalib.checks.scores import LEAK, ROWS, SCALES, SWAPPED

Array = NDArray[Any]
REACH = "the last output does not depend on the first tokens"

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


def _interleaved(X: Array, n_heads: int) -> Array:
    """Head i gets features i, i + h, i + 2h, …"""
    *batch, n, width = X.shape
    return np.moveaxis(X.reshape(*batch, n, width // n_heads, n_heads), -1, -3)


def _token_blocks(X: Array, n_heads: int) -> Array:
    *batch, n, width = X.shape
    return X.reshape(*batch, n, n_heads, width // n_heads)


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
    ),
    batches=(Case(normal(2, 5, 21), 3), Case(normal(2, 3, 7, 10), 2)),
    batch_needed=True,
    mistakes=(
        Mistake(*RESHAPED, bad_split, LEAK),
        Mistake(
            "features interleaved",
            "Head i got every h-th feature. It gets a block of neighbouring ones, so that block"
            " i of the columns of W_Q belongs to head i.",
            _interleaved,
        ),
        Mistake(
            "the head axis is not in front",
            "The blocks are cut rightly, (n, h, d_k). The head comes before the token: (h, n, "
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
    ),
    properties=all_of("split_heads"),
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
    ),
    batches=(Case(normal(2, 3, 5, 7)), Case(normal(2, 3, 7, 5, 2))),
    batch_needed=True,
    mistakes=(
        Mistake(*NOT_TRANSPOSED, bad_merge, LEAK),
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
    ),
    properties=all_of("merge_heads"),
)


def _multi_head(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    W_O: Array,
    n_heads: int,
    mask: Array = ALL_SEEN,
    *,
    split: Function = mhalib.split_heads,
    merge: Function = mhalib.merge_heads,
    roles: str = "QKV",
    factor: Any = lambda d_k, d_model, h: d_k**-0.5,
    masking: Function = mhalib.attention_weights,
    after: Function = lambda d_k: 1.0,
    edit: Function = lambda heads: heads,
    out: Function = lambda W_O: W_O,
) -> Array:
    made = dict(zip("QKV", (split(X @ W, n_heads) for W in (W_Q, W_K, W_V)), strict=True))
    Q, K, V = (made[role] for role in roles)
    d_k = Q.shape[-1]
    S = Q @ K.swapaxes(-1, -2) * factor(d_k, X.shape[-1], n_heads)
    heads = masking(S, np.broadcast_to(mask, S.shape)) * after(d_k) @ V
    O: Array = merge(edit(heads)) @ out(W_O)
    return O


def _no_heads(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int, mask: Array = ALL_SEEN
) -> Array:
    return _multi_head(X, W_Q, W_K, W_V, W_O, 1, mask)


def _averaged(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int, mask: Array = ALL_SEEN
) -> Array:
    """The mean of the heads, and no W_O: as wide as one head."""
    width = W_V.shape[1] // n_heads
    return _multi_head(
        X, W_Q, W_K, W_V, np.eye(width), n_heads, mask, merge=lambda heads: heads.mean(axis=-3)
    )


def _slices(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int, mask: Array = ALL_SEEN
) -> Array:
    """Each head reads, and projects, only its slice of X."""
    xs = np.split(X, n_heads, axis=-1)
    heads = []
    for i, x in enumerate(xs):
        d = x.shape[-1]
        Q, K, V = (x @ W[i * d : (i + 1) * d, i * d : (i + 1) * d] for W in (W_Q, W_K, W_V))
        heads.append(mhalib.attention(Q, K, V, mask=mask))
    return np.concatenate(heads, axis=-1) @ W_O


def _drop_last(heads: Array) -> Array:
    return np.concatenate([heads[..., :-1, :, :], 0 * heads[..., -1:, :, :]], axis=-3)


def _over_heads(S: Array, mask: Array) -> Array:
    exp = np.exp(np.where(mask, S, -np.inf))
    total = exp.sum(axis=-3, keepdims=True)
    return exp / np.where(total == 0, 1, total)


def _weights(n: int, d: int, h: int, d_k: int, d_v: int, *batch: int) -> tuple[Any, ...]:
    shapes = (d, h * d_k), (d, h * d_k), (d, h * d_v), (h * d_v, d)
    return (normal(*batch, n, d), *(normal(*shape, seed=i) for i, shape in enumerate(shapes, 1)), h)


# Two tokens, two heads of one feature each: small enough for paper
_SMALL = (
    np.array([[1.0, 2.0], [3.0, 1.0]]),
    np.array([[1.0, 0.0], [0.0, 1.0]]),
    np.array([[0.0, 1.0], [1.0, 0.0]]),
    np.array([[1.0, 0.0], [1.0, 1.0]]),
    np.array([[1.0, 2.0], [0.0, 1.0]]),
    2,
)
_CAUSAL = {n: np.tri(n, dtype=bool) for n in (2, 3, 5, 7)}
_wrong = partial(partial, _multi_head)

multi_head_attention = Exercise(
    "multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None)",
    (5, "Split, attend, concatenate, mix"),
    lambda X, W_Q, W_K, W_V, W_O, n_heads, mask=None: mhalib.multi_head_attention(
        X, W_Q, W_K, W_V, W_O, n_heads, mask=mask
    ),
    cases=(
        Case(*_SMALL),
        Case(*_SMALL, _CAUSAL[2]),
        Case(*_weights(3, 6, 3, 2, 2), _CAUSAL[3]),
        Case(*_weights(5, 6, 2, 3, 3)),
        Case(*_weights(7, 4, 2, 2, 2), _CAUSAL[7]),
        Case(*_weights(5, 6, 3, 2, 2), _CAUSAL[5]),
        Case(*_weights(7, 11, 3, 2, 5), _CAUSAL[7], note="d_v is not d_k, h·d_v is not d_model"),
    ),
    batches=(Case(*_weights(5, 6, 3, 2, 2, 2), _CAUSAL[5]),),
    mistakes=(
        Mistake(
            "reshaped before transposing, and merged without transposing back",
            "Both steps are wrong, and they partly make up for each other: each head attends "
            "among a few tokens only, so that early tokens cannot reach the end. " + RESHAPED[1],
            _wrong(split=bad_split, merge=bad_merge),
            REACH,
        ),
        Mistake(*RESHAPED, _wrong(split=bad_split), LEAK),
        Mistake(*NOT_TRANSPOSED, _wrong(merge=bad_merge), LEAK),
        Mistake(
            "scale √d_model",
            "Nearly uniform: the queries and keys of a head have d_k features, not d_model. The"
            " divisor is √d_k.",
            _wrong(factor=lambda d_k, d_model, h: d_model**-0.5),
        ),
        Mistake(
            "scale √h",
            "The divisor comes from the width of a head's queries, √d_k, not from the number of"
            " heads.",
            _wrong(factor=lambda d_k, d_model, h: h**-0.5),
        ),
        *(
            Mistake(name, why, _wrong(factor=lambda d_k, d_model, h, f=factor: f(d_k)))
            for name, (why, factor) in SCALES.items()
        ),
        Mistake(
            "scale after the softmax",
            "The weights were divided by √d_k, so that their rows sum to 1/√d_k. The scores "
            "have to be divided, before the softmax.",
            _wrong(factor=lambda d_k, d_model, h: 1.0, after=lambda d_k: d_k**-0.5),
            ROWS,
        ),
        *(
            Mistake(name, why, _wrong(masking=wrong), breaks)
            for name, (why, wrong, breaks) in MASKINGS.items()
        ),
        Mistake(
            "softmax over the heads",
            "Each query of each head shares out its attention over the keys, the last axis. "
            "Here the heads compete for each key.",
            _wrong(masking=_over_heads),
            ROWS,
        ),
        Mistake(
            "K and V swapped",
            "The queries meet the keys; the weights take the average of the values.",
            _wrong(roles="QVK"),
        ),
        Mistake(*SWAPPED, _wrong(roles="KQV")),
        Mistake(
            "W_O left out",
            "The heads stand side by side, and nothing mixes them. The last step is the product"
            " with W_O.",
            _wrong(out=lambda W_O: np.eye(len(W_O))),
        ),
        Mistake(
            "W_O transposed", "Rows are vectors: concat(heads) @ W_O.", _wrong(out=np.transpose)
        ),
        Mistake("a head dropped", "The last head plays no part.", _wrong(edit=_drop_last)),
        Mistake(
            "heads averaged",
            "The heads stand side by side and W_O mixes them. Their mean forgets which said what.",
            _wrong(
                edit=lambda heads: np.broadcast_to(heads.mean(axis=-3, keepdims=True), heads.shape)
            ),
        ),
        Mistake(
            "heads averaged",
            "The heads stand side by side and W_O mixes them. Their mean forgets which said what.",
            _averaged,
        ),
        Mistake(
            "heads averaged",
            "The heads stand side by side, (n, h·d_v), and W_O mixes them. Their mean is too "
            "narrow for W_O.",
            _wrong(merge=lambda heads: heads.mean(axis=-3)),
        ),
        Mistake(
            "each head reads a slice of X",
            "X was cut before the projections, so each head is blind to the other features. "
            "Project all of X, and cut the result.",
            _slices,
        ),
        Mistake(
            "one head", "n_heads plays no part: one wide head attends for all features.", _no_heads
        ),
        Mistake(
            "only the first head",
            "All heads gave the output of the first.",
            _wrong(edit=lambda heads: np.broadcast_to(heads[..., :1, :, :], heads.shape)),
        ),
    ),
    properties=all_of("multi_head_attention"),
)

EXERCISES = (split_heads, merge_heads, multi_head_attention)
