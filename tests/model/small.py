"""A small model for the tests of the rooms of `mhalib.model`."""

import dataclasses

import numpy as np

from mhalib import (
    Config,
    Transformer,
    parameter_shapes,
)

SMALL = Config(vocab_size=11, d_model=6, n_heads=3, n_layers=2, d_k=5, d_v=2, d_ff=7)
IDS = np.array([3, 1, 4, 1, 5, 9, 2])


def model(seed=0, **changes):
    """A small model whose parameters are all random, biases and norms included."""
    config = dataclasses.replace(SMALL, **changes)
    rng = np.random.default_rng(seed)
    return Transformer(
        config, {name: rng.normal(size=shape) for name, shape in parameter_shapes(config).items()}
    )


def with_parameters(model, **changes):
    """The model with some parameters replaced; `layers_0_W_O` names `layers.0.W_O`."""
    changed = {
        name.replace("_", ".", 2) if name.startswith("layers") else name: p
        for name, p in changes.items()
    }
    return Transformer(model.config, {**model.parameters, **changed})
