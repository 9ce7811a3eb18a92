"""Exercise of lesson 1: merging one pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numpy.random import Generator

from mhalib import tokenizer
from mhalib.checks.exercise import Case, Exercise, Mistake

Ids = list[int]
Pair = tuple[int, int]


def merge(ids: Sequence[int], pair: Pair, new_id: int, step: int = 2, most: int = 10**6) -> Ids:
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
    return merge(ids[::-1], pair[::-1], new_id)[::-1]


def _draw_merge(rng: Generator, i: int) -> Case:
    known = [(7, 97), (97, 256, 7), (255, 256, 1000, 0), (1, 11, 21)][i % 4]
    ids = [int(new) for new in rng.choice(known, size=i)]
    a, b = (int(new) for new in rng.choice(known, size=2))
    return Case(ids, (a, b), 300 + i)


def _ends(ids: Sequence[int], pair: Pair) -> int:
    """Return 1 if the last id is not part of a merged pair."""
    return int(bool(ids) and merge(ids, pair, -2)[-1] != -2)


def _kept_beside(ids: Sequence[int], pair: Pair, new_id: int) -> Ids:
    return [j for i in merge(ids, pair, new_id) for j in ([i, *pair] if i == new_id else [i])]


def _second_stays(ids: Sequence[int], pair: Pair, new_id: int) -> Ids:
    return [j for i in merge(ids, pair, new_id) for j in ([i, pair[1]] if i == new_id else [i])]


def _in_text(ids: Sequence[int], pair: Pair, new_id: int) -> Ids:
    text = " ".join(map(str, ids)).replace(f"{pair[0]} {pair[1]}", str(new_id))
    return [int(i) for i in text.split()]


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
            lambda ids, pair, new_id: merge(ids, pair, new_id, most=1),
        ),
        *(
            Mistake(
                "overlapping pairs",
                "After a merge the second id of the pair is used up. It may not take part in the "
                "next one, or be written again.",
                lambda ids, pair, new_id, left=left: _overlapping(ids, pair, new_id, left),
            )
            for left in (lambda at_end: 0, lambda at_end: 1, int)
        ),
        Mistake(
            "overlapping pairs",
            "After a merge the second id of the pair is used up. It may not take part in the next "
            "one: of three equal ids the third stays.",
            lambda ids, pair, new_id: _all_at_once(ids, pair, new_id),
        ),
        Mistake(
            "the last id written twice",
            "The last id was added at the end in any case. If it belongs to a merged pair, it is "
            "used up.",
            lambda ids, pair, new_id: merge(ids, pair, new_id) + [ids[-1]] * (1 - _ends(ids, pair)),
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
            lambda ids, pair, new_id: merge([*ids, -1], pair, new_id)[: -1 - _ends(ids, pair)],
        ),
        Mistake(
            "a pair at the end is not merged",
            "The walk stops too early: the last two ids can be the pair, too.",
            lambda ids, pair, new_id: merge(ids[:-1], pair, new_id) + list(ids[-1:]),
        ),
        Mistake(
            "each id of the pair replaced",
            "The two ids become new only where they stand side by side, and both together are one.",
            lambda ids, pair, new_id: [new_id if i in pair else i for i in ids],
        ),
        Mistake(
            "the pair deleted",
            "Where the pair stood there must be the new id.",
            lambda ids, pair, new_id: [i for i in merge(ids, pair, new_id) if i != new_id],
        ),
        Mistake(
            "the pair kept beside the new id",
            "The new id takes the place of the pair. The two old ids go.",
            lambda ids, pair, new_id: _kept_beside(ids, pair, new_id),
        ),
        Mistake(
            "the id after a pair is lost",
            "After a merge the walk went on by three. It has used up two ids.",
            lambda ids, pair, new_id: merge(ids, pair, new_id, step=3),
        ),
        Mistake(
            "the second id of the pair stays",
            "The new id takes the place of both.",
            lambda ids, pair, new_id: _second_stays(ids, pair, new_id),
        ),
        Mistake(
            "digits replaced in a text",
            "The ids were written side by side, and a part of a longer number was taken for one of "
            "them. Compare ids, not digits.",
            lambda ids, pair, new_id: _in_text(ids, pair, new_id),
        ),
    ),
    returns="ids",
)


def _overlapping(ids: Sequence[int], pair: Pair, new_id: int, left: Callable[[bool], int]) -> Ids:
    """Go on by one id after a merge, too; `left` tells how many are left out at the end."""
    merged = merge(ids, pair, new_id, step=1)
    return merged[: len(merged) - left(tuple(ids[-2:]) == pair)]


def _all_at_once(ids: Sequence[int], pair: Pair, new_id: int) -> Ids:
    """Put the new id wherever a pair begins, and take away each id after such a place."""
    starts = [tuple(ids[i : i + 2]) == pair for i in range(len(ids))]
    return [new_id if starts[i] else old for i, old in enumerate(ids) if not (i and starts[i - 1])]


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


EXERCISES = (merge_pair,)
