"""The shape of a model: what is given, and the parameters that follow from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.activations import ACTIVATIONS
from mhalib.layers import BLOCKS

Array = NDArray[Any]


@dataclass(frozen=True)
class Config:
    """The shape of a decoder-only Transformer with tied embeddings.

    Parameters
    ----------
    vocab_size, d_model, n_heads, n_layers : int
        How many tokens, features, heads and layers.
    d_k, d_v : int
        Features of a head's keys and values, d_model / n_heads if 0.
    d_ff : int
        Neurons of the feed-forward network, 4 · d_model if 0.
    norm : {"post", "pre"}
        Where the layer norms stand.
    activation : {"relu", "gelu", "gelu_tanh"}
        Of the feed-forward network.
    positions : {"sinusoidal", "none"}
        What is added to the embeddings.
    scaled : bool
        False leaves out 1/√d_k.

    Raises
    ------
    TypeError, ValueError
        If a number is not an integer of at least 1, heads do not divide d_model, or a name is
        unknown.
    """

    vocab_size: int
    d_model: int = 64
    n_heads: int = 4
    n_layers: int = 3
    d_k: int = 0
    d_v: int = 0
    d_ff: int = 0
    norm: Literal["post", "pre"] = "post"
    activation: Literal["relu", "gelu", "gelu_tanh"] = "relu"
    positions: Literal["sinusoidal", "none"] = "sinusoidal"
    scaled: bool = True

    def __post_init__(self) -> None:
        for name in ("vocab_size", "d_model", "n_heads", "n_layers"):
            object.__setattr__(self, name, validate.positive_int(name, getattr(self, name)))
        if (self.d_k == 0 or self.d_v == 0) and self.d_model % self.n_heads:
            raise ValueError(
                f"n_heads must divide d_model = {self.d_model}, or d_k and d_v be given; "
                f"got {self.n_heads}"
            )
        for name, default in (
            ("d_k", self.d_model // self.n_heads),
            ("d_v", self.d_model // self.n_heads),
            ("d_ff", 4 * self.d_model),
        ):
            value = validate.positive_int(name, getattr(self, name) or default)
            object.__setattr__(self, name, value)
        for name, known in (
            ("norm", BLOCKS),
            ("activation", ACTIVATIONS),
            ("positions", ("sinusoidal", "none")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}"
                )
        if not isinstance(self.scaled, bool):
            raise TypeError(f"scaled must be True or False, got {self.scaled!r}")


def layer_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every parameter of one layer of a `config`."""
    d, h, d_ff = config.d_model, config.n_heads, config.d_ff
    return {
        "W_Q": (d, h * config.d_k),
        "W_K": (d, h * config.d_k),
        "W_V": (d, h * config.d_v),
        "W_O": (h * config.d_v, d),
        "gamma_1": (d,),
        "beta_1": (d,),
        "W_1": (d, d_ff),
        "b_1": (d_ff,),
        "W_2": (d_ff, d),
        "b_2": (d,),
        "gamma_2": (d,),
        "beta_2": (d,),
    }


def parameter_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every parameter, in the order of computation.

    Parameters
    ----------
    config : Config
        The model's shape.

    Returns
    -------
    dict of str to tuple of int
        ``E``, ``layers.0.W_Q``, …
    """
    shapes: dict[str, tuple[int, ...]] = {"E": (config.vocab_size, config.d_model)}
    for i in range(config.n_layers):
        shapes |= {f"layers.{i}.{name}": shape for name, shape in layer_shapes(config).items()}
    if config.norm == "pre":  # the norm after the last block
        shapes |= {"gamma_f": (config.d_model,), "beta_f": (config.d_model,)}
    return shapes


def init_parameters(config: Config, rng: np.random.Generator) -> dict[str, Array]:
    """Draw fresh parameters.

    Matrices are uniform with variance 2 / (rows + columns) (Glorot, Bengio 2010), `E` is
    normal with variance 1/d_model, so that ×√d_model gives entries of variance 1. Biases and
    shifts are 0, norm factors 1.

    Parameters
    ----------
    config : Config
        The model's shape.
    rng : numpy.random.Generator
        Where they are drawn from.

    Returns
    -------
    dict of str to array
        float64, with the names of `parameter_shapes`.
    """
    parameters: dict[str, Array] = {}
    for name, shape in parameter_shapes(config).items():
        if name == "E":
            value = rng.normal(0, config.d_model**-0.5, shape)
        elif len(shape) == 2:
            limit = math.sqrt(6 / sum(shape))
            value = rng.uniform(-limit, limit, shape)
        else:
            value = np.full(shape, 1.0 if "gamma" in name else 0.0)
        parameters[name] = value
    return parameters
