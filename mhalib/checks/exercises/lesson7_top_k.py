"""Exercise of lesson 7: only the k likeliest words."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake, normal

Array = NDArray[Any]


def kept_only(logits: Array, kept: Array, other: float = -np.inf) -> Array:
    filtered = np.full_like(logits, other)
    filtered[kept] = logits[kept]
    return filtered


def ranked(logits: Array) -> Array:
    return np.argsort(-logits, kind="stable")


ZERO = (
    "others set to 0 instead of −∞",
    "A logit of 0 is an ordinary logit, exp(0) = 1. What is cut off needs −∞.",
)

TIES, FAR, NEAR = "equal logits", "logits far below the largest", "nearly equal logits"
LARGE_NEGATIVE = (
    "a large negative number instead of −∞",
    "What is cut off needs probability 0, and only −∞ gives exactly that.",
)


def _draw_k(rng: Generator, i: int) -> Case:
    V = (2, 5, 7, 11, 29, 101)[i % 6]
    k = int(rng.integers(1, V + 1))
    if i % 2:
        return Case(rng.integers(0, 4, V).astype(float), k, note=TIES)
    return Case(apart(rng, V).astype(np.float32 if i % 8 == 2 else np.float64), k)


def apart(rng: Generator, V: int) -> Array:
    """Return V logits, no two of them alike, of both signs."""
    return rng.permutation(V) / 4 - V / 8 + 0.1


top_k_filter = Exercise(
    "top_k_filter(logits, k)",
    (7, "Choosing a word"),
    mhalib.top_k_filter,
    returns="vector",
    cases=(
        Case(np.array([1.0, 3.0, 2.0]), 2),
        Case(np.array([1.0, 3.0, -2.0]), 1),
        Case(normal(11), 3),
        Case(normal(5) - 4, 5),
        Case(np.array([2.0, 2.0, 1.0, 2.0]), 2, note=TIES),
        Case(np.array([0.0, -900.0, -800.0]), 2, note=FAR),
        Case(np.array([1.0, 1.0 + 1e-9, 1.0 - 1e-9]), 1, note=NEAR),
        # not rounded, but with 1e-6 · id subtracted, id 1 would be the largest
        Case(np.array([1.0, 1.00001, *[0.5] * 7, 1.000016]), 1, note=NEAR),
    ),
    draw=_draw_k,
    mistakes=(
        Mistake(*ZERO, lambda logits, k: kept_only(logits, ranked(logits)[:k], 0.0)),
        Mistake(
            "the smallest kept",
            "The k largest logits stay. These are the smallest.",
            lambda logits, k: kept_only(logits, ranked(-logits)[:k]),
        ),
        Mistake(
            "one too many",
            "k tokens stay, here k + 1.",
            lambda logits, k: kept_only(logits, ranked(logits)[: k + 1]),
        ),
        Mistake(
            "one too few",
            "k tokens stay, here k − 1.",
            lambda logits, k: kept_only(logits, ranked(logits)[: k - 1]),
        ),
        Mistake(
            "equal logits let too many in",
            "Several logits equal the k-th largest, and all of them stayed. k tokens stay: "
            "among equals the smaller ids.",
            lambda logits, k: np.where(logits >= np.sort(logits)[-k], logits, -np.inf),
            "equal logits",
        ),
        Mistake(
            "among equals the larger id",
            "Among equal logits the smaller id stays.",
            lambda logits, k: kept_only(logits, np.argsort(logits, kind="stable")[-k:]),
            "equal logits",
        ),
        Mistake(
            "only the kept logits returned",
            "All V places stay, so that a place is still an id. Those cut off get −∞.",
            lambda logits, k: np.sort(logits)[::-1][:k],
        ),
        Mistake(
            "ids returned",
            "These are the ids of the largest logits. The filtered logits were asked for.",
            lambda logits, k: ranked(logits)[:k],
        ),
        *(
            Mistake(
                *LARGE_NEGATIVE,
                lambda logits, k, other=other: kept_only(logits, ranked(logits)[:k], other),
            )
            for other in (-1e9, -1e10, -1e4, -100.0)
        ),
        Mistake(
            "others set to NaN",
            "What is cut off gets −∞, so that its probability is 0.",
            lambda logits, k: kept_only(logits, ranked(logits)[:k], np.nan),
        ),
        Mistake(
            "sorted, places lost",
            "Each logit keeps its place, so that a place is still an id.",
            lambda logits, k: np.where(np.arange(len(logits)) < k, np.sort(logits)[::-1], -np.inf),
        ),
        Mistake(
            "the first k places kept",
            "The k largest logits stay, wherever they stand.",
            lambda logits, k: np.where(np.arange(len(logits)) < k, logits, -np.inf),
        ),
        Mistake(
            "probabilities returned",
            "The filtered logits were asked for; the softmax follows later.",
            lambda logits, k: mhalib.softmax(kept_only(logits, ranked(logits)[:k])),
        ),
        Mistake(
            "the kept ones cut off",
            "The k largest logits stay; the others become −∞. Here it is the other way round.",
            lambda logits, k: kept_only(logits, ranked(logits)[k:]),
        ),
        Mistake(
            "ones instead of the kept logits",
            "A kept logit stays as it is.",
            lambda logits, k: np.where(
                np.isfinite(kept_only(logits, ranked(logits)[:k])), 1.0, 0.0
            ),
        ),
        Mistake(
            "by absolute value",
            "The largest logits stay: a very negative one is small.",
            lambda logits, k: kept_only(logits, ranked(abs(logits))[:k]),
        ),
        Mistake(
            "probabilities compared, not logits",
            "Far below the largest logit, probabilities are rounded to 0, and all are equal. "
            "Compare the logits.",
            lambda logits, k: kept_only(logits, ranked(mhalib.softmax(logits))[:k]),
            FAR,
        ),
        *(
            Mistake(
                "nearly equal logits taken for equal ones",
                "The logits were rounded before they were compared. Compare them as they are.",
                lambda logits, k, rounded=rounded: kept_only(logits, ranked(rounded(logits))[:k]),
                NEAR,
            )
            for rounded in (
                *(partial(np.round, decimals=digits) for digits in (3, 4, 5, 6, 8)),
                np.float32,
            )
        ),
        Mistake(
            "each value counted once",
            "Equal logits are different tokens, and each counts.",
            lambda logits, k: np.where(
                logits >= np.unique(logits)[-min(k, len(np.unique(logits)))], logits, -np.inf
            ),
            TIES,
        ),
    ),
)


EXERCISES = (top_k_filter,)
