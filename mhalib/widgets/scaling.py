"""The widget of chapter 4: what the spread of the scores does to the softmax."""

from __future__ import annotations

import math
from html import escape

import numpy as np
import traitlets
from numpy.typing import NDArray

from mhalib.analysis import entropy, jacobian_norm
from mhalib.attention import attention_weights, scores
from mhalib.widgets import svg
from mhalib.widgets.base import CourseWidget
from mhalib.widgets.normals import normals
from mhalib.widgets.traits import Choice, Real, Whole

Array = NDArray[np.float64]

N_QUERIES, MAX_KEYS, MAX_D_K = 32, 64, 1024
N_HEADS = 8  # d_model = 8 d_k, as in the paper


class ScalingWidget(CourseWidget):
    """Scores and weights of random queries and keys, for any d_k and four divisors.

    32 queries and up to 64 keys are drawn from a normal distribution of standard deviation
    `sigma`; a larger `d_k` adds features to the same queries and keys.

    Parameters
    ----------
    d_k : features of a query, 1 … 1024
    sigma : standard deviation of each feature, 0.05 … 3
    n_keys : keys, 2 … 64
    scale : what divides the scores: "none", "sqrt_d_k", "d_k" or "sqrt_d_model" (d_model = 8 d_k)
    seed : of the random numbers

    Examples
    --------
    >>> w = ScalingWidget(d_k=512, scale="none")
    >>> w.weights.shape
    (32, 64)
    >>> w.statistics["largest weight"] > 0.8
    True
    """

    _widget = traitlets.Unicode("scaling").tag(sync=True)
    d_k = Whole(64, 1, MAX_D_K).tag(sync=True, state=True)
    sigma = Real(1.0, 0.05, 3.0).tag(sync=True, state=True)
    n_keys = Whole(64, 2, MAX_KEYS).tag(sync=True, state=True)
    scale = Choice("none", ("none", "sqrt_d_k", "d_k", "sqrt_d_model")).tag(sync=True, state=True)
    seed = Whole(1, 0, 2**32 - 1).tag(sync=True, state=True)
    task = traitlets.Unicode(
        "Drag `d_k` to 512. What happens to the largest weight? Then divide by √`d_k`."
    ).tag(sync=True, state=True)
    caption = traitlets.Unicode(
        "32 random queries meet random keys. Above, all their scores with the curve theory gives, "
        "and the softmax of the first query. Below, averages over the 32 queries, and how each "
        "changes with `d_k` under the four divisors: drag in a small chart, and `d_k` follows. "
        "Pick a bar, or move with the arrow keys: its arithmetic stands below."
    ).tag(sync=True, state=True)

    @property
    def factor(self) -> float:
        """What the scores are multiplied by."""
        divisors = {
            "none": 1.0,
            "sqrt_d_k": math.sqrt(self.d_k),
            "d_k": float(self.d_k),
            "sqrt_d_model": math.sqrt(N_HEADS * self.d_k),
        }
        return 1 / divisors[self.scale]

    @property
    def queries_and_keys(self) -> tuple[Array, Array]:
        """Q (32, d_k) and K (n_keys, d_k)."""
        z = self.sigma * normals(self.seed, self.d_k * (N_QUERIES + MAX_KEYS))
        features = z.reshape(self.d_k, N_QUERIES + MAX_KEYS)
        return features[:, :N_QUERIES].T, features[:, N_QUERIES : N_QUERIES + self.n_keys].T

    @property
    def scores(self) -> Array:
        """The scores on screen, (32, n_keys), from `mhalib.scores`."""
        Q, K = self.queries_and_keys
        return np.asarray(scores(Q, K, scale=self.factor))

    @property
    def weights(self) -> Array:
        """The weights on screen, (32, n_keys), from `mhalib.attention_weights`."""
        return np.asarray(attention_weights(self.scores))

    @property
    def statistics(self) -> dict[str, float]:
        """The figures under the charts; the last three are averages over the queries."""
        weights = self.weights
        return {
            "variance": float(self.scores.var()),
            "theory": self.sigma**4 * self.d_k * self.factor**2,
            "largest weight": float(weights.max(axis=-1).mean()),
            "entropy": float(entropy(weights).mean()),
            "jacobian norm": float(jacobian_norm(weights).mean()),
        }

    def picture(self) -> str:
        said = self.statistics
        divided = {"none": "as they are", "sqrt_d_k": "divided by √d_k", "d_k": "divided by d_k",
                   "sqrt_d_model": "divided by √d_model"}[self.scale]  # fmt: skip
        words = (
            f"d_k = {self.d_k}, {self.n_keys} keys, scores {divided}: variance "
            f"{said['variance']:.3g} (theory {said['theory']:.3g}), largest weight "
            f"{said['largest weight']:.3f}, entropy {said['entropy']:.2f} of at most "
            f"{math.log(self.n_keys):.2f}, Jacobian norm {said['jacobian norm']:.3f}."
        )
        drawing = svg.picture(
            words,
            700,
            210,
            *self._histogram(left=12, right=334),
            *self._bars(left=378, right=692),
        )
        return f"{drawing}<p>{escape(words)}</p>"

    def _histogram(self, left: float, right: float) -> list[str]:
        spread = math.sqrt(self.statistics["theory"])
        half = 2.0 ** max(2, math.ceil(math.log2(3.2 * spread)))  # the axis grows by doubling
        bins = 48
        density, edges = np.histogram(
            self.scores, bins, (-half, half), density=True
        )  # the area is 1
        top = 1.25 * max(density.max(), 1 / (spread * math.sqrt(2 * math.pi)))

        def at(s: float, y: float) -> tuple[float, float]:
            return left + (s + half) / (2 * half) * (right - left), 180 - max(0.0, y) / top * 145

        width = (right - left) / bins
        grid = np.linspace(-half, half, 121)
        normal = np.exp(-((grid / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
        return [
            svg.text(left, 16, "All scores", size=13),
            svg.bars(
                ((at(e, 0)[0] + 0.5, width - 1, at(e, d)[1])
                 for e, d in zip(edges[:-1].tolist(), density.tolist(), strict=True)),
                180.0,
            ),
            svg.line(
                [at(s, y) for s, y in zip(grid.tolist(), normal.tolist(), strict=True)],
                "#d0672a", "mh-line mh-theory",
            ),
            svg.axis(left, right, 180.0),
            *(svg.text(at(s, 0)[0], 197, f"{s:g}".replace("-", "−"), "middle")
              for s in (-half / 2, 0.0, half / 2)),
        ]  # fmt: skip

    def _bars(self, left: float, right: float) -> list[str]:
        width = (right - left) / self.n_keys
        gap = min(1, 15 / self.n_keys)
        return [
            svg.text(left, 16, "Softmax: the weights of the first query", size=13),
            svg.bars(
                ((left + j * width + gap, width - 2 * gap, 180 - 145 * w)
                 for j, w in enumerate(self.weights[0].tolist())),
                180.0,
            ),
            svg.axis(left, right, 180.0),
            *(svg.text(left - 6, 184 - 145 * w, f"{w:g}", "end") for w in (0, 0.5, 1)),
            svg.text(left, 197, "key 1"),
            svg.text(right, 197, f"key {self.n_keys}", "end"),
        ]  # fmt: skip
