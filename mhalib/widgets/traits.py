"""The values of widgets: traitlets' own types that take NumPy's numbers, name what they refuse, and
say their limits as data, so that a page checks by the same ones."""

from __future__ import annotations

import re
from typing import Any

import traitlets

from mhalib import _validate as validate


class Whole(traitlets.Int):
    """A whole number from `low` to `high`."""

    def __init__(self, default: int, low: int, high: int) -> None:
        super().__init__(default, min=low, max=high)
        self.low, self.high = low, high

    def validate(self, obj: Any, value: Any) -> int:
        number = validate.positive_int(self.name or "value", value, minimum=self.low)
        if number > self.high:
            raise ValueError(f"{self.name} must be at most {self.high}, got {number}")
        return number

    def limit(self) -> dict[str, Any]:
        return {"type": "int", "min": self.low, "max": self.high}


class Real(traitlets.Float):
    """A real number from `low` to `high`."""

    def __init__(self, default: float, low: float, high: float) -> None:
        super().__init__(default, min=low, max=high)
        self.low, self.high = low, high

    def validate(self, obj: Any, value: Any) -> float:
        number = validate.real_number(self.name or "value", value)
        if not self.low <= number <= self.high:
            raise ValueError(f"{self.name} must lie in {self.low} … {self.high}, got {number}")
        return number

    def limit(self) -> dict[str, Any]:
        return {"type": "float", "min": self.low, "max": self.high}


class Choice(traitlets.Enum):
    """One of a few names."""

    def __init__(self, default: str, options: tuple[str, ...]) -> None:
        super().__init__(options, default)
        self.options = options

    def validate(self, obj: Any, value: Any) -> str:
        if not isinstance(value, str) or value not in self.options:
            raise ValueError(f"{self.name} must be one of {self.options}, got {value!r}")
        return str(value)

    def limit(self) -> dict[str, Any]:
        return {"type": "choice", "options": list(self.options)}


class Flag(traitlets.Bool):
    """True or False."""

    def validate(self, obj: Any, value: Any) -> bool:
        if value not in (True, False):
            raise TypeError(f"{self.name} must be True or False, got {value!r}")
        return bool(value)

    def limit(self) -> dict[str, Any]:
        return {"type": "bool"}


class Text(traitlets.Unicode):
    """A text of at most `limit` characters."""

    def __init__(self, default: str, limit: int = 400) -> None:
        super().__init__(default)
        self.longest = limit

    def validate(self, obj: Any, value: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(f"{self.name} must be a text, got {value!r}")
        if len(value) > self.longest:
            raise ValueError(
                f"{self.name} must have at most {self.longest} characters, got {len(value)}"
            )
        return value

    def limit(self) -> dict[str, Any]:
        return {"type": "text", "max": self.longest}


class Positions(traitlets.TraitType):
    """A sorted list of positions of tokens, each once."""

    default_value: tuple[int, ...] = ()
    entries: dict[str, Any] = {"type": "int", "min": 0, "max": 10**6}

    def make_dynamic_default(self) -> list[int]:
        return []

    def validate(self, obj: Any, value: Any) -> list[int]:
        try:
            entries = list(value)
        except TypeError:
            raise TypeError(f"{self.name} must be a list of positions, got {value!r}") from None
        return sorted({validate.positive_int(f"{self.name}[…]", v, minimum=0) for v in entries})

    def limit(self) -> dict[str, Any]:
        return {"type": "list", "of": self.entries}


class Ids(Positions):
    """A list of ids of tokens, in their order."""

    def validate(self, obj: Any, value: Any) -> list[int]:
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise TypeError(f"{self.name} must be a list of ids, got {value!r}")
        return [validate.positive_int(f"{self.name}[…]", v, minimum=0) for v in value]


class Names(Positions):
    """A sorted list of names, each once."""

    entries = {"type": "text", "max": 60}

    def validate(self, obj: Any, value: Any) -> Any:
        listed = hasattr(value, "__iter__") and not isinstance(value, str)
        if not listed or not all(isinstance(name, str) for name in value):
            raise TypeError(f"{self.name} must be a list of names, got {value!r}")
        return sorted({str(name) for name in value})


class Texts(Positions):
    """A list of short texts, in their order."""

    entries = {"type": "text", "max": 16}

    def validate(self, obj: Any, value: Any) -> Any:
        listed = hasattr(value, "__iter__") and not isinstance(value, str)
        if not listed or not all(isinstance(v, str) and len(v) <= 16 for v in value):
            raise TypeError(
                f"{self.name} must be a list of texts of at most 16 characters, got {value!r}"
            )
        return list(value)


class Pairs(Positions):
    """A sorted list of pairs of whole numbers, each once: (layer, head), (query, key)."""

    entries = {"type": "pair", "of": Positions.entries}

    def validate(self, obj: Any, value: Any) -> Any:
        try:
            pairs = [(first, second) for first, second in value]
        except (TypeError, ValueError):
            raise TypeError(
                f"{self.name} must be a list of pairs of whole numbers, got {value!r}"
            ) from None
        whole = [
            [validate.positive_int(f"{self.name}[…]", part, minimum=0) for part in pair]
            for pair in pairs
        ]
        return sorted([list(pair) for pair in {tuple(pair) for pair in whole}])


class Numbers(traitlets.Dict):
    """Numbers from −largest to largest by name, the names of one pattern."""

    def __init__(self, pattern: re.Pattern[str], largest: float = 1e6) -> None:
        super().__init__()
        self.pattern, self.largest = pattern, largest

    def validate(self, obj: Any, value: Any) -> dict[str, float]:
        if not isinstance(value, dict):
            raise TypeError(f"{self.name} must be a dict of numbers by name, got {value!r}")
        for name in value:
            if not isinstance(name, str) or not self.pattern.fullmatch(name):
                raise ValueError(
                    f"{self.name}: names must match {self.pattern.pattern}, got {name!r}"
                )
        numbers = {
            name: validate.real_number(f"{self.name}[{name!r}]", number)
            for name, number in sorted(value.items())
        }
        for name, number in numbers.items():
            if abs(number) > self.largest:
                raise ValueError(
                    f"{self.name}[{name!r}] must lie in ±{self.largest:g}, got {number}"
                )
        return numbers

    def limit(self) -> dict[str, Any]:
        return {"type": "numbers", "pattern": self.pattern.pattern, "max": self.largest}
