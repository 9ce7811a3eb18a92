"""What makes the pages quick on a phone, and what must not be lost by it."""

import pytest
from axe_playwright_python.sync_playwright import Axe

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}

# The rules that ask what an element of the text holds: a browser asks again with each new element.
ASKED_AGAIN = """() => {
  const found = [];
  const inner = /:has\\((?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\)/g;
  const walk = (rules) => {
    for (const rule of rules) {
      if (rule instanceof CSSMediaRule && !matchMedia(rule.conditionText).matches) continue;
      if (rule.selectorText?.includes(":has(")) {
        const who = rule.selectorText.replace(inner, "").replace(/:not\\(\\s*\\)/g, "");
        const asked = [...document.querySelectorAll(who)];
        if (asked.some((e) => !e.closest(".mhalib-widget"))) found.push(rule.selectorText);
      }
      if (rule.cssRules) walk(rule.cssRules);
    }
  };
  for (const sheet of document.styleSheets) walk(sheet.cssRules);
  return found;
}"""


def until_at_rest(page) -> None:
    """Wait until nothing has moved for ten frames."""
    page.evaluate(
        """async () => {
          let last = "", same = 0;
          while (same < 10) {
            await new Promise(requestAnimationFrame);
            const now = `${scrollY} ${document.body.scrollHeight}`;
            same = now === last ? same + 1 : 0;
            last = now;
          }
        }"""
    )


@pytest.mark.parametrize("name", ["index", "chapters/machine", "chapters/06-layers"])
def test_no_rule_asks_the_text_again_as_it_grows(name, server, reader):
    """With `:has()`, the style of most of a lesson was computed again and again."""
    page, _ = reader(server, **PHONE)
    page.goto(f"{server}/{name}.html")
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate(ASKED_AGAIN) == []


TOP = "id => document.getElementById(id).getBoundingClientRect().top"
LESSON = "chapters/03-single-head.html"


@pytest.mark.parametrize("name", ["w-o-a-correction-to-x", "padding", "quiz"])
def test_a_link_into_a_lesson_leads_to_its_place(name, server, reader):
    """Also over sections that are not laid out yet, on the way in and from within."""
    page, _ = reader(server, **PHONE)
    page.goto(f"{server}/{LESSON}#{name}")
    page.wait_for_selector("html[data-ready]", state="attached")
    until_at_rest(page)
    assert 0 < page.evaluate(TOP, name) < 100
    for other in ("the-ladder", "softmax-then-the-average-of-the-values", name):
        page.evaluate("id => { location.hash = id; }", other)
        until_at_rest(page)
        assert 0 < page.evaluate(TOP, other) < 100


def test_a_page_comes_back_to_the_place_where_it_was_left(server, reader):
    """Then it is laid out whole: with guessed heights the place would be another."""
    page, _ = reader(server, **PHONE)
    page.goto(f"{server}/{LESSON}")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.evaluate("scrollTo(0, 9000)")
    until_at_rest(page)
    name = page.evaluate("document.elementFromPoint(150, 400).closest('section').id")
    left = page.evaluate(TOP, name)
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    until_at_rest(page)
    assert page.evaluate(TOP, name) == pytest.approx(left, abs=2)
    page.goto(f"{server}/chapters/glossary.html")
    page.go_back()
    page.wait_for_selector("html[data-ready]", state="attached")
    until_at_rest(page)
    assert page.evaluate(TOP, name) == pytest.approx(left, abs=2)


@pytest.mark.parametrize(("width", "turned"), [(1366, 980), (768, 1024)])
def test_a_window_of_another_width_keeps_what_is_read_in_sight(width, turned, server, reader):
    """Sections that began to be laid out late moved the widget away, at its old width."""
    page, _ = reader(server, viewport={"width": width, "height": 900})
    page.goto(f"{server}/{LESSON}")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.mouse.move(200, 400)
    figure = page.locator("figure.mhalib-widget")
    for _ in range(3):
        figure.evaluate("e => { e.scrollIntoView(); }")
        until_at_rest(page)
    page.locator(".mh-plane").first.wait_for()
    page.set_viewport_size({"width": turned, "height": 900})
    until_at_rest(page)
    assert abs(figure.bounding_box()["y"]) < 600
    picture, plane = page.locator(".mh-picture").first, page.locator(".mh-plane").first
    assert plane.bounding_box()["width"] == pytest.approx(picture.bounding_box()["width"], abs=1)


SIGNS = {
    "pointer": lambda page: page.mouse.move(200, 400),
    "finger": lambda page: page.touchscreen.tap(200, 200),
    "key": lambda page: page.keyboard.press("Shift"),
    "focus": lambda page: page.evaluate(
        "document.querySelector('main .theme-switch-button').focus()"
    ),
    "scroll": lambda page: page.evaluate("scrollBy(0, 50)"),
}


@pytest.mark.parametrize("sign", SIGNS)
def test_nothing_is_fetched_or_computed_before_the_readers_first_sign(sign, server, reader):
    page, _ = reader(server, **PHONE)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{server}/index.html")
    page.wait_for_selector("html[data-ready]", state="attached")
    until_at_rest(page)
    assert page.locator(".mhalib-live").count() == 0
    assert not [url for url in asked if "/models/" in url]
    SIGNS[sign](page)
    page.wait_for_selector(".mhalib-live .mh-picture", state="attached")


def test_a_link_to_a_widget_makes_it_live(server, reader):
    page, _ = reader(server, **PHONE)
    page.goto(f"{server}/chapters/04-scaling.html#scaling=d_k:512")
    page.wait_for_selector(".mhalib-live .mh-picture", state="attached")


@pytest.mark.parametrize("width, height", [(390, 844), (360, 640), (1366, 768)])
def test_a_widget_goes_live_in_the_room_of_its_picture(width, height, site, pages, server, reader):
    """So nothing below it moves; the room is there from the first paint on."""
    page, _ = reader(server, viewport={"width": width, "height": height})
    grown, count = [], 0
    for name in pages:
        if 'class="mhalib-widget"' not in (site / name).read_text("utf-8"):
            continue
        page.goto(f"{server}/{name}", wait_until="domcontentloaded")
        figure = page.locator("figure.mhalib-widget").first
        room = figure.evaluate("f => f.getBoundingClientRect().height")
        page.wait_for_selector("html[data-ready]", state="attached")
        figure.evaluate("f => f.scrollIntoView()")
        figure.locator(".mhalib-live .mh-foot").wait_for(state="attached")
        until_at_rest(page)
        live = figure.evaluate("f => f.getBoundingClientRect().height")
        if abs(live - room) > 1:
            grown.append(f"{name}: {room} -> {live}")
        count += 1
    assert grown == []
    assert count > 8


def test_without_script_nothing_waits_for_one(server, reader):
    page, _ = reader(server, **PHONE, java_script_enabled=False)
    page.goto(f"{server}/chapters/03-single-head.html")
    assert page.locator(".sidebar-toggle:visible").count() == 0
    figure = page.locator("figure.mhalib-widget").first
    assert figure.locator("figcaption").is_visible()
    assert figure.locator(".mhalib-picture").bounding_box()["height"] < 800


@pytest.mark.parametrize("name", ["03-single-head", "07-vocab-head", "conventions"])
def test_a_finger_finds_everything_and_tables_their_headers(name, server, reader):
    """Two rules that axe leaves out by itself, on a phone."""
    page, _ = reader(server, **PHONE)
    page.goto(f"{server}/chapters/{name}.html")
    page.wait_for_selector("html[data-ready]", state="attached")
    page.add_style_tag(content="article section { content-visibility: visible !important; }")
    options = {"runOnly": ["target-size", "td-has-header"], "preload": False}
    result = Axe().run(page, options=options)
    assert not result.violations_count, result.generate_report()
