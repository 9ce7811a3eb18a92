"""The glossary: in order, one sentence a term, and the lesson it names does use the term."""

import json
import re
from pathlib import Path

import pytest

CHAPTERS = Path(__file__).parents[2] / "chapters"
TEXT = (CHAPTERS / "glossary.md").read_text("utf-8")
INSIDE = TEXT.split("```{glossary}\n")[1].split("```")[0]
ENTRIES = [entry.strip().split("\n", 1) for entry in INSIDE.split("\n\n") if entry.strip()]


def test_alphabetical_and_each_once():
    terms = [term.lower() for term, _ in ENTRIES]
    assert terms == sorted(set(terms))


@pytest.mark.parametrize("term, meaning", ENTRIES, ids=[term for term, _ in ENTRIES])
def test_one_sentence_and_a_lesson_that_uses_the_term(term, meaning):
    words = " ".join(meaning.split())
    assert re.fullmatch(r"[^.]*\(\[lesson \d[bc]?\]\([\w-]+\.ipynb\)\)\.", words), words
    number, file = re.search(r"lesson (\d[bc]?)\]\((.*?)\)", words).groups()
    assert file.startswith(f"0{number}-")
    cells = json.loads((CHAPTERS / file).read_text("utf-8"))["cells"]
    lesson = " ".join("".join(cell["source"]) for cell in cells).lower()
    assert re.search(re.escape(term.lower()).replace(r"\ ", r"[\s-]"), lesson)
