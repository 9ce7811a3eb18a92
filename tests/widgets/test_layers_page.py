"""LayersWidget on the page of the book, and on a bare one."""

import numpy as np
import pytest
from arrays import assert_array
from pages import choose, overlaps, ready, typed
from playwright.sync_api import expect

from mhalib.widgets import LayersWidget

LESSON = "06b-stacking"


@pytest.fixture
def plane(widget_page):
    def opened(**values):
        page = ready(widget_page(LayersWidget(**values).html()))
        page.locator(".mh-plane").focus()
        return page

    return opened


def press(page, keys):
    for key in keys.split():
        page.keyboard.press(key)


def table(page, title):
    """The rows of a table of the numbers."""
    part = page.locator(".mh-more", has=page.get_by_text("numbers", exact=True))
    part.evaluate("e => { e.open = true; }")
    rows = page.get_by_role("region", name=title).locator("tbody tr")
    rows.first.wait_for()
    return [
        [float(v.replace("−", "-")) for v in row.locator("td").all_inner_texts()]
        for row in rows.all()
    ]


def test_the_numbers_are_numpys(plane):
    widget = LayersWidget()
    page = plane()
    assert_array([row[0] for row in table(page, "The cosines")], widget.cosines, atol=6e-5)
    assert_array(table(page, "Who notices"), widget.changes, atol=6e-5)
    stream = [stage[widget.position] for stage in widget.stages()]
    assert_array(table(page, "The stream of"), np.transpose(stream), atol=6e-5)


def test_the_arithmetic_of_each_pick_stands_beside_it(plane):
    widget = LayersWidget()
    page = plane()
    said = page.locator(".mh-readout")
    first, last = widget.cosines[0], widget.cosines[-1]
    expect(said).to_contain_text(f"cosine {last:.3f} of “bats”")
    expect(said).to_contain_text(f"{first:.3f} at the start, {last:.3f} at the end")
    press(page, "ArrowLeft ArrowUp")  # the last feature, after the last attention
    value = widget.stages()[5][widget.position][63]
    expect(said).to_contain_text(f"{value:.4f}".replace("-", "−") + " is feature 63 of “bats”")
    block = widget.trace.layers[2]
    expect(said).to_contain_text(f"{block.residual_1[4, 63]:.4f}".replace("-", "−"))
    press(page, "ArrowRight ArrowRight")
    expect(said).to_contain_text("“There” did not move")
    press(page, "End")
    expect(said).to_contain_text(f"“.” moved by {100 * widget.changes[5, 12]:.1f} %")
    expect(said).to_contain_text("1 → 9 → 9 → 9 → 9 → 9 → 9")


def test_a_row_is_where_the_model_is_read(plane):
    page = plane()
    for keys, stage in (("PageUp", 0), ("ArrowDown ArrowDown", 2), ("ArrowDown", 3)):
        press(page, keys)
        widget = LayersWidget()
        vector = widget.stages()[stage][widget.position]
        logits = widget.transformer.parameters["E"] @ vector
        likeliest = (np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()).max()
        expect(page.locator(".mh-plane text", has_text=f"{likeliest:.3f}").first).to_be_visible()
    press(page, "PageDown ArrowDown")
    likeliest = LayersWidget().trace.probabilities[4].max()
    expect(page.locator(".mh-readout")).to_contain_text(f"after “bats”: {likeliest:.4f}")


def test_depth_in_python_and_the_row_are_one_value(plane):
    page = plane(depth=1)
    widget = LayersWidget(depth=1)
    expect(page.locator(".mh-said")).to_contain_text(f"cosine {widget.cosines[-1]:.3f}")


def test_compares_a_model_with_pre_norm(plane):
    page = plane()
    choose(page, "norm", "pre")
    widget = LayersWidget(norm="pre")
    expect(page.locator(".mh-said")).to_contain_text(f"cosine {widget.cosines[-1]:.3f}")
    likeliest = widget.trace.probabilities[widget.position].max()
    expect(page.locator(".mh-plane")).to_contain_text(f"{likeliest:.3f}")
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("[name^=mh-norm][value=post]")).to_be_checked()


def test_another_token_and_a_token_that_is_not_in_the_other_sentence(plane):
    page = plane()
    page.locator(".mh-follow button", has_text="baseball").click()
    expect(page.locator(".mh-readout")).to_contain_text("“baseball” is not in the other sentence.")
    page.get_by_role("textbox", name="the other sentence").fill("a baseball")
    widget = LayersWidget(other="a baseball", position=10)
    expect(page.locator(".mh-said")).to_contain_text(f"cosine {widget.cosines[-1]:.3f}")


def test_an_emptied_text_leaves_nothing_stale(plane):
    page = plane()
    typed(page).fill("")
    expect(page.locator(".mh-readout")).to_have_text("Type a sentence.")
    assert page.locator(".mh-plane text").count() == 0
    assert page.locator(".mh-follow button").count() == 0
    typed(page).fill("I love bats")
    expect(page.locator(".mh-said")).to_contain_text("of “bats”")  # 4 clamped
    assert "undefined" not in page.locator("figure").inner_text()


def test_one_screen_on_a_laptop_two_on_a_phone(book_page):
    page = book_page(LayersWidget(), LESSON)
    figure = page.locator("figure.mhalib-widget").first
    assert figure.bounding_box()["height"] <= 640
    for sight in (page.locator(".mh-plane").first, page.locator(".mh-bar"), typed(page)):
        box = sight.bounding_box()
        assert box["y"] >= 48 and box["y"] + box["height"] <= 768  # below the book's header
    assert overlaps(page) == []
    before = page.locator(".mh-plane").first.bounding_box()
    page.locator(".mh-follow button", has_text="the").last.click()
    choose(page, "norm", "pre")
    page.locator(".mh-foot").first.wait_for()
    assert page.locator(".mh-plane").first.bounding_box() == before
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".mh-plane text", has_text="who notices")).to_be_visible()
    assert figure.bounding_box()["height"] <= 2 * 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert overlaps(page) == []
