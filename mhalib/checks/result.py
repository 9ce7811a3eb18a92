"""The answer to a reader: plain words in a terminal, a box in a notebook and on the site."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Literal

from mhalib._stream import printable

Kind = Literal[
    "correct", "unsolved", "mistake", "wrong", "unsteady", "error", "hang", "type", "changed"
]

# The box's edge; the tint behind is a tenth of it, so that a light and a dark page show through.
_EDGES = {"correct": "#2e9e5b", "unsolved": "#4a86d8"}
_OTHER_EDGE = "#d9822b"
_BOX = "padding:.6em .9em;margin:.8em 0;border-radius:.25rem;overflow-x:auto"
_TITLE = "font-weight:600;margin:0 0 .4em"
_TEXT = "margin:0 0 .6em"
_LABEL = "text-align:left;vertical-align:top;padding:.1em .9em .1em 0;border:0"
_CELL = "text-align:left;padding:.1em 0;border:0"
_VALUE = "margin:0;padding:0;background:none;border:0;color:inherit;white-space:pre-wrap"


@dataclass(frozen=True, repr=False)
class Result:
    """The answer of `check`. It is true if the function is right.

    Parameters
    ----------
    kind : what sort of answer it is
    title : the answer in a few words; for a known mistake, its name
    paragraphs : what it means
    example : rows (label, value), the smallest input that shows it, the reader's value and the
        right one
    pointer : where the lesson explains it
    note : what is special about the input
    """

    kind: Kind
    title: str
    paragraphs: tuple[str, ...] = ()
    example: tuple[tuple[str, str], ...] = ()
    pointer: str = ""
    note: str = ""

    @property
    def ok(self) -> bool:
        return self.kind == "correct"

    def __bool__(self) -> bool:
        return self.ok

    @property
    def heading(self) -> str:
        mark = {"correct": "✓", "unsolved": "…"}.get(self.kind, "✗ Not yet:")
        return f"{mark} {self.title}"

    @property
    def caption(self) -> str:
        """What stands over the example."""
        labels = [label for label, _ in self.example]
        note = f" ({self.note})" if self.note else ""
        shows = "The smallest input that shows it" if "right" in labels else "With this input"
        return f"{shows}{note}:"

    def __repr__(self) -> str:
        lines = [self.heading, *self.paragraphs]
        width = max((len(label) for label, _ in self.example), default=0)
        lines += [self.caption] * bool(self.example)
        for label, value in self.example:
            lines.append(f"  {label:<{width}}  " + value.replace("\n", "\n" + " " * (width + 4)))
        return "\n".join(lines + [self.pointer] * bool(self.pointer))

    def __str__(self) -> str:
        return printable(repr(self))

    def _repr_html_(self) -> str:
        edge = _EDGES.get(self.kind, _OTHER_EDGE)
        tint = f"color-mix(in srgb, {edge} 10%, transparent)"
        lines = [*self.paragraphs, *[self.caption] * bool(self.example), self.pointer]
        texts = [f'<p style="{_TEXT}">{html.escape(line)}</p>' for line in lines if line]
        rows = "".join(
            f'<tr style="background:none"><th scope="row" style="{_LABEL}">'
            f"{html.escape(label)}</th>"
            f'<td style="{_CELL}"><pre style="{_VALUE}">{html.escape(value)}</pre></td></tr>'
            for label, value in self.example
        )
        if rows:
            place = len(texts) - bool(self.pointer)
            texts.insert(place, f'<table style="border:0;margin:0 0 .6em">{rows}</table>')
        return (
            f'<div class="mhalib-check {self.kind}" '
            f'style="border-left:.25rem solid {edge};background:{tint};{_BOX}">'
            f'<p style="{_TITLE}">{html.escape(self.heading)}</p>{"".join(texts)}</div>'
        )
