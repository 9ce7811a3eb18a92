"""A reader who solves everything sees only "correct": each stub gets its folded solution."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

CHAPTERS = Path(__file__).parents[2] / "chapters"
LESSONS = sorted(CHAPTERS.glob("0*.ipynb"))
CALL = re.compile(r"^check\(\"\w+\", (\w+)\)", re.M)


def folded_solutions(notebook):
    """Return the code of each folded solution by the name of the function it defines."""
    found = {}
    for cell in notebook.cells:
        for fold in re.findall(r"`{3,}\{admonition\} Solution\n.*?\n`{4,}", cell.source, re.S):
            for code in re.findall(r"```python\n(.*?)```", fold, re.S):
                for name in re.findall(r"^def (\w+)\(", code, re.M):
                    found[name] = code
    return found


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_folded_solutions_are_correct(path):
    notebook = nbformat.read(path, as_version=4)
    solutions, solved = folded_solutions(notebook), []
    for cell in notebook.cells:
        if cell.cell_type == "code" and (names := CALL.findall(cell.source)):
            calls = [match.group(0) for match in CALL.finditer(cell.source)]
            assert len(calls) == 1, "one check in a cell, so that each answer is shown"
            assert names[0] in solutions, f"no folded solution defines {names[0]}"
            imports = re.findall(r"^(?:from|import) .*", cell.source, re.M)
            cell.source = "\n".join([*imports, solutions[names[0]], *calls])
            solved.append(cell)
    assert solved
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": CHAPTERS}}).execute()
    for cell in solved:
        (output,) = (o for o in cell.outputs if o.output_type == "execute_result")
        assert output.data["text/plain"].startswith("✓ Correct"), output.data["text/plain"]
