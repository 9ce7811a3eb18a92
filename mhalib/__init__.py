"""The companion library of the course on multi-head attention: the NumPy reference.

One module per chapter: `tokenizer`, `embedding`, `attention`, `multihead`, `layers`, `vocab`,
`model`. `mhalib.torch`, `mhalib.widgets`, `mhalib.plots`, … load on use.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mhalib._source import show_source
from mhalib.activations import gelu, gelu_tanh, relu
from mhalib.attention import attention, attention_weights, scores
from mhalib.embedding import embed, sinusoidal_positions
from mhalib.heads import merge_heads, repeat_heads, split_heads
from mhalib.layers import feed_forward, layer_norm, post_norm_block, pre_norm_block
from mhalib.masks import causal_mask, padding_mask, window_mask
from mhalib.model import (
    Ablation,
    Config,
    Trace,
    Transformer,
    init_parameters,
    load_model,
    load_tokenizer,
    parameter_shapes,
)
from mhalib.multihead import multi_head_attention, multi_head_trace
from mhalib.sampling import generate, greedy, sample, top_k_filter, top_p_filter
from mhalib.softmax import log_softmax, softmax
from mhalib.tokenizer import Tokenizer, train_bpe
from mhalib.vocab import cross_entropy, next_token_pairs, tied_logits

__version__ = "0.2.0"
__all__ = [
    "Ablation", "Config", "Tokenizer", "Trace", "Transformer",
    "attention", "attention_weights", "causal_mask", "cross_entropy", "embed", "feed_forward",
    "gelu", "gelu_tanh", "generate", "greedy", "init_parameters", "layer_norm", "load_model",
    "load_tokenizer", "log_softmax", "merge_heads", "multi_head_attention", "multi_head_trace",
    "next_token_pairs", "padding_mask", "parameter_shapes", "post_norm_block", "pre_norm_block",
    "relu", "repeat_heads", "sample", "scores", "show_source", "sinusoidal_positions", "softmax",
    "split_heads", "tied_logits", "top_k_filter", "top_p_filter", "train_bpe", "window_mask",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load a part of the library on its first use, `mhalib.plots` for one."""
    if not name.startswith("_") and find_spec(f"mhalib.{name}") is not None:
        return import_module(f"mhalib.{name}")
    raise AttributeError(f"module 'mhalib' has no attribute {name!r}")
