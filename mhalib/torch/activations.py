"""Activations in PyTorch; formulas as in `mhalib.activations`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import Tensor
from torch.nn import functional as F

from mhalib.torch import _validate as validate


def relu(x: Tensor) -> Tensor:
    """Return ``max(x, 0)``."""
    return F.relu(validate.float_tensor("x", x))


def gelu(x: Tensor) -> Tensor:
    """Return ``x Φ(x)``."""
    return F.gelu(validate.float_tensor("x", x))


def gelu_tanh(x: Tensor) -> Tensor:
    """Return GPT-2's approximation of `gelu`."""
    return F.gelu(validate.float_tensor("x", x), approximate="tanh")


ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
}
