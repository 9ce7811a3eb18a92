"""The models of the course and how they are trained, by name; `mhalib.training` does it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mhalib import _validate as validate
from mhalib.language import RELATIONS
from mhalib.model import Config, load_tokenizer


@dataclass(frozen=True)
class Recipe:
    """A model and how it is trained.

    Parameters
    ----------
    about : str
        What the model is for.
    shape : dict
        Arguments of `Config`, without the vocabulary's size.
    steps, batch : int
        How many steps, of how many texts each.
    peak : float
        The largest learning rate.
    warm_up : int
        The steps in which it rises to `peak`; then it falls to 0.
    relation : str, optional
        Train on texts of this relation only, and only on the words that it decides. Such a model
        need not tell these words from others that could stand there, so the loss of *agreement* can
        fall below the optimum of the whole language.

    Raises
    ------
    TypeError, ValueError
        If a number is not an integer of at least 1.
    """

    about: str
    shape: dict[str, Any] = field(default_factory=dict)
    steps: int = 2000
    batch: int = 64
    peak: float = 3e-3
    warm_up: int = 200
    relation: str | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "warm_up"):
            validate.positive_int(name, getattr(self, name))

    def config(self) -> Config:
        """Return the model's shape, with the vocabulary of the course's tokenizer."""

        return Config(vocab_size=load_tokenizer().vocab_size, **self.shape)

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of `step`, counted from 1 to `steps`."""
        rise = step / self.warm_up
        fall = (self.steps + 1 - step) / max(1, self.steps + 1 - self.warm_up)
        return self.peak * min(rise, fall)


RECIPES = {
    "main": Recipe("the course's model", steps=3000),
    # How many heads? With all of the language, and with one relation alone in one layer.
    **{
        f"layers{n}-heads{h}": Recipe(f"{n} layer(s), {h} head(s)", {"n_layers": n, "n_heads": h})
        for n in (1, 3)
        for h in (1, 2, 4, 8)
    },
    **{
        f"{relation}-heads{h}": Recipe(
            f"one layer, {h} head(s), only what *{relation}* decides",
            {"n_layers": 1, "n_heads": h},
            steps=1500,
            batch=32,
            relation=relation,
        )
        for relation in RELATIONS
        for h in ((1, 2, 4, 8) if relation == "both" else (1, 2))
    },
    "unscaled": Recipe("without 1/√d_k", {"scaled": False}),
    "unscaled-heads1": Recipe("one head, without 1/√d_k", {"scaled": False, "n_heads": 1}),
    "no-positions": Recipe("without positions", {"positions": "none"}),
    "pre-norm": Recipe("pre-norm, 3 layers", {"norm": "pre"}),
    "post-norm-layers12": Recipe("post-norm, 12 layers", {"n_layers": 12}, steps=1000),
    "pre-norm-layers12": Recipe("pre-norm, 12 layers", {"n_layers": 12, "norm": "pre"}, steps=1000),
}

# Three seeds each, but for those whose answer is no question of a small difference, and the deep
# ones, whose steps take four times as long.
ONE_SEED = ("no-positions", "pre-norm", "post-norm-layers12", "pre-norm-layers12")
EXPERIMENTS = [
    (name, seed)
    for seed in range(3)
    for name in RECIPES
    if name != "main" and (seed == 0 or name not in ONE_SEED)
]
