"""Exercise of lesson 1: encoding a word with byte pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from numpy.random import Generator

from mhalib import tokenizer
from mhalib.checks.exercise import Case, Exercise, Mistake
from mhalib.checks.exercises.lesson1_merge import Ids, Pair, merge
from mhalib.checks.exercises.lesson1_train import draw_words, special, train


def _encode(
    word: str,
    merges: Sequence[Pair],
    choose: Callable[[list[int]], int],
    most: int = 99,
    stop: bool = False,
) -> Ids:
    rank = {pair: r for r, pair in enumerate(merges)}
    ids = list(word.encode())
    while known := [rank[pair] for pair in pairwise(ids) if pair in rank]:
        r = choose(known)
        if stop and r == 0:
            break
        ids = merge(ids, merges[r], 256 + r, most=most)
    return ids


def _once(word: str, merges: Sequence[Pair]) -> Ids:
    ids = list(word.encode())
    for r, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + r, most=1)
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


def _draw_encode(rng: Generator, i: int) -> Case:
    merges = train(draw_words(rng, 8 * i + i % 4 + 7), 1 + i % 7)
    word = "".join(draw_words(rng, 8 * (i % 4) + i % 4 + 2))[: 1 + i % 11]
    return Case(word, merges, note=special(word))


def _ranked(word: str, merges: Sequence[Pair], first_id: int, back: bool = False) -> Ids:
    ids = list(word.encode())
    steps = list(enumerate(merges))
    for r, pair in reversed(steps) if back else steps:
        ids = merge(ids, pair, first_id + r)
    return ids


def _stopped_at_a_gap(word: str, merges: Sequence[Pair]) -> Ids:
    ids = list(word.encode())
    for r, pair in enumerate(merges):
        if pair not in pairwise(ids):
            break
        ids = merge(ids, pair, 256 + r)
    return ids


def _one_walk(word: str, merges: Sequence[Pair]) -> Ids:
    rank = {pair: r for r, pair in enumerate(merges)}
    ids, walked = list(word.encode()), []
    while ids:
        r = rank.get((ids[0], ids[1])) if len(ids) > 1 else None
        walked.append(ids[0] if r is None else 256 + r)
        ids = ids[1 if r is None else 2 :]
    return walked


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
        Case("abcabc", [(98, 99), (97, 98), (97, 256)]),
        Case("aab", [(97, 97), (97, 98), (256, 98)]),
        Case("aB", [(97, 98)]),
        Case(" a", [(32, 97)]),
        Case("", [(97, 98)], note="no letters"),
        Case("é", [(0xC3, 0xA9)], note="letters outside ASCII"),
        Case("né🦇", [(110, 0xC3), (0xA6, 0x87)], note="letters outside ASCII"),
    ),
    draw=_draw_encode,
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
        Mistake(
            "no pair was ever found",
            "These are the bytes: nothing was merged. Compare like with like: a list is never "
            "equal to a tuple.",
            lambda word, merges: list(word.encode()),
        ),
        Mistake(
            "ranks instead of ids",
            "The id of a merge is 256 + its rank: the bytes have the ids 0 to 255.",
            lambda word, merges: _ranked(word, merges, 0),
        ),
        Mistake(
            "new ids do not start at 256",
            "The id of a merge is 256 + its rank, and the first rank is 0. Here ids start at 257.",
            lambda word, merges: _ranked(word, merges, 257),
        ),
        Mistake(
            "merges in reverse order",
            "The merge that was learned first goes first.",
            lambda word, merges: _ranked(word, merges, 256, back=True),
        ),
        Mistake(
            "stopped at a merge that is not there",
            "The pair of a merge need not stand in the word. Go on with the next merge.",
            _stopped_at_a_gap,
        ),
        Mistake(
            "one walk through the word",
            "Pairs were looked for once, in the bytes. A merge makes new pairs: look again, until "
            "no pair has a rank.",
            _one_walk,
        ),
        Mistake(
            "rank 0 taken for no rank",
            "The first merge has rank 0, and 0 counts as False: ask whether the rank is None.",
            lambda word, merges: _encode(word, merges, min, stop=True),
        ),
        Mistake(
            "merges sorted",
            "The merges were put in the order of their ids. They come in the order in which they "
            "were learned, and that order is their rank.",
            lambda word, merges: _ranked(word, sorted(merges), 256),
        ),
        Mistake(
            "stopped after one merge",
            "After a merge there are new pairs. Look again, until no pair has a rank.",
            lambda word, merges: _stopped_after_one(word, merges),
        ),
    ),
    returns="ids",
)


def _stopped_after_one(word: str, merges: Sequence[Pair]) -> Ids:
    ids = list(word.encode())
    ranks = [r for r, pair in enumerate(merges) if pair in pairwise(ids)]
    return merge(ids, merges[ranks[0]], 256 + ranks[0]) if ranks else ids


def _encode_points(word: str, merges: Sequence[Pair]) -> Ids:
    ids = [ord(character) for character in word]
    for r, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + r)
    return ids


EXERCISES = (bpe_encode,)
