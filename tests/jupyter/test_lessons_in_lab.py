"""A lesson in JupyterLab: labels and formulas are seen, solutions are not, until asked for."""

from pathlib import Path

import nbformat
import pytest
from conftest import NO_NEWS
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "chapters" / "03-single-head.ipynb"


def test_every_way_to_start_jupyterlab_turns_its_question_off():
    for file in ("scripts/environment.py", ".binder/postBuild"):
        assert NO_NEWS[-1] in (ROOT / file).read_text("utf-8"), file


def test_every_way_to_start_jupyterlab_trusts_the_stored_drawings():
    """Of a drawing in a notebook that is not trusted JupyterLab shows the words alone."""
    for file in ("Makefile", "README.md", ".binder/postBuild"):
        assert "jupyter trust " in (ROOT / file).read_text("utf-8"), file


@pytest.mark.timeout(180)
def test_a_lesson_reads_as_it_is_meant(open_notebook, tmp_path):
    notebook = nbformat.read(LESSON, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    for cell in notebook.cells:
        cell.metadata["trusted"] = True
    nbformat.write(notebook, tmp_path / "text.ipynb")
    page = open_notebook(file=tmp_path / "text.ipynb").page
    seen = ""
    for i, cell in enumerate(notebook.cells):  # Lab draws what comes near
        place = page.locator(f'.jp-Cell[data-windowed-list-index="{i}"]')
        place.scroll_into_view_if_needed()
        if "$" in cell.source.replace("```", ""):
            expect(place.locator("mjx-container").first).to_be_attached(timeout=30_000)
        expect(place.locator(".jp-RenderedMarkdown")).not_to_be_empty()
        seen += place.inner_text() + "\n"
        for fold in place.locator("details").all():
            assert not fold.evaluate("fold => fold.open")
            assert fold.evaluate("fold => !fold.lastElementChild.checkVisibility()")
            expect(fold.locator("summary")).to_be_visible()
    for word in ("Predict", "You may have read…", "Question 1.", "Vaswani et al. (2017)", "Hint 1"):
        assert word in seen, word
    for word in ("def raw_scores", "np.arange(n_k) <=", "Wrong.", "Right.", "{", "$", "<details"):
        assert word not in seen, word
    assert "notified about" not in page.locator("body").inner_text()
