"""The lessons' plain Markdown on the site: boxes, folds, citations."""

import re
from pathlib import Path

import nbformat
import pytest

CHAPTERS = Path(__file__).parents[2] / "chapters"


@pytest.mark.parametrize("path", sorted(CHAPTERS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_the_book_makes_its_own_of_each_construct(soups, path):
    cells = nbformat.read(path, as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    page = soups[f"chapters/{path.stem}.html"]
    article = page.select_one("article.bd-article")

    titles = re.findall(r"^> \*\*(.+)\*\*\n>\n> ", text, re.M)
    boxes = article.select(".admonition > .admonition-title")
    assert [box.get_text().replace("’", "'") for box in boxes] == [
        t.replace("’", "'") for t in titles
    ]
    assert all("tip" in b.parent["class"] for b in boxes if b.get_text() == "Predict")

    folds = re.findall(r"<details><summary>(.+?)</summary>", text)
    shown = article.select("details.fold > summary")
    assert [s.get_text() for s in shown] == [name for name in folds if name != "Answers"]
    assert len(article.select(".quiz > details")) == folds.count("Answers")
    assert not article.select("details[open]")

    assert "run this cell" not in article.get_text()
    unsolved = article.select(".mhalib-check.unsolved")
    here = "run/page.js" in str(page)  # Python on the page, or a link to where it runs
    for box in unsolved:
        assert (
            "press Check." in box.get_text() if here else box.select("a[href$='index.html#run-it']")
        )

    written = re.findall(r"\[([^\[\]]+?),? \(?(\d{4})\)?\]\(references\.md#\w+\)", text)
    words = " ".join(article.get_text().split())
    for who, year in written:  # as the bibliography has it
        assert f"{who} [{year}]" in words or f"{who}, {year}" in words
    assert len(article.select("a[href^='references.html#']")) >= len(written)
