"""Static pictures of the widgets, as SVG text. The classes are those of the live widgets.

The attributes beside the classes are for readers whose page has no stylesheet of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray


def tag(name: str, *children: str, **attributes: Any) -> str:
    """Return one element; a trailing underscore and inner underscores of names are tidied."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{words}>{''.join(children)}</{name}>"


def picture(label: str, width: float, height: float, *children: str) -> str:
    """Return a whole picture, read out as `label`."""
    return tag(
        "svg",
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
        font_family="sans-serif",
    )


def text(x: float, y: float, words: str, anchor: str = "start", size: int = 11, **more: Any) -> str:
    element = tag(
        "text", escape(words), x=x, y=y, text_anchor=anchor, font_size=size,
        **{"fill": "currentColor", **more},
    )  # fmt: skip
    return element + "\n"  # where a notebook leaves only the words of a picture, they stand apart


def bars(items: Iterable[tuple[float, float, float]], base: float) -> str:
    """Return bars as one path: (left, width, top) each, standing on `base`."""
    d = "".join(
        f"M{_short(x)} {_short(base)}V{_short(top)}h{_short(width)}V{_short(base)}z"
        for x, width, top in items
    )
    return tag("path", d=d, class_="mh-bars", fill="#5b86d6")


def line(points: Sequence[tuple[float, float]], color: str, class_: str, **more: Any) -> str:
    d = "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
    return tag("path", d=d, class_=class_, fill="none", stroke=color, stroke_width=2, **more)


def axis(x1: float, x2: float, y: float) -> str:
    return tag(
        "path",
        d=f"M{_short(x1)} {_short(y)}H{_short(x2)}",
        class_="mh-axis",
        stroke="#888",
    )


def cells(
    matrix: NDArray[Any],
    x: float,
    y: float,
    width: float,
    height: float,
    allowed: NDArray[np.bool_] | None = None,
    largest: float = 1.0,
    gap: float = 1.0,
) -> str:
    """Return the cells of a matrix: blue positive, orange negative, masked hatched."""
    paths: dict[tuple[str, float], list[str]] = {}  # cells of one look, in one path
    across, down = _short(width - gap), _short(height - gap)
    for i, j in np.ndindex(*matrix.shape):
        left, top = x + j * width, y + i * height
        if allowed is not None and not allowed[i, j]:
            line = f"M{_short(left)} {_short(top + height)}l{_short(width)} {_short(-height)}"
            paths.setdefault(("", 1.0), []).append(line)
            continue
        strength = round(min(1.0, abs(float(matrix[i, j])) / largest) ** 0.6, 1)
        color = "#4076de" if matrix[i, j] > 0 else "#e06c18"
        box = f"M{_short(left)} {_short(top)}h{across}v{down}h-{across}z"
        paths.setdefault((color, strength), []).append(box)
    return "".join(
        tag("path", d="".join(d), fill=color, fill_opacity=strength)
        if color
        else tag("path", d="".join(d), stroke="#888", class_="mh-masked")
        for (color, strength), d in paths.items()
        if strength
    )


def frame(x: float, y: float, width: float, height: float, color: str = "#888") -> str:
    return tag("rect", x=x, y=y, width=width, height=height, fill="none", stroke=color)


def heatmap(
    matrix: NDArray[Any],
    x: float,
    y: float,
    cell: float,
    allowed: NDArray[np.bool_] | None = None,
    largest: float = 1.0,
) -> str:
    """Return a matrix of square cells in a frame."""
    height, width = (cell * side for side in matrix.shape)
    return frame(x, y, width, height) + cells(matrix, x, y, cell, cell, allowed, largest)


def _short(value: Any) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
