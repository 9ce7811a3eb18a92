"""Exercise of lesson 6: the feed-forward network."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal, numbers, sizes

Array = NDArray[Any]


def _ffn(
    X: Array,
    W_1: Array,
    b_1: Array,
    W_2: Array,
    b_2: Array,
    *,
    bend: Function = mhalib.relu,
    end: Function = lambda Y: Y,
) -> Array:
    result: Array = end(bend(X @ W_1 + b_1) @ W_2 + b_2)
    return result


def _ffn_case(*batch: int, d: int, d_ff: int) -> tuple[Array, ...]:
    shapes = (d, d_ff), (d_ff,), (d_ff, d), (d,)
    return (normal(*batch, d), *(normal(*shape, seed=i) for i, shape in enumerate(shapes, 1)))


def _draw_ffn(rng: Generator, i: int) -> Case:
    n, d, d_ff = sizes(rng, 3)
    shapes = (n, d), (d, d_ff), (d_ff,), (d_ff, d), (d,)
    arrays = [numbers(rng, i, *shape) for shape in shapes]
    if i % 6 == 4:
        arrays[0] = arrays[0] * 32
    return Case(*arrays)


feed_forward = Exercise(
    "feed_forward(X, W_1, b_1, W_2, b_2)",
    (6, "The feed-forward network"),
    mhalib.feed_forward,
    cases=(
        Case(
            np.array([[1.0, 2.0]]),
            np.array([[1.0, 0.0], [-1.0, 2.0]]),
            np.array([0.0, 1.0]),
            np.array([[7.0, 7.0], [1.0, -1.0]]),
            np.array([1.0, 1.0]),
        ),
        Case(*_ffn_case(3, d=2, d_ff=5)),
        Case(*_ffn_case(5, d=7, d_ff=11)),
    ),
    batches=(
        Case(*_ffn_case(2, 3, d=5, d_ff=7)),
        Case(*_ffn_case(1, 3, d=5, d_ff=7)),
        Case(*_ffn_case(2, 1, 3, d=5, d_ff=7)),
    ),
    batch_needed=True,
    draw=_draw_ffn,
    rowwise=True,
    mistakes=(
        Mistake(
            "no activation",
            "Two linear layers in a row are one linear layer. Between them negative numbers "
            "have to become 0.",
            partial(_ffn, bend=lambda X: X),
        ),
        Mistake(
            "activation after the second layer",
            "ReLU stands between the two layers. At the end it would keep the network from ever"
            " subtracting.",
            partial(_ffn, bend=lambda X: X, end=mhalib.relu),
        ),
        Mistake(
            "activation after both layers",
            "ReLU stands between the two layers, and only there.",
            partial(_ffn, end=mhalib.relu),
        ),
        Mistake(
            "the largest of the tokens instead of ReLU",
            "ReLU compares each number with 0. Here the largest number of each column was taken, "
            "and the 0 was read as an axis.",
            partial(_ffn, bend=lambda X: X.max(axis=0)),
            "the result has one axis too few",
        ),
        Mistake(
            "b_1 left out",
            "The first bias is missing.",
            lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, 0 * b_1, W_2, b_2),
        ),
        Mistake(
            "b_2 left out",
            "The second bias is missing.",
            lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, b_1, W_2, 0 * b_2),
        ),
        Mistake(
            "b_1 added after the activation",
            "The bias comes before ReLU: it moves the bend.",
            lambda X, W_1, b_1, W_2, b_2: (mhalib.relu(X @ W_1) + b_1) @ W_2 + b_2,
        ),
        Mistake(
            "GELU instead of ReLU",
            "This exercise uses ReLU, max(x, 0), as the paper does.",
            partial(_ffn, bend=mhalib.gelu),
        ),
        Mistake(
            "absolute value instead of ReLU",
            "ReLU turns negative numbers into 0, not into positive ones.",
            partial(_ffn, bend=np.abs),
        ),
        Mistake(
            "residual added here",
            "The sum with X belongs to the block, not to the feed-forward network.",
            lambda X, W_1, b_1, W_2, b_2: X + _ffn(X, W_1, b_1, W_2, b_2),
        ),
        *(
            Mistake(
                "ReLU cut off above",
                f"ReLU keeps positive numbers as they are. Here they end at {top}.",
                partial(_ffn, bend=lambda X, top=top: np.clip(X, 0, top)),
            )
            for top in (1, 6, 5, 10)
        ),
        Mistake(
            "ReLU the wrong way round",
            "ReLU turns negative numbers into 0 and keeps positive ones.",
            partial(_ffn, bend=lambda X: np.minimum(X, 0)),
        ),
        Mistake(
            "leaky ReLU",
            "ReLU turns negative numbers into 0, exactly.",
            partial(_ffn, bend=lambda X: np.where(X > 0, X, 0.01 * X)),
        ),
        Mistake(
            "leaky ReLU",
            "ReLU turns negative numbers into 0, exactly.",
            partial(_ffn, bend=lambda X: np.where(X > 0, X, 0.1 * X)),
        ),
        Mistake(
            "tanh instead of ReLU",
            "This exercise uses ReLU, max(x, 0), as the paper does.",
            partial(_ffn, bend=np.tanh),
        ),
        Mistake(
            "sigmoid instead of ReLU",
            "This exercise uses ReLU, max(x, 0), as the paper does.",
            partial(_ffn, bend=lambda X: 1 / (1 + np.exp(-X))),
        ),
        Mistake(
            "SiLU instead of ReLU",
            "This exercise uses ReLU, max(x, 0), as the paper does.",
            partial(_ffn, bend=lambda X: X / (1 + np.exp(-X))),
        ),
        Mistake(
            "softplus instead of ReLU",
            "This exercise uses ReLU, max(x, 0), as the paper does.",
            partial(_ffn, bend=lambda X: np.logaddexp(0, X)),
        ),
        Mistake(
            "GELU instead of ReLU",
            "This exercise uses ReLU, max(x, 0), as the paper does.",
            partial(
                _ffn, bend=lambda X: X / 2 * (1 + np.tanh(0.7978845608 * (X + 0.044715 * X**3)))
            ),
        ),
        Mistake(
            "softmax instead of ReLU",
            "This exercise uses ReLU, max(x, 0), as the paper does.",
            partial(_ffn, bend=mhalib.softmax),
        ),
        Mistake(
            "a step instead of ReLU",
            "ReLU keeps a positive number as it is; this makes it 1.",
            partial(_ffn, bend=lambda X: np.where(X > 0, 1.0, 0.0)),
        ),
        Mistake(
            "squared ReLU",
            "ReLU keeps a positive number as it is; this squares it.",
            partial(_ffn, bend=lambda X: np.maximum(X, 0) ** 2),
        ),
        Mistake(
            "activation before the first layer",
            "ReLU stands between the two layers.",
            lambda X, *rest: _ffn(np.maximum(X, 0), *rest, bend=lambda X: X),
        ),
        Mistake(
            "activation before the first layer, too",
            "ReLU stands between the two layers, and only there.",
            lambda X, *rest: _ffn(np.maximum(X, 0), *rest),
        ),
        Mistake(
            "both biases left out",
            "The biases are missing.",
            lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, 0 * b_1, W_2, 0 * b_2),
        ),
        Mistake(
            "bias subtracted",
            "Both biases are added.",
            lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, -b_1, W_2, b_2),
        ),
        Mistake(
            "bias subtracted",
            "Both biases are added.",
            lambda X, W_1, b_1, W_2, b_2: _ffn(X, W_1, b_1, W_2, -b_2),
        ),
        Mistake(
            "normalised here",
            "The norm belongs to the block, not to the feed-forward network.",
            lambda X, *rest: mhalib.layer_norm(_ffn(X, *rest)),
        ),
    ),
)


EXERCISES = (feed_forward,)
