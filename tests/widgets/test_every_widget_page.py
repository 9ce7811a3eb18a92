"""What holds for every widget on a page: keyboard, touch, hostile text, axe, task, reset, table."""

import re

import pytest
from pages import read_out
from playwright.sync_api import expect

from mhalib import widgets

ALL = [getattr(widgets, name) for name in widgets.__all__]
HTML = "<img src=x onerror=alert(1)>"
ODD = {
    "html": HTML,
    "10 000 characters": "bats " * 2000,
    "emoji": "🦇 bats 👩‍👩‍👧",
    "right to left": "שלום مرحبا bats",
    "broken surrogate": "bats \ud83e",
    "spaces": "  \n\t ",
    "empty": "",
}
FIELDS = "figure :is(textarea, input[type=text])"


def opened(widget_page, widget, **options):
    page = widget_page(widget.html(), **options)
    page.locator(":is(.mh-controls, .mh-foot)").first.wait_for()
    expect(page.get_by_text("measuring …", exact=True)).to_have_count(0)
    return page


@pytest.mark.parametrize("widget", ALL)
def test_has_a_task_a_caption_a_reset_and_a_table(widget_page, widget):
    page = opened(widget_page, widget())
    expect(page.locator("figure > .mhalib-task")).not_to_be_empty()
    expect(page.locator("figure > figcaption")).not_to_be_empty()
    expect(page.get_by_role("button", name="Reset")).to_have_count(1)
    for summary in page.locator("summary:visible").all():
        summary.click()
    expect(page.locator("figure table tbody tr").first).to_be_visible()
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("figure :is(input, select, textarea)")]
            .filter((e) => !e.labels.length && !e.hasAttribute("aria-label")).length"""
    )
    assert unnamed == 0


@pytest.mark.parametrize("widget", ALL)
def test_tab_reaches_every_control_and_picture(widget_page, widget):
    page = opened(widget_page, widget())
    # what a reader must reach: of radio buttons the checked one, of a toolbar or sheet its stop
    wanted = page.evaluate(
        """() => {
            const all = [...document.querySelectorAll(
                "figure :is(input, select, textarea, button, a[href], summary)," +
                "figure :is([tabindex='0'], [role=application])")];
            window.reached = new Set();
            addEventListener("focusin", (event) => window.reached.add(event.target));
            window.wanted = all.filter((e) => e.checkVisibility() && !e.disabled &&
                (e.type !== "radio" || e.checked) &&
                (e.tabIndex >= 0 || !e.closest("[role=toolbar], .mh-sheet")));
            return window.wanted.length;
        }"""
    )
    for _ in range(wanted):
        page.keyboard.press("Tab")
    missed = page.evaluate(
        "() => window.wanted.filter((e) => !reached.has(e)).map((e) => e.outerHTML.slice(0, 90))"
    )
    assert missed == []


@pytest.mark.parametrize("widget", ALL)
def test_a_finger_reads_pictures_and_works_controls(widget_page, settle, widget):
    page = opened(widget_page, widget(), has_touch=True, viewport={"width": 360, "height": 740})
    figure = page.locator("figure")
    for surface in page.locator("[role=application]:visible").all()[:3]:
        surface.scroll_into_view_if_needed()
        box = surface.bounding_box()
        read = []
        places = ((0.35, 0.6), (0.75, 0.8), (0.15, 0.4))  # other cells, other words
        if widget.__name__ == "MachineWidget":  # below its words stand switches
            places = ((0.35, 0.03), (0.75, 0.03), (0.15, 0.03))
        for x, y in places:
            at = {"x": x * box["width"], "y": y * box["height"]}
            surface.tap(position=at, force=True)
            settle(page)
            read.append(read_out(page))
        assert all(before != after for before, after in zip(read, read[1:], strict=False)), read
    choices = page.locator(
        ".mh-segments label:has(input:not(:checked)):visible, .mh-chips label:visible,"
        " .mh-stepper button:has-text('undo')"
    )
    if choices.count():
        before = (
            figure.inner_text(),
            figure.locator("input:checked").evaluate_all("all => all.map((e) => e.value + e.name)"),
        )
        choices.last.tap()
        settle(page)
        assert (
            figure.inner_text(),
            figure.locator("input:checked").evaluate_all("all => all.map((e) => e.value + e.name)"),
        ) != before
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("widget", ALL)
def test_whatever_is_typed_is_text_or_a_number_within_the_limits(widget_page, settle, widget):
    page = opened(widget_page, widget())
    for field in page.locator(FIELDS).all():
        first = field.input_value()
        for name, text in ODD.items():
            field.fill(text)
            settle(page)
            assert page.locator("figure img").count() == 0, name
            over = page.get_by_text(re.compile("first .00 characters"))
            assert over.count() == (name == "10 000 characters"), name
        field.fill(first)
    for box in page.locator("input[type=number]:visible:enabled").all():
        low, high = (float(box.get_attribute(name)) for name in ("min", "max"))
        for typed in ("1e308", "-7", "0.5", ""):
            box.fill(typed)
            box.press("Tab")
            assert low <= float(box.input_value()) <= high, typed
    settle(page)
    page.get_by_role("button", name="Reset").click()
    settle(page)
    fresh = widget()
    for field in page.locator(FIELDS).all()[:1]:
        expect(field).to_have_value(fresh.text)


STATES = {
    "ByHandWidget": ["[value='4']", "[value=none]"],
    "PracticeWidget": ["text=Hint", "text=Answer"],
    "SingleHeadWidget": ["[value=padding]", ".mh-toolbar button >> nth=1"],
    "MultiHeadWidget": ["[name^=mh-n_heads][value='8']", ".mh-head-chips button >> nth=5"],
    "OwnHeadWidget": ["[value=value]"],
    "LayersWidget": ["[name^=mh-norm][value=pre]", ".mh-follow button >> nth=1"],
    "MachineWidget": [
        "text=causal mask",
        "[aria-label='layer 1, head 1']",
        "[aria-label='layer 0, FFN']",
    ],
    "VocabHeadWidget": ["text=to the full stop"],
    "EmbeddingWidget": ["[value=random]"],
    "TokenizerWidget": ["[aria-label='undo a merge']"],
    "ScalingWidget": ["[value=d_k]"],
}


def misnamed(page):
    """Controls whose accessible name has not the words that are seen on them (WCAG 2.5.3)."""
    return page.evaluate(
        """() => {
            const words = (text) => (text ?? "").toLowerCase().replace(/[^\\p{L}\\p{N}]+/gu, "");
            const seen = (e) => e.matches("input, select")
                ? [...e.labels].map((l) => [...l.querySelectorAll("span")].map((s) => s.innerText))
                : [e.innerText];
            return [...document.querySelectorAll("figure [aria-label]")]
                .filter((e) => e.matches("button, a, input, select, summary, [role=button]"))
                .filter((e) => e.checkVisibility())
                .map((e) => [e.getAttribute("aria-label"), seen(e).flat().join("")])
                .filter(([name, text]) => !words(name).includes(words(text)));
        }"""
    )


@pytest.mark.parametrize("widget", ALL)
def test_what_is_seen_on_a_control_is_in_its_name(widget_page, settle, widget):
    page = opened(widget_page, widget())
    assert misnamed(page) == []
    for click in STATES[widget.__name__]:
        target = page.locator(f"figure {click}" if click[0] in ".[" else click).first
        target.click(force="[value=" in click)
        settle(page)
        assert misnamed(page) == [], click
    if widget.__name__ == "MachineWidget":
        for name in ("open layer 1", "close layer 1", "open the output", "close the output"):
            page.get_by_role("button", name=name).click()
            settle(page)
            assert misnamed(page) == [], name


@pytest.mark.parametrize("widget", ALL)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_nothing_in_other_states(widget_page, axe, settle, widget, scheme, width):
    page = opened(
        widget_page, widget(), color_scheme=scheme, viewport={"width": width, "height": 800}
    )
    assert page.locator("figure [id]").count() == 0
    for click in STATES[widget.__name__]:
        target = page.locator(f"figure {click}" if click[0] in ".[" else click).first
        target.click(force="[value=" in click)  # a radio is covered by its own button
        settle(page)
    for summary in page.locator("summary:visible").all():
        summary.click()
    expect(page.get_by_text("measuring …", exact=True)).to_have_count(0)
    axe(page)
    for field in page.locator(FIELDS).all():
        field.fill("")
    settle(page)
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("widget", ALL)
def test_no_button_or_field_has_the_look_of_the_browser(widget_page, widget):
    page = opened(widget_page, widget())
    own = page.locator("figure :is(button, select, input)").evaluate_all(
        """all => all.filter((e) => /inset|outset/.test(getComputedStyle(e).borderStyle))
            .map((e) => e.outerHTML.slice(0, 90))"""
    )
    assert own == []


@pytest.mark.parametrize("widget", ALL)
def test_the_key_keeps_its_colours_in_a_contrast_theme(widget_page, widget):
    page = opened(widget_page, widget(), forced_colors="active")
    lost = page.locator("figure :is(.mh-key-item, .mh-bar .mh-segments span)").evaluate_all(
        """all => all.filter((e) => getComputedStyle(e, "::before").content !== "none" &&
            getComputedStyle(e, "::before").forcedColorAdjust !== "none").map((e) => e.innerText)"""
    )
    assert lost == []


@pytest.mark.parametrize("widget", ALL)
def test_a_choice_is_as_wide_as_before(widget_page, settle, widget):
    """Chosen is bold: a row of controls must not break for it."""
    page = opened(widget_page, widget())
    widths = """() => [...document.querySelectorAll("figure .mh-bar .mh-segments label")]
        .map((e) => [e.textContent, e.offsetWidth]).filter(([, width]) => width)"""
    before = dict(page.evaluate(widths))
    for radio in page.locator("figure .mh-bar .mh-segments input:not(:checked)").all():
        if radio.is_visible():
            radio.check(force=True)
            settle(page)
            after = dict(page.evaluate(widths))
            assert {k: after[k] for k in before if k in after} == {
                k: before[k] for k in before if k in after
            }


@pytest.mark.parametrize("widget", ALL)
def test_a_drag_over_a_picture_selects_no_words(widget_page, widget):
    page = opened(widget_page, widget())
    for plane in page.locator(".mh-plane:visible").all():
        plane.scroll_into_view_if_needed()
        box = plane.bounding_box()
        page.mouse.move(box["x"] + 4, box["y"] + 4)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.9 * box["height"], steps=8)
        page.mouse.up()
        assert page.evaluate("getSelection().toString().trim()") == ""


@pytest.mark.parametrize("widget", ALL)
@pytest.mark.parametrize("width", [320, 372, 684])
def test_the_readout_holds_what_it_says(widget_page, settle, widget, width):
    page = opened(widget_page, widget(), viewport={"width": width, "height": 844})

    def cut():
        settle(page)
        return page.locator(".mh-readout:visible").evaluate_all(
            "all => all.filter((e) => e.scrollHeight > e.clientHeight).map((e) => e.innerText)"
        )

    assert cut() == []
    for click in STATES[widget.__name__]:
        target = page.locator(f"figure {click}" if click[0] in ".[" else click).first
        target.evaluate("e => e.click()")
        assert cut() == []


def test_pointing_at_a_dimension_marks_it_in_prose_and_widgets(widget_page, book):
    prose = '<p>A head has <code class="prose"><span class="dim dim-d_k">d_k</span></code>.</p>'
    page = widget_page(
        f'<link rel="stylesheet" href="{(book / "every-page.css").as_uri()}">{prose}',
        widgets.ScalingWidget().html(),
        widgets.MultiHeadWidget().html(),
        widgets.OwnHeadWidget().html(),
    )
    page.locator(".mh-head-chips").first.wait_for()
    page.evaluate("globalThis.DOCUMENTATION_OPTIONS = {};" + (book / "every-page.js").read_text())
    in_prose = page.locator(".prose .dim-d_k")
    in_widgets = [
        page.locator("figure").nth(0).locator(".mh-set .dim-d_k").last,
        page.locator("figure").nth(1).locator(".dim-d_k").first,
    ]
    everywhere = [in_prose, *in_widgets]
    for summary in page.locator("summary:visible").all():
        summary.click()  # the captions

    def marked():
        return [m.evaluate("e => getComputedStyle(e).boxShadow !== 'none'") for m in everywhere]

    assert marked() == [False] * 3
    for start in everywhere:
        start.hover()
        assert marked() == [True] * 3
        page.locator("h1").hover()
        assert marked() == [False] * 3
    for name in ("n", "h", "d_model"):  # each of the ledger is somewhere in the widgets
        page.locator(f"figure .dim-{name}").first.wait_for(state="attached")
