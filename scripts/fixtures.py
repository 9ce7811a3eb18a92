"""Write tests/fixtures/*.json: what NumPy computes, for the JavaScript of the widgets to equal.

Run ``python scripts/fixtures.py`` after a change of the library. Every fixture is a list of cases,
each with its inputs and the library's outputs; masked and impossible values are null.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import mhalib
from mhalib import language
from mhalib.analysis import entropy, jacobian_norm
from mhalib.tokenizer import split_words
from mhalib.widgets.grammar import tabulate
from mhalib.widgets.normals import normals
from mhalib.widgets.scaling import ScalingWidget

FOLDER = Path(__file__).parent.parent / "tests" / "fixtures"


def plain(value: Any) -> Any:
    """Return `value` with arrays as lists, ready for JSON."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return np.asarray(value).tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def attention_cases() -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(11)
    for n_q, n_k, d_k, d_v, masked in [
        (2, 3, 5, 7, "none"),
        (5, 5, 3, 2, "causal"),
        (3, 7, 2, 5, "causal"),
        (7, 7, 11, 3, "padding"),
        (5, 5, 2, 3, "random"),
    ]:
        Q, K = rng.normal(0, 2, (n_q, d_k)), rng.normal(0, 2, (n_k, d_k))
        V = rng.normal(0, 1, (n_k, d_v))
        mask = {
            "none": np.ones((n_q, n_k), bool),
            "causal": mhalib.causal_mask(n_q, n_k),
            "padding": np.broadcast_to(np.arange(n_k) < 4, (n_q, n_k)),
            "random": rng.random((n_q, n_k)) < 0.4,  # row 2 allows no key at all
        }[masked]
        mask = mask & (np.arange(n_q)[:, None] != 2) if masked == "random" else mask
        O, weights = mhalib.attention(Q, K, V, mask=mask, return_weights=True)
        yield {
            "Q": Q,
            "K": K,
            "V": V,
            "masked": masked,
            "mask": mask,
            "scores": mhalib.scores(Q, K),
            "weights": weights,
            "O": O,
            "log_softmax": mhalib.log_softmax(mhalib.scores(Q, K)),
            "entropy": entropy(weights),
            "jacobian": jacobian_norm(weights),
        }


def scaling_cases() -> Iterator[dict[str, Any]]:
    for values in [
        {"d_k": 1, "scale": "sqrt_d_k", "seed": 0, "n_keys": 2},
        {"d_k": 97, "scale": "none", "seed": 4294967295, "n_keys": 61},
        {"d_k": 1024, "scale": "d_k", "seed": 3, "sigma": 1.7},
        {"d_k": 512, "scale": "sqrt_d_model", "sigma": 0.4, "n_keys": 17},
        {"d_k": 1000, "scale": "sqrt_d_k", "sigma": 3.0, "n_keys": 5},
    ]:
        widget = ScalingWidget(**values)
        state = {
            name: getattr(widget, name) for name in ("d_k", "sigma", "n_keys", "scale", "seed")
        }
        yield {
            **state,
            "normals": normals(widget.seed, 7),
            "scores": widget.scores,
            "weights": widget.weights,
            "statistics": widget.statistics,
        }


def model_cases() -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(23)
    for shape, ablate in [
        ({"d_model": 6, "n_heads": 2, "n_layers": 2, "d_k": 5, "d_v": 3, "d_ff": 7}, {}),
        ({"d_model": 7, "n_heads": 3, "n_layers": 1, "d_k": 2, "d_v": 5, "norm": "pre",
          "activation": "gelu"}, {}),
        ({"d_model": 6, "n_heads": 3, "n_layers": 2, "positions": "none", "scaled": False,
          "activation": "gelu_tanh", "d_ff": 5}, {"W_O": [1], "heads": [[0, 2], [1, 0]]}),
        ({"d_model": 5, "n_heads": 1, "n_layers": 3, "d_ff": 3},
         {"layers": [1], "mask": True, "positions": True, "scale": True}),
        ({"d_model": 5, "n_heads": 1, "n_layers": 2, "d_ff": 3, "norm": "pre"},
         {"norm": True, "residual": True, "embedding_scale": True}),
        ({"d_model": 6, "n_heads": 2, "n_layers": 3, "d_ff": 5}, {"layers": [0], "ffn": [1]}),
        ({"d_model": 6, "n_heads": 2, "n_layers": 3, "d_ff": 5, "norm": "pre"},
         {"layers": [1], "ffn": [2]}),
    ]:  # fmt: skip
        config = mhalib.Config(vocab_size=11, **shape)
        parameters = {
            name: value + rng.normal(0, 0.3, value.shape)  # biases and shifts are not 0
            for name, value in mhalib.init_parameters(config, rng).items()
        }
        model = mhalib.Transformer(config, parameters)
        ids = rng.integers(0, 11, 5)
        heads = [tuple(pair) for pair in ablate.get("heads", [])]
        trace = model.forward(ids, ablate=mhalib.Ablation(**{**ablate, "heads": heads}))
        yield {
            "config": asdict(config),
            "parameters": parameters,
            "ids": ids,
            "ablate": ablate,
            "trace": trace.flat(),
            "loss": mhalib.cross_entropy(trace.logits[:-1], ids[1:]),
            "filtered": {
                "top_k": mhalib.softmax(mhalib.top_k_filter(trace.logits[0], 3)),
                "top_p": mhalib.softmax(mhalib.top_p_filter(trace.logits[0], 0.6)),
            },
        }


def tokenizer_cases() -> Iterator[dict[str, Any]]:
    corpus = "There are so many bats I can choose at the baseball store. I love to study bats. " * 3
    trained = mhalib.Tokenizer.train(corpus + "naïve café 12 123 1234", vocab_size=331)
    for tokenizer in (mhalib.Tokenizer([]), mhalib.Tokenizer([(98, 99), (97, 98)]), trained):
        for text in (
            "",
            "abc bats, cabat!",
            "There are so many bats  at\tthe store.\n\n I  ",
            "naïve café — 1234½ x² Ⅷ ٣٤ _snake_case don't",
            "🦇 bats 👩‍👩‍👧 שלום مرحبا e\u0301 \u3000ideographic \u00a0nbsp",
            "<img src=x onerror=alert(1)>",
            "bats\ud800 \udd87 \ud83e\udd87",  # half pairs, and both halves of a bat
        ):
            yield {
                "merges": tokenizer.merges,
                "text": text,
                "words": split_words(text),
                "ids": tokenizer.encode(text),
                "steps": list(tokenizer.merge_steps(text)),
            }


def language_cases() -> Iterator[dict[str, Any]]:
    yield {"grammar": tabulate()}
    for text in [*language.corpus(40, seed=5), "I love bats", "", "The key to", "Say red red"]:
        words = language.split_text(str(text))
        for n in range(len(words) + 1):
            prefix = " ".join(words[:n])
            try:
                yield {"prefix": prefix, "next": language.next_word_distribution(prefix)}
            except ValueError:
                yield {"prefix": prefix, "next": None}


FIXTURES = {
    "attention": attention_cases,
    "scaling": scaling_cases,
    "model": model_cases,
    "tokenizer": tokenizer_cases,
    "language": language_cases,
}


def contents(name: str) -> list[dict[str, Any]]:
    """Return the cases of one fixture as JSON has them."""
    return [plain(case) for case in FIXTURES[name]()]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or FIXTURES:
        cases = ",\n".join(json.dumps(case, allow_nan=False) for case in contents(name))
        (FOLDER / f"{name}.json").write_text(f"[\n{cases}\n]\n", "utf-8")
