"""In each lesson the first use of a term, and only that, leads to the glossary."""

import copy
import re


def links(soups, lesson):
    (soup,) = (soup for name, soup in soups.items() if name.startswith(f"chapters/0{lesson}-"))
    return soup, soup.select('article a[href^="glossary.html#term-"]')


def test_each_term_is_linked_once_and_leads_to_its_entry(site, soups):
    glossary = (site / "chapters" / "glossary.html").read_text("utf-8")
    for lesson in range(1, 9):
        _, found = links(soups, lesson)
        targets = [link["href"] for link in found]
        assert len(targets) == len(set(targets)) >= 5
        for target in targets:
            page, _, anchor = target.partition("#")
            assert page == "glossary.html"
            assert f'id="{anchor}"' in glossary


def test_it_is_the_first_use(soups):
    soup, found = links(soups, 3)
    query = next(link for link in found if link["href"].endswith("#term-query"))
    article = copy.copy(soup.select_one("article"))
    for closed in article.select("h1, h2, h3, code, pre, table, script"):
        closed.clear()
    before = article.get_text().partition(query.parent.get_text())[0]
    assert not re.search(r"\bquer(y|ies)\b", before, re.I)


def test_terms_of_later_lessons_are_plain_words(soups):
    _, found = links(soups, 1)
    assert not {"#term-value", "#term-weight", "#term-head"} & {
        "#" + link["href"].partition("#")[2] for link in found
    }
