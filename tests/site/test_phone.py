"""What makes the pages quick on a phone, and what must not be lost by it."""

import pytest

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
    """Though the sections above it are not laid out again: it knows how high they were."""
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
