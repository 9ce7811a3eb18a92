"""The book, built strictly once for all tests, and its pages."""

import pytest
from bs4 import BeautifulSoup


@pytest.fixture(scope="session")
def pages(site) -> list[str]:
    """Return the addresses of all pages below the book's folder."""
    found = sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))
    return [page for page in found if not page.startswith("_")]  # _static, and the print copy


@pytest.fixture(scope="session")
def soups(site, pages) -> dict[str, BeautifulSoup]:
    """Return all pages by address, parsed; nobody changes them."""
    return {name: BeautifulSoup((site / name).read_text("utf-8"), "lxml") for name in pages}


@pytest.fixture(scope="session")
def reader(chromium):
    """Return a function that makes a browser context; what its pages complain of is collected."""
    contexts = []

    def make(address: str, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        complaints: list[str] = []
        context.set_default_timeout(120_000)  # a busy machine is no fault of the page
        page = context.new_page()
        page.on("console", lambda m: complaints.append(f"{page.url}: console {m.type}: {m.text}"))
        page.on("pageerror", lambda e: complaints.append(f"{page.url}: error: {e}"))
        page.on(
            "requestfailed",
            lambda r: (
                r.failure == "net::ERR_ABORTED"  # the page was left before it came
                or complaints.append(f"{page.url}: failed: {r.url} {r.failure}")
            ),
        )
        page.on(
            "request",
            lambda r: (
                r.url.startswith((address, "data:", "blob:"))
                or complaints.append(f"{page.url}: asks another host: {r.url}")
            ),
        )
        return page, complaints

    yield make
    for context in contexts:
        context.close()
