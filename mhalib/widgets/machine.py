"""The whole machine: every stage at once, one number followed back, anything switched off."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import traitlets

import mhalib
from mhalib.analysis import evaluate
from mhalib.model import Ablation, Trace, Transformer
from mhalib.tokenizer import Tokenizer
from mhalib.widgets import svg
from mhalib.widgets.course import ModelWidget, evaluation, evaluation_texts
from mhalib.widgets.traits import Names, Text, Whole

SWITCHES = ("scale", "mask", "positions", "embedding_scale", "residual", "norm")


class MachineWidget(ModelWidget):
    """A sentence through every stage of the model.

    Parameters
    ----------
    model, tokenizer, text : as in `ModelWidget`
    position : of the token after which the prediction is read
    layer, head : what the pictures show, from 0
    off : what is switched off: "scale", "mask", "positions", "embedding_scale", "residual",
        "norm", "layers.1", "W_O.0", "heads.2.3"
    follow : the number that is followed back, by its name in the trace and its indices, such as
        "probabilities.9.388" or "layers.1.weights.1.9.4"

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
    evaluation: Any = traitlets.List(read_only=True).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Follow the probability of “baseball” back to an id. Then switch one part off: which one "
        "changes the prediction most?"
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "Each picture is one matrix of the forward pass: a row for each token, a column for each "
        "feature (for scores and weights: for each token). With something switched off, the upper "
        "picture is the whole model, the lower one the changed model."
    ).tag(sync=True, state=True)

    def __init__(
        self,
        model: str | Transformer = "main",
        tokenizer: Tokenizer | None = None,
        **values: Any,
    ) -> None:
        super().__init__(model, tokenizer, **values)
        self.ablation.check(self.transformer.config)
        if not self.follow and len(self.ids):
            at = min(self.position, len(self.ids) - 1)
            likeliest = int(self.full_trace.probabilities[at].argmax())
            self.follow = f"probabilities.{at}.{likeliest}"
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
        """The number that is followed, from `trace`."""
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
        scores = evaluate(self.transformer, evaluation_texts(), self.ablation, self.tokenizer)
        return {name: score.loss for name, score in scores.items()}

    def picture(self) -> str:
        if len(self.ids) < 2:
            return "<p>Type a sentence.</p>"
        at = min(self.position, len(self.ids) - 1)
        full, changed = self.full_trace.probabilities[at], self.trace.probabilities[at]
        top = [int(i) for i in np.argsort(-full, kind="stable")[:6]]
        names = [self.tokenizer.decode([i]).strip() for i in top]
        off = f" Switched off: {', '.join(self.off)}; loss {self.loss:.3f}." if self.off else ""
        said = (
            f"Likeliest after “{self.tokens[at].strip()}”: "
            + ", ".join(f"{name} {full[i]:.3f}" for name, i in zip(names, top, strict=True))
            + f". Loss of the sentence {self.full_loss:.3f} nats a token.{off}"
        )
        rows = []
        for k, (name, i) in enumerate(zip(names, top, strict=True)):
            rows.append(svg.text(96, 28 * k + 20, name, "end"))
            for y, p, color in ((6, full[i], "#5b86d6"), (15, changed[i], "#d0672a")):
                if self.off or y == 6:
                    rows.append(
                        svg.tag("rect", x=104, y=28 * k + y, width=float(320 * p), height=8,
                                fill=color)
                    )  # fmt: skip
        return f"{svg.picture(said, 480, 180, *rows)}<p>{escape(said)}</p>"


def _ablation(names: list[str]) -> Ablation:
    switches: dict[str, Any] = {name: True for name in names if name in SWITCHES}
    parts: dict[str, Any] = {"layers": [], "W_O": [], "heads": []}
    for name in set(names) - set(switches):
        kind, *numbers = name.split(".")
        expected = 2 if kind == "heads" else 1
        if kind not in parts or len(numbers) != expected or not all(n.isdigit() for n in numbers):
            raise ValueError(
                f"off: {name!r} is none of {', '.join(SWITCHES)}, 'layers.i', 'W_O.i', 'heads.i.j'"
            )
        whole = tuple(int(number) for number in numbers)
        parts[kind].append(whole if kind == "heads" else whole[0])
    return Ablation(**switches, **parts)
