"""Exercises of lesson 7: the two cuts of sampling."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal

Array = NDArray[Any]


def _keep(logits: Array, kept: Array, other: float = -np.inf) -> Array:
    filtered = np.full_like(logits, other)
    filtered[kept] = logits[kept]
    return filtered


def _order(logits: Array) -> Array:
    return np.argsort(-logits, kind="stable")


_ZERO = (
    "others set to 0 instead of −∞",
    "A logit of 0 is an ordinary logit, exp(0) = 1. What is cut off needs −∞.",
)

top_k_filter = Exercise(
    "top_k_filter(logits, k)",
    (7, "Choosing a word"),
    mhalib.top_k_filter,
    cases=(
        Case(np.array([1.0, 3.0, 2.0]), 2),
        Case(np.array([1.0, 3.0, -2.0]), 1),
        Case(normal(11), 3),
        Case(normal(5) - 4, 5),
        Case(np.array([2.0, 2.0, 1.0, 2.0]), 2, note="equal logits"),
    ),
    mistakes=(
        Mistake(*_ZERO, lambda logits, k: _keep(logits, _order(logits)[:k], 0.0)),
        Mistake(
            "the smallest kept",
            "The k largest logits stay. These are the smallest.",
            lambda logits, k: _keep(logits, _order(-logits)[:k]),
        ),
        Mistake(
            "one too many",
            "k tokens stay, here k + 1.",
            lambda logits, k: _keep(logits, _order(logits)[: k + 1]),
        ),
        Mistake(
            "one too few",
            "k tokens stay, here k − 1.",
            lambda logits, k: _keep(logits, _order(logits)[: k - 1]),
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
            lambda logits, k: _keep(logits, np.argsort(logits, kind="stable")[-k:]),
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
            lambda logits, k: _order(logits)[:k],
        ),
    ),
)


def _top_p(
    logits: Array,
    p: float,
    *,
    shares: Function = mhalib.softmax,
    order: Function = _order,
    keep: Function = lambda before, share, p: before < p,
    other: float = -np.inf,
) -> Array:
    ids = order(logits)
    share = shares(logits)[ids]
    return _keep(logits, ids[keep(np.cumsum(share) - share, share, p)], other)


top_p_filter = Exercise(
    "top_p_filter(logits, p)",
    (7, "Choosing a word"),
    mhalib.top_p_filter,
    cases=(
        Case(np.log([0.5, 0.3, 0.2]), 0.6),
        Case(np.log([0.1, 0.4, 0.2, 0.3]), 0.65),
        Case(np.log([0.1, 0.7, 0.2]), 0.5),
        Case(normal(11) * 2, 0.9),
        Case(np.log([0.1, 0.5, 0.15, 0.25]), 0.8),
    ),
    mistakes=(
        Mistake(*_ZERO, partial(_top_p, other=0.0)),
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
            "logits summed, not probabilities",
            "Logits are no probabilities: the softmax comes first.",
            partial(_top_p, shares=lambda logits: logits),
        ),
        Mistake(
            "probabilities returned",
            "The filtered logits were asked for; the softmax follows later.",
            lambda logits, p: mhalib.softmax(_top_p(logits, p)),
        ),
    ),
)

EXERCISES = (top_k_filter, top_p_filter)
