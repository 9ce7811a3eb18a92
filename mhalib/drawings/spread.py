"""What grows with d_k: the spread of the scores, and the largest weight of their softmax."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mhalib import _validate as validate
from mhalib.drawings.canvas import Drawing, Panel
from mhalib.softmax import softmax


def score_histograms(
    d_ks: Sequence[int] = (4, 64, 1024), n_keys: int = 8, draws: int = 249, seed: int = 0
) -> Drawing:
    """Draw histograms of unscaled scores, and below each the softmax of a typical row.

    Queries and keys are standard normal, so that a score has variance d_k.

    Parameters
    ----------
    d_ks : one panel each
    n_keys : keys of the row whose softmax is drawn
    draws : rows of scores; all are in the histogram, the softmax is of the median one
    seed : of the random numbers
    """
    panels, told = [], []
    limit = 3 * np.sqrt(max(d_ks))
    for d_k in d_ks:
        d = validate.positive_int("d_ks", d_k)
        rng = np.random.default_rng([seed, d])
        Q, K = rng.normal(size=(2, draws, n_keys, d))
        S = (Q * K).sum(axis=-1)  # (draws, n_keys)
        largest = softmax(S).max(axis=-1)
        typical = int(np.argsort(largest)[draws // 2])  # the row in the middle
        weights, spread = softmax(S[typical]), S.std()
        panel = Panel(196, 246, f"d_k = {d}")
        counts, _ = np.histogram(S, bins=48, range=(-limit, limit))
        wide, base = 184 / 48, 100.0
        for i, count in enumerate(counts):
            height = 84 * count / counts.max()
            if height >= 0.5:
                panel.rect(6 + i * wide, base - height, wide - 0.5, height, "accent")
        panel.line((4, base), (192, base), stroke="edge")
        for value, anchor in ((-limit, "start"), (0.0, "middle"), (limit, "end")):
            x = 6 + 184 * (value + limit) / (2 * limit)
            panel.text(x, base + 15, f"{value:.0f}".replace("-", "−"), anchor, 12, "soft")
        panel.text(98, base + 33, f"standard deviation {spread:.1f}", "middle", 12)
        step, floor = 184 / n_keys, 222.0
        for i, weight in enumerate(weights):
            panel.rect(8 + i * step, floor - 74 * weight, step - 4, max(0.6, 74 * weight), "k")
        panel.line((4, floor), (192, floor), stroke="edge")
        panel.text(98, floor + 17, f"largest weight {weights.max():.2f}", "middle", 12)
        panels.append(panel)
        told.append(f"d_k = {d}: spread {spread:.1f}, largest weight {weights.max():.2f}")
    caption = (
        f"Above: {draws * n_keys} scores q · k without a scale, all on one axis. Below: the "
        f"softmax of {n_keys} of them: of {draws} such rows, the one in the middle by its largest "
        "weight."
    )
    return Drawing("Scores spread with d_k", "; ".join(told) + ".", panels, caption)
