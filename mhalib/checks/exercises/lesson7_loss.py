"""Exercise of lesson 7: the loss."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import mhalib
from mhalib.checks.exercise import (
    Case,
    Exercise,
    Function,
    Mistake,
    normal,
    numbers,
)

Array = NDArray[Any]


def _loss(
    logits: Array, ids: Array, *, shift: int = 1, total: Function = np.mean, log: Function = np.log
) -> float:
    """Row t is judged by the id `shift` places later."""
    n = len(ids) - abs(shift)
    rows, targets = (logits[:n], ids[shift:]) if shift >= 0 else (logits[-n:], ids[:n])
    chosen = mhalib.softmax(logits)[np.arange(len(logits))[: len(rows)] + max(-shift, 0), targets]
    return float(-total(log(chosen)))


def _stable_loss(logits: Array, ids: Array, shift: int = 1) -> float:
    n = len(ids) - shift
    return mhalib.cross_entropy(logits[:n], ids[shift:])


_SURE = np.log(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.125, 0.25, 0.625]]))


def _draw_loss(rng: Generator, i: int) -> Case:
    n, V = int(rng.choice([3, 5, 7])), int(rng.choice([2, 11, 13]))
    logits, ids = numbers(rng, i, n, V, scale=2.0), rng.integers(0, V, n)
    if i % 6 == 4:
        return Case((4 * logits).round() * 16, ids, note="large logits")
    return Case(logits, ids)


def _after(log: Function, shares: Function = mhalib.softmax) -> Function:
    """The loss with another logarithm of the shares."""

    def wrong(logits: Array, ids: Array) -> float:
        chosen = log(shares(logits[:-1]))[np.arange(len(ids) - 1), ids[1:]]
        return float(-chosen.mean())

    return wrong


def _squared(logits: Array, ids: Array, total: Function) -> float:
    hot = np.eye(logits.shape[1])[ids[1:]]
    return float(total((mhalib.softmax(logits[:-1]) - hot) ** 2))


next_token_loss = Exercise(
    "next_token_loss(logits, ids)",
    (7, "Loss: surprise, in nats"),
    _stable_loss,
    cases=(
        Case(_SURE, np.array([0, 1, 2])),
        Case(_SURE, np.array([0, 2, 0])),
        Case(normal(5, 3), np.array([2, 0, 1, 1, 2])),
        Case(normal(2, 3), np.array([2, 0]), note="two tokens"),
        Case(normal(7, 11, seed=2) * 2 + 5, np.array([3, 10, 0, 7, 7, 1, 4])),
        Case(np.array([[0.0, 2000.0], [0.0, 0.0]]), np.array([0, 0]), note="large logits"),
        Case(np.array([[0.0, 2000.0], [0.0, 0.0]]), np.array([0, 1]), note="large logits"),
    ),
    draw=_draw_loss,
    mistakes=(
        Mistake(
            "labels not shifted",
            "Row t was compared with token t itself, which the model has just read: it learns "
            "to copy. Row t speaks about token t + 1.",
            lambda logits, ids: _stable_loss(logits, ids, 0),
        ),
        Mistake(
            "labels shifted twice",
            "Row t was compared with token t + 2. It speaks about token t + 1.",
            lambda logits, ids: _stable_loss(logits, ids, 2),
        ),
        Mistake(
            "labels shifted the wrong way",
            "Row t was compared with token t − 1. It speaks about token t + 1.",
            partial(_loss, shift=-1),
        ),
        Mistake(
            "labels rolled round",
            "The last row was compared with the first token, as if the text were a ring. After "
            "the last token nothing is known: leave that row out.",
            lambda logits, ids: mhalib.cross_entropy(logits, np.roll(ids, -1)),
        ),
        Mistake(
            "summed, not averaged",
            "The loss is the mean over the predicted tokens; a sum grows with the length.",
            partial(_loss, total=np.sum),
        ),
        Mistake(
            "divided by n instead of n − 1",
            "Of n tokens n − 1 are predicted; the first is only context.",
            lambda logits, ids: _stable_loss(logits, ids) * (len(ids) - 1) / len(ids),
        ),
        Mistake(
            "sign forgotten",
            "A surprise is −log p, at least 0.",
            lambda logits, ids: -_stable_loss(logits, ids),
        ),
        Mistake(
            "logarithm to base 2", "In nats: the natural logarithm.", partial(_loss, log=np.log2)
        ),
        Mistake(
            "no logarithm",
            "The mean of −log p was asked for, not the mean probability.",
            partial(_loss, log=lambda p: -p),
        ),
        Mistake(
            "no logarithm",
            "The mean of −log p was asked for, not the mean probability.",
            partial(_loss, log=lambda p: p),
        ),
        Mistake(
            "no softmax",
            "Logits are not probabilities and not their logarithms either: the softmax is missing.",
            lambda logits, ids: float(-logits[np.arange(len(ids) - 1), ids[1:]].mean()),
        ),
        Mistake(
            "logarithm of a rounded 0",
            "softmax gives exactly 0 where a logit is far below the largest, and its logarithm "
            "is −∞. Subtract the logarithm of the sum instead of taking that of the share.",
            _loss,
            "large logits",
        ),
        Mistake(
            "maximum not subtracted",
            "exp of a large logit overflows. Subtract the row's maximum first.",
            lambda logits, ids: _overflowing_loss(logits, ids),
            "large logits",
        ),
        *(
            Mistake(
                "a small number added before the logarithm",
                "It keeps log(0) away, and hides how unlikely a token is: the surprise never gets "
                "above a limit. Subtract the logarithm of the sum from the logit instead.",
                _after(lambda p, small=small: np.log(p + small)),
                "large logits",
            )
            for small in (1e-9, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-15, 1e-3)
        ),
        *(
            Mistake(
                "probabilities cut off below",
                "It keeps log(0) away, and hides how unlikely a token is: the surprise never gets "
                "above a limit. Subtract the logarithm of the sum from the logit instead.",
                _after(lambda p, small=small: np.log(np.maximum(p, small))),
                "large logits",
            )
            for small in (1e-9, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-15, 1e-300, 1e-3)
        ),
        Mistake(
            "one row dropped, not shifted",
            "The last row was dropped, and the last id with it: row t still meets token t. Drop "
            "the "
            "first id instead.",
            lambda logits, ids: mhalib.cross_entropy(logits[:-1], ids[:-1]),
        ),
        Mistake(
            "one row dropped, not shifted",
            "The first row was dropped, and the first id with it: row t still meets token t. Drop "
            "the last row instead.",
            lambda logits, ids: mhalib.cross_entropy(logits[1:], ids[1:]),
        ),
        Mistake(
            "softmax over the tokens",
            "Each row is a distribution over the words, the last axis. Here the columns sum to 1.",
            _after(np.log, lambda logits: mhalib.softmax(logits, axis=0)),
        ),
        Mistake(
            "softmax over everything",
            "Each row is a distribution of its own.",
            _after(np.log, lambda logits: mhalib.softmax(logits.ravel()).reshape(logits.shape)),
        ),
        Mistake(
            "softmax twice",
            "The softmax of the softmax is much flatter. (Does the function you call take logits?)",
            _after(np.log, lambda logits: mhalib.softmax(mhalib.softmax(logits))),
        ),
        Mistake(
            "averaged over all words",
            "The mean goes over the predicted tokens alone, not over the V words of each.",
            lambda logits, ids: _stable_loss(logits, ids) / logits.shape[1],
        ),
        Mistake(
            "averaged over all words",
            "Only the word that came counts, not all V words of the row.",
            lambda logits, ids: float(-mhalib.log_softmax(logits[:-1]).mean()),
        ),
        Mistake(
            "perplexity returned",
            "This is exp of the loss. The loss itself was asked for.",
            lambda logits, ids: float(np.exp(_stable_loss(logits, ids))),
        ),
        Mistake(
            "logarithm to base 10", "In nats: the natural logarithm.", partial(_loss, log=np.log10)
        ),
        Mistake(
            "1 − p instead of −log p",
            "A surprise is −log p.",
            partial(_loss, log=lambda p: p - 1),
        ),
        Mistake(
            "error rate returned",
            "The mean surprise was asked for, not how often the likeliest word is wrong.",
            lambda logits, ids: float((logits[:-1].argmax(-1) != ids[1:]).mean()),
        ),
        Mistake(
            "only the last prediction",
            "The mean goes over all predicted tokens.",
            lambda logits, ids: _stable_loss(logits[-2:], ids[-2:]),
        ),
        Mistake(
            "the median, not the mean",
            "The mean surprise was asked for.",
            partial(_loss, total=np.median),
        ),
        Mistake(
            "logarithm of the mean probability",
            "First the logarithm of each probability, then the mean.",
            lambda logits, ids: float(
                -np.log(mhalib.softmax(logits[:-1])[np.arange(len(ids) - 1), ids[1:]].mean())
            ),
        ),
        Mistake(
            "maximum not subtracted",
            "exp of a large logit overflows. Subtract the row's maximum first.",
            _after(np.log, lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)),
            "large logits",
        ),
        Mistake(
            "every row with every id",
            "Row t meets the id t + 1 alone: choose one entry of each row.",
            lambda logits, ids: float(-mhalib.log_softmax(logits[:-1])[:, ids[1:]].mean()),
        ),
        *(
            Mistake(
                "squared error",
                "A surprise is −log p, not a squared difference.",
                partial(_squared, total=total),
            )
            for total in (np.mean, np.sum, lambda square: square.sum(axis=-1).mean())
        ),
        Mistake(
            "squared error",
            "A surprise is −log p, not a squared difference.",
            partial(_loss, log=lambda p: -((1 - p) ** 2)),
        ),
    ),
    returns="number",
)


def _overflowing_loss(logits: Array, ids: Array) -> float:
    rows = logits[:-1]
    log_total = np.log(np.exp(rows).sum(axis=1))
    return float((log_total - rows[np.arange(len(rows)), ids[1:]]).mean())


EXERCISES = (next_token_loss,)
