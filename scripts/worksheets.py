"""Worksheets of attention by hand: `python -m scripts.worksheets`, into _build/worksheets.pdf.

A sheet for each kind of problem, printed by Chromium; behind all sheets their keys, each on a page
of its own, with the way to each number and what a known mistake would have given. Other numbers:
`--edition 2`, 3, …; none of them are those of the page "By hand".
"""

import argparse
from itertools import islice
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from mhalib.by_hand import RUNGS, Problem, Rung
from mhalib.by_hand.problem import Cell, apart, number
from mhalib.widgets.base import rich
from mhalib.widgets.practice import COUNT
from mhalib.widgets.tables import places, tables, way
from scripts.browser import ensure, launch

LARGE = {"input", "mask", "head", "loss"}  # of these two fit a page, else three
ROOT = Path(__file__).parent.parent
STYLE = """
@page { size: A4; margin: 16mm 17mm; }
body { margin: 0; color: #1f2733; font: 10.5pt / 1.4 system-ui, sans-serif; }
section { break-after: page; }
section:last-child { break-after: auto; }
h1 { margin: 0 0 2mm; font-size: 16pt; }
h2 { margin: 5mm 0 1.5mm; font-size: 11pt; }
header { display: flex; justify-content: space-between; margin-bottom: 4mm; color: #566173; }
p { margin: 0 0 2mm; }
article { break-inside: avoid; }
.mh-grids { display: flex; flex-wrap: wrap; align-items: start; gap: 4mm 8mm; }
table { border-collapse: separate; border-spacing: 0.7mm; }
caption { font-weight: 600; text-align: start; white-space: nowrap; }
:is(th, td) { min-width: 9mm; padding: 0 1mm; text-align: center; font-weight: 400; }
th { color: #566173; font-size: 9pt; white-space: nowrap; }
th[scope="row"] { min-width: 0; text-align: end; }
tbody td { height: 7mm; background: #eef1f6; border-radius: 1mm; white-space: nowrap; }
tbody .mh-asked { min-width: 12mm; background: none; outline: 0.3mm solid #566173; }
tbody .mh-masked { background: repeating-linear-gradient(135deg, #fff 0 1mm, #848f9f 1mm 1.2mm); }
.key :is(tbody td, h2) { break-inside: avoid; }
.key { font-size: 9pt; line-height: 1.3; }
.key :is(tbody td) { height: 5mm; }
.key .mh-asked { font-weight: 600; }
.key ul { columns: 2; margin: 1.5mm 0; padding-left: 4mm; }
"""


def tasks(rung: Rung, edition: int) -> list[Problem]:
    """The problems of a rung's sheet: as many as fit its page."""
    count = 2 if rung.name in LARGE else 3
    start = COUNT + (edition - 1) * count
    return list(islice(rung.problems(), start, start + count))


def telling(rung: Rung, problem: Problem) -> str:
    """For each known mistake one cell, and what it would have given there: a cell in which no other
    mistake gives the same, if there is one."""
    said, names = [], places(problem)
    answers = [problem.right, *problem.wrong]
    for mistake, wrong in zip(rung.mistakes, problem.wrong, strict=True):

        def alike(k: int, wrong: tuple[Cell, ...] = wrong) -> int:
            return sum(not apart(wrong[k], other[k], problem.within[k]) for other in answers)

        cells = range(len(names))
        seen = [k for k in cells if apart(wrong[k], problem.right[k], problem.within[k])]
        k = min(seen, key=alike)
        place = f"{names[k]} = {number(wrong[k])}"
        said.append(f"<li><b>{rich(mistake.name)}</b>: {rich(place)}</li>")
    return f"<ul>{''.join(said)}</ul>"


def document(edition: int = 1) -> str:
    """All sheets, then all keys, as one page of HTML."""
    sheets, keys = [], []
    name = "Name ______________________________"
    for n, rung in enumerate(RUNGS.values(), 1):
        title = f"{n}. {rich(rung.title)}"
        empty = filled = ""
        for k, problem in enumerate(tasks(rung, edition), 1):
            empty += f"<article><h2>{k}</h2>{tables(problem)}</article>"
            filled += (
                f"<article><h2>{k}</h2>{tables(problem, key=True)}{way(problem)}"
                f"<p>What a mistake gives:</p>{telling(rung, problem)}</article>"
            )
        sheets.append(
            f"<section><header><span>Attention by hand</span><span>{name}</span></header>"
            f"<h1>{title}</h1><p>{rich(rung.task)}</p>{empty}</section>"
        )
        keys.append(f'<section class="key"><h1>Key: {title}</h1>{filled}</section>')
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>Attention by hand, edition {edition}</title><style>{STYLE}</style></head>"
        f"<body>{''.join(sheets + keys)}</body></html>"
    )


def make_pdf(html: str, target: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(html)
    looks = {"prefer_css_page_size": True, "print_background": True}
    page.pdf(path=target, tagged=True, outline=True, **looks)
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--edition", type=int, default=1)
    edition = parser.parse_args().edition
    if edition < 1:
        parser.error("editions are counted from 1")
    ensure()
    target = ROOT / "_build" / "worksheets.pdf"
    target.parent.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        make_pdf(document(edition), target, browser)
        browser.close()
    print(f"{target}: {2 * len(RUNGS)} pages")


if __name__ == "__main__":
    main()
