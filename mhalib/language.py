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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mhalib import _validate as validate
from mhalib.tokenizer import Tokenizer

RELATIONS = ("topic", "agreement", "coreference", "recall", "list", "both")

# ---------------------------------------------------------------------------------- words
SHOP = {"bats": "baseball", "mice": "computer", "bass": "music", "cranes": "building",
        "beetles": "car", "seals": "paper"}  # fmt: skip
HOME = {"bats": "cave", "mice": "barn", "bass": "lake", "cranes": "marsh",
        "beetles": "log", "seals": "bay"}  # fmt: skip
VERB = {"dog": "bark", "cat": "purr", "bird": "sing", "duck": "swim", "frog": "jump",
        "horse": "run"}  # fmt: skip
THINGS = ("key", "lamp", "book", "chair", "letter")
PLACES = ("cabinet", "door", "box", "room", "house")
NEAR = ("near", "behind", "beside")
COLOURS = ("red", "blue", "green", "black", "white", "brown", "pink", "gold")
GIRLS = ("Anna", "Mary", "Emma", "Kate")
BOYS = ("Tom", "John", "Paul", "Peter")
PLURAL = {noun: noun + "s" for noun in (*THINGS, *PLACES, *VERB)} | {"box": "boxes"}
SINGULAR = {plural: noun for noun, plural in PLURAL.items()}


def _both_numbers(nouns: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for noun in nouns for word in (noun, PLURAL[noun]))


# ---------------------------------------------------------------------------------- slots
Words = Mapping[str, str]  # the words so far, by the names of their slots
Distribution = dict[str, float]


Table = Mapping[str, Distribution]  # the words of the sources, joined by a space → distribution


@dataclass(frozen=True)
class Slot:
    """One word of a form, as data: Python and a page read the same.

    It is drawn evenly from `words`, but for those that the slots `unlike` hold, in either number;
    or, where there is a `table`, it follows from the words of the slots `sources`.
    """

    name: str = ""
    words: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    table: Table | None = None
    relation: str | None = None

    def distribution(self, said: Words) -> Distribution:
        """Return the probability of each word, given the words `said` in named slots before."""
        if self.table is not None:
            return self.table[" ".join(said[source] for source in self.sources)]
        taken = {SINGULAR.get(said[u], said[u]) for u in self.unlike if u in said}
        left = [word for word in self.words if SINGULAR.get(word, word) not in taken]
        return dict.fromkeys(left, 1 / len(left))


def _draw(name: str, words: Sequence[str], unlike: Sequence[str] = ()) -> Slot:
    return Slot(name, tuple(words), tuple(unlike))


def _rule(relation: str | None, table: Table, *sources: str, name: str = "") -> Slot:
    return Slot(name, sources=sources, table=table, relation=relation)


def _same(words: Iterable[str]) -> Table:
    return {word: {word: 1.0} for word in words}


_NOUNS = _both_numbers(THINGS)
_ANIMALS = _both_numbers(VERB)
_SHOP = {animals: {word: 0.8, "toy": 0.2} for animals, word in SHOP.items()}
_HOME = {animals: {word: 0.8, "zoo": 0.2} for animals, word in HOME.items()}
_OF_A_KEY = {"to": 0.7, "near": 0.1, "behind": 0.1, "beside": 0.1}
_TO_OR_NEAR = {
    noun: _OF_A_KEY if noun in ("key", "keys") else dict.fromkeys(NEAR, 1 / 3) for noun in _NOUNS
}
_IS_OR_ARE = {noun: {"are" if noun in SINGULAR else "is": 1.0} for noun in _NOUNS}
_SHE_OR_HE = {name: {"she" if name in GIRLS else "he": 1.0} for name in GIRLS + BOYS}
_HER_OR_HIS = {
    f"{pronoun} {name}": {possessive: 1.0}
    for pronoun, possessive in (("she", "her"), ("he", "his"))
    for name in GIRLS + BOYS
}
_VERB = {
    f"{subject} {model}": {verb if subject in SINGULAR else verb + "s": 1.0}
    for subject in _ANIMALS
    for model in _ANIMALS
    for verb in [VERB[SINGULAR.get(model, model)]]
}


# -------------------------------------------------------------------------------- grammar
# A list is a row of items: words, slots, options. A tuple is options, equally likely.
Item = str | Slot | list["Item"] | tuple["Item", ...]

_START: Item = ("The", "Today the", "This time the")
_KIND: Item = ([], _draw("", ("old", "new", "big")))


def _list(n: int) -> Item:
    names = [f"word {i}" for i in range(n)]
    first: list[Item] = [_draw(name, COLOURS, unlike=names) for name in names]
    return [
        "Say",
        *first,
        ", then say",
        *(_rule("list", _same(COLOURS), name) for name in names),
        ".",
    ]


def _recall(i: int, j: int) -> Item:
    colours, nouns = [f"colour {k}" for k in range(3)], [f"noun {k}" for k in range(3)]
    pairs: list[Item] = [
        [_draw(colours[k], COLOURS, colours), _draw(nouns[k], THINGS + PLACES, nouns)]
        for k in range(3)
    ]
    again: list[Item] = [
        [_rule(None, _same(COLOURS), colours[k]), _rule("recall", _same(THINGS + PLACES), nouns[k])]
        for k in (i, j)
    ]
    return [_draw("", ("I", "We")), _draw("", ("see", "have")), "a", pairs[0], ", a", pairs[1],
            "and a", pairs[2], ", but I like the", again[0], "and the", again[1], "."]  # fmt: skip


GRAMMAR: dict[str, tuple[float, Item]] = {  # name of the form: probability, form
    "shop": (0.12, [
        "There are so many", _KIND, _draw("animals", tuple(SHOP)), _draw("", ("I", "we")), "can",
        _draw("", ("choose", "buy", "find")), "at the", _rule("topic", _SHOP, "animals"),
        "store ."]),
    "home": (0.12, [
        _draw("", ("I", "We")), _draw("", ("love", "like", "want")), "to",
        _draw("", ("study", "watch", "draw")), _KIND, _draw("animals", tuple(HOME)),
        "that live inside a", _rule("topic", _HOME, "animals"), "."]),
    "agreement": (0.15, [
        _START, _draw("noun", _both_numbers(THINGS)),
        _rule(None, _TO_OR_NEAR, "noun", name="near"), "the",
        _draw("place", _both_numbers(PLACES)),
        ([], [_draw("", NEAR, unlike=["near"]), "the",
              _draw("", _both_numbers(PLACES), unlike=["place"])]),
        _rule("agreement", _IS_OR_ARE, "noun"),
        _draw("", ("old", "new", "lost", "broken", "here")), "."]),
    "coreference": (0.16, [
        "When", _draw("who", GIRLS + BOYS), _draw("", ("saw", "met", "called")),
        _draw("", GIRLS + BOYS, unlike=["who"]),
        ([], [_draw("", NEAR), "the", _draw("", PLACES)]), ",",
        _rule("coreference", _SHE_OR_HE, "who", name="pronoun"),
        _draw("", ("lost", "found", "sold")),
        _rule("coreference", _HER_OR_HIS, "pronoun", "who"), _draw("", THINGS), "."]),
    "recall": (0.16, tuple(_recall(i, j) for i in range(3) for j in range(3) if i != j)),
    "list": (0.12, (_list(3), _list(4), _list(5))),
    "both": (0.17, [
        _START, _KIND, _draw("subject", _both_numbers(VERB)), "that met the",
        _draw("met", _both_numbers(VERB), unlike=["subject"]),
        ([], ["and the", _draw("met too", _both_numbers(VERB), unlike=["subject", "met"])]),
        "and copied the",
        _draw("model", _both_numbers(VERB), unlike=["subject", "met", "met too"]),
        _draw("", ("now", "often", "still")), _rule("both", _VERB, "subject", "model"), "."]),
}  # fmt: skip


class Form(NamedTuple):
    """A row of slots with all options chosen, and how probable it is."""

    name: str
    probability: float
    slots: tuple[Slot, ...]


def _expand(item: Item) -> Iterator[tuple[float, tuple[Slot, ...]]]:
    """Yield every row of slots that `item` allows, with its probability."""
    if isinstance(item, str):
        yield 1.0, tuple(_draw("", (word,)) for word in item.split())
    elif isinstance(item, Slot):
        yield 1.0, (item,)
    elif isinstance(item, tuple):
        yield from ((p / len(item), row) for option in item for p, row in _expand(option))
    elif not item:
        yield 1.0, ()
    else:
        for p, row in _expand(item[0]):
            yield from ((p * q, row + rest) for q, rest in _expand(item[1:]))


FORMS = [Form(name, p * q, row) for name, (p, item) in GRAMMAR.items() for q, row in _expand(item)]


# ---------------------------------------------------------------------------------- texts
class Text(NamedTuple):
    """A sentence with its truth, word by word."""

    words: tuple[str, ...]
    relations: tuple[str | None, ...]  # the relation that decides the word
    sources: tuple[tuple[int, ...], ...]  # the positions of the words that decide it

    def __str__(self) -> str:
        return "".join(pieces(self.words))


def pieces(words: Sequence[str]) -> list[str]:
    """Return the words with the spaces between them: each piece is one token.

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
    """Draw a text; one that exercises `relation`, if it is given."""
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
    """Draw `n` texts (see `sample`); the same `seed` gives the same texts."""
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
    """Return `text`, a whole sentence, with its labels; ValueError if it is none.

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
    """How well words were predicted: mean loss in nats, share of words that came first."""

    n: int
    loss: float
    accuracy: float


def score(
    texts: Sequence[Text], losses: NDArray[np.float64], hits: NDArray[np.bool_]
) -> dict[str, Score]:
    """Average over all words but the first of each text, and over each relation's words.

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
    """Return the score of who knows the grammar: no predictor of `texts` can expect better."""
    losses, hits = [], []
    for text in texts:
        for word, (p_next, _) in list(zip(text.words, _read(text.words)))[1:]:
            losses.append(-np.log(p_next[word]))
            hits.append(max(p_next, key=p_next.__getitem__) == word)
    return score(texts, np.array(losses), np.array(hits))


# ----------------------------------------------------------------------------------- ids
def train_tokenizer(n: int = 8000, seed: int = 1) -> Tokenizer:
    """Train the course's BPE on `n` texts, until every word is one token."""
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
