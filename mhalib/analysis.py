"""What a trained model knows, and which of its parts know it (NumPy)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mhalib import language
from mhalib.attention import log_softmax
from mhalib.language import Score, Text
from mhalib.model import Ablation, Transformer, load_tokenizer
from mhalib.tokenizer import Tokenizer


def evaluation_texts(n: int = 1000) -> list[Text]:
    """Return the texts on which all models of the course are measured; none trains on them."""
    return language.corpus(n, seed=(2017, 6, 12))


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
    ids, lengths = language.encode_batch(texts, tokenizer or load_tokenizer())
    for start in range(0, len(texts), 100):  # a trace of all texts at once would be large
        batch, here = ids[start : start + 100], lengths[start : start + 100]
        # Padding stands on the right, where no causal row looks; without the mask it would be seen.
        mask = np.arange(ids.shape[1]) < here[:, None, None, None]
        logits = model.forward(batch, mask=mask, ablate=ablate).logits
        counted = np.arange(1, ids.shape[1]) < here[:, None]
        p = log_softmax(logits[:, :-1][counted])
        target = batch[:, 1:][counted]
        losses.append(-p[np.arange(len(target)), target])
        hits.append(p.argmax(-1) == target)
    return language.score(texts, np.concatenate(losses), np.concatenate(hits))
