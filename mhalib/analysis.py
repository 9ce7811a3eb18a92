"""What a trained model knows, and which of its parts know it: ``python -m mhalib.analysis``."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mhalib import language
from mhalib.attention import log_softmax
from mhalib.language import Score, Text
from mhalib.model import WEIGHTS, Ablation, Trace, Transformer, load_model, load_tokenizer
from mhalib.tokenizer import Tokenizer

Array = NDArray[Any]
Part = tuple[int, int | None]  # (layer, head); head None stands for the layer's attention


def evaluation_texts(n: int = 1000, relation: str | None = None) -> list[Text]:
    """Return the texts on which all models of the course are measured, drawn apart from training.

    The language is small: many of them occur in training as well.
    """
    return language.corpus(n, (2017, 6, 12), relation)


def _traces(
    model: Transformer, texts: Sequence[Text], ablate: Ablation | None, tokenizer: Tokenizer | None
) -> Iterator[tuple[Trace, Array, Sequence[Text]]]:
    """Run `model` on `texts`, 100 at a time; yield trace, lengths and texts."""
    tokenizer = tokenizer or load_tokenizer()
    for start in range(0, len(texts), 100):
        batch = texts[start : start + 100]
        ids, lengths = language.encode_batch(batch, tokenizer)
        real = np.arange(ids.shape[1]) < lengths[:, None]
        yield model.forward(ids, real=real, ablate=ablate), lengths, batch


def evaluate(
    model: Transformer,
    texts: Sequence[Text],
    ablate: Ablation | None = None,
    tokenizer: Tokenizer | None = None,
) -> dict[str, Score]:
    """Return loss (nats per word) and accuracy of `model` on `texts`, in total and per relation.

    Compare with `language.optimum` of the same texts. The first word of a text is not counted.
    """
    losses, hits = [], []
    for trace, lengths, _ in _traces(model, texts, ablate, tokenizer):
        counted = np.arange(1, trace.ids.shape[1]) < lengths[:, None]
        p = log_softmax(trace.logits[:, :-1][counted])
        target = trace.ids[:, 1:][counted]
        losses.append(-p[np.arange(len(target)), target])
        hits.append(p.argmax(-1) == target)
    return language.score(texts, np.concatenate(losses), np.concatenate(hits))


def mean_head_outputs(
    model: Transformer, texts: Sequence[Text], tokenizer: Tokenizer | None = None
) -> dict[tuple[int, int], Array]:
    """Return what each head gives on average over all tokens of `texts`, by (layer, head).

    As ``Ablation(heads=…)`` it keeps what a head always says, and takes what it says *here*.
    """
    config = model.config
    total, n = np.zeros((config.n_layers, config.n_heads, config.d_v)), 0
    for trace, lengths, _ in _traces(model, texts, None, tokenizer):
        real = np.arange(trace.ids.shape[1]) < lengths[:, None]  # (batch, n)
        heads = np.stack([block.attention.heads for block in trace.layers if block])
        total += np.einsum("lbhnd,bn->lhd", heads, real.astype(heads.dtype))
        n += int(real.sum())
    return {(i, j): head for i, layer in enumerate(total / n) for j, head in enumerate(layer)}


def attention_to_sources(
    model: Transformer, texts: Sequence[Text], tokenizer: Tokenizer | None = None
) -> dict[str, Array]:
    """Return the mean weight on the deciding word, from the token before the decided one.

    Returns
    -------
    by relation an array (N, h); of the two words that decide *both*, the first is given as
    "both: ending", the second as "both: stem". Where several words tell the same (*her* follows
    from *she* and from the name), their weights are added.
    """
    weights: dict[str, list[Array]] = defaultdict(list)
    for trace, _, batch in _traces(model, texts, None, tokenizer):
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
    """Return one ablation per part and way: each head, each layer's heads, each layer.

    "zero" and "mean" say what takes the place of the heads; "skip" leaves a layer out, its
    feed-forward network included.
    """
    ways: dict[tuple[Part, str], Ablation] = {}
    for i in range(model.config.n_layers):
        heads = [(i, j) for j in range(model.config.n_heads)]
        for part, here in [*((head, [head]) for head in heads), ((i, None), heads)]:
            ways[part, "zero"] = Ablation(heads=here)
            ways[part, "mean"] = Ablation(heads={head: means[head] for head in here})
        ways[(i, None), "skip"] = Ablation(layers=[i])
    return ways


def what_heads_do(
    model: Transformer, texts: Sequence[Text], tokenizer: Tokenizer | None = None
) -> list[dict[str, Any]]:
    """Measure every head and layer of `model`, relation by relation.

    Returns
    -------
    one row per head, and one per layer (its ``"head"`` is None): ``"layer"``, ``"head"``,
    ``"attention"`` (heads only, see `attention_to_sources`), and the rise of the loss of each
    relation when the part is removed: ``"zero"``, ``"mean"``, ``"skip"`` (see `removals`)
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
    """Return one measure of `what_heads_do` as a Markdown table, a column per relation."""
    rows = [row for row in rows if measure in row]
    names = list(rows[0][measure])
    lines = [f"| part | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for row in rows:
        part = f"layer {row['layer']}"
        part += "" if row["head"] is None else f", head {row['head']}"
        lines.append(f"| {part} | {' | '.join(f'{row[measure][n]:.3f}' for n in names)} |")
    return "\n".join(lines)


def load_experiments() -> dict[str, Any]:
    """Return the results of all training experiments, as `mhalib.training` gathered them."""
    result: dict[str, Any] = json.loads((WEIGHTS / "experiments.json").read_text("utf-8"))
    return result


def experiment_table(experiments: dict[str, Any]) -> str:
    """Return the experiments as a Markdown table: accuracy, mean over seeds (lowest … highest)."""
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
        "skip": "Rise of the loss in nats, layer left out",
    }.items():
        print(f"{title}\n\n{table(rows, measure)}\n")


if __name__ == "__main__":
    main()
