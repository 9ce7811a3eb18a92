"""Scaled dot-product attention in PyTorch; formulas and shapes as in `mhalib.attention`.

Device and dtype follow the inputs. Every function is differentiable, and a row with no allowed
key gives 0 forward and a gradient of 0 backward.
"""

from __future__ import annotations

import math
from typing import Literal, overload

import torch
from torch import Tensor
from torch.nn import functional as F

from mhalib.torch import _validate as validate
from mhalib.torch.masks import combine_masks
from mhalib.torch.softmax import softmax


def scores(Q: Tensor, K: Tensor, scale: float | None = None) -> Tensor:
    """Return ``scale · Q Kᵀ``, (*batch, n_q, n_k); `scale` is 1/√d_k if not given."""
    Q, K = validate.float_tensor("Q", Q, ndim=2), validate.float_tensor("K", K, ndim=2)
    validate.same_length("K", K.shape, -1, Q.shape[-1], "d_k, as in Q")
    validate.same_batch(Q=Q.shape, K=K.shape)
    dtype = validate.common(Q, K)
    wide = torch.promote_types(dtype, torch.float32)
    S = (Q.to(wide) * validate.scale_factor(scale, Q.shape[-1])) @ K.to(wide).mT
    return S.to(dtype)


def attention_weights(S: Tensor, mask: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """Return ``softmax(S + bias)`` over the keys that the boolean `mask` allows."""
    S = validate.float_tensor("S", S, ndim=2)
    dtype, allowed = S.dtype, combine_masks(mask, False, S.shape)
    if bias is not None:
        bias = fitted_bias(bias, S.shape)
        S = S + validate.widened(bias)
    return softmax(S if allowed is None else S.masked_fill(~allowed, -math.inf)).to(dtype)


def weighted_values(weights: Tensor, V: Tensor) -> Tensor:
    """Return ``weights @ V``, in which a value of weight 0 takes no part, even if it is NaN."""
    finite = torch.isfinite(V)
    if validate.known(finite.all()):
        return weights @ V
    O = weights @ torch.where(finite, V, 0)  # 0 · NaN would be NaN
    seen = (weights != 0).to(O.dtype)
    met = torch.zeros_like(O)  # the sum of the infinite values that are seen, ∞ − ∞ being NaN
    for value in (math.inf, -math.inf, math.nan):
        there = torch.isnan(V) if math.isnan(value) else V == value
        met = met.where(seen @ there.to(O.dtype) == 0, met + value)
    return O + met * weights.sum(-1, keepdim=True)  # the product lets the gradient be NaN, too


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

    torch's fused kernel does the work where it keeps the promises. It aligns its own causal mask
    top-left, so it is handed ours. It lets a NaN of a masked key through: that shows in its
    output, which is checked, and the explicit path takes over. That path is also taken with
    weights or a `softcap` asked for, and for masks where values cannot be read: while torch
    traces, and under `torch.func.vmap`.
    """
    plain = mask is None and bias is None and scale is None and softcap is None
    if plain and return_weights is False and causal is True and _one_query(Q, K, V):
        return F.scaled_dot_product_attention(Q, K, V)
    Q, K = validate.float_tensor("Q", Q, ndim=2), validate.float_tensor("K", K, ndim=2)
    V = validate.float_tensor("V", V, ndim=2)
    validate.same_length("K", K.shape, -1, Q.shape[-1], "d_k, as in Q")
    batch: tuple[int, ...] = Q.shape[:-2]
    alike = K.shape[:-2] == batch
    if not alike:
        batch = validate.same_batch(Q=Q.shape, K=K.shape)
    factor = validate.scale_factor(scale, Q.shape[-1])
    validate.same_length("V", V.shape, -2, K.shape[-2], "n_k, as in K")
    everywhere = batch
    if not alike or V.shape[:-2] != batch:
        everywhere = validate.same_batch(Q=Q.shape, K=K.shape, V=V.shape)
        alike = False
    shape = (*batch, Q.shape[-2], K.shape[-2])
    both = validate.boolean("return_weights", return_weights)
    allowed = combine_masks(mask, causal, shape, device=Q.device)
    bias = None if bias is None else fitted_bias(bias, shape)
    dtype = validate.common(Q, K, V)
    if softcap is None and not both:
        q, k, v = (t if t.dtype == dtype else t.to(dtype) for t in (Q, K, V))
        if not alike:  # torch's kernel wants them alike
            q, k, v = (t.expand(*everywhere, *t.shape[-2:]) for t in (q, k, v))
        O = _fused(q, k, v, allowed, bias, factor)
        if O is not None:
            return O
    S = masked_scores(validate.widened(Q), validate.widened(K), factor, allowed)
    S = S if softcap is None else cap_scores(S, softcap)
    weights = attention_weights(S, allowed, bias)
    O = weighted_values(weights, validate.widened(V).to(weights.dtype)).to(dtype)
    return (O, weights.to(dtype)) if both else O


def _one_query(Q: Tensor, K: Tensor, V: Tensor) -> bool:
    """Return whether these are one query, with keys and values that fit as they are.

    That is decoding with a cache, token after token, where the checks below would take half as
    long as the kernel. The last query sees every key: nothing is masked.
    """
    if not (isinstance(Q, Tensor) and isinstance(K, Tensor) and isinstance(V, Tensor)):
        return False
    q, k, v = Q.shape, K.shape, V.shape
    return (
        len(q) == 4
        and q[2] == 1
        and q[:2] == k[:2] == v[:2]
        and q[3] == k[3] > 0
        and k[2:3] == v[2:3]
        and Q.is_floating_point()
        and Q.dtype == K.dtype == V.dtype
    )


def _fused(
    Q: Tensor, K: Tensor, V: Tensor, allowed: Tensor | None, bias: Tensor | None, factor: float
) -> Tensor | None:
    """Return torch's own answer, or None where it may not be ours."""
    if bias is None and allowed is None:
        return _kernel(Q, K, V, None, factor)  # nothing is masked: nothing to keep out
    added = allowed
    if bias is not None:
        if torch.promote_types(bias.dtype, torch.float32) != Q.dtype:
            return None  # the kernel wants the dtype of Q, in which −1e9 may be −∞
        bias = bias.to(Q.dtype)
        added = bias if allowed is None else bias.masked_fill(~allowed, -math.inf)
    learns = torch.is_grad_enabled() and (Q.requires_grad or K.requires_grad or V.requires_grad)
    if learns and not (validate.all_finite(K) and validate.all_finite(V)):
        return None  # what is 0 · NaN = 0 forward may be NaN backward
    if torch.compiler.is_compiling():
        return None
    O = _kernel(Q, K, V, added, factor)
    return O if validate.all_finite(O) else None


def _kernel(Q: Tensor, K: Tensor, V: Tensor, added: Tensor | None, factor: float) -> Tensor:
    if Q.ndim == 3:  # its fast way is open to (batch, h, n, d) alone
        Q, K, V = Q[None], K[None], V[None]
        added = None if added is None else added[None]
        return F.scaled_dot_product_attention(Q, K, V, attn_mask=added, scale=factor)[0]
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=added, scale=factor)


def masked_scores(Q: Tensor, K: Tensor, factor: float, allowed: Tensor | None) -> Tensor:
    """Return `scores`, whose gradient lets no NaN of a masked key through."""
    S = scores(Q, K, factor)
    if allowed is None or not S.requires_grad:
        return S
    finite = torch.isfinite(K)
    clean = scores(Q, torch.where(finite, K, 0), factor)
    return torch.where(finite.all(-1)[..., None, :], clean, S.detach())


def cap_scores(S: Tensor, softcap: float) -> Tensor:
    """Return ``softcap · tanh(S / softcap)``."""
    softcap = validate.real_number("softcap", softcap, above=0)
    return softcap * torch.tanh(S / softcap)


def fitted_bias(bias: Tensor, shape: tuple[int, ...], n_batch: int | None = None) -> Tensor:
    """Return `bias` with an axis for each axis of scores of `shape`."""
    bias = validate.float_tensor("bias", bias)
    return bias.reshape(validate.one_reading("bias", bias.shape, shape, n_batch))
