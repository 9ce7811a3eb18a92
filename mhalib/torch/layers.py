"""Layer norm, feed-forward network and blocks in PyTorch; formulas as in `mhalib.layers`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mhalib.layers import BlockTrace
from mhalib.model import Config, layer_shapes
from mhalib.multihead import MultiHeadTrace
from mhalib.torch import _validate as validate
from mhalib.torch.activations import ACTIVATIONS, relu
from mhalib.torch.multihead import multi_head_trace


def layer_norm(
    X: Tensor, gamma: Tensor | float = 1.0, beta: Tensor | float = 0.0, eps: float = 1e-5
) -> Tensor:
    """Return ``gamma · (x − mean x) / √(var x + eps) + beta`` over the last axis."""
    X = validate.float_tensor("X", X, ndim=1)
    gamma, beta = validate.float_tensor("gamma", gamma), validate.float_tensor("beta", beta)
    row = X.shape[-1:]
    validate.broadcasts_to("gamma", gamma.shape, row)
    validate.broadcasts_to("beta", beta.shape, row)
    eps = validate.real_number("eps", eps, at_least=0)
    if row == (0,):
        return X.clone()
    wide = validate.common(validate.widened(X), gamma, beta)
    gamma, beta = (p.to(X.device, wide).expand(row) for p in (gamma, beta))
    return F.layer_norm(X.to(wide), row, gamma, beta, eps).to(X.dtype)


def feed_forward(
    X: Tensor,
    W_1: Tensor,
    b_1: Tensor,
    W_2: Tensor,
    b_2: Tensor,
    activation: Callable[[Tensor], Tensor] = relu,
) -> Tensor:
    """Return ``activation(X W_1 + b_1) W_2 + b_2``."""
    return _linear("W_2", W_2, "b_2", b_2, activation(_linear("W_1", W_1, "b_1", b_1, X)))


def _linear(w_name: str, W: Tensor, b_name: str, b: Tensor, X: Tensor) -> Tensor:
    X, W = validate.float_tensor("X", X, ndim=1), validate.float_tensor(w_name, W, 2, exact=True)
    b = validate.float_tensor(b_name, b)
    validate.same_length(w_name, W.shape, 0, X.shape[-1], "the columns of its input")
    validate.broadcasts_to(b_name, b.shape, W.shape[1:])
    dtype = validate.common(X, W)
    return X.to(dtype) @ W.to(dtype) + b


class _Block(nn.Module):
    """The parameters of one block, and what both kinds share; dropout acts in training only."""

    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor
    gamma_1: Tensor
    beta_1: Tensor
    W_1: Tensor
    b_1: Tensor
    W_2: Tensor
    b_2: Tensor
    gamma_2: Tensor
    beta_2: Tensor

    def __init__(self, config: Config, dropout: float = 0.0) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.activation = ACTIVATIONS[config.activation]
        self.scale = None if config.scaled else 1.0
        self.dropout = dropout
        for name, shape in layer_shapes(config).items():
            parameter = nn.Parameter(torch.full(shape, 1.0 if "gamma" in name else 0.0))
            if len(shape) == 2:
                nn.init.xavier_uniform_(parameter)
            self.register_parameter(name, parameter)

    def forward(self, X: Tensor, **options: Any) -> Tensor:
        """Return the new stream, (*batch, n, d_model); ``mask``, ``causal``, … are passed on."""
        return self.trace(X, fused=True, **options).output

    def trace(
        self,
        X: Tensor,
        *,
        norm: Callable[..., Tensor] = layer_norm,
        residual: Callable[[Tensor, Tensor], Tensor] = torch.add,
        without: Collection[str] = (),
        **options: Any,
    ) -> BlockTrace[Tensor]:
        """Return every intermediate; `forward` returns the output alone.

        `norm` and `residual` can be replaced to take them away; `without` may hold "W_O", which
        concat(heads) then skips, and "ffn", whose output then is 0.
        """
        raise NotImplementedError

    def _attend(
        self, X: Tensor, without: Collection[str], options: Mapping[str, Any]
    ) -> MultiHeadTrace[Tensor]:
        options = {"scale": self.scale, **options}
        W_O = torch.eye(X.shape[-1]).to(X) if "W_O" in without else self.W_O
        return multi_head_trace(X, self.W_Q, self.W_K, self.W_V, W_O, self.n_heads, **options)

    def _feed_forward(self, X: Tensor, without: Collection[str]) -> tuple[Tensor, Tensor]:
        hidden = self.activation(X @ self.W_1 + self.b_1)
        return hidden, torch.zeros_like(X) if "ffn" in without else hidden @ self.W_2 + self.b_2

    def _drop(self, X: Tensor) -> Tensor:
        return F.dropout(X, self.dropout, self.training)


class PostNormBlock(_Block):
    """``X' = norm(X + MultiHead(X))``, then ``norm(X' + FFN(X'))``."""

    def trace(
        self,
        X: Tensor,
        *,
        norm: Callable[..., Tensor] = layer_norm,
        residual: Callable[[Tensor, Tensor], Tensor] = torch.add,
        without: Collection[str] = (),
        **options: Any,
    ) -> BlockTrace[Tensor]:
        attention = self._attend(X, without, options)
        residual_1 = residual(X, self._drop(attention.O))
        norm_1 = norm(residual_1, self.gamma_1, self.beta_1)
        hidden, ffn = self._feed_forward(norm_1, without)
        residual_2 = residual(norm_1, self._drop(ffn))
        norm_2 = norm(residual_2, self.gamma_2, self.beta_2)
        return BlockTrace(attention, residual_1, norm_1, hidden, ffn, residual_2, norm_2, norm_2)


class PreNormBlock(_Block):
    """``X' = X + MultiHead(norm(X))``, then ``X' + FFN(norm(X'))``."""

    def trace(
        self,
        X: Tensor,
        *,
        norm: Callable[..., Tensor] = layer_norm,
        residual: Callable[[Tensor, Tensor], Tensor] = torch.add,
        without: Collection[str] = (),
        **options: Any,
    ) -> BlockTrace[Tensor]:
        norm_1 = norm(X, self.gamma_1, self.beta_1)
        attention = self._attend(norm_1, without, options)
        residual_1 = residual(X, self._drop(attention.O))
        norm_2 = norm(residual_1, self.gamma_2, self.beta_2)
        hidden, ffn = self._feed_forward(norm_2, without)
        residual_2 = residual(residual_1, self._drop(ffn))
        return BlockTrace(
            attention, residual_1, norm_1, hidden, ffn, residual_2, norm_2, residual_2
        )


BLOCKS: Mapping[str, type[_Block]] = {"post": PostNormBlock, "pre": PreNormBlock}
