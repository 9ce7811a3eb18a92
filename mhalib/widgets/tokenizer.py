"""The widget of chapter 1: text → tokens → ids, and the merges one at a time."""

from __future__ import annotations

from html import escape
from typing import Any

import traitlets

from mhalib.tokenizer import Tokenizer
from mhalib.widgets.model_widget import BASEBALL, TokenizedWidget
from mhalib.widgets.traits import Text, Whole


class TokenizerWidget(TokenizedWidget):
    """Text cut into tokens by the course's byte-pair encoding, merge by merge.

    Parameters
    ----------
    tokenizer : a `Tokenizer` of your own (live in Jupyter only), the course's if not given
    text : at most 200 characters
    step : how many merges are done, −1 for all

    Examples
    --------
    >>> w = TokenizerWidget(text="I love bats", step=0)
    >>> len(w.shown), len(w.ids)
    (11, 3)
    """

    _widget = traitlets.Unicode("tokenizer").tag(sync=True)
    text = Text(BASEBALL, limit=200).tag(sync=True, state=True)
    step = Whole(-1, -1, 1000).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Go back to the bytes, then merge by merge. Which word is whole first? Then type your own."
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "Each box is a token: its text (␣ is the space that belongs to a word) and its id. Colours "
        "alternate from word to word; merges never cross them. Below, the merges of the underlined "
        "word from its bytes up, each with its id: drag the line, and merges are "
        "done and undone. Pick a token for its bytes and its tree."
    ).tag(sync=True, state=True)

    def __init__(self, tokenizer: Tokenizer | None = None, **values: Any) -> None:
        self._name = None if tokenizer else "tokenizer"
        super().__init__(tokenizer, **values)

    def _limits(self) -> dict[str, Any]:
        limits = super()._limits()
        limits["text"]["tokens"] = 4 * limits["text"]["max"]  # all of them: a byte each at most
        return limits

    @property
    def ids(self) -> list[int]:
        """The ids of the whole text."""
        return self.tokenizer.encode(self.text)

    @property
    def shown(self) -> list[int]:
        """The ids on screen, after `step` merges."""
        steps = list(self.tokenizer.merge_steps(self.text))
        return steps[min(self.step, len(steps) - 1) if self.step >= 0 else -1]

    def picture(self) -> str:
        ids = self.shown
        pieces = [self.tokenizer.decode([i]) for i in ids]
        rows = "".join(
            f"<tr><td>{escape(piece.replace(' ', '␣'))}</td><td>{i}</td></tr>"
            for piece, i in zip(pieces, ids, strict=True)
        )
        return (
            f"<p>{len(self.text)} characters, {len(self.text.encode())} bytes, "
            f"{len(ids)} tokens.</p>"
            f"<table><thead><tr><th>token</th><th>id</th></tr></thead><tbody>{rows}</tbody></table>"
        )
