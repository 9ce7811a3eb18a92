"""What the two kinds of block share: the parts they are given, and orders of steps."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Function, normal, numbers, sizes

Array = NDArray[Any]


class Part:
    """A function X → X that a block is given, with words to show it by."""

    def __init__(self, words: str, function: Function) -> None:
        self.words, self.function = words, function

    def __call__(self, X: Array) -> Array:
        result: Array = self.function(X)
        return result

    def __repr__(self) -> str:
        return self.words


def _mix(X: Array) -> Array:
    """Each token becomes the mean of itself and the earlier ones: a kind of attention."""
    n = X.shape[-2]
    return np.tri(n, dtype=X.dtype) / np.arange(1, n + 1, dtype=X.dtype)[:, None] @ X


_IDENTITY = Part("X ↦ X", lambda X: X * 1)
_SAME = Part("X ↦ X itself, no copy", lambda X: X)
_ZERO = Part("X ↦ 0", lambda X: X * 0)
_NORM = Part("layer norm, eps = 0", lambda X: mhalib.layer_norm(X, eps=0.0))
ATTEND = Part("X ↦ running mean of the tokens", _mix)
SQUARES = Part("X ↦ X²", lambda X: X**2)
NORM_1 = Part("X ↦ X / (1 + |X|)", lambda X: X / (1 + np.abs(X)))
NORM_2 = Part("X ↦ tanh X + 3", lambda X: np.tanh(X) + 3)

_SINES = Part("X ↦ sin X − ½", lambda X: np.sin(X) - 0.5)

BLOCK_CASES = (
    Case(np.array([[1.0, 3.0]]), _IDENTITY, _ZERO, _NORM, _NORM),
    Case(np.array([[1.0, 3.0]]), _ZERO, _IDENTITY, _NORM, _NORM),
    Case(np.array([[1.0, 2.0], [4.0, 0.0]]), ATTEND, SQUARES, NORM_1, NORM_2),
    Case(normal(3, 5), ATTEND, SQUARES, NORM_1, NORM_2),
    Case(np.array([[1.0, 3.0]]), _SAME, _SAME, _SAME, _SAME, note="what comes is given back"),
)
BLOCK_BATCHES = (Case(normal(2, 3, 5), ATTEND, SQUARES, NORM_1, NORM_2),)


def post(
    X: Array, attend: Function, feed_forward: Function, norm_1: Function, norm_2: Function
) -> Array:
    X = norm_1(X + attend(X))
    result: Array = norm_2(X + feed_forward(X))
    return result


def pre(
    X: Array, attend: Function, feed_forward: Function, norm_1: Function, norm_2: Function
) -> Array:
    X = X + attend(norm_1(X))
    result: Array = X + feed_forward(norm_2(X))
    return result


def pre_normed_residual(X: Array, a: Function, f: Function, n1: Function, n2: Function) -> Array:
    X = n1(X) + a(n1(X))
    result: Array = n2(X) + f(n2(X))
    return result


NO_RESIDUAL = (
    "A sublayer's output is a correction to the stream: it is added to what came in, and does not "
    "replace it."
)

# Other orders of the same steps, in words and as functions
_HALVES = {
    "{s}": lambda S, g, n: S,
    "{s} + {f}({s})": lambda S, g, n: S + g(S),
    "{n}({s} + {f}({s}))": lambda S, g, n: n(S + g(S)),
    "{s} + {f}({n}({s}))": lambda S, g, n: S + g(n(S)),
    "{f}({s})": lambda S, g, n: g(S),
    "{n}({f}({s}))": lambda S, g, n: n(g(S)),
    "{f}({n}({s}))": lambda S, g, n: g(n(S)),
    "{s} + {n}({f}({s}))": lambda S, g, n: S + n(g(S)),
    "{s} + {n}({f}({n}({s})))": lambda S, g, n: S + n(g(n(S))),
    "{n}({s}) + {f}({n}({s}))": lambda S, g, n: n(S) + g(n(S)),
    "{n}({s}) + {f}({s})": lambda S, g, n: n(S) + g(S),
    "{n}({s} + {f}({n}({s})))": lambda S, g, n: n(S + g(n(S))),
    "{n}({s} * {f}({s}))": lambda S, g, n: n(S * g(S)),
}
_AROUND = {
    "{y}": lambda X, Y, n: Y,
    "X + {y}": lambda X, Y, n: X + Y,
    "norm_2({y})": lambda X, Y, n: n(Y),
    "norm_2(X + {y})": lambda X, Y, n: n(X + Y),
}


def formulas() -> Iterator[tuple[str, Function]]:
    """Return what a reader may have written in place of the block: two halves, and an end."""
    for swapped in (False, True):
        one, two = ("norm_2", "norm_1") if swapped else ("norm_1", "norm_2")
        for (first, g), (second, k), (end, z) in product(
            _HALVES.items(), _HALVES.items(), _AROUND.items()
        ):
            half = first.format(s="X", f="attend", n=one)
            text = end.format(y=second.format(s="Y", f="feed_forward", n=two))

            def formula(
                X: Array, a: Function, f: Function, n1: Function, n2: Function,
                *, g: Any = g, k: Any = k, z: Any = z, swapped: bool = swapped,
            ) -> Array:  # fmt: skip
                n1, n2 = (n2, n1) if swapped else (n1, n2)
                result: Array = z(X, k(g(X, a, n1), f, n2), n2)
                return result

            yield f"Y = {half}, then {text}", formula


_PARTS = (ATTEND, SQUARES, NORM_1, NORM_2, _SINES, _IDENTITY)


def draw(rng: Generator, i: int) -> Case:
    n, d = sizes(rng, 2)
    parts = [_PARTS[k] for k in rng.permutation(len(_PARTS))[:4]]
    return Case(numbers(rng, i, n, d), *parts)
