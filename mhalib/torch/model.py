"""The whole machine in PyTorch, trainable; shapes and names as in `mhalib.model`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mhalib.layers import BlockTrace
from mhalib.model import Config, Trace
from mhalib.model import Transformer as NumpyTransformer
from mhalib.torch.attention import softmax
from mhalib.torch.embedding import embed, sinusoidal_positions
from mhalib.torch.layers import BLOCKS, layer_norm
from mhalib.torch.vocab import tied_logits

Cache = list[tuple[Tensor, Tensor]]  # K and V of each layer


class Transformer(nn.Module):
    """A decoder-only Transformer whose `state_dict` has the course's names and layout.

    Parameters
    ----------
    config : the shape
    dropout : share of the entries of embeddings and sublayer outputs set to 0 in training

    Examples
    --------
    >>> model = Transformer(Config(vocab_size=7, d_model=4, n_heads=2, n_layers=1))
    >>> model(torch.tensor([3, 1, 4])).shape
    torch.Size([3, 7])
    """

    def __init__(self, config: Config, dropout: float = 0.0) -> None:
        super().__init__()
        self.config, self.dropout = config, dropout
        self.E = nn.Parameter(torch.randn(config.vocab_size, config.d_model) / config.d_model**0.5)
        block = BLOCKS[config.norm]
        self.layers = nn.ModuleList(block(config, dropout) for _ in range(config.n_layers))
        if config.norm == "pre":
            self.gamma_f = nn.Parameter(torch.ones(config.d_model))
            self.beta_f = nn.Parameter(torch.zeros(config.d_model))

    def forward(self, ids: Tensor, **options: Any) -> Tensor:
        """Return the logits, (*batch, n, V); ``mask`` and ``causal`` as in `mhalib.attention`."""
        return self.trace(ids, fused=True, **options).logits  # type: ignore[return-value]

    def trace(
        self, ids: Tensor, *, causal: bool = True, past: Cache | None = None, **options: Any
    ) -> Trace:
        """Return every intermediate, as `mhalib.Transformer.forward` does."""
        start = past[0][0].shape[-2] if past else 0
        embedded = embed(ids, self.E)
        P = sinusoidal_positions(ids.shape[-1], self.config.d_model, start, like=embedded)
        if self.config.positions == "none":
            P = torch.zeros_like(P)
        X = embedded + P
        stream = F.dropout(X, self.dropout, self.training)
        blocks: list[BlockTrace] = []
        layer: Any
        for i, layer in enumerate(self.layers):
            block = layer.trace(stream, causal=causal, past=past[i] if past else None, **options)
            blocks.append(block)
            stream = block.output
        if self.config.norm == "pre":
            stream = layer_norm(stream, self.gamma_f, self.beta_f)
        logits = tied_logits(stream, self.E)
        shares = None if options.get("fused") else softmax(logits)  # nobody asked for them
        trace: Any = (ids, embedded, P, X, blocks, stream, logits, shares)
        return Trace(*trace)

    def decode(self, ids: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        """Return the logits of the token after `ids`, and the keys and values to go on from."""
        trace: Any = self.trace(ids, past=cache, fused=True)
        return trace.logits[..., -1, :], [(b.attention.K, b.attention.V) for b in trace.layers]

    @classmethod
    def from_numpy(cls, model: NumpyTransformer, dropout: float = 0.0) -> Transformer:
        """Return the same model in PyTorch, in the dtype of its parameters."""
        from mhalib.torch.convert import to_torch

        result = cls(model.config, dropout)
        result.load_state_dict(to_torch(model.parameters), assign=True)
        return result.requires_grad_()

    def to_numpy(self) -> NumpyTransformer:
        """Return the same model in NumPy."""
        from mhalib.torch.convert import to_numpy

        return NumpyTransformer(self.config, to_numpy(self.state_dict()))
