"""Exercises of lesson 1: merging, training and encoding with byte pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from numpy.random import Generator

from mhalib import tokenizer
from mhalib.checks.exercise import Case, Exercise, Mistake

Ids = list[int]
Pair = tuple[int, int]


def _merge(ids: Sequence[int], pair: Pair, new_id: int, step: int = 2, most: int = 10**6) -> Ids:
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


def _draw_merge(rng: Generator, i: int) -> Case:
    known = [(7, 97), (97, 256, 7), (255, 256, 1000, 0)][i % 3]
    ids = [int(new) for new in rng.choice(known, size=i)]
    a, b = (int(new) for new in rng.choice(known, size=2))
    return Case(ids, (a, b), 300 + i)


def _ends(ids: Sequence[int], pair: Pair) -> int:
    """Return 1 if the last id is not part of a merged pair."""
    return int(bool(ids) and _merge(ids, pair, -2)[-1] != -2)


def _kept_beside(ids: Sequence[int], pair: Pair, new_id: int) -> Ids:
    return [j for i in _merge(ids, pair, new_id) for j in ([i, *pair] if i == new_id else [i])]


def _second_stays(ids: Sequence[int], pair: Pair, new_id: int) -> Ids:
    return [j for i in _merge(ids, pair, new_id) for j in ([i, pair[1]] if i == new_id else [i])]


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
    draw=_draw_merge,
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
        Mistake(
            "the pair was never found",
            "The pair is there, and nothing was replaced. Compare like with like: a list is never "
            "equal to a tuple.",
            lambda ids, pair, new_id: list(ids),
        ),
        Mistake(
            "the last id is lost",
            "An id that has no neighbour to its right was left out. It belongs to the result too.",
            lambda ids, pair, new_id: _merge([*ids, -1], pair, new_id)[: -1 - _ends(ids, pair)],
        ),
        Mistake(
            "a pair at the end is left",
            "The walk stops too early: the last two ids can be the pair, too.",
            lambda ids, pair, new_id: _merge(ids[:-1], pair, new_id) + list(ids[-1:]),
        ),
        Mistake(
            "each id of the pair replaced",
            "The two ids become new only where they stand side by side, and both together are one.",
            lambda ids, pair, new_id: [new_id if i in pair else i for i in ids],
        ),
        Mistake(
            "the pair deleted",
            "Where the pair stood there must be the new id.",
            lambda ids, pair, new_id: [i for i in _merge(ids, pair, new_id) if i != new_id],
        ),
        Mistake(
            "the pair kept beside the new id",
            "The new id takes the place of the pair. The two old ids go.",
            lambda ids, pair, new_id: _kept_beside(ids, pair, new_id),
        ),
        Mistake(
            "the id after a pair is lost",
            "After a merge the walk went on by three. It has used up two ids.",
            lambda ids, pair, new_id: _merge(ids, pair, new_id, step=3),
        ),
        Mistake(
            "the second id of the pair stays",
            "The new id takes the place of both.",
            lambda ids, pair, new_id: _second_stays(ids, pair, new_id),
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
        pieces = [_merge(piece, best, first_id + len(merges), most=most) for piece in pieces]
        merges.append(best)
    return merges


def _draw_words(rng: Generator, i: int) -> list[str]:
    letters = ["ab", "abc", "abné", "🦇ba"][i % 4]
    return ["".join(rng.choice(list(letters), rng.integers(0, 7))) for _ in range(i % 8)]


def _draw_train(rng: Generator, i: int) -> Case:
    words = _draw_words(rng, i)
    return Case(words, i % 7, note=_special(*words) or "no merge wanted" * (i % 7 == 0))


def _special(*words: str) -> str:
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
        Case(["abab", "ab", "bc", "bc", "bc", "cab"], 2),
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
        Mistake(
            "each word counts a pair once",
            "A pair that stands twice in one word counts twice.",
            lambda words, n: _train(words, n, pairs=lambda piece: set(pairwise(piece))),
        ),
        Mistake(
            "in a run of equal ids, pairs left out",
            "In three equal ids the pair of neighbours stands twice, and counts twice. (Only when "
            "it is merged may its places not overlap.)",
            lambda words, n: _train(words, n, pairs=_no_overlap),
        ),
        Mistake(
            "characters instead of bytes",
            "The ids start from the bytes of the words in UTF-8. Outside ASCII a character has "
            "several.",
            lambda words, n: _train(words, n, encode=lambda word: [ord(c) for c in word]),
            "letters outside ASCII",
        ),
        Mistake(
            "one merge where none was asked for",
            "With n_merges = 0 the list is empty.",
            lambda words, n: _train(words, max(n, 1)),
            "n_merges = 0",
        ),
        Mistake(
            "one merge too many",
            "n_merges merges were asked for; here there is one more.",
            lambda words, n: _train(words, n + 1),
        ),
        Mistake(
            "one merge too few",
            "n_merges merges were asked for; here there is one less.",
            lambda words, n: _train(words, n - 1),
        ),
        Mistake(
            "new ids not from 256",
            "The bytes have the ids 0 to 255, so the first new id is 256. Here they start at 257.",
            lambda words, n: _train(words, n, first_id=257),
        ),
        Mistake(
            "new ids not from 256",
            "The bytes have the ids 0 to 255, so the first new id is 256. Here they start at 255.",
            lambda words, n: _train(words, n, first_id=255),
        ),
        Mistake(
            "new ids not from 256",
            "The bytes have the ids 0 to 255, so the first new id is 256. Here they start at 0.",
            lambda words, n: _train(words, n, first_id=0),
        ),
        Mistake(
            "stopped at pairs that occur once",
            "Training stops when no pair is left, not when no pair occurs twice.",
            lambda words, n: _train(words, n, least=2),
        ),
        Mistake(
            "only the first place in a word merged",
            "A merge applies to every place of its pair, also twice in one word.",
            lambda words, n: _train(words, n, most=1),
        ),
        Mistake(
            "the merge is not applied",
            "The best pair was noted, but the words were left as they are. So it is the best "
            "again, and there are no pairs with new ids.",
            lambda words, n: _train(words, n, most=0),
        ),
        Mistake(
            "ties by last seen",
            "Among pairs with the same count the smallest pair of ids comes first; this takes the "
            "one that was met last.",
            lambda words, n: _train(words, n, order=lambda c, p: (-c[p], -list(c).index(p))),
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


def _draw_encode(rng: Generator, i: int) -> Case:
    merges = _train(_draw_words(rng, 8 * i + i % 4 + 7), 1 + i % 7)
    word = "".join(_draw_words(rng, 8 * (i % 4) + i % 4 + 2))[: 1 + i % 11]
    return Case(word, merges, note=_special(word))


def _ranked(word: str, merges: Sequence[Pair], first_id: int, back: bool = False) -> Ids:
    ids = list(word.encode())
    steps = list(enumerate(merges))
    for r, pair in reversed(steps) if back else steps:
        ids = _merge(ids, pair, first_id + r)
    return ids


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
            "new ids not from 256",
            "The id of a merge is 256 + its rank, and the first rank is 0. Here ids start at 257.",
            lambda word, merges: _ranked(word, merges, 257),
        ),
        Mistake(
            "merges in reverse order",
            "The merge that was learned first goes first.",
            lambda word, merges: _ranked(word, merges, 256, back=True),
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
    return _merge(ids, merges[ranks[0]], 256 + ranks[0]) if ranks else ids


def _encode_points(word: str, merges: Sequence[Pair]) -> Ids:
    ids = [ord(character) for character in word]
    for r, pair in enumerate(merges):
        ids = _merge(ids, pair, 256 + r)
    return ids


EXERCISES = (merge_pair, train_bpe, bpe_encode)
