"""ONNX's backend node tests as cases, and how the library computes each operator.

A *library* is a namespace with the functions of `mhalib` (or of `mhalib.torch`); the adapters
below only rearrange inputs, so a wrong function of the library makes cases fail.
"""

from __future__ import annotations

import math
from functools import cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import onnx
import torch
from onnx.backend.test.loader import load_model_tests

import mhalib
import mhalib.torch

OPERATORS = ("Attention", "LayerNormalization", "Gelu", "Softmax", "LogSoftmax")
FUNCTIONS = (
    "attention", "attention_weights", "cap_scores", "gelu", "gelu_tanh", "layer_norm",
    "log_softmax", "merge_heads", "repeat_heads", "scores", "softmax", "split_heads",
)  # fmt: skip

# Names that hold "attention" but are other operators.
OTHER_OPERATORS = {
    "LinearAttention": "attention without a softmax, a recurrence: not the paper's operator",
    "FlexAttention": "attention with the score and mask functions as subgraphs: a compiler's test",
}


class Case(NamedTuple):
    name: str
    node: onnx.NodeProto
    inputs: dict[str, np.ndarray]  # by the operator's own names of its inputs
    outputs: dict[str, np.ndarray]
    rtol: float
    atol: float

    def attribute(self, name: str, default: Any) -> Any:
        values = {a.name: onnx.helper.get_attribute_value(a) for a in self.node.attribute}
        value = values.get(name, default)
        return value.decode() if isinstance(value, bytes) else value


def is_ours(name: str) -> bool:
    words = ("attention", "layer_normalization", "gelu", "softmax")
    return "_expanded" not in name and any(word in name for word in words)


@cache
def all_cases() -> tuple[list[Case], dict[str, str]]:
    """Return the cases of our operators, and the reason for each case that is another's."""
    cases, left_out = [], {}
    for test in load_model_tests(kind="node"):
        if not is_ours(test.name):
            continue
        (node,) = test.model.graph.node
        if node.op_type not in OPERATORS:
            left_out[test.name] = OTHER_OPERATORS[node.op_type]
            continue
        ((inputs, outputs),) = test.data_sets
        graph = test.model.graph
        given = {v.name: _float32(array) for v, array in zip(graph.input, inputs, strict=True)}
        expected = {v.name: _float32(array) for v, array in zip(graph.output, outputs, strict=True)}
        cases.append(Case(test.name, node, given, expected, *_tolerance(test, expected)))
    return cases, left_out


def _float32(array: np.ndarray) -> np.ndarray:
    """NumPy has no bfloat16: such cases run in float32, compared at bfloat16's precision."""
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def _tolerance(test: Any, outputs: dict[str, np.ndarray]) -> tuple[float, float]:
    if "bf16" in test.name:
        return 2e-2, 2e-2
    if any(array.dtype == np.float16 for array in outputs.values()):
        return 2e-3, 2e-3
    return test.rtol, 1e-6


# ------------------------------------------------------------------------------- libraries
def numpy_library(**replaced: Any) -> SimpleNamespace:
    """Return the NumPy reference, some of its functions replaced."""
    found = {name: _function(mhalib, name) for name in FUNCTIONS}
    return SimpleNamespace(**{**found, **replaced})


def torch_library() -> SimpleNamespace:
    """Return `mhalib.torch` behind the same functions, arrays in and out."""
    return SimpleNamespace(
        **{name: _on_arrays(_function(mhalib.torch, name)) for name in FUNCTIONS}
    )


def _function(package: Any, name: str) -> Any:
    import importlib

    if hasattr(package, name):
        return getattr(package, name)
    return getattr(importlib.import_module(f"{package.__name__}.attention"), name)


def _on_arrays(function: Any) -> Any:
    def to(value: Any) -> Any:
        return torch.from_numpy(value.copy()) if isinstance(value, np.ndarray) else value

    def back(value: Any) -> Any:
        return value.numpy() if isinstance(value, torch.Tensor) else value

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*map(to, args), **{k: to(v) for k, v in kwargs.items()})
        return tuple(map(back, result)) if isinstance(result, tuple) else back(result)

    return call


# -------------------------------------------------------------------------------- adapters
def compute(case: Case, library: SimpleNamespace) -> dict[str, np.ndarray]:
    """Return the outputs of `case` as `library` computes them, by the names of the outputs."""
    return {
        "Attention": _attention,
        "LayerNormalization": _layer_norm,
        "Gelu": _gelu,
        "Softmax": _softmax,
        "LogSoftmax": _log_softmax,
    }[case.node.op_type](case, library)


def _softmax(case: Case, library: SimpleNamespace) -> dict[str, np.ndarray]:
    (x,) = case.inputs.values()
    (name,) = case.outputs
    return {name: library.softmax(x, case.attribute("axis", -1))}


def _log_softmax(case: Case, library: SimpleNamespace) -> dict[str, np.ndarray]:
    (x,) = case.inputs.values()
    (name,) = case.outputs
    return {name: library.log_softmax(x, case.attribute("axis", -1))}


def _gelu(case: Case, library: SimpleNamespace) -> dict[str, np.ndarray]:
    (x,) = case.inputs.values()
    (name,) = case.outputs
    exact = case.attribute("approximate", "none") == "none"
    return {name: (library.gelu if exact else library.gelu_tanh)(x)}


def _layer_norm(case: Case, library: SimpleNamespace) -> dict[str, np.ndarray]:
    """ONNX normalises all axes from `axis` on; the library the last one, so they are joined.

    The operator's other outputs, mean and inverse deviation, are not the library's to return.
    """
    x, scale, bias = case.inputs.values()
    axis = case.attribute("axis", -1) % x.ndim
    size = math.prod(x.shape[axis:])
    rows = x.reshape(*x.shape[:axis], size)
    parameters = (np.broadcast_to(p, x.shape[axis:]).reshape(size) for p in (scale, bias))
    y = library.layer_norm(rows, *parameters, case.attribute("epsilon", 1e-5))
    return {case.node.output[0]: y.reshape(x.shape)}


def _attention(case: Case, library: SimpleNamespace) -> dict[str, np.ndarray]:
    given = dict(zip(("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad"),
                     case.node.input, strict=False))  # fmt: skip
    given = {role: case.inputs[name] for role, name in given.items() if name}
    Q, K, V = given["Q"], given["K"], given["V"]
    merged = Q.ndim == 3
    if merged:  # (batch, n, h·d): the heads lie side by side
        Q = library.split_heads(Q, case.attribute("q_num_heads", 1))
        K, V = (library.split_heads(A, case.attribute("kv_num_heads", 1)) for A in (K, V))
    n_past = 0
    if "past_key" in given:
        n_past = given["past_key"].shape[2]
        K = np.concatenate([given["past_key"], K], axis=2)
        V = np.concatenate([given["past_value"], V], axis=2)
    present = (K, V)
    K, V = (library.repeat_heads(A, Q.shape[1]) for A in (K, V))
    mask, bias = _mask_and_bias(case, given, Q.shape, K.shape[2], n_past)
    scale = case.attribute("scale", None)
    softcap = case.attribute("softcap", 0.0) or None
    Y = library.attention(Q, K, V, mask=mask, bias=bias, scale=scale, softcap=softcap)
    Y = library.merge_heads(Y) if merged else Y
    results = [Y, *present, None]
    if len(case.node.output) > 3:
        S = library.scores(Q, K, scale)
        mode = case.attribute("qk_matmul_output_mode", 0)
        if mode > 0 and softcap is not None:
            S = library.cap_scores(S, softcap)
        if mode == 2:
            S = S if bias is None else S + bias
            S = S if mask is None else np.where(mask, S, -np.inf)
        if mode == 3:
            S = library.attention_weights(S, mask, bias)
        results[3] = S
    names = case.node.output
    return {name: result for name, result in zip(names, results, strict=False) if name}


def _mask_and_bias(
    case: Case, given: dict[str, np.ndarray], q_shape: tuple[int, ...], n_k: int, n_past: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return ONNX's causal order, windows, padding and `attn_mask` as one mask and one bias.

    ONNX aligns queries top-left, moved on by the cached keys, which differs from the library
    where n_q ≠ n_k; so its order is written out here, as a mask of the library's polarity.
    """
    batch, _, n_q, _ = q_shape
    allowed = np.ones((batch, 1, n_q, n_k), bool)
    offset = np.full(batch, n_past)
    if "nonpad" in given:
        allowed &= np.arange(n_k) < given["nonpad"][:, None, None, None]
        offset = given["nonpad"] - n_q
    ahead = np.arange(n_k) - (np.arange(n_q)[:, None] + offset[:, None, None, None])
    if case.attribute("is_causal", 0):
        allowed &= ahead <= 0
    left, right = (case.attribute(f"{side}_window_size", -1) for side in ("left", "right"))
    if left >= 0:
        allowed &= ahead >= -left
    if right >= 0:
        allowed &= ahead <= right
    bias = None
    if "attn_mask" in given:
        attn_mask = given["attn_mask"]
        short = n_k - attn_mask.shape[-1]  # keys beyond the mask may not be seen
        if attn_mask.dtype == bool:
            pad = [(0, 0)] * (attn_mask.ndim - 1) + [(0, short)]
            allowed = allowed & np.pad(attn_mask, pad, constant_values=False)
        else:
            pad = [(0, 0)] * (attn_mask.ndim - 1) + [(0, short)]
            bias = np.pad(attn_mask, pad, constant_values=-np.inf)
            bias = bias[(None,) * (4 - bias.ndim)]  # ONNX broadcasts from the right
    return (None if allowed.all() else allowed), bias
