"""What all widgets share: checked values, the static picture, both homes (site and Jupyter)."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from mhalib import _validate as validate

STATIC = Path(__file__).parent / "static"


class Whole(traitlets.TraitType):
    """A whole number from `low` to `high`; NumPy's integers are accepted."""

    def __init__(self, default: int, low: int, high: int) -> None:
        super().__init__(default_value=default)
        self.low, self.high = low, high

    def validate(self, obj: Any, value: Any) -> int:
        number = validate.positive_int(self.name or "value", value, minimum=self.low)
        if number > self.high:
            raise ValueError(f"{self.name} must be at most {self.high}, got {number}")
        return number


class Real(traitlets.TraitType):
    """A real number from `low` to `high`; NumPy's numbers are accepted."""

    def __init__(self, default: float, low: float, high: float) -> None:
        super().__init__(default_value=default)
        self.low, self.high = low, high

    def validate(self, obj: Any, value: Any) -> float:
        number = validate.real_number(self.name or "value", value)
        if not self.low <= number <= self.high:
            raise ValueError(f"{self.name} must lie in {self.low} … {self.high}, got {number}")
        return number


class Choice(traitlets.TraitType):
    """One of a few names."""

    def __init__(self, default: str, options: tuple[str, ...]) -> None:
        super().__init__(default_value=default)
        self.options = options

    def validate(self, obj: Any, value: Any) -> str:
        if value not in self.options:
            raise ValueError(f"{self.name} must be one of {self.options}, got {value!r}")
        return str(value)


class Text(traitlets.TraitType):
    """A text of at most `limit` characters."""

    def __init__(self, default: str, limit: int = 400) -> None:
        super().__init__(default_value=default)
        self.limit = limit

    def validate(self, obj: Any, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(f"{self.name} must be a text, got {value!r}")
        if len(value) > self.limit:
            raise ValueError(
                f"{self.name} must have at most {self.limit} characters, got {len(value)}"
            )
        return value


class Positions(traitlets.TraitType):
    """A sorted list of positions of tokens, each once."""

    default_value: tuple[int, ...] = ()

    def make_dynamic_default(self) -> list[int]:
        return []

    def validate(self, obj: Any, value: Any) -> list[int]:
        try:
            entries = list(value)
        except TypeError:
            raise TypeError(f"{self.name} must be a list of positions, got {value!r}") from None
        return sorted({validate.positive_int(f"{self.name}[…]", v, minimum=0) for v in entries})


class Ids(Positions):
    """A list of ids of tokens, in their order."""

    def validate(self, obj: Any, value: Any) -> list[int]:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise TypeError(f"{self.name} must be a list of ids, got {value!r}")
        return [validate.positive_int(f"{self.name}[…]", v, minimum=0) for v in value]


class Names(Positions):
    """A sorted list of names, each once."""

    def validate(self, obj: Any, value: Any) -> Any:
        listed = hasattr(value, "__iter__") and not isinstance(value, str)
        if not listed or not all(isinstance(name, str) for name in value):
            raise TypeError(f"{self.name} must be a list of names, got {value!r}")
        return sorted(set(value))


class Flag(traitlets.TraitType):
    """True or False."""

    def validate(self, obj: Any, value: Any) -> bool:
        if value not in (True, False):
            raise TypeError(f"{self.name} must be True or False, got {value!r}")
        return bool(value)


class Pairs(Positions):
    """A sorted list of (layer, head) pairs, each once."""

    def validate(self, obj: Any, value: Any) -> Any:
        try:
            pairs = [(first, second) for first, second in value]
        except (TypeError, ValueError):
            raise TypeError(
                f"{self.name} must be a list of (layer, head) pairs, got {value!r}"
            ) from None
        whole = [
            [validate.positive_int(f"{self.name}[…]", part, minimum=0) for part in pair]
            for pair in pairs
        ]
        return sorted([list(pair) for pair in {tuple(pair) for pair in whole}])


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
    task = traitlets.Unicode().tag(sync=True, state=True)
    caption = traitlets.Unicode().tag(sync=True, state=True)

    def __init__(self, **values: Any) -> None:
        unknown = set(values) - set(self.trait_names())
        if unknown:
            raise TypeError(f"{type(self).__name__} has no value {min(unknown)!r}")
        super().__init__(**values)

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
            f'<script type="application/json">{state}</script>\n'
            f"<figcaption>{rich(self.caption)}</figcaption>\n"
            "</figure>"
        )

    def __repr__(self) -> str:
        words = {n: v for n, v in self.state().items() if n not in ("task", "caption")}
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in words.items())})"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/html": self.html()}, metadata


def rich(text: str) -> str:
    """Return `text` as HTML in which `` `d_k` `` between backquotes is a symbol with subscript."""
    parts = text.split("`")
    return "".join(symbol(part) if i % 2 else html.escape(part) for i, part in enumerate(parts))


def symbol(name: str) -> str:
    base, _, sub = html.escape(name).partition("_")
    tail = f"<sub>{sub}</sub>" if sub else ""
    return f'<var class="dim dim-{html.escape(name)}">{base}{tail}</var>'
