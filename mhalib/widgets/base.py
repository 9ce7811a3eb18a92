"""What all widgets share: the static picture, both homes (site and Jupyter)."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import anywidget
import traitlets

STATIC = Path(__file__).parent / "static"
VIEW = "application/vnd.jupyter.widget-view+json"
# What JupyterLab writes below the picture when the kernel that knew the widget is gone.
NOT_FOUND = (
    ".jp-OutputArea-child:has(.mh-run) + .jp-OutputArea-child > .jupyter-widgets:not(:has(*))"
)


class CourseWidget(anywidget.AnyWidget):
    """A widget of the course; every trait tagged ``sync`` here is part of its state.

    A subclass sets `_widget` (the name of its view in JavaScript), `task` and `caption`, adds its
    traits, and draws `picture`.

    Parameters
    ----------
    **values : initial values of the traits, `task` and `caption` among them
    """

    _esm = STATIC / "widgets.mjs"
    _css = STATIC / "widgets.css"
    _widget = traitlets.Unicode().tag(sync=True)
    _own: tuple[str, ...] = ()  # names of what is kept beside the values
    _still = ""  # the picture's style in a notebook that is opened again, where ours is not loaded
    task = traitlets.Unicode().tag(sync=True, state=True)
    caption = traitlets.Unicode().tag(sync=True, state=True)
    limits = traitlets.Dict(read_only=True).tag(sync=True, state=True)
    """What each value may be, as data: a page checks by it, and lays out its controls."""

    def __init__(self, **values: Any) -> None:
        unknown = set(values) - set(self.trait_names())
        if unknown:
            raise TypeError(f"{type(self).__name__} has no value {min(unknown)!r}")
        super().__init__(**values)
        self.set_trait("limits", self._limits())

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name) and name not in self._own:
            raise AttributeError(f"{type(self).__name__} has no value {name!r}")
        super().__setattr__(name, value)

    def _limits(self) -> dict[str, Any]:
        """Return the limits of every value that a reader sets."""
        kinds = self.traits(state=True).items()
        return {name: kind.limit() for name, kind in sorted(kinds) if hasattr(kind, "limit")}

    def state(self) -> dict[str, Any]:
        """Return the values a page needs to show this widget, as JSON-ready Python values."""
        return {name: getattr(self, name) for name in sorted(self.traits(state=True))}

    def picture(self) -> str:
        """Return the static picture as HTML: what readers without JavaScript see, and print."""
        raise NotImplementedError

    def html(self) -> str:
        """Return the figure of this widget for a page, the same bytes for the same state."""
        state = json.dumps(self.state(), ensure_ascii=False, allow_nan=False)
        state = state.replace("<", "\\u003c")  # no `</script>` can end the element early
        return (
            f'<figure class="mhalib-widget" data-widget="{self._widget}">\n'
            f'<p class="mhalib-task">{rich(self.task)}</p>\n'
            f'<div class="mhalib-picture">{self.picture()}</div>\n'
            '<p class="mh-run">Run this cell to make it live.</p>\n'
            f'<script type="application/json">{state}</script>\n'
            f"<figcaption>{rich(self.caption)}</figcaption>\n"
            "</figure>"
        )

    def __repr__(self) -> str:
        fixed = {"task", "caption", *(n for n, t in self.traits().items() if t.read_only)}
        words = {n: v for n, v in self.state().items() if n not in fixed}
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in words.items())})"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/html": self.html()}, metadata

    def _ipython_display_(self) -> None:
        """Show the picture, and the live widget, which hides it, as an output of its own.

        A notebook that is opened again has no kernel to ask: the picture is what it shows.
        """
        from IPython.display import display

        data, metadata = self._repr_mimebundle_() or ({}, {})
        view = {VIEW: data.pop(VIEW)} if VIEW in data else {}
        if view:
            style = f"{NOT_FOUND} {{ display: none; }}{self._still}"
            data["text/html"] += f"\n<style>{style}</style>"
        display(data, raw=True)
        if view:
            display(view, metadata=metadata, raw=True)


def rich(text: str) -> str:
    """Return `text` as HTML in which `` `d_k` `` between backquotes is a symbol with subscript."""
    parts = text.split("`")
    return "".join(symbol(part) if i % 2 else html.escape(part) for i, part in enumerate(parts))


def symbol(name: str) -> str:
    base, _, sub = html.escape(name).partition("_")
    tail = f"<sub>{sub}</sub>" if sub else ""
    return f'<var class="dim dim-{html.escape(name)}">{base}{tail}</var>'
