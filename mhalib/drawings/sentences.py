"""Sentences with arcs: how much a token takes from each other, and which word decides which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mhalib import _validate as validate
from mhalib.drawings.canvas import Drawing, Panel, number, width_of
from mhalib.language import Text

WIDEST_ARC = 14.0  # pixels, of a weight of 1


def arcs(
    tokens: Sequence[str],
    weights: ArrayLike,
    query: int,
    *,
    colour: str = "accent",
    title: str = "",
) -> Drawing:
    """Draw a sentence from the top down, with an arc from each token to the one that asks.

    The width of an arc is the weight.

    Parameters
    ----------
    tokens : (n,)
    weights : (n,) what the token `query` takes from each; they sum to 1
    query : the position that asks
    colour : "accent", or "head-0" … "head-7"
    title : a heading

    Raises
    ------
    ValueError
        If `weights` has another length than `tokens`, or no token stands at `query`.
    """
    row = validate.float_array("weights", weights, ndim=1)
    if row.shape != (len(tokens),):
        raise ValueError(f"weights must have shape ({len(tokens)},), got {row.shape}")
    if not 0 <= query < len(tokens):
        raise ValueError(f"query must lie in 0 … {len(tokens) - 1}, got {query}")
    words = [token.strip() for token in tokens]
    pitch, right = 23.0, 14 + max(width_of(word, 13) for word in words)
    start, n = right + 46, len(words)
    panel = Panel(300, pitch * n + 8, title)
    reach = (300 - start - 10) / 0.75
    for j, word in enumerate(words):
        y = 17 + pitch * j
        if j == query:
            panel.rect(2, y - 15, right + 4, 21, "none", colour, rx=6, stroke_width=1.5)
        shown = row[j] >= 0.005
        panel.text(
            right, y, word, "end", fill="text" if shown or j == query else "soft",
            font_weight=600 if j == query else None,
        )  # fmt: skip
        if shown:
            panel.text(right + 40, y, f"{row[j]:.2f}", "end", 12, "soft")
            ya, yb = 17 + pitch * query - 4.5, y - 4.5
            bow = reach * (0.25 + 0.75 * abs(query - j) / max(query, n - 1 - query, 1))
            if j == query:
                ya, yb, bow = ya - 5, yb + 5, reach * 0.2
            d = f"M{number(start)} {number(yb)}C{number(start + bow)} {number(yb)} "
            d += f"{number(start + bow)} {number(ya)} {number(start)} {number(ya)}"
            wide = max(0.7, WIDEST_ARC * float(row[j]))
            panel.path(d, colour, wide, stroke_opacity=0.75)
    largest = int(row.argmax())
    alt = f"“{words[query]}” takes {row[largest]:.2f} from “{words[largest]}”; " + ", ".join(
        f"{row[j]:.2f} from “{words[j]}”" for j in np.argsort(-row, kind="stable")[1:4]
    )
    return Drawing(f"What “{words[query]}” takes from whom", alt + ".", [panel])


def beside(*drawings: Drawing, name: str, caption: str = "") -> Drawing:
    """Put the panels of several drawings side by side into one figure."""
    alt = " ".join(drawing.alt for drawing in drawings)
    return Drawing(name, alt, [p for drawing in drawings for p in drawing.panels], caption)


def relations(texts: Iterable[Text], caption: str = "") -> Drawing:
    """Draw sentences of the course's language with an arc to each word from those that decide it.

    An arc has its relation's colour, and its name stands beside the decided word.
    """
    panels, told = [], []
    for text in texts:
        named = list(dict.fromkeys(relation for relation in text.relations if relation))
        n, pitch = len(text.words), 19.0
        right = 4 + max(width_of(word, 13) for word in text.words)
        panel = Panel(150, pitch * n + 8, " and ".join(named) or "no relation")
        for i, word in enumerate(text.words):
            y = 15 + pitch * i
            relation = text.relations[i]
            deciding = any(i in sources for sources in text.sources)
            bold = relation or deciding
            panel.text(
                right, y, word, "end", fill=f"rel-{relation}" if relation else "text",
                font_weight=600 if bold else None,
            )  # fmt: skip
            if relation:
                panel.line(
                    (right - width_of(word, 13) + 2, y + 3),
                    (right, y + 3),
                    stroke=f"rel-{relation}",
                )
            for j in text.sources[i]:
                bow = min(150 - right - 12, 14 + 7.0 * (i - j)) / 0.75
                yj, yi = 15 + pitch * j - 4.5, y - 4.5
                x = right + 5
                d = f"M{number(x)} {number(yj)}C{number(x + bow)} {number(yj)} "
                d += f"{number(x + bow)} {number(yi)} {number(x + 7)} {number(yi)}"
                panel.path(d, f"rel-{relation}", 2)
                tip = f"M{number(x)} {number(yi)}l8 -4v8z"
                panel.add("path", d=tip, fill=f"rel-{relation}")
                told.append(f"“{text.words[j]}” decides “{word}” ({relation})")
        panels.append(panel)
    return Drawing("Which word decides which", "; ".join(told) + ".", panels, caption)
