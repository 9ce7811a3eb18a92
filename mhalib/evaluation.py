"""How well the language is known: one set of texts, one measure, and a ladder of predictors.

All that the course says about losses is measured on `evaluation_texts`, in nats per word. The best
possible loss on them is that of a predictor that knows the grammar, `language.optimum`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib import language
from mhalib.language import Score, Text
from mhalib.model import WEIGHTS, Ablation, Trace, Transformer, load_tokenizer
from mhalib.softmax import log_softmax
from mhalib.tokenizer import Tokenizer

Array = NDArray[Any]
N_TEXTS = 1000
SAMPLE = 32, 6006  # how many texts, and the seed that chooses them: see `evaluation_sample`


def evaluation_texts(n: int = N_TEXTS, relation: str | None = None) -> list[Text]:
    """Return the texts on which all models of the course are measured, drawn apart from training.

    The language is small: many of them occur in training as well. Fewer than all of them are the
    first `n`, and have another best possible loss: see `evaluation_sample`. With a `relation` each
    text has a word that it decides.
    """
    return language.corpus(n, (2017, 6, 12), relation)


def evaluation_sample() -> list[Text]:
    """Return 32 of the `evaluation_texts`, for a page that measures while one looks.

    Their seed was chosen among 30000: with it the best possible loss and that of the main model
    come closest to those on all texts (0.7352 for 0.7349, 0.7426 for 0.7414), and each relation is
    there in at least three words.
    """
    size, seed = SAMPLE
    texts = evaluation_texts()
    chosen = np.random.default_rng(seed).choice(len(texts), size, replace=False)
    return [texts[i] for i in np.sort(chosen)]


@cache
def best_possible() -> dict[str, Score]:
    """Return the best possible score on `evaluation_texts`, in total and per relation."""
    return language.optimum(evaluation_texts())


def traces(
    model: Transformer,
    texts: Sequence[Text],
    ablate: Ablation | None = None,
    tokenizer: Tokenizer | None = None,
) -> Iterator[tuple[Trace[Array], Array, Sequence[Text]]]:
    """Run `model`, less `ablate`, on `texts`, 100 at a time; yield trace, lengths and texts.

    `tokenizer` is the course's if not given.
    """
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

    What `ablate` names is left out; `tokenizer` is the course's if not given. Compare with
    `language.optimum` of the same texts. The first word of a text is not counted.
    """
    losses, hits = [], []
    for trace, lengths, _ in traces(model, texts, ablate, tokenizer):
        counted = np.arange(1, trace.ids.shape[1]) < lengths[:, None]
        p = log_softmax(trace.logits[:, :-1][counted])
        target = trace.ids[:, 1:][counted]
        losses.append(-p[np.arange(len(target)), target])
        hits.append(p.argmax(-1) == target)
    return language.score(texts, np.concatenate(losses), np.concatenate(hits))


def table(scores: dict[str, Score], best: dict[str, Score]) -> str:
    """Return `scores` beside the `best` possible ones, as a Markdown table."""
    rows = [
        "| words | loss | optimum | accuracy | optimum |",
        "|---|---:|---:|---:|---:|",
        *(
            f"| {name} | {s.loss:.4f} | {best[name].loss:.4f} | {s.accuracy:.4f} "
            f"| {best[name].accuracy:.4f} |"
            for name, s in scores.items()
        ),
    ]
    return "\n".join(rows)


# -------------------------------------------------------------------------------- counting
class NGram:
    """Predict a word from the few words before it, by how often it followed them.

    ``p(w | context) = (count(context, w) + p(w | shorter context)) / (count(context) + 1)``, from
    the whole vocabulary, all equally likely, to the last `n_before` words.

    Parameters
    ----------
    n_before : int
        How many words are seen: 0 is a word's frequency, 1 the bigram, 2 the trigram.
    sentences : list of lists of int
        The ids that are counted.
    vocab_size : int
        How many tokens there are.

    Raises
    ------
    TypeError, ValueError
        If a number is not an integer, or too small.

    References
    ----------
    MacKay, Peto (1995), *A Hierarchical Dirichlet Language Model*, for the mixing of counts.

    Examples
    --------
    >>> learned = NGram(1, [[0, 1], [0, 1], [0, 2]], vocab_size=3)
    >>> learned([0]).round(3)
    array([0.021, 0.646, 0.333])
    """

    def __init__(self, n_before: int, sentences: Sequence[Sequence[int]], vocab_size: int) -> None:
        self.n_before = validate.positive_int("n_before", n_before, minimum=0)
        self.vocab_size = validate.positive_int("vocab_size", vocab_size)
        self.counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for ids in sentences:
            for i in range(1, len(ids)):  # a first word is never predicted
                for k in range(min(n_before, i) + 1):
                    self.counts[tuple(ids[i - k : i])][ids[i]] += 1

    def __call__(self, before: Sequence[int]) -> Array:
        """Return the probability of each token, (V,), after the tokens `before`."""
        p = np.full(self.vocab_size, 1 / self.vocab_size)
        for k in range(min(self.n_before, len(before)) + 1):
            counts = self.counts.get(tuple(before[len(before) - k :]), Counter())
            p[list(counts)] += list(counts.values())
            p /= counts.total() + 1
        return p


def _sentences(texts: Sequence[Text]) -> list[list[int]]:
    ids, lengths = language.encode_batch(texts, load_tokenizer())
    return [row[:n].tolist() for row, n in zip(ids, lengths)]


def count_words(n_texts: int = 5000, n_before: int = 2) -> NGram:
    """Count, in `n_texts` of the language, what follows up to `n_before` words.

    None of the texts was drawn for the evaluation.
    """
    texts = language.corpus(n_texts, (2017, 6, 13))
    return NGram(n_before, _sentences(texts), load_tokenizer().vocab_size)


def ngram_scores(counted: NGram, n_before: int, texts: Sequence[Text]) -> dict[str, Score]:
    """Return the scores of `counted` on `texts`, when it sees the `n_before` last words."""
    p = cache(counted)
    losses, hits = [], []
    for ids in _sentences(texts):
        for i in range(1, len(ids)):
            shares = p(tuple(ids[max(0, i - n_before) : i]))
            losses.append(-np.log(shares[ids[i]]))
            hits.append(shares.argmax() == ids[i])
    return language.score(texts, np.array(losses), np.array(hits))


# ------------------------------------------------------------------------------ the ladder
class Rung(NamedTuple):
    """A predictor's loss on `evaluation_texts`: the mean of its runs, the lowest, the highest."""

    name: str
    loss: float
    lowest: float
    highest: float
    runs: int


def load_experiments() -> dict[str, Any]:
    """Return the results of all training experiments, as `mhalib.training` gathered them."""
    result: dict[str, Any] = json.loads((WEIGHTS / "experiments.json").read_text("utf-8"))
    return result


@cache
def ladder() -> list[Rung]:
    """Return what each step buys, from knowing nothing to the best possible.

    The trained models are those of the experiments, each shallow one with three seeds; counting is
    `ngram_scores`, of 5000 texts.
    """
    texts, counted = evaluation_texts(), count_words()
    losses = {"knows nothing": [float(np.log(counted.vocab_size))]}
    names = ("how often a word comes", "the word before", "two words before")
    for n_before, name in enumerate(names):
        losses[name] = [ngram_scores(counted, n_before, texts)["all"].loss]
    runs = load_experiments()["runs"]
    for name, run in {
        "one layer, one head": "layers1-heads1",
        "one layer, 8 heads": "layers1-heads8",
        "the course's model": "main",
    }.items():
        losses[name] = [r["scores"]["all"]["loss"] for r in runs if r["name"] == run]
    losses["best possible"] = [best_possible()["all"].loss]
    return [
        Rung(name, float(np.mean(some)), min(some), max(some), len(some))
        for name, some in losses.items()
    ]
