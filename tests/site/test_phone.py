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


@pytest.mark.parametrize("name", ["index", "chapters/machine", "chapters/06-layers"])
def test_no_rule_asks_the_text_again_as_it_grows(name, server, reader):
    """With `:has()`, the style of most of a lesson was computed again and again."""
    page, _ = reader(server, **PHONE)
    page.goto(f"{server}/{name}.html")
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate(ASKED_AGAIN) == []
