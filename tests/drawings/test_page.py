"""All drawings on one page, in Chromium: what the browser makes of sizes, places and colours."""

import pytest
from gallery import gallery

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<title>Drawings</title><meta name="viewport" content="width=device-width"></head>
<body style="margin: 16px">{}</body></html>"""

# What is wrong: a text that is small, leaves its picture or lies on another; a picture too wide.
FAULTS = """() => {
  const faults = [], over = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect(), name = svg.querySelector("title").textContent;
    const scale = frame.width / svg.viewBox.baseVal.width;
    if (frame.right > innerWidth - 16 || scale < 0.999)
      faults.push([name, "does not fit", frame.right, scale]);
    const texts = [...svg.querySelectorAll("text")].map((text) => ({
      words: text.textContent, box: text.getBoundingClientRect(),
      size: Math.min(
        ...[text, ...text.children].map((e) => parseFloat(getComputedStyle(e).fontSize))),
    }));
    texts.forEach(({ words, box, size }, i) => {
      if (size * scale < 11.99) faults.push([name, words, size * scale]);
      if (box.left < frame.left - 1 || box.right > frame.right + 1)
        faults.push([name, words, "out"]);
      for (const other of texts.slice(i + 1))
        if (over(box, other.box)) faults.push([name, words, other.words]);
    });
  }
  return faults;
}"""


@pytest.fixture(scope="module")
def page(chromium):
    page = chromium.new_page(viewport={"width": 360, "height": 800})
    page.set_content(PAGE.format("".join(d._repr_html_() for d in gallery().values())))
    yield page
    page.close()


def test_every_text_has_its_place_on_a_phone(page):
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.locator("svg").count() > 40
    assert page.evaluate(FAULTS) == []


def test_colours_follow_theme_and_print(page):
    soft = "getComputedStyle(document.querySelector('svg text')).fill"
    light, dark = "rgb(86, 97, 115)", "rgb(163, 175, 194)"
    for theme, media, colour in (
        ("light", "screen", light),
        ("dark", "screen", dark),
        ("dark", "print", light),
    ):
        page.emulate_media(media=media, color_scheme="light" if theme == "dark" else "dark")
        page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        assert page.evaluate(soft) == colour, (theme, media)
