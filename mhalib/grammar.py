"""The grammar of the course's language as data: words, slots, forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
