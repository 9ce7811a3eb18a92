"""The built book to take away: `python -m scripts.offline zip|pdf`, after `make html`.

zip   _build/course.zip: unpack it anywhere and open index.html, no network needed
pdf   _build/course.pdf: all pages in one document, printed by Chromium, with working links
"""

import argparse
import shutil
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, sync_playwright

from scripts.browser import ensure, launch

ROOT = Path(__file__).parent.parent
BOOK = "http://book/"  # stands for the folder while links are resolved
FOOTER = (
    '<p style="width: 100%; text-align: center; font: 8pt sans-serif; color: #555">'
    '<span class="pageNumber"></span></p>'
)


def reading_order(html: Path) -> list[str]:
    """The first page, then what the table of contents lists."""
    soup = BeautifulSoup((html / "index.html").read_text("utf-8"), "lxml")
    links = [a["href"] for a in soup.select(".bd-sidebar-primary .bd-links a.reference.internal")]
    return list(dict.fromkeys(["index.html", *(page for page in links if page != "#")]))


def anchor(page: str, identifier: str = "") -> str:
    """One name for a place of one page, unique in the whole book."""
    return f"{page.removesuffix('.html').replace('/', '-')}--{identifier}"


def plain(math: Tag) -> str:
    """A formula's MathML as text: √d_k."""
    between = {"msub": "_", "msup": "^"}.get(math.name, "")
    parts = [part for part in math.children if getattr(part, "name", "") != "annotation"]
    text = between.join(plain(part) if isinstance(part, Tag) else str(part) for part in parts)
    return f"√{text}" if math.name == "msqrt" else text


def article(soup: BeautifulSoup, page: str, pages: list[str]) -> Tag:
    """What a page says, with its links pointing inside the one document."""
    body = soup.select_one("article.bd-article")
    if body is None:
        raise ValueError(f"{page} has no article")
    for tag in body.select("script, .headerlink, .copybtn, nav.contents"):
        tag.decompose()
    for formula in body.select(":is(h1, h2, h3) .katex"):  # else the outline leaves it out
        text = soup.new_tag("span", attrs={"class": "course-outline"})
        if math := formula.select_one("math"):
            text.string = plain(math)
        formula.insert(0, text)
    for tag in body.find_all(id=True):
        tag["id"] = anchor(page, tag["id"])
    for name in ("aria-labelledby", "aria-describedby", "for"):
        for tag in body.find_all(attrs={name: True}):
            tag[name] = " ".join(anchor(page, part) for part in tag[name].split())
    for tag in body.find_all("details"):
        tag["open"] = ""
    for tag in body.find_all(href=True):
        target, place = urldefrag(urljoin(f"{BOOK}{page}", tag["href"]))
        name = unquote(target.removeprefix(BOOK))
        if name in pages:
            tag["href"] = "#" + anchor(name, unquote(place))
    for tag in body.find_all(src=True):
        del tag["loading"]
        tag["src"] = urljoin(f"{BOOK}{page}", tag["src"]).removeprefix(BOOK)
    body.name = "section"
    body["id"] = anchor(page)
    return body


def one_document(html: Path) -> str:
    """All pages as one, in reading order; styles of the book, none of its scripts."""
    pages = {
        page: BeautifulSoup((html / page).read_text("utf-8"), "lxml")
        for page in reading_order(html)
    }
    styles: dict[str, None] = {}
    for page, soup in pages.items():
        for link in soup.select('link[rel~="stylesheet"]'):
            styles[urljoin(f"{BOOK}{page}", link["href"]).removeprefix(BOOK)] = None
    links = "".join(f'<link rel="stylesheet" href="{style}"/>' for style in styles)
    first = pages["index.html"].title
    title = first.get_text() if first else ""
    bodies = "".join(str(article(soup, page, list(pages))) for page, soup in pages.items())
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light"><head>'
        f'<meta charset="utf-8"/><title>{title}</title>{links}</head>'
        f'<body class="course-print"><main>{bodies}</main></body></html>'
    )


def make_pdf(document: str, html: Path, target: Path, browser: Browser) -> None:
    source = html / "_print.html"  # beside the pages, so that their images and styles are found
    source.write_text(document, "utf-8")
    page = browser.new_page()
    page.set_default_timeout(0)  # a whole book takes its time
    try:
        page.goto(source.as_uri(), wait_until="load")
        page.evaluate("document.fonts.ready.then(() => true)")
        page.pdf(
            path=target,
            format="A4",
            print_background=True,
            tagged=True,
            outline=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            margin={"top": "18mm", "bottom": "18mm", "left": "19mm", "right": "19mm"},
        )
    finally:
        page.close()
        source.unlink()


def make_zip(html: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    shutil.make_archive(str(target.with_suffix("")), "zip", html)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("kind", choices=["zip", "pdf"])
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    options = parser.parse_args()
    if not (options.html / "index.html").is_file():
        parser.error(f"{options.html} holds no built book; run `make html` first")
    target = options.html.parent / f"course.{options.kind}"
    if options.kind == "zip":
        make_zip(options.html, target)
    else:
        ensure()
        with sync_playwright() as playwright:
            browser = launch(playwright)
            make_pdf(one_document(options.html), options.html, target, browser)
            browser.close()
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
