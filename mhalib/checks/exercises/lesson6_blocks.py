"""Exercises of lesson 6: the two kinds of block."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal, numbers, sizes

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
_ZERO = Part("X ↦ 0", lambda X: X * 0)
_NORM = Part("layer norm, eps = 0", lambda X: mhalib.layer_norm(X, eps=0.0))
_ATTEND = Part("X ↦ running mean of the tokens", _mix)
_SQUARES = Part("X ↦ X²", lambda X: X**2)
_NORM_1 = Part("X ↦ X / (1 + |X|)", lambda X: X / (1 + np.abs(X)))
_NORM_2 = Part("X ↦ tanh X + 3", lambda X: np.tanh(X) + 3)

_SINES = Part("X ↦ sin X − ½", lambda X: np.sin(X) - 0.5)

_BLOCK_CASES = (
    Case(np.array([[1.0, 3.0]]), _IDENTITY, _ZERO, _NORM, _NORM),
    Case(np.array([[1.0, 3.0]]), _ZERO, _IDENTITY, _NORM, _NORM),
    Case(np.array([[1.0, 2.0], [4.0, 0.0]]), _ATTEND, _SQUARES, _NORM_1, _NORM_2),
    Case(normal(3, 5), _ATTEND, _SQUARES, _NORM_1, _NORM_2),
)
_BLOCK_BATCHES = (Case(normal(2, 3, 5), _ATTEND, _SQUARES, _NORM_1, _NORM_2),)


def _post(
    X: Array, attend: Function, feed_forward: Function, norm_1: Function, norm_2: Function
) -> Array:
    X = norm_1(X + attend(X))
    result: Array = norm_2(X + feed_forward(X))
    return result


def _pre(
    X: Array, attend: Function, feed_forward: Function, norm_1: Function, norm_2: Function
) -> Array:
    X = X + attend(norm_1(X))
    result: Array = X + feed_forward(norm_2(X))
    return result


def _pre_normed_residual(X: Array, a: Function, f: Function, n1: Function, n2: Function) -> Array:
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


def _formulas() -> Iterator[tuple[str, Function]]:
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


_PARTS = (_ATTEND, _SQUARES, _NORM_1, _NORM_2, _SINES, _IDENTITY)


def _draw(rng: Generator, i: int) -> Case:
    n, d = sizes(rng, 2)
    parts = [_PARTS[k] for k in rng.permutation(len(_PARTS))[:4]]
    return Case(numbers(rng, i, n, d), *parts)


post_norm_block = Exercise(
    "post_norm_block(X, attend, feed_forward, norm_1, norm_2)",
    (6, "The block, in two orders"),
    _post,
    cases=_BLOCK_CASES,
    batches=_BLOCK_BATCHES,
    draw=_draw,
    formulas=_formulas,
    mistakes=(
        Mistake(
            "pre-norm",
            "This is the pre-norm block: it normalises what goes into each sublayer. Post-norm "
            "normalises each sum.",
            _pre,
        ),
        Mistake("no residual", NO_RESIDUAL, lambda X, a, f, n1, n2: n2(f(n1(a(X))))),
        Mistake(
            "no residual around the feed-forward",
            NO_RESIDUAL,
            lambda X, a, f, n1, n2: n2(f(n1(X + a(X)))),
        ),
        Mistake(
            "no residual around the attention",
            NO_RESIDUAL,
            lambda X, a, f, n1, n2: _post(X, lambda X: a(X) - X, f, n1, n2),
        ),
        Mistake(
            "second residual from the block's input",
            "The second sum starts from the stream as it is after the first norm, not from the "
            "block's input.",
            lambda X, a, f, n1, n2: n2(X + f(n1(X + a(X)))),
        ),
        Mistake(
            "normalised before the sum",
            "The norm was taken of the sublayer's output alone: X + norm(f(X)). Post-norm takes"
            " it of the sum.",
            lambda X, a, f, n1, n2: (lambda Y: Y + n2(f(Y)))(X + n1(a(X))),
        ),
        Mistake(
            "second norm missing",
            "Both sums are normalised.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(n1(X + a(X))),
        ),
        Mistake(
            "first norm missing",
            "Both sums are normalised.",
            lambda X, a, f, n1, n2: (lambda Y: n2(Y + f(Y)))(X + a(X)),
        ),
        Mistake(
            "no norm",
            "Both sums are normalised.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(X + a(X)),
        ),
        Mistake(
            "norms exchanged",
            "norm_1 follows the attention, norm_2 the feed-forward.",
            lambda X, a, f, n1, n2: _post(X, a, f, n2, n1),
        ),
        Mistake(
            "the same norm twice",
            "norm_1 follows the attention, norm_2 the feed-forward: each has its own parameters.",
            lambda X, a, f, n1, n2: _post(X, a, f, n1, n1),
        ),
        Mistake(
            "feed-forward before the attention",
            "The attention comes first.",
            lambda X, a, f, n1, n2: _post(X, f, a, n1, n2),
        ),
        Mistake(
            "attention and feed-forward side by side",
            "The feed-forward reads what the attention has written.",
            lambda X, a, f, n1, n2: n2(n1(X + a(X)) + f(X)),
        ),
        Mistake(
            "one norm for both",
            "Each of the two sums is normalised, the first before the feed-forward reads it.",
            lambda X, a, f, n1, n2: n2(n1(X + a(X) + f(X + a(X)))),
        ),
        Mistake(
            "normalised before the sublayers, too",
            "Post-norm normalises the sums alone; the sublayers read the stream as it is.",
            lambda X, a, f, n1, n2: (lambda Y: n2(Y + f(n2(Y))))(n1(X + a(n1(X)))),
        ),
        Mistake(
            "the attention alone",
            "The second half is missing: the feed-forward, its sum and its norm.",
            lambda X, a, f, n1, n2: n1(X + a(X)),
        ),
        Mistake(
            "the feed-forward alone",
            "The first half is missing: the attention, its sum and its norm.",
            lambda X, a, f, n1, n2: n2(X + f(X)),
        ),
        Mistake(
            "the feed-forward reads the sum before its norm",
            "The feed-forward reads the stream as it is after the first norm.",
            lambda X, a, f, n1, n2: n2(n1(X + a(X)) + f(X + a(X))),
        ),
        Mistake(
            "sublayers one after the other, one sum",
            "Each sublayer has a sum of its own.",
            lambda X, a, f, n1, n2: n2(X + f(n1(a(X)))),
        ),
        Mistake(
            "subtracted, not added",
            "A sublayer's output is added to the stream.",
            lambda X, a, f, n1, n2: _post(X, lambda X: -a(X), lambda X: -f(X), n1, n2),
        ),
    ),
)

pre_norm_block = Exercise(
    "pre_norm_block(X, attend, feed_forward, norm_1, norm_2)",
    (6, "The block, in two orders"),
    _pre,
    cases=_BLOCK_CASES,
    batches=_BLOCK_BATCHES,
    draw=_draw,
    formulas=_formulas,
    mistakes=(
        Mistake(
            "residual from the normed input",
            "The stream was replaced by its norm before the correction was added. Only the "
            "sublayer sees the norm; the sum starts from the stream itself.",
            _pre_normed_residual,
            "x = [1, 3] with a sublayer that returns its input gives [−2, 2], not [0, 4]",
        ),
        Mistake(
            "post-norm",
            "This is the post-norm block: it normalises each sum. Pre-norm normalises what goes"
            " into each sublayer.",
            _post,
        ),
        Mistake("no residual", NO_RESIDUAL, lambda X, a, f, n1, n2: f(n2(a(n1(X))))),
        Mistake(
            "no residual around the feed-forward",
            NO_RESIDUAL,
            lambda X, a, f, n1, n2: f(n2(X + a(n1(X)))),
        ),
        Mistake(
            "no residual around the attention",
            NO_RESIDUAL,
            lambda X, a, f, n1, n2: (lambda Y: Y + f(n2(Y)))(a(n1(X))),
        ),
        Mistake(
            "second residual from the block's input",
            "The second sum starts from the stream after the attention.",
            lambda X, a, f, n1, n2: X + f(n2(X + a(n1(X)))),
        ),
        Mistake(
            "normalised after the sublayer",
            "The norm was taken of the sublayer's output. Pre-norm takes it of the sublayer's "
            "input.",
            lambda X, a, f, n1, n2: (lambda Y: Y + n2(f(Y)))(X + n1(a(X))),
        ),
        Mistake(
            "second norm missing",
            "Both sublayers get a normalised input.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(X + a(n1(X))),
        ),
        Mistake(
            "first norm missing",
            "Both sublayers get a normalised input.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(n2(Y)))(X + a(X)),
        ),
        Mistake(
            "norms exchanged",
            "norm_1 precedes the attention, norm_2 the feed-forward.",
            lambda X, a, f, n1, n2: _pre(X, a, f, n2, n1),
        ),
        Mistake(
            "the same norm twice",
            "norm_1 precedes the attention, norm_2 the feed-forward: each has its own parameters.",
            lambda X, a, f, n1, n2: _pre(X, a, f, n1, n1),
        ),
        Mistake(
            "attention and feed-forward side by side",
            "The feed-forward reads what the attention has written.",
            lambda X, a, f, n1, n2: X + a(n1(X)) + f(n2(X)),
        ),
        Mistake(
            "no norm",
            "Both sublayers get a normalised input.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(X + a(X)),
        ),
        Mistake(
            "a norm at the end, too",
            "The stream leaves a pre-norm block as it is; only what enters a sublayer is "
            "normalised.",
            lambda X, a, f, n1, n2: n2(_pre(X, a, f, n1, n2)),
        ),
        Mistake(
            "residual from the normed input, once",
            "The second sum starts from the stream itself, not from its norm.",
            lambda X, a, f, n1, n2: (lambda Y: n2(Y) + f(n2(Y)))(X + a(n1(X))),
        ),
        Mistake(
            "residual from the normed input, once",
            "The first sum starts from the stream itself, not from its norm.",
            lambda X, a, f, n1, n2: (lambda Y: Y + f(n2(Y)))(n1(X) + a(n1(X))),
        ),
        Mistake(
            "the attention alone",
            "The second half is missing: the feed-forward of the second norm, and its sum.",
            lambda X, a, f, n1, n2: X + a(n1(X)),
        ),
        Mistake(
            "the feed-forward alone",
            "The first half is missing: the attention of the first norm, and its sum.",
            lambda X, a, f, n1, n2: X + f(n2(X)),
        ),
        Mistake(
            "feed-forward before the attention",
            "The attention comes first.",
            lambda X, a, f, n1, n2: _pre(X, f, a, n1, n2),
        ),
        Mistake(
            "the feed-forward reads the block's input",
            "The feed-forward reads the norm of the stream as it is after the attention.",
            lambda X, a, f, n1, n2: X + a(n1(X)) + f(n2(n1(X))),
        ),
        Mistake(
            "subtracted, not added",
            "A sublayer's output is added to the stream.",
            lambda X, a, f, n1, n2: _pre(X, lambda X: -a(X), lambda X: -f(X), n1, n2),
        ),
    ),
)


EXERCISES = (post_norm_block, pre_norm_block)
