"""Multi-head attention in PyTorch; formulas and shapes as in `mhalib.multihead`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import torch
from torch import Tensor, nn

from mhalib.multihead import MultiHeadTrace
from mhalib.torch import _validate as validate
from mhalib.torch.attention import (
    attention,
    attention_weights,
    fitted_bias,
    masked_scores,
    weighted_values,
)
from mhalib.torch.heads import merge_heads, split_heads
from mhalib.torch.masks import combine_masks


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
    X = validate.float_tensor("X", X, ndim=2)
    X_kv = X if X_kv is None else validate.float_tensor("X_kv", X_kv, ndim=2)
    validate.same_batch(X=X.shape, X_kv=X_kv.shape)
    Q = split_heads(_project("X", X, "W_Q", W_Q), n_heads)  # (*batch, h, n_q, d_k)
    K = split_heads(_project("X_kv", X_kv, "W_K", W_K), n_heads)  # (*batch, h, n_k, d_k)
    V = split_heads(_project("X_kv", X_kv, "W_V", W_V), n_heads)  # (*batch, h, n_k, d_v)
    if past is not None:
        K, V = _after("K", past[0], K), _after("V", past[1], V)
        validate.same_length("past V", V.shape, -2, K.shape[-2], "n_k, as in K")
    validate.same_length("W_K", K.shape, -1, Q.shape[-1], "d_k, as in W_Q")
    batch = validate.same_batch(Q=Q.shape, K=K.shape)
    shape, n_batch = (*batch, Q.shape[-2], K.shape[-2]), len(batch) - 1
    allowed = combine_masks(mask, causal, shape, n_batch, Q.device)
    bias = None if bias is None else fitted_bias(bias, shape, n_batch)
    S: Any = None  # Any: the kernel does not give them out
    weights: Any = None
    if fused:
        heads = attention(Q, K, V, mask=allowed, bias=bias, scale=scale)
    else:
        factor = validate.scale_factor(scale, Q.shape[-1])
        S = masked_scores(validate.widened(Q), validate.widened(K), factor, allowed)
        weights = attention_weights(S, allowed, bias)  # (*batch, h, n_q, n_k)
        heads = weighted_values(weights, validate.widened(V).to(weights.dtype)).to(V.dtype)
        weights = weights.to(V.dtype)
    if edit_heads is not None:
        heads = edit_heads(heads)
    concat = merge_heads(heads)  # (*batch, n_q, h·d_v)
    O = _project("concat(heads)", concat, "W_O", W_O)
    return MultiHeadTrace(Q, K, V, S, weights, heads, concat, O)


def _project(x_name: str, X: Tensor, w_name: str, W: Tensor) -> Tensor:
    W = validate.float_tensor(w_name, W, ndim=2, exact=True)
    validate.same_length(w_name, W.shape, 0, X.shape[-1], f"the columns of {x_name}")
    dtype = validate.common(X, W)
    return X.to(dtype) @ W.to(dtype)


def _after(name: str, past: Tensor, new: Tensor) -> Tensor:
    past = validate.float_tensor(f"past {name}", past, ndim=3)
    expected = (*new.shape[:-2], past.shape[-2], new.shape[-1])
    if tuple(past.shape) != expected:
        raise ValueError(f"past {name} must have shape {expected}, got {tuple(past.shape)}")
    return torch.cat([past, new], dim=-2)


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
    both = validate.boolean("return_weights", return_weights)
    trace = multi_head_trace(X, W_Q, W_K, W_V, W_O, n_heads, fused=not both, **options)
    return (trace.O, trace.weights) if both else trace.O


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
        d_model = validate.positive_int("d_model", d_model)
        self.n_heads = n_heads = validate.positive_int("n_heads", n_heads)
        if (d_k is None or d_v is None) and d_model % n_heads:
            raise ValueError(f"n_heads must divide d_model = {d_model}, got {n_heads}")
        d_k = validate.positive_int("d_k", d_model // n_heads if d_k is None else d_k)
        d_v = validate.positive_int("d_v", d_model // n_heads if d_v is None else d_v)
        self.W_Q = nn.Parameter(torch.empty(d_model, n_heads * d_k))
        self.W_K = nn.Parameter(torch.empty(d_model, n_heads * d_k))
        self.W_V = nn.Parameter(torch.empty(d_model, n_heads * d_v))
        self.W_O = nn.Parameter(torch.empty(n_heads * d_v, d_model))
        for matrix in self.parameters():
            nn.init.xavier_uniform_(matrix)

    def forward(self, X: Tensor, X_kv: Tensor | None = None, **options: Any) -> Any:
        """Return O, or ``(O, weights)`` with ``return_weights=True``; `options` are passed on."""
        return multi_head_attention(
            X, self.W_Q, self.W_K, self.W_V, self.W_O, self.n_heads, X_kv=X_kv, **options
        )
