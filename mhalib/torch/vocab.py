"""The vocabulary head in PyTorch; formulas and shapes as in `mhalib.vocab`."""

from __future__ import annotations

import torch
from torch import Tensor

from mhalib.torch import _validate as validate
from mhalib.torch.softmax import log_softmax


def tied_logits(X: Tensor, E: Tensor) -> Tensor:
    """Return ``X Eᵀ``, (*batch, V)."""
    X, E = validate.float_tensor("X", X, 1), validate.float_tensor("E", E, 2, exact=True)
    validate.same_length("E", E.shape, -1, X.shape[-1], "d_model, as in X")
    dtype = validate.common(X, E)
    return X.to(dtype) @ E.to(dtype).mT


def next_token_pairs(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return inputs and targets for next-token prediction: ``ids[..., :-1], ids[..., 1:]``."""
    ids = validate.int_tensor("ids", ids, ndim=1)
    return ids[..., :-1], ids[..., 1:]


def cross_entropy(logits: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the mean of ``−log softmax(logits)[target]`` over the targets where `mask` is True.

    In float32 for narrower logits. Targets that do not count are left out before anything is
    computed, so that a NaN there stays out of the gradient, too.
    """
    logits = validate.widened(validate.float_tensor("logits", logits, ndim=1))
    targets = validate.int_tensor("targets", targets, below=logits.shape[-1])
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"targets must have shape {tuple(logits.shape[:-1])}, got {tuple(targets.shape)}"
        )
    counts = torch.ones_like(targets, dtype=torch.bool)
    if mask is not None:
        mask = validate.boolean_mask("mask", mask)
        validate.same_axes("mask", mask.shape, targets.shape, "targets")
        counts = mask.expand(targets.shape)
        logits = logits.masked_fill(~counts[..., None], 0)
    if targets.numel() == 0 or validate.known(~counts.any()):
        raise ValueError("targets: there is no token to average over")
    surprise = -log_softmax(logits).gather(-1, targets[..., None].long())[..., 0]
    return surprise.masked_fill(~counts, 0).sum() / counts.sum()
