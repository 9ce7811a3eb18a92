"""What each renderer makes of each construct of the lessons: no label, formula or link is lost, and
no solution stands open.

| | a code host, VS Code, Colab | nbconvert | JupyterLab | the book |
|---|---|---|---|---|
| box | quotation, title in bold | the same | the same | a box of its kind |
| fold | closed | closed | closed | closed |
| question | bold number, list, answers folded | the same | the same | can be answered |
| citation | a link with author and year | the same | the same | linked to its entry |
| formula | typeset | typeset | typeset | typeset |

The first two are tested here, JupyterLab in `tests/jupyter`, the book in `tests/site`. (With the
extension jupyterlab-myst 2.7 the formulas in folds are not typeset, so the course does without.)
"""

import html
import re
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbconvert.filters.markdown_mistune import markdown2html_mistune

CHAPTERS = Path(__file__).parents[2] / "chapters"
LESSONS = sorted(CHAPTERS.glob("*.ipynb"))
CODE = re.compile(r"^(`{3,}).*?^\1$|`[^`\n]+`", re.M | re.S)
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)(?<!\\)\$", re.S)
CITATION = re.compile(r"\[([^\[\]]+?,? \(?\d{4}\)?)\]\((references\.md#\w+)\)")
FOLD = re.compile(r"^<details><summary>(.+?)</summary>\n\n(.*?)\n\n</details>$", re.M | re.S)
BOX = re.compile(r"^> \*\*(.+)\*\*\n>\n> ", re.M)
QUESTION = re.compile(r"^\*\*(Question \d\.)\*\* ", re.M)

commonmark = MarkdownIt("commonmark", {"html": True}).enable("table")
dollarmath_plugin(commonmark, renderer=lambda formula, _: html.escape(formula))
RENDERERS = {"code host": commonmark.render, "nbconvert": markdown2html_mistune}


def texts(path):
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_lessons_are_written_without_directives_and_roles(path):
    for text in texts(path):
        assert not re.findall(r"^(?:`{3,}|:{3,})\{.*|^\([\w-]+\)=$|\{[\w:]+\}`", text, re.M)
        assert not re.findall(r"^>.*\n(?!>|\n)|</details>\n(?!\n)", text, re.M), "an empty line"
        assert not re.findall(r"^> *\$\$", text, re.M), "Lab takes the > into the formula"
        assert text.count("details>") == 2 * len(FOLD.findall(text)), "<details> in another form"


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_construct_survives(path, renderer):
    for text in texts(path):
        page = BeautifulSoup(RENDERERS[renderer](text), "html.parser")
        words = " ".join(page.get_text().split())
        titles = [quote.p.get_text() for quote in page.select("blockquote") if quote.p]
        assert set(BOX.findall(text)) <= set(titles)
        for question in QUESTION.findall(text):
            assert page.find("strong", string=question)
        for name, place in CITATION.findall(text):
            assert page.find("a", href=place, string=name)
        for match in FORMULA.finditer(CODE.sub("", text)):
            formula = " ".join((match[1] or match[2]).replace("\n>", " ").split())
            assert formula in words, formula


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_hints_and_solutions_are_folded(path, renderer):
    for text in texts(path):
        page = BeautifulSoup(RENDERERS[renderer](text), "html.parser")
        folds = page.select("details")
        assert [fold.summary.get_text() for fold in folds] == [n for n, _ in FOLD.findall(text)]
        hidden = [code for _, body in FOLD.findall(text) for code in re.findall(r"def \w+", body)]
        assert all(
            any(code in fold.get_text() for fold in folds if "open" not in fold.attrs)
            for code in hidden
        )
        for fold in folds:
            fold.decompose()
        open_text = page.get_text()
        assert not re.findall(r"^(?:Hint|Solution|Answer)s?\b(?! to)", open_text, re.M)
        assert not [code for code in hidden if code in open_text]
