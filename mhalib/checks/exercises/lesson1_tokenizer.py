"""Exercises of lesson 1: merging, training and encoding with byte pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from mhalib import tokenizer
from mhalib.checks.exercise import Case, Exercise, Mistake

Ids = list[int]
Pair = tuple[int, int]


def _merge(ids: Sequence[int], pair: Pair, new_id: int, step: int = 2, most: int = 99) -> Ids:
    merged: Ids = []
    i = done = 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair and done < most:
            merged.append(new_id)
            i, done = i + step, done + 1
        else:
            merged.append(ids[i])
            i += 1
    return merged


def _merge_from_the_right(ids: Sequence[int], pair: Pair, new_id: int) -> Ids:
    return _merge(ids[::-1], pair[::-1], new_id)[::-1]


merge_pair = Exercise(
    "merge_pair(ids, pair, new_id)",
    (1, "Byte-pair encoding by hand"),
    tokenizer.merge_pair,
    cases=(
        Case([1, 2, 3], (1, 2), 9),
        Case([1, 2, 1, 2], (1, 2), 9),
        Case([1, 1, 1], (1, 1), 9),
        Case([2, 1], (1, 2), 9),
        Case([], (1, 2), 9),
        Case([5, 1, 2, 2, 1, 2, 1], (1, 2), 9),
    ),
    mistakes=(
        Mistake(
            "only the first pair replaced",
            "The pair occurs again further on, and each occurrence has to become the new id.",
            lambda ids, pair, new_id: _merge(ids, pair, new_id, most=1),
        ),
        Mistake(
            "overlapping pairs",
            "After a merge the second id of the pair is used up. It may not take part in the "
            "next one, or be written again.",
            lambda ids, pair, new_id: _merge(ids, pair, new_id, step=1),
        ),
        Mistake(
            "replaced from the right",
            "Three equal ids hold the pair twice, overlapping. Read from the left, as everybody"
            " does: the first two become one.",
            _merge_from_the_right,
        ),
        Mistake(
            "order of the pair ignored",
            "(1, 2) and (2, 1) are two different pairs.",
            lambda ids, pair, new_id: _either_order(ids, pair, new_id),
        ),
    ),
    returns="ids",
)


def _either_order(ids: Sequence[int], pair: Pair, new_id: int) -> Ids:
    merged: Ids = []
    i = 0
    while i < len(ids):
        if sorted(ids[i : i + 2]) == sorted(pair):
            merged.append(new_id)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def _train(
    words: Sequence[str],
    n_merges: int,
    *,
    order: Callable[[Counter[Pair], Pair], Any] = lambda counts, pair: (-counts[pair], pair),
    repeats: bool = True,
    recount: bool = True,
    joined: bool = False,
) -> list[Pair]:
    texts = ["".join(words)] if joined else words if repeats else list(dict.fromkeys(words))
    pieces = [list(text.encode()) for text in texts]
    counts: Counter[Pair] = Counter()
    merges: list[Pair] = []
    while len(merges) < n_merges:
        if recount or not merges:
            counts = Counter(pair for piece in pieces for pair in pairwise(piece))
        if not counts:
            break
        best = min(counts, key=lambda pair: order(counts, pair))
        if not recount:
            del counts[best]
        pieces = [_merge(piece, best, 256 + len(merges)) for piece in pieces]
        merges.append(best)
    return merges


train_bpe = Exercise(
    "train_bpe(words, n_merges)",
    (1, "Byte-pair encoding by hand"),
    _train,
    cases=(
        Case(["at", "at", "bc"], 1),
        Case(["bat", "bat", "cat"], 2),
        Case(["zy", "ab"], 1),
        Case(["ab"], 5),
        Case(["zy", "ab", "zy", "ab", "cd"], 3),
        Case(["ab", "ab", "cd", "ef", "ef", "ef"], 2),
        Case(["hug", "pug", "pun", "bun", "hugs", "hugs"], 5),
        Case(["ba", "na", "na", "banana"], 4),
    ),
    mistakes=(
        Mistake(
            "pairs counted once",
            "All pairs were counted at the start and never again. After each merge there are "
            "new pairs, with the new id in them, and old ones that are gone.",
            lambda words, n: _train(words, n, recount=False),
        ),
        Mistake(
            "repeated words not counted",
            "A word that occurs three times brings its pairs three times.",
            lambda words, n: _train(words, n, repeats=False),
        ),
        Mistake(
            "pairs across words",
            "The words were glued together, so the last letter of one forms a pair with the "
            "first of the next.",
            lambda words, n: _train(words, n, joined=True),
        ),
        Mistake(
            "ties by first seen",
            "Among pairs with the same count the smallest pair of ids comes first. Otherwise "
            "the merges depend on the order of the corpus.",
            lambda words, n: _train(words, n, order=lambda counts, pair: -counts[pair]),
        ),
        Mistake(
            "ties by largest pair",
            "Among pairs with the same count the smallest pair of ids comes first; this takes "
            "the largest.",
            lambda words, n: _train(
                words, n, order=lambda counts, pair: (-counts[pair], -pair[0], -pair[1])
            ),
        ),
        Mistake(
            "rarest pair first",
            "The pair with the smallest count was merged. The most frequent one saves the most "
            "tokens.",
            lambda words, n: _train(words, n, order=lambda counts, pair: (counts[pair], pair)),
        ),
    ),
    returns="pairs",
)


def _encode(
    word: str, merges: Sequence[Pair], choose: Callable[[list[int]], int], most: int = 99
) -> Ids:
    rank = {pair: r for r, pair in enumerate(merges)}
    ids = list(word.encode())
    while known := [rank[pair] for pair in pairwise(ids) if pair in rank]:
        r = choose(known)
        ids = _merge(ids, merges[r], 256 + r, most=most)
    return ids


def _once(word: str, merges: Sequence[Pair]) -> Ids:
    ids = list(word.encode())
    for r, pair in enumerate(merges):
        ids = _merge(ids, pair, 256 + r, most=1)
    return ids


def _greedy(word: str, merges: Sequence[Pair]) -> Ids:
    """Take from the left the longest token there is."""
    vocab = tokenizer.Tokenizer(merges).vocab
    data, ids = word.encode(), []
    while data:
        best = max(
            (i for i, t in enumerate(vocab) if data.startswith(t)), key=lambda i: len(vocab[i])
        )
        ids.append(best)
        data = data[len(vocab[best]) :]
    return ids


_RANKED = [(98, 99), (97, 98)]
_BANANA = [(97, 110), (98, 256), (97, 256), (257, 256)]

bpe_encode = Exercise(
    "bpe_encode(word, merges)",
    (1, "Encoding: the same merges, in the same order"),
    lambda word, merges: _encode(word, merges, min),
    cases=(
        Case("ab", []),
        Case("ab", [(97, 98)]),
        Case("abc", _RANKED),
        Case("abab", [(97, 98)]),
        Case("banana", _BANANA),
        Case("é", [(0xC3, 0xA9)]),
        Case("abcabc", [(98, 99), (97, 98), (97, 256)]),
        Case("aab", [(97, 97), (97, 98), (256, 98)]),
    ),
    mistakes=(
        Mistake(
            "merged greedily from the left",
            "The first pair from the left that has a merge was joined. The merge that was "
            'learned first (lowest rank) goes first, wherever it stands: in "abc" that is (b, '
            "c).",
            lambda word, merges: _encode(word, merges, lambda known: known[0], most=1),
        ),
        Mistake(
            "longest token first",
            "The longest token that fits was cut off from the left. Byte-pair encoding replays "
            "the merges in the order in which they were learned, which can end elsewhere.",
            _greedy,
        ),
        Mistake(
            "highest rank first",
            "The merge that was learned last went first. Ranks count from 0: the lowest was "
            "learned first.",
            lambda word, merges: _encode(word, merges, max),
        ),
        Mistake(
            "each merge applied once",
            "A merge applies to every place where its pair stands, not only to the first.",
            _once,
        ),
        Mistake(
            "characters instead of bytes",
            "The ids start from the bytes of the word in UTF-8. Outside ASCII a character has "
            "several.",
            lambda word, merges: _encode_points(word, merges),
        ),
    ),
    returns="ids",
)


def _encode_points(word: str, merges: Sequence[Pair]) -> Ids:
    ids = [ord(character) for character in word]
    for r, pair in enumerate(merges):
        ids = _merge(ids, pair, 256 + r)
    return ids


EXERCISES = (merge_pair, train_bpe, bpe_encode)
