"""One head, as products of rectangles that are true to their shapes and hold the real numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib.drawings.canvas import Drawing, Panel
from mhalib.masks import causal_mask
from mhalib.model import Transformer

Array = NDArray[Any]
GAP = 12.0


def head_shapes(model: Transformer, ids: Sequence[int], layer: int = 0, head: int = 0) -> Drawing:
    """Draw X·W_Q = Q (and K, V), Q·Kᵀ, mask and softmax, weights·V for one head of a model.

    In each product the left factor stands left of the result and the right factor above it: a
    result's cell is its row times its column. One side of a panel's cells is one number.

    Parameters
    ----------
    model : whose weights and shapes are drawn
    ids : (n,) the tokens
    layer, head : which head
    """
    attention = model.forward(np.asarray(ids)).layer(layer).attention
    Q, K, V, S, A, O = (
        np.asarray(part[head])
        for part in (
            attention.Q, attention.K, attention.V, attention.scores, attention.weights,
            attention.heads,
        )
    )  # fmt: skip
    n, d_k = Q.shape
    d_v, d_model = V.shape[1], model.config.d_model
    panels = [
        _projections(n, d_model, Q, K, V),
        _scores(Q, K, S),
        _softmax(S, A),
        _values(A, V, O),
    ]
    alt = (
        f"Four products. 1: X, {n} × {d_model}, times W_Q, W_K, W_V, each {d_model} × {d_k}, gives "
        f"Q, K and V with {n} rows and {d_k} columns. 2: Q times K transposed gives {n} × {n} "
        f"scores. 3: the mask crosses out the upper triangle, the softmax makes each row sum to 1. "
        f"4: the weights, {n} × {n}, times V, {n} × {d_v}, give {n} × {d_v}."
    )
    caption = (
        f"Each rectangle has its true shape (those of 1 are drawn smaller): n = {n}, "
        f"d_model = {d_model}, d_k = d_v = {d_k}. "
        f"Blue is positive, orange negative: the numbers of layer {layer}, head {head}."
    )
    return Drawing("The shapes of one head", alt, panels, caption)


def _projections(n: int, d_model: int, *results: Array) -> Panel:
    side, x, top = 2.0, 40.0, 26.0
    panel = Panel(
        min(320, x + side * d_model + 3 * (GAP + side * results[0].shape[1]) + 8),
        top + side * d_model + GAP + side * n + 40,
        "1  Three views of X",
    )
    y = top + side * d_model + GAP
    panel.rect(x, y, side * d_model, side * n, "road", "edge")
    panel.text(x + side * d_model / 2, y + side * n / 2 + 5, "X", "middle")
    panel.text(x - 6, y + side * n / 2 + 5, "n", "end")
    panel.text(x + side * d_model / 2, y - 5, "d_model", "middle", 15)
    left = x + side * d_model + GAP
    for name, result in zip("QKV", results):
        wide, role = side * result.shape[1], name.lower()
        panel.rect(left, top, wide, side * d_model, stroke=role, stroke_width=1.5)
        panel.text(left + wide / 2, top + side * d_model / 2, f"W_{name}", "middle", 15, fill=role)
        panel.rect(left, y, wide, side * n, role, fill_opacity=0.25)
        panel.rect(left, y, wide, side * n, stroke=role, stroke_width=1.5)
        panel.text(left + wide / 2, y + side * n + 16, name, "middle", fill=role, font_weight=600)
        panel.text(left + wide / 2, top - 8, "d_v" if name == "V" else "d_k", "middle", 15)
        left += wide + GAP
    return panel


def _product(
    title: str, A: Array, B: Array, C: Array, roles: Sequence[str], names: Sequence[str],
    sides: Sequence[str], seen: Array | None = None,
) -> Panel:  # fmt: skip
    """Draw A · B = C with A left of C and B above it; `seen` marks what of A is allowed."""
    side, x, top = 5.5, 30.0, 26.0
    (n, inner), m = A.shape, B.shape[1]
    left, y = x + side * inner + GAP, top + side * inner + GAP
    panel = Panel(left + side * m + 24, y + side * n + 24, title)
    panel.cells(x, y, side, A, seen, frame=roles[0])
    panel.cells(left, top, side, B, frame=roles[1])
    panel.cells(left, y, side, C, frame=roles[2])
    panel.text(x - 6, y + side * n / 2 + 5, sides[0], "end")
    panel.text(x + side * inner / 2, y - 5, sides[1], "middle", 15)
    panel.text(left + side * m / 2, top - 8, sides[2], "middle", 15)
    panel.text(x + side * inner / 2, y + side * n + 17, names[0], "middle", fill=roles[0])
    panel.text(left - 8, top + 14, names[1], "end", fill=roles[1])
    panel.text(left + side * m / 2, y + side * n + 17, names[2], "middle", fill=roles[2])
    return panel


def _scores(Q: Array, K: Array, S: Array) -> Panel:
    roles, names = ("q", "k", "text"), ("Q", "Kᵀ", "scores")
    return _product("2  Each row asks each column", Q, K.T, S, roles, names, ("n", "d_k", "n"))


def _softmax(S: Array, A: Array) -> Panel:
    side, top = 5.5, 26.0
    n = len(S)
    seen = causal_mask(n)
    panel = Panel(
        min(320, 2 * side * n + 116), top + side * n + 24, "3  Hide the future, share out"
    )
    right = 24 + side * n + 64
    panel.cells(24, top, side, S, seen)
    panel.cells(right, top, side, A, seen, largest=1, fill="accent")
    middle = top + side * n / 2
    panel.arrow((24 + side * n + 6, middle), (right - 6, middle))
    panel.text(24 + side * n + 32, middle - 8, "softmax", "middle", 12)
    panel.text(18, middle + 5, "n", "end")
    panel.text(24 + side * n / 2, top - 8, "n", "middle", 12)
    panel.text(24 + side * n / 2, top + side * n + 17, "masked", "middle")
    panel.text(right + side * n / 2, top + side * n + 17, "weights", "middle")
    return panel


def _values(A: Array, V: Array, O: Array) -> Panel:
    roles, names = ("text", "v", "v"), ("weights", "V", "O = weights · V")
    seen = causal_mask(len(A))
    return _product("4  Mix the values", A, V, O, roles, names, ("n", "n", "d_v"), seen)
