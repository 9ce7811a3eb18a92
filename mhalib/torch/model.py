"""The whole machine in PyTorch, trainable; shapes and names as in `mhalib.model`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mhalib.layers import BlockTrace
from mhalib.model import Ablation, Cache, Config, Trace
from mhalib.model import Transformer as NumpyTransformer
from mhalib.torch import _validate as validate
from mhalib.torch.embedding import embed, sinusoidal_positions
from mhalib.torch.layers import BLOCKS, layer_norm
from mhalib.torch.masks import combine_masks
from mhalib.torch.softmax import softmax
from mhalib.torch.vocab import tied_logits


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
        """Return the logits, (*batch, n, V); options as in `mhalib.Transformer.forward`."""
        return self.trace(ids, fused=True, **options).logits

    def trace(
        self,
        ids: Tensor,
        *,
        real: Tensor | None = None,
        mask: Tensor | None = None,
        causal: bool = True,
        ablate: Ablation | None = None,
        past: Cache[Tensor] | None = None,
        fused: bool = False,
    ) -> Trace[Tensor]:
        """Return every intermediate, as `mhalib.Transformer.forward` does.

        With ``fused=True`` torch's kernel computes the heads; it keeps scores and weights to
        itself, and the probabilities, which cost a softmax, are left out, too.
        """
        config, ablate = self.config, ablate or Ablation()
        ablate.check(config)
        real = _real_tokens(real, ids, past)
        start = past.length if past else 0
        places = torch.arange(start, start + ids.shape[-1], device=ids.device)
        if real is not None:
            keys = real[..., None, None, :]  # (*batch, 1, 1, n_k)
            if mask is not None:
                shape = (*ids.shape[:-1], config.n_heads, ids.shape[-1], real.shape[-1])
                mask = combine_masks(mask, False, shape, ids.ndim - 1)
            mask = keys if mask is None else keys & mask
            places = (real.cumsum(-1) - 1).clamp(min=0)[..., start:]
        embedded = embed(ids, self.E, 1.0 if ablate.embedding_scale else None)
        n = start + ids.shape[-1]
        P = sinusoidal_positions(n, config.d_model, like=embedded)[places]
        if config.positions == "none" or ablate.positions:
            P = torch.zeros_like(P)
        X = embedded + P
        causal = validate.boolean("causal", causal) and not ablate.mask
        options: dict[str, Any] = {"mask": mask, "causal": causal, "fused": fused}
        if ablate.scale:
            options["scale"] = 1.0
        if ablate.norm:
            options["norm"] = lambda X, gamma, beta: X
        if ablate.residual:
            options["residual"] = lambda X, correction: correction
        stream = F.dropout(X, self.dropout, self.training)
        blocks: list[BlockTrace[Tensor] | None] = []
        layer: Any
        for i, layer in enumerate(self.layers):
            if i in ablate.layers:
                blocks.append(None)
                continue
            block = layer.trace(
                stream,
                without=[name for name in ("W_O", "ffn") if i in getattr(ablate, name)],
                edit_heads=_head_edit(ablate.heads_of(i)),
                past=past[i] if past else None,
                **options,
            )
            blocks.append(block)
            stream = block.output
        if config.norm == "pre" and not ablate.norm:
            stream = layer_norm(stream, self.gamma_f, self.beta_f)
        logits = tied_logits(stream, self.E)
        shares: Any = None if fused else softmax(logits)
        return Trace(ids, embedded, P, X, blocks, stream, logits, shares)

    def decode(
        self, ids: Tensor, cache: Cache[Tensor] | None = None, *, real: Tensor | None = None
    ) -> tuple[Tensor, Cache[Tensor]]:
        """Return the logits of the token after `ids`, and the keys and values to go on from."""
        if ids.shape[-1] == 0:
            raise ValueError("ids: decoding needs at least one token to go on from, got none")
        trace = self.trace(ids, real=real, past=cache, fused=True)
        pairs = [(b.attention.K, b.attention.V) for b in trace.layers if b]
        kept = Cache(pairs, _real_tokens(real, ids, cache))
        if real is None:
            return trace.logits[..., -1, :], kept
        if not real.any(-1).all():
            raise ValueError("real: each sentence needs at least one real token among ids")
        last = ids.shape[-1] - 1 - real.flip(-1).int().argmax(-1)
        return torch.take_along_dim(trace.logits, last[..., None, None], dim=-2)[..., 0, :], kept

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


def _real_tokens(real: Tensor | None, ids: Tensor, past: Cache[Tensor] | None) -> Tensor | None:
    """Return which tokens are not padding, those of `past` included; None if all are real."""
    new = torch.ones_like(ids, dtype=torch.bool) if real is None else real
    if new.dtype != torch.bool:
        raise TypeError(f"real must be boolean (False = padding), got dtype {new.dtype}")
    if new.shape != ids.shape:
        raise ValueError(
            f"real must have the shape of ids, {tuple(ids.shape)}, got {tuple(new.shape)}"
        )
    earlier = past.real if past else None
    if real is None and earlier is None:
        return None
    if past and earlier is None:
        earlier = new.new_ones((*ids.shape[:-1], past.length))
    return new if earlier is None else torch.cat([earlier, new], dim=-1)


def _head_edit(values: Mapping[int, Any]) -> Callable[[Tensor], Tensor] | None:
    def edit(heads: Tensor) -> Tensor:
        edited = heads.clone()
        for head, value in values.items():
            edited[..., head, :, :] = torch.as_tensor(value).to(heads)
        return edited

    return edit if values else None
