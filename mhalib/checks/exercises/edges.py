"""Inputs at the edge, on which masked attention goes wrong in ways that others do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Function
from mhalib.checks.exercises.shared import fill, plain

Array = NDArray[Any]
APART, LOW = "rows far apart", "very low scores"

# Scores [[4097, 4095], [−4097, −4095]]: one maximum for both rows is far too large for the second.
# And a score of −10²⁰ that is seen, beside one of 0 that is hidden.
ROWS_APART = (
    np.array([[64.0, 1.0], [-64.0, 1.0]]),
    np.array([[1.0], [0.0]]),
    np.array([[2.0**-12], [64.0]]),
    np.array([[2.0**-6], [0.0]]),
)
LOW_SCORES = np.eye(2), np.ones((2, 1)), np.array([[-1e20], [0.0]]), np.array([[1.0], [2.0]])


def at_the_edge(make: Function) -> tuple[Case, ...]:
    """Return cases ``Case(*make(X, W_Q, W_K, W_V, mask))`` with such scores."""
    mask = np.tri(2, dtype=bool)
    return (
        Case(*make(*ROWS_APART, np.ones((2, 2), bool)), note=APART),
        Case(*make(*LOW_SCORES, mask), note=LOW),
    )


FINITE = "The masked scores are large negative numbers, not −∞."
EMPTY = (
    "A row in which everything is masked has nothing to share out. By the course's rule its "
    "weights are 0"
)


def _over_sum(exp: Array) -> Array:
    total = exp.sum(axis=-1, keepdims=True)
    return exp / np.where(total == 0, 1, total)


def _with_rule(masking: Function) -> Function:
    """Return `masking`, with weights 0 where no key is allowed."""
    return lambda S, mask: np.where(mask.any(axis=-1, keepdims=True), masking(S, mask), 0)


def _bias(value: float) -> Function:
    return lambda S, mask: plain(S + np.where(mask, 0.0, value))


def _one_maximum(axes: Any, over: Function = lambda exp: exp / exp.sum(-1, keepdims=True)) -> Any:
    def weights(S: Array, mask: Array) -> Array:
        largest = np.where(mask, S, -np.inf).max(axis=axes, keepdims=True)
        result: Array = over(np.where(mask, np.exp(S - largest), 0))
        return result

    return weights


_FINITE_FILLS = [how(value) for value in (-1e9, -1e4, -1e2, -20.0) for how in (fill, _bias)]

# Wrong only for special inputs: (name, why, wrong, what shows it)
AT_THE_EDGE: tuple[tuple[str, str, Function, str], ...] = (
    *(
        (
            "finite fill",
            f"{FINITE} {EMPTY}, and so is the output. Such a row is not 0 here. And a real score "
            "can be as low as the fill: then the masked key gets a share.",
            masking,
            "a fully masked row, or scores below the fill",
        )
        for masking in _FINITE_FILLS
    ),
    *(
        (
            "finite fill",
            f"{FINITE} A real score can be lower still: then the masked key gets a share, or all.",
            _with_rule(masking),
            "scores below the fill",
        )
        for masking in _FINITE_FILLS
    ),
    *(
        (
            "one maximum for all rows",
            "A row far below the largest score of all is rounded to 0, all of it. Subtract the "
            "maximum of each row.",
            masking,
            "rows of very different size",
        )
        for masking in (
            *(_with_rule(_one_maximum(axes)) for axes in (None, (-1, -2))),
            *(_one_maximum(axes, over=_over_sum) for axes in (None, (-1, -2))),
        )
    ),
    (
        "an empty row shared out equally",
        f"{EMPTY}, and so is the output. Here each of its keys gets the same share.",
        lambda S, mask: np.where(
            mask.any(axis=-1, keepdims=True), mhalib.attention_weights(S, mask), 1 / S.shape[-1]
        ),
        "a fully masked row",
    ),
    (
        "an empty row empties all",
        f"{EMPTY}, and so is its output. The other rows stay as they are.",
        lambda S, mask: mhalib.attention_weights(S, mask) * mask.any(axis=-1).all(),
        "a fully masked row",
    ),
    (
        "empty row is NaN",
        f"{EMPTY}, and so is the output. Here it is 0/0 or ∞ − ∞, which is NaN, and NaN spreads.",
        fill(-np.inf),
        "a fully masked row",
    ),
    (
        "maximum not subtracted",
        "exp of a large number overflows, and ∞/∞ is NaN. Subtracting the row's maximum first "
        "changes no share.",
        lambda S, mask: _over_sum(np.where(mask, np.exp(S), 0)),
        "large scores",
    ),
    (
        "maximum not subtracted",
        "exp of a large number overflows, and ∞/∞ is NaN. Subtracting the row's maximum first "
        "changes no share.",
        lambda S, mask: np.where(
            mask.any(axis=-1, keepdims=True),
            np.where(mask, np.exp(S), 0) / np.where(mask, np.exp(S), 0).sum(-1, keepdims=True),
            0,
        ),
        "large scores",
    ),
    (
        "masked after exp, by the maximum of all keys",
        "The maximum of the whole row was subtracted, hidden keys included. If a hidden score is "
        "far above the others, all allowed shares are rounded to 0.",
        lambda S, mask: _over_sum(np.where(mask, np.exp(S - S.max(-1, keepdims=True)), 0)),
        "a large hidden score",
    ),
)
