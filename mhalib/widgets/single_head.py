"""The widget of chapter 3: one head, every number open to its arithmetic."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

import mhalib
from mhalib.widgets import svg
from mhalib.widgets.model_widget import MAX_TOKENS, ModelWidget
from mhalib.widgets.normals import normals
from mhalib.widgets.traits import Choice, Positions, Whole

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
    query, key : the chosen row and column of the weights, from 0
    shown : in the middle the matrix of "weights" or "scores", or the sentence with "arcs"

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
    query = Whole(9, 0, MAX_TOKENS - 1).tag(sync=True, state=True)
    key = Whole(4, 0, MAX_TOKENS - 1).tag(sync=True, state=True)
    shown = Choice("weights", ("scores", "weights", "arcs")).tag(sync=True, state=True)
    task = traitlets.Unicode("Which tokens does “the” look at? Then take the mask away.").tag(
        sync=True, state=True
    )
    caption = traitlets.Unicode(
        "One head of the course model, drawn as its products: a row of `Q` times a column of `K`ᵀ "
        "is a score, the softmax of a row of scores is a row of weights, and the weights mix the "
        "rows of `V` into a row of the output. Pick any cell, or move with the arrow keys: what it "
        "was computed from is outlined, its arithmetic stands below, and “numbers” has every "
        "product of the sum. Blue is positive, orange negative, stronger is larger."
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

    @property
    def pick(self) -> tuple[int, int]:
        """The chosen row and column of the weights: `query` and `key`, inside the sentence."""
        last = max(0, len(self.ids) - 1)
        return min(self.query, last), min(self.key, last)

    def picture(self) -> str:
        tokens, weights = [token.strip() or "␣" for token in self.tokens], self.weights
        n = len(tokens)
        if not n:
            return "<p>No tokens.</p>"
        i, j = self.pick
        said = (
            f"Layer {self.layer}, head {self.head}, mask {self.mask}: “{tokens[i]}” gives "
            f"“{tokens[j]}” the weight {weights[i, j]:.3f}."
        )
        side, width, height = 96.0, min(22.0, 286 / n), max(12.0, min(20.0, 260 / n))
        left, top = 188.0, 104.0
        right, bottom = left + n * width + 18, top + n * height
        Q, K, V = self.Q, self.K, self.V
        feature, value = abs(np.vstack([Q, K])).max(), abs(V).max()
        q_width, k_height, v_width = side / Q.shape[1], 64 / K.shape[1], side / V.shape[1]
        row = top + i * height
        drawing = svg.picture(
            said, right + side + 8, bottom + 8,
            svg.cells(Q, 76, top, q_width, height, None, feature, 0),
            svg.cells(K.T, left, 18, width, k_height, None, feature, 0),
            svg.cells(weights, left, top, width, height, self.allowed),
            svg.cells(V, right, 18, v_width, 64 / n, None, value, 0),
            svg.cells(self.output, right, top, v_width, height, None, value, 0),
            svg.frame(76, row, side, height, "#8a5fd0"),
            svg.frame(left + j * width, 18, width, 64, "#2a93a0"),
            svg.frame(right, 18 + j * 64 / n, side, 64 / n, "#a97a1c"),
            svg.frame(left, row, n * width, height),
            svg.frame(left + j * width, row, width, height, "currentColor"),
            svg.frame(right, row, side, height),
            svg.text(76, 98, "queries Q", size=12),
            svg.text(left, 12, "keys Kᵀ", size=12),
            svg.text(right, 12, "values V", size=12),
            svg.text(left, 98, "weights", size=12) if n > 4 else "",
            svg.text(right, 98, "output", size=12),
            *(svg.text(68, top + (k + 0.5) * height + 4, token, "end", 12)
              for k, token in enumerate(tokens)),
        )  # fmt: skip
        return f"{drawing}<p>{escape(said)}</p>"
