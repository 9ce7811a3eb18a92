"""The whole machine: ids → logits, with every intermediate kept (capstone).

One module per part: `config` the shape, `trace` what a pass computes, `ablation` what can be taken
out, `parameters` the numbers, `transformer` the model, `files` how they are stored, `shipped` the
course's own.
"""

from mhalib.model.ablation import Ablation
from mhalib.model.config import Config, init_parameters, layer_shapes, parameter_shapes
from mhalib.model.parameters import GRID
from mhalib.model.shipped import WEIGHTS, load_model, load_tokenizer
from mhalib.model.trace import Cache, Trace
from mhalib.model.transformer import Transformer

__all__ = [
    "GRID", "WEIGHTS", "Ablation", "Cache", "Config", "Trace", "Transformer", "init_parameters",
    "layer_shapes", "load_model", "load_tokenizer", "parameter_shapes",
]  # fmt: skip
