"""Checks of arguments in PyTorch: the rules and the messages of `mhalib._validate`.

Values are read only where that is possible: not while torch traces (`torch.compile`,
`torch.export`), under `torch.func.vmap`, or on the device "meta".
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from mhalib import _validate as validate
from mhalib._validate import (  # the rules that need no more than shapes and Python's numbers
    axis_index,
    boolean,
    broadcasts_to,
    one_reading,
    positive_int,
    real_number,
    same_axes,
    same_batch,
    same_length,
)

__all__ = [
    "all_finite", "axis_index", "boolean", "boolean_mask", "broadcasts_to", "common",
    "float_tensor", "int_tensor", "known", "number_tensor", "one_reading", "positive_int",
    "real_number", "same_axes", "same_batch", "same_length", "scale_factor", "widened",
]  # fmt: skip


def known(condition: Tensor) -> bool | None:
    """Return what `condition` says, or None where values cannot be read."""
    if torch.compiler.is_compiling():
        return None
    try:
        return bool(condition)
    except RuntimeError:  # vmap, meta and fake tensors say it in this way
        return None


def all_finite(x: Tensor) -> bool | None:
    """Return whether `x` holds neither NaN nor ∞, in one pass; None where that cannot be read.

    Finite numbers whose sum is not count as infinite, too: who asks has a slower way.
    """
    if torch.compiler.is_compiling():
        return None
    try:
        return math.isfinite(x.detach().sum())
    except RuntimeError:
        return None


def number_tensor(name: str, value: Any, ndim: int = 0) -> Tensor:
    """Return `value` as a tensor with at least `ndim` axes.

    What is not a tensor, such as a list, is read as NumPy reads it.
    """
    if not isinstance(value, Tensor):
        value = torch.from_numpy(validate.number_array(name, value).copy())
    validate.enough_axes(name, value.shape, ndim)
    return value


def float_tensor(name: str, value: Any, ndim: int = 0, exact: bool = False) -> Tensor:
    """Return `value` as a floating-point tensor with at least (or exactly) `ndim` axes.

    Floating dtypes are kept; integers become float64.
    """
    if not isinstance(value, Tensor):
        value = torch.from_numpy(validate.float_array(name, value).copy())
    if value.is_floating_point() and value.ndim >= ndim and not exact:  # as a rule
        return value
    if value.is_complex() or value.dtype == torch.bool:
        raise TypeError(f"{name} must hold real numbers, got dtype {value.dtype}")
    validate.enough_axes(name, value.shape, ndim, exact)
    return value if value.is_floating_point() else value.double()


def int_tensor(name: str, value: Any, below: int | None = None, ndim: int = 0) -> Tensor:
    """Return `value` as an integer tensor; its entries are 0 or more, and less than `below`."""
    if not isinstance(value, Tensor):
        value = torch.from_numpy(validate.int_array(name, value).copy())
    if value.is_floating_point() or value.is_complex() or value.dtype == torch.bool:
        raise TypeError(f"{name} must hold integers, got dtype {value.dtype}")
    validate.enough_axes(name, value.shape, ndim)
    wrong = value < 0 if below is None else (value < 0) | (value >= below)
    if known(wrong.any()):
        raise ValueError(validate.outside_message(name, below, value[wrong][0].item()))
    return value


def boolean_mask(name: str, value: Any) -> Tensor:
    """Return `value` as a boolean tensor."""
    if not isinstance(value, Tensor):
        return torch.from_numpy(validate.boolean_mask(name, value).copy())
    if value.dtype != torch.bool:
        raise TypeError(validate.not_boolean_message(name, value.dtype))
    return value


def scale_factor(scale: float | None, d_k: int) -> float:
    """Return `scale`, or 1/√d_k if it is None."""
    return 1 / math.sqrt(max(d_k, 1)) if scale is None else real_number("scale", scale)


def common(*tensors: Tensor) -> torch.dtype:
    """Return the dtype in which all of the tensors can be computed."""
    dtype = tensors[0].dtype
    for other in tensors[1:]:
        if other.dtype != dtype:
            dtype = torch.promote_types(dtype, other.dtype)
    return dtype


def widened(x: Tensor) -> Tensor:
    """Return float16 and bfloat16 as float32, so that sums and products do not overflow."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
