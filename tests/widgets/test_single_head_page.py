"""SingleHeadWidget on the page of the book, and on a bare one."""

import re

import pytest
from arrays import assert_array
from pages import choose, ready, texts, typed
from playwright.sync_api import expect

from mhalib.widgets import SingleHeadWidget

LESSON = "03-single-head"
TEXT = "There are so many bats I can choose at the baseball store."


def signed(value, places):
    return f"{value:.{places}f}".replace("-", "−")


@pytest.fixture
def plane(widget_page):
    def opened(**values):
        page = ready(widget_page(SingleHeadWidget(**values).html()))
        page.locator(".mh-plane").first.focus()
        return page

    return opened


def press(page, **keys):
    for key, times in keys.items():
        for _ in range(times):
            page.keyboard.press(key)


def numbers(page, row):
    cells = page.locator("table").last.locator("tbody tr").nth(row).locator("td")
    return texts(cells)


def test_the_arithmetic_of_a_weight_is_numpys(plane):
    widget = SingleHeadWidget()
    page = plane()
    press(page, PageUp=1, Home=1, ArrowDown=4, ArrowRight=2)
    said = page.locator(".mh-readout")
    expect(said).to_contain_text(f"“bats” asks “so”: score {signed(widget.scores[4, 2], 2)}")
    expect(said).to_contain_text(f"weight {widget.weights[4, 2]:.3f}")
    page.get_by_text("numbers", exact=True).click()
    products = texts(page.locator("table").first.locator("tbody tr td:last-child"))
    total = sum(float(text.replace("−", "-")) for text in products)
    assert total / 4 == pytest.approx(widget.scores[4, 2], abs=2e-3)
    choose(page, "mask", "none")
    widget.mask = "none"
    expect(page.locator("table").last.locator("tbody tr").nth(4)).not_to_contain_text("masked")
    assert_array([float(cell) for cell in numbers(page, 4)], widget.weights[4], atol=6e-5)


@pytest.mark.parametrize(
    ("part", "keys", "name"),
    [
        ("Q", {"Home": 1, "ArrowLeft": 1}, "Q[There, 15]"),
        ("K", {"Home": 1, "ArrowUp": 1}, "K[There, 15]"),
        ("V", {"End": 1, "ArrowRight": 1, "PageUp": 1, "ArrowUp": 1}, "V[., 0]"),
        ("output", {"End": 1, "ArrowRight": 1}, "output[There, 0]"),
    ],
)
def test_arrow_keys_lead_from_part_to_part(plane, part, keys, name):
    page = plane(layer=1, head=3)
    press(page, PageUp=1)
    press(page, **keys)
    widget = SingleHeadWidget(layer=1, head=3)
    i, j = {"Q": (0, 15), "K": (0, 15), "V": (12, 0), "output": (0, 0)}[part]
    expect(page.locator(".mh-said")).to_have_text(
        f"{name} = {signed(getattr(widget, part)[i, j], 4)}"
    )


def test_hides_the_padding_that_was_picked(plane):
    page = plane(mask="padding")
    page.locator(".mh-toolbar button", has_text="store").click()
    page.get_by_text("numbers", exact=True).click()
    cells = numbers(page, 4)
    widget = SingleHeadWidget(mask="padding", padding=[11])
    assert cells[11] == "masked"
    assert float(cells[4]) == pytest.approx(widget.weights[4, 4], abs=6e-5)


def test_adds_its_correction_to_the_stream(plane):
    widget = SingleHeadWidget(layer=1, head=2)
    page = plane(layer=1, head=2)
    page.get_by_text("adds to the stream").click()
    page.get_by_role("application", name="the stream").focus()
    press(page, PageDown=1, End=1, ArrowRight=1, Home=1)
    said = page.locator(".mh-said")
    expect(said).to_have_text(f"correction[., 0] = {signed(widget.correction[12, 0], 4)}")
    press(page, End=1, ArrowRight=1)
    x, c, s = widget.X[12, 0], widget.correction[12, 0], widget.sum[12, 0]
    expect(said).to_contain_text(f"{signed(x, 4)} + {signed(c, 4)} = {signed(s, 4)}")


def test_an_emptied_text_leaves_nothing_stale(plane):
    page = plane()
    typed(page).fill("")
    said = page.locator(".mh-readout")
    expect(said).to_have_text("Type a sentence.")
    assert page.locator(".mh-plane text").count() == 0
    typed(page).fill("I love bats")
    expect(said).to_contain_text("“bats” asks “bats”")  # 9, 4 clamped to the new sentence
    assert "undefined" not in page.locator("figure").inner_text()


def test_a_mask_that_hides_everything_says_so(plane):
    page = plane(mask="padding", padding=list(range(13)))
    expect(page.locator(".mh-readout")).to_contain_text("may look at nobody")
    expect(page.locator(".mh-plane").first).to_contain_text("weights of a row: sum 0")


def test_one_screen_on_a_laptop_two_on_a_phone(book_page):
    page = book_page(SingleHeadWidget(layer=0, head=2), LESSON)
    figure = page.locator("figure.mhalib-widget").first
    assert figure.bounding_box()["height"] <= 640
    for sight in (page.locator(".mh-plane").first, page.locator(".mh-bar"), typed(page)):
        box = sight.bounding_box()
        assert box["y"] >= 48 and box["y"] + box["height"] <= 768  # below the book's header
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".mh-plane text", has_text="Σ")).to_be_visible()  # laid out anew
    assert figure.bounding_box()["height"] <= 2 * 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('figure.mhalib-widget *')]
            .filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.data?.trim()))
            .filter((e) => e.localName !== "sub" && !e.closest(".mh-unseen"))
            .map((e) => parseFloat(getComputedStyle(e).fontSize))"""
    )
    assert min(sizes) >= 12
    assert page.locator(".mhalib-live svg[viewBox]").count() == 0  # never scaled


def test_nothing_moves_when_a_knob_is_turned(book_page, settle):
    page = book_page(SingleHeadWidget(layer=0, head=2), LESSON)
    places = """() => [...document.querySelectorAll(
        'figure.mhalib-widget :is(.mh-bar, .mh-picture, .mh-readout, .mh-foot)')].map((e) => {
        const { top, height } = e.getBoundingClientRect(); return [top, height]; })"""
    before = page.evaluate(places)
    for name in ("none", "causal"):
        choose(page, "mask", name)
        choose(page, "layer", 1)
        settle(page)
        assert page.evaluate(places) == before


def test_the_result_stays_in_sight_on_a_phone(book_page):
    page = book_page(SingleHeadWidget(), LESSON, viewport={"width": 390, "height": 560})
    bar = page.locator(".mh-result")
    expect(bar).to_have_class(re.compile("mh-shown"))
    page.wait_for_function(
        """() => {
            const { bottom } = document.querySelector(".mh-result").getBoundingClientRect();
            return Math.abs(bottom - 560) < 1;
        }"""
    )
    expect(bar).to_have_text(page.locator(".mh-said").inner_text())
    page.locator(".mh-readout").scroll_into_view_if_needed()
    expect(bar).not_to_have_class(re.compile("mh-shown"))


def test_link_and_reload_bring_the_state_back(book_page):
    page = book_page(SingleHeadWidget(), LESSON)
    choose(page, "mask", "none")
    typed(page).fill("I love to study bats")
    page.get_by_role("link", name="link to this state").click()
    page.reload()
    expect(typed(page)).to_have_value("I love to study bats")
    expect(page.locator("[name^=mh-mask][value=none]")).to_be_checked()
    page.evaluate("history.replaceState(null, '', location.pathname)")
    page.reload()  # without the link: this browser's memory
    expect(typed(page)).to_have_value("I love to study bats")
    page.get_by_role("button", name="Reset").click()
    expect(typed(page)).to_have_value(TEXT)
    page.reload()
    expect(typed(page)).to_have_value(TEXT)
    expect(page.locator("[name^=mh-mask][value=causal]")).to_be_checked()


def test_a_storage_that_refuses_and_a_link_that_lies(plane):
    page = plane()
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no') } })"
    )
    lies = "%7B%22layer%22%3A99,%22mask%22%3A%22left%22,%22text%22%3A7,%22query%22%3A-1%7D"
    page.goto(f"{page.url}#single-head={lies}")
    page.reload()
    expect(typed(page)).to_have_value(TEXT)
    choose(page, "mask", "none")
    expect(page.locator("[name^=mh-mask][value=none]")).to_be_checked()


def test_at_most_14_tab_stops(plane):
    page = plane(mask="padding")
    stops = page.evaluate(
        """() => [...document.querySelectorAll(
            "figure :is(input, select, button, a[href], summary, [tabindex='0'])")]
            .filter((e) => e.checkVisibility() && e.tabIndex >= 0)
            .filter((e) => e.type !== "radio" || e.checked).length"""
    )
    assert stops <= 14
