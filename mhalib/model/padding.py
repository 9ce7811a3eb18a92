"""Batches of sentences of different lengths: which tokens are real, and where each one stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib.embedding import sinusoidal_positions
from mhalib.model.trace import Cache

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Integer

Array = NDArray[Any]


def real_tokens(
    real: Bool[Array, "*batch n"] | None, shape: tuple[int, ...], past: Cache[Array] | None
) -> Bool[Array, "*batch n_k"] | None:
    """Return which tokens are not padding, those of `past` included; None if all are real."""
    new = np.ones(shape, dtype=bool) if real is None else np.asarray(real)
    if new.dtype != np.bool_:
        raise TypeError(f"real must be boolean (False = padding), got dtype {new.dtype}")
    if new.shape != shape:
        raise ValueError(f"real must have the shape of ids, {shape}, got {new.shape}")
    earlier = past.real if past else None
    if real is None and earlier is None:
        return None
    if past and earlier is None:
        earlier = np.ones((*shape[:-1], past.length), dtype=bool)
    return new if earlier is None else np.concatenate([earlier, new], axis=-1)


def places(real: Bool[Array, "*batch n"]) -> Integer[Array, "*batch n"]:
    """Return each token's position: how many real tokens stand before it."""
    return np.maximum(real.cumsum(axis=-1) - 1, 0)


def position_rows(
    places: Integer[Array, "*places"], d_model: int
) -> Float[Array, "*places {d_model}"]:
    """Return the rows of the sinusoidal positions for any `places`, (*places.shape, d_model)."""
    first, last = (int(places.min()), int(places.max())) if places.size else (0, -1)
    return sinusoidal_positions(last + 1 - first, d_model, first)[places - first]


def last_real(real: Bool[Array, "*batch n"]) -> Integer[Array, "*batch"]:
    """Return the index of each sentence's last real token."""
    if not real.any(axis=-1).all():
        raise ValueError("real: each sentence needs at least one real token among ids")
    return real.shape[-1] - 1 - real[..., ::-1].argmax(axis=-1)
