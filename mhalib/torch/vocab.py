"""The vocabulary head in PyTorch; formulas and shapes as in `mhalib.vocab`."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def tied_logits(X: Tensor, E: Tensor) -> Tensor:
    """Return ``X Eᵀ``, (*batch, V)."""
    return X @ E.mT


def next_token_pairs(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return inputs and targets for next-token prediction: ``ids[..., :-1], ids[..., 1:]``."""
    return ids[..., :-1], ids[..., 1:]


def cross_entropy(logits: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the mean of ``−log softmax(logits)[target]`` over the targets where `mask` is True."""
    if mask is not None:
        logits, targets = logits[mask], targets[mask]
    if targets.numel() == 0:
        raise ValueError("targets: there is no token to average over")
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())
