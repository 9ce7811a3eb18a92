"""The widget of chapter 7: from the last layer's vector to the next word."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

import mhalib
from mhalib import language
from mhalib.model import Transformer
from mhalib.sampling import draw
from mhalib.tokenizer import Tokenizer
from mhalib.widgets import svg
from mhalib.widgets.model_widget import ModelWidget
from mhalib.widgets.normals import words
from mhalib.widgets.traits import Ids, Real, Whole

Array = NDArray[Any]
MAX_LENGTH = 48


class VocabHeadWidget(ModelWidget):
    """Logits and probabilities of the next token, exact ones beside them, and generation.

    Parameters
    ----------
    model, tokenizer, text : as in `ModelWidget`
    position : of the token after which the prediction is read
    word : id of the token whose dot product is shown, or its text; " baseball" by default
    temperature, top_k, top_p : of the sampling; ``top_k=0`` and ``top_p=1`` leave nothing out
    generated : ids written so far
    seed : of the sampling

    Examples
    --------
    >>> w = VocabHeadWidget(text="I love to study bats that live inside a", position=8)
    >>> w.exact
    {'cave': 0.8, 'zoo': 0.2}
    """

    _widget = traitlets.Unicode("vocab-head").tag(sync=True)
    position = Whole(9, 0, MAX_LENGTH - 1).tag(sync=True, state=True)
    word = Whole(0, 0, 10**6).tag(sync=True, state=True)
    temperature = Real(1.0, 0.1, 3.0).tag(sync=True, state=True)
    top_k = Whole(0, 0, 40).tag(sync=True, state=True)
    top_p = Real(1.0, 0.05, 1.0).tag(sync=True, state=True)
    generated = Ids().tag(sync=True, state=True)
    seed = Whole(1, 0, 2**32 - 1).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "How close are the bars to the exact ticks? Then lower the temperature to 0.1."
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "Bars: the model's probabilities, and those that sampling draws from. The line across a "
        "bar is the exact probability in the course's language. Pick a word to see the dot "
        "product behind its logit."
    ).tag(sync=True, state=True)

    def __init__(
        self,
        model: str | Transformer = "main",
        tokenizer: Tokenizer | None = None,
        word: int | str | None = None,
        **values: Any,
    ) -> None:
        super().__init__(model, tokenizer, **values)
        self.word = self.token_id("word", word, " baseball")

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids of the text and of what was generated, at most 48."""
        prompt = self.tokenizer.encode(self.text)[:32]
        return np.array([*prompt, *self.generated][:MAX_LENGTH], dtype=np.int64)

    @property
    def logits(self) -> Array:
        """Of the token after `position`, (V,)."""
        return np.asarray(self.trace.logits[min(self.position, len(self.ids) - 1)])

    @property
    def probabilities(self) -> Array:
        """What the model says, (V,), from `mhalib.softmax`."""
        return np.asarray(mhalib.softmax(self.logits))

    @property
    def sampling_probabilities(self) -> Array:
        """What sampling draws from, (V,): temperature, then top-k, then top-p."""
        return np.asarray(mhalib.softmax(self._filtered(self.logits)))

    def _filtered(self, logits: Array) -> Array:
        logits = logits / self.temperature
        if self.top_k:
            logits = mhalib.top_k_filter(logits, self.top_k)
        if self.top_p < 1:
            logits = mhalib.top_p_filter(logits, self.top_p)
        return logits

    @property
    def exact(self) -> dict[str, float] | None:
        """The exact probabilities of the next word; None if no text of the language starts so."""
        prefix = self.tokenizer.decode(self.ids[: self.position + 1].tolist())
        try:
            return language.next_word_distribution(prefix)
        except ValueError:
            return None

    def write(self, count: int = 1) -> str:
        """Generate up to `count` tokens, to the full stop at most; return the text so far."""
        stop = self.tokenizer.encode(".")[0]
        for _ in range(count):
            ids = self.ids
            if not 0 < len(ids) < MAX_LENGTH:
                break
            u = words(self.seed, len(self.generated) + 1)[-1] / 2.0**32
            new = draw(mhalib.softmax(self._filtered(self.trace.logits[-1])), u)
            self.generated = [*self.generated, new]
            if new == stop:
                break
        self.position = max(0, len(self.ids) - 1)
        return self.tokenizer.decode(self.ids.tolist())

    def picture(self) -> str:
        if not len(self.ids):
            return "<p>No tokens.</p>"
        p = self.probabilities
        at = min(self.position, len(self.ids) - 1)
        top = [int(i) for i in np.argsort(-p, kind="stable")[:8]]
        names = [self.tokenizer.decode([i]).strip() for i in top]
        said = (
            f"Likeliest after “{self.tokenizer.decode([int(self.ids[at])]).strip()}”: "
            + ", ".join(f"{name} {p[i]:.3f}" for name, i in zip(names, top, strict=True))
        )
        rows = [
            svg.text(96, 24 * k + 18, name, "end")
            + svg.tag(
                "rect", x=104, y=24 * k + 6, width=float(320 * p[i]), height=14, fill="#5b86d6"
            )
            + svg.text(112 + 320 * float(p[i]), 24 * k + 18, f"{p[i]:.3f}")
            for k, (name, i) in enumerate(zip(names, top, strict=True))
        ]
        return f"{svg.picture(said, 480, 200, *rows)}<p>{escape(said)}.</p>"
