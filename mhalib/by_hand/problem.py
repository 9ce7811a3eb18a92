"""What a problem for pencil and paper is: numbers that are given, cells that are asked for, the
right answer, and what each known mistake would give instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

Values = dict[str, Any]  # arrays, lists and texts by name
Cell = float | str

EXACT = 0.01  # an answer of two decimals may be off by one in the last


def number(value: Any) -> str:
    """A cell as text: at most two decimals, a true minus sign."""
    if isinstance(value, str):
        return value
    return f"{round(float(value), 2) + 0:g}".replace("-", "−")


@dataclass(frozen=True)
class Grid:
    """One table of a problem.

    Parameters
    ----------
    name : what its numbers are called
    rows, columns : the labels; an empty tuple leaves them out
    given : its cells, rows of numbers or texts; None: they are asked for
    hidden : True where a cell is masked: neither given nor asked for
    formula : how a cell that is asked for is computed, in words
    within : how far from the right number an answer may be, for it was rounded on the way
    """

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    given: Any = None
    hidden: Any = None
    formula: str = ""
    within: float = EXACT

    @property
    def asked(self) -> bool:
        return self.given is None

    @property
    def shape(self) -> tuple[int, int]:
        return (max(1, len(self.rows)), len(self.columns))

    def masks(self, i: int, j: int) -> bool:
        return self.hidden is not None and bool(self.hidden[i][j])

    def cells(self, values: Any) -> list[Cell]:
        """The cells of `values` that are not hidden, row by row."""
        rows = values.tolist() if isinstance(values, np.ndarray) else values
        return [
            cell for i, row in enumerate(rows) for j, cell in enumerate(row) if not self.masks(i, j)
        ]


@dataclass(frozen=True)
class Mistake:
    """A known mistake: its name, one sentence on it, and what it makes of the given numbers."""

    name: str
    says: str
    solve: Callable[[Values], Values]


@dataclass(frozen=True)
class Problem:
    """One set of numbers: `right` and each of `wrong` hold the asked cells in reading order."""

    grids: tuple[Grid, ...]
    right: tuple[Cell, ...] = ()
    wrong: tuple[tuple[Cell, ...], ...] = ()
    steps: tuple[str, ...] = ()
    within: tuple[float, ...] = ()


@dataclass(frozen=True)
class Rung:
    """A kind of problem.

    Parameters
    ----------
    name, title : its name in links, and for reading
    task : what to do, in one or two sentences
    lesson : the page that explains it
    draw : numbers from a random generator
    show : numbers → the tables
    solve : numbers → the right value of each table that is asked for, from the library
    steps : numbers → for each of these tables the arithmetic of each cell, as text
    mistakes : what can be told apart from the right answer and from each other
    """

    name: str
    title: str
    task: str
    lesson: str
    draw: Callable[[Generator], Values]
    show: Callable[[Values], list[Grid]]
    solve: Callable[[Values], Values]
    steps: Callable[[Values], Values]
    mistakes: tuple[Mistake, ...]

    def problem(self, numbers: Values) -> Problem:
        """The problem that these `numbers` make."""
        grids = [grid for grid in self.show(numbers) if grid.asked]
        right = self.solve(numbers)
        return Problem(
            tuple(self.show(numbers)),
            _asked(grids, right),
            tuple(_asked(grids, {**right, **m.solve(numbers)}) for m in self.mistakes),
            _asked(grids, self.steps(numbers)),
            tuple(g.within for g in grids for _ in g.cells(right[g.name])),
        )

    def fair(self, numbers: Values) -> bool:
        """Whether with these `numbers` every mistake shows, is no other one, and no cell is in
        doubt."""
        grids = [grid for grid in self.show(numbers) if grid.asked]
        right = self.solve(numbers)
        within = [g.within for g in grids for _ in g.cells(right[g.name])]
        answers = [_asked(grids, right)]
        for mistake in self.mistakes:
            one = _asked(grids, {**right, **mistake.solve(numbers)})
            for other in answers:
                told = [apart(a, b, w) for a, b, w in zip(one, other, within, strict=True)]
                if None in told or True not in told:
                    return False
            answers.append(one)
        return True

    def problems(self) -> Iterator[Problem]:
        """Problems without end, the same ones each time, no two alike, all of them fair."""
        rng = default_rng(list(self.name.encode()))
        seen = set()
        while True:
            numbers = self.draw(rng)
            if self.fair(numbers) and (key := repr(numbers)) not in seen:
                seen.add(key)
                yield self.problem(numbers)


def _asked(grids: list[Grid], values: Values) -> tuple[Any, ...]:
    """The cells of `values` that `grids` ask for, in reading order."""
    cells = (cell for grid in grids for cell in grid.cells(values[grid.name]))
    return tuple(cell if isinstance(cell, str) else float(cell) for cell in cells)


def apart(a: Cell, b: Cell, within: float) -> bool | None:
    """Whether an answer of two decimals tells two values apart; None if its rounding decides."""
    if isinstance(a, str) or isinstance(b, str):
        return a != b
    far = abs(a - b)
    if far <= within - 0.005 + 1e-9:
        return False
    return True if far > 2.5 * within else None
