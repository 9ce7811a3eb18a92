"""Every page of the built book, in Chromium: silent, self-contained, narrow, accessible."""

import re
from collections import Counter
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import expect

expect.set_options(timeout=60_000)  # a busy machine is no fault of the page
BOOK = "http://book/"  # stands for the folder while links are resolved
PHONE, ZOOMED, DESK = 320, 640, 1280  # WCAG's narrowest; 1280 at 200 %; at 100 %
START = {"width": DESK, "height": 900}
COLOURS = ["color-contrast", "link-in-text-block"]  # the rules that see light or dark
# A page repeats its code's and formulas' looks hundreds of times; axe looks at each once.
EACH_LOOK_ONCE = """() => {
  const seen = new Set();
  for (const part of document.querySelectorAll("pre span, .katex-html")) {
    const dims = [...part.querySelectorAll('[class*="dim-"]')].map((e) => e.className);
    const look = [part.className, ...dims.sort()].join();
    if (!seen.has(look)) seen.add(look);
    else if (part.matches("pre *")) part.replaceWith(...part.childNodes);
    else part.replaceChildren(part.textContent);
  }
}"""
# For the colours a text counts once for each look that it has in the light and in the dark; what
# holds no text that counts goes, so that axe has less to walk through.
EACH_COLOUR_ONCE = """() => {
  const root = document.documentElement;
  const texts = [...document.body.querySelectorAll("*")].filter((e) =>
    [...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()));
  const looks = (theme) => {
    root.dataset.theme = theme;
    const grounds = new Map();
    const ground = (e) => {
      if (e && !grounds.has(e)) {
        const { backgroundColor: colour, opacity } = getComputedStyle(e);
        const own = colour === "rgba(0, 0, 0, 0)" ? ground(e.parentElement) : colour;
        grounds.set(e, opacity < 1 ? `${own} ${opacity}` : own);
      }
      return grounds.get(e);
    };
    return texts.map((e) => {
      const { color, fontSize, fontWeight } = getComputedStyle(e);
      return [e.localName === "a", color, fontSize, fontWeight, ground(e)].join();
    });
  };
  const { theme } = root.dataset;
  const [light, dark] = [looks("light"), looks("dark")];
  root.dataset.theme = theme;
  const seen = new Set();
  texts.forEach((e, i) => {
    const look = light[i] + dark[i];
    if (seen.has(look)) {
      for (const node of e.childNodes) if (node.nodeType === Node.TEXT_NODE) node.data = " ";
    }
    seen.add(look);
  });
  for (const e of document.body.querySelectorAll("*")) {
    if (!e.textContent.trim() || e.localName === "svg") e.remove();
  }
}"""


# What a browser does that keeps nothing for a site: cookies blocked, storage refused.
KEEPS_NOTHING = """for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
  const get = () => { throw new DOMException(`${name} is denied`, "SecurityError"); };
  Object.defineProperty(window, name, { configurable: true, get });
}"""


@pytest.fixture(scope="module")
def walk(server, pages, reader):
    """Walk through the book; return what was found on the way."""
    options = {"resultTypes": ["violations"], "preload": False}  # no files fetched by axe itself
    form = {**options, "rules": {rule: {"enabled": False} for rule in COLOURS}}
    colours = {**options, "runOnly": COLOURS}
    page, complaints = reader(server, viewport=START, reduced_motion="reduce")
    found = {"complaints": complaints, "wide": [], "axe": []}

    def ask_axe(options, what):
        result = Axe().run(page, options=options)
        if result.violations_count:
            found["axe"].append(f"{name}, {what}: {result.generate_report()}")

    for name in pages:
        page.emulate_media(color_scheme="light")
        page.goto(f"{server}/{name}", wait_until="load")
        page.wait_for_selector("html[data-ready]")
        for width in (PHONE, ZOOMED, DESK):
            page.set_viewport_size({"width": width, "height": 900})
            needs = page.evaluate("document.documentElement.scrollWidth")
            if needs > width:
                found["wide"].append(f"{name}: {needs} px at {width}")
        page.evaluate(EACH_LOOK_ONCE)
        ask_axe(form, "form")
        page.evaluate(EACH_COLOUR_ONCE)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            expect(page.locator("html")).to_have_attribute("data-theme", theme)
            ask_axe(colours, theme)
    return found


def test_pages_are_silent_and_ask_no_other_host(walk):
    assert walk["complaints"] == []


def test_no_page_scrolls_sideways(walk):
    assert walk["wide"] == []


def test_axe_finds_nothing(walk):
    assert walk["axe"] == [], "\n".join(walk["axe"])


def test_pages_from_a_folder_in_a_browser_that_keeps_nothing_are_silent_too(site, pages, reader):
    page, complaints = reader(site.as_uri())
    page.add_init_script(KEEPS_NOTHING)
    for name in pages:
        page.goto(f"{site.as_uri()}/{name}", wait_until="load")
        page.wait_for_selector("html[data-ready]")
    assert complaints == []


def test_the_keyboard_skips_to_the_text_and_shows_where_it_is(server, reader):
    page, _ = reader(server, viewport=START, reduced_motion="reduce")
    page.goto(f"{server}/chapters/04-scaling.html")
    shows = """async () => {
      for (const _ of [1, 2]) await new Promise(requestAnimationFrame);  // drawn
      const stop = document.activeElement, box = stop.getBoundingClientRect();
      const drawn = [stop, stop.nextElementSibling ?? stop].map((e) => getComputedStyle(e));
      return {
        stop: stop.outerHTML.slice(0, 200),
        marked: drawn.some((s) => s.boxShadow !== "none" || s.outlineStyle !== "none"),
        inside: box.width > 0 && box.bottom > 0 && box.top < innerHeight,
      };
    }"""
    for count in range(25):
        page.keyboard.press("Tab")
        stop = page.evaluate(shows)
        assert stop["marked"] and stop["inside"], stop
        assert count or "#main-content" in stop["stop"]  # the first stop skips the navigation


def test_everything_works_in_a_browser_that_keeps_nothing(server, reader):
    page, complaints = reader(server, viewport=START, color_scheme="light")
    page.add_init_script(KEEPS_NOTHING)
    page.goto(f"{server}/chapters/04-scaling.html")
    page.wait_for_selector("html[data-ready]")
    page.click("main .theme-switch-button")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    question = page.locator(".quiz").first
    question.locator("input").first.check()
    question.get_by_role("button", name="Check").click()
    expect(question.locator(".quiz-told")).not_to_be_empty()
    figure = page.locator("figure.mhalib-widget").first
    figure.scroll_into_view_if_needed()
    expect(figure.locator(".mhalib-live input").first).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("mask")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=mask")
    page.locator("#search-results a[href*='glossary']").first.click()
    page.wait_for_url("**/glossary.html*")
    page.wait_for_selector("html[data-ready]")
    assert complaints == []


MOVING = """() => [...document.querySelectorAll("*")].filter((part) => {
  const style = getComputedStyle(part);
  return style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0)
      || style.animationName !== "none" || style.scrollBehavior !== "auto";
}).map((part) => part.outerHTML.slice(0, 80))"""


def test_nothing_moves_for_who_wants_no_motion(server, reader):
    page, _ = reader(server, reduced_motion="reduce")
    for name in ("index.html", "chapters/04-scaling.html", "search.html"):
        page.goto(f"{server}/{name}")
        assert page.evaluate(MOVING) == []
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(MOVING) != []  # the question has another answer for everyone else


def test_formulas_are_read_aloud_once(soups):
    """Each formula keeps its MathML; its picture is hidden from a screen reader."""
    count = 0
    for name, soup in soups.items():
        for formula in soup.select(".katex"):
            count += 1
            assert formula.select_one("math semantics"), f"{name}: {formula.get_text()}"
            assert formula.select_one('.katex-html[aria-hidden="true"]'), name
    assert count > 100


def test_links_lead_somewhere(site, soups):
    """Every link, image and anchor inside the book exists."""
    anchors = {
        name: {tag.get("id") or tag.get("name") for tag in soup.find_all(id=True)}
        for name, soup in soups.items()
    }
    broken = []
    for name, soup in soups.items():
        ids = [tag["id"] for tag in soup.find_all(id=True)]
        broken += [f"{name}: two of #{i}" for i, count in Counter(ids).items() if count > 1]
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


SEARCHED = """() => [...document.querySelectorAll("#search-results li")].map((item) => ({
  place: item.querySelector("a").getAttribute("href"),
  title: [...item.querySelectorAll("annotation")].forEach((tex) => tex.remove())
    ?? item.querySelector("a").textContent,
  excerpt: item.querySelector(".context")?.textContent ?? "",
}))"""


@pytest.mark.parametrize(
    "query, first",
    [
        ("mask", ["glossary.html#term-mask"]),
        ("softmax", ["glossary.html#term-softmax", ".softmax"]),
        ("causal_mask", [".causal_mask"]),
        ("wrong divisor", ["04-scaling.html#the-wrong-divisor"]),
    ],
)
def test_search_finds_terms_functions_and_headings_first(query, first, server, reader):
    page, complaints = reader(server, viewport={"width": PHONE, "height": 700})
    page.goto(f"{server}/search.html?q={query}")
    expect(page.locator(".search-summary")).to_contain_text("finished")
    expect(page.locator("#search-results li").last.locator(".context")).to_be_attached()
    found = page.evaluate(SEARCHED)
    for one, place in zip(found, first):
        assert one["place"].endswith(place), found
    others = found[len(first) :]
    mentions = [i for i, one in enumerate(others) if "#" not in one["place"]]
    headings = [i for i, one in enumerate(others) if "#" in one["place"]]
    assert max(headings, default=-1) < min(mentions, default=99), "a page before a heading"
    for one in found:
        assert not re.search(r"\\\\|htmlClass|>>>", one["title"] + one["excerpt"]), one
        assert not one["excerpt"].startswith("Contents"), one
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE
    field = page.locator("main form.bd-search")
    icon, text = field.locator("i").bounding_box(), field.locator("input").bounding_box()
    assert icon["x"] + icon["width"] <= text["x"] + 1
    assert complaints == []


def test_every_picture_has_its_size(site, soups):
    """So that nothing moves when it comes, and a link into the page lands where it should."""
    count = 0
    for name, soup in soups.items():
        for image in soup.select("img"):
            with Image.open((site / name).parent / unquote(image["src"])) as picture:
                assert (int(image["width"]), int(image["height"])) == picture.size, image
            count += 1
    assert count > 10


# How much lighter or darker than its ground each text is that stands on paper.
CONTRASTS = """() => {
  const rgb = (css) => css.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (css) => {
    const [r, g, b] = rgb(css).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if ((rgb(colour)[3] ?? 1) > 0.5) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const texts = "article :is(pre, code, p, td, .admonition-title), article pre span";
  return [...document.querySelectorAll(texts)].filter((e) => e.checkVisibility()).map((e) => {
      const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
      return [(a + 0.05) / (b + 0.05), e.outerHTML.slice(0, 90)];
    }).filter(([contrast]) => contrast < 4);
}"""


def test_printing_from_the_dark_is_printing_from_the_light(server, reader):
    page, _ = reader(server, color_scheme="dark")
    for name in ("chapters/04-scaling.html", "chapters/by-hand.html", "chapters/api.html"):
        page.goto(f"{server}/{name}")
        page.wait_for_selector("html[data-ready]")
        for widget in page.locator("figure[data-live]").all():
            widget.scroll_into_view_if_needed()
            widget.locator(".mh-foot").wait_for()
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        for widget in page.locator(
            "figure.mhalib-widget"
        ).all():  # what was live is a picture again
            expect(widget.locator(".mhalib-picture")).to_be_visible()
            expect(widget.locator(".mhalib-live")).to_be_hidden()
        assert page.evaluate(CONTRASTS) == []
        (title,) = page.locator("h1:visible").all_inner_texts()
        assert "\\" not in title
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.emulate_media(media="screen")


# What stays where it is while the page scrolls, and how much of the window it takes.
COVERED = """() => [...document.querySelectorAll("body *")].filter((e) => {
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  return ["sticky", "fixed"].includes(style.position)
    && e.checkVisibility({ visibilityProperty: true })
    && box.width > innerWidth / 2 && box.height && box.bottom > 0 && box.top < innerHeight;
}).map((e) => [e.className, e.getBoundingClientRect().height])"""


def test_at_400_percent_nothing_covers_the_page(server, reader):
    page, _ = reader(server, viewport={"width": 320, "height": 256})
    for name in ("index.html", "chapters/04-scaling.html", "chapters/machine.html"):
        page.goto(f"{server}/{name}")
        page.wait_for_selector("html[data-ready]")
        page.evaluate("document.querySelector('figure.mhalib-widget')?.scrollIntoView()")
        page.evaluate("scrollBy(0, 300)")
        assert sum(height for _, height in page.evaluate(COVERED)) <= 64, name


def test_icons_are_there_in_colours_of_the_readers_own(server, reader):
    page, _ = reader(server, viewport={"width": 700, "height": 800}, forced_colors="active")
    page.goto(f"{server}/chapters/04-scaling.html")
    icons = page.locator("main :is(i, span)[class*='fa-']:visible")
    drawn = icons.evaluate_all(
        "all => all.map((e) => getComputedStyle(e)).map((s) => [s.maskImage, s.backgroundColor])"
    )
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert len(drawn) >= 4
    assert all(mask != "none" and colour != paper for mask, colour in drawn), drawn


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
          let evaluated = true;
          try { eval("1"); } catch { evaluated = false; }
          return {blocked, ran: window.ran ?? false, evaluated};
        }"""
    )
    assert blocked["ran"] is False
    assert blocked["evaluated"] is False
    assert {"script-src-attr", "img-src", "connect-src"} <= set(blocked["blocked"])
