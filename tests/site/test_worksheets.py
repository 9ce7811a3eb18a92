"""The worksheets: a page for each sheet, a page for each key, and the right numbers on it."""

import re
from unicodedata import normalize

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

from mhalib.by_hand import RUNGS
from mhalib.by_hand.problem import number
from mhalib.widgets.practice import shipped
from scripts.worksheets import document, make_pdf, tasks

NAMES = list(RUNGS)


@pytest.fixture(scope="module")
def pdf(chromium, tmp_path_factory):
    target = tmp_path_factory.mktemp("worksheets") / "worksheets.pdf"
    make_pdf(document(), target, chromium)
    return PdfReader(target)


def test_every_sheet_and_every_key_is_one_page(pdf):
    titles = [rung.title for rung in RUNGS.values()]
    pages = [" ".join(page.extract_text().split()) for page in pdf.pages]
    assert len(pages) == 2 * len(titles)
    for n, (title, sheet) in enumerate(zip(titles, pages, strict=False), 1):
        assert f"{n}. {title}" in sheet
        assert "Key" not in sheet
        assert f"Key: {n}. {title}" in pages[len(titles) + n - 1]
    assert [entry["/Title"] for entry in pdf.outline if not isinstance(entry, list)][-1].startswith(
        "Key: 10."
    )
    assert pdf.trailer["/Root"]["/Lang"] == "en"


@pytest.mark.parametrize("name", NAMES)
def test_a_key_holds_the_answers_and_the_mistakes_and_a_sheet_does_not(pdf, name):
    k = NAMES.index(name)
    texts = (pdf.pages[i].extract_text() for i in (k, len(NAMES) + k))
    sheet, key = (re.sub(r"\s+", "", normalize("NFKC", text)) for text in texts)
    problems = tasks(RUNGS[name], 1)
    for problem in problems:
        for right in problem.right:
            assert number(right).replace(" ", "") in key
    for mistake in RUNGS[name].mistakes:
        text = re.sub(r"[`_\s]", "", normalize("NFKC", mistake.name))
        assert text in key
        assert text not in sheet
    for problem in problems:
        asked = [grid for grid in problem.grids if grid.asked]
        assert all(re.sub(r"\s", "", grid.name) in sheet for grid in asked)


def test_what_is_asked_is_empty_on_a_sheet_and_filled_in_its_key():
    html = BeautifulSoup(document(), "html.parser")
    sheets, keys = html.select("section:not(.key)"), html.select("section.key")
    for rung, sheet, key in zip(RUNGS.values(), sheets, keys, strict=True):
        wanted = [number(right) for problem in tasks(rung, 1) for right in problem.right]
        assert [cell.get_text() for cell in sheet.select(".mh-asked")] == [""] * len(wanted)
        assert [cell.get_text() for cell in key.select(".mh-asked")] == wanted


def test_editions_have_other_numbers_than_each_other_and_than_the_page():
    for name in ("merge", "score", "loss"):
        rung = RUNGS[name]
        sets = [repr(p.grids) for edition in (1, 2, 3) for p in tasks(rung, edition)]
        sets += [repr(p.grids) for p in shipped(name)]
        assert len(set(sets)) == len(sets), name
