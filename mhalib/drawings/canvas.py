"""What every drawing is made of: shapes and texts on a panel, panels in a figure.

A panel is at most 320 pixels wide and is never scaled, so that its texts keep their size on a
phone; wider screens show a figure's panels side by side. Colours are names of `mhalib.colours`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mhalib import colours

WIDEST = 320
SMALLEST = 12  # pixels, of any text
DIMENSION = re.compile(r"\b(d_model|d_ff|d_k|d_v|n|h)\b")
SHIFTED = re.compile(r"([_^])(\{[^}]*\}|[A-Za-z0-9]+)")  # lowered or raised
# Widths in em of a wide sans-serif (DejaVu Sans): what the reader has is hardly wider.
WIDTHS = {
    **dict.fromkeys("ijlI'|", 0.3),
    **dict.fromkeys("frt.,:;!()[]- ·", 0.4),
    **dict.fromkeys("mwMW%…→", 0.95),
    **dict.fromkeys("ABCDEGHKNOPQRUVXYZ√∞+=±×", 0.75),
}

NAMES: dict[str, colours.Pair] = {
    **colours.ROLES,
    **{f"head-{i}": pair for i, pair in enumerate(colours.HEADS)},
    **{f"dim-{name}": pair for name, pair in colours.DIMENSIONS.items()},
    **{f"rel-{name}": pair for name, pair in colours.RELATIONS.items()},
}


class Box(NamedTuple):
    """The room that a text takes."""

    left: float
    top: float
    right: float
    bottom: float
    words: str


def number(value: float) -> str:
    """Write a length with at most one decimal, the same on every machine."""
    return f"{round(float(value), 1) + 0.0:.1f}".removesuffix(".0")


def element(name: str, *inside: str, **attributes: Any) -> str:
    """Return one SVG element; a colour's name becomes its variable, `_` in a name `-`."""
    words = []
    for key, value in attributes.items():
        if value is None:
            continue
        if key in ("fill", "stroke") and value != "none":
            value = f"var(--{value})"
        text = number(value) if isinstance(value, (int, float)) else str(value)
        words.append(f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    return f"<{name}{''.join(words)}>{''.join(inside)}</{name}>"


def width_of(words: str, size: float) -> float:
    """Estimate, rather too large than too small, the width of a text in pixels."""
    plain = SHIFTED.sub(lambda found: found[2].strip("{}"), words)
    return sum(WIDTHS.get(letter, 0.63) for letter in plain) * size


class Panel:
    """A drawing of fixed size in pixels; x runs right, y down.

    Parameters
    ----------
    width, height : its size
    title : the heading above it, if the figure needs one
    """

    def __init__(self, width: float, height: float, title: str = "") -> None:
        if not 0 < width <= WIDEST:
            raise ValueError(f"width must lie in 0 … {WIDEST} to fit a phone, got {width}")
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []
        self.labels: list[Box] = []

    def add(self, name: str, **attributes: Any) -> None:
        self.parts.append(element(name, **attributes))

    def rect(
        self, x: float, y: float, width: float, height: float,
        fill: str = "none", stroke: str | None = None, **more: Any,
    ) -> None:  # fmt: skip
        self.add("rect", x=x, y=y, width=width, height=height, fill=fill, stroke=stroke, **more)

    def path(self, d: str, stroke: str = "soft", width: float = 1.5, **more: Any) -> None:
        """Draw a line along `d`, SVG's path language."""
        self.add("path", d=d, **{"fill": "none", "stroke": stroke, "stroke_width": width, **more})

    def line(
        self, *points: tuple[float, float], stroke: str = "soft", width: float = 1.5, **more: Any
    ) -> None:
        self.path(
            "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points), stroke, width, **more
        )

    def arrow(
        self, *points: tuple[float, float], stroke: str = "soft", width: float = 1.5, **more: Any
    ) -> None:
        """Draw a line through the points, with a head at the last."""
        (x0, y0), (x1, y1) = points[-2:]
        length = float(np.hypot(x1 - x0, y1 - y0)) or 1.0
        u, v = (x1 - x0) / length, (y1 - y0) / length
        size = 4 + width
        back = (x1 - size * u, y1 - size * v)
        self.line(*points[:-1], back, stroke=stroke, width=width, **more)
        corners = [
            (x1, y1),
            *((back[0] - s * v * size / 2, back[1] + s * u * size / 2) for s in (1, -1)),
        ]
        d = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in corners) + "z"
        self.add("path", d=d, fill=stroke)

    def text(
        self, x: float, y: float, words: str, anchor: str = "start", size: float = 13,
        fill: str = "text", upright: bool = False, **more: Any,
    ) -> None:  # fmt: skip
        """Write a text whose base line is at y; dimensions get their colour.

        `a_b` lowers b, `a^b` raises it. `upright` turns it by a quarter: it runs up from (x, y).
        """
        if size < SMALLEST:
            raise ValueError(f"size must be at least {SMALLEST} to be read, got {size}")
        wide = width_of(words, size)
        shift = {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        if upright:
            box = Box(x - 0.78 * size, y - wide + shift, x + 0.22 * size, y + shift, words)
            more["transform"] = f"translate({number(x)} {number(y)}) rotate(-90)"
        else:
            box = Box(x - shift, y - 0.78 * size, x - shift + wide, y + 0.22 * size, words)
            more |= {"x": x, "y": y}
        self.labels.append(box)
        self.parts.append(
            element(
                "text", _marked(words), **more, fill=fill, font_size=size,
                text_anchor=None if anchor == "start" else anchor,
            )
        )  # fmt: skip

    def cells(
        self, x: float, y: float, side: float, matrix: NDArray[Any],
        allowed: NDArray[np.bool_] | None = None, largest: float | None = None,
        fill: str = "", frame: str = "edge",
    ) -> None:  # fmt: skip
        """Draw a matrix to scale: strength is the size of a number, colour its sign (or `fill`).

        What is not `allowed` is crossed by a line.
        """
        matrix = np.asarray(matrix, float)
        limit = float(np.abs(matrix[np.isfinite(matrix)]).max(initial=0)) or 1.0
        looks: dict[tuple[str, float], list[str]] = {}
        for i, j in np.ndindex(*matrix.shape):
            left = number(x + j * side)
            if allowed is not None and not allowed[i, j]:
                off = f"M{left} {number(y + (i + 1) * side)}l{number(side)} -{number(side)}"
                looks.setdefault(("", 0.0), []).append(off)
                continue
            strength = round(min(1.0, abs(float(matrix[i, j])) / (largest or limit)) * 5) / 5
            colour = fill or ("plus" if matrix[i, j] > 0 else "minus")
            if strength:
                cell = f"M{left} {number(y + (i + 0.5) * side)}h{number(side)}"
                looks.setdefault((colour, strength), []).append(cell)
        rows, columns = matrix.shape
        for (colour, strength), d in looks.items():
            if colour:
                self.path("".join(d), colour, side, stroke_opacity=strength)
            else:
                self.path("".join(d), "edge", 0.7)
        self.rect(x, y, columns * side, rows * side, stroke=frame)

    def svg(self, title: str, alt: str) -> str:
        return element(
            "svg", element("title", escape(title)), *self.parts,
            viewBox=f"0 0 {number(self.width)} {number(self.height)}", width=self.width,
            height=self.height, role="img", aria_label=alt,
        )  # fmt: skip


def _marked(words: str) -> str:
    """Return the text with lowered parts and coloured dimensions as marked-up SVG."""
    parts = []
    for piece in re.split(r"((?<![\w’'])(?:d_model|d_ff|d_k|d_v|n|h)(?![\w’']))", words):
        inside, last = [], 0
        for found in SHIFTED.finditer(piece):
            dy, small = (3 if found[1] == "_" else -6), escape(found[2].strip("{}"))
            inside.append(escape(piece[last : found.start()]))
            inside.append(f'<tspan dy="{dy}" font-size="12">{small}</tspan>')
            inside.append(f'<tspan dy="{-dy}">&#8203;</tspan>')
            last = found.end()
        inside.append(escape(piece[last:]))
        done = "".join(inside)
        if DIMENSION.fullmatch(piece):
            done = f'<tspan fill="var(--dim-{piece})">{done}</tspan>'
        parts.append(done)
    return "".join(parts)


def _lowered(words: str) -> str:
    """Return the text as HTML, with d_k lowered."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", escape(words))


def _style() -> str:
    """Return the rules of all drawings: colours by the page's theme, light in print."""
    pairs = "".join(
        f"--{name}:light-dark({light},{dark});" for name, (light, dark) in NAMES.items()
    )
    return (
        ".mhalib-drawing{color-scheme:light dark;margin:0.75rem 0;" + pairs + "}"
        "[data-theme=light] .mhalib-drawing,[data-jp-theme-light=true] .mhalib-drawing,"
        ".vscode-light .mhalib-drawing{color-scheme:light}"
        "[data-theme=dark] .mhalib-drawing,[data-jp-theme-light=false] .mhalib-drawing,"
        ".vscode-dark .mhalib-drawing,html[theme=dark] .mhalib-drawing{color-scheme:dark}"
        "@media print{.mhalib-drawing.mhalib-drawing{color-scheme:light;break-inside:avoid}}"
        "@media(forced-colors:active){.mhalib-drawing{--text:CanvasText;--soft:CanvasText;"
        "--edge:CanvasText;--paper:Canvas}}"
        ".mhalib-drawing>div{display:flex;flex-wrap:wrap;gap:16px 20px;justify-content:center;"
        "align-items:flex-start}"
        ".mhalib-drawing>div>div{max-width:100%}"
        ".mhalib-drawing b{display:block;color:var(--text);font:600 14px/1.4 system-ui,sans-serif}"
        ".mhalib-drawing svg{display:block;max-width:100%;height:auto;"
        "font-family:system-ui,sans-serif}"
        ".mhalib-drawing figcaption{margin:8px auto 0;max-width:42rem;text-align:center;"
        "color:var(--soft);font:14px/1.45 system-ui,sans-serif}"
    )


class Drawing:
    """A figure of one or more panels; a notebook shows it as its cell's value.

    Parameters
    ----------
    name : what it is, in a few words
    alt : what it shows, in words, for those who cannot see it
    panels : the pictures, side by side where there is room
    caption : the line below, if there is one
    """

    def __init__(self, name: str, alt: str, panels: Iterable[Panel], caption: str = "") -> None:
        self.name, self.alt, self.caption = name, alt, caption
        self.panels: Sequence[Panel] = tuple(panels)

    def __repr__(self) -> str:
        return f"<Drawing: {self.name}>"

    def _repr_html_(self) -> str:
        """Return one figure that needs nothing else: no id, no script, its own style."""
        inside = []
        for i, panel in enumerate(self.panels):
            heading = f"<b>{_lowered(panel.title)}</b>" if panel.title else ""
            alt = self.alt if i == 0 else f"{self.name}: {panel.title or i + 1}"
            inside.append(f"<div>{heading}{panel.svg(panel.title or self.name, alt)}</div>")
        words = _lowered(self.caption)
        caption = f"<figcaption>{words}</figcaption>" if words else ""
        return (
            f'<figure class="mhalib-drawing"><style>{STYLE}</style>'
            f"<div>{''.join(inside)}</div>{caption}</figure>"
        )


STYLE = _style()
