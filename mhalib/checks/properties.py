"""What must hold on any input. Each test returns what is wrong, or an empty string.

The same tests make the kill matrix: which kind of test notices which mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib.checks.exercise import Exercise, Function, normal

Array = NDArray[Any]
N, D = 5, 6  # tokens and features of the trials


class Trial:
    """A causal attention over tokens, ``run(X, W_V)``, with the function under test inside."""

    def __init__(self, run: Function) -> None:
        self.run = run

    def rows(self) -> str:
        X, W_V = normal(N, D), np.zeros((D, D))
        X[:, 0], W_V[0] = 1, 1  # X @ W_V is all 1
        if np.allclose(self.run(X, W_V), 1, atol=1e-6):
            return ""
        return (
            "Any average of values that are all 1 is 1. With such values your result is not all 1."
        )

    def leak(self) -> str:
        X = normal(N, D)
        changed = X.copy()
        changed[-1] += 1
        if _close(self.run(X, W[2])[:-1], self.run(changed, W[2])[:-1]):
            return ""
        return (
            "A change to the last token changed earlier outputs. With a causal mask no token may "
            "see a later one."
        )

    def reach(self) -> str:
        X = normal(N, D)
        changed = X.copy()
        changed[0] += 1
        if not _close(self.run(X, W[2])[-1], self.run(changed, W[2])[-1]):
            return ""
        return (
            "A change to the first token left the last output as it was. The last token must see "
            "all of them."
        )


def _close(a: Array, b: Array) -> bool:
    return np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)  # equal but for rounding


W = [normal(D, D, seed=seed) / 2 for seed in range(1, 5)]
W_O = np.eye(D)
H = 3
CAUSAL = np.tri(N, dtype=bool)


def split(X: Array) -> Array:
    return X.reshape(N, H, -1).transpose(1, 0, 2)


def merge(heads: Array) -> Array:
    return heads.transpose(1, 0, 2).reshape(N, -1)


def weigh(S: Array, mask: Array = CAUSAL) -> Array:
    exp = np.where(mask, np.exp(S), 0)
    return exp / exp.sum(axis=-1, keepdims=True)


def raw(X: Array) -> Array:
    return (X @ W[0]) @ (X @ W[1]).T


def _attend(Q: Array, K: Array, V: Array) -> Array:
    return weigh(Q @ K.swapaxes(-1, -2)) @ V


def attend_in_heads(X: Array, W_V: Array, split: Function) -> Array:
    return _attend(*(split(X @ W) for W in (*W[:2], W_V)))


def of(exercise: Exercise) -> list[Callable[[Function], str]]:
    """Return the tests of `exercise`: ``test(function)`` says what is wrong, or nothing."""
    make = exercise.trial
    if make is None:
        return []

    def tested(kind: str, function: Function) -> str:
        try:
            with np.errstate(all="ignore"):
                return str(getattr(Trial(make(function)), kind)())
        except Exception:  # a function that cannot even run here says nothing about the property
            return ""

    if not exercise.masked:
        return []
    return [partial(tested, kind) for kind in ("rows", "leak", "reach")]
