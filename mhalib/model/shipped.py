"""The course's own models and their tokenizer, in ``mhalib/weights``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from mhalib.model.transformer import Transformer
from mhalib.tokenizer import Tokenizer

WEIGHTS = Path(__file__).parents[1] / "weights"


def load_tokenizer() -> Tokenizer:
    """Return the tokenizer that all course models share.

    Returns
    -------
    Tokenizer
        With 567 tokens: each word of the language is one.
    """
    return Tokenizer.load(WEIGHTS / "tokenizer.json")


def load_model(name: str = "main", dtype: DTypeLike = np.float64) -> Transformer:
    """Return a trained model of the course.

    Parameters
    ----------
    name : str
        Which one; "main" is the lessons'.
    dtype : dtype
        Of its parameters.

    Returns
    -------
    Transformer
        The model.

    Raises
    ------
    ValueError
        If there is no model of that name; the message lists those there are.
    """
    path = WEIGHTS / f"{name}.safetensors"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in WEIGHTS.glob("*.safetensors")))
        raise ValueError(f"name must be one of: {known}; got {name!r}")
    return Transformer.load(path, dtype)
