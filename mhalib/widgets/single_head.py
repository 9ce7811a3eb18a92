"""The widget of chapter 3: one head, every number open to its arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

import mhalib
from mhalib.widgets import svg
from mhalib.widgets.base import Choice, Positions, Whole
from mhalib.widgets.course import ModelWidget
from mhalib.widgets.normals import normals

Array = NDArray[Any]


class SingleHeadWidget(ModelWidget):
    """One head: queries, keys, values, scores, mask, weights, output, what it adds to the stream.

    Parameters
    ----------
    model, tokenizer, text : as in `ModelWidget`
    layer, head : which head of the model, from 0; it reads what the trained model hands that layer
    mask : "none", "causal" or "padding"
    padding : positions of the tokens that mask "padding" hides
    weights_from : "trained" or "random" (normal, variance 1/d_model, from `seed`)
    seed : of the random weights

    Examples
    --------
    >>> w = SingleHeadWidget(text="I love to study bats", mask="causal")
    >>> w.weights.shape, w.output.shape
    ((5, 5), (5, 16))
    """

    _widget = traitlets.Unicode("single-head").tag(sync=True)
    layer = Whole(0, 0, 99).tag(sync=True, state=True)
    head = Whole(0, 0, 99).tag(sync=True, state=True)
    mask = Choice("causal", ("none", "causal", "padding")).tag(sync=True, state=True)
    padding = Positions().tag(sync=True, state=True)
    weights_from = Choice("trained", ("trained", "random")).tag(sync=True, state=True)
    seed = Whole(1, 0, 2**32 - 1).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Pick a cell of the weights: which tokens does “bats” look at, and what changes when you "
        "take the mask away?"
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "One head of the course model. Point at any cell, or use the arrow keys: the rows it was "
        "computed from are outlined, and its arithmetic is written out with the actual numbers."
    ).tag(sync=True, state=True)

    @property
    def X(self) -> Array:
        """What the head reads, (n, d_model)."""
        trace = self.transformer.forward(self.ids)
        return trace.layer(self.layer - 1).output if self.layer else trace.X

    @property
    def projections(self) -> tuple[Array, Array, Array]:
        """W_Q, W_K (d_model, d_k) and W_V (d_model, d_v) of the head."""
        config = self.transformer.config
        d, d_k, d_v = config.d_model, config.d_k, config.d_v
        if self.weights_from == "random":
            z = self._random()
            first, second, third = d * d_k, 2 * d * d_k, 2 * d * d_k + d * d_v
            return (
                z[:first].reshape(d, d_k),
                z[first:second].reshape(d, d_k),
                z[second:third].reshape(d, d_v),
            )
        p = self.transformer.layer(self.layer)
        widths = (("W_Q", d_k), ("W_K", d_k), ("W_V", d_v))
        W_Q, W_K, W_V = (p[name][:, self.head * w : (self.head + 1) * w] for name, w in widths)
        return W_Q, W_K, W_V

    @property
    def W_O(self) -> Array:
        """The rows of W_O that belong to the head, (d_v, d_model)."""
        config = self.transformer.config
        if self.weights_from == "random":
            return self._random()[-config.d_v * config.d_model :].reshape(config.d_v, -1)
        rows = slice(self.head * config.d_v, (self.head + 1) * config.d_v)
        return np.asarray(self.transformer.layer(self.layer)["W_O"][rows])

    def _random(self) -> Array:
        """The entries of random W_Q, W_K, W_V and W_O, one after the other."""
        config = self.transformer.config
        count = config.d_model * (2 * config.d_k + 2 * config.d_v)
        return normals(self.seed, count) / math.sqrt(config.d_model)

    @property
    def allowed(self) -> NDArray[np.bool_] | None:
        """The mask, (n, n), True = may attend; None for no mask."""
        n = len(self.ids)
        if self.mask == "causal":
            return mhalib.causal_mask(n)
        if self.mask == "padding":
            return np.tile([i not in self.padding for i in range(n)], (n, 1))
        return None

    @property
    def Q(self) -> Array:
        return np.asarray(self.X @ self.projections[0])

    @property
    def K(self) -> Array:
        return np.asarray(self.X @ self.projections[1])

    @property
    def V(self) -> Array:
        return np.asarray(self.X @ self.projections[2])

    @property
    def scores(self) -> Array:
        """The scores on screen, (n, n), from `mhalib.scores`."""
        return np.asarray(mhalib.scores(self.Q, self.K))

    @property
    def weights(self) -> Array:
        """The weights on screen, (n, n), from `mhalib.attention_weights`."""
        return np.asarray(mhalib.attention_weights(self.scores, self.allowed))

    @property
    def output(self) -> Array:
        """The output on screen, (n, d_v), from `mhalib.attention`."""
        return np.asarray(mhalib.attention(self.Q, self.K, self.V, mask=self.allowed))

    @property
    def correction(self) -> Array:
        """What the head adds to the stream, (n, d_model): output · W_O."""
        return np.asarray(self.output @ self.W_O)

    @property
    def sum(self) -> Array:
        """X + correction, (n, d_model)."""
        return np.asarray(self.X + self.correction)

    def picture(self) -> str:
        return svg.heatmap_figure(
            f"Weights of layer {self.layer}, head {self.head}, mask {self.mask}",
            self.weights,
            self.tokens,
            self.allowed,
        )
