"""Inputs drawn for the exercises on scores and masks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import Case, numbers, sizes

Array = NDArray[Any]
NO_KEY = "a row with no allowed key"
LARGE = "large scores"


def draw_scores(rng: Generator, i: int) -> Case:
    n_q, n_k, d_k = (1, *sizes(rng, 2)) if i % 5 == 4 else sizes(rng, 3)
    scale = 10.0 if i % 8 == 6 else 1.0
    return Case(numbers(rng, i, n_q, d_k, scale=scale), numbers(rng, i, n_k, d_k))


def draw_mask(rng: Generator, i: int, n_q: int, n_k: int) -> Array:
    """Return a mask at random, causal each third time, with an empty row each sixth time."""
    if i % 3 == 1:
        return mhalib.causal_mask(n_q, n_k) | (np.arange(n_k) == 0)
    mask = rng.random((n_q, n_k)) < 0.6
    mask[np.arange(n_q), rng.integers(0, n_k, n_q)] = True
    if i % 6 == 5:
        mask[rng.integers(0, n_q)] = False
    return mask


def draw_heads(rng: Generator, i: int) -> Case:
    n, h, d_k, d_v = sizes(rng, 4)
    d_model = int(rng.choice([13, 17]))
    shapes = (d_model, h * d_k), (d_model, h * d_k), (d_model, h * d_v), (h * d_v, d_model)
    kind = 0 if i % 3 == 2 else i  # special ones in float64
    X, *W = (numbers(rng, kind, *shape, scale=0.7) for shape in ((n, d_model), *shapes))
    if i % 4 == 0:
        return Case(X, *W, h)
    mask = draw_mask(rng, i, n, n)
    if not mask.any(axis=-1).all():
        return Case(X, *W, h, mask, note=NO_KEY)
    if i % 6 == 2:
        X, W[0], W[1] = (4 * X).round() * 4, W[0].round(1) * 8, W[1].round(1) * 8
        return Case(X, *W, h, mask, note=LARGE)
    return Case(X, *W, h, mask)
