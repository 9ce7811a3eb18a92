"""Each control of the theme, pressed on every page: five widths, by mouse, touch and keyboard."""

import os
import re

import pytest
from playwright.sync_api import Error, expect

from scripts.browser import INTO_SIGHT

expect.set_options(timeout=60_000)  # a busy machine is no fault of the page
WIDTHS = (320, 390, 768, 1100, 1400)
WAYS = ("mouse", "touch", "keyboard")
THOROUGH = {"chapters/06c-encoder-decoder.html", "search.html"}  # at each width in each way
CONTENTS_FIT, MENU_FITS = 1200, 960  # from these widths on the theme shows them as columns
MIDDLE = """(control) => {
  const box = control.getBoundingClientRect();
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  const there = document.elementFromPoint(...middle);
  if (!control.contains(there)) throw new Error(`${there?.outerHTML.slice(0, 80)} is in the way`);
  return middle;
}"""


class Presser:
    """A page, and the ways of pressing what is on it."""

    def __init__(self, page):
        self.page = page

    def press(self, way, control):
        if way == "keyboard":
            control.focus()
            self.page.keyboard.press("Enter")
            return
        if not control.evaluate("e => e.closest('.bd-header-article')"):  # which stays in sight
            control.evaluate(INTO_SIGHT, [{"block": "center"}, 5])
        box = control.evaluate(MIDDLE)
        (self.page.mouse.click if way == "mouse" else self.page.touchscreen.tap)(*box)

    def leave(self, dialog, opener=None):
        """Escape closes the dialog; the focus is back where it was."""
        self.page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        if opener:
            expect(opener).to_be_focused()

    def column(self, way, side, width, fits, entry):
        """The menu or the contents: a column that goes and comes, or a dialog that opens."""
        page = self.page
        button = page.locator(f"main .{side}-toggle")
        column = page.locator(f"#pst-{side}-sidebar")
        if width >= fits:
            if side == "primary":
                for shown in (False, True):
                    self.press(way, button)
                    expect(column).to_be_visible(visible=shown)
            return
        dialog = page.locator(f"#pst-{side}-sidebar-modal")
        expect(column).to_be_hidden()
        self.press(way, button)
        expect(dialog.locator(entry)).to_be_visible()
        assert dialog.bounding_box()["width"] <= width
        self.leave(dialog, button)
        expect(column.locator("a").first).to_be_attached()  # the links are back in their column

    def search(self, way, opener):
        page = self.page
        dialog = page.locator("#pst-search-dialog")
        if own := page.locator("main form.bd-search").count():
            field = page.locator("main form.bd-search input")
        else:
            field = dialog.locator("input")
        if opener:
            self.press(way, opener)
        else:
            page.keyboard.press("Control+k")
        expect(field).to_be_focused()
        assert field.bounding_box()["width"] > 150
        if not own:
            self.leave(dialog, opener)

    def theme(self, way):
        root = self.page.locator("html")
        button = self.page.locator("main .theme-switch-button")
        for mode, theme in (("dark", "dark"), ("light", "light"), ("auto", "light")):
            self.press(way, button)
            expect(root).to_have_attribute("data-theme", theme)
            expect(root).to_have_attribute("data-mode", mode)
            shown = button.locator(".theme-switch:visible")
            expect(shown).to_have_attribute("data-mode", mode)

    def toggle(self, way):
        fold = self.page.locator(".admonition.toggle").first
        if not fold.count():
            return
        inside = fold.locator(":scope > :not(.admonition-title)").first
        for shown in (True, False):
            self.press(way, fold.locator(".toggle-button"))
            expect(inside).to_be_visible(visible=shown)

    def copy(self, way):
        """An example is copied without its prompts and outputs, other code as it stands."""
        examples = self.page.locator(".highlight-pycon .highlight:visible")
        code = (examples if examples.count() else self.page.locator(".highlight:visible")).first
        if not code.count():
            return
        self.page.evaluate("navigator.clipboard.writeText('')")
        button = code.locator(".copybtn")
        self.press(way, button)
        copied = self.page.wait_for_function("() => navigator.clipboard.readText()")
        copied = copied.json_value().split("\n")
        lines = code.locator("pre").text_content().split("\n")  # also while it is not laid out
        typed = [line[4:] for line in lines if line.startswith((">>>", "..."))] or lines
        assert [line for line in copied if line] == [line for line in typed if line]

    def turn(self, way, side):
        """The link to the page before or after leads there; True if there is one."""
        link = self.page.locator(f".prev-next-area a.{side}")
        if not link.count():
            return False
        title = link.locator(".prev-next-title").inner_text()
        self.press(way, link)
        expect(self.page.locator("article h1").first).to_contain_text(title.split("√")[0].strip())
        self.page.wait_for_selector("html[data-ready]")
        return True


def in_order(pages, site):
    """The pages as one reads them, each after the one whose link leads to it; then the others."""
    order = ["index.html"]
    while link := re.search(r'class="right-next"\s+href="([^"]+)"', (site / order[-1]).read_text()):
        order.append(os.path.normpath(os.path.join(os.path.dirname(order[-1]), link[1])))
    return order + sorted(set(pages) - set(order))


def read(page, address):
    page.goto(address)
    page.wait_for_selector("html[data-ready]")


@pytest.mark.timeout(600)
def test_every_control_does_what_it_is_for(server, site, pages, reader):
    page, complaints = reader(server, has_touch=True, reduced_motion="reduce")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    presser = Presser(page)
    each = [(WIDTHS[k % 5], WAYS[k % 3]) for k in range(15)]
    order = in_order(pages, site)
    assert len(order) == len(pages)
    wrong = []
    for i, name in enumerate(order):
        if page.url != f"{server}/{name}":  # where the press on "next" has not led
            read(page, f"{server}/{name}")
        contents = page.locator("#pst-page-toc-nav a").count()
        for width, way in each if name in THOROUGH else [each[i % len(each)]]:
            page.set_viewport_size({"width": width, "height": 800})
            try:
                page.evaluate("scrollTo(0, 0)")
                presser.column(way, "primary", width, MENU_FITS, "a:text('Glossary')")
                if contents:
                    presser.column(way, "secondary", width, CONTENTS_FIT, "a >> nth=0")
                for opener in page.locator(".search-button__button:visible").all():
                    presser.search(way, opener)
                presser.search(way, None)
                presser.theme(way)
                presser.toggle(way)
                presser.copy(way)
                if width == 320 and presser.turn(way, "left-prev"):
                    assert page.url == f"{server}/{order[i - 1]}"
                    presser.turn(way, "right-next")
            except (AssertionError, Error) as mistake:
                wrong.append(f"{name} at {width} px by {way}: {mistake}")
                assert len(wrong) < 5, "\n".join(wrong)
                read(page, f"{server}/{name}")  # nothing open is left behind
        presser.turn(way, "right-next")
    assert wrong == [], "\n".join(wrong)
    assert complaints == []
