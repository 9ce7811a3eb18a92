"""Training and decoding: shifted labels, the one new row of the cache, and two ways to cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mhalib import _validate as validate
from mhalib.drawings.canvas import Drawing, Panel, width_of


def cache(n: int = 6) -> Drawing:
    """Draw the triangle of scores at two steps of decoding: of it only the last row is new.

    Parameters
    ----------
    n : tokens after the second step
    """
    n = validate.positive_int("n", n, 2)
    side = min(22.0, 132 / n)
    panels = []
    for size, title in ((n - 1, "one step before"), (n, "now")):
        panel = Panel(150, side * n + 62, title)
        for i in range(size):
            for j in range(size):
                new = i == size - 1
                if j <= i:
                    panel.rect(
                        4 + j * side, 22 + i * side, side, side, "q" if new else "k", "paper",
                        fill_opacity=0.9 if new else 0.3,
                    )  # fmt: skip
                else:
                    panel.rect(4 + j * side, 22 + i * side, side, side, "none", "road")
        panel.text(4 + size * side / 2, 15, f"{size} keys", "middle", 12, "k")
        panel.text(4, 22 + side * n + 17, "strong: computed now", "start", 12, "q")
        panel.text(4, 22 + side * n + 34, "pale: not needed again", "start", 12, "soft")
        panels.append(panel)
    alt = (
        f"Two triangles of scores, with {n - 1} and with {n} rows. In each only the last row is "
        f"computed: one new query asks {n - 1}, then {n} keys. The rows above belong to tokens "
        "that are done; their keys and values are kept."
    )
    caption = (
        "The new token brings one query: one row. The keys and values of all earlier tokens are "
        "in the cache; their own rows are not computed again."
    )
    return Drawing("What the cache saves", alt, panels, caption)


def shifted_labels(tokens: Sequence[str]) -> Drawing:
    """Draw the causal triangle with the label of each row: the token that comes next.

    Parameters
    ----------
    tokens : (n,) at most 10
    """
    words = [token.strip() for token in tokens]
    if not 2 <= len(words) <= 10:
        raise ValueError(f"tokens must hold 2 to 10 tokens, got {len(words)}")
    n, side = len(words) - 1, 20.0
    left = 8 + max(width_of(word, 13) for word in words[:-1])
    top = 12 + max(width_of(word, 12) for word in words[:-1])
    end = left + side * n
    reach = end + 30 + max(width_of(word, 13) for word in words[1:])
    panel = Panel(min(320.0, reach + 4), top + side * n + 30)
    for i in range(n):
        y = top + side * (i + 1) - 5.5
        panel.text(left - 5, y, words[i], "end")
        panel.text(
            left + side * (i + 0.5) + 4, top - 5, words[i], size=12, fill="soft", upright=True
        )
        for j in range(n):
            panel.rect(
                left + j * side, top + i * side, side, side, "k" if j <= i else "none",
                "paper" if j <= i else "road", fill_opacity=0.4,
            )  # fmt: skip
        panel.arrow((end + 4, y - 4.5), (end + 22, y - 4.5))
        panel.text(end + 27, y, words[i + 1], fill="accent", font_weight=600)
    panel.text(left + side * n / 2, top + side * n + 18, "what a row may see", "middle", 12, "soft")
    alt = "; ".join(f"“{words[i]}” has the label “{words[i + 1]}”" for i in range(n)) + "."
    caption = (
        f"Each row predicts the token that comes next, and may see none that comes later. One "
        f"sentence of {n + 1} tokens is {n} exercises at once."
    )
    return Drawing("Shifted labels", alt, [panel], caption)


def cuts(distributions: Mapping[str, Mapping[str, float]], k: int = 3, p: float = 0.8) -> Drawing:
    """Draw where top-k and top-p cut each distribution.

    Parameters
    ----------
    distributions : by title, the probability of each word; the most probable eight are drawn
    k : top-k keeps this many
    p : top-p keeps the fewest whose sum reaches this share
    """
    k = validate.positive_int("k", k)
    if not 0 < validate.real_number("p", p) <= 1:
        raise ValueError(f"p must lie in (0, 1], got {p}")
    panels, told = [], []
    for title, distribution in distributions.items():
        order = sorted(distribution, key=lambda word: (-distribution[word], word))
        shares = np.array([distribution[word] for word in order])
        before = np.cumsum(shares) - shares  # the sum of those that come first
        nucleus = int((before < p - 1e-9).sum())
        shown = order[:8]
        left, row = 8 + max(width_of(word, 13) for word in shown), 22.0
        panel = Panel(320, row * len(shown) + 30, title)
        scale = (188 - left) / float(shares[0])
        marks = ((248, k, "q", f"k = {k}"), (296, nucleus, "v", f"p = {p:g}"))
        for i, word in enumerate(shown):
            y = 38 + row * i
            panel.text(left, y, word, "end")
            wide = max(1.0, scale * float(shares[i]))
            panel.rect(left + 6, y - 12, wide, 15, "accent", fill_opacity=0.6)
            panel.text(left + 11 + wide, y, f"{shares[i]:.2f}", size=12, fill="soft")
            for x, kept, colour, _ in marks:
                filled = colour if i < kept else "none"
                panel.add(
                    "circle", cx=x, cy=y - 4.5, r=5, fill=filled, stroke=colour, stroke_width=1.5
                )
        for x, kept, colour, name in marks:
            panel.text(x, 14, name, "middle", 12, colour)
            if kept < len(shown):  # the cut
                y = 22.5 + row * kept
                panel.line((x - 18, y), (x + 18, y), stroke=colour, width=2)
        panels.append(panel)
        told.append(f"{title}: top-k keeps {min(k, len(order))}, top-p keeps {nucleus}")
    caption = (
        f"Filled: kept. Top-k keeps {k} words; top-p as few as are needed for {p:g} of the "
        "probability: few where one word is likely, many where all are alike."
    )
    return Drawing("Two ways to cut", "; ".join(told) + ".", panels, caption)
