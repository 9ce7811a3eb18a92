"""The softmax in PyTorch; formulas as in `mhalib.softmax`."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from mhalib.torch import _validate as validate


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return the shares of `x` along `dim`; a row of nothing but −∞ is all 0."""
    x = validate.float_tensor("x", x, ndim=1)
    dim = validate.axis_index("dim", dim, x.ndim)
    empty = (x == -math.inf).all(dim=dim, keepdim=True)
    return torch.softmax(x.masked_fill(empty, 0), dim=dim).masked_fill(empty, 0)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return the logarithm of `softmax`; a row of nothing but −∞ stays −∞."""
    x = validate.float_tensor("x", x, ndim=1)
    dim = validate.axis_index("dim", dim, x.ndim)
    empty = (x == -math.inf).all(dim=dim, keepdim=True)
    return torch.log_softmax(x.masked_fill(empty, 0), dim=dim).masked_fill(empty, -math.inf)
