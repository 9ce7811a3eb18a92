"""Multi-head attention in PyTorch; formulas and shapes as in `mhalib.multihead`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import torch
from torch import Tensor, nn

from mhalib.multihead import MultiHeadTrace
from mhalib.torch.attention import (
    attention,
    attention_weights,
    combine_masks,
    scores,
    weighted_values,
)


def split_heads(X: Tensor, n_heads: int) -> Tensor:
    """(*batch, n, h·d_k) → (*batch, h, n, d_k)."""
    if X.shape[-1] % n_heads:
        raise ValueError(f"n_heads must divide the {X.shape[-1]} columns of X, got {n_heads}")
    return X.unflatten(-1, (n_heads, -1)).transpose(-2, -3)


def merge_heads(heads: Tensor) -> Tensor:
    """(*batch, h, n, d_v) → (*batch, n, h·d_v): the inverse of `split_heads`."""
    return heads.transpose(-2, -3).flatten(-2)


def repeat_heads(K: Tensor, n_heads: int) -> Tensor:
    """(*batch, h_kv, n, d) → (*batch, h, n, d): groups of query heads share a key head."""
    if n_heads % K.shape[-3]:
        raise ValueError(f"n_heads must be a multiple of {K.shape[-3]}, got {n_heads}")
    return K.repeat_interleave(n_heads // K.shape[-3], dim=-3)


def multi_head_trace(
    X: Tensor,
    W_Q: Tensor,
    W_K: Tensor,
    W_V: Tensor,
    W_O: Tensor,
    n_heads: int,
    *,
    X_kv: Tensor | None = None,
    mask: Tensor | None = None,
    causal: bool = False,
    bias: Tensor | None = None,
    scale: float | None = None,
    past: tuple[Tensor, Tensor] | None = None,
    edit_heads: Callable[[Tensor], Tensor] | None = None,
    fused: bool = False,
) -> MultiHeadTrace[Tensor]:
    """Return every intermediate, as `mhalib.multi_head_trace`.

    With ``fused=True`` torch's kernel computes the heads; it does not give out the scores and
    the weights, which are None then.
    """
    X_kv = X if X_kv is None else X_kv
    Q = split_heads(X @ W_Q, n_heads)  # (*batch, h, n_q, d_k)
    K = split_heads(X_kv @ W_K, n_heads)  # (*batch, h, n_k, d_k)
    V = split_heads(X_kv @ W_V, n_heads)  # (*batch, h, n_k, d_v)
    if past is not None:
        K, V = torch.cat([past[0], K], dim=-2), torch.cat([past[1], V], dim=-2)
    S: Any = None  # Any: the kernel does not give them out
    weights: Any = None
    if fused:
        heads = attention(Q, K, V, mask=mask, causal=causal, bias=bias, scale=scale)
    else:
        S = scores(Q, K, scale)  # (*batch, h, n_q, n_k)
        allowed = combine_masks(mask, causal, Q.shape[-2], K.shape[-2], Q.device)
        weights = attention_weights(S, allowed, bias)
        heads = weighted_values(weights, V)  # (*batch, h, n_q, d_v)
    if edit_heads is not None:
        heads = edit_heads(heads)
    concat = merge_heads(heads)  # (*batch, n_q, h·d_v)
    return MultiHeadTrace(Q, K, V, S, weights, heads, concat, concat @ W_O)


@overload
def multi_head_attention(
    X: Tensor,
    W_Q: Tensor,
    W_K: Tensor,
    W_V: Tensor,
    W_O: Tensor,
    n_heads: int,
    *,
    return_weights: Literal[False] = ...,
    **options: Any,
) -> Tensor: ...
@overload
def multi_head_attention(
    X: Tensor,
    W_Q: Tensor,
    W_K: Tensor,
    W_V: Tensor,
    W_O: Tensor,
    n_heads: int,
    *,
    return_weights: Literal[True],
    **options: Any,
) -> tuple[Tensor, Tensor]: ...
def multi_head_attention(
    X: Tensor,
    W_Q: Tensor,
    W_K: Tensor,
    W_V: Tensor,
    W_O: Tensor,
    n_heads: int,
    *,
    return_weights: bool = False,
    **options: Any,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return ``concat(head_1, …, head_h) W_O``, as `mhalib.multi_head_attention`."""
    trace = multi_head_trace(X, W_Q, W_K, W_V, W_O, n_heads, fused=not return_weights, **options)
    return (trace.O, trace.weights) if return_weights else trace.O


class MultiHeadAttention(nn.Module):
    """Multi-head attention with its four matrices, in the course's layout (d_in, d_out).

    Parameters
    ----------
    d_model, n_heads : as in `mhalib.Config`
    d_k, d_v : features of one head, d_model / n_heads if not given
    """

    def __init__(
        self, d_model: int, n_heads: int, d_k: int | None = None, d_v: int | None = None
    ) -> None:
        super().__init__()
        if (d_k is None or d_v is None) and d_model % n_heads:
            raise ValueError(f"n_heads must divide d_model = {d_model}, got {n_heads}")
        self.n_heads = n_heads
        d_k, d_v = d_k or d_model // n_heads, d_v or d_model // n_heads
        self.W_Q = nn.Parameter(torch.empty(d_model, n_heads * d_k))
        self.W_K = nn.Parameter(torch.empty(d_model, n_heads * d_k))
        self.W_V = nn.Parameter(torch.empty(d_model, n_heads * d_v))
        self.W_O = nn.Parameter(torch.empty(n_heads * d_v, d_model))
        for matrix in self.parameters():
            nn.init.xavier_uniform_(matrix)

    def forward(self, X: Tensor, X_kv: Tensor | None = None, **options: Any) -> Any:
        """Return O, or ``(O, weights)`` with ``return_weights=True``; ``mask``, ``causal``, …"""
        return multi_head_attention(
            X, self.W_Q, self.W_K, self.W_V, self.W_O, self.n_heads, X_kv=X_kv, **options
        )
