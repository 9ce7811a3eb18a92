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


_APART = np.array([[0.0, 1.0], [5000.0, 0.0], [0.0, 0.0]])


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


def _mean_of_rows(square: Array) -> Any:
    return square.sum(axis=-1).mean()


HIDDEN = (
    "It keeps log(0) away, and hides how unlikely a token is: the surprise never gets above a "
    "limit. Subtract the logarithm of the sum from the logit instead."
)


def _overflowing_loss(logits: Array, ids: Array) -> float:
    rows = logits[:-1]
    log_total = np.log(np.exp(rows).sum(axis=1))
    return float((log_total - rows[np.arange(len(rows)), ids[1:]]).mean())


def _one_maximum(logits: Array, ids: Array) -> float:
    return _overflowing_loss(logits - logits.max(), ids)


def _overflowing(logits: Array) -> Array:
    shares: Array = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    return shares


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
        Case(_APART, np.array([0, 0, 0]), note="rows far apart"),
        Case(normal(4, 300), np.array([3, 299, 256, 7]), note="many words"),
    ),
    draw=_draw_loss,
    mistakes=(
        *(
            Mistake(
                "one maximum for all rows",
                "A row far below the largest number of all is rounded to 0, and the logarithm of 0 "
                "is −∞. Subtract the maximum of each row.",
                wrong,
                "rows of very different size",
            )
            for wrong in (_one_maximum, _after(np.log, lambda x: _overflowing(x - x.max())))
        ),
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
        *(
            Mistake(
                f"logarithm to base {base}",
                "In nats: the natural logarithm.",
                partial(_loss, log=log),
            )
            for base, log in ((2, np.log2), (10, np.log10))
        ),
        *(
            Mistake(
                "no logarithm",
                "The mean of −log p was asked for, not the mean probability.",
                partial(_loss, log=lambda p, sign=sign: sign * p),
            )
            for sign in (-1, 1)
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
        *(
            Mistake(
                "maximum not subtracted",
                "exp of a large logit overflows. Subtract the row's maximum first.",
                wrong,
                "large logits",
            )
            for wrong in (_overflowing_loss, _after(np.log, _overflowing))
        ),
        *(
            Mistake(name, HIDDEN, _after(lambda p, log=log, c=c: log(p, c)), "large logits")
            for name, log, least in (
                ("a small number added before the logarithm", lambda p, c: np.log(p + c), 1e-15),
                ("probabilities cut off below", lambda p, c: np.log(np.maximum(p, c)), 1e-300),
            )
            for c in (*(10.0**-i for i in (9, 12, 10, 8, 7, 6, 5, 3)), least)
        ),
        *(
            Mistake(
                "one row dropped, not shifted",
                f"The {end} row was dropped, and the {end} id with it: row t still meets token t. "
                "Drop the last row and the first id.",
                lambda logits, ids, part=part: mhalib.cross_entropy(logits[part], ids[part]),
            )
            for end, part in (("last", slice(-1)), ("first", slice(1, None)))
        ),
        *(
            Mistake(
                "softmax over the tokens",
                "Each row is a distribution over the words, the last axis. Here the columns sum to "
                "1.",
                lambda logits, ids, n=n: _after(
                    np.log, lambda rows: mhalib.softmax(logits[:n], axis=0)[: len(rows)]
                )(logits, ids),
            )
            for n in (-1, None)
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
            "the last prediction is left out",
            "Of n tokens n − 1 are predicted, the last one, too.",
            lambda logits, ids: _stable_loss(logits[:-1], ids[:-1]),
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
            "every row with every id",
            "Row t meets the id t + 1 alone: choose one entry of each row.",
            lambda logits, ids: float(-mhalib.log_softmax(logits[:-1])[:, ids[1:]].mean()),
        ),
        *(
            Mistake("squared error", "A surprise is −log p, not a squared difference.", wrong)
            for wrong in (
                *(partial(_squared, total=total) for total in (np.mean, np.sum, _mean_of_rows)),
                partial(_loss, log=lambda p: -((1 - p) ** 2)),
            )
        ),
    ),
    returns="number",
)


EXERCISES = (next_token_loss,)
