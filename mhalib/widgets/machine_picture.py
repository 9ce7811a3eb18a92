"""The static picture of the whole machine: what readers without JavaScript see, and print."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mhalib import colours
from mhalib.widgets import svg

if TYPE_CHECKING:
    from mhalib.widgets.machine import MachineWidget

WIDTH, LABELS, FIRST, WORDS = 996.0, 88.0, 168.0, 864.0  # as the live picture at this width
TOP = 40.0


def machine_picture(widget: MachineWidget) -> str:
    """Return the picture: rows are tokens, lines are weights, at the right the words."""
    tokens = [token.strip() or "␣" for token in widget.tokens]
    n, at = len(tokens), min(widget.position, len(tokens) - 1)
    pitch = max(11.5, min(27.0, 358 / n))
    rows = [TOP + (i + 0.5) * pitch for i in range(n)]
    full, changed = widget.full_trace.probabilities[at], widget.trace.probabilities[at]
    top = [int(i) for i in np.argsort(-full, kind="stable")[:7]]
    names = [widget.tokenizer.decode([i]).strip() for i in top]
    said = f"Likeliest after “{tokens[at]}”: " + ", ".join(
        f"{name} {full[i]:.3f}" for name, i in zip(names, top, strict=True)
    )
    said += f". Loss of the sentence {widget.full_loss:.3f} nats a token."
    if widget.off:
        said += f" Switched off: {', '.join(widget.off)}; loss {widget.loss:.3f}."
    size = min(16.0, 0.62 * pitch)
    parts = [_road(y, size, i == at) for i, y in enumerate(rows)]
    parts += [
        svg.text(
            LABELS - 6, y + 4, tokens[i], "end", 12, **({"font_weight": 700} if i == at else {})
        )
        for i, y in enumerate(rows)
    ]
    parts += [svg.text(LABELS - 6, 16, "tokens", "end", 12), svg.text(98, 16, "X", size=12)]
    layers = [block.attention.weights if block else None for block in widget.trace.layers]
    each = (818 - FIRST) / max(1, len(layers))
    for number, weights in enumerate(layers):
        left = FIRST + number * each
        parts.append(svg.text(left + 6, 16, f"layer {number}", size=12))
        if weights is None:
            parts.append(svg.text(left + 6, 30, "switched off", size=11))
        else:
            parts.append(_flows(weights, at, rows, left + 6, left + each - 20, size))
    parts.append(svg.text(WORDS, 16, f"after “{tokens[at]}”", size=12))
    first = max(TOP, min(rows[at] - 126, rows[-1] - 240))
    for k, (name, i) in enumerate(zip(names, top, strict=True)):
        y = first + 36 * k
        parts.append(svg.text(WORDS, y + 12, name, size=12))
        parts.append(svg.text(WIDTH, y + 12, f"{full[i]:.3f}", "end", 12))
        shown = [(17, full[i], "#2257c4"), (23, changed[i], "#b0186a")]
        for down, p, color in shown[: 2 if widget.off else 1]:
            parts.append(
                svg.tag("rect", x=WORDS, y=y + down, width=float(132 * p), height=5, fill=color)
            )
    height = max(rows[-1] + pitch, first + 36 * len(top))
    lying = svg.picture(said, WIDTH, round(height), *parts)
    if widget.landing:  # a first page is read on a phone, too, before anything is live
        words = [(name, float(full[i])) for name, i in zip(names, top, strict=True)]
        standing = svg.picture(said, 348, 760, *_standing(tokens, at, layers, words))
        lying = (
            f'<div class="mh-lying">{lying}</div>'
            f'<div class="mh-standing"><p>{escape(widget.text)}</p>{standing}</div>'
        )
    return f"{lying}<p>{escape(said)}</p>"


def _standing(
    tokens: list[str], at: int, layers: list[Any], words: list[tuple[str, float]]
) -> list[str]:
    """Return the parts of the picture turned: tokens side by side, layers downwards."""
    columns = [2 + (i + 0.5) * min(26.5, 344 / len(tokens)) for i in range(len(tokens))]
    end = 90 + 166 * len(layers)
    parts = []
    for i, (x, token) in enumerate(zip(columns, tokens, strict=True)):
        line = {"stroke": "#2257c4"} if i == at else {}
        parts.append(
            svg.tag(
                "rect", x=x - 8, y=64, width=16, height=end - 68, rx=8,
                fill="#8592ad", fill_opacity=0.2, **line,
            )
        )  # fmt: skip
        bold: dict[str, Any] = {"font_weight": 700} if i == at else {}
        parts.append(
            svg.text(x + 4, 58, token, size=13, transform=f"rotate(-90 {x + 4} 58)", **bold)
        )
    for number, weights in enumerate(layers):
        y = 90.0 + 166 * number
        parts.append(
            svg.tag("rect", x=0, y=y, width=348, height=36, rx=6, fill="#8592ad", fill_opacity=0.12)
        )
        parts.append(svg.text(9, y + 23, f"layer {number}", size=13, font_weight=600))
        if weights is not None:
            parts.append(_flows(weights, at, columns, y + 38, y + 150, 16, turned=True))
    parts.append(svg.text(1, end + 22, f"after “{tokens[at]}”", size=13, font_weight=600))
    for k, (word, p) in enumerate(words[:5]):
        y = end + 50.0 + 25 * k
        parts.append(svg.text(0, y, word, size=13))
        parts.append(svg.tag("rect", x=92, y=y - 7, width=160 * p, height=5, fill="#2257c4"))
        parts.append(svg.text(348, y, f"{p:.3f}", "end", 13))
    return parts


def _road(y: float, size: float, chosen: bool) -> str:
    line = {"stroke": "#2257c4"} if chosen else {}
    return svg.tag(
        "rect", x=92.0, y=y - size / 2, width=726.0, height=size, rx=size / 2,
        fill="#8592ad", fill_opacity=0.2, **line,
    )  # fmt: skip


def _flows(
    weights: NDArray[Any],
    at: int,
    rows: list[float],
    x0: float,
    x1: float,
    size: float,
    turned: bool = False,
) -> str:
    """Return the flows of one layer: strong to the chosen token, faint to the others."""
    heads = len(weights)
    lane, bend = size / heads, 0.45 * (x1 - x0)
    drawn = []
    for head, W in enumerate(weights):
        color = colours.HEADS[head % len(colours.HEADS)][0]
        shift = (head - (heads - 1) / 2) * lane
        faint = []
        for i, j in np.argwhere(W >= 0.04):
            from_, to = rows[j] + shift, rows[i] + shift
            points = [(x0, from_), (x0 + bend, from_), (x1 - bend, to), (x1, to)]
            start, *rest = (f"{y:.0f} {x:.0f}" if turned else f"{x:.0f} {y:.0f}" for x, y in points)
            d = f"M{start}C{' '.join(rest)}"
            width = max(0.8, round(lane * float(W[i, j]), 1))
            if i == at:
                drawn.append(svg.tag("path", d=d, fill="none", stroke=color, stroke_width=width))
            elif W[i, j] >= 0.3:
                faint.append(d)
        drawn.insert(
            0, svg.tag("path", d="".join(faint), fill="none", stroke=color, stroke_opacity=0.15)
        )
    return "".join(drawn)
