"""Text on streams that cannot say all of it: Windows' cp1252, plain ASCII."""

from __future__ import annotations

import codecs
import sys
from typing import Any

# What stands in for a sign; a sign that is not named here becomes a question mark.
INSTEAD = {
    "√": "sqrt", "∞": "inf", "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "…": "...",
    "→": "->", "←": "<-", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "Σ": "sum", "σ": "sigma",
    "Φ": "Phi", "π": "pi", "∘": "o", "ᵀ": "^T", "²": "^2", "³": "^3", "ⁱ": "^i", "½": "1/2",
    "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "✓": "+", "✗": "x", "│": "|", "─": "-",
    "░": " ", "▒": ":", "█": "#", "\u00a0": " ",
}  # fmt: skip


def _instead(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(INSTEAD.get(sign, "?") for sign in signs), error.end


codecs.register_error("mhalib.instead", _instead)


def printable(text: str, stream: Any = None) -> str:
    """Return `text` as `stream` (standard output, if not given) can say it."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "mhalib.instead").decode(encoding)


def say_all() -> None:
    """Let standard output replace what it cannot encode: the first line of each command."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="mhalib.instead")
