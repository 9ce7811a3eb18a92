"""Exercise of lesson 7: decoding with a cache of keys and values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import (
    Case,
    Exercise,
    Function,
    Mistake,
    Misuse,
    Nothing,
    normal,
    numbers,
    sizes,
)
from mhalib.checks.exercises.shared import SCALES
from mhalib.checks.properties import W

Array = NDArray[Any]


def _pieces(X: Array, sizes: tuple[int, ...]) -> Iterator[Array]:
    start = 0
    for size in sizes:
        yield X[start : start + size]
        start += size


def _decode(
    step: Function, X: Array, W_Q: Array, W_K: Array, W_V: Array, sizes: tuple[int, ...]
) -> Any:
    """Call the reader's function piece by piece, handing its cache on.

    Between the pieces another text, unless this one is long, is decoded with a cache of its own.
    """
    cache, other, outputs = None, None, []
    for X_new in _pieces(X, sizes):
        O, cache = _two(step(X_new, W_Q, W_K, W_V, cache))
        outputs.append(O)
        if len(sizes) > 1 and len(X) < 100:
            other = _two(step(1 - X_new, W_Q, W_K, W_V, other))[1]
    return outputs


def _two(answer: Any) -> Any:
    if answer is None or answer is ...:
        raise Nothing(answer)
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Misuse(
            f"It returned a value of type {type(answer).__name__}. Two things were expected: the "
            "outputs of the new tokens, and the cache."
        )
    return answer


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


def _trimmed(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any, *, most: int) -> Any:
    """Cut the cache before it is used: the new keys are among the last `most`."""
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    if cache is not None:
        K, V = (np.concatenate(pair)[-most:] for pair in zip(cache, (K, V), strict=True))
    return mhalib.attention(Q, K, V, mask=mhalib.causal_mask(len(Q), len(K))), (K, V)


def _new_in_front(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any) -> Any:
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    if cache is not None:
        K, V = np.concatenate([K, cache[0]]), np.concatenate([V, cache[1]])
    return mhalib.attention(Q, K, V, causal=True), (K, V)


def _decode_case(d: int, d_k: int, d_v: int, *sizes: int) -> Case:
    matrices = (normal(d, width, seed=i) for i, width in enumerate((d_k, d_k, d_v), 1))
    return Case(normal(sum(sizes), d), *matrices, sizes)


_ONE = np.array([[1.0]])
_SEEN: list[Array] = []


def _kept_outside(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any) -> Any:
    _SEEN[:] = [X] if cache is None else [*_SEEN, X]
    return _all_so_far(X, W_Q, W_K, W_V, np.concatenate([X[:0], *_SEEN[:-1]]))[0][-len(X) :], True


def _all_so_far(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any) -> Any:
    X = X if cache is None else np.concatenate([cache, X])
    return mhalib.attention(X @ W_Q, X @ W_K, X @ W_V, causal=True), X


def _draw(rng: Generator, i: int) -> Case:
    d, d_k, d_v = sizes(rng, 3)
    pieces = tuple(int(size) for size in rng.integers(1, 4, 1 + i % 4))
    arrays = [numbers(rng, i, *shape) for shape in ((sum(pieces), d), (d, d_k), (d, d_k), (d, d_v))]
    return Case(*arrays, pieces)


def _made(roles: str) -> Function:
    """A step whose queries, keys and values are made with other matrices."""

    def wrong(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any) -> Any:
        W = {"Q": W_Q, "K": W_K, "V": W_V}
        Q, K, V = (W[role] for role in roles)
        return _step(X, Q, K, V, cache)

    return wrong


def _scale(factor: Function) -> Function:
    return lambda X, W_Q, W_K, W_V, cache: _step(
        X, W_Q, W_K, W_V, cache, scale=factor(W_Q.shape[1], W_Q.shape[0])
    )


def _scale_of_keys(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any) -> Any:
    n = len(X) if cache is None else len(cache[0]) + len(X)
    return _step(X, W_Q, W_K, W_V, cache, scale=n**-0.5)


def _kept(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any, first: Array, second: Array
) -> Any:
    """Right outputs of what is in the cache, into which the wrong things go."""
    O, _ = _step(X, W_Q, W_K, W_V, cache)
    old = cache or (first[:0], second[:0])
    return O, (np.concatenate([old[0], first]), np.concatenate([old[1], second]))


def _band(most: int) -> Function:
    """A causal mask that leaves each query the last `most` keys."""

    def mask(n_q: int, n_k: int) -> Array:
        return mhalib.causal_mask(n_q, n_k) & ~np.tri(n_q, n_k, n_k - n_q - most, dtype=bool)

    return mask


_WINDOWS = tuple(
    pair
    for most in (*range(1, 9), 10, 16, 20, 32, 50, 64, 100, 128)
    for pair in (
        (
            f"the averages over the last {most} tokens, not over all of them",
            partial(_step, mask=_band(most)),
        ),
        (
            f"with a cache of the last {most} tokens, not of all of them",
            partial(_step, grow=lambda cache, K, V, most=most: (K[-most:], V[-most:])),
        ),
        (
            f"with a cache of the last {most} tokens, not of all of them",
            partial(_trimmed, most=most),
        ),
    )
)


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
        Case(normal(131, 1), *(_ONE,) * 3, (129, 2), note="many tokens"),
    ),
    draw=_draw,
    masked=True,
    mistakes=(
        Mistake(
            "top-left causal mask",
            "The new queries are the last tokens, so the mask is aligned bottom-right. Aligned "
            "top-left, the newest token sees only the oldest.",
            partial(_step, mask=lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool)),
            "a single new query sees only key 0",
        ),
        Mistake(
            "no mask inside a piece",
            "When several tokens come at once, each must still see only those up to itself.",
            partial(_step, mask=lambda n_q, n_k: np.ones((n_q, n_k), bool)),
            "a change to the last token changes earlier outputs",
        ),
        Mistake(
            "cache ignored",
            "Only the new tokens were seen. The keys and values of the earlier ones are in the "
            "cache.",
            lambda X, W_Q, W_K, W_V, cache: _step(X, W_Q, W_K, W_V, None),
        ),
        Mistake(
            "kept outside the cache",
            "Two texts are decoded in turn here, each with the cache that came back. The function "
            "keeps tokens in a place of its own, and so mixes the texts. Keep them in the cache.",
            _kept_outside,
            "a second text changes the outputs of the first",
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
        *(
            Mistake(name, why, _scale(lambda d_k, d, factor=factor: factor(d_k)))
            for name, why, factor in SCALES
        ),
        Mistake(
            "scale √d_model",
            "The divisor is √d_k, the root of the width of a query, not of X.",
            _scale(lambda d_k, d: d**-0.5),
        ),
        Mistake(
            "scale √n",
            "The divisor is √d_k, the root of the width of a query, not of the number of keys.",
            _scale_of_keys,
        ),
        Mistake("keys made with W_Q", "The keys are X W_K.", _made("QQV")),
        Mistake("queries made with W_K", "The queries are X W_Q.", _made("KKV")),
        Mistake("values made with W_K", "The values are X W_V.", _made("QKK")),
        Mistake(
            "Q and K swapped",
            "The queries come from the new tokens and W_Q, the keys from W_K.",
            _made("KQV"),
        ),
        Mistake(
            "the new token itself hidden",
            "A token also looks at itself: the newest query sees the newest key.",
            partial(_step, mask=lambda n_q, n_k: np.tri(n_q, n_k, n_k - n_q - 1, dtype=bool)),
        ),
        Mistake(
            "all outputs so far returned",
            "The outputs of the new tokens were asked for.",
            lambda X, W_Q, W_K, W_V, cache: _all_so_far(X, W_Q, W_K, W_V, cache),
        ),
        Mistake(
            "residual added here",
            "The sum with X belongs to the block. The averages alone were asked for.",
            lambda X, *rest: (lambda O, kept: (X + O, kept))(*_step(X, *rest)),
        ),
        Mistake(
            "scale √d_v",
            "The divisor is √d_k: it belongs to queries and keys, not to the values.",
            lambda X, W_Q, W_K, W_V, cache: _step(
                X, W_Q, W_K, W_V, cache, scale=W_V.shape[1] ** -0.5
            ),
        ),
        Mistake(
            "queries kept in place of keys",
            "The cache holds the keys and the values of the earlier tokens.",
            lambda X, W_Q, W_K, W_V, cache: _kept(X, W_Q, W_K, W_V, cache, X @ W_Q, X @ W_V),
        ),
        Mistake(
            "only the last output",
            "Each of the new tokens has an output.",
            lambda *args: (lambda O, kept: (O[-1:], kept))(*_step(*args)),
        ),
    ),
    returns="arrays",
    call=_decode,
    labels=("X", "W_Q", "W_K", "W_V", "tokens in each call"),
    trial=lambda f: lambda X, W_V: f(X, *W[:2], W_V, None)[0],
    formulas=lambda: _WINDOWS,
)

EXERCISES = (cached_attention,)
