"""Annotations hold (`pytest --shapes`): the core passes, and a wrong one is seen."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import shapes
from jaxtyping import Float

import mhalib

ROOT = Path(__file__).parents[1]
CORE = ["test_attention", "test_multihead", "test_layers", "test_embedding",
        "model/test_transformer", "parity/test_stages", "parity/test_battery"]  # fmt: skip


def test_the_core_holds_its_annotations():
    """The tests of the functions and the battery of inputs, each accepted call checked."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--shapes",
         *(f"tests/{name}.py" for name in CORE)],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-2000:]


def wrong_axis(X: Float[np.ndarray, "*batch n d"]) -> Float[np.ndarray, "*batch d n"]:  # noqa: F722
    return X


def wrong_kind(X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:  # noqa: F722
    return X > 0


@pytest.mark.parametrize("function", [wrong_axis, wrong_kind])
def test_a_wrong_annotation_is_seen(function):
    with pytest.raises(shapes.WrongAnnotation, match="the result is annotated"):
        shapes.checked(function)(np.ones((5, 7)))


def test_errors_stay_what_they_are():
    with pytest.raises(ValueError, match="K must have 2 entries"):
        shapes.checked(mhalib.scores)(np.ones((5, 2)), np.ones((5, 3)))
