"""Models as the widgets get them: once per site as scripts, in Jupyter as bytes."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from mhalib.model import GRID, WEIGHTS, Transformer, load_model, load_tokenizer
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


def pack(model: Transformer) -> dict[str, Any]:
    """Return a model as JSON-ready values, with the parameters (float64) as bytes in ``data``."""
    arrays = model.parameters.values()
    return {
        "config": asdict(model.config),
        "tensors": [[name, list(array.shape)] for name, array in model.parameters.items()],
        "data": b"".join(np.ascontiguousarray(array, np.float64).tobytes() for array in arrays),
    }


def shrink(packed: dict[str, Any], grid: float = GRID) -> dict[str, Any]:
    """Return a packed model whose parameters are multiples of `grid` in few bytes, as text.

    A multiple k is stored as 2k, or −2k − 1 if it is negative, in 16 bits: the lower bytes of all
    parameters first, then the upper ones, which are nearly all 0 and cost nothing once compressed.

    Raises
    ------
    ValueError
        If a parameter is not a multiple of `grid`, or needs more than 16 bits.
    """
    multiples = np.frombuffer(packed["data"]) / grid
    if not np.array_equal(multiples, np.clip(np.rint(multiples), -(2**15), 2**15 - 1)):
        raise ValueError(f"data must hold multiples of grid = {grid}, of 16 bits each")
    whole = multiples.astype(np.int16)
    unsigned = ((whole << 1) ^ (whole >> 15)).view(np.uint8).reshape(-1, 2)
    data = base64.b64encode(unsigned.T.tobytes()).decode("ascii")
    return {**packed, "grid": grid, "data": data}


def script(name: str) -> str:
    """Return the classic script that hands a course model to the page.

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
        packed = shrink(pack(load_model(name)))
    return f"(globalThis.mhalibModels ??= {{}})[{json.dumps(name)}] = {json.dumps(packed)};\n"
