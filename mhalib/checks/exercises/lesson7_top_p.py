"""Exercise of lesson 7: the likeliest words, until they have p together."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal
from mhalib.checks.exercises.lesson7_top_k import (
    LARGE_NEGATIVE,
    TIES,
    ZERO,
    apart,
    kept_only,
    ranked,
)

Array = NDArray[Any]


def _draw_p(rng: Generator, i: int) -> Case:
    """A cut in the middle between two sums, so that rounding cannot move it."""
    V = (2, 5, 7, 11, 32, 3)[i % 6]
    logits = apart(rng, V)
    if i % 3 == 2:
        logits = rng.integers(0, 3, V).astype(float)
    sums = np.cumsum(np.sort(mhalib.softmax(logits))[::-1])
    kept = int(rng.integers(0, len(sums)))
    p = float((sums[kept] + (sums[kept - 1] if kept else 0.0)) / 2)
    if i % 8 == 4:
        return Case(logits + 1024.0, p, note="large logits")
    return Case(logits, p, note=TIES * (i % 3 == 2))


def _top_p(
    logits: Array,
    p: float,
    *,
    shares: Function = mhalib.softmax,
    order: Function = ranked,
    keep: Function = lambda before, share, p: before < p,
    other: float = -np.inf,
) -> Array:
    ids = order(logits)
    share = shares(logits)[ids]
    return kept_only(logits, ids[keep(np.cumsum(share) - share, share, p)], other)


top_p_filter = Exercise(
    "top_p_filter(logits, p)",
    (7, "Choosing a word"),
    mhalib.top_p_filter,
    returns="vector",
    cases=(
        Case(np.log([0.5, 0.3, 0.2]), 0.6),
        Case(np.log([0.1, 0.4, 0.2, 0.3]), 0.65),
        Case(np.log([0.1, 0.7, 0.2]), 0.5),
        Case(normal(11) * 2, 0.9),
        Case(np.log([0.1, 0.5, 0.15, 0.25]), 0.8),
        Case(np.array([2.0, 1.0, 0.0]), 1.0, note="p = 1"),
        Case(np.array([0.0, 0.0]), 0.5, note="a sum that is exactly p"),
        Case(np.zeros(8), 0.25, note="a sum that is exactly p"),
        Case(np.zeros(32), 0.5, note="a sum that is exactly p"),
        Case(np.array([1000.0, 0.0, 999.0]), 0.5, note="large logits"),
    ),
    draw=_draw_p,
    mistakes=(
        Mistake(*ZERO, partial(_top_p, other=0.0)),
        Mistake(
            "stopped before p is reached",
            "The token with which the sum reaches p belongs to the kept ones.",
            partial(_top_p, keep=lambda before, share, p: before + share < p),
        ),
        Mistake(
            "one too many",
            "As soon as the sum reaches p, it is enough. One more token was kept.",
            partial(
                _top_p, keep=lambda before, share, p: np.concatenate([[True], (before < p)[:-1]])
            ),
        ),
        Mistake(
            "each probability compared with p",
            "p limits the sum of the kept probabilities, not each of them.",
            lambda logits, p: np.where(mhalib.softmax(logits) >= p, logits, -np.inf),
        ),
        Mistake(
            "least likely first",
            "The likeliest token comes first.",
            partial(_top_p, order=lambda logits: np.argsort(logits, kind="stable")),
        ),
        Mistake(
            "not sorted",
            "The probabilities were summed in the order of the ids. The likeliest come first.",
            partial(_top_p, order=lambda logits: np.arange(len(logits))),
        ),
        Mistake(
            "the sorted ones chosen, the unsorted ones kept",
            "Which places are kept was found in sorted order, and then used in the order of the "
            "ids. Bring it back to that order first.",
            lambda logits, p: np.where(
                np.isfinite(_top_p(np.sort(logits)[::-1], p)), logits, -np.inf
            ),
        ),
        Mistake(
            "logits summed, not probabilities",
            "Logits are not probabilities: the softmax comes first.",
            partial(_top_p, shares=lambda logits: logits),
        ),
        Mistake(
            "probabilities returned",
            "The filtered logits were asked for; the softmax follows later.",
            lambda logits, p: mhalib.softmax(_top_p(logits, p)),
        ),
        *(
            Mistake(*LARGE_NEGATIVE, partial(_top_p, other=other))
            for other in (-1e9, -1e10, -1e4, -100.0)
        ),
        Mistake(
            "one more where the sum is exactly p",
            "A token stays if those before it have less than p together. Here equal is enough.",
            partial(_top_p, keep=lambda before, share, p: before <= p),
            "a sum that is exactly p",
        ),
        Mistake(
            "among equals the larger id",
            "Among equal logits the smaller id stays.",
            partial(_top_p, order=lambda logits: np.argsort(logits, kind="stable")[::-1]),
            TIES,
        ),
        Mistake(
            "equal logits let too many in",
            "Several logits equal the last one kept, and all of them stayed. Among equals the "
            "smaller "
            "ids stay.",
            lambda logits, p: np.where(
                logits >= logits[np.isfinite(_top_p(logits, p))].min(), logits, -np.inf
            ),
            TIES,
        ),
        Mistake(
            "1 − p taken for p",
            "The kept probabilities sum to p or a little more, not the ones cut off.",
            lambda logits, p: _top_p(logits, 1 - p),
        ),
        Mistake(
            "maximum not subtracted",
            "exp of a large logit overflows. Subtract the maximum first.",
            partial(_top_p, shares=lambda logits: np.exp(logits) / np.exp(logits).sum()),
            "large logits",
        ),
        Mistake(
            "sorted, places lost",
            "Each logit keeps its place, so that a place is still an id.",
            lambda logits, p: np.sort(_top_p(logits, p))[::-1],
        ),
        Mistake(
            "only the kept logits returned",
            "All V places stay, so that a place is still an id. Those cut off get −∞.",
            lambda logits, p: np.sort(logits[np.isfinite(_top_p(logits, p))])[::-1],
        ),
        Mistake(
            "the kept ones cut off",
            "The likeliest stay; the others become −∞. Here it is the other way round.",
            lambda logits, p: np.where(np.isfinite(_top_p(logits, p)), -np.inf, logits),
        ),
        Mistake(
            "one too few",
            "The token with which the sum reaches p belongs to the kept ones. Only the likeliest "
            "is kept in any case.",
            partial(
                _top_p,
                keep=lambda before, share, p: (before + share <= p) | (before == 0),
            ),
        ),
        Mistake(
            "one too few",
            "The token with which the sum reaches p belongs to the kept ones. Only the likeliest "
            "is kept in any case.",
            partial(
                _top_p,
                keep=lambda before, share, p: (before + share < p) | (before == 0),
            ),
        ),
        Mistake(
            "compared with the largest probability",
            "p limits the sum of the kept probabilities.",
            lambda logits, p: np.where(
                mhalib.softmax(logits) >= p * mhalib.softmax(logits).max(), logits, -np.inf
            ),
        ),
        Mistake(
            "each probability compared with p",
            "p limits the sum of the kept probabilities, not each of them.",
            lambda logits, p: np.where(mhalib.softmax(logits) >= 1 - p, logits, -np.inf),
        ),
        *(
            Mistake(
                "the share p of the vocabulary",
                "p is a sum of probabilities, not a share of the words.",
                lambda logits, p, count=count: kept_only(
                    logits, ranked(logits)[: max(1, int(count(p * len(logits))))]
                ),
            )
            for count in (np.ceil, np.floor, np.round)
        ),
    ),
)


EXERCISES = (top_p_filter,)
