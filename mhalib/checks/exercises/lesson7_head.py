"""Exercises of lesson 7: the vocabulary head."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import (
    Case,
    Exercise,
    Function,
    Mistake,
    Misuse,
    Nothing,
    normal,
    numbers,
    sizes,
)
from mhalib.checks.exercises.shared import RESHAPED_KEYS, torn

Array = NDArray[Any]

_E = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
_HEAD_CASES = (
    Case(np.array([[1.0, 2.0]]), _E),
    Case(normal(3, 3), normal(3, 3, seed=1)),
    Case(normal(3, 5), normal(7, 5, seed=1)),
)


def _draw_logits(rng: Generator, i: int) -> Case:
    n, d_model, V = sizes(rng, 3)
    return Case(numbers(rng, i, n, d_model), numbers(rng, i, V, d_model))


def _draw_head(rng: Generator, i: int) -> Case:
    return Case(*_draw_logits(rng, i).args[::-1])


def _unit(X: Array) -> Array:
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


tied_logits = Exercise(
    "tied_logits(X, E)",
    (7, "One dot product for each word"),
    mhalib.tied_logits,
    cases=_HEAD_CASES,
    batches=tuple(
        Case(normal(*shape, 5), normal(7, 5, seed=1)) for shape in ((2, 3), (1, 3), (2, 1, 3), ())
    ),
    batch_needed=True,
    draw=_draw_logits,
    rowwise=True,
    mistakes=(
        Mistake(
            "Eᵀ missing",
            "A logit is the dot product of x with a row of E: X Eᵀ.",
            lambda X, E: X @ E,
        ),
        Mistake(*RESHAPED_KEYS, torn),
        Mistake(
            "probabilities returned",
            "Logits come before the softmax: real numbers of either sign.",
            lambda X, E: mhalib.softmax(X @ E.T),
        ),
        Mistake(
            "scaled by √d_model",
            "The logits are plain dot products.",
            lambda X, E: X @ E.T / E.shape[1] ** 0.5,
        ),
        Mistake(
            "cosine instead of dot product",
            "The rows of E were brought to length 1. Their lengths count: a longer row makes "
            "its token likelier.",
            lambda X, E: X @ (E / np.linalg.norm(E, axis=1, keepdims=True)).T,
        ),
        Mistake(
            "distance instead of dot product",
            "A logit is a dot product, not a distance.",
            lambda X, E: -((X[..., None, :] - E) ** 2).sum(axis=-1),
        ),
        Mistake(
            "cosine instead of dot product",
            "Both vectors were brought to length 1. Their lengths count.",
            lambda X, E: _unit(X) @ _unit(E).T,
        ),
        Mistake(
            "multiplied by √d_model",
            "The logits are plain dot products.",
            lambda X, E: X @ E.T * E.shape[1] ** 0.5,
        ),
        Mistake(
            "log-probabilities returned",
            "Logits come before the softmax. These have been normalised already.",
            lambda X, E: mhalib.log_softmax(X @ E.T),
        ),
        Mistake(
            "tokens and words exchanged",
            "One row for each token, one column for each word: (*batch, V).",
            lambda X, E: E @ X.T,
        ),
        Mistake(
            "the likeliest ids returned",
            "The logits of all words were asked for.",
            lambda X, E: (X @ E.T).argmax(axis=-1),
        ),
        Mistake(
            "only the last token",
            "Each token has its row of logits.",
            lambda X, E: X[-1] @ E.T,
        ),
        Mistake(
            "the inverse of E instead of Eᵀ",
            "A logit is the dot product of x with a row of E: X Eᵀ.",
            lambda X, E: X @ np.linalg.pinv(E),
        ),
        Mistake(
            "mean subtracted",
            "The logits are plain dot products, as they come.",
            lambda X, E: X @ E.T - (X @ E.T).mean(axis=-1, keepdims=True),
        ),
        Mistake(
            "mean subtracted",
            "The logits are plain dot products, with E as it is.",
            lambda X, E: X @ (E - E.mean(axis=0)).T,
        ),
        Mistake(
            "mean subtracted",
            "The logits are plain dot products, with X as it is.",
            lambda X, E: (X - X.mean(axis=-1, keepdims=True)) @ E.T,
        ),
    ),
)


def _use_head(tied_head: Function, E: Array, X: Array) -> Any:
    """Make a head from a table of zeros and one from another, and edit the first table.

    The first head is used after each edit; its last logits count, but one: those of another X
    come after them. At the last edit two entries of a row in the middle change places, so that the
    sum, the corners and the like stay.
    """
    table = E * 0
    head = tied_head(table)
    if head is None or head is ...:
        raise Nothing(head)
    if not callable(head):
        raise Misuse(
            f"It returned a value of type {type(head).__name__}. A function head(X) was expected."
        )
    other = tied_head(3 * E + 2)
    table += 2 * E + 1
    head(X)
    other(X)
    table -= E + 1
    middle = len(E) // 2
    table[middle, 0], table[middle, -1] = E[middle, -1], E[middle, 0]
    head(X)
    table[middle] = E[middle]
    logits = head(X)
    head(1 - X)
    return logits


def _of_the_newest_table(E: Array) -> Function:
    _NEWEST[:] = [E]
    return lambda X: X @ _NEWEST[0].T


_NEWEST: list[Array] = []


def _in_one_buffer(E: Array) -> Function:
    buffer: list[Array] = []

    def head(X: Array) -> Array:
        buffer[:] = buffer or [X @ E.T]
        buffer[0][...] = X @ E.T
        return buffer[0]

    return head


def _of_the_first_use(E: Array) -> Function:
    @lru_cache(maxsize=1)
    def table() -> Array:
        return E.copy()

    return lambda X: X @ table().T


def _watching(sign: Function) -> Function:
    """Return a head whose copy of E is renewed when `sign(E)` has changed."""

    def tied_head(E: Array) -> Function:
        @lru_cache(maxsize=1)
        def table(_: float) -> Array:
            return E.copy()

        return lambda X: X @ table(round(float(sign(E)), 3)).T

    return tied_head


tied_head = Exercise(
    "tied_head(E)",
    (7, "One table at both ends"),
    lambda E: lambda X: X @ E.T,
    cases=tuple(Case(case.args[1], case.args[0]) for case in _HEAD_CASES),
    draw=_draw_head,
    mistakes=(
        Mistake(
            "tied head copied, not shared",
            "The head was made from a table of zeros, which then became what is shown. The "
            "logits stayed as they were: the head keeps a copy. Tied means one table.",
            lambda E: partial(lambda copy, X: X @ copy.T, E.copy()),
            "editing E leaves the logits alone",
        ),
        Mistake(
            "remembered from the first use",
            "The head was used, then E was edited to what is shown, and the head was used again on "
            "the same X: logits of the old table came. Take E as it is at each use.",
            _of_the_first_use,
            "editing E leaves the logits alone",
        ),
        *(
            Mistake(
                "a copy that is renewed at some changes only",
                "After the last use two entries of a row of E changed places, and the logits "
                "stayed: the head keeps a copy of E. Take E as it is at each use.",
                _watching(sign),
                "editing E leaves the logits alone",
            )
            for sign in (np.sum, np.max, np.linalg.norm, lambda E: E[0, 0], lambda E: E[-1, -1])
        ),
        Mistake(
            "one array for the logits of all uses",
            "After the last use on X the head was used on another X, and that overwrote the logits "
            "of X. Give a new array back each time.",
            _in_one_buffer,
            "a second use changes the logits of the first",
        ),
        Mistake(
            "rounded to float32",
            "E has more digits: a small change of E must change the logits. Use E itself.",
            lambda E: lambda X: (X @ E.astype(np.float32).T).astype(X.dtype),
            "a small change of E",
        ),
        Mistake(
            "one table for all heads",
            "A second head was made, from another table, and the first one now uses that table, "
            "too. Each head has the table it was made from.",
            _of_the_newest_table,
            "a second head changes the first",
        ),
        Mistake(
            "Eᵀ missing",
            "A logit is the dot product of x with a row of E: X Eᵀ.",
            lambda E: lambda X: X @ E,
        ),
        Mistake(
            "tokens and words exchanged",
            "One row for each token, one column for each word: (n, V).",
            lambda E: lambda X: E @ X.T,
        ),
        Mistake(
            "probabilities returned",
            "Logits come before the softmax: real numbers of either sign.",
            lambda E: lambda X: mhalib.softmax(X @ E.T),
        ),
        Mistake(
            "scaled by √d_model",
            "The logits are plain dot products.",
            lambda E: lambda X: X @ E.T / E.shape[1] ** 0.5,
        ),
        Mistake(
            "scaled by √d_model",
            "The logits are plain dot products.",
            lambda E: lambda X: X @ E.T * E.shape[1] ** 0.5,
        ),
    ),
    call=_use_head,
    tolerance=1e-10,
    story="The head was made from a table of zeros, which was then edited, with uses in between, "
    "until it was the E shown; a head of another table was made and used, too. The logits must be "
    "those of E as it is at the last use, and stay when the head is used on another X.",
    labels=("E", "X"),
)


EXERCISES = (tied_logits, tied_head)
