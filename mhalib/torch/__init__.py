"""The course's models in PyTorch: the module and function names of the NumPy part, with autograd.

`convert` moves parameters between NumPy, these modules and torch's own.
"""

try:
    import torch  # noqa: F401  (the one on the path, not this package)
except ImportError as error:
    raise ImportError("mhalib.torch needs PyTorch: pip install torch") from error

from mhalib.torch.activations import gelu, gelu_tanh, relu
from mhalib.torch.attention import attention, attention_weights, scores
from mhalib.torch.embedding import embed, sinusoidal_positions
from mhalib.torch.heads import merge_heads, repeat_heads, split_heads
from mhalib.torch.layers import (
    PostNormBlock,
    PreNormBlock,
    feed_forward,
    layer_norm,
)
from mhalib.torch.masks import causal_mask, padding_mask, window_mask
from mhalib.torch.model import Transformer
from mhalib.torch.multihead import MultiHeadAttention, multi_head_attention, multi_head_trace
from mhalib.torch.softmax import log_softmax, softmax
from mhalib.torch.vocab import cross_entropy, next_token_pairs, tied_logits

__all__ = [
    "MultiHeadAttention", "PostNormBlock", "PreNormBlock", "Transformer",
    "attention", "attention_weights", "causal_mask", "cross_entropy", "embed", "feed_forward",
    "gelu", "gelu_tanh", "layer_norm", "log_softmax", "merge_heads", "multi_head_attention",
    "multi_head_trace", "next_token_pairs", "padding_mask", "relu", "repeat_heads", "scores",
    "sinusoidal_positions", "softmax", "split_heads", "tied_logits", "window_mask",
]  # fmt: skip
