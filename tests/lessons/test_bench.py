"""Each cell is lesson or bench. A lesson's code is short, in a beginner's Python; the bench, which
is figures, tables, experiments and checks, is folded under a line that says what it is for."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "chapters").glob("*.ipynb"))
MOST_LINES, MOST_CHARACTERS = 12, 88
NOT_FOR_BEGINNERS = re.compile(r"\byield\b|:=|\.mT\b|\blambda\b.*\blambda\b")
WORKSHOP = re.compile(r"\bplots\.|\bplt\.|\bax\.|show_source")

sys.path.insert(0, str(ROOT / "scripts"))
import lessons as script  # noqa: E402


def cells(path):
    return [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_open_code_is_short_and_plain(path):
    for cell in cells(path):
        if "bench" in cell.metadata.get("tags", ()):
            continue
        lines = [line for line in cell.source.split("\n") if line.strip()]
        assert len(lines) <= MOST_LINES, f"{len(lines)} lines:\n{cell.source}"
        assert max(map(len, lines)) <= MOST_CHARACTERS, cell.source
        assert not NOT_FOR_BEGINNERS.search(cell.source), cell.source
        assert not WORKSHOP.search(cell.source), f"this is bench:\n{cell.source}"
        asserts = [line for line in lines if line.lstrip().startswith("assert ")]
        assert len(asserts) <= 1, f"several asserts are bench:\n{cell.source}"


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_folded_cell_says_what_it_is_for(path):
    lines = []
    for cell in cells(path):
        if {"hide-input", "hide-cell"} & set(cell.metadata.get("tags", ())):
            line = script.BENCH.match(cell.source)
            assert line, f"no first line:\n{cell.source}"
            assert len(line[1].split(": ")[1].split()) >= 2 and len(line[1]) <= MOST_CHARACTERS
            lines.append(line[1])
    assert len(lines) == len(set(lines)), "two cells are for the same"


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_stated_times_are_counted(path):
    notebook = nbformat.read(path, as_version=4)
    reading, doing = script.minutes(notebook)
    stated = f"**Time:** reading {reading} minutes, doing {doing}."
    assert any(stated in cell.source for cell in notebook.cells[:4]), stated


def test_what_is_bench_is_seen_from_its_first_line():
    book = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("# Check: the loops and the product agree.\nassert True"),
            nbformat.v4.new_code_cell("# a comment\nprint(1)", metadata={"tags": ["bench"]}),
        ]
    )
    bench, lesson = script.normalise(book).cells
    assert bench.metadata.tags == ["bench", "hide-input"]
    assert bench.metadata.jupyter.source_hidden
    assert bench.metadata.mystnb.code_prompt_show == "Check: the loops and the product agree."
    assert "tags" not in lesson.metadata


def test_an_exercise_in_code_takes_time_with_a_check_and_without():
    exercises = (
        "## Exercises\n\n**1. Use it.** Once.\n\n**2. Predict.** Once.\n\n**3. Build.** Once."
    )
    cells = [nbformat.v4.new_markdown_cell(exercises)]
    cells.append(nbformat.v4.new_code_cell('check("softmax", softmax)'))  # of exercise 3
    assert script.minutes(nbformat.v4.new_notebook(cells=cells)) == (0, 20)  # 8 + 2 + 8, rounded
