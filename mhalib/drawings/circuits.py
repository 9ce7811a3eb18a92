"""Where heads of two layers look, and what is carried: induction, and the road of a prediction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mhalib import _validate as validate
from mhalib.drawings.canvas import Drawing, Panel, number, width_of

WIDEST_FLOW = 12.0
PITCH = 23.0


def _square(name: str, weights: ArrayLike, n: int) -> np.ndarray:
    A = validate.float_array(name, weights, ndim=2)
    if A.shape != (n, n):
        raise ValueError(f"{name} must have shape ({n}, {n}), got {A.shape}")
    return A


def _words(tokens: Sequence[str], query: int) -> list[str]:
    if not 0 <= query < len(tokens):
        raise ValueError(f"query must lie in 0 … {len(tokens) - 1}, got {query}")
    return [token.strip() for token in tokens]


def induction(
    tokens: Sequence[str],
    lower: ArrayLike,
    upper: ArrayLike,
    query: int,
    *,
    lower_name: str = "previous-token head",
    upper_name: str = "induction head",
) -> Drawing:
    """Draw the circuit that goes on with a repetition: two heads, and what they carry.

    Parameters
    ----------
    tokens : (n,)
    lower, upper : (n, n) weights of the lower and of the upper head
    query : the position after which the next token is predicted
    lower_name, upper_name : what to call them
    """
    words = _words(tokens, query)
    n = len(words)
    A, B = _square("lower", lower, n), _square("upper", upper, n)
    found = int(B[query].argmax())  # where the upper head looks
    before = int(A[found].argmax())  # what the lower head brought there
    panel = Panel(320, PITCH * n + 50)
    middle, half = 160.0, max(width_of(word, 13) for word in words) / 2 + 6
    panel.text(2, 14, lower_name, size=12, fill="head-0")
    panel.text(318, 14, upper_name, "end", 12, "head-1")
    panel.text(2, 30, f"{A[found, before]:.2f} from “{words[before]}”", size=12, fill="soft")
    panel.text(318, 30, f"{B[query, found]:.2f} from “{words[found]}”", "end", 12, "soft")
    for i, word in enumerate(words):
        y = 58 + PITCH * i
        marked = i in (before, found, query)
        if marked:
            colour = "head-1" if i == query else "head-0" if i == found else "edge"
            panel.rect(middle - half, y - 15, 2 * half, 21, stroke=colour, rx=6, stroke_width=1.5)
        panel.text(
            middle, y, word, "middle", fill="text" if marked else "soft",
            font_weight=600 if marked else None,
        )  # fmt: skip

    def flow(source: int, target: int, weight: float, way: int, colour: str) -> None:
        ya, yb = 58 + PITCH * source - 4.5, 58 + PITCH * target - 4.5
        x = middle + way * (half + 3)
        bow = way * (26 + min(1.0, abs(target - source) / 6) * 70) / 0.75
        d = f"M{number(x)} {number(ya)}C{number(x + bow)} {number(ya)} "
        d += f"{number(x + bow)} {number(yb)} {number(x)} {number(yb)}"
        panel.path(d, colour, max(0.7, WIDEST_FLOW * weight), stroke_opacity=0.75)

    flow(before, found, float(A[found, before]), -1, "head-0")
    for j in np.flatnonzero(B[query] >= 0.02):
        if j != query:
            flow(int(j), query, float(B[query, j]), 1, "head-1")
    alt = (
        f"Lower head: “{words[found]}” takes {A[found, before]:.2f} from “{words[before]}” before "
        f"it. Upper head: the second “{words[query]}” takes {B[query, found]:.2f} from "
        f"“{words[found]}”, whose vector now says what stands before it."
    )
    caption = (
        f"Left, in the lower layer, “{words[found]}” notes what stands before it. Right, in the "
        f"upper layer, the last “{words[query]}” looks for a token that stands after "
        f"“{words[query]}”, and finds “{words[found]}”."
    )
    return Drawing("The induction circuit", alt, [panel], caption)


def road(
    tokens: Sequence[str],
    layers: Sequence[ArrayLike],
    query: int,
    *,
    names: Sequence[str] = (),
    least: float = 0.1,
) -> Drawing:
    """Draw on which roads what one position knows came to it, layer by layer.

    Rows are tokens, columns the stream before, between and after the layers. Seen from the end,
    each token that gives `least` or more is followed further back. A flow is as wide as its weight.

    Parameters
    ----------
    tokens : (n,)
    layers : one (n, n) for each layer, the weights of one head (or of several, averaged)
    query : the position whose prediction is traced back
    names : what to write above each layer's flows
    least : smallest weight that is followed
    """
    words = _words(tokens, query)
    n, N = len(words), len(layers)
    matrices = [_square(f"layers[{i}]", weights, n) for i, weights in enumerate(layers)]
    if names and len(names) != N:
        raise ValueError(f"names must name {N} layers, got {len(names)}")
    right = 4 + max(width_of(word, 13) for word in words)
    panel = Panel(320, PITCH * n + 34)
    columns = np.linspace(right + 12, 306, N + 1)
    reached = {query}
    told = []
    live: list[set[int]] = [set() for _ in range(N + 1)]
    live[N] = {query}
    flows = []
    for i in range(N - 1, -1, -1):
        for target in sorted(live[i + 1]):
            for source in map(int, np.flatnonzero(matrices[i][target] >= least)):
                flows.append((i, source, target, float(matrices[i][target, source])))
                live[i].add(source)
            live[i].add(target)  # the stream itself goes on
    for words_at in live:
        reached |= words_at
    for j in range(n):
        y = 44 + PITCH * j
        panel.text(right, y, words[j], "end", fill="text" if j in reached else "soft",
                   font_weight=600 if j in reached else None)  # fmt: skip
        last = max((i for i in range(N + 1) if j in live[i]), default=0)
        end = columns[last] if j in reached else columns[N]
        panel.rect(columns[0], y - 9, end - columns[0], 9, "road")
    for i, source, target, weight in reversed(flows):
        x0, x1 = columns[i] + 6, columns[i + 1] - 2
        ya, yb = 44 + PITCH * source - 4.5, 44 + PITCH * target - 4.5
        bend = (x1 - x0) * 0.45
        d = f"M{number(x0)} {number(ya)}C{number(x0 + bend)} {number(ya)} "
        d += f"{number(x1 - bend)} {number(yb)} {number(x1)} {number(yb)}"
        panel.path(d, f"head-{i}", WIDEST_FLOW * weight, stroke_opacity=0.75)
        told.append(f"layer {i}: “{words[source]}” to “{words[target]}” {weight:.2f}")
    for i in range(N):
        name = names[i] if names else f"layer {i}"
        panel.text((columns[i] + columns[i + 1]) / 2, 16, name, "middle", 12, f"head-{i}")
    y = 44 + PITCH * query - 4.5
    panel.arrow((columns[N] - 2, y), (318, y), stroke="text")
    alt = f"What “{words[query]}” knows came by: " + "; ".join(told) + "."
    return Drawing("The road of a prediction", alt, [panel])
