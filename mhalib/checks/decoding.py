"""Exercises of lesson 7: the two cuts, and decoding with a cache."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, Misuse, normal
from mhalib.checks.properties import all_of

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


def _pieces(X: Array, sizes: tuple[int, ...]) -> Iterator[Array]:
    start = 0
    for size in sizes:
        yield X[start : start + size]
        start += size


def _decode(
    step: Function, X: Array, W_Q: Array, W_K: Array, W_V: Array, sizes: tuple[int, ...]
) -> Any:
    """Call the reader's function piece by piece, handing its cache on."""
    cache, outputs = None, []
    for X_new in _pieces(X, sizes):
        answer = step(X_new, W_Q, W_K, W_V, cache)
        if answer is None:
            raise Misuse("It returned a value of type NoneType.")
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise Misuse(
                ". Two things were expected: the outputs of the new tokens, and the cache."
            )
        O, cache = answer
        outputs.append(O)
    return outputs


def _step(
    X: Array,
    W_Q: Array,
    W_K: Array,
    W_V: Array,
    cache: Any,
    *,
    mask: Function = mhalib.causal_mask,
    grow: Function | None = None,
    scale: float | None = None,
) -> Any:
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    kept = None
    if cache is not None:
        K, V = np.concatenate([cache[0], K]), np.concatenate([cache[1], V])
        if grow is not None:
            kept = grow(cache, K, V)
    return mhalib.attention(Q, K, V, mask=mask(len(Q), len(K)), scale=scale), kept or (K, V)


def _old_only(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any) -> Any:
    if cache is None:
        return _step(X, W_Q, W_K, W_V, None)
    O = mhalib.attention(X @ W_Q, *cache)
    return O, _step(X, W_Q, W_K, W_V, cache)[1]


def _values_not_kept(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any) -> Any:
    """Only the last piece's tokens are remembered beside the new ones."""
    O, (K, V) = _step(X, W_Q, W_K, W_V, cache)
    return O, (K[-len(X) :], V[-len(X) :])


def _new_in_front(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any) -> Any:
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    if cache is not None:
        K, V = np.concatenate([K, cache[0]]), np.concatenate([V, cache[1]])
    return mhalib.attention(Q, K, V, causal=True), (K, V)


def _decode_case(d: int, d_k: int, d_v: int, *sizes: int) -> Case:
    matrices = (normal(d, width, seed=i) for i, width in enumerate((d_k, d_k, d_v), 1))
    return Case(normal(sum(sizes), d), *matrices, sizes)


_ONE = np.array([[1.0]])

cached_attention = Exercise(
    "cached_attention(X_new, W_Q, W_K, W_V, cache)",
    (7, "Keep what you have: the KV cache"),
    _step,
    cases=(
        Case(np.array([[1.0], [2.0], [4.0]]), _ONE * 0, _ONE, _ONE, (1, 1, 1)),
        Case(np.array([[1.0], [2.0], [4.0], [5.0]]), _ONE * 0, _ONE, _ONE, (2, 1, 1)),
        _decode_case(3, 2, 5, 3, 1, 1),
        _decode_case(5, 3, 2, 2, 2, 3),
        _decode_case(3, 2, 5, 5),
    ),
    mistakes=(
        Mistake(
            "top-left causal mask",
            "The new queries are the last tokens, so the mask is aligned bottom-right. Aligned "
            "top-left, the newest token sees only the oldest.",
            partial(_step, mask=lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool)),
            "one query and five keys: only key 0 is seen",
        ),
        Mistake(
            "no mask inside a piece",
            "When several tokens come at once, each must still see only those up to itself.",
            partial(_step, mask=lambda n_q, n_k: np.ones((n_q, n_k), bool)),
            "a change of the last token moves earlier outputs",
        ),
        Mistake(
            "cache ignored",
            "Only the new tokens were seen. The keys and values of the earlier ones are in the "
            "cache.",
            lambda X, W_Q, W_K, W_V, cache: _step(X, W_Q, W_K, W_V, None),
        ),
        Mistake(
            "cache not extended",
            "The cache that comes back is the one that came in: the new keys and values are not"
            " in it, and the next call misses them.",
            partial(_step, grow=lambda cache, K, V: cache),
        ),
        Mistake(
            "only the newest kept",
            "The cache that comes back holds only the newest keys and values; the older ones "
            "are lost.",
            _values_not_kept,
        ),
        Mistake(
            "new token not among the keys",
            "A token may also look at itself: its key and value join the others before the "
            "attention.",
            _old_only,
        ),
        Mistake(
            "new keys put in front",
            "New keys and values go behind the old ones, in the order of the text.",
            _new_in_front,
        ),
        Mistake("no scale", "The scores were not divided by √d_k.", partial(_step, scale=1.0)),
    ),
    returns="arrays",
    call=_decode,
    labels=("X", "W_Q", "W_K", "W_V", "tokens in each call"),
    properties=all_of("cached_attention"),
)


EXERCISES = (top_k_filter, top_p_filter, cached_attention)
