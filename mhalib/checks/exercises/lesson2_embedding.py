"""Exercises of lesson 2: the lookup and the sinusoidal positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, Exercise, Mistake, normal, numbers, sizes

Array = NDArray[Any]


def _scaled_lookup(power: float) -> Any:
    return lambda ids, E: E[ids] * E.shape[1] ** power


def _draw_embed(rng: Generator, i: int) -> Case:
    V, d_model, n = sizes(rng, 3)
    return Case(rng.integers(0, V, n), numbers(rng, i, V, d_model))


embed = Exercise(
    "embed(ids, E)",
    (2, "Adding the two, and why × √d_model"),
    mhalib.embed,
    cases=(
        Case(np.array([2, 0]), np.arange(12.0).reshape(3, 4)),
        Case(np.array([4, 1, 4]), normal(5, 2)),
        Case(np.array([0, 6, 3, 3, 1]), normal(7, 3)),
        Case(np.array([2]), normal(5, 3)),
        Case(np.array([256, 3, 299]), normal(300, 2), note="many words"),
    ),
    batches=(Case(np.array([[1, 2, 0], [4, 4, 3]]), normal(5, 7)),),
    draw=_draw_embed,
    rowwise=True,
    mistakes=(
        Mistake(
            "×√d_model forgotten",
            "The rows of E came back as they are. The paper multiplies them by √d_model; without "
            "it the positions drown the words.",
            _scaled_lookup(0),
        ),
        Mistake(
            "divided by √d_model",
            "The rows are multiplied by √d_model, not divided.",
            _scaled_lookup(-0.5),
        ),
        Mistake(
            "multiplied by d_model",
            "The factor is √d_model; the root is missing.",
            _scaled_lookup(1),
        ),
        Mistake(
            "√V instead of √d_model",
            "The factor comes from the width of the vectors, the second axis of E, not from its"
            " number of rows.",
            lambda ids, E: E[ids] * len(E) ** 0.5,
        ),
        Mistake(
            "one-hot rows returned",
            "These are one-hot rows, (n, V). Their product with E is what was asked for.",
            lambda ids, E: np.eye(len(E))[ids],
        ),
        Mistake(
            "d_model ** 1/2 is half of d_model",
            "Powers come before division: d ** 1/2 is (d ** 1) / 2. The root needs brackets.",
            lambda ids, E: E[ids] * E.shape[1] / 2,
        ),
        Mistake(
            "√n instead of √d_model",
            "The factor comes from the width of the vectors, not from the number of tokens.",
            lambda ids, E: E[ids] * len(ids) ** 0.5,
        ),
        Mistake(
            "ids counted from 1",
            "Id 0 is the first row of E.",
            lambda ids, E: E[ids - 1] * E.shape[1] ** 0.5,
        ),
        Mistake(
            "vectors brought to length 1",
            "The rows of E keep their length, times √d_model.",
            lambda ids, E: E[ids] / np.linalg.norm(E[ids], axis=-1, keepdims=True),
        ),
        Mistake(
            "one vector for all tokens",
            "Each token keeps its own row: (n, d_model).",
            lambda ids, E: E[ids].mean(axis=0) * E.shape[1] ** 0.5,
        ),
        Mistake(
            "one vector for all tokens",
            "Each token keeps its own row: (n, d_model).",
            lambda ids, E: E[ids].sum(axis=0) * E.shape[1] ** 0.5,
        ),
        Mistake(
            "positions added",
            "Only the rows of the table were asked for, times √d_model. The positions come later.",
            lambda ids, E: E[ids] * E.shape[1] ** 0.5 + _positions(len(ids), E.shape[1]),
        ),
        Mistake(
            "the root cut to a whole number",
            "√d_model is rarely a whole number: multiply by it as it is.",
            lambda ids, E: E[ids] * int(E.shape[1] ** 0.5),
        ),
        Mistake(
            "ids sorted",
            "The rows come in the order of the text.",
            lambda ids, E: E[np.sort(ids)] * E.shape[1] ** 0.5,
        ),
        Mistake(
            "each id once",
            "The rows came in the order of the table. They come in the order of the text, and a "
            "word that comes twice has two: (n, d_model).",
            lambda ids, E: E[np.unique(ids)] * E.shape[1] ** 0.5,
        ),
        Mistake(
            "the first rows of E",
            "Row i of the result is the row of E whose number is ids[i].",
            lambda ids, E: np.resize(E, (len(ids), E.shape[1])) * E.shape[1] ** 0.5,
        ),
        Mistake(
            "positions added",
            "Only the rows of the table were asked for, times √d_model. The positions come later.",
            lambda ids, E: E[ids] + _positions(len(ids), E.shape[1]),
        ),
        Mistake(
            "vectors brought to length 1",
            "The rows of E keep their length, times √d_model.",
            lambda ids, E: (
                E[ids] / np.linalg.norm(E[ids], axis=-1, keepdims=True) * E.shape[1] ** 0.5
            ),
        ),
    ),
)


def _positions(
    n: int,
    d_model: int,
    *,
    exponent: Any = None,
    first: int = 0,
    halves: bool = False,
    swapped: bool = False,
    inverse: bool = True,
    base: float = 10000.0,
    scale: float = 1.0,
) -> Array:
    column = np.arange(d_model)
    pair = column // 2
    power = (2 * pair if exponent is None else exponent(column)) / d_model
    angles = scale * np.arange(first, first + n)[:, None] * base ** (-power if inverse else power)
    even = (column % 2 == 0) != swapped
    P = np.where(even, np.sin(angles), np.cos(angles))
    return np.concatenate([P[:, 0::2], P[:, 1::2]], axis=1) if halves else P


def _last_sine_missing(n: int, d_model: int) -> Array:
    P = _positions(n, d_model)
    P[:, d_model - d_model % 2 :] = 0
    return P


MANY = "many places"


def _draw_positions(rng: Generator, i: int) -> Case:
    n, d_model = int(rng.integers(1, 24)), int(rng.integers(1, 17))
    return Case(n, d_model, note="an odd d_model" * (d_model % 2))


def _without_brackets(n: int, d_model: int) -> Array:
    angles = np.arange(n)[:, None] / 10000.0 ** (2 * (np.arange(d_model) // 2)) / d_model
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angles), np.cos(angles))


sinusoidal_positions = Exercise(
    "sinusoidal_positions(n, d_model)",
    (2, "Positional encoding: a vector for each place"),
    mhalib.sinusoidal_positions,
    cases=(
        Case(2, 4),
        Case(1, 2),
        Case(3, 2),
        Case(7, 6),
        Case(3, 10),
        Case(5, 5, note="an odd d_model"),
        Case(601, 2, note=MANY),  # at speed 1, where float32 knows every angle
        Case(5003, 1, note=MANY),
    ),
    draw=_draw_positions,
    mistakes=(
        Mistake(
            "an exponent of its own for each column",
            "Sine and cosine of a pair must turn at the same speed: the exponent is "
            "2⌊column/2⌋/d_model, the same for both. Only then does P[a]·P[b] depend on the "
            "distance alone.",
            lambda n, d: _positions(n, d, exponent=lambda column: 2 * column),
            "P[a]·P[b] is not the same for equal distances",
        ),
        Mistake(
            "exponent grows with the column",
            "Sine and cosine of a pair must turn at the same speed; here each column has its own.",
            lambda n, d: _positions(n, d, exponent=lambda column: column),
            "P[a]·P[b] is not the same for equal distances",
        ),
        Mistake(
            "exponent i instead of 2i",
            "The speed of pair i is 1/10000^(2i/d_model). With i in the exponent the clocks "
            "slow down half as much.",
            lambda n, d: _positions(n, d, exponent=lambda column: column // 2),
        ),
        Mistake(
            "all sines first",
            "Sines and cosines take turns: sine in columns 0, 2, 4, …, cosine in 1, 3, 5, …",
            lambda n, d: _positions(n, d, halves=True),
        ),
        Mistake(
            "sine and cosine exchanged",
            "Even columns are sines: position 0 is [0, 1, 0, 1, …].",
            lambda n, d: _positions(n, d, swapped=True),
        ),
        Mistake(
            "positions counted from 1",
            "The first token has position 0.",
            lambda n, d: _positions(n, d, first=1),
        ),
        Mistake(
            "multiplied by the power, not divided",
            "The angle is position / 10000^(2i/d_model). Multiplied, later clocks run faster, "
            "not slower.",
            lambda n, d: _positions(n, d, inverse=False),
        ),
        Mistake(
            "base 1000 instead of 10000",
            "The base is 10000.",
            lambda n, d: _positions(n, d, base=1000.0),
        ),
        Mistake(
            "sines only",
            "Every second column is the cosine of the same angle.",
            lambda n, d: np.sin(np.arange(n)[:, None] / 10000 ** (2 * (np.arange(d) // 2) / d)),
        ),
        Mistake(
            "exponent 4i instead of 2i",
            "The speed of pair i is 1/10000^(2i/d_model). Here the exponent is twice that: the "
            "numbers 0, 2, 4, … are 2i already.",
            lambda n, d: _positions(n, d, exponent=lambda column: 4 * (column // 2)),
        ),
        Mistake(
            "the exponent without brackets",
            "Powers come before division: 10000 ** a / b is (10000 ** a) / b. The whole fraction "
            "2i/d_model is the exponent.",
            _without_brackets,
        ),
        Mistake(
            "cosines only",
            "The first column of every pair is the sine of the same angle.",
            lambda n, d: np.cos(np.arange(n)[:, None] / 10000 ** (2 * (np.arange(d) // 2) / d)),
        ),
        Mistake(
            "base e",
            "The base is 10000.",
            lambda n, d: _positions(n, d, base=np.e),
        ),
        Mistake(
            "exponent without d_model",
            "The exponent is 2i/d_model, a fraction below 1.",
            lambda n, d: _positions(n, d, exponent=lambda column: 2 * (column // 2) * d),
        ),
        Mistake(
            "places and columns exchanged",
            "One row for each place, one column for each feature: (n, d_model).",
            lambda n, d: _positions(n, d).T,
        ),
        Mistake(
            "one speed for all columns",
            "Each pair of columns turns at a speed of its own.",
            lambda n, d: _positions(n, d, exponent=lambda column: 0 * column),
        ),
        Mistake(
            "pairs counted from 1",
            "The first pair has i = 0, so it turns at speed 1.",
            lambda n, d: _positions(n, d, exponent=lambda column: 2 * (column // 2) + 2),
        ),
        Mistake(
            "places scaled to 0 … 1",
            "The angle grows with the number of the place itself.",
            lambda n, d: _positions(n, d, scale=1 / max(n, 1)),
        ),
        Mistake(
            "degrees",
            "Sine and cosine take the angle in radians, as it is.",
            lambda n, d: _positions(n, d, scale=np.pi / 180),
        ),
        Mistake(
            "an odd width rounded up",
            "The exponent is 2i/d_model with d_model as it is, odd or even.",
            lambda n, d: _positions(n, d + d % 2)[:, :d],
            "an odd d_model",
        ),
        Mistake(
            "the last sine is missing for an odd d_model",
            "The last column of an odd d_model is a sine without a cosine. Here it stays 0: "
            "d_model // 2 pairs leave it out.",
            _last_sine_missing,
            "an odd d_model",
        ),
        *(
            Mistake(
                "a table with a fixed number of rows",
                "The places were made once and cut to length. A longer text gets too few rows: "
                "make n of them.",
                lambda n, d, most=most: _positions(most, d)[:n],
                MANY,
            )
            for most in (512, 1000, 1024, 2048, 5000)
        ),
    ),
)

EXERCISES = (embed, sinusoidal_positions)
