"""Attention by hand: problems for pencil and paper, with the right answers from the library and
every known mistake by its name. The page "By hand" and the worksheets are made of them.

>>> from itertools import islice
>>> first, second = islice(RUNGS["score"].problems(), 2)
>>> len(first.right), len(first.wrong)
(1, 3)
"""

from mhalib.by_hand.attention import HEAD, MASK, SCORE, SCORES, SOFTMAX
from mhalib.by_hand.layers import LOSS, NORM, SPLIT
from mhalib.by_hand.problem import Grid, Mistake, Problem, Rung
from mhalib.by_hand.tokens import INPUT, MERGE

RUNGS = {
    rung.name: rung
    for rung in (MERGE, INPUT, SCORE, SCORES, SOFTMAX, MASK, HEAD, SPLIT, NORM, LOSS)
}
"""Every kind of problem, in the order of the lessons."""

__all__ = ["RUNGS", "Grid", "Mistake", "Problem", "Rung"]
