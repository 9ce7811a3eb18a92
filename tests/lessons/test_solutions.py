"""A reader who solves everything sees only "correct": each stub gets its folded solution, and
solutions without a stub run where they stand. Of the other cells those run that are needed; nbval
runs them all."""

import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

CHAPTERS = Path(__file__).parents[2] / "chapters"
LESSONS = [*sorted(CHAPTERS.glob("0*.ipynb")), CHAPTERS / "machine.ipynb"]
CALL = re.compile(r"^check\(\"\w+\", (\w+)\)", re.M)
FOLD = re.compile(r"<details><summary>Solution</summary>\n.*?\n</details>", re.S)


def folded_solutions(cell):
    """Return the code of each folded solution of a cell."""
    return [
        code
        for fold in FOLD.findall(cell.source)
        for code in re.findall(r"```python\n(.*?)```", fold, re.S)
    ]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_folded_solutions_are_correct(path, kernel_module):
    notebook = nbformat.read(path, as_version=4)
    codes = [code for cell in notebook.cells for code in folded_solutions(cell)]
    by_name = {name: code for code in codes for name in re.findall(r"^def (\w+)\(", code, re.M)}
    cells, solved, wanted = [], [], []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code" and (names := CALL.findall(cell.source)):
            calls = [match.group(0) for match in CALL.finditer(cell.source)]
            assert len(calls) == 1, "one check in a cell, so that each answer is shown"
            assert names[0] in by_name, f"no folded solution defines {names[0]}"
            imports = re.findall(r"^(?:from|import) .*", cell.source, re.M)
            cell.source = "\n".join([*imports, by_name[names[0]], *calls])
            solved.append(cell)
            wanted.append(cell)
        else:  # a solution of an exercise that is not checked: it must run
            new = [nbformat.v4.new_code_cell(code) for code in folded_solutions(cell)]
            cells += new
            wanted += new
    assert codes
    cells = [cell for cell in cells if cell.cell_type == "code"]
    sources = [cell.source for cell in cells]
    needed_for = sys.modules["course_run.names"].needed_for
    needed = {j for i, cell in enumerate(cells) if cell in wanted for j in needed_for(sources, i)}
    notebook.cells = [c for i, c in enumerate(cells) if i in needed or c in wanted]
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": CHAPTERS}}).execute()
    for cell in solved:
        (output,) = (o for o in cell.outputs if o.output_type == "execute_result")
        assert output.data["text/plain"].startswith("✓ Correct"), output.data["text/plain"]
