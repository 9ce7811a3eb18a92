"""Exercise of lesson 1: learning merges from words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from numpy.random import Generator

from mhalib.checks.exercise import Case, Exercise, Mistake
from mhalib.checks.exercises.lesson1_merge import Ids, Pair, merge


def train(
    words: Sequence[str],
    n_merges: int,
    *,
    order: Callable[[Counter[Pair], Pair], Any] = lambda counts, pair: (-counts[pair], pair),
    repeats: bool = True,
    recount: bool = True,
    joined: bool = False,
    encode: Callable[[str], Sequence[int]] = str.encode,
    pairs: Callable[[Ids], Any] = pairwise,
    first_id: int = 256,
    most: int = 10**6,
    least: int = 1,
) -> list[Pair]:
    texts = ["".join(words)] if joined else words if repeats else list(dict.fromkeys(words))
    pieces = [list(encode(text)) for text in texts]
    counts: Counter[Pair] = Counter()
    merges: list[Pair] = []
    while len(merges) < n_merges:
        if recount or not merges:
            counts = Counter(pair for piece in pieces for pair in pairs(piece))
        if not counts or max(counts.values()) < least:
            break
        best = min(counts, key=lambda pair: order(counts, pair))
        if not recount:
            del counts[best]
        pieces = [merge(piece, best, first_id + len(merges), most=most) for piece in pieces]
        merges.append(best)
    return merges


def draw_words(rng: Generator, i: int) -> list[str]:
    letters = ["ab", "aAb", "abné", "🦇ba"][i % 4]
    return ["".join(rng.choice(list(letters), rng.integers(0, 7))) for _ in range(i % 8)]


def _draw_train(rng: Generator, i: int) -> Case:
    words = draw_words(rng, i)
    return Case(words, i % 7, note=special(*words) or "no merge wanted" * (i % 7 == 0))


def special(*words: str) -> str:
    return "" if "".join(words).isascii() else "letters outside ASCII"


def _no_overlap(piece: Ids) -> list[Pair]:
    """Return neighbours; in a run of equal ids each id counts in one pair only."""
    found: list[Pair] = []
    i = 0
    while i < len(piece) - 1:
        found.append((piece[i], piece[i + 1]))
        i += 2 if piece[i : i + 3] == [piece[i]] * 3 else 1
    return found


train_bpe = Exercise(
    "train_bpe(words, n_merges)",
    (1, "Byte-pair encoding by hand"),
    train,
    cases=(
        Case(["at", "at", "bc"], 1),
        Case(["bat", "bat", "cat"], 2),
        Case(["zy", "ab"], 1),
        Case(["ab"], 5),
        Case(["zy", "ab", "zy", "ab", "cd"], 3),
        Case(["ab", "ab", "cd", "ef", "ef", "ef"], 2),
        Case(["hug", "pug", "pun", "bun", "hugs", "hugs"], 5),
        Case(["ba", "na", "na", "banana"], 4),
        Case(["abab", "ab", "bc", "bc", "bc", "cab"], 2),
        Case(["At", "at", "AT", "At"], 2),
        Case([" cat", " at", "at"], 3),
        Case(["bat", "bat", "cat"], 1),
        Case([], 2),
        Case(["ab"], 0, note="no merge wanted"),
        Case(["é", "è"], 1, note="letters outside ASCII"),
    ),
    draw=_draw_train,
    mistakes=(
        Mistake(
            "pairs counted once",
            "All pairs were counted at the start and never again. After each merge there are "
            "new pairs, with the new id in them, and old ones that are gone.",
            lambda words, n: train(words, n, recount=False),
        ),
        Mistake(
            "repeated words not counted",
            "A word that occurs three times brings its pairs three times.",
            lambda words, n: train(words, n, repeats=False),
        ),
        Mistake(
            "pairs across words",
            "The words were glued together, so the last letter of one forms a pair with the "
            "first of the next.",
            lambda words, n: train(words, n, joined=True),
        ),
        Mistake(
            "ties broken by what was seen first",
            "Among pairs with the same count the smallest pair of ids comes first. Otherwise "
            "the merges depend on the order of the corpus.",
            lambda words, n: train(words, n, order=lambda counts, pair: -counts[pair]),
        ),
        Mistake(
            "ties broken by the largest pair",
            "Among pairs with the same count the smallest pair of ids comes first; this takes "
            "the largest.",
            lambda words, n: train(
                words, n, order=lambda counts, pair: (-counts[pair], -pair[0], -pair[1])
            ),
        ),
        Mistake(
            "rarest pair first",
            "The pair with the smallest count was merged. The most frequent one saves the most "
            "tokens.",
            lambda words, n: train(words, n, order=lambda counts, pair: (counts[pair], pair)),
        ),
        Mistake(
            "each word counts a pair once",
            "A pair that stands twice in one word counts twice.",
            lambda words, n: train(words, n, pairs=lambda piece: set(pairwise(piece))),
        ),
        Mistake(
            "in a run of equal ids, pairs left out",
            "In three equal ids the pair of neighbours stands twice, and counts twice. (Only when "
            "it is merged may its places not overlap.)",
            lambda words, n: train(words, n, pairs=_no_overlap),
        ),
        Mistake(
            "characters instead of bytes",
            "The ids start from the bytes of the words in UTF-8. Outside ASCII a character has "
            "several.",
            lambda words, n: train(words, n, encode=lambda word: [ord(c) for c in word]),
            "letters outside ASCII",
        ),
        Mistake(
            "one merge where none was asked for",
            "With n_merges = 0 the list is empty.",
            lambda words, n: train(words, max(n, 1)),
            "n_merges = 0",
        ),
        Mistake(
            "one merge too many",
            "n_merges merges were asked for; here there is one more.",
            lambda words, n: train(words, n + 1),
        ),
        Mistake(
            "one merge too few",
            "n_merges merges were asked for; here there is one fewer.",
            lambda words, n: train(words, n - 1),
        ),
        Mistake(
            "new ids do not start at 256",
            "The bytes have the ids 0 to 255, so the first new id is 256. Here they start at 257.",
            lambda words, n: train(words, n, first_id=257),
        ),
        Mistake(
            "new ids do not start at 256",
            "The bytes have the ids 0 to 255, so the first new id is 256. Here they start at 255.",
            lambda words, n: train(words, n, first_id=255),
        ),
        Mistake(
            "new ids do not start at 256",
            "The bytes have the ids 0 to 255, so the first new id is 256. Here they start at 0.",
            lambda words, n: train(words, n, first_id=0),
        ),
        Mistake(
            "stopped at pairs that occur once",
            "Training stops when no pair is left, not when no pair occurs twice.",
            lambda words, n: train(words, n, least=2),
        ),
        Mistake(
            "only the first place in a word merged",
            "A merge applies to every place of its pair, also twice in one word.",
            lambda words, n: train(words, n, most=1),
        ),
        Mistake(
            "the merge is not applied",
            "The best pair was noted, but the words were left as they are. So it is the best "
            "again, and there are no pairs with new ids.",
            lambda words, n: train(words, n, most=0),
        ),
        Mistake(
            "ties broken by what was seen last",
            "Among pairs with the same count the smallest pair of ids comes first; this takes the "
            "one that was met last.",
            lambda words, n: train(words, n, order=lambda c, p: (-c[p], -list(c).index(p))),
        ),
        Mistake(
            "the space before a word taken away",
            "A space is a byte like any other, and part of its word.",
            lambda words, n: train([word.strip() for word in words], n),
        ),
        *(
            Mistake(
                "letters made lowercase or uppercase",
                "A and a are different bytes: take the words as they are.",
                lambda words, n, change=change: train([change(word) for word in words], n),
            )
            for change in (str.lower, str.upper)
        ),
    ),
    returns="pairs",
)


EXERCISES = (train_bpe,)
