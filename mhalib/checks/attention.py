"""Exercises of lessons 3 and 4: scores, softmax, masks, attention."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal
from mhalib.checks.properties import all_of

Array = NDArray[Any]
LESSON, SCALING = "lesson 3, Single-head attention", "lesson 4, Scaling"
ROWS, LEAK = (
    "the rows of weights do not sum to 1",
    "a change of the last token moves earlier outputs",
)

# The first can be done by hand and has as many keys as features, so that a missing transpose
# raises no error; the sizes of the others are distinct primes.
_QK = (
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
NO_TRANSPOSE = ("Kᵀ missing", "Each query is multiplied with each key: rows with rows. Q @ K takes columns of K, "
                "which are features of different tokens.")  # fmt: skip
SCALES = {
    "no scale": ("The scores were not divided by √d_k. Their spread grows with d_k, and the softmax becomes "
                 "nearly one-hot.", lambda d_k: 1.0),
    "divided by d_k": ("Too flat. The divisor is √d_k, its root. (Dividing Q and K both by √d_k comes to the same.)", lambda d_k: 1 / d_k),
    "multiplied by √d_k": ("Too sharp: the scores are divided by √d_k, not multiplied.", math.sqrt),
}  # fmt: skip


def _scores(Q: Array, K: Array, factor: Any = lambda d_k: d_k**-0.5) -> Array:
    return Q @ K.swapaxes(-1, -2) * factor(Q.shape[-1])


raw_scores = Exercise(
    "raw_scores(Q, K)",
    LESSON,
    partial(mhalib.scores, scale=1.0),
    cases=tuple(Case(Q, K) for Q, K in _QK),
    batches=(Case(normal(2, 3, 5), normal(2, 7, 5, seed=1)),),
    mistakes=(
        Mistake(*NO_TRANSPOSE, lambda Q, K: Q @ K),
        Mistake(*SWAPPED, lambda Q, K: K @ Q.swapaxes(-1, -2)),
        Mistake(
            "scaled already",
            "The raw products were asked for; dividing by √d_k is a step of its own.",
            _scores,
        ),
        Mistake(
            "queries against queries",
            "Each query meets the keys. Q Qᵀ compares the queries with each other.",
            lambda Q, K: Q @ Q.swapaxes(-1, -2),
        ),
    ),
    properties=all_of("raw_scores"),
)

scores = Exercise(
    "scores(Q, K)",
    SCALING,
    mhalib.scores,
    cases=tuple(Case(Q, K) for Q, K in _QK),
    batches=(Case(normal(2, 3, 5), normal(2, 7, 5, seed=1)),),
    mistakes=(
        *(
            Mistake(name, why, partial(_scores, factor=factor))
            for name, (why, factor) in SCALES.items()
        ),
        Mistake(*NO_TRANSPOSE, lambda Q, K: Q @ K / math.sqrt(Q.shape[-1])),
        Mistake(*SWAPPED, lambda Q, K: _scores(K, Q)),
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the length of a query, not of the number of keys.",
            lambda Q, K: Q @ K.swapaxes(-1, -2) / math.sqrt(K.shape[-2]),
        ),
    ),
    properties=all_of("scores"),
)


def _no_maximum(x: Array) -> Array:
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)


softmax = Exercise(
    "softmax(x)",
    LESSON,
    mhalib.softmax,
    cases=(
        Case(np.log([1.0, 2.0, 5.0])),
        Case(np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0]])),
        Case(normal(3, 5)),
        Case(np.array([[1000.0, 1000.0], [-1000.0, -1001.0]]), note="large numbers"),
        Case(np.array([0.0, -np.inf, 0.0]), note="a masked score"),
    ),
    batches=(Case(normal(2, 3, 5)), Case(normal(2, 3, 5, 7))),
    batch_needed=True,
    mistakes=(
        Mistake(
            "maximum not subtracted",
            "exp of a large number overflows, and ∞/∞ is NaN. Subtracting the row's maximum first changes no share.",
            _no_maximum,
            "large scores give NaN; shift invariance",
        ),
        Mistake(
            "over the wrong axis",
            "Each row is to be shared out. Here the columns sum to 1.",
            lambda x: mhalib.softmax(x, axis=0),
            ROWS,
        ),
        Mistake(
            "over everything",
            "All entries together sum to 1. Each row has to sum to 1.",
            lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
            ROWS,
        ),
        Mistake("not divided by the sum", "exp makes the numbers positive; their sum is still to be divided by.",
                np.exp, ROWS),
        Mistake("not divided by the sum", "The maximum is subtracted, exp taken; their sum is still to be divided by.",
                lambda x: np.exp(x - x.max(axis=-1, keepdims=True)), ROWS),
        Mistake("exp forgotten", "The numbers were divided by their sum. Scores can be negative: exp comes first.",
                lambda x: x / x.sum(axis=-1, keepdims=True)),
        Mistake("logarithm returned", "These are the logarithms of the shares.", mhalib.log_softmax, ROWS),
        Mistake("sign turned round", "The largest score gets the smallest share: the sign is wrong.",
                lambda x: mhalib.softmax(-x)),
    ),
    properties=all_of("softmax"),
)  # fmt: skip


def _tri(n_q: int, n_k: int, k: int) -> Array:
    return np.tri(n_q, n_k, k=n_k - n_q + k, dtype=bool)


NUMBERS = ("numbers instead of booleans", "A mask says yes or no: True = may attend. With numbers nobody knows "
           "whether they are to be added or multiplied.")  # fmt: skip

causal_mask = Exercise(
    "causal_mask(n_q, n_k)",
    LESSON,
    mhalib.causal_mask,
    cases=(Case(2, 2), Case(3, 3), Case(1, 5), Case(2, 5), Case(3, 2), Case(7, 7)),
    mistakes=(
        Mistake("mask inverted", "True means may attend. Here the future is allowed and the past hidden.",
                lambda n_q, n_k: ~_tri(n_q, n_k, 0), LEAK),
        Mistake("diagonal hidden", "A token may see itself. Here row 0 sees nothing at all, and its softmax is 0/0.",
                lambda n_q, n_k: _tri(n_q, n_k, -1), "row 0 has no allowed key"),
        Mistake("one token too far", "Each token also sees the one after it: the triangle is off by one.",
                lambda n_q, n_k: _tri(n_q, n_k, 1), LEAK),
        Mistake("top-left instead of bottom-right", "With more keys than queries the queries are the last tokens: the "
                "last query sees the last key. Aligned top-left, a query with a cache sees only the oldest keys.",
                lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool), "one query and five keys: only key 0 is seen"),
        Mistake("transposed", "Rows are queries, columns keys. Here each token sees itself and the future.",
                lambda n_q, n_k: np.tri(n_k, n_q, k=n_q - n_k, dtype=bool).T, LEAK),
        Mistake(*NUMBERS, lambda n_q, n_k: _tri(n_q, n_k, 0).astype(float)),
        Mistake("an additive mask instead of booleans", "0 and −∞ are to be added to scores. This course's masks are "
                "booleans, True = may attend.",
                lambda n_q, n_k: np.where(_tri(n_q, n_k, 0), 0.0, -np.inf)),
        Mistake("everything allowed", "No token may see a later one.",
                lambda n_q, n_k: np.ones((n_q, n_k), bool), LEAK),
    ),
    returns="mask",
    properties=all_of("causal_mask"),
)  # fmt: skip

_PLACES = np.arange

padding_mask = Exercise(
    "padding_mask(lengths, n_k)",
    LESSON,
    mhalib.padding_mask,
    cases=(
        Case(np.array([2, 3]), 3),
        Case(np.array([1]), 2),
        Case(np.array([0, 2, 5]), 5),
        Case(np.array([3, 1]), 7),
    ),
    mistakes=(
        Mistake("mask inverted", "True means may attend. Here the padding is allowed and the words are hidden.",
                lambda lengths, n_k: (_PLACES(n_k) >= lengths[:, None])[:, None],
                "a change of the padding changes the output"),
        Mistake("one token too far", "Places are counted from 0: with length 2, places 0 and 1 are words.",
                lambda lengths, n_k: (_PLACES(n_k) <= lengths[:, None])[:, None],
                "a change of the first padding token changes the output"),
        Mistake("one token too few", "With length 2, places 0 and 1 are words. The last word is hidden here.",
                lambda lengths, n_k: (_PLACES(n_k) < lengths[:, None] - 1)[:, None]),
        Mistake("no axis for the queries", "The mask must fit scores (batch, n_q, n_k): the axis of the queries, of "
                "length 1, is missing. Without it the batch meets the queries.",
                lambda lengths, n_k: _PLACES(n_k) < lengths[:, None]),
        Mistake("the padding at the left", "The words come first, the padding after them.",
                lambda lengths, n_k: (_PLACES(n_k) >= n_k - lengths[:, None])[:, None]),
        Mistake("the queries hidden, not the keys", "The axes are exchanged. A mask hides keys, the last axis.",
                lambda lengths, n_k: (_PLACES(n_k) < lengths[:, None])[:, :, None]),
        Mistake(*NUMBERS, lambda lengths, n_k: (_PLACES(n_k) < lengths[:, None])[:, None].astype(float)),
    ),
    returns="mask",
)  # fmt: skip


def _plain(S: Array, axis: int = -1) -> Array:
    """Softmax without a rule for empty rows: they become NaN."""
    exp = np.exp(S - S.max(axis=axis, keepdims=True))
    return exp / exp.sum(axis=axis, keepdims=True)


def _fill(value: float) -> Function:
    return lambda S, mask: _plain(np.where(mask, S, value))


# Wrong ways to apply a mask, shared by `attention_weights`, `attention` and `multi_head_attention`
MASKINGS: dict[str, tuple[str, Function, str]] = {
    "masked score set to 0": (
        "A score of 0 is an ordinary score, exp(0) = 1. What is masked still gets a share. −∞ gets none.",
        _fill(0.0), LEAK),
    "mask added as a bias": (
        "Adding 1 to the allowed scores only makes them a little likelier. What is masked still gets a share.",
        lambda S, mask: _plain(S + mask), LEAK),
    "mask after the softmax": (
        "The shares were handed out first, to the masked keys too, and then some were deleted. The rest no "
        "longer sums to 1. Mask the scores.",
        lambda S, mask: _plain(S) * mask, ROWS),
    "mask inverted": (
        "True means may attend. Here the allowed keys were hidden and the others seen.",
        lambda S, mask: _plain(np.where(mask, -np.inf, S)), LEAK),
    "mask ignored": ("The mask plays no part: every key is seen.", lambda S, mask: _plain(S), LEAK),
    "softmax over the queries": (
        "The columns sum to 1. Each query shares out its attention over the keys, the last axis.",
        lambda S, mask: mhalib.softmax(np.where(mask, S, -np.inf), axis=-2), ROWS),
}  # fmt: skip
_EMPTY = "A row in which everything is masked has nothing to share out. By the course's rule its weights are 0"

_S = (np.log([[1.0, 2.0, 3.0]] * 3), normal(3, 5), normal(5, 7, seed=3), normal(2, 3, seed=4))
_MASKS = (np.tri(3, dtype=bool), np.tri(3, 5, k=2, dtype=bool), np.tri(5, 7, k=2, dtype=bool))
_EMPTY_ROW = np.array([[True, False, True], [False, False, False]])

attention_weights = Exercise(
    "attention_weights(S, mask)",
    LESSON,
    mhalib.attention_weights,
    cases=(
        *(Case(S, mask) for S, mask in zip(_S, _MASKS, strict=False)),
        Case(np.array([[-20000.0, 0.0]]), np.array([[True, False]]), note="a large score"),
        Case(_S[3], _EMPTY_ROW, note="a row with no allowed key"),
    ),
    batches=(Case(normal(2, 3, 5), np.tri(3, 5, k=2, dtype=bool)),),
    mistakes=(
        *(Mistake(name, why, wrong, breaks) for name, (why, wrong, breaks) in MASKINGS.items()),
        Mistake("finite fill", f"The masked scores are large negative numbers, not −∞. {_EMPTY}; here it is uniform. And "
                "a real score can lie below the fill: then the masked key wins.", _fill(-1e4), "a fully masked row"),
        Mistake("finite fill", f"The masked scores are large negative numbers, not −∞. {_EMPTY}; here it is uniform.",
                _fill(-1e9), "a fully masked row"),
        Mistake("empty row is NaN", f"{_EMPTY}. Here it is 0/0, or ∞ − ∞, which is NaN, and NaN spreads.",
                _fill(-np.inf), "a fully masked row"),
    ),
    properties=all_of("attention_weights"),
)  # fmt: skip

ALL_SEEN = np.ones((1, 1), bool)


def _attention(
    Q: Array, K: Array, V: Array, mask: Array = ALL_SEEN, *,
    factor: Any = lambda d_k: d_k**-0.5, masking: Function = mhalib.attention_weights, after: float = 1.0,
) -> Array:  # fmt: skip
    S = _scores(Q, K, factor)
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
    LESSON,
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
        *(Mistake(name, why, partial(_attention, masking=wrong), breaks)
          for name, (why, wrong, breaks) in MASKINGS.items()),
        Mistake("scale after the softmax", "The weights were divided by √d_k, so that the rows sum to 1/√d_k. "
                "The scores have to be divided, before the softmax.",
                lambda Q, K, V, mask=ALL_SEEN: _attention(
                    Q, K, V, mask, factor=lambda d_k: 1.0, after=Q.shape[-1] ** -0.5), ROWS),
        Mistake("K and V swapped", "The queries meet the keys; the weights take the average of the values.",
                lambda Q, K, V, mask=ALL_SEEN: _attention(Q, V, K, mask)),
        Mistake(*SWAPPED, lambda Q, K, V, mask=ALL_SEEN: _attention(K, Q, V, mask)),
        Mistake(*NO_TRANSPOSE, lambda Q, K, V, mask=ALL_SEEN: _attention(Q, K.swapaxes(-1, -2), V, mask)),
        Mistake("no softmax", "The values were multiplied by the scores themselves. The weights are their softmax.",
                partial(_attention, masking=lambda S, mask: np.where(mask, S, 0)), ROWS),
        Mistake("weights returned", "These are the weights. Their product with V was asked for.",
                lambda Q, K, V, mask=ALL_SEEN: _attention(Q, K, np.eye(len(K)), mask)),
        Mistake("weights transposed", "Each row of weights belongs to one query: weights @ V. Here the columns were "
                "used.", lambda Q, K, V, mask=ALL_SEEN: _attention(Q, K, np.eye(len(K)), mask).T @ V, ROWS),
        Mistake("finite fill", f"The masked scores are large negative numbers, not −∞. {_EMPTY}; here the output is the "
                "plain mean of all values.", partial(_attention, masking=_fill(-1e9)), "a fully masked row"),
        Mistake("empty row is NaN", f"{_EMPTY}, and so is the output. Here it is 0/0, which is NaN.",
                partial(_attention, masking=_fill(-np.inf)), "a fully masked row"),
    ),
    properties=all_of("attention"),
)  # fmt: skip

EXERCISES = (raw_scores, softmax, causal_mask, padding_mask, attention_weights, attention, scores)
