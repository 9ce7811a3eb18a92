"""Seeded normal numbers that JavaScript can draw too, so that a browser shows NumPy's numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def words(seed: int, count: int) -> NDArray[np.uint32]:
    """Return the first `count` words of the Mulberry32 generator started at `seed`."""
    t = np.uint32(seed) + np.arange(1, count + 1, dtype=np.uint32) * np.uint32(0x6D2B79F5)
    t = (t ^ (t >> 15)) * (t | 1)
    t ^= t + (t ^ (t >> 7)) * (t | 61)
    return (t ^ (t >> 14)).astype(np.uint32)


def normals(seed: int, count: int) -> NDArray[np.float64]:
    """Return `count` standard normal numbers (Box–Muller on pairs of `words`).

    Examples
    --------
    >>> normals(1, 3).round(6)
    array([0.965974, 0.016606, 1.123104])
    """
    pairs = words(seed, count + count % 2).astype(np.float64).reshape(-1, 2) / 2.0**32
    radius = np.sqrt(-2 * np.log(pairs[:, 0] + 2.0**-32))
    angle = 2 * np.pi * pairs[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[:count]
