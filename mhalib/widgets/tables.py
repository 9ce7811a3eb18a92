"""Problems for pencil and paper as tables, for pages and for print."""

from __future__ import annotations

from typing import Any

from mhalib.by_hand.problem import Grid, Problem, number
from mhalib.widgets.base import rich

STILL = """
.jp-OutputArea .mh-grids { display: flex; flex-wrap: wrap; align-items: end; gap: 12px 20px; }
.jp-OutputArea .mh-grids table { margin: 0; }
.jp-OutputArea .mh-grids tr { background: none !important; }
.jp-OutputArea .mh-asked { min-width: 44px; height: 28px; outline: 1px solid #848f9f; }
.jp-OutputArea .mh-grids .mh-masked {
  background: repeating-linear-gradient(135deg, transparent 0 5px, #848f9f 5px 6px);
}
"""


def plain(value: Any) -> str:
    """A given number as it is, with a true minus sign."""
    return value if isinstance(value, str) else f"{float(value) + 0:g}".replace("-", "−")


def tables(problem: Problem, key: bool = False) -> str:
    """The tables of a problem, empty where something is asked; with `key` these alone, filled."""
    answers = iter(problem.right)

    def cell(grid: Grid, i: int, j: int) -> str:
        if grid.masks(i, j):
            return '<td class="mh-masked" aria-label="masked"></td>'
        if not grid.asked:
            return f"<td>{rich(plain(grid.given[i][j]))}</td>"
        answer = next(answers)
        return f'<td class="mh-asked">{rich(number(answer)) if key else ""}</td>'

    def table(grid: Grid) -> str:
        corner = "<td></td>" if grid.rows else ""
        head = "".join(f'<th scope="col">{rich(name)}</th>' for name in grid.columns)
        rows, columns = grid.shape
        body = ""
        for i in range(rows):
            name = f'<th scope="row">{rich(grid.rows[i])}</th>' if grid.rows else ""
            body += f"<tr>{name}{''.join(cell(grid, i, j) for j in range(columns))}</tr>"
        return (
            f'<table class="mh-grid"><caption>{rich(grid.name)}</caption>'
            f"<thead><tr>{corner}{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    shown = [grid for grid in problem.grids if grid.asked or not key]
    return f'<div class="mh-grids">{"".join(map(table, shown))}</div>'


def places(problem: Problem) -> list[str]:
    """What each asked cell is called: "weights, row love, column bats"."""

    def name(grid: Grid, i: int, j: int) -> str:
        row = f", row {grid.rows[i]}" if len(grid.rows) > 1 else ""
        return grid.name + row + (f", column {grid.columns[j]}" if len(grid.columns) > 1 else "")

    return [
        name(grid, i, j)
        for grid in problem.grids
        if grid.asked
        for i in range(grid.shape[0])
        for j in range(grid.shape[1])
        if not grid.masks(i, j)
    ]


def way(problem: Problem) -> str:
    """How each asked cell is found, as a list; cells with the same arithmetic stand together."""
    lines: dict[str, list[str]] = {}
    for place, step, right in zip(places(problem), problem.steps, problem.right, strict=True):
        if step == "masked":
            continue
        same = isinstance(right, str) or step[0].isalpha()  # said once for the whole table
        text = f"{place.split(',')[0]}: {step}" if same else f"{place}: {step} = {number(right)}"
        lines.setdefault(text, []).append(place)
    return f"<ul>{''.join(f'<li>{rich(text)}</li>' for text in lines)}</ul>"
