"""Masks in PyTorch; rules and shapes as in `mhalib.masks`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mhalib.torch import _validate as validate


def causal_mask(n_q: int, n_k: int | None = None, device: Any = None) -> Tensor:
    """Return the boolean mask j ≤ i + n_k − n_q: the last query sees the last key."""
    return window_mask(n_q, n_k, right=0, device=device)


def window_mask(
    n_q: int,
    n_k: int | None = None,
    *,
    left: int | None = None,
    right: int | None = None,
    device: Any = None,
) -> Tensor:
    """Return the boolean mask −left ≤ j − (i + n_k − n_q) ≤ right; None is no limit."""
    n_q = validate.positive_int("n_q", n_q, minimum=0)
    n_k = n_q if n_k is None else validate.positive_int("n_k", n_k, minimum=0)
    mask = torch.ones(n_q, n_k, dtype=torch.bool, device=device)
    if left is not None:
        mask = mask.triu(n_k - n_q - validate.positive_int("left", left, minimum=0))
    if right is not None:
        mask = mask.tril(n_k - n_q + validate.positive_int("right", right, minimum=0))
    return mask


def padding_mask(lengths: Tensor, n_k: int | None = None) -> Tensor:
    """Return the boolean mask (*batch, 1, n_k) that hides what stands after `lengths` tokens."""
    if n_k is not None:
        n_k = validate.positive_int("n_k", n_k, minimum=0)
    counts = validate.int_tensor("lengths", lengths, below=None if n_k is None else n_k + 1)
    if n_k is None:
        n_k = int(counts.max()) if counts.numel() else 0
    return torch.arange(n_k, device=counts.device) < counts[..., None, None]


def combine_masks(
    mask: Tensor | None,
    causal: bool,
    shape: tuple[int, ...],
    n_batch: int | None = None,
    device: Any = None,
) -> Tensor | None:
    """Return `mask` and the causal mask as one for scores of `shape`; None if all may be seen.

    It has an axis for each axis of the scores; `n_batch` of these are batch axes.
    """
    if mask is not None:
        mask = validate.boolean_mask("mask", mask)
        full = validate.one_reading("mask", mask.shape, shape, n_batch)
        mask = mask if mask.shape == full else mask.reshape(full)
    if not validate.boolean("causal", causal) or shape[-2] == 1:  # the last query sees all
        return mask
    n_q, n_k = shape[-2:]
    earlier = causal_mask(n_q, n_k, device).reshape((1,) * (len(shape) - 2) + (n_q, n_k))
    return earlier if mask is None else mask & earlier
