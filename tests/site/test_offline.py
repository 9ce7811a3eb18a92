"""The book to take away: the zip opens without a network, the PDF holds every page."""

import zipfile

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

from scripts.offline import make_pdf, make_zip, one_document

TITLES = ["Tokenization", "Embedding", "Single-head", "Scaling", "Multi-head", "Layers", "Glossary"]


def test_the_zip_opens_and_searches_with_the_network_cut(site, tmp_path, reader):
    make_zip(site, tmp_path / "course.zip")
    with zipfile.ZipFile(tmp_path / "course.zip") as archive:
        archive.extractall(tmp_path / "unpacked")
    folder = (tmp_path / "unpacked").as_uri()
    page, complaints = reader(folder, offline=True)
    page.goto(f"{folder}/index.html")
    assert page.locator("figure.mhalib-widget").count() > 0
    page.goto(f"{folder}/search.html?q=softmax")
    page.wait_for_selector("#search-results li a")
    assert complaints == []


@pytest.fixture(scope="module")
def document(site):
    return one_document(site)


def test_one_document_links_inside_itself(site, document):
    soup = BeautifulSoup(document, "lxml")
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    inside = [a["href"][1:] for a in soup.select("a[href^='#']")]
    assert len(ids) == len(set(ids))
    assert len(inside) > 100
    assert set(inside) <= set(ids)
    assert not soup.find_all("script")
    assert all(
        (site / image["src"]).is_file() for image in soup.select("img[src]:not([src^=data])")
    )
    assert all(image.get("alt") is not None for image in soup.find_all("img"))


@pytest.mark.timeout(600)
def test_the_pdf_holds_every_lesson(site, document, chromium, tmp_path):
    soup = BeautifulSoup(document, "lxml")
    for part in soup.select(".cell, figure, pre"):  # most of its pages and of the time they take
        part.decompose()
    make_pdf(str(soup), site, tmp_path / "course.pdf", chromium)
    pdf = PdfReader(tmp_path / "course.pdf")
    chapters = [entry for entry in pdf.outline if not isinstance(entry, list)]
    # no space is lost where the heading wraps
    assert "1. Tokenization: from text to numbers" in [entry.title for entry in chapters]
    assert any("divided by √d_k" in entry.title for entry in chapters)  # nor a formula in it
    assert pdf.metadata.title == "Multi-head attention, step by step"
    for title in TITLES:
        chapter = next(entry for entry in chapters if title in entry.title)
        page = pdf.pages[pdf.get_destination_page_number(chapter)]
        assert title in page.extract_text()
    links = [
        note.get_object()
        for page in pdf.pages
        for note in page.get("/Annots", [])
        if note.get_object().get("/Subtype") == "/Link"
    ]
    assert sum("/Dest" in link for link in links) > 100
    assert pdf.trailer["/Root"]["/Lang"] == "en"
    assert "/StructTreeRoot" in pdf.trailer["/Root"]  # tagged: alt texts and headings
