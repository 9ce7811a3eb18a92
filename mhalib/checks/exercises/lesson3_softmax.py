"""Exercise of lesson 3: the softmax."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Function, Mistake, normal, numbers, sizes
from mhalib.checks.exercises.shared import ROWS
from mhalib.checks.properties import CAUSAL, raw

Array = NDArray[Any]


def _no_maximum(x: Array) -> Array:
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)


def _draw_softmax(rng: Generator, i: int) -> Case:
    n, m, b = sizes(rng, 3)
    x = numbers(rng, i, *((n, m), (m,), (n, m), (b, n, m))[i % 4], scale=(1.0, 3.0)[i % 2])
    if i % 6 == 5:
        return Case(x.round() - np.asarray(2.0**10, x.dtype), note="large numbers")
    if i % 6 == 4:
        x[..., 0] = -np.inf
        return Case(x, note="a masked score")
    if i % 6 == 2:
        x[..., 0] += 100
        return Case(x.round(), note="large numbers")
    return Case(x)


def _use(softmax: Function, x: Any) -> Any:
    """Torch has no softmax of whole numbers: its tensors arrive as float32."""
    return softmax(x if isinstance(x, np.ndarray) or x.is_floating_point() else x * 1.0)


def _shifted(shift: Function) -> Function:
    def wrong(x: Array) -> Array:
        exp = np.exp(x - shift(x))
        result: Array = exp / exp.sum(axis=-1, keepdims=True)
        return result

    return wrong


softmax = Exercise(
    "softmax(x)",
    (3, "Softmax, then the average of the values"),
    mhalib.softmax,
    cases=(
        Case(np.log([1.0, 2.0, 5.0])),
        Case(np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0]])),
        Case(normal(3, 5)),
        Case(np.array([[1000.0, 1000.0], [-1000.0, -1001.0]]), note="large numbers"),
        Case(np.array([1000.0, 1001.0]), note="large numbers"),
        Case(np.array([0.0, 800.0, 801.0]), note="large numbers"),
        Case(np.array([0, 1, 3]), note="whole numbers"),
        Case(np.array([0.0, 0.0, 2000.0, 0.0]), note="large numbers"),
        Case(np.array([0.0, -800.0, 1.0]), note="large numbers"),
        Case(np.array([0.0, -np.inf, 0.0]), note="a masked score"),
        Case(np.array([-np.inf, -1e30]), note="a masked score"),
    ),
    batches=(Case(normal(2, 3, 5)), Case(normal(2, 3, 5, 7)), Case(normal(1, 1, 5))),
    batch_needed=True,
    draw=_draw_softmax,
    shares=True,
    rowwise=True,
    call=_use,
    tolerance=5e-7,
    mistakes=(
        Mistake(
            "maximum not subtracted",
            "exp of a large number overflows, and ∞/∞ is NaN. Subtracting the row's maximum "
            "first changes no share.",
            _no_maximum,
            "large scores give NaN",
        ),
        Mistake(
            "over the wrong axis",
            "Each row is to be shared out. Here the columns sum to 1.",
            lambda x: mhalib.softmax(x, axis=0),
            ROWS,
        ),
        Mistake(
            "over everything",
            "All entries together sum to 1. Each row has to sum to 1.",
            lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
            ROWS,
        ),
        Mistake(
            "not divided by the sum",
            "exp makes the numbers positive; divide them by their sum.",
            np.exp,
            ROWS,
        ),
        Mistake(
            "not divided by the sum",
            "The maximum is subtracted, exp taken; divide by the sum of each row.",
            lambda x: np.exp(x - x.max(axis=-1, keepdims=True)),
            ROWS,
        ),
        Mistake(
            "exp forgotten",
            "The numbers were divided by their sum. Scores can be negative: exp comes first.",
            lambda x: x / x.sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "logarithm returned",
            "These are the logarithms of the shares.",
            mhalib.log_softmax,
            ROWS,
        ),
        Mistake(
            "sign turned round",
            "The largest score gets the smallest share: the sign is wrong.",
            lambda x: mhalib.softmax(-x),
        ),
        Mistake(
            "one maximum for all rows",
            "A row far below the largest number of all is rounded to 0, and 0/0 is NaN. Subtract "
            "the maximum of each row.",
            _shifted(np.max),
            "rows of very different size",
        ),
        Mistake(
            "mean subtracted, not the maximum",
            "What stands far above the mean still overflows. Subtract the largest of each row.",
            _shifted(lambda x: x.mean(axis=-1, keepdims=True)),
            "large numbers",
        ),
        Mistake(
            "mean subtracted, not the maximum",
            "What stands far above the mean still overflows. Subtract the largest of each row.",
            _shifted(np.mean),
            "large numbers",
        ),
        Mistake(
            "mean subtracted, not the maximum",
            "What stands far above the mean still overflows. Subtract the largest of each row.",
            _shifted(
                lambda x: np.nan_to_num(x, neginf=0).mean(axis=-1, keepdims=True),
            ),
            "large numbers",
        ),
        *(
            Mistake(
                f"{which} number of a row subtracted, not the largest",
                "What stands far above it still overflows. Subtract the largest of each row.",
                _shifted(lambda x, k=k: x[..., k, None]),
                "large numbers",
            )
            for which, k in (("first", 0), ("last", -1))
        ),
        Mistake(
            "minimum subtracted, not the maximum",
            "What stands far above the minimum still overflows. Subtract the largest of each row.",
            _shifted(lambda x: x.min(axis=-1, keepdims=True)),
            "large numbers",
        ),
        Mistake(
            "minimum subtracted, not the maximum",
            "What stands far above the minimum still overflows. Subtract the largest of each row.",
            _shifted(np.min),
            "large numbers",
        ),
        Mistake(
            "large numbers cut off",
            "Numbers above a limit were made equal to it, so that their order is lost. Subtract "
            "the maximum instead.",
            lambda x: mhalib.softmax(np.clip(x, -700, 700)),
            "large numbers",
        ),
        Mistake(
            "large numbers cut off",
            "Numbers above a limit were made equal to it, so that their order is lost. Subtract "
            "the maximum instead.",
            lambda x: mhalib.softmax(np.minimum(x, 50)),
            "large numbers",
        ),
        Mistake(
            "over the second axis",
            "The last axis is number −1, however many there are.",
            lambda x: mhalib.softmax(x, axis=1),
        ),
        Mistake(
            "powers of 2 instead of e",
            "exp is e to the power of x.",
            lambda x: mhalib.softmax(x * np.log(2)),
        ),
        Mistake(
            "sigmoid instead of softmax",
            "Each number was squeezed on its own. Softmax divides by the sum of the row.",
            lambda x: 1 / (1 + np.exp(-x)),
            ROWS,
        ),
        Mistake(
            "only the largest",
            "Softmax gives every number a share; the largest number gets the largest share.",
            lambda x: 1.0 * (x == x.max(axis=-1, keepdims=True)),
        ),
        Mistake(
            "softmax twice",
            "The softmax of the softmax is much flatter.",
            lambda x: mhalib.softmax(mhalib.softmax(x)),
        ),
        Mistake(
            "divided by the sum of x",
            "exp(x) is divided by the sum of exp(x), not of x.",
            lambda x: np.exp(x) / x.sum(axis=-1, keepdims=True),
            ROWS,
        ),
        Mistake(
            "divided by the number of entries",
            "The shares of a row sum to 1: divide by the sum of the row.",
            lambda x: np.exp(x) / x.shape[-1],
            ROWS,
        ),
        Mistake(
            "brought to length 1",
            "The numbers were divided by their length. Softmax: exp, then divided by the sum.",
            lambda x: x / np.linalg.norm(x, axis=-1, keepdims=True),
            ROWS,
        ),
        Mistake(
            "scaled to 0 … 1",
            "Softmax: exp, then divided by the sum.",
            lambda x: (x - x.min(-1, keepdims=True)) / np.ptp(x, axis=-1, keepdims=True),
            ROWS,
        ),
        Mistake(
            "one sum for all rows",
            "All entries together sum to 1. Each row has to sum to 1.",
            lambda x: (
                np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum()
            ),
            ROWS,
        ),
        *(
            Mistake(
                "large numbers cut off",
                "Numbers above a limit were made equal to it, so that their order is lost. "
                "Subtract the maximum instead.",
                lambda x, c=c: _no_maximum(np.clip(x, -c, c)),
                "large numbers",
            )
            for c in (20, 30, 50, 88, 100, 500, 700, 709)
        ),
        Mistake(
            "NaN swept away",
            "exp of a large number overflows, ∞/∞ is NaN, and NaN was replaced by a number. "
            "Subtracting the row's maximum first keeps it from coming.",
            lambda x: np.nan_to_num(_no_maximum(x)),
            "large numbers",
        ),
        *(
            Mistake(
                "−∞ replaced by a number",
                "The share of −∞ is exp(−∞) = 0. The number that took its place gets a share.",
                lambda x, c=c: mhalib.softmax(np.nan_to_num(x, neginf=c)),
                "a masked score",
            )
            for c in (0.0, 1.0, -1.0, -1e9, -1e4, -1e5, -100.0)
        ),
        Mistake(
            "shares in whole numbers",
            "The result got the dtype of x. Shares are fractions, even when x holds whole numbers.",
            lambda x: mhalib.softmax(x.astype(float)).astype(x.dtype),
            "whole numbers",
        ),
        Mistake(
            "squares instead of exp",
            "exp makes the numbers positive and keeps their order; squares do not.",
            lambda x: x**2 / (x**2).sum(axis=-1, keepdims=True),
        ),
        Mistake(
            "absolute values instead of exp",
            "exp makes the numbers positive and keeps their order.",
            lambda x: abs(x) / abs(x).sum(axis=-1, keepdims=True),
        ),
        *(
            Mistake(
                "a small number added to the sum",
                "The rows then sum to a little less than 1. After the maximum is subtracted the "
                "sum is at least 1, and nothing need be added.",
                lambda x, small=small: (
                    np.exp(x - x.max(-1, keepdims=True))
                    / (np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True) + small)
                ),
                ROWS,
            )
            for small in (1e-6, 1e-5, 1e-4, 1e-3)
        ),
    ),
    trial=lambda f: lambda X, W_V: f(np.where(CAUSAL, raw(X), -np.inf)) @ X @ W_V,
)


EXERCISES = (softmax,)
