"""Models as the widgets get them: once per site as scripts, in Jupyter as bytes."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from mhalib.model import WEIGHTS, Transformer, load_model, load_tokenizer
from mhalib.widgets.grammar import tabulate

FOLDER = Path(__file__).parent / "static" / "models"
# Widgets let readers choose between models trained with other values of a trait, where shipped.
VARIANTS = {
    "n_heads": {
        "1": "layers3-heads1",
        "2": "layers3-heads2",
        "4": "main",
        "8": "layers3-heads8",
    },
    "norm": {"post": "main", "pre": "pre-norm"},
}
SHIPPED = ("tokenizer", "grammar", *sorted(file.stem for file in WEIGHTS.glob("*.safetensors")))


def variants(trait: str) -> dict[str, str]:
    """Return the shipped models among which `trait` chooses: value as text → name of a model."""
    return {value: name for value, name in VARIANTS[trait].items() if name in SHIPPED}


def pack(model: Transformer, dtype: DTypeLike = np.float64) -> dict[str, Any]:
    """Return a model as JSON-ready values, with the parameters as bytes in ``data``."""
    return {
        "config": asdict(model.config),
        "tensors": [[name, list(array.shape)] for name, array in model.parameters.items()],
        "dtype": np.dtype(dtype).name,
        "data": b"".join(
            np.ascontiguousarray(array, dtype).tobytes() for array in model.parameters.values()
        ),
    }


def script(name: str) -> str:
    """Return the classic script that hands a course model (float16, base64) to the page.

    "tokenizer" stands for the merges, which all models share, and the list of the variants,
    "grammar" for the language.
    """
    if name == "tokenizer":
        packed: dict[str, Any] = {
            "merges": load_tokenizer().merges,
            "variants": {trait: variants(trait) for trait in VARIANTS},
        }
    elif name == "grammar":
        packed = tabulate()
    else:
        packed = pack(load_model(name), np.float16)
        packed["data"] = base64.b64encode(packed["data"]).decode("ascii")
    return f"(globalThis.mhalibModels ??= {{}})[{json.dumps(name)}] = {json.dumps(packed)};\n"
