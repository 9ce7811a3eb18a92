"""Exercises of lesson 6: layer norm, feed-forward, the two kinds of block."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal

Array = NDArray[Any]
LESSON = "lesson 6, Layers"


def _norm(X: Array, gamma: Array, beta: Array, eps: float, *, axis: Any = -1, ddof: int = 0,
          power: float = 0.5, outside: bool = False, centred: bool = True) -> Array:  # fmt: skip
    mean = X.mean(axis=axis, keepdims=True)
    variance = ((X - mean) ** 2).sum(axis=axis, keepdims=True) / (X.size / mean.size - ddof)
    if not centred:
        mean, variance = 0.0, (X**2).mean(axis=axis, keepdims=True)
    below = variance**power + eps if outside else (variance + eps) ** power
    result: Array = gamma * (X - mean) / below + beta
    return result


def _plain(n: int) -> tuple[Array, Array]:
    return np.ones(n), np.zeros(n)


layer_norm = Exercise(
    "layer_norm(X, gamma, beta, eps)",
    LESSON,
    mhalib.layer_norm,
    cases=(
        Case(np.array([[1.0, 2.0, 3.0, 4.0]]), *_plain(4), 0.0),
        Case(np.array([[1.0, 2.0, 3.0, 4.0]]), *_plain(4), 0.75),
        Case(np.array([[1.0, 3.0], [5.0, 2.0], [0.0, 8.0]]), *_plain(2), 0.0),
        Case(np.array([[1.0, 3.0]]), np.array([2.0, 5.0]), np.array([10.0, 20.0]), 0.0),
        Case(normal(3, 5), normal(5, seed=1), normal(5, seed=2), 0.1),
        Case(normal(7, 2), normal(2, seed=1), normal(2, seed=2), 0.5),
    ),
    batches=(Case(normal(2, 3, 5), normal(5, seed=1), normal(5, seed=2), 0.1), Case(normal(5), *_plain(5), 0.1)),
    batch_needed=True,
    mistakes=(
        Mistake("variance divided by n − 1", "The variance is the mean of the squares, divided by the number of "
                "features. Some libraries' std divides by one less.", partial(_norm, ddof=1),
                "the rows of the result do not have variance 1"),
        Mistake("eps outside the root", "eps belongs to the variance: √(variance + eps).", partial(_norm, outside=True),
                "with a large eps the values differ"),
        Mistake("eps left out", "A constant row has variance 0. eps keeps it from dividing by 0.",
                lambda X, gamma, beta, eps: _norm(X, gamma, beta, 0.0), "with a large eps the values differ"),
        Mistake("over the tokens, not the features", "Each token is normalised on its own, over the last axis. Here a "
                "token's output depends on the other tokens.", partial(_norm, axis=-2),
                "it changes when another token changes"),
        Mistake("over everything", "Each token has its own mean and variance, over the last axis.",
                partial(_norm, axis=None), "it changes when another token changes"),
        Mistake("divided by the variance", "The divisor is the root of the variance plus eps.", partial(_norm, power=1.0),
                "the rows of the result do not have variance 1"),
        Mistake("mean not subtracted", "Without subtracting the mean this is RMS norm, a relative of layer norm.",
                partial(_norm, centred=False), "the rows of the result do not have mean 0"),
        Mistake("gamma and beta left out", "The normalised values are still to be stretched by gamma and shifted by beta.",
                lambda X, gamma, beta, eps: _norm(X, np.ones(1), np.zeros(1), eps)),
        Mistake("gamma left out", "The normalised values are still to be stretched by gamma.",
                lambda X, gamma, beta, eps: _norm(X, np.ones(1), beta, eps)),
        Mistake("beta left out", "The stretched values are still to be shifted by beta.",
                lambda X, gamma, beta, eps: _norm(X, gamma, np.zeros(1), eps)),
        Mistake("shifted before it is stretched", "beta is added last: gamma · x + beta, not gamma · (x + beta).",
                lambda X, gamma, beta, eps: _norm(X, gamma, gamma * beta, eps)),
    ),
)  # fmt: skip


def _ffn(X: Array, W_1: Array, b_1: Array, W_2: Array, b_2: Array, *, bend: Function = mhalib.relu,
         end: Function = lambda Y: Y) -> Array:  # fmt: skip
    result: Array = end(bend(X @ W_1 + b_1) @ W_2 + b_2)
    return result


def _ffn_case(*batch: int, d: int, d_ff: int) -> tuple[Array, ...]:
    shapes = (d, d_ff), (d_ff,), (d_ff, d), (d,)
    return (normal(*batch, d), *(normal(*shape, seed=i) for i, shape in enumerate(shapes, 1)))


feed_forward = Exercise(
    "feed_forward(X, W_1, b_1, W_2, b_2)",
    LESSON,
    mhalib.feed_forward,
    cases=(
        Case(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [-1.0, 2.0]]), np.array([0.0, 1.0]),
             np.array([[7.0, 7.0], [1.0, -1.0]]), np.array([1.0, 1.0])),
        Case(*_ffn_case(3, d=2, d_ff=5)),
        Case(*_ffn_case(5, d=7, d_ff=11)),
    ),
    batches=(Case(*_ffn_case(2, 3, d=5, d_ff=7)),),
    batch_needed=True,
    mistakes=(
        Mistake("no activation", "Two linear layers in a row are one linear layer. Between them negative numbers have to "
                "become 0.", partial(_ffn, bend=lambda X: X)),
        Mistake("activation after the second layer", "ReLU stands between the two layers. At the end it would keep "
                "the network from ever subtracting.", partial(_ffn, bend=lambda X: X, end=mhalib.relu)),
        Mistake("activation after both layers", "ReLU stands between the two layers, and only there.",
                partial(_ffn, end=mhalib.relu)),
        Mistake("b_1 left out", "The first bias is missing.",
                lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, 0 * b_1, W_2, b_2)),
        Mistake("b_2 left out", "The second bias is missing.",
                lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, b_1, W_2, 0 * b_2)),
        Mistake("b_1 added after the activation", "The bias comes before ReLU: it moves the bend.",
                lambda X, W_1, b_1, W_2, b_2: (mhalib.relu(X @ W_1) + b_1) @ W_2 + b_2),
        Mistake("GELU instead of ReLU", "This exercise uses ReLU, max(x, 0), as the paper does.",
                partial(_ffn, bend=mhalib.gelu)),
        Mistake("absolute value instead of ReLU", "ReLU turns negative numbers into 0, not into positive ones.",
                partial(_ffn, bend=np.abs)),
        Mistake("residual added here", "The sum with X belongs to the block, not to the feed-forward network.",
                lambda X, W_1, b_1, W_2, b_2: X + _ffn(X, W_1, b_1, W_2, b_2)),
    ),
)  # fmt: skip


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
    return np.tri(n) / np.arange(1, n + 1)[:, None] @ X


_IDENTITY = Part("X ↦ X", lambda X: X * 1)
_ZERO = Part("X ↦ 0", lambda X: X * 0)
_NORM = Part("layer norm, eps = 0", lambda X: mhalib.layer_norm(X, eps=0.0))
_ATTEND = Part("X ↦ running mean of the tokens", _mix)
_SQUARES = Part("X ↦ X²", lambda X: X**2)
_NORM_1 = Part("X ↦ X / (1 + |X|)", lambda X: X / (1 + np.abs(X)))
_NORM_2 = Part("X ↦ tanh X + 3", lambda X: np.tanh(X) + 3)

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


NO_RESIDUAL = "A sublayer's output is a correction to the stream: it is added to what came in, and does not replace it."

post_norm_block = Exercise(
    "post_norm_block(X, attend, feed_forward, norm_1, norm_2)",
    LESSON,
    _post,
    cases=_BLOCK_CASES,
    batches=_BLOCK_BATCHES,
    mistakes=(
        Mistake("pre-norm", "This is the pre-norm block: it normalises what goes into each sublayer. Post-norm normalises "
                "each sum.", _pre),
        Mistake("no residual", NO_RESIDUAL, lambda X, a, f, n1, n2: n2(f(n1(a(X))))),
        Mistake("no residual around the feed-forward", NO_RESIDUAL, lambda X, a, f, n1, n2: n2(f(n1(X + a(X))))),
        Mistake("no residual around the attention", NO_RESIDUAL,
                lambda X, a, f, n1, n2: _post(X, lambda X: a(X) - X, f, n1, n2)),
        Mistake("second residual from the block's input", "The second sum starts from the stream as it is after the first "
                "norm, not from the block's input.",
                lambda X, a, f, n1, n2: n2(X + f(n1(X + a(X))))),
        Mistake("normalised before the sum", "The norm was taken of the sublayer's output alone: X + norm(f(X)). Post-norm "
                "takes it of the sum.",
                lambda X, a, f, n1, n2: (lambda Y: Y + n2(f(Y)))(X + n1(a(X)))),
        Mistake("second norm missing", "Both sums are normalised.", lambda X, a, f, n1, n2: (
            lambda Y: Y + f(Y))(n1(X + a(X)))),
        Mistake("first norm missing", "Both sums are normalised.", lambda X, a, f, n1, n2: (
            lambda Y: n2(Y + f(Y)))(X + a(X))),
        Mistake("no norm", "Both sums are normalised.", lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(X + a(X))),
        Mistake("norms exchanged", "norm_1 follows the attention, norm_2 the feed-forward.",
                lambda X, a, f, n1, n2: _post(X, a, f, n2, n1)),
        Mistake("the same norm twice", "norm_1 follows the attention, norm_2 the feed-forward: each has its own "
                "parameters.", lambda X, a, f, n1, n2: _post(X, a, f, n1, n1)),
        Mistake("feed-forward before the attention", "The attention comes first.",
                lambda X, a, f, n1, n2: _post(X, f, a, n1, n2)),
        Mistake("attention and feed-forward side by side", "The feed-forward reads what the attention has written.",
                lambda X, a, f, n1, n2: n2(n1(X + a(X)) + f(X))),
    ),
)  # fmt: skip

pre_norm_block = Exercise(
    "pre_norm_block(X, attend, feed_forward, norm_1, norm_2)",
    LESSON,
    _pre,
    cases=_BLOCK_CASES,
    batches=_BLOCK_BATCHES,
    mistakes=(
        Mistake("residual from the normed input", "The stream was replaced by its norm before the correction was added. "
                "Only the sublayer sees the norm; the sum starts from the stream itself.", _pre_normed_residual,
                "x = [1, 3] with a sublayer that returns its input gives [−2, 2], not [0, 4]"),
        Mistake("post-norm", "This is the post-norm block: it normalises each sum. Pre-norm normalises what goes into each "
                "sublayer.", _post),
        Mistake("no residual", NO_RESIDUAL, lambda X, a, f, n1, n2: f(n2(a(n1(X))))),
        Mistake("no residual around the feed-forward", NO_RESIDUAL, lambda X, a, f, n1, n2: f(n2(X + a(n1(X))))),
        Mistake("no residual around the attention", NO_RESIDUAL, lambda X, a, f, n1, n2: (
            lambda Y: Y + f(n2(Y)))(a(n1(X)))),
        Mistake("second residual from the block's input", "The second sum starts from the stream after the attention.",
                lambda X, a, f, n1, n2: X + f(n2(X + a(n1(X))))),
        Mistake("normalised after the sublayer", "The norm was taken of the sublayer's output. Pre-norm takes it of the "
                "sublayer's input.", lambda X, a, f, n1, n2: (lambda Y: Y + n2(f(Y)))(X + n1(a(X)))),
        Mistake("second norm missing", "Both sublayers get a normalised input.",
                lambda X, a, f, n1, n2: (lambda Y: Y + f(Y))(X + a(n1(X)))),
        Mistake("first norm missing", "Both sublayers get a normalised input.",
                lambda X, a, f, n1, n2: (lambda Y: Y + f(n2(Y)))(X + a(X))),
        Mistake("norms exchanged", "norm_1 precedes the attention, norm_2 the feed-forward.",
                lambda X, a, f, n1, n2: _pre(X, a, f, n2, n1)),
        Mistake("the same norm twice", "norm_1 precedes the attention, norm_2 the feed-forward: each has its own "
                "parameters.", lambda X, a, f, n1, n2: _pre(X, a, f, n1, n1)),
        Mistake("attention and feed-forward side by side", "The feed-forward reads what the attention has written.",
                lambda X, a, f, n1, n2: X + a(n1(X)) + f(n2(X))),
    ),
)  # fmt: skip

EXERCISES = (layer_norm, feed_forward, post_norm_block, pre_norm_block)
