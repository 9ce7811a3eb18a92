"""Exercise of lesson 5: multi-head attention as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake
from mhalib.checks.exercises.draws import NO_KEY, draw_heads
from mhalib.checks.exercises.edges import AT_THE_EDGE, at_the_edge
from mhalib.checks.exercises.lesson5_heads import (
    NOT_TRANSPOSED,
    RESHAPED,
    bad_merge,
    bad_split,
    interleaved,
)
from mhalib.checks.exercises.lesson5_steps import (
    MADE,
    averaged,
    drop_last,
    first_masked,
    multi_head,
    no_heads,
    over_heads,
    slices,
    weights,
    with_steps,
)
from mhalib.checks.exercises.shared import (
    ALL_SEEN,
    LEAK,
    MASKINGS,
    ROWS,
    SCALES,
    SWAPPED,
)
from mhalib.checks.properties import CAUSAL, W_O, H, W

Array = NDArray[Any]


# Three tokens, two heads of one feature each: small enough for paper
_SMALL = (
    np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 1.0]]),
    np.array([[1.0, 0.0], [0.0, 1.0]]),
    np.array([[0.0, 1.0], [1.0, 0.0]]),
    np.array([[1.0, 0.0], [1.0, 1.0]]),
    np.array([[1.0, 2.0], [0.0, 1.0]]),
    2,
)
_OUT = np.array([[1.0, 2.0]])
_CAUSAL = {n: np.tri(n, dtype=bool) for n in (3, 5, 7)}


multi_head_attention = Exercise(
    "multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, mask=None)",
    (5, "Split, attend, concatenate, mix"),
    lambda X, W_Q, W_K, W_V, W_O, n_heads, mask=None: mhalib.multi_head_attention(
        X, W_Q, W_K, W_V, W_O, n_heads, mask=mask
    ),
    cases=(
        Case(*_SMALL),
        Case(*_SMALL, _CAUSAL[3]),
        Case(*weights(3, 6, 2, 3, 3), _CAUSAL[3]),
        Case(*weights(5, 6, 2, 3, 3)),
        Case(*weights(7, 4, 2, 2, 2), _CAUSAL[7]),
        Case(*weights(5, 6, 3, 2, 2), _CAUSAL[5]),
        Case(*weights(7, 11, 3, 2, 5), _CAUSAL[7]),
        Case(*weights(1, 5, 2, 3, 2)),
        Case(*_SMALL, np.tri(3, 3, -1, dtype=bool), note=NO_KEY),
        *at_the_edge(lambda X, W_Q, W_K, W_V, mask: (X, W_Q, W_K, W_V, _OUT, 1, mask)),
    ),
    batches=(Case(*weights(5, 6, 3, 2, 2, 2), _CAUSAL[5]),),
    draw=draw_heads,
    masked=True,
    mistakes=(
        Mistake(
            "reshaped before transposing, and merged without transposing back",
            "Both steps are wrong, and they partly make up for each other: each head attends "
            "among a few tokens only, so that early tokens cannot reach the end. " + RESHAPED[1],
            with_steps(split=bad_split, merge=bad_merge),
            "the last output does not depend on the first tokens",
        ),
        Mistake(*RESHAPED, with_steps(split=bad_split), LEAK),
        Mistake(*NOT_TRANSPOSED, with_steps(merge=bad_merge), LEAK),
        Mistake(
            "scale √d_model",
            "Nearly uniform: the queries and keys of a head have d_k features, not d_model. The"
            " divisor is √d_k.",
            with_steps(factor=lambda d_k, d_model, h, n: d_model**-0.5),
        ),
        Mistake(
            "scale √h",
            "The divisor comes from the width of a head's queries, √d_k, not from the number of"
            " heads.",
            with_steps(factor=lambda d_k, d_model, h, n: h**-0.5),
        ),
        *(
            Mistake(name, why, with_steps(factor=lambda d_k, d_model, h, n, f=factor: f(d_k)))
            for name, why, factor in SCALES
        ),
        Mistake(
            "scale after the softmax",
            "The weights were divided by √d_k, so that their rows sum to 1/√d_k. The scores "
            "have to be divided, before the softmax.",
            with_steps(factor=lambda d_k, d_model, h, n: 1.0, after=lambda d_k: d_k**-0.5),
            ROWS,
        ),
        *(
            Mistake(name, why, with_steps(masking=wrong), breaks)
            for name, why, wrong, breaks in MASKINGS
        ),
        Mistake(
            "softmax over the heads",
            "Each query of each head shares out its attention over the keys, the last axis. "
            "Here the heads compete for each key.",
            with_steps(masking=over_heads),
            ROWS,
        ),
        Mistake(
            "K and V swapped",
            "The queries meet the keys; the weights take the average of the values.",
            with_steps(roles="QVK"),
        ),
        Mistake(*SWAPPED, with_steps(roles="KQV")),
        Mistake(
            "W_O left out",
            "The heads stand side by side, and nothing mixes them. The last step is the product"
            " with W_O.",
            with_steps(out=lambda W_O: np.eye(len(W_O))),
        ),
        Mistake(
            "W_O transposed", "Rows are vectors: concat(heads) @ W_O.", with_steps(out=np.transpose)
        ),
        Mistake("a head dropped", "The last head plays no part.", with_steps(edit=drop_last)),
        Mistake(
            "heads averaged",
            "The heads stand side by side and W_O mixes them. Their mean forgets which said what.",
            with_steps(
                edit=lambda heads: np.broadcast_to(heads.mean(axis=-3, keepdims=True), heads.shape)
            ),
        ),
        Mistake(
            "heads averaged",
            "The heads stand side by side and W_O mixes them. Their mean forgets which said what.",
            averaged,
        ),
        Mistake(
            "heads averaged",
            "The heads stand side by side, (n, h·d_v), and W_O mixes them. Their mean is too "
            "narrow for W_O.",
            with_steps(merge=lambda heads: heads.mean(axis=-3)),
        ),
        Mistake(
            "each head reads a slice of X",
            "X was cut before the projections, so each head is blind to the other features. "
            "Project all of X, and cut the result.",
            slices,
        ),
        Mistake(
            "one head", "n_heads plays no part: one wide head attends for all features.", no_heads
        ),
        Mistake(
            "only the first head",
            "All heads gave the output of the first.",
            with_steps(edit=lambda heads: np.broadcast_to(heads[..., :1, :, :], heads.shape)),
        ),
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the width of a head's queries, not of the number of "
            "keys.",
            with_steps(factor=lambda d_k, d_model, h, n: n**-0.5),
        ),
        Mistake(
            "scale √(d_model / h)",
            "The divisor comes from the queries, not from X: a head's queries have d_k features, "
            "which need not be d_model / h.",
            with_steps(factor=lambda d_k, d_model, h, n: (d_model / h) ** -0.5),
        ),
        Mistake(
            "scale √(d_model / h)",
            "The divisor comes from the queries, not from X: a head's queries have d_k features, "
            "which need not be d_model / h.",
            with_steps(factor=lambda d_k, d_model, h, n: max(d_model // h, 1e-9) ** -0.5),
        ),
        Mistake(
            "scale of all heads together",
            "The divisor is √d_k of one head, not the root of the width of all heads together, "
            "h·d_k.",
            with_steps(factor=lambda d_k, d_model, h, n: (d_k * h) ** -0.5),
        ),
        *MADE,
        Mistake(
            "the values are X itself",
            "The values are X W_V, cut into heads.",
            lambda X, W_Q, W_K, W_V, *rest: multi_head(X, W_Q, W_K, np.eye(len(W_V)), *rest),
        ),
        Mistake(
            "residual added here",
            "The sum with X belongs to the block. Here the output O alone was asked for.",
            lambda X, *rest: X + multi_head(X, *rest),
        ),
        Mistake(
            "features interleaved",
            "Head i got every h-th feature. It gets a block of neighbouring ones.",
            with_steps(split=interleaved),
        ),
        Mistake(
            "heads in reverse order",
            "The block of head 0 comes first.",
            with_steps(edit=lambda heads: heads[..., ::-1, :, :]),
        ),
        Mistake(
            "merged with the features interleaved",
            "Each head keeps its block of neighbouring columns.",
            with_steps(
                merge=lambda heads: np.moveaxis(heads, -3, -1).reshape(
                    *heads.shape[:-3], heads.shape[-2], -1
                )
            ),
        ),
        Mistake(
            "a causal mask of its own",
            "Without a mask every token sees every token. Only the mask that is given hides some.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=ALL_SEEN: multi_head(
                X, W_Q, W_K, W_V, W_O, h, mask & np.tri(X.shape[-2], dtype=bool)
            ),
        ),
        Mistake(
            "a causal mask of its own",
            "Without a mask every token sees every token. Only the mask that is given hides some.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=None: multi_head(
                X, W_Q, W_K, W_V, W_O, h, np.tri(X.shape[-2], dtype=bool) if mask is None else mask
            ),
        ),
        Mistake(
            "the mask for the first head only",
            "All heads of a layer have the same mask.",
            with_steps(masking=first_masked),
            LEAK,
        ),
        Mistake(
            "heads added, each with the first block of W_O",
            "Each head has a block of rows of W_O of its own.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=ALL_SEEN: multi_head(
                X, W_Q, W_K, W_V, np.tile(W_O[: len(W_O) // h], (h, 1)), h, mask
            ),
        ),
        Mistake(
            "W_O applied twice",
            "The last step is one product with W_O.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=ALL_SEEN: (
                multi_head(X, W_Q, W_K, W_V, W_O, h, mask) @ W_O
            ),
        ),
        *(
            Mistake(name, why, with_steps(masking=wrong), breaks)
            for name, why, wrong, breaks in AT_THE_EDGE
        ),
        Mistake(
            "scale √d_v",
            "The divisor is √d_k: it belongs to queries and keys, not to the values.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=ALL_SEEN: multi_head(
                X, W_Q, W_K, W_V, W_O, h, mask, factor=lambda *_: (W_V.shape[1] / h) ** -0.5
            ),
        ),
        *(
            Mistake(
                "a fixed divisor",
                "The divisor has to be read off the inputs: √d_k.",
                with_steps(factor=lambda *_, c=c: 1 / c),
            )
            for c in (8.0, 2.0, 4.0)
        ),
        Mistake(
            "a causal mask of its own",
            "The mask that is given says who sees whom. Here a causal one took its place.",
            lambda X, W_Q, W_K, W_V, W_O, h, mask=None: multi_head(
                X, W_Q, W_K, W_V, W_O, h, np.tri(X.shape[-2], dtype=bool)
            ),
        ),
    ),
    trial=lambda f: lambda X, W_V: f(X, *W[:2], W_V, W_O, H, CAUSAL),
)


EXERCISES = (multi_head_attention,)
