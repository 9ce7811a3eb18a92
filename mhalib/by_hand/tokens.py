"""The problems of chapters 1 and 2: one merge, one row of what enters the first layer."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.random import Generator

import mhalib
from mhalib.by_hand.problem import Grid, Mistake, Rung, Values, number
from mhalib.tokenizer import merge_pair

# ----------------------------------------------------------------------------- one BPE merge
WORDS = ("bat", "cat", "hat", "rat", "bad", "bag", "tab", "cab", "cap", "tap", "map", "mat",
         "bath", "cats", "hats", "batch")  # fmt: skip


def draw_words(rng: Generator) -> Values:
    while True:
        words = tuple(map(str, rng.choice(WORDS, 3, replace=False)))
        times = tuple(map(int, rng.integers(1, 6, 3)))
        seen = counts(words, times)
        if list(seen.values()).count(max(seen.values())) == 1 and len(seen) <= 6:
            return {"words": words, "times": times}


def counts(words: tuple[str, ...], times: tuple[int, ...]) -> Counter[str]:
    """How often each pair of neighbours is seen, in the order of its first place."""
    seen: Counter[str] = Counter()
    for word, count in zip(words, times, strict=True):
        for a, b in pairwise(word):
            seen[a + b] += count
    return seen


def merged(words: tuple[str, ...], pair: str) -> list[list[str]]:
    ids = [merge_pair(list(word.encode()), (ord(pair[0]), ord(pair[1])), 256) for word in words]
    return [[" ".join(pair if i == 256 else chr(i) for i in word)] for word in ids]


def learned(words: tuple[str, ...], times: tuple[int, ...]) -> Values:
    """What the library learns first from a text of these words."""
    text = "\n".join("\n".join([word] * count) for word, count in zip(words, times, strict=True))
    pair = bytes(mhalib.train_bpe(text, 1)[0]).decode()
    return {
        "seen": [[count] for count in counts(words, times).values()],
        "first merge": [[pair]],
        "after it": merged(words, pair),
    }


def first_pair(m: Values) -> Values:
    pair = m["words"][0][:2]
    return {"first merge": [[pair]], "after it": merged(m["words"], pair)}


def one_word(m: Values) -> Values:
    right = learned(m["words"], m["times"])
    pair, done, after = right["first merge"][0][0], False, []
    for word in m["words"]:
        after += [[" ".join(word)]] if done else merged((word,), pair)
        done = done or pair in word
    return {"after it": after}


def pair_steps(m: Values) -> Values:
    right = learned(m["words"], m["times"])
    per_word = [counts((w,), (t,)) for w, t in zip(m["words"], m["times"], strict=True)]
    return {
        "seen": [[" + ".join(str(c[p]) for c in per_word if c[p])]
                 for p in counts(m["words"], m["times"])],
        "first merge": [["the pair seen most often"]],
        "after it": [[f"“{right['first merge'][0][0]}” as one piece, wherever it stands"]]
        * len(m["words"]),
    }  # fmt: skip


MERGE = Rung(
    "merge",
    "One BPE merge",
    "Count the pairs of neighbours, name the merge that is learned first, cut the words anew.",
    "01-tokenization",
    draw_words,
    lambda m: [
        Grid("corpus", tuple(" ".join(word) for word in m["words"]), ("times",),
             [[t] for t in m["times"]]),
        Grid("seen", tuple(" ".join(p) for p in counts(m["words"], m["times"])), ("times",),
             formula="each word that holds the pair counts as often as it stands in the corpus"),
        Grid("first merge", (), ("pair",), formula="the pair seen most often"),
        Grid("after it", tuple(m["words"]), ("pieces",),
             formula="the pair is one piece now; a space between pieces"),
    ],
    lambda m: learned(m["words"], m["times"]),
    pair_steps,
    (
        Mistake("each word counted once",
                "Each word was counted once. It counts as often as it stands in the corpus.",
                lambda m: learned(m["words"], (1, 1, 1))),
        Mistake("merged from left to right",
                "That is the first pair from the left. The pair seen most often is merged first.",
                first_pair),
        Mistake("merged in one word only",
                "The pair is merged wherever it stands, in every word.", one_word),
    ),
)  # fmt: skip

# ------------------------------------------------------------------------------ an input row
D = 4  # d_model, so that √d_model is a whole number
PLACES = mhalib.sinusoidal_positions(3, D)
FEATURES = tuple(map(str, range(D)))


def draw_input(rng: Generator) -> Values:
    ids = rng.permutation(3)
    return {"E": rng.integers(-2, 4, (3, D)).astype(float), "ids": ids,
            "at": int(rng.integers(0, 2))}  # fmt: skip


def entered(m: Values) -> Values:
    X = mhalib.embed(m["ids"], m["E"]) + PLACES
    return {"x": X[[m["at"]]]}


def row_of(m: Values) -> np.ndarray:
    row: np.ndarray = m["E"][[m["ids"][m["at"]]]]
    return row


INPUT = Rung(
    "input",
    "One row of X",
    "What enters the first layer at the position named below? `d_model` = 4, so √`d_model` = 2; "
    "positions count from 0.",
    "02-embedding",
    draw_input,
    lambda m: [
        Grid("ids of the text", (), tuple(f"position {i}" for i in range(3)), m["ids"][None]),
        Grid("E", tuple(f"id {i}" for i in range(3)), FEATURES, m["E"]),
        Grid("positional code", tuple(f"position {i}" for i in range(3)), FEATURES,
             PLACES.round(2)),
        Grid("x", (f"position {m['at']}",), FEATURES, within=0.02,
             formula="row of E of the id × √`d_model` + code of the position"),
    ],
    entered,
    lambda m: {"x": [[f"2·{number(e)} + {number(p)}"
                      for e, p in zip(row_of(m)[0], PLACES[m["at"]], strict=True)]]},
    (
        Mistake("no ×√`d_model`", "The row of E is multiplied by √`d_model` first.",
                lambda m: {"x": row_of(m) + PLACES[m["at"]]}),
        Mistake("code multiplied, too", "Only the row of E is multiplied by √`d_model`.",
                lambda m: {"x": (row_of(m) + PLACES[m["at"]]) * 2}),
        Mistake("no position", "The code of the position is missing.",
                lambda m: {"x": row_of(m) * 2}),
        Mistake("row of the position",
                "The row of E at the position was used. Take that of the id.",
                lambda m: {"x": m["E"][[m["at"]]] * 2 + PLACES[m["at"]]}),
        Mistake("positions from 1", "Positions count from 0.",
                lambda m: {"x": row_of(m) * 2 + PLACES[m["at"] + 1]}),
    ),
)  # fmt: skip
