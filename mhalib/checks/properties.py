"""What must hold on any input. Each test returns what is wrong, or an empty string.

The same tests make the kill matrix: which kind of test notices which mistake.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib.checks.exercise import Function, normal

Array = NDArray[Any]
N, D = 5, 6  # tokens and features of the trials


class Trial:
    """A function from tokens X (n, d) and a causal mask to outputs (n, ·), to be tested."""

    def __init__(self, run: Function) -> None:
        self.run = run

    def rows(self) -> str:
        """Equal values in, the same value out: so it is if each row of weights sums to 1."""
        X = np.tile(normal(1, D), (N, 1))
        O = self.run(X)
        if np.allclose(O, O[-1], atol=1e-6):
            return ""
        return (
            "All tokens were equal, and still the outputs differ: the rows of weights do not all "
            "sum to 1, or different features are mixed."
        )

    def leak(self) -> str:
        X = normal(N, D)
        changed = X.copy()
        changed[-1] += 1
        if np.array_equal(self.run(X)[:-1], self.run(changed)[:-1], equal_nan=True):
            return ""
        return (
            "A change of the last token moved earlier outputs. With a causal mask no token may see "
            "a later one."
        )

    def reach(self) -> str:
        X = normal(N, D)
        changed = X.copy()
        changed[0] += 1
        if (self.run(X)[-1] != self.run(changed)[-1]).any():
            return ""
        return (
            "A change of the first token left the last output as it was. The last token must see "
            "all of them."
        )


CAUSAL = np.tri(N, dtype=bool)
_W = [normal(D, D, seed=seed) / 2 for seed in range(1, 5)]
_H = 3


def _split(X: Array) -> Array:
    return X.reshape(N, _H, -1).transpose(1, 0, 2)


def _merge(heads: Array) -> Array:
    return heads.transpose(1, 0, 2).reshape(N, -1)


def _weights(S: Array) -> Array:
    exp = np.where(CAUSAL, np.exp(S), 0)
    return exp / exp.sum(axis=-1, keepdims=True)


def _attend(Q: Array, K: Array, V: Array) -> Array:
    return _weights(Q @ K.swapaxes(-1, -2) / 2) @ V


# How the answer to each exercise becomes part of an attention that can be put on trial
TRIALS: dict[str, Any] = {
    "attention_weights": lambda f: lambda X: f(X @ X.T / 4, CAUSAL) @ X,
    "attention": lambda f: lambda X: f(X @ _W[0], X @ _W[1], X, CAUSAL),
    "scores": lambda f: lambda X: _weights(f(X @ _W[0], X @ _W[1])) @ X,
    "raw_scores": lambda f: lambda X: _weights(f(X @ _W[0], X @ _W[1]) / 4) @ X,
    "causal_mask": lambda f: lambda X: _masked(f(N, N), X),
    "softmax": lambda f: lambda X: f(np.where(CAUSAL, X @ X.T / 4, -np.inf)) @ X,
    "split_heads": lambda f: lambda X: _merge(_attend(*(f(X @ W, _H) for W in _W[:3]))),
    "merge_heads": lambda f: lambda X: f(_attend(*(_split(X @ W) for W in _W[:3]))),
    "multi_head_attention": lambda f: lambda X: f(X, *_W, _H, CAUSAL),
    "cached_attention": lambda f: lambda X: f(X, *_W[:3], None)[0],
}


def _masked(mask: Array, X: Array) -> Array:
    exp = np.where(mask, np.exp(X @ X.T / 4), 0)
    return exp / exp.sum(axis=-1, keepdims=True) @ X


def trial(name: str, kind: str) -> Function:
    """Return the test `kind` ("rows", "leak" or "reach") for answers to exercise `name`."""

    def test(function: Function) -> str:
        try:
            with np.errstate(all="ignore"):
                return str(getattr(Trial(TRIALS[name](function)), kind)())
        except Exception:  # a function that cannot even run here says nothing about the property
            return ""

    return test


def all_of(name: str) -> tuple[Function, ...]:
    return tuple(trial(name, kind) for kind in ("rows", "leak", "reach"))
