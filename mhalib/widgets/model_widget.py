"""What the widgets around a model share: the model, the tokenizer, the sentence."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

from mhalib.evaluation import evaluation_sample
from mhalib.model import Ablation, Trace, Transformer, load_model, load_tokenizer
from mhalib.tokenizer import Tokenizer
from mhalib.widgets.base import CourseWidget
from mhalib.widgets.grammar import tabulate
from mhalib.widgets.models import pack, variants
from mhalib.widgets.traits import Text

MAX_TOKENS = 32
BASEBALL = "There are so many bats I can choose at the baseball store."
CAVE = "I love to study bats that live inside a cave."
EXAMPLES = [BASEBALL, CAVE]


def evaluation() -> list[dict[str, Any]]:
    """Return `evaluation_sample` as a page needs it: text, and the relation of each word."""
    return [{"text": str(text), "relations": list(text.relations)} for text in evaluation_sample()]


def whole_words(tokenizer: Tokenizer) -> list[int]:
    """Return the tokens that start with a space and that no merge makes longer; else all tokens."""
    parts = {part for pair in tokenizer.merges for part in pair}
    words = [
        i
        for i, text in enumerate(tokenizer.vocab)
        if text[:1] == b" " and len(text) > 1 and i not in parts
    ]
    return words or list(range(tokenizer.vocab_size))


@cache
def _grammar() -> dict[str, Any]:
    return tabulate()


class TokenizedWidget(CourseWidget):
    """A widget around a text and its tokenizer; `_name` is what a page loads, None for nothing.

    In Jupyter the front end asks for the model and gets it in a message: it is no value of the
    widget, so a saved notebook does not hold it.
    """

    _own: tuple[str, ...] = ("tokenizer",)
    text = Text(BASEBALL).tag(sync=True, state=True)
    _model = traitlets.Int(0).tag(sync=True)  # which model in a row: a new one is asked for
    _name: str | None = "tokenizer"

    def __init__(self, tokenizer: Tokenizer | None, **values: Any) -> None:
        self.tokenizer = tokenizer or load_tokenizer()
        super().__init__(**values)
        self._model = 1

    def _limits(self) -> dict[str, Any]:
        limits = super()._limits()
        limits["text"] |= {"tokens": MAX_TOKENS, "examples": EXAMPLES}
        return limits

    def _packed(self) -> dict[str, Any]:
        """Return what the front end computes with, as `mhalib.widgets.models.pack` does."""
        return {"merges": [list(pair) for pair in self.tokenizer.merges]}

    def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
        super()._handle_custom_msg(content, buffers)
        if content != {"ask": "model"}:
            return
        packed = self._packed()
        data = packed.pop("data", None)
        self.send({"model": packed, "number": self._model}, [data] if data else [])

    def state(self) -> dict[str, Any]:
        return {**super().state(), "model": self._name}


class ModelWidget(TokenizedWidget):
    """A widget around a model that reads a sentence.

    Parameters
    ----------
    model : name of a course model, or a `Transformer` of your own (live in Jupyter only)
    tokenizer : `Tokenizer` that goes with it, the course's if not given
    text : the sentence; its first 32 tokens are used
    """

    _own = ("tokenizer", "transformer", "variants")
    _variant: str | None = None  # the trait that chooses between trained models, if there is one

    def __init__(
        self,
        model: str | Transformer = "main",
        tokenizer: Tokenizer | None = None,
        **values: Any,
    ) -> None:
        if not isinstance(model, (str, Transformer)):
            raise TypeError(f"model must be a name or a Transformer, got {type(model).__name__}")
        known = variants(self._variant) if self._variant else {}
        self.variants = known if isinstance(model, str) and model in known.values() else {}
        if self.variants and self._variant in values:
            model = self.variant(values[self._variant])
        self.tokenizer = tokenizer or load_tokenizer()
        self.transformer = self._fitting(model)
        for name in {"layer", "head"} & (set(self.trait_names()) - set(values)):
            values[name] = min(
                getattr(self, name), getattr(self.transformer.config, f"n_{name}s") - 1
            )
        super().__init__(tokenizer, **values)
        self._name = model if isinstance(model, str) and tokenizer is None else None

    @traitlets.validate("layer", "head")
    def _in_the_model(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, int(proposal["value"])
        if value > self._last(name):
            raise ValueError(f"{name} must lie in 0 … {self._last(name)}, got {value}")
        return value

    @traitlets.validate("n_heads", "norm")
    def _possible(self, proposal: dict[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        if name == self._variant and value != getattr(self.transformer.config, name):
            self.variant(value)  # refuses what was not trained
        return value

    @traitlets.observe("n_heads", "norm")
    def _load(self, change: dict[str, Any]) -> None:
        name, value = change["name"], change["new"]
        if name == self._variant and value != getattr(self.transformer.config, name):
            self.use(self.variant(value))

    def use(self, model: str | Transformer) -> None:
        """Show another model; one that does not fit the tokenizer changes nothing."""
        self.transformer = self._fitting(model)
        for name in {"layer", "head"} & set(self.trait_names()):
            setattr(self, name, min(getattr(self, name), self._last(name)))
        self._model += 1

    def _last(self, name: str) -> int:
        """Return the number of the last layer or head."""
        return int(getattr(self.transformer.config, f"n_{name}s")) - 1

    def _fitting(self, model: str | Transformer) -> Transformer:
        transformer = load_model(model) if isinstance(model, str) else model
        if self.tokenizer.vocab_size > transformer.config.vocab_size:
            raise ValueError(
                f"tokenizer has {self.tokenizer.vocab_size} tokens, "
                f"the model knows {transformer.config.vocab_size}"
            )
        return transformer

    def _packed(self) -> dict[str, Any]:
        return {
            **super()._packed(),
            **pack(self.transformer),
            "grammar": _grammar(),
            "variants": {self._variant: self.variants} if self._variant else {},
        }

    def variant(self, value: Any) -> str:
        """Return the name of the course model trained with another value of the trait."""
        if str(value) not in self.variants:
            known = ", ".join(self.variants)
            raise ValueError(f"{self._variant}: trained models exist for {known}, got {value!r}")
        return self.variants[str(value)]

    def token_id(self, name: str, token: int | str | None, usual: str) -> int:
        """Return the id of a token given as id or text; by default of `usual`, if that is one."""
        if token is None:
            ids = self.tokenizer.encode(usual)
            return ids[0] if len(ids) == 1 else whole_words(self.tokenizer)[0]
        if not isinstance(token, str):
            return token
        ids = self.tokenizer.encode(token)
        if len(ids) != 1:
            raise ValueError(f"{name} must be a single token, {token!r} has {len(ids)}")
        return ids[0]

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
