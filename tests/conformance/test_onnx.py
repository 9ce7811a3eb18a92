"""Oracles that nobody here wrote: every ONNX node test of the operators that the course builds."""

import warnings

import numpy as np
import pytest
from arrays import assert_array
from onnx_cases import OPERATORS, all_cases, compute, numpy_library, torch_library

import mhalib

with warnings.catch_warnings():  # onnx makes some of its own data with overflow
    warnings.simplefilter("ignore")
    CASES, LEFT_OUT = all_cases()

LIBRARIES = {"numpy": numpy_library(), "torch": torch_library()}


def assert_conforms(case, library):
    results = compute(case, library)
    assert results, case.name
    for name, result in results.items():
        expected = case.outputs[name]
        assert result.shape == expected.shape, f"{case.name}: {name}"
        assert_array(
            np.asarray(result, np.float64), np.asarray(expected, np.float64),
            rtol=case.rtol, atol=case.atol, name=f"{case.name}: {name}",
        )  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_onnx_case(case, library):
    assert_conforms(case, LIBRARIES[library])


def test_every_case_runs_or_has_a_reason(record_property):
    count = {op: sum(case.node.op_type == op for case in CASES) for op in OPERATORS}
    assert count == {
        "Attention": 93, "LayerNormalization": 19, "Gelu": 4, "Softmax": 7, "LogSoftmax": 7,
    }  # fmt: skip
    assert len(LEFT_OUT) == 25
    assert all(LEFT_OUT.values())


def failures(library):
    """Return how many ONNX cases a library fails, by answer or by exception."""
    failed = 0
    for case in CASES:
        try:
            assert_conforms(case, library)
        except (AssertionError, ValueError, TypeError):
            failed += 1
    return failed


def test_the_library_itself_fails_none():
    assert failures(numpy_library()) == 0


def inverted_mask(Q, K, V, *, mask=None, **options):
    return mhalib.attention(Q, K, V, mask=None if mask is None else ~mask, **options)


def scaled_by_all_heads(Q, K, V, *, scale=None, **options):
    scale = (Q.shape[-1] * Q.shape[-3]) ** -0.5 if scale is None else scale
    return mhalib.attention(Q, K, V, scale=scale, **options)


MUTANTS = {
    "the reshape trap": {
        "split_heads": lambda X, h: X.reshape(X.shape[0], h, X.shape[1], -1),
    },
    "merge without transposing back": {
        "merge_heads": lambda H: H.reshape(H.shape[0], H.shape[2], -1),
    },
    "tiled head order": {
        "repeat_heads": lambda K, h: np.tile(K, (1, h // K.shape[1], 1, 1)),
    },
    "scale by √d_model": {"attention": scaled_by_all_heads},
    "inverted mask": {"attention": inverted_mask},
    "softmax over the queries": {
        "attention": lambda Q, K, V, **options: (
            mhalib.softmax(mhalib.scores(Q, K, options.get("scale")), axis=-2) @ V
        ),
    },
    "norm with n − 1": {
        "layer_norm": lambda X, g, b, eps: (
            g * (X - X.mean(-1, keepdims=True)) / np.sqrt(X.var(-1, ddof=1, keepdims=True) + eps)
            + b
        ),
    },
}


@pytest.mark.parametrize("mistake", MUTANTS)
def test_a_planted_mistake_turns_the_suite_red(mistake):
    with np.errstate(all="ignore"):
        assert failures(numpy_library(**MUTANTS[mistake])) > 0
