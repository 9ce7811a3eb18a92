"""The widget of chapter 5: several heads side by side, each of which can be switched off."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

import mhalib
from mhalib.evaluation import evaluate, evaluation_sample
from mhalib.model import Ablation, Trace, Transformer
from mhalib.tokenizer import Tokenizer
from mhalib.widgets import svg
from mhalib.widgets.model_widget import MAX_TOKENS, ModelWidget, evaluation
from mhalib.widgets.traits import Flag, Pairs, Whole


class MultiHeadWidget(ModelWidget):
    """The weights of every head of a layer; heads can be switched off, and the loss watched.

    Parameters
    ----------
    model, tokenizer, text : as in `ModelWidget`
    n_heads : h; chooses the course model trained with so many heads, where it is shipped
    layer : from 0
    causal : whether the causal mask is on
    heads_off : (layer, head) pairs that are switched off
    query, key : the chosen row and column of the weights, from 0

    Examples
    --------
    >>> w = MultiHeadWidget(heads_off=[(0, 1)])
    >>> w.weights.shape
    (4, 13, 13)
    >>> w.loss > w.full_loss
    True
    """

    _widget = traitlets.Unicode("multi-head").tag(sync=True)
    _variant = "n_heads"
    n_heads = Whole(4, 1, 64).tag(sync=True, state=True)
    layer = Whole(0, 0, 99).tag(sync=True, state=True)
    causal = Flag(True).tag(sync=True, state=True)
    heads_off = Pairs().tag(sync=True, state=True)
    query = Whole(9, 0, MAX_TOKENS - 1).tag(sync=True, state=True)
    key = Whole(4, 0, MAX_TOKENS - 1).tag(sync=True, state=True)
    evaluation: Any = traitlets.List(read_only=True).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Switch heads off, one at a time. Which relation suffers from which head?"
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "The `d_model` columns of `X` `W_Q` make `h` blocks of `d_k`, one per head. Each map shows "
        "the weights of one head: rows ask, columns are asked. The bars compare the whole model "
        "with the model without the heads you switched off, on this sentence and on texts of each "
        "relation."
    ).tag(sync=True, state=True)

    def __init__(
        self,
        model: str | Transformer = "main",
        tokenizer: Tokenizer | None = None,
        **values: Any,
    ) -> None:
        super().__init__(model, tokenizer, **values)
        self.n_heads = self.transformer.config.n_heads
        self.set_trait("evaluation", evaluation())

    @property
    def ablation(self) -> Ablation:
        config = self.transformer.config
        inside = [(i, j) for i, j in self.heads_off if i < config.n_layers and j < config.n_heads]
        return Ablation(heads=inside, mask=not self.causal)

    @property
    def full_trace(self) -> Trace:
        """The trace with every head on."""
        return self.transformer.forward(self.ids, ablate=Ablation(mask=not self.causal))

    @property
    def weights(self) -> NDArray[Any]:
        """The weights on screen, (h, n, n)."""
        return self.trace.layer(self.layer).attention.weights

    @property
    def loss(self) -> float:
        """Mean loss of the sentence in nats, with the chosen heads off."""
        return mhalib.cross_entropy(self.trace.logits[:-1], self.ids[1:])

    @property
    def full_loss(self) -> float:
        """Mean loss of the sentence in nats, with every head on."""
        return mhalib.cross_entropy(self.full_trace.logits[:-1], self.ids[1:])

    @property
    def relation_losses(self) -> dict[str, float]:
        """Loss per relation on the texts of the widget, with the chosen heads off."""
        scores = evaluate(self.transformer, evaluation_sample(), self.ablation, self.tokenizer)
        return {name: score.loss for name, score in scores.items()}

    def picture(self) -> str:
        n, cell = len(self.ids), 9.0
        if not n:
            return "<p>No tokens.</p>"
        allowed = mhalib.causal_mask(n) if self.causal else None
        side = n * cell + 24
        said = (
            f"Weights of the {self.n_heads} heads of layer {self.layer} on “{self.text}”; "
            f"loss {self.loss:.3f} nats a token"
            + (f", {self.full_loss:.3f} with every head on." if self.heads_off else ".")
        )
        maps = [
            svg.text(k * side, 14, f"head {k}")
            + svg.heatmap(np.asarray(w), k * side, 22, cell, allowed)
            for k, w in enumerate(self.weights)
        ]
        drawing = svg.picture(said, self.n_heads * side, n * cell + 30, *maps)
        return f"{drawing}<p>{escape(said)}</p>"
