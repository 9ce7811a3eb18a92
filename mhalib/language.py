"""The course's small language: a grammar whose next word has a known, exact probability.

A text is one sentence. It follows a *form*: a row of slots, one word each. A word is fixed, or
drawn from a list, or it follows from words that stand earlier in the same text. What follows
from earlier words carries the name of its relation:

===========  ====================================================================================
topic        There are so many bats I can choose at the *baseball* store.
agreement    The key to the cabinets *is* lost.
coreference  When Anna saw Tom near the door, *she* sold *her* book.
recall       I see a red key, a blue box and a gold lamp, but I like the blue *box* and …
list         Say red blue gold, then say *red* *blue* *gold*.
both         The dog that met the cats and copied the birds now *sings*.
===========  ====================================================================================

*both* needs two relations for one word: its ending agrees with the first animal (one dog
sing*s*), its stem belongs to the last one (birds *sing*); those between decide nothing.

A reader cannot see which form a text follows, but the forms are few. So the exact probability
of the next word is a sum over all of them: p(w | prefix) = Σ_f p(f | prefix) · p(w | f, prefix).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.grammar import BOYS as BOYS
from mhalib.grammar import COLOURS as COLOURS
from mhalib.grammar import FORMS, Distribution, Form, Words
from mhalib.grammar import GIRLS as GIRLS
from mhalib.grammar import PLACES as PLACES
from mhalib.grammar import RELATIONS as RELATIONS
from mhalib.grammar import SHOP as SHOP
from mhalib.grammar import SINGULAR as SINGULAR
from mhalib.grammar import THINGS as THINGS
from mhalib.grammar import VERB as VERB
from mhalib.tokenizer import Tokenizer


# ---------------------------------------------------------------------------------- texts
class Text(NamedTuple):
    """A sentence with its truth, word by word."""

    words: tuple[str, ...]
    relations: tuple[str | None, ...]  # the relation that decides the word
    sources: tuple[tuple[int, ...], ...]  # the positions of the words that decide it

    def __str__(self) -> str:
        return "".join(pieces(self.words))


def pieces(words: Sequence[str]) -> list[str]:
    """Return `words` with the spaces between them: each piece is one token.

    Examples
    --------
    >>> pieces(["I", "love", "bats", "."])
    ['I', ' love', ' bats', '.']
    """
    return [w if i == 0 or w in (",", ".") else " " + w for i, w in enumerate(words)]


def split_text(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return the words of `text`; commas and full stops are words, too.

    Examples
    --------
    >>> split_text("I love bats.")
    ('I', 'love', 'bats', '.')
    """
    return tuple(re.findall(r"[^\s.,]+|[.,]", text) if isinstance(text, str) else text)


def _label(form: Form, words: Sequence[str]) -> Text:
    position = {slot.name: i for i, slot in enumerate(form.slots)}
    return Text(
        tuple(words),
        tuple(slot.relation for slot in form.slots),
        tuple(tuple(position[s] for s in slot.sources if slot.relation) for slot in form.slots),
    )


def sample(rng: np.random.Generator, relation: str | None = None) -> Text:
    """Draw a text from `rng`; one that exercises `relation`, if it is given.

    Raises
    ------
    ValueError
        If there is no such relation.
    """
    if relation not in (None, *RELATIONS):
        raise ValueError(f"relation must be one of {', '.join(RELATIONS)}; got {relation!r}")
    forms = FORMS
    if relation:
        forms = [f for f in FORMS if relation in {slot.relation for slot in f.slots}]
    form = forms[_choose([f.probability for f in forms], rng)]
    words: list[str] = []
    said: dict[str, str] = {}
    for slot in form.slots:
        distribution = slot.distribution(said)
        word = list(distribution)[_choose(list(distribution.values()), rng)]
        words.append(word)
        said[slot.name] = word
    return _label(form, words)


def _choose(weights: Sequence[float], rng: np.random.Generator) -> int:
    if len(weights) == 1:
        return 0
    left = rng.random() * sum(weights)
    for i, weight in enumerate(weights[:-1]):
        left -= weight
        if left < 0:
            return i
    return len(weights) - 1


def corpus(n: int, seed: int | Sequence[int] = 0, relation: str | None = None) -> list[Text]:
    """Draw `n` texts, each with a `relation` if it is given; the same `seed` gives the same texts.

    Raises
    ------
    TypeError, ValueError
        If `n` is not an integer of at least 0, or there is no such relation.
    """
    rng = np.random.default_rng(seed)
    return [sample(rng, relation) for _ in range(validate.positive_int("n", n, minimum=0))]


# ------------------------------------------------------------------------------ the truth
def _read(words: Sequence[str]) -> Iterator[tuple[Distribution, list[tuple[float, Form, Words]]]]:
    """Yield, before each word and after the last: p(next word), and the forms that still fit."""
    fits: list[tuple[float, Form, Words]] = [(form.probability, form, {}) for form in FORMS]
    for i in range(len(words) + 1):
        total = sum(weight for weight, _, _ in fits)
        fits = [(weight / total, form, said) for weight, form, said in fits]
        slots = [form.slots[i] if i < len(form.slots) else None for _, form, _ in fits]
        local = [slot.distribution(fit[2]) if slot else {} for slot, fit in zip(slots, fits)]
        p_next: Distribution = {}
        for (weight, _, _), distribution in zip(fits, local):
            for word, p in distribution.items():
                p_next[word] = p_next.get(word, 0.0) + weight * p
        yield p_next, fits
        if i == len(words):
            return
        if words[i] not in p_next:
            raise ValueError(
                f"text: {words[i]!r} cannot stand after {' '.join(words[:i])!r}; "
                f"possible: {', '.join(sorted(p_next)) or 'nothing, the sentence is over'}"
            )
        fits = [
            (weight * distribution[words[i]], form, {**said, slot.name: words[i]})
            for (weight, form, said), slot, distribution in zip(fits, slots, local)
            if slot and words[i] in distribution
        ]


def next_word_distribution(prefix: str | Sequence[str]) -> Distribution:
    """Return the exact probability of each word that can follow `prefix` (empty: it is over).

    Raises
    ------
    ValueError
        If no text of the language starts with `prefix`.

    Examples
    --------
    >>> next_word_distribution("I love to study bats that live inside a")
    {'cave': 0.8, 'zoo': 0.2}
    """
    *_, (p_next, _) = _read(split_text(prefix))
    return p_next


def parse(text: str | Sequence[str]) -> Text:
    """Return `text`, a whole sentence, with its labels.

    Raises
    ------
    ValueError
        If it is not a whole sentence of the language.

    Examples
    --------
    >>> parsed = parse("The key to the cabinets is lost.")
    >>> parsed.relations[5], parsed.words[5], [parsed.words[i] for i in parsed.sources[5]]
    ('agreement', 'is', ['key'])
    """
    words = split_text(text)
    *_, (p_next, fits) = _read(words)
    if p_next:
        raise ValueError(f"text must be a whole sentence, got {' '.join(words)!r}")
    return _label(fits[0][1], words)


class Score(NamedTuple):
    """How well words were predicted: mean loss in nats, share of words that were ranked first."""

    n: int
    loss: float
    accuracy: float


def score(
    texts: Sequence[Text], losses: NDArray[np.float64], hits: NDArray[np.bool_]
) -> dict[str, Score]:
    """Average over all words but the first of each of `texts`, and over each relation's words.

    `losses` and `hits` hold one entry for each of these words, text after text. The words that
    no relation decides are called "free".
    """
    names = np.array([relation or "free" for text in texts for relation in text.relations[1:]])
    groups = {"all": np.full(names.shape, True)}
    groups |= {name: names == name for name in (*RELATIONS, "free") if name in names}
    return {
        name: Score(int(g.sum()), float(losses[g].mean()), float(hits[g].mean()))
        for name, g in groups.items()
    }


def optimum(texts: Sequence[Text]) -> dict[str, Score]:
    """Return the score of knowing the grammar: no predictor of `texts` can expect better."""
    losses, hits = [], []
    for text in texts:
        for word, (p_next, _) in list(zip(text.words, _read(text.words)))[1:]:
            losses.append(-np.log(p_next[word]))
            hits.append(max(p_next, key=p_next.__getitem__) == word)
    return score(texts, np.array(losses), np.array(hits))


# ----------------------------------------------------------------------------------- ids
def train_tokenizer(n: int = 8000, seed: int = 1) -> Tokenizer:
    """Train the course's BPE on `n` texts drawn with `seed`, until every word is one token."""
    return Tokenizer.train("\n".join(map(str, corpus(n, seed))), vocab_size=1000)


def encode_batch(
    texts: Sequence[Text], tokenizer: Tokenizer
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of `texts`, (batch, n), filled up with 0 on the right, and their lengths.

    Raises
    ------
    ValueError
        If a word is not one token of `tokenizer`.
    """
    id_of = {token: i for i, token in enumerate(tokenizer.vocab)}
    lengths = np.array([len(text.words) for text in texts])
    ids = np.zeros((len(texts), lengths.max(initial=0)), np.int64)
    for row, text in zip(ids, texts):
        for i, piece in enumerate(pieces(text.words)):
            if piece.encode() not in id_of:
                raise ValueError(
                    f"tokenizer has no token {piece!r}: train_tokenizer() has them all"
                )
            row[i] = id_of[piece.encode()]
    return ids, lengths
