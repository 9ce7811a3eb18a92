"""The widget of attention as a sheet of small numbers, each of which can be changed."""

from __future__ import annotations

import math
import re
from html import escape
from typing import Any

import numpy as np
import traitlets
from numpy.typing import NDArray

import mhalib
from mhalib.by_hand.problem import Grid, Problem
from mhalib.widgets.base import CourseWidget
from mhalib.widgets.tables import STILL, tables
from mhalib.widgets.traits import Choice, Flag, Numbers, Pairs, Text, Whole

Array = NDArray[Any]
D_MODEL, D_K = 3, 2
GIVEN = {
    "X": [[2, 2, 1], [1, 0, 2], [2, 1, 0], [2, 2, 0]],
    "W_Q": [[1, 0], [-1, -1], [0, 0]],
    "W_K": [[0, 0], [0, -1], [1, 0]],
    "W_V": [[0, 0], [1, 1], [1, 0]],
    "W_O": [[1, 1, -1], [-1, 1, -1]],
}
TOKENS = ("I", "love", "bats", "too")
# every table of the sheet, in the order in which it is computed
TABLES = (*GIVEN, "Q", "K", "V", "scores", "scaled", "exp", "sum", "weights", "output", "result")
CELL = re.compile(rf"({'|'.join(TABLES)})\.([0-3])\.([0-3])")


class ByHandWidget(CourseWidget):
    """One head on 3 or 4 tokens, d_model = 3, d_k = d_v = 2, from X to output · W_O.

    Parameters
    ----------
    n : tokens
    mask : "none", "causal" or "painted"
    hidden : (query, key) pairs that mask "painted" hides
    scaled : whether scores are divided by √d_k
    values : numbers put in the place of given or computed ones, by name: ``{"X.0.2": 5,
        "scores.1.0": -1}``
    cell : the chosen one
    step : which of the nine steps a phone shows

    Examples
    --------
    >>> w = ByHandWidget(mask="causal", values={"scores.1.0": 100})
    >>> w.weights.round(2)[1].tolist()
    [1.0, 0.0, 0.0]
    """

    _widget = traitlets.Unicode("by-hand").tag(sync=True)
    _still = STILL
    n = Whole(3, 3, 4).tag(sync=True, state=True)
    mask = Choice("causal", ("none", "causal", "painted")).tag(sync=True, state=True)
    hidden = Pairs().tag(sync=True, state=True)
    scaled = Flag(True).tag(sync=True, state=True)
    values = Numbers(CELL, 1000).tag(sync=True, state=True)
    cell = Text("scores.2.1", 20).tag(sync=True, state=True)
    step = Whole(3, 0, 8).tag(sync=True, state=True)
    given: traitlets.Dict[Any, Any] = traitlets.Dict(read_only=True).tag(sync=True, state=True)
    """X for the longest text, and the weights: what the sheet begins with."""
    tokens: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Which number of `X` has to change, and how, so that “bats” reads “love” most?"
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "One head with `d_k` = 2, from the embedded tokens `X` to its correction of them. Type "
        "over any number, and all that follows from it is computed anew. A result that you typed "
        "over stays as you set it (dashed edge) until you press Delete there. The formula of the "
        "chosen cell stands below; what it comes from is framed. Arrow keys move; in the mask, "
        "Space hides and shows."
    ).tag(sync=True, state=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.set_trait("given", GIVEN)
        self.set_trait("tokens", list(TOKENS))

    def _set(self, name: str, computed: Array) -> Array:
        """The table with what the reader put into it."""
        A = np.array(computed, dtype=float)
        for key, value in self.values.items():
            part, i, j = CELL.fullmatch(key).groups()  # type: ignore[union-attr]
            if part == name and int(i) < A.shape[0] and int(j) < A.shape[1]:
                A[int(i), int(j)] = value
        return A

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The mask, (n, n), True = may attend."""
        if self.mask == "causal":
            return mhalib.causal_mask(self.n)
        allowed = np.ones((self.n, self.n), dtype=bool)
        for i, j in self.hidden if self.mask == "painted" else []:
            if i < self.n and j < self.n:
                allowed[i, j] = False
        return allowed

    @property
    def trace(self) -> dict[str, Array]:
        """Every table by its name."""
        given = {name: np.asarray(rows)[: self.n if name == "X" else None]
                 for name, rows in GIVEN.items()}  # fmt: skip
        found = {name: self._set(name, rows) for name, rows in given.items()}
        for name in "QKV":
            found[name] = self._set(name, found["X"] @ found[f"W_{name}"])
        found["scores"] = self._set("scores", mhalib.scores(found["Q"], found["K"], scale=1.0))
        scale = 1 / math.sqrt(D_K) if self.scaled else 1.0
        found["scaled"] = self._set("scaled", found["scores"] * scale)
        top = np.max(found["scaled"], -1, keepdims=True, where=self.allowed, initial=-np.inf)
        shifted = np.where(self.allowed, found["scaled"] - top, -np.inf)
        found["exp"] = self._set("exp", np.exp(shifted))
        found["sum"] = self._set("sum", found["exp"].sum(-1, keepdims=True))
        shares = np.divide(found["exp"], found["sum"], out=np.zeros_like(shifted),
                           where=found["sum"] != 0)  # fmt: skip
        found["weights"] = self._set("weights", shares)
        found["output"] = self._set("output", found["weights"] @ found["V"])
        found["result"] = self._set("result", found["output"] @ found["W_O"])
        return found

    @property
    def weights(self) -> Array:
        """(n, n): `mhalib.attention_weights` of the scores, with what the reader put into them."""
        return self.trace["weights"]

    @property
    def output(self) -> Array:
        """(n, d_v): `mhalib.attention` of Q, K, V, with what the reader put into it."""
        return self.trace["output"]

    def picture(self) -> str:
        tokens, found = TOKENS[: self.n], self.trace
        names = {
            "scaled": "scores / √`d_k`" if self.scaled else "scores / 1",
            "exp": "exp(score − largest)",
            "result": "output · `W_O`",
        }
        labels = {rows: tuple(map(str, range(rows))) for rows in (1, 2, 3, 4)}

        def grid(name: str) -> Grid:
            rows, columns = found[name].shape
            across = tokens if name in ("scores", "scaled", "exp", "weights") else labels[columns]
            down = labels[rows] if name.startswith("W_") else tokens
            hidden = ~self.allowed if name in ("exp", "weights") else None
            title = f"`{name}`" if name.startswith("W_") else name
            return Grid(names.get(name, title), down, across, found[name].round(2), hidden)

        words = f"Attention by hand: {self.n} tokens, mask {self.mask}."
        return f"<p>{escape(words)}</p>{tables(Problem(tuple(map(grid, TABLES))))}"
