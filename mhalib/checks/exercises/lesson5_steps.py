"""Multi-head attention with steps that can be exchanged for wrong ones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Function, Mistake, normal
from mhalib.checks.exercises.shared import (
    ALL_SEEN,
    ignored,
    inverted,
    inverted_with_rule,
)

Array = NDArray[Any]


def multi_head(
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
    splits: Mapping[str, Function] = MappingProxyType({}),
    makers: str = "QKV",
    roles: str = "QKV",
    factor: Any = lambda d_k, d_model, h, n: d_k**-0.5,
    masking: Function = mhalib.attention_weights,
    after: Function = lambda d_k: 1.0,
    edit: Function = lambda heads: heads,
    out: Function = lambda W_O: W_O,
) -> Array:
    W = {"Q": W_Q, "K": W_K, "V": W_V}
    made = {
        role: splits.get(role, split)(X @ W[maker], n_heads) for role, maker in zip("QKV", makers)
    }
    Q, K, V = (made[role] for role in roles)
    d_k = Q.shape[-1]
    S = Q @ K.swapaxes(-1, -2) * factor(d_k, X.shape[-1], n_heads, len(K[0]))
    if mask is ALL_SEEN and masking in (inverted, inverted_with_rule):
        masking = ignored
    heads = masking(S, np.broadcast_to(mask, S.shape)) * after(d_k) @ V
    O: Array = merge(edit(heads)) @ out(W_O)
    return O


def no_heads(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int, mask: Array = ALL_SEEN
) -> Array:
    return multi_head(X, W_Q, W_K, W_V, W_O, 1, mask)


def averaged(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, n_heads: int, mask: Array = ALL_SEEN
) -> Array:
    """The mean of the heads, and no W_O: as wide as one head."""
    width = W_V.shape[1] // n_heads
    return multi_head(
        X, W_Q, W_K, W_V, np.eye(width), n_heads, mask, merge=lambda heads: heads.mean(axis=-3)
    )


def slices(
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


def drop_last(heads: Array) -> Array:
    return np.concatenate([heads[..., :-1, :, :], 0 * heads[..., -1:, :, :]], axis=-3)


def over_heads(S: Array, mask: Array) -> Array:
    exp = np.exp(np.where(mask, S, -np.inf))
    total = exp.sum(axis=-3, keepdims=True)
    return exp / np.where(total == 0, 1, total)


def first_masked(S: Array, mask: Array) -> Array:
    mask = mask.copy()
    mask[..., 1:, :, :] = True
    return mhalib.attention_weights(S, mask)


with_steps = partial(partial, multi_head)


def _first_head(X: Array, n_heads: int) -> Array:
    """Split, and give every head the features of the first."""
    heads = mhalib.split_heads(X, n_heads)
    return np.broadcast_to(heads[..., :1, :, :], heads.shape)


MADE = (
    Mistake("keys made with W_Q", "The keys are X W_K.", with_steps(makers="QQV")),
    Mistake("queries made with W_K", "The queries are X W_Q.", with_steps(makers="KKV")),
    Mistake("values made with W_K", "The values are X W_V.", with_steps(makers="QKK")),
    Mistake("values made with W_Q", "The values are X W_V.", with_steps(makers="QKQ")),
    *(
        Mistake(
            f"the {what} of head 0 for all heads",
            "Each head has a block of its own: of the queries, of the keys and of the values.",
            with_steps(splits=dict.fromkeys(roles, _first_head)),
        )
        for what, roles in (
            ("keys", "K"),
            ("values", "V"),
            ("queries", "Q"),
            ("keys and values", "KV"),
            ("queries and keys", "QK"),
        )
    ),
)


def weights(n: int, d: int, h: int, d_k: int, d_v: int, *batch: int) -> tuple[Any, ...]:
    shapes = (d, h * d_k), (d, h * d_k), (d, h * d_v), (h * d_v, d)
    return (normal(*batch, n, d), *(normal(*shape, seed=i) for i, shape in enumerate(shapes, 1)), h)
