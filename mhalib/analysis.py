"""What a trained model knows, and which of its parts know it: ``python -m mhalib.analysis``."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib import language
from mhalib._stream import say_all
from mhalib.evaluation import evaluate as evaluate
from mhalib.evaluation import evaluation_texts as evaluation_texts
from mhalib.evaluation import load_experiments as load_experiments
from mhalib.evaluation import traces
from mhalib.language import Text
from mhalib.model import Ablation, Transformer, load_model
from mhalib.tokenizer import Tokenizer

Array = NDArray[Any]
Part = tuple[int, int | None]  # (layer, head); head None stands for the layer's attention


def entropy(weights: Array) -> Array:
    """Return ``−Σ p log p`` of each row, in nats, with 0 log 0 = 0: how evenly it is spread.

    Parameters
    ----------
    weights : array (..., n)
        Shares, each row summing to 1.

    Returns
    -------
    array (...,)
        0 if one share has everything, log n if all are equal.

    Raises
    ------
    TypeError, ValueError
        If `weights` do not hold numbers, or have no axis.

    Examples
    --------
    >>> entropy(np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])).round(4) + 0
    array([0.6931, 0.    ])
    """
    p = validate.float_array("weights", weights, ndim=1)
    return -(p * np.log(np.where(p > 0, p, 1))).sum(axis=-1)


def jacobian_norm(weights: Array) -> Array:
    """Return the Frobenius norm of the softmax Jacobian ``diag(p) − p pᵀ`` of each row.

    It tells how much of a gradient a softmax with these shares lets through.

    Parameters
    ----------
    weights : array (..., n)
        Shares, each row summing to 1.

    Returns
    -------
    array (...,)
        0 if one share has everything.

    Raises
    ------
    TypeError, ValueError
        If `weights` do not hold numbers, or have no axis.

    Examples
    --------
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> bool(np.isclose(jacobian_norm(p), np.linalg.norm(np.diag(p) - np.outer(p, p))))
    True
    """
    p = validate.float_array("weights", weights, ndim=1)
    square = (p**2).sum(axis=-1)
    return np.sqrt(np.maximum(square - 2 * (p**3).sum(axis=-1) + square**2, 0))


def mean_head_outputs(
    model: Transformer, texts: Sequence[Text], tokenizer: Tokenizer | None = None
) -> dict[tuple[int, int], Array]:
    """Return what each head of `model` gives on average over all tokens of `texts`.

    By (layer, head). As ``Ablation(heads=…)`` it keeps what a head always says, and takes what it
    says *here*. `tokenizer` is the course's if not given.
    """
    config = model.config
    total, n = np.zeros((config.n_layers, config.n_heads, config.d_v)), 0
    for trace, lengths, _ in traces(model, texts, None, tokenizer):
        real = np.arange(trace.ids.shape[1]) < lengths[:, None]  # (batch, n)
        heads = np.stack([block.attention.heads for block in trace.layers if block])
        total += np.einsum("lbhnd,bn->lhd", heads, real.astype(heads.dtype))
        n += int(real.sum())
    return {(i, j): head for i, layer in enumerate(total / n) for j, head in enumerate(layer)}


def attention_to_sources(
    model: Transformer, texts: Sequence[Text], tokenizer: Tokenizer | None = None
) -> dict[str, Array]:
    """Return the mean weight on the deciding word, from the token before the decided one.

    `model` reads `texts`; `tokenizer` is the course's if not given.

    Returns
    -------
    dict of str to array (N, h)
        By relation; of the two words that decide *both*, the first is given as "both: ending", the
        second as "both: stem". Where several words tell the same (*her* follows from *she* and from
        the name), their weights are added.
    """
    weights: dict[str, list[Array]] = defaultdict(list)
    for trace, _, batch in traces(model, texts, None, tokenizer):
        layers = np.stack([block.attention.weights for block in trace.layers if block], axis=2)
        for row, text in zip(layers, batch, strict=True):  # (h, N, n, n)
            for i, (relation, sources) in enumerate(zip(text.relations, text.sources, strict=True)):
                if relation == "both":
                    weights["both: ending"].append(row[:, :, i - 1, sources[0]].T)
                    weights["both: stem"].append(row[:, :, i - 1, sources[1]].T)
                elif relation:
                    weights[relation].append(row[:, :, i - 1, sources].sum(-1).T)
    return {name: np.mean(weights[name], axis=0) for name in sorted(weights)}


def removals(
    model: Transformer, means: dict[tuple[int, int], Array]
) -> dict[tuple[Part, str], Ablation]:
    """Return one ablation of `model` per part and way: each head, each layer's heads, each layer.

    "zero" and "mean" say what takes the place of the heads (`means`, of `mean_head_outputs`); "ffn"
    takes out the layer's feed-forward network, "skip" the whole layer.
    """
    ways: dict[tuple[Part, str], Ablation] = {}
    for i in range(model.config.n_layers):
        heads = [(i, j) for j in range(model.config.n_heads)]
        for part, here in [*((head, [head]) for head in heads), ((i, None), heads)]:
            ways[part, "zero"] = Ablation(heads=here)
            ways[part, "mean"] = Ablation(heads={head: means[head] for head in here})
        ways[(i, None), "ffn"] = Ablation(ffn=[i])
        ways[(i, None), "skip"] = Ablation(layers=[i])
    return ways


def what_heads_do(
    model: Transformer, texts: Sequence[Text], tokenizer: Tokenizer | None = None
) -> list[dict[str, Any]]:
    """Measure every head and layer of `model` on `texts`, relation by relation.

    `tokenizer` is the course's if not given.

    Returns
    -------
    list of dict
        One row per head, and one per layer (its ``"head"`` is None): ``"layer"``, ``"head"``,
        ``"attention"`` (heads only, see `attention_to_sources`), and the rise of the loss of each
        relation when the part is removed: ``"zero"``, ``"mean"``, ``"ffn"``, ``"skip"`` (see
        `removals`).
    """
    intact = evaluate(model, texts, None, tokenizer)
    attention = attention_to_sources(model, texts, tokenizer)
    rows: dict[Part, dict[str, Any]] = {}
    for (part, way), ablate in removals(model, mean_head_outputs(model, texts, tokenizer)).items():
        layer, head = part
        row = rows.setdefault(part, {"layer": layer, "head": head})
        if head is not None:
            row["attention"] = {name: float(w[layer, head]) for name, w in attention.items()}
        scores = evaluate(model, texts, ablate, tokenizer)
        row[way] = {name: scores[name].loss - intact[name].loss for name in intact}
    return list(rows.values())


def table(rows: Sequence[dict[str, Any]], measure: str) -> str:
    """Return one `measure` of the `rows` of `what_heads_do` as a Markdown table."""
    rows = [row for row in rows if measure in row]
    names = list(rows[0][measure])
    lines = [f"| part | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for row in rows:
        part = f"layer {row['layer']}"
        part += "" if row["head"] is None else f", head {row['head']}"
        lines.append(f"| {part} | {' | '.join(f'{row[measure][n]:.3f}' for n in names)} |")
    return "\n".join(lines)


def experiment_table(experiments: dict[str, Any]) -> str:
    """Return the accuracies of `experiments`, mean over seeds (lowest … highest), as Markdown."""
    names = language.RELATIONS
    lines = [f"| run | seeds | loss | {' | '.join(names)} |", "|---|" + "---:|" * 8]
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for run in experiments["runs"]:
        by_name[run["name"]].append(run["scores"])
    for run_name, scores in by_name.items():
        cells = [_spread([s["all"]["loss"] for s in scores if "all" in s])]
        cells += [_spread([s[name]["accuracy"] for s in scores if name in s]) for name in names]
        lines.append(f"| {run_name} | {len(scores)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    ends = f" ({min(values):.2f} … {max(values):.2f})" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{ends}"


def main() -> None:
    say_all()
    parser = argparse.ArgumentParser("python -m mhalib.analysis", description=__doc__)
    parser.add_argument("name", nargs="?", default="main", help="a shipped model (default: main)")
    parser.add_argument("--texts", type=int, default=300, help="how many (default: 300)")
    parser.add_argument("--experiments", action="store_true", help="print their accuracies")
    options = parser.parse_args()
    if options.experiments:
        print(experiment_table(load_experiments()))
        return
    rows = what_heads_do(load_model(options.name, np.float32), evaluation_texts(options.texts))
    for measure, title in {
        "attention": "Weight on the deciding word",
        "zero": "Rise of the loss in nats, output set to 0",
        "mean": "Rise of the loss in nats, output set to its mean",
        "ffn": "Rise of the loss in nats, feed-forward network taken out",
        "skip": "Rise of the loss in nats, layer left out",
    }.items():
        print(f"{title}\n\n{table(rows, measure)}\n")


if __name__ == "__main__":
    main()
