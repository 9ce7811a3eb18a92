"""The whole machine in one picture: anything opened, followed back, switched off."""

from __future__ import annotations

from typing import Any

import traitlets

import mhalib
from mhalib.evaluation import evaluate, evaluation_sample
from mhalib.model import Ablation, Trace, Transformer
from mhalib.tokenizer import Tokenizer
from mhalib.widgets.machine_picture import machine_picture
from mhalib.widgets.model_widget import ModelWidget, evaluation
from mhalib.widgets.traits import Choice, Names, Text, Whole

SWITCHES = ("scale", "mask", "positions", "embedding_scale", "residual", "norm")
OPENED = ("", "X", "head", "W_O", "ffn", "output")
LESSONS = (
    (1, "Tokens", "01-tokenization"),
    (2, "Embedding", "02-embedding"),
    (3, "One head", "03-single-head"),
    (4, "Scaling", "04-scaling"),
    (5, "Many heads", "05-multi-head"),
    (6, "Layers", "06-layers"),
    (7, "Next word", "07-vocab-head"),
)


class MachineWidget(ModelWidget):
    """A sentence through every stage of the model.

    Parameters
    ----------
    model, tokenizer, text : as in `ModelWidget`
    position : of the token after which the prediction is read
    layer, head : what the pictures show, from 0
    off : what is switched off: "scale", "mask", "positions", "embedding_scale", "residual",
        "norm", "layers.1", "W_O.0", "ffn.2", "heads.2.3"
    follow : the number that is followed back, by its name in the trace and its indices, such as
        "probabilities.9.388" or "layers.1.weights.1.9.4"; "" for none
    opened : the part that shows its matrices: "X", "head", "W_O", "ffn" (of `layer`), "output"
    step : how many stages of the walk are shown: 1 the ids, 2 X, then two a layer, then the words;
        0 for all
    right : what stands at the right: "next word" or "loss by relation"
    landing : for the book's first page: writes on word by word, links the lessons

    Examples
    --------
    >>> w = MachineWidget(off=["heads.1.1"], follow="layers.1.weights.1.9.4")
    >>> bool(w.value == w.trace.flat()["layers.1.weights"][1, 9, 4])
    True
    """

    _widget = traitlets.Unicode("machine").tag(sync=True)
    position = Whole(9, 0, 31).tag(sync=True, state=True)
    layer = Whole(1, 0, 99).tag(sync=True, state=True)
    head = Whole(0, 0, 99).tag(sync=True, state=True)
    off = Names().tag(sync=True, state=True)
    follow = Text("", limit=60).tag(sync=True, state=True)
    opened = Choice("", OPENED).tag(sync=True, state=True)
    step = Whole(0, 0, 203).tag(sync=True, state=True)
    right = Choice("next word", ("next word", "loss by relation")).tag(sync=True, state=True)
    landing = traitlets.Bool(False).tag(sync=True, state=True)
    lessons: Any = traitlets.List(read_only=True).tag(sync=True, state=True)
    evaluation: Any = traitlets.List(read_only=True).tag(sync=True, state=True)
    task = traitlets.Unicode("Which head brings “bats” to “the”? Switch it off.").tag(
        sync=True, state=True
    )
    caption = traitlets.Unicode(
        "Each row is a token; time goes from left to right. A line to a later row says that this "
        "token takes something from the earlier one: its colour is the head, its width the weight. "
        "Strong lines end in the chosen token. Strips are the numbers that a token carries along "
        "(the stream), blue positive, orange negative. A box is a feed-forward network (FFN), "
        "filled by the share of its neurons that are on. Press a head's number, `W_O`, FFN or a "
        "layer's name to switch that part off: bars show how far each token's numbers have moved."
    ).tag(sync=True, state=True)

    def __init__(
        self,
        model: str | Transformer = "main",
        tokenizer: Tokenizer | None = None,
        **values: Any,
    ) -> None:
        super().__init__(model, tokenizer, **values)
        self.ablation.check(self.transformer.config)
        folder = "chapters/" if self.landing else ""
        self.set_trait("lessons", [[n, name, f"{folder}{file}.html"] for n, name, file in LESSONS])
        self.set_trait("evaluation", evaluation())

    @traitlets.validate("off")
    def _known(self, proposal: dict[str, Any]) -> list[str]:
        names: list[str] = proposal["value"]
        _ablation(names).check(self.transformer.config)
        return names

    @property
    def ablation(self) -> Ablation:
        return _ablation(self.off)

    @property
    def full_trace(self) -> Trace:
        """The trace of the whole model."""
        return self.transformer.forward(self.ids)

    @property
    def value(self) -> float:
        """The number that is followed, from `trace`; if none is, the largest next probability."""
        if not self.follow:
            return float(self.trace.probabilities[self._at].max())
        parts = self.follow.split(".")
        count = 3 if parts[0] == "layers" else 1
        array = self._named(".".join(parts[:count]))
        return float(array[tuple(int(part) for part in parts[count:])])

    def _named(self, name: str) -> Any:
        arrays = self.trace.flat()
        if name not in arrays:
            raise ValueError(f"follow: the trace has no {name!r}")
        return arrays[name]

    @property
    def loss(self) -> float:
        """Mean loss of the sentence in nats, with what is switched off."""
        return mhalib.cross_entropy(self.trace.logits[:-1], self.ids[1:])

    @property
    def full_loss(self) -> float:
        """Mean loss of the sentence in nats, of the whole model."""
        return mhalib.cross_entropy(self.full_trace.logits[:-1], self.ids[1:])

    @property
    def relation_losses(self) -> dict[str, float]:
        """Loss per relation on the texts of the widget, with what is switched off."""
        scores = evaluate(self.transformer, evaluation_sample(), self.ablation, self.tokenizer)
        return {name: score.loss for name, score in scores.items()}

    @property
    def _at(self) -> int:
        return min(self.position, len(self.ids) - 1)

    def picture(self) -> str:
        if len(self.ids) < 2:
            return "<p>Type a sentence.</p>"
        return machine_picture(self)


def _ablation(names: list[str]) -> Ablation:
    switches: dict[str, Any] = {name: True for name in names if name in SWITCHES}
    parts: dict[str, Any] = {"layers": [], "W_O": [], "ffn": [], "heads": []}
    for name in set(names) - set(switches):
        kind, *numbers = name.split(".")
        expected = 2 if kind == "heads" else 1
        if kind not in parts or len(numbers) != expected or not all(n.isdigit() for n in numbers):
            raise ValueError(
                f"off: {name!r} is none of {', '.join(SWITCHES)}, 'layers.i', 'W_O.i', 'ffn.i', "
                "'heads.i.j'"
            )
        whole = tuple(int(number) for number in numbers)
        parts[kind].append(whole if kind == "heads" else whole[0])
    return Ablation(**switches, **parts)
