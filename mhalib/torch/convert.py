"""The one place where parameters change hands: NumPy, `mhalib.torch`, torch's own modules.

The course writes ``X @ W`` with W (d_in, d_out). torch's `Linear` stores the transpose,
(d_out, d_in), and `nn.MultiheadAttention` stacks the transposes of W_Q, W_K, W_V in one
``in_proj_weight``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Arrays = dict[str, NDArray[Any]]


def to_torch(parameters: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Return the arrays of `parameters` as tensors of the same dtype, by the same names."""
    return {name: torch.from_numpy(np.array(array)) for name, array in parameters.items()}


def to_numpy(state: Mapping[str, Tensor]) -> Arrays:
    """Return the tensors of `state` as arrays of the same dtype, by the same names."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in state.items()}


def to_multihead_attention(p: Mapping[str, NDArray[Any]], n_heads: int) -> nn.MultiheadAttention:
    """Return torch's own module with the matrices ``W_Q W_K W_V W_O`` of `p`, for `n_heads`.

    Raises
    ------
    ValueError
        If d_k and d_v are not d_model / n_heads: torch's module knows no other widths.
    """
    d_model = p["W_Q"].shape[0]
    if any(p[name].shape != (d_model, d_model) for name in ("W_Q", "W_K", "W_V", "W_O")):
        shapes = {name: p[name].shape for name in ("W_Q", "W_K", "W_V", "W_O")}
        raise ValueError(f"nn.MultiheadAttention needs h·d_k = h·d_v = d_model, got {shapes}")
    t = to_torch(p)
    module = nn.MultiheadAttention(
        d_model, n_heads, bias=False, batch_first=True, dtype=t["W_Q"].dtype
    )
    module.load_state_dict(
        {
            "in_proj_weight": torch.cat([t["W_Q"].T, t["W_K"].T, t["W_V"].T]),
            "out_proj.weight": t["W_O"].T,
        }
    )
    return module


def from_multihead_attention(module: nn.MultiheadAttention) -> Arrays:
    """Return ``W_Q W_K W_V W_O`` of `module`, torch's own.

    Raises
    ------
    ValueError
        If the module has biases, other widths for keys and values, or keys of its own
        (``add_bias_kv``, ``add_zero_attn``), for which the course has no names.
    """
    if (
        module.in_proj_bias is not None
        or module.in_proj_weight is None
        or module.bias_k is not None
        or module.add_zero_attn
    ):
        raise ValueError(
            "module must be made with bias=False and without kdim, vdim, add_bias_kv, "
            "add_zero_attn: the course's attention has no biases and no keys of its own"
        )
    W_Q, W_K, W_V = (W.T for W in module.in_proj_weight.chunk(3))
    return to_numpy({"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": module.out_proj.weight.T})


NORM_EPS = 1e-5  # of `mhalib.layer_norm`, in every block of the course

_LAYER_NAMES = {  # torch's name: the course's name
    "self_attn.out_proj.weight": "W_O",
    "linear1.weight": "W_1",
    "linear1.bias": "b_1",
    "linear2.weight": "W_2",
    "linear2.bias": "b_2",
    "norm1.weight": "gamma_1",
    "norm1.bias": "beta_1",
    "norm2.weight": "gamma_2",
    "norm2.bias": "beta_2",
}


def to_encoder_layer(
    p: Mapping[str, NDArray[Any]],
    n_heads: int,
    *,
    norm_first: bool = False,
    activation: str = "relu",
) -> nn.TransformerEncoderLayer:
    """Return torch's own block with the parameters `p` of one layer, in evaluation mode.

    `n_heads`, `norm_first` and `activation` are as in torch's block. That has biases in the
    attention; they are 0 here.
    """
    t = to_torch(p)
    d_model, d_ff = p["W_1"].shape
    layer = nn.TransformerEncoderLayer(
        d_model, n_heads, d_ff, dropout=0.0, activation=activation, batch_first=True,
        norm_first=norm_first, dtype=t["W_1"].dtype,
    )  # fmt: skip
    state = {theirs: _transposed(t[ours]) for theirs, ours in _LAYER_NAMES.items()}
    state["self_attn.in_proj_weight"] = torch.cat([t["W_Q"].T, t["W_K"].T, t["W_V"].T])
    state["self_attn.in_proj_bias"] = torch.zeros(3 * d_model, dtype=t["W_1"].dtype)
    state["self_attn.out_proj.bias"] = torch.zeros(d_model, dtype=t["W_1"].dtype)
    layer.load_state_dict(state)
    return layer.eval()


def from_encoder_layer(layer: nn.TransformerEncoderLayer) -> Arrays:
    """Return the parameters of torch's own block, `layer`; its attention biases must be 0.

    Raises
    ------
    ValueError
        If the block has attention biases that are not 0, was made with ``bias=False``, or with
        a `layer_norm_eps` that is not the course's.
    """
    for name in ("norm1", "norm2"):
        if (eps := getattr(layer, name).eps) != NORM_EPS:
            raise ValueError(f"layer: {name} must have eps = {NORM_EPS}, got {eps}")
    state = layer.state_dict()
    if missing := sorted(set(_LAYER_NAMES) - set(state)):
        raise ValueError(f"layer must be made with bias=True; it lacks {', '.join(missing)}")
    for name in ("self_attn.in_proj_bias", "self_attn.out_proj.bias"):
        if state[name].any():
            raise ValueError(f"layer: {name} must be 0: the course's attention has no biases")
    arrays = {ours: _transposed(state[theirs]) for theirs, ours in _LAYER_NAMES.items()}
    stacked = state["self_attn.in_proj_weight"]
    arrays |= {name: W.T for name, W in zip(("W_Q", "W_K", "W_V"), stacked.chunk(3))}
    return to_numpy(arrays)


def _transposed(parameter: Tensor) -> Tensor:
    return parameter.T if parameter.ndim == 2 else parameter  # a vector has one layout only
