"""The stored lessons: normalised, and nbval notices a number that is not what its cell prints."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent.parent
LESSONS = sorted((ROOT / "chapters").glob("*.ipynb"))


def test_every_lesson_is_in_its_stored_form():
    run = subprocess.run(
        [sys.executable, ROOT / "scripts" / "lessons.py", "--check"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lessons_show_no_error_and_install_nothing(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        assert cell.execution_count or not cell.source.strip(), f"never run: {cell.source}"
        assert not re.search(r"pip install|sys\.path|filterwarnings", cell.source), cell.source
        assert all(output.output_type != "error" for output in cell.outputs), cell.source
        assert all(
            "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
            for output in cell.outputs
        )


def test_a_wrong_number_in_a_stored_output_fails(tmp_path):
    notebook = nbformat.v4.new_notebook()
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )
    cell = nbformat.v4.new_code_cell("print(1 + 1)", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text="3\n")]
    notebook.cells = [cell]
    nbformat.write(notebook, tmp_path / "wrong.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "-c", str(ROOT / "pyproject.toml"), str(tmp_path / "wrong.ipynb")],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert run.returncode == 1, run.stdout
    assert "mismatch" in run.stdout
