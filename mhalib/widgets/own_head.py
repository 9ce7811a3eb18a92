"""The widget of an attention of your own: d_k, heads, tokens, mask, scale, single values."""

from __future__ import annotations

import math
import re
from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

import mhalib
from mhalib.analysis import entropy
from mhalib.widgets import svg
from mhalib.widgets.model_widget import MAX_TOKENS, ModelWidget
from mhalib.widgets.normals import normals
from mhalib.widgets.traits import Choice, Numbers, Pairs, Positions, Real, Whole

Array = NDArray[Any]
CELL = re.compile(r"([QKV])\.(\d+)\.(\d+)\.(\d+)")


class OwnHeadWidget(ModelWidget):
    """One attention of the reader's own on the first tokens of a sentence.

    Head i projects with columns i·d_k … (i+1)·d_k of the trained W_Q, W_K, W_V of a layer, or of
    random ones; d_v = d_k, and h · d_k is at most d_model.

    Parameters
    ----------
    model, tokenizer, text : as in `ModelWidget`
    n : how many tokens of the text are used
    d_k, n_heads : features of a head, and heads
    layer : whose projections and whose stream are used
    projections : "trained", or "random" (normal, variance 1/d_model, from `seed`)
    seed : of the random projections
    mask : "none", "causal", "window", "padding" or "painted"
    window : how many tokens back mask "window" reaches, the own one included
    padding : positions that mask "padding" hides
    hidden : (query, key) pairs that mask "painted" hides
    scale : "sqrt_d_k" (scores times 1/√d_k), "none" (times 1) or "factor"
    factor : what the scores are multiplied by with scale "factor"
    values : numbers put in the place of computed ones, by name: ``{"Q.0.2.5": 1.5}`` is row 2,
        column 5 of the queries of head 0
    head : the head on screen
    query, key : the chosen row and column of the matrix, from 0
    shown : "weights" or "scores" in the matrix
    brush : what dragging changes, "mask" or "value"

    Examples
    --------
    >>> w = OwnHeadWidget(n=3, d_k=2, mask="painted", hidden=[(1, 0), (1, 1), (1, 2)])
    >>> w.weights.shape, w.weights[0, 1].tolist(), w.entropy[0, 1].item()
    ((1, 3, 3), [0.0, 0.0, 0.0], 0.0)
    """

    _widget = traitlets.Unicode("own-head").tag(sync=True)
    n = Whole(6, 2, MAX_TOKENS).tag(sync=True, state=True)
    d_k = Whole(16, 1, 64).tag(sync=True, state=True)
    n_heads = Whole(1, 1, 8).tag(sync=True, state=True)
    layer = Whole(0, 0, 99).tag(sync=True, state=True)
    head = Whole(0, 0, 7).tag(sync=True, state=True)
    projections = Choice("trained", ("trained", "random")).tag(sync=True, state=True)
    seed = Whole(1, 0, 2**32 - 1).tag(sync=True, state=True)
    mask = Choice("causal", ("none", "causal", "window", "padding", "painted")).tag(
        sync=True, state=True
    )
    window = Whole(2, 1, MAX_TOKENS).tag(sync=True, state=True)
    padding = Positions().tag(sync=True, state=True)
    hidden = Pairs().tag(sync=True, state=True)
    scale = Choice("sqrt_d_k", ("sqrt_d_k", "none", "factor")).tag(sync=True, state=True)
    factor = Real(1.0, 0.0, 10.0).tag(sync=True, state=True)
    values = Numbers(CELL).tag(sync=True, state=True)
    query = Whole(4, 0, MAX_TOKENS - 1).tag(sync=True, state=True)
    key = Whole(2, 0, MAX_TOKENS - 1).tag(sync=True, state=True)
    shown = Choice("weights", ("weights", "scores")).tag(sync=True, state=True)
    brush = Choice("mask", ("mask", "value")).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Hide a whole row: what does that token get? Then scale by the number 0."
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "An attention of your own: `n` tokens, `h` heads of `d_k` features, any mask, any scale. "
        "The brush “mask” hides and shows cells of the matrix; “value” changes a number of `Q`, "
        "`K` or `V`: drag it up or down, press + or −, or type it. The bars at the right are the "
        "entropy of each row of weights, in nats: 0 is one token, log `n` is all alike."
    ).tag(sync=True, state=True)

    def __init__(self, *arguments: Any, **values: Any) -> None:
        super().__init__(*arguments, **values)
        if "d_k" not in values:
            self.d_k = min(self.d_k, self.transformer.config.d_model // self.n_heads)

    @traitlets.validate("n_heads", "d_k")
    def _possible(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, int(proposal["value"])
        other = self.d_k if name == "n_heads" else self.n_heads
        d_model = self.transformer.config.d_model
        if value * other > d_model:
            raise ValueError(
                f"{name}: n_heads · d_k must be at most d_model = {d_model}, got {value} · {other}"
            )
        return value

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids of the first `n` tokens."""
        return super().ids[: self.n]

    @property
    def X(self) -> Array:
        """What the heads read, (n, d_model)."""
        trace = self.transformer.forward(self.ids)
        return trace.layers[self.layer - 1].output if self.layer else trace.X

    @property
    def allowed(self) -> NDArray[np.bool_] | None:
        """The mask, (n, n), True = may attend; None for no mask."""
        n = len(self.ids)
        if self.mask == "none":
            return None
        if self.mask == "causal":
            return mhalib.causal_mask(n)
        if self.mask == "window":
            return mhalib.causal_mask(n) & ~np.tri(n, n, -self.window, dtype=bool)
        allowed = np.ones((n, n), dtype=bool)
        if self.mask == "padding":
            allowed[:, [j for j in self.padding if j < n]] = False
        else:
            for i, j in self.hidden:
                if i < n and j < n:
                    allowed[i, j] = False
        return allowed

    def _projected(self, name: str) -> Array:
        """Q, K or V of all heads, (h, n, d_k)."""
        d_model, width = self.transformer.config.d_model, self.n_heads * self.d_k
        if self.projections == "random":
            k = "QKV".index(name)
            z = normals(self.seed, 3 * d_model * d_model) / math.sqrt(d_model)
            W = z.reshape(3, d_model, d_model)[k][:, :width]
        else:
            W = self.transformer.layer(self.layer)[f"W_{name}"][:, :width]
        A = np.array(mhalib.split_heads(self.X @ W, self.n_heads))
        for key, value in self.values.items():
            part, head, i, j = CELL.fullmatch(key).groups()  # type: ignore[union-attr]
            h, row, column = int(head), int(i), int(j)
            if part == name and h < A.shape[0] and row < A.shape[1] and column < A.shape[2]:
                A[h, row, column] = value
        return A

    @property
    def Q(self) -> Array:
        return self._projected("Q")

    @property
    def K(self) -> Array:
        return self._projected("K")

    @property
    def V(self) -> Array:
        return self._projected("V")

    @property
    def scale_factor(self) -> float:
        """What the products are multiplied by."""
        return {"sqrt_d_k": 1 / math.sqrt(self.d_k), "none": 1.0}.get(self.scale, self.factor)

    @property
    def scores(self) -> Array:
        """Of every head, (h, n, n), from `mhalib.scores`."""
        return np.asarray(mhalib.scores(self.Q, self.K, scale=self.scale_factor))

    @property
    def weights(self) -> Array:
        """Of every head, (h, n, n), from `mhalib.attention_weights`."""
        return np.asarray(mhalib.attention_weights(self.scores, self.allowed))

    @property
    def entropy(self) -> Array:
        """Of each row of weights, in nats, (h, n)."""
        return np.asarray(entropy(self.weights)) + 0

    @property
    def output(self) -> Array:
        """Of every head, (h, n, d_k)."""
        return np.asarray(self.weights @ self.V)

    @property
    def concat(self) -> Array:
        """The heads side by side, (n, h · d_k)."""
        return np.asarray(mhalib.merge_heads(self.output))

    def picture(self) -> str:
        tokens = [token.strip() or "␣" for token in self.tokens]
        n, k = len(tokens), min(self.head, self.n_heads - 1)
        if not n:
            return "<p>No tokens.</p>"
        rows = zip(tokens, self.entropy[k], strict=True)
        said = (
            f"{n} tokens, heads: {self.n_heads} of {self.d_k} features, mask {self.mask}. Entropy "
            f"of the rows of head {k}, in nats: {', '.join(f'{t} {h:.2f}' for t, h in rows)}."
        )
        cell = 288 / n
        drawing = svg.picture(
            said, 400, 300,
            svg.heatmap(self.weights[k], 80, 6, cell, self.allowed),
            *(svg.text(74, 6 + (i + 0.5) * cell + 4, token, "end", 12)
              for i, token in enumerate(tokens)),
        )  # fmt: skip
        return f"{drawing}<p>{escape(said)}</p>"
