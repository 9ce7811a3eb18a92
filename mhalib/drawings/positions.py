"""The positional encoding as the hands of clocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mhalib import _validate as validate
from mhalib.drawings.canvas import Drawing, Panel
from mhalib.embedding import sinusoidal_positions


def clock_hands(d_model: int = 64, pairs: Sequence[int] = (0, 8), places: int = 6) -> Drawing:
    """Draw pairs (sine, cosine) of the positional encoding as clock hands, one clock a place.

    The hand of pair i points to (sin, cos) of position · 10000^(−2i / d_model), so that it
    starts upright and turns clockwise.

    Parameters
    ----------
    d_model : length of the encoding
    pairs : which pairs of columns, fast ones first
    places : positions 0 … places − 1, at most 6
    """
    if not 1 <= validate.positive_int("places", places) <= 6:
        raise ValueError(f"places must be at most 6, got {places}")
    P = sinusoidal_positions(places, d_model)  # (places, d_model)
    for pair in pairs:
        if not 0 <= pair < d_model // 2:
            raise ValueError(f"pairs must lie in 0 … {d_model // 2 - 1}, got {pair}")
    pitch, r = 52.0, 21.0
    panels, told = [], []
    for pair in pairs:
        turn = float(np.degrees(10000 ** (-2 * pair / d_model)))
        panel = Panel(4 + pitch * places, 88, f"pair {pair}: {turn:.3g}° a place")
        for position in range(places):
            cx, cy = 2 + pitch * (position + 0.5), 28.0
            sine, cosine = P[position, 2 * pair : 2 * pair + 2]
            panel.add("circle", cx=cx, cy=cy, r=r, fill="paper", stroke="edge", stroke_width=1.5)
            panel.line((cx, cy - r), (cx, cy - r + 4), stroke="edge")
            tip = (cx + (r - 3) * float(sine), cy - (r - 3) * float(cosine))
            panel.arrow((cx, cy), tip, stroke="accent", width=2)
            panel.text(cx, 67, str(position), "middle")
        panel.text(2 + pitch * places / 2, 83, "place in the text", "middle", 12, "soft")
        panels.append(panel)
        told.append(f"pair {pair} turns by {turn:.3g} degrees from one place to the next")
    alt = f"Rows of {places} clocks, one per place: " + "; ".join(told) + "."
    caption = (
        "The hand points to (sine, cosine). A fast hand tells neighbours apart, a slow one tells "
        "near from far. From any place to the next, a hand turns by the same angle."
    )
    return Drawing("Clock hands", alt, panels, caption)
