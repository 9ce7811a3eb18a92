"""Exercise of lesson 5: multi-head attention as a whole."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal, numbers, sizes
from mhalib.checks.exercises.lesson5_heads import (
    NOT_TRANSPOSED,
    RESHAPED,
    bad_merge,
    bad_split,
    interleaved,
)
from mhalib.checks.exercises.shared import (
    ALL_SEEN,
    AT_THE_EDGE,
    LARGE,
    LEAK,
    MASKINGS,
    NO_KEY,
    ROWS,
    SCALES,
    SWAPPED,
    draw_mask,
    ignored,
    inverted,
)
from mhalib.checks.properties import CAUSAL, W_O, H, W

Array = NDArray[Any]
REACH = "the last output does not depend on the first tokens"


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
    makers: str = "QKV",
    roles: str = "QKV",
    factor: Any = lambda d_k, d_model, h, n: d_k**-0.5,
    masking: Function = mhalib.attention_weights,
    after: Function = lambda d_k: 1.0,
    edit: Function = lambda heads: heads,
    out: Function = lambda W_O: W_O,
) -> Array:
    W = {"Q": W_Q, "K": W_K, "V": W_V}
    made = {role: split(X @ W[maker], n_heads) for role, maker in zip("QKV", makers)}
    Q, K, V = (made[role] for role in roles)
    d_k = Q.shape[-1]
    S = Q @ K.swapaxes(-1, -2) * factor(d_k, X.shape[-1], n_heads, len(K[0]))
    if mask is ALL_SEEN and masking is inverted:
        masking = ignored
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
    heads = []
    d = X.shape[-1] // n_heads
    for i in range(n_heads):
        block = slice(i * d, (i + 1) * d)
        Q, K, V = (X[..., block] @ W[block, block] for W in (W_Q, W_K, W_V))
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


def _draw(rng: Generator, i: int) -> Case:
    n, h, d_k, d_v = sizes(rng, 4)
    d_model = int(rng.choice([13, 17]))
    shapes = (d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v), (h * d_v, d_model)
    kind = 0 if i % 3 == 2 else i  # special ones in float64
    X, *W = (numbers(rng, kind, *shape, scale=0.7) for shape in ((n, d_model), *shapes))
    if i % 4 == 0:
        return Case(X, *W, h)
    mask = draw_mask(rng, i, n, n)
    if not mask.any(axis=-1).all():
        return Case(X, *W, h, mask, note=NO_KEY)
    if i % 6 == 2:
        X, W[0], W[1] = (4 * X).round() * 4, W[0].round(1) * 8, W[1].round(1) * 8
        return Case(X, *W, h, mask, note=LARGE)
    return Case(X, *W, h, mask)


def _first_masked(S: Array, mask: Array) -> Array:
    mask = mask.copy()
    mask[..., 1:, :, :] = True
    return mhalib.attention_weights(S, mask)


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
        Case(*_weights(7, 11, 3, 2, 5), _CAUSAL[7]),
        Case(*_SMALL, np.array([[False, False], [True, True]]), note=NO_KEY),
    ),
    batches=(Case(*_weights(5, 6, 3, 2, 2, 2), _CAUSAL[5]),),
    draw=_draw,
    masked=True,
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
            _wrong(factor=lambda d_k, d_model, h, n: d_model**-0.5),
        ),
        Mistake(
            "scale √h",
            "The divisor comes from the width of a head's queries, √d_k, not from the number of"
            " heads.",
            _wrong(factor=lambda d_k, d_model, h, n: h**-0.5),
        ),
        *(
            Mistake(name, why, _wrong(factor=lambda d_k, d_model, h, n, f=factor: f(d_k)))
            for name, why, factor in SCALES
        ),
        Mistake(
            "scale after the softmax",
            "The weights were divided by √d_k, so that their rows sum to 1/√d_k. The scores "
            "have to be divided, before the softmax.",
            _wrong(factor=lambda d_k, d_model, h, n: 1.0, after=lambda d_k: d_k**-0.5),
            ROWS,
        ),
        *(
            Mistake(name, why, _wrong(masking=wrong), breaks)
            for name, why, wrong, breaks in MASKINGS
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
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the width of a head's queries, not of the number of "
            "keys.",
            _wrong(factor=lambda d_k, d_model, h, n: n**-0.5),
        ),
        Mistake(
            "scale √(d_model / h)",
            "The divisor comes from the queries, not from X: a head's queries have d_k features, "
            "which need not be d_model / h.",
            _wrong(factor=lambda d_k, d_model, h, n: (d_model / h) ** -0.5),
        ),
        Mistake(
            "scale √(d_model / h)",
            "The divisor comes from the queries, not from X: a head's queries have d_k features, "
            "which need not be d_model / h.",
            _wrong(factor=lambda d_k, d_model, h, n: max(d_model // h, 1e-9) ** -0.5),
        ),
        Mistake(
            "scale of all heads together",
            "The divisor is √d_k of one head, not the root of the width of all heads together, "
            "h·d_k.",
            _wrong(factor=lambda d_k, d_model, h, n: (d_k * h) ** -0.5),
        ),
        Mistake("keys made with W_Q", "The keys are X W_K.", _wrong(makers="QQV")),
        Mistake("queries made with W_K", "The queries are X W_Q.", _wrong(makers="KKV")),
        Mistake("values made with W_K", "The values are X W_V.", _wrong(makers="QKK")),
        Mistake("values made with W_Q", "The values are X W_V.", _wrong(makers="QKQ")),
        Mistake(
            "the values are X itself",
            "The values are X W_V, cut into heads.",
            lambda X, W_Q, W_K, W_V, *rest: _multi_head(X, W_Q, W_K, np.eye(len(W_V)), *rest),
        ),
        Mistake(
            "residual added here",
            "The sum with X belongs to the block. Here the output O alone was asked for.",
            lambda X, *rest: X + _multi_head(X, *rest),
        ),
        Mistake(
            "features interleaved",
            "Head i got every h-th feature. It gets a block of neighbouring ones.",
            _wrong(split=interleaved),
        ),
        Mistake(
            "heads in reverse order",
            "The block of head 0 comes first.",
            _wrong(edit=lambda heads: heads[..., ::-1, :, :]),
        ),
        Mistake(
            "merged with the features interleaved",
            "Each head keeps its block of neighbouring columns.",
            _wrong(
                merge=lambda heads: np.moveaxis(heads, -3, -1).reshape(
                    *heads.shape[:-3], heads.shape[-2], -1
                )
            ),
        ),
        Mistake(
            "a causal mask of its own",
            "Without a mask every token sees every token. Only the mask that is given hides some.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=ALL_SEEN: _multi_head(
                X, W_Q, W_K, W_V, W_O, h, mask & np.tri(X.shape[-2], dtype=bool)
            ),
        ),
        Mistake(
            "a causal mask of its own",
            "Without a mask every token sees every token. Only the mask that is given hides some.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=None: _multi_head(
                X, W_Q, W_K, W_V, W_O, h, np.tri(X.shape[-2], dtype=bool) if mask is None else mask
            ),
        ),
        Mistake(
            "the mask for the first head only",
            "All heads of a layer have the same mask.",
            _wrong(masking=_first_masked),
            LEAK,
        ),
        Mistake(
            "heads added, each with the first block of W_O",
            "Each head has a block of rows of W_O of its own.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=ALL_SEEN: _multi_head(
                X, W_Q, W_K, W_V, np.tile(W_O[: len(W_O) // h], (h, 1)), h, mask
            ),
        ),
        Mistake(
            "W_O applied twice",
            "The last step is one product with W_O.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=ALL_SEEN: (
                _multi_head(X, W_Q, W_K, W_V, W_O, h, mask) @ W_O
            ),
        ),
        *(
            Mistake(name, why, _wrong(masking=wrong), breaks)
            for name, why, wrong, breaks in AT_THE_EDGE
        ),
        Mistake(
            "scale √d_v",
            "The divisor is √d_k: it belongs to queries and keys, not to the values.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=ALL_SEEN: _multi_head(
                X, W_Q, W_K, W_V, W_O, h, mask, factor=lambda *_: (W_V.shape[1] / h) ** -0.5
            ),
        ),
        *(
            Mistake(
                "a fixed divisor",
                "The divisor has to be read off the inputs: √d_k.",
                _wrong(factor=lambda *_, c=c: 1 / c),
            )
            for c in (8.0, 2.0, 4.0)
        ),
    ),
    trial=lambda f: lambda X, W_V: f(X, *W[:2], W_V, W_O, H, CAUSAL),
)

EXERCISES = (multi_head_attention,)
