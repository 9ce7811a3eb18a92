"""Exercises of lesson 7: logits, loss, the two cuts, cached decoding."""

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
LESSON = "lesson 7, Vocabulary head"

_E = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
_HEAD_CASES = (
    Case(np.array([[1.0, 2.0]]), _E),
    Case(normal(3, 3), normal(3, 3, seed=1)),
    Case(normal(3, 5), normal(7, 5, seed=1)),
)

tied_logits = Exercise(
    "tied_logits(X, E)",
    LESSON,
    mhalib.tied_logits,
    cases=_HEAD_CASES,
    batches=(Case(normal(2, 3, 5), normal(7, 5, seed=1)), Case(normal(5), normal(7, 5, seed=1))),
    batch_needed=True,
    mistakes=(
        Mistake("Eᵀ missing", "A logit is the dot product of x with a row of E: X Eᵀ.", lambda X, E: X @ E),
        Mistake("probabilities returned", "Logits come before the softmax: real numbers of either sign.",
                lambda X, E: mhalib.softmax(X @ E.T)),
        Mistake("scaled by √d_model", "The logits are plain dot products.", lambda X, E: X @ E.T / E.shape[1] ** 0.5),
        Mistake("cosine instead of dot product", "The rows of E were brought to length 1. Their lengths count: a longer row "
                "makes its token likelier.", lambda X, E: X @ (E / np.linalg.norm(E, axis=1, keepdims=True)).T),
        Mistake("distance instead of dot product", "A logit is a dot product, not a distance.",
                lambda X, E: -((X[..., None, :] - E) ** 2).sum(axis=-1)),
    ),
)  # fmt: skip


def _use_head(tied_head: Function, E: Array, X: Array) -> Any:
    """Make the head from a table, edit the table afterwards, then use the head."""
    table = E * 0
    head = tied_head(table)
    if not callable(head):
        raise Misuse(
            f"It returned a value of type {type(head).__name__}. A function head(X) was expected."
        )
    table += E
    return head(X)


tied_head = Exercise(
    "tied_head(E)",
    LESSON,
    lambda E: lambda X: X @ E.T,
    cases=tuple(Case(case.args[1], case.args[0]) for case in _HEAD_CASES),
    mistakes=(
        Mistake("tied head copied, not shared", "The head was made from E, and E was edited afterwards (from zeros to what "
                "is shown). The logits stayed as they were: the head keeps a copy. Tied means one table.",
                lambda E: partial(lambda copy, X: X @ copy.T, E.copy()), "editing E leaves the logits alone"),
        Mistake("Eᵀ missing", "A logit is the dot product of x with a row of E: X Eᵀ.", lambda E: lambda X: X @ E),
    ),
    call=_use_head,
)  # fmt: skip


def _loss(
    logits: Array, ids: Array, *, shift: int = 1, total: Function = np.mean, log: Function = np.log
) -> float:
    """Row t is judged by the id `shift` places later."""
    n = len(ids) - abs(shift)
    rows, targets = (logits[:n], ids[shift:]) if shift >= 0 else (logits[-n:], ids[:n])
    chosen = mhalib.softmax(logits)[np.arange(len(logits))[: len(rows)] + max(-shift, 0), targets]
    return float(-total(log(chosen)))


def _stable_loss(logits: Array, ids: Array, shift: int = 1) -> float:
    n = len(ids) - shift
    return mhalib.cross_entropy(logits[:n], ids[shift:])


_SURE = np.log(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.25, 0.625]]))

next_token_loss = Exercise(
    "next_token_loss(logits, ids)",
    LESSON,
    _stable_loss,
    cases=(
        Case(_SURE, np.array([0, 1, 2])),
        Case(_SURE, np.array([0, 2, 0])),
        Case(normal(5, 3), np.array([2, 0, 1, 1, 2])),
        Case(normal(7, 11, seed=2) * 2 + 5, np.array([3, 10, 0, 7, 7, 1, 4])),
        Case(np.array([[0.0, 2000.0], [0.0, 0.0]]), np.array([0, 0]), note="large logits"),
        Case(np.array([[0.0, 2000.0], [0.0, 0.0]]), np.array([0, 1]), note="large logits"),
    ),
    mistakes=(
        Mistake("labels not shifted", "Row t was compared with token t itself, which the model has just read: it learns to "
                "copy. Row t speaks about token t + 1.", lambda logits, ids: _stable_loss(logits, ids, 0)),
        Mistake("labels shifted twice", "Row t was compared with token t + 2. It speaks about token t + 1.",
                lambda logits, ids: _stable_loss(logits, ids, 2)),
        Mistake("labels shifted the wrong way", "Row t was compared with token t − 1. It speaks about token t + 1.",
                partial(_loss, shift=-1)),
        Mistake("labels rolled round", "The last row was compared with the first token, as if the text were a ring. After the "
                "last token nothing is known: leave that row out.",
                lambda logits, ids: mhalib.cross_entropy(logits, np.roll(ids, -1))),
        Mistake("summed, not averaged", "The loss is the mean over the predicted tokens; a sum grows with the length.",
                partial(_loss, total=np.sum)),
        Mistake("divided by n instead of n − 1", "Of n tokens n − 1 are predicted; the first is only context.",
                lambda logits, ids: _stable_loss(logits, ids) * (len(ids) - 1) / len(ids)),
        Mistake("sign forgotten", "A surprise is −log p, at least 0.", lambda logits, ids: -_stable_loss(logits, ids)),
        Mistake("logarithm to base 2", "In nats: the natural logarithm.", partial(_loss, log=np.log2)),
        Mistake("no logarithm", "The mean of −log p was asked for, not the mean probability.",
                partial(_loss, log=lambda p: -p)),
        Mistake("no logarithm", "The mean of −log p was asked for, not the mean probability.",
                partial(_loss, log=lambda p: p)),
        Mistake("no softmax", "Logits are not probabilities and not their logarithms either: the softmax is missing.",
                lambda logits, ids: float(-logits[np.arange(len(ids) - 1), ids[1:]].mean())),
        Mistake("logarithm of a rounded 0", "softmax gives exactly 0 where a logit is far below the largest, and its "
                "logarithm is −∞. Subtract the logarithm of the sum instead of taking that of the share.", _loss,
                "large logits"),
        Mistake("maximum not subtracted", "exp of a large logit overflows. Subtract the row's maximum first.",
                lambda logits, ids: _overflowing_loss(logits, ids), "large logits"),
    ),
    returns="number",
)  # fmt: skip


def _overflowing_loss(logits: Array, ids: Array) -> float:
    rows = logits[:-1]
    log_total = np.log(np.exp(rows).sum(axis=1))
    return float((log_total - rows[np.arange(len(rows)), ids[1:]]).mean())


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
    LESSON,
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
        Mistake("the smallest kept", "The k largest logits stay. These are the smallest.",
                lambda logits, k: _keep(logits, _order(-logits)[:k])),
        Mistake("one too many", "k tokens stay, here k + 1.", lambda logits, k: _keep(logits, _order(logits)[: k + 1])),
        Mistake("one too few", "k tokens stay, here k − 1.", lambda logits, k: _keep(logits, _order(logits)[: k - 1])),
        Mistake("equal logits let too many in", "Several logits equal the k-th largest, and all of them stayed. k tokens "
                "stay: among equals the smaller ids.", lambda logits, k: np.where(logits >= np.sort(logits)[-k], logits, -np.inf),
                "equal logits"),
        Mistake("among equals the larger id", "Among equal logits the smaller id stays.",
                lambda logits, k: _keep(logits, np.argsort(logits, kind="stable")[-k:]), "equal logits"),
        Mistake("only the kept logits returned", "All V places stay, so that a place is still an id. Those cut off get −∞.",
                lambda logits, k: np.sort(logits)[::-1][:k]),
        Mistake("ids returned", "These are the ids of the largest logits. The filtered logits were asked for.",
                lambda logits, k: _order(logits)[:k]),
    ),
)  # fmt: skip


def _top_p(logits: Array, p: float, *, shares: Function = mhalib.softmax, order: Function = _order,
           keep: Function = lambda before, share, p: before < p, other: float = -np.inf) -> Array:  # fmt: skip
    ids = order(logits)
    share = shares(logits)[ids]
    return _keep(logits, ids[keep(np.cumsum(share) - share, share, p)], other)


top_p_filter = Exercise(
    "top_p_filter(logits, p)",
    LESSON,
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
        Mistake("stopped before p is reached", "The token with which the sum reaches p belongs to the kept ones.",
                partial(_top_p, keep=lambda before, share, p: before + share < p)),
        Mistake("one too many", "As soon as the sum reaches p, it is enough. One more token was kept.",
                partial(_top_p, keep=lambda before, share, p: np.concatenate([[True], (before < p)[:-1]]))),
        Mistake("each probability compared with p", "p limits the sum of the kept probabilities, not each of them.",
                lambda logits, p: np.where(mhalib.softmax(logits) >= p, logits, -np.inf)),
        Mistake("least likely first", "The likeliest token comes first.",
                partial(_top_p, order=lambda logits: np.argsort(logits, kind="stable"))),
        Mistake("not sorted", "The probabilities were summed in the order of the ids. The likeliest come first.",
                partial(_top_p, order=lambda logits: np.arange(len(logits)))),
        Mistake("logits summed, not probabilities", "Logits are no probabilities: the softmax comes first.",
                partial(_top_p, shares=lambda logits: logits)),
        Mistake("probabilities returned", "The filtered logits were asked for; the softmax follows later.",
                lambda logits, p: mhalib.softmax(_top_p(logits, p))),
    ),
)  # fmt: skip


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
            raise Misuse(f"It returned a value of type {type(answer).__name__}. Two things were expected: "
                         "the outputs of the new tokens, and the cache.")  # fmt: skip
        O, cache = answer
        outputs.append(O)
    return outputs


def _step(X: Array, W_Q: Array, W_K: Array, W_V: Array, cache: Any, *, mask: Function = mhalib.causal_mask,
          grow: Function | None = None, scale: float | None = None) -> Any:  # fmt: skip
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
    LESSON,
    _step,
    cases=(
        Case(np.array([[1.0], [2.0], [4.0]]), _ONE * 0, _ONE, _ONE, (1, 1, 1)),
        Case(np.array([[1.0], [2.0], [4.0], [5.0]]), _ONE * 0, _ONE, _ONE, (2, 1, 1)),
        _decode_case(3, 2, 5, 3, 1, 1),
        _decode_case(5, 3, 2, 2, 2, 3),
        _decode_case(3, 2, 5, 5),
    ),
    mistakes=(
        Mistake("top-left causal mask", "The new queries are the last tokens, so the mask is aligned bottom-right. Aligned "
                "top-left, the newest token sees only the oldest.",
                partial(_step, mask=lambda n_q, n_k: np.tri(n_q, n_k, dtype=bool)),
                "one query and five keys: only key 0 is seen"),
        Mistake("no mask inside a piece", "When several tokens come at once, each must still see only those up to itself.",
                partial(_step, mask=lambda n_q, n_k: np.ones((n_q, n_k), bool)),
                "a change of the last token moves earlier outputs"),
        Mistake("cache ignored", "Only the new tokens were seen. The keys and values of the earlier ones are in the cache.",
                lambda X, W_Q, W_K, W_V, cache: _step(X, W_Q, W_K, W_V, None)),
        Mistake("cache not extended", "The cache that comes back is the one that came in: the new keys and values are not in "
                "it, and the next call misses them.", partial(_step, grow=lambda cache, K, V: cache)),
        Mistake("only the newest kept", "The cache that comes back holds only the newest keys and values; the older ones are "
                "lost.", _values_not_kept),
        Mistake("new token not among the keys", "A token may also look at itself: its key and value join the others before "
                "the attention.", _old_only),
        Mistake("new keys put in front", "New keys and values go behind the old ones, in the order of the text.",
                _new_in_front),
        Mistake("no scale", "The scores were not divided by √d_k.", partial(_step, scale=1.0)),
    ),
    returns="arrays",
    call=_decode,
    properties=all_of("cached_attention"),
)  # fmt: skip

EXERCISES = (tied_logits, tied_head, next_token_loss, top_k_filter, top_p_filter, cached_attention)
