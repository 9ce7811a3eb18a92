"""Every page of the built book, in Chromium: silent, self-contained, narrow, accessible."""

from urllib.parse import unquote, urldefrag, urljoin

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup

BOOK = "http://book/"  # stands for the folder while links are resolved
NARROW = {"viewport": {"width": 360, "height": 740}}
LOOKS = [({}, "light"), (NARROW, "light"), (NARROW, "dark"), ({}, "dark")]


@pytest.mark.parametrize("protocol", ["http", "file"])
def test_pages_are_silent_and_ask_no_other_host(protocol, site, server, pages, reader):
    address = server if protocol == "http" else site.as_uri()
    page, complaints = reader(address)
    for name in pages:
        page.goto(f"{address}/{name}", wait_until="load")
        page.evaluate("new Promise((done) => setTimeout(done, 60))")
    assert complaints == []


def test_no_page_scrolls_sideways_on_a_phone(server, pages, reader):
    page, _ = reader(server, **NARROW)
    wide = {}
    for name in pages:
        page.goto(f"{server}/{name}", wait_until="load")
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 360:
            wide[name] = width
    assert wide == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme, server, pages, reader):
    page, _ = reader(server, color_scheme=scheme)
    found = {}
    for name in pages:
        page.goto(f"{server}/{name}", wait_until="load")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        result = Axe().run(page)
        if result.violations_count:
            found[name] = result.generate_report()
    assert found == {}, "\n".join(found.values())


def test_links_lead_somewhere(site, pages):
    """Every link, image and anchor inside the book exists."""
    soups = {name: BeautifulSoup((site / name).read_text("utf-8"), "html.parser") for name in pages}
    anchors = {
        name: {tag.get("id") or tag.get("name") for tag in soup.find_all(id=True)}
        for name, soup in soups.items()
    }
    broken = []
    for name, soup in soups.items():
        for attribute in ("href", "src"):
            for tag in soup.find_all(attrs={attribute: True}):
                target, anchor = urldefrag(urljoin(f"{BOOK}{name}", tag[attribute]))
                if not target.startswith(BOOK):
                    continue  # another site: `https:`, `mailto:`, `data:`
                path = unquote(target.removeprefix(BOOK)).partition("?")[0]
                known = anchors.get(path)
                if not (site / path).is_file() or (
                    anchor and known and unquote(anchor) not in known
                ):
                    broken.append(f"{name}: {tag[attribute]}")
    assert broken == []


def test_search_finds_a_word_offline(site, reader):
    page, complaints = reader(site.as_uri())
    page.goto(f"{site.as_uri()}/search.html?q=softmax")
    page.wait_for_selector("#search-results li a", timeout=5000)
    assert complaints == []


def test_the_policy_forbids_other_hosts_and_scripts_in_attributes(server, pages, site, reader):
    for name in pages:
        assert "Content-Security-Policy" in (site / name).read_text("utf-8"), name
    page, _ = reader(server)
    page.goto(f"{server}/index.html")
    blocked = page.evaluate(
        """async () => {
          const blocked = [];
          addEventListener("securitypolicyviolation", (e) => blocked.push(e.effectiveDirective));
          const box = document.createElement("div");
          box.innerHTML = "<button onclick='window.ran = true'></button>"
            + "<img src='https://other.invalid/x.png'>";
          document.body.append(box);
          box.querySelector("button").click();
          await fetch("https://other.invalid/").catch(() => 0);
          await new Promise((done) => setTimeout(done, 300));
          return {blocked, ran: window.ran ?? false};
        }"""
    )
    assert blocked["ran"] is False
    assert {"script-src-attr", "img-src", "connect-src"} <= set(blocked["blocked"])
