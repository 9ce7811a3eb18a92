"""Embedding and positions in PyTorch; formulas and shapes as in `mhalib.embedding`."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from mhalib.torch import _validate as validate


def embed(ids: Tensor, E: Tensor, scale: float | None = None) -> Tensor:
    """Return ``scale · E[ids]``; `scale` is √d_model if not given."""
    E = validate.float_tensor("E", E, ndim=2, exact=True)
    ids = validate.int_tensor("ids", ids, below=E.shape[0])
    factor = math.sqrt(E.shape[1]) if scale is None else validate.real_number("scale", scale)
    return F.embedding(ids.long(), E) * factor


def sinusoidal_positions(
    n: int, d_model: int, start: int = 0, base: float = 10000.0, like: Tensor | None = None
) -> Tensor:
    """Return the positions' vectors (n, d_model), from float64 to dtype and device of `like`."""
    n = validate.positive_int("n", n, minimum=0)
    d_model = validate.positive_int("d_model", d_model)
    start = validate.positive_int("start", start, minimum=0)
    base = validate.real_number("base", base, above=0)
    angles = torch.outer(
        torch.arange(start, start + n, dtype=torch.float64),
        base ** -(torch.arange(0, d_model, 2, dtype=torch.float64) / d_model),
    )
    # sin and cos of a pair stand side by side; an odd d_model drops the last cosine
    P = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]
    return P if like is None else P.to(like)
