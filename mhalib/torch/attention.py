"""Scaled dot-product attention in PyTorch; formulas and shapes as in `mhalib.attention`.

Device and dtype follow the inputs. Every function is differentiable, and a row with no allowed
key gives 0 forward and a gradient of 0 backward.
"""

from __future__ import annotations

import math
from typing import Any, Literal, overload

import torch
from torch import Tensor
from torch.nn import functional as F


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return the shares of `x` along `dim`; a row of nothing but −∞ is all 0."""
    empty = (x == -math.inf).all(dim=dim, keepdim=True)
    return torch.softmax(x.masked_fill(empty, 0), dim=dim).masked_fill(empty, 0)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return the logarithm of `softmax`; a row of nothing but −∞ stays −∞."""
    empty = (x == -math.inf).all(dim=dim, keepdim=True)
    return torch.log_softmax(x.masked_fill(empty, 0), dim=dim).masked_fill(empty, -math.inf)


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
    n_k = n_q if n_k is None else n_k
    mask = torch.ones(n_q, n_k, dtype=torch.bool, device=device)
    if left is not None:
        mask = mask.triu(n_k - n_q - left)
    return mask if right is None else mask.tril(n_k - n_q + right)


def padding_mask(lengths: Tensor, n_k: int | None = None) -> Tensor:
    """Return the boolean mask (*batch, 1, n_k) that hides what stands after `lengths` tokens."""
    lengths = torch.as_tensor(lengths)
    n_k = int(lengths.max()) if n_k is None else n_k
    return torch.arange(n_k, device=lengths.device) < lengths[..., None, None]


def scores(Q: Tensor, K: Tensor, scale: float | None = None) -> Tensor:
    """Return ``scale · Q Kᵀ``, (*batch, n_q, n_k); `scale` is 1/√d_k if not given."""
    _same_d_k(Q, K)
    factor = 1 / math.sqrt(max(Q.shape[-1], 1)) if scale is None else scale
    return (Q * factor) @ K.mT


def attention_weights(S: Tensor, mask: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """Return ``softmax(S + bias)`` over the keys that the boolean `mask` allows."""
    if bias is not None:
        S = S + bias.to(S.dtype)
    if mask is not None:
        S = S.masked_fill(~_boolean(mask), -math.inf)
    return softmax(S)


def weighted_values(weights: Tensor, V: Tensor) -> Tensor:
    """Return ``weights @ V``, in which a value of weight 0 takes no part, even if it is NaN."""
    if torch.isfinite(V).all():
        return weights @ V
    chosen = weights[..., None] != 0  # (*batch, n_q, n_k, 1): 0 · NaN would be NaN
    return (weights[..., None] * torch.where(chosen, V[..., None, :, :], 0)).sum(-2)


@overload
def attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    *,
    mask: Tensor | None = ...,
    causal: bool = ...,
    bias: Tensor | None = ...,
    scale: float | None = ...,
    softcap: float | None = ...,
    return_weights: Literal[False] = ...,
) -> Tensor: ...
@overload
def attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    *,
    mask: Tensor | None = ...,
    causal: bool = ...,
    bias: Tensor | None = ...,
    scale: float | None = ...,
    softcap: float | None = ...,
    return_weights: Literal[True],
) -> tuple[Tensor, Tensor]: ...
def attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    *,
    mask: Tensor | None = None,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    return_weights: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return ``softmax(scale · Q Kᵀ + bias) V`` over the allowed keys, as `mhalib.attention`.

    Without weights or a `softcap` asked for, torch's fused kernel does the work. It aligns its
    own causal mask top-left, so it is handed ours, and it lets a NaN of a masked key through, so
    such inputs take the explicit path.
    """
    _same_d_k(Q, K)
    if V.shape[-2] != K.shape[-2]:
        raise ValueError(f"V must have n_k = {K.shape[-2]} rows, as K; got {tuple(V.shape)}")
    n_q, n_k = Q.shape[-2], K.shape[-2]
    finite = torch.isfinite(K).all() and torch.isfinite(V).all()
    if return_weights or softcap is not None or not finite:
        wide = torch.promote_types(Q.dtype, torch.float32)  # products of float16 would overflow
        S = scores(Q.to(wide), K.to(wide), scale)
        S = S if softcap is None else cap_scores(S, softcap)
        weights = attention_weights(S, combine_masks(mask, causal, n_q, n_k, Q.device), bias)
        O = weighted_values(weights, V.to(wide)).to(Q.dtype)
        return (O, weights.to(Q.dtype)) if return_weights else O
    if mask is None and bias is None and n_q == n_k:
        return _kernel(Q, K, V, is_causal=causal, scale=scale)
    allowed = combine_masks(mask, causal, n_q, n_k, Q.device)
    if bias is not None and allowed is not None:
        bias = bias.to(Q.dtype).masked_fill(~allowed, -math.inf)
    added = allowed if bias is None else bias.to(Q.dtype)
    return _kernel(Q, K, V, attn_mask=added, scale=scale)


def _kernel(Q: Tensor, K: Tensor, V: Tensor, **options: Any) -> Tensor:
    if Q.ndim == K.ndim == V.ndim == 3:  # its fast way is open to (batch, h, n, d) alone
        return F.scaled_dot_product_attention(Q[None], K[None], V[None], **options)[0]
    return F.scaled_dot_product_attention(Q, K, V, **options)


def cap_scores(S: Tensor, softcap: float) -> Tensor:
    """Return ``softcap · tanh(S / softcap)``."""
    if softcap <= 0:
        raise ValueError(f"softcap must be positive, got {softcap}")
    return softcap * torch.tanh(S / softcap)


def combine_masks(
    mask: Tensor | None, causal: bool, n_q: int, n_k: int, device: Any = None
) -> Tensor | None:
    """Return `mask` and the causal mask as one boolean mask, or None for neither."""
    if not causal:
        return None if mask is None else _boolean(mask)
    earlier = causal_mask(n_q, n_k, device)
    return earlier if mask is None else _boolean(mask) & earlier


def _same_d_k(Q: Tensor, K: Tensor) -> None:
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"K must have d_k = {Q.shape[-1]} columns, as Q; got {tuple(K.shape)}")


def _boolean(mask: Tensor) -> Tensor:
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean (True = may attend), got dtype {mask.dtype}: write "
            "`mask != 0` if 1 means 'may attend'; pass numbers to be added as `bias`."
        )
    return mask
