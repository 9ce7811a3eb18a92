"""Heads in PyTorch; shapes as in `mhalib.heads`."""

from __future__ import annotations

from torch import Tensor

from mhalib.torch import _validate as validate


def split_heads(X: Tensor, n_heads: int) -> Tensor:
    """(*batch, n, h·d_k) → (*batch, h, n, d_k)."""
    X = validate.number_tensor("X", X, ndim=2)
    h, width = validate.positive_int("n_heads", n_heads), X.shape[-1]
    if width % h:
        raise ValueError(f"n_heads must divide the {width} columns of X, got {h}")
    return X.unflatten(-1, (h, width // h)).transpose(-2, -3)


def merge_heads(heads: Tensor) -> Tensor:
    """(*batch, h, n, d_v) → (*batch, n, h·d_v): the inverse of `split_heads`."""
    return validate.number_tensor("heads", heads, ndim=3).transpose(-2, -3).flatten(-2)


def repeat_heads(K: Tensor, n_heads: int) -> Tensor:
    """(*batch, h_kv, n, d) → (*batch, h, n, d): groups of query heads share a key head."""
    K = validate.number_tensor("K", K, ndim=3)
    h, h_kv = validate.positive_int("n_heads", n_heads), K.shape[-3]
    if h_kv == 0 or h % h_kv:
        raise ValueError(f"n_heads must be a multiple of the {h_kv} heads of K, got {h}")
    return K.repeat_interleave(h // h_kv, dim=-3)
