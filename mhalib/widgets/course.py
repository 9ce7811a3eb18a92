"""What the widgets around a model share: the model, the tokenizer, the sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

from mhalib.model import Ablation, Trace, Transformer, load_model, load_tokenizer
from mhalib.tokenizer import Tokenizer
from mhalib.widgets.base import CourseWidget, Text
from mhalib.widgets.models import pack

MAX_TOKENS = 32
BASEBALL = "There are so many bats I can choose at the baseball store."
CAVE = "I love to study bats that live inside a cave."


class ModelWidget(CourseWidget):
    """A widget around a model that reads a sentence.

    Parameters
    ----------
    model : name of a course model, or a `Transformer` of your own (live in Jupyter only)
    tokenizer : `Tokenizer` that goes with it, the course's if not given
    text : the sentence; its first 32 tokens are used
    """

    text = Text(BASEBALL).tag(sync=True, state=True)
    _model = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        model: str | Transformer = "main",
        tokenizer: Tokenizer | None = None,
        **values: Any,
    ) -> None:
        if not isinstance(model, (str, Transformer)):
            raise TypeError(f"model must be a name or a Transformer, got {type(model).__name__}")
        self.transformer = load_model(model) if isinstance(model, str) else model
        self.tokenizer = tokenizer or load_tokenizer()
        if self.tokenizer.vocab_size > self.transformer.config.vocab_size:
            raise ValueError(
                f"tokenizer has {self.tokenizer.vocab_size} tokens, "
                f"the model knows {self.transformer.config.vocab_size}"
            )
        self._name = model if isinstance(model, str) and tokenizer is None else None
        super().__init__(**values)
        merges = [list(pair) for pair in self.tokenizer.merges]
        self._model = {**pack(self.transformer), "merges": merges}

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids of the sentence, at most 32."""
        return np.array(self.tokenizer.encode(self.text)[:MAX_TOKENS], dtype=np.int64)

    @property
    def tokens(self) -> list[str]:
        """The text of each of `ids`."""
        return [self.tokenizer.decode([int(i)]) for i in self.ids]

    @property
    def ablation(self) -> Ablation:
        """What is switched off."""
        return Ablation()

    @property
    def trace(self) -> Trace:
        """Every intermediate of the model on the sentence, from `Transformer.forward`."""
        return self.transformer.forward(self.ids, ablate=self.ablation)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "model": self._name}
