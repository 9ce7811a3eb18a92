"""Several heads: the split and the merge, the reshape that looks right, W_O in blocks that add."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.drawings.canvas import Drawing, Panel
from mhalib.heads import split_heads

COLOURS = 8  # of heads


def _heads(n_heads: int) -> int:
    h = validate.positive_int("n_heads", n_heads)
    if h > COLOURS:
        raise ValueError(f"n_heads must be at most {COLOURS}, got {h}")
    return h


def _block(
    panel: Panel, x: float, y: float, width: float, height: float, head: int, label: str = ""
) -> None:
    panel.rect(x, y, width, height, f"head-{head}", fill_opacity=0.3)
    panel.rect(x, y, width, height, stroke=f"head-{head}", stroke_width=1.5)
    if label:
        panel.text(x + width / 2, y + height / 2 + 5, label, "middle", 14)


def split_merge(n: int = 13, n_heads: int = 4, d_k: int = 16) -> Drawing:
    """Draw how Q, K, V are cut into heads by columns, and how the heads' outputs are put together.

    Parameters
    ----------
    n, n_heads, d_k : the shapes, to which the rectangles are true (d_v = d_k)
    """
    h = _heads(n_heads)
    side = 200 / (h * d_k)
    wide, high, gap = side * d_k, side * n, 52 / max(h - 1, 1)
    left, spread = 92.0, 66.0
    rows = [26.0]
    for step in (40, 40, 40):
        rows.append(rows[-1] + high + step)
    panel = Panel(320, rows[-1] + high + 22)
    apart = [spread + i * (wide + gap) for i in range(h)]
    joined = [left + i * wide for i in range(h)]
    for y, places, name in zip(rows, (joined, apart, apart, joined), ("Q", "Q", "O", "O")):
        for i, x in enumerate(places):
            _block(panel, x, y, wide, high, i, f"{name}_{i}")
    for upper, starts, ends in zip(range(3), (joined, apart, apart), (apart, apart, joined)):
        for a, b in zip(starts, ends):
            y = rows[upper] + high
            panel.arrow((a + wide / 2, y + 3), (b + wide / 2, rows[upper + 1] - 3))
    panel.text(left + h * wide / 2, 18, "Q: n × h·d_k", "middle", 14)
    panel.text(left - 6, rows[0] + high / 2 + 5, "n", "end")
    for upper, words in enumerate(("split", "attend", "merge")):
        panel.text(4, rows[upper] + high + 24, words, fill="soft")
    panel.text(left + h * wide / 2, rows[3] + high + 17, "concat: n × h·d_v", "middle", 14)
    alt = (
        f"Q, {n} × {h * d_k}, is cut into {h} blocks of {d_k} columns, one per head. Each head "
        f"attends with its own block and gives O, {n} × {d_k}. Put side by side in the same order, "
        f"the blocks are {n} × {h * d_k} again. K and V are cut in the same way."
    )
    caption = "One colour is one head. The cut is by columns: each head keeps all tokens."
    return Drawing("Split and merge", alt, [panel], caption)


def reshape_trap(n: int = 6, n_heads: int = 2, d_k: int = 2) -> Drawing:
    """Draw which tokens a head gets from the right split, and from a bare reshape.

    A number is a token, a colour the block of columns it comes from; both splits are computed.
    """
    h = _heads(n_heads)
    token = np.repeat(np.arange(n)[:, None], h * d_k, axis=1)  # (n, h·d_k): the row's number
    block = np.tile(np.repeat(np.arange(h), d_k), (n, 1))  # (n, h·d_k): the head it is meant for
    right = [split_heads(np.asarray(part, float), h).astype(int) for part in (token, block)]
    wrong = [part.reshape(h, n, d_k) for part in (token, block)]
    panels = [
        _numbered([token[None], block[None]], "before", ["all heads"]),
        _numbered(right, "right split", [f"head {i}" for i in range(h)]),
        _numbered(wrong, "bare reshape", [f"head {i}" for i in range(h)]),
    ]
    read = ", ".join(str(t) for t in wrong[0][0, :, 0])
    alt = (
        f"{n} tokens with {h * d_k} features. Right: each head has the rows 0 to {n - 1}, its own "
        f"columns. A bare reshape to (h, n, d_k): head 0 reads the tokens {read}, "
        f"and columns meant for other heads. The shape is the same."
    )
    caption = (
        f"A number is a token, a colour the head it is meant for. Both splits have the shape "
        f"(h, n, d_k) = ({h}, {n}, {d_k}). After the bare reshape head 0 reads the tokens {read}."
    )
    return Drawing("The reshape trap", alt, panels, caption)


def _numbered(parts: list[NDArray[Any]], title: str, names: list[str]) -> Panel:
    """Draw matrices (count, rows, columns) of token numbers, coloured by the block."""
    tokens, blocks = parts
    side, gap = 22.0, 14.0
    count, rows, columns = tokens.shape
    panel = Panel(max(146, count * columns * side + (count - 1) * gap + 4), rows * side + 26, title)
    for c in range(count):
        x0 = 2 + c * (columns * side + gap)
        panel.text(x0 + columns * side / 2, 15, names[c], "middle", 12, "soft")
        for i, j in np.ndindex(rows, columns):
            x, y, head = x0 + j * side, 22 + i * side, int(blocks[c, i, j])
            panel.rect(x, y, side, side, f"head-{head}", fill_opacity=0.3)
            panel.rect(x, y, side, side, stroke="paper")
            panel.text(x + side / 2, y + 15.5, str(tokens[c, i, j]), "middle")
    return panel


def output_blocks(n: int = 13, n_heads: int = 4, d_v: int = 16, d_model: int = 64) -> Drawing:
    """Draw concat(heads)·W_O as one product, and as the sum of one product a head.

    Parameters
    ----------
    n, n_heads, d_v, d_model : the shapes, to which the rectangles are true
    """
    h = _heads(n_heads)
    side, gap = min(112 / d_model, 112 / (h * d_v)), 10.0
    wide, block, high = side * d_model, side * d_v, side * n
    one = Panel(30 + h * block + gap + wide + 4, 26 + h * block + gap + high + 22, "One product")
    left, top, y = 30 + h * block + gap, 24.0, 24 + h * block + gap
    for i in range(h):
        _block(one, 30 + i * block, y, block, high, i)
        _block(one, left, top + i * block, wide, block, i, f"W_O^{i}")
    one.rect(left, y, wide, high, stroke="text")
    one.text(24, y + high / 2 + 5, "n", "end")
    one.text(left + wide / 2, 16, "d_model", "middle", 14)
    one.text(30 + h * block / 2, y - 6, "h·d_v", "middle", 14)
    one.text(30 + h * block / 2, y + high + 17, "concat", "middle")
    one.text(left + wide / 2, y + high + 17, "out", "middle")

    step = max(block, high) + 20
    many = Panel(block + 2 * wide + 56, 14 + h * step + high + 26, "The same, a sum over heads")
    for i in range(h):
        y = 14 + i * step
        middle = y + max(block, high) / 2
        _block(many, 4, middle - high / 2, block, high, i)
        many.text(4 + block + 10, middle + 5, "·", "middle")
        _block(many, 4 + block + 20, middle - block / 2, wide, block, i, f"W_O^{i}")
        many.text(block + wide + 36, middle + 5, "=", "middle")
        _block(many, block + wide + 50, middle - high / 2, wide, high, i)
        plus = "+" if i < h - 1 else "="
        many.text(block + 1.5 * wide + 50, middle + step / 2 + 5, plus, "middle", 15)
    many.rect(block + wide + 50, 14 + h * step, wide, high, stroke="text")
    many.text(block + 1.5 * wide + 50, 14 + h * step + high + 17, "out", "middle")
    alt = (
        f"Left: concat, {n} × {h * d_v}, times W_O, {h * d_v} × {d_model}; head i's columns meet "
        f"the block of {d_v} rows with its colour. Right: each head's {n} × {d_v} times its block "
        f"gives {n} × {d_model}; the {h} results are added."
    )
    caption = "Each head’s columns meet their own rows of W_O. What comes out is a sum over heads."
    return Drawing("W_O in blocks that add", alt, [one, many], caption)
