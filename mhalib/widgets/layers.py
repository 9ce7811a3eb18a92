"""The widget of chapter 6: the stream, two meanings of a word, the reach of a change."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

from mhalib.model import Ablation, Trace, Transformer
from mhalib.tokenizer import Tokenizer
from mhalib.widgets import svg
from mhalib.widgets.model_widget import CAVE, ModelWidget, whole_words
from mhalib.widgets.traits import Choice, Positions, Text, Whole

Array = NDArray[Any]


class LayersWidget(ModelWidget):
    """The stream of one token through the layers, beside the same word in another sentence.

    Parameters
    ----------
    model, tokenizer, text : as in `ModelWidget`
    other : another sentence; the first token in it that equals the chosen one is compared
    position : of the chosen token
    replacement : id of the token put in its place, to see who notices
    depth : how many layers are used
    norm : "post" or "pre"; chooses the course model trained so, where it is shipped

    Examples
    --------
    >>> w = LayersWidget()
    >>> len(w.cosines), w.changes.shape
    (7, (7, 13))
    """

    _widget = traitlets.Unicode("layers").tag(sync=True)
    _variant = "norm"
    other = Text(CAVE).tag(sync=True, state=True)
    position = Whole(4, 0, 31).tag(sync=True, state=True)
    replacement = Whole(0, 0, 10**6).tag(sync=True, state=True)
    words = Positions().tag(sync=True, state=True)
    depth = Whole(3, 0, 99).tag(sync=True, state=True)
    norm = Choice("post", ("post", "pre")).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Follow “bats”: where do its two meanings part? Then follow “the”."
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "One row per stage, from `X` to the last layer: the vector of the token, its cosine with "
        "the same word in the other sentence, and how much each token moves when the chosen one "
        "is replaced. Pick a row, and the model is read there: below is what it would say next. "
        "Pick any number, or move with the arrow keys: its arithmetic stands below."
    ).tag(sync=True, state=True)

    def __init__(
        self,
        model: str | Transformer = "main",
        tokenizer: Tokenizer | None = None,
        **values: Any,
    ) -> None:
        super().__init__(model, tokenizer, **values)
        self.norm = self.transformer.config.norm
        self.depth = min(self.depth, self.transformer.config.n_layers)
        self.words = self.words or whole_words(self.tokenizer)
        self.replacement = self.replacement or self.words[0]

    def _limits(self) -> dict[str, Any]:
        limits = super()._limits()
        limits["other"]["tokens"] = limits["text"]["tokens"]
        return limits

    @property
    def ablation(self) -> Ablation:
        return Ablation(layers=range(self.depth, self.transformer.config.n_layers))

    def stages(self, text: str | None = None) -> list[Array]:
        """The stream before, inside and after each layer, each (n, d_model)."""
        return self._stages(self.trace if text is None else self._trace_of(text))

    def _trace_of(self, text: str) -> Trace:
        ids = np.array(self.tokenizer.encode(text)[:32])
        return self.transformer.forward(ids, ablate=self.ablation)

    def _stages(self, trace: Trace) -> list[Array]:
        post = self.transformer.config.norm == "post"
        pairs = (
            (b.norm_1, b.norm_2) if post else (b.residual_1, b.residual_2)
            for b in trace.layers
            if b
        )
        return [trace.X, *(stage for pair in pairs for stage in pair)]

    @property
    def cosines(self) -> list[float] | None:
        """Of the chosen token and the same token of `other`, by stage; None if it is not there."""
        ids, others = self.ids, self.tokenizer.encode(self.other)[:32]
        at = min(self.position, len(ids) - 1)
        if not len(ids) or ids[at] not in others:
            return None
        found = others.index(int(ids[at]))
        pairs = zip(self.stages(), self.stages(self.other), strict=True)
        return [_cosine(mine[at], theirs[found]) for mine, theirs in pairs]

    @property
    def changes(self) -> Array:
        """|change| / |vector| of every token at every stage, (stages, n)."""
        swapped = self.ids.copy()
        swapped[min(self.position, len(swapped) - 1)] = self.replacement
        changed = self._stages(self.transformer.forward(swapped, ablate=self.ablation))
        return np.array(
            [
                np.linalg.norm(a - b, axis=-1) / np.linalg.norm(a, axis=-1)
                for a, b in zip(self.stages(), changed, strict=True)
            ]
        )

    def picture(self) -> str:
        values = self.cosines
        if values is None:
            return "<p>The chosen token is not in the other sentence.</p>"
        word = self.tokens[min(self.position, len(self.ids) - 1)].strip()
        said = f"Cosine of “{word}” in the two sentences, from X to the last layer: " + ", ".join(
            f"{value:.3f}" for value in values
        )
        points = [(60 + 80.0 * s, 160 - 130 * value) for s, value in enumerate(values)]
        drawing = svg.picture(
            said,
            40 + 80 * len(values),
            200,
            svg.axis(40, 20 + 80 * len(values), 160),
            *(svg.text(34, 164 - 130 * v, f"{v:g}", "end") for v in (0, 0.5, 1)),
            svg.line(points, "#d0672a", "mh-line mh-theory"),
            *(svg.tag("circle", cx=x, cy=y, r=4, fill="#d0672a") for x, y in points),
            *(
                svg.text(
                    x,
                    180,
                    "X" if not s else f"{'attn' if s % 2 else 'ffn'} {(s - 1) // 2}",
                    "middle",
                )
                for s, (x, _) in enumerate(points)
            ),
        )
        return f"{drawing}<p>{escape(said)}.</p>"


def _cosine(a: Array, b: Array) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
