"""The widget of chapter 2: the map of the vocabulary, neighbours, the code of the positions."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

import mhalib
from mhalib.model import Transformer
from mhalib.tokenizer import Tokenizer
from mhalib.widgets import svg
from mhalib.widgets.model_widget import ModelWidget, whole_words
from mhalib.widgets.normals import normals
from mhalib.widgets.traits import Choice, Positions, Whole

Array = NDArray[Any]


class EmbeddingWidget(ModelWidget):
    """Rows of the embedding table on a map, their neighbours, and the positions.

    Parameters
    ----------
    model, tokenizer : as in `ModelWidget`
    word : id of the chosen token; its text is accepted too; by default " bats"
    words : ids on the map; if not given, the tokens that are whole words
    table : "trained" rows of E, or "random" normal ones from `seed`
    shown : "meaning", the map and the neighbours, or "place", the code of the positions
    n, d_model : size of the table of positions

    Examples
    --------
    >>> w = EmbeddingWidget(word=" bats", n=16, d_model=32)
    >>> w.positions.shape, len(w.neighbours)
    ((16, 32), 8)
    """

    _widget = traitlets.Unicode("embedding").tag(sync=True)
    word = Whole(0, 0, 10**6).tag(sync=True, state=True)
    words = Positions().tag(sync=True, state=True)
    table = Choice("trained", ("trained", "random")).tag(sync=True, state=True)
    shown = Choice("meaning", ("meaning", "place")).tag(sync=True, state=True)
    n = Whole(32, 2, 64).tag(sync=True, state=True)
    d_model = Whole(64, 2, 128).tag(sync=True, state=True)
    seed = Whole(1, 0, 2**32 - 1).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Which words should be near “bats”? Guess, then look. And with random rows?"
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "Each dot is the row of E of one word, scaled to length 1, drawn on the two directions "
        "in which the rows differ most; the list beside it, and the arithmetic below, use all "
        "`d_model` features. Click a word to choose it, point at another to compare. Under "
        "“place”: the sinusoidal code of the positions, and the dot product of the chosen row "
        "with each."
    ).tag(sync=True, state=True)

    def __init__(
        self,
        model: str | Transformer = "main",
        tokenizer: Tokenizer | None = None,
        word: int | str | None = None,
        **values: Any,
    ) -> None:
        super().__init__(model, tokenizer, **values)
        self.words = self.words or whole_words(self.tokenizer)
        self.word = self.token_id("word", word, " bats")

    @property
    def E(self) -> Array:
        """The rows on the map, (len(words), d_model of the model)."""
        d = self.transformer.config.d_model
        if self.table == "random":
            return normals(self.seed, len(self.words) * d).reshape(-1, d)
        return np.asarray(self.transformer.parameters["E"][self.words])

    @property
    def neighbours(self) -> list[tuple[str, float]]:
        """The 8 nearest tokens and their cosines, nearest first."""
        E = self.E / np.linalg.norm(self.E, axis=1, keepdims=True)
        own = self.words.index(self.word)
        cosines = E @ E[own]
        order = [int(i) for i in np.argsort(-cosines, kind="stable") if i != own][:8]
        return [(self.tokenizer.decode([self.words[i]]), float(cosines[i])) for i in order]

    @property
    def plane(self) -> Array:
        """The rows, scaled to length 1, on their two directions of largest variance."""
        rows = self.E / np.linalg.norm(self.E, axis=1, keepdims=True)
        centred = rows - rows.mean(axis=0)
        axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
        signs = [np.sign(axis[np.abs(axis).argmax()]) for axis in axes]
        return np.asarray(centred @ (axes * np.array(signs)[:, None]).T)

    @property
    def positions(self) -> Array:
        """The table of positions, (n, d_model), from `mhalib.sinusoidal_positions`."""
        return np.asarray(mhalib.sinusoidal_positions(self.n, self.d_model))

    def picture(self) -> str:
        points = self.plane
        low, high = points.min(axis=0), points.max(axis=0)
        spots = (points - low) / (high - low) * [540, -300] + [20, 320]
        near = [name for name, _ in self.neighbours]
        named = {self.tokenizer.decode([self.word]), *near}
        said = (
            f"Nearest to “{self.tokenizer.decode([self.word]).strip()}” by cosine: "
            + ", ".join(f"{name.strip()} {cosine:.2f}" for name, cosine in self.neighbours)
            + "."
        )
        marks = []
        for (x, y), token in zip(spots.tolist(), self.words, strict=True):
            name = self.tokenizer.decode([token])
            strong = name in named
            marks.append(svg.tag("circle", cx=x, cy=y, r=5 if strong else 3, fill="#5b86d6"))
            if strong:
                marks.append(svg.text(x + 7, y + 4, name.strip(), size=13))
        return f"{svg.picture(said, 620, 340, *marks)}<p>{escape(said)}</p>"
