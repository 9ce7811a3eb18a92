"""The widget of a problem for pencil and paper: empty cells, each checked at once."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Any

import traitlets

from mhalib.by_hand import RUNGS, Grid, Problem
from mhalib.widgets.base import CourseWidget
from mhalib.widgets.tables import STILL, tables, way
from mhalib.widgets.traits import Choice, Texts, Whole

COUNT = 40


@lru_cache(len(RUNGS))
def shipped(rung: str) -> tuple[Problem, ...]:
    """The problems of a rung that its widget holds."""
    return tuple(islice(RUNGS[rung].problems(), COUNT))


def _form(problem: Problem) -> list[dict[str, Any]]:
    """What most problems of a rung share: the names and labels of their tables."""
    return [
        {"name": grid.name, "formula": grid.formula, "within": grid.within, **_labels(grid)}
        for grid in problem.grids
    ]


def _labels(grid: Grid) -> dict[str, Any]:
    return {"rows": list(grid.rows), "columns": list(grid.columns)}


def _plain(problem: Problem, form: list[dict[str, Any]]) -> dict[str, Any]:
    """A problem as data: asked cells are null, hidden ones false; labels where they are its own."""

    def cell(grid: Grid, i: int, j: int) -> Any:
        if grid.masks(i, j):
            return False
        return None if grid.asked else _short(grid.given[i][j])

    cells = [
        [[cell(grid, i, j) for j in range(grid.shape[1])] for i in range(grid.shape[0])]
        for grid in problem.grids
    ]
    labels = {
        str(k): _labels(grid)
        for k, grid in enumerate(problem.grids)
        if not _labels(grid).items() <= form[k].items()
    }
    answers = [[_short(cell) for cell in cells] for cells in (problem.right, *problem.wrong)]
    data = {"cells": cells, "right": answers[0], "wrong": answers[1:], "steps": list(problem.steps)}
    return {**data, "labels": labels} if labels else data


def _short(cell: Any) -> str | float:
    if isinstance(cell, str):
        return cell
    value = round(float(cell), 4) + 0
    return int(value) if value == int(value) else value


class PracticeWidget(CourseWidget):
    """Problems of one rung of `mhalib.by_hand`, new numbers at each try.

    Parameters
    ----------
    rung : a name of `mhalib.by_hand.RUNGS`
    number : which of its problems is shown
    typed : what stands in its empty cells, in reading order
    solved : how many the reader has solved without seeing the answer

    Examples
    --------
    >>> w = PracticeWidget(rung="score", number=1)
    >>> w.problem.right == tuple(w.problems[1]["right"])
    True
    """

    _widget = traitlets.Unicode("practice").tag(sync=True)
    _still = STILL
    rung = Choice("score", tuple(RUNGS)).tag(sync=True, state=True)
    number = Whole(0, 0, COUNT - 1).tag(sync=True, state=True)
    typed = Texts().tag(sync=True, state=True)
    solved = Whole(0, 0, 10**6).tag(sync=True, state=True)
    form: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True, state=True)
    """The tables of a problem: their names, labels and formulas."""
    problems: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True, state=True)
    """All problems of the rung with their answers, as data for the page."""
    mistakes: traitlets.List[Any] = traitlets.List(read_only=True).tag(sync=True, state=True)
    """The name of each known mistake, and one sentence on it."""
    caption = traitlets.Unicode(
        "Type a number into an empty cell. Enter checks it and goes on to the next; arrow keys "
        "move. Two decimals are enough, and 2/3 is a number, too. A mistake that people make is "
        "named. A hint says first what is computed, then with which numbers."
    ).tag(sync=True, state=True)

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._follow()

    def _limits(self) -> dict[str, Any]:
        limits = super()._limits()
        for name in ("typed", "solved"):  # the reader's own: remembered, but no part of a link
            limits[name]["kept"] = True
        return limits

    @traitlets.observe("rung")
    def _follow(self, change: Any = None) -> None:
        rung = RUNGS[self.rung]
        form = _form(shipped(self.rung)[0])
        self.set_trait("form", form)
        self.set_trait("problems", [_plain(problem, form) for problem in shipped(self.rung)])
        self.set_trait("mistakes", [{"name": m.name, "says": m.says} for m in rung.mistakes])
        if change is not None or not self.task:
            self.task = rung.task

    @property
    def problem(self) -> Problem:
        """The problem on screen."""
        return shipped(self.rung)[self.number]

    def picture(self) -> str:
        return (
            f"{tables(self.problem)}\n<details><summary>Answer</summary>"
            f"{tables(self.problem, key=True)}{way(self.problem)}</details>"
        )
