"""OwnHeadWidget on the page of the book, and on a bare one."""

import math

import pytest
from pages import choose, ready
from playwright.sync_api import expect

from mhalib.widgets import OwnHeadWidget


@pytest.fixture
def plane(widget_page):
    def opened(**values):
        page = ready(widget_page(OwnHeadWidget(**values).html()))
        page.locator(".mh-plane").focus()
        return page

    return opened


def weights(page):
    """The rows of the table of the weights: floats, None for masked."""
    page.get_by_text("numbers", exact=True).click()
    page.locator("table").first.locator("td").first.wait_for()
    rows = page.locator("table").first.locator("tbody tr").all()
    cells = [row.locator("td").all_inner_texts() for row in rows]
    page.get_by_text("numbers", exact=True).click()
    return [[None if cell == "masked" else float(cell) for cell in row] for row in cells]


def assert_equals_numpy(page, widget):
    allowed = widget.allowed
    for i, row in enumerate(weights(page)):
        for j, cell in enumerate(row):
            if allowed is not None and not allowed[i, j]:
                assert cell is None
            else:
                assert cell == pytest.approx(widget.weights[0, i, j], abs=6e-5), (i, j)


def test_paints_a_mask_by_key_and_by_mouse_and_says_that_a_row_is_empty(plane, settle):
    page = plane(n=3, mask="none", query=0, key=0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert_equals_numpy(page, OwnHeadWidget(n=3, mask="painted", hidden=[(0, 1)]))
    page.locator(".mh-plane").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    box = page.locator(".mh-plane").bounding_box()
    page.mouse.click(box["x"] + 188 + 40, box["y"] + 88 + 40)  # the first cell
    expect(page.locator(".mh-readout")).to_contain_text("Every key is hidden")
    widget = OwnHeadWidget(n=3, mask="painted", hidden=[(0, 0), (0, 1), (0, 2)])
    assert_equals_numpy(page, widget)
    assert (widget.output[0, 0] == 0).all()
    page.mouse.move(box["x"] + 188 + 40, box["y"] + 88 + 40)  # a stroke shows all of it again
    page.mouse.down()
    page.mouse.move(box["x"] + 188 + 240, box["y"] + 88 + 40, steps=8)
    page.mouse.up()
    settle(page)
    assert_equals_numpy(page, OwnHeadWidget(n=3, mask="none"))


def test_scale_0_makes_all_weights_alike(plane):
    page = plane(n=4, mask="none")
    page.get_by_label("scale").select_option(label="number")
    page.get_by_label("×").fill("0")
    assert weights(page) == [[0.25] * 4] * 4
    expect(page.locator(".mh-readout")).to_contain_text(f"{math.log(4):.2f} nats")


def test_a_value_is_dragged_stepped_and_typed(plane, settle):
    page = plane(n=3, d_k=2, mask="none", query=0, key=0)
    choose(page, "brush", "value")
    page.locator(".mh-plane").focus()
    page.keyboard.press("ArrowLeft")  # Q, row 0, column 1
    value = page.get_by_label("value of the chosen cell")
    first = OwnHeadWidget(n=3, d_k=2, mask="none").Q[0, 0, 1]
    expect(value).to_have_value(str(round(first, 3)))
    page.keyboard.press("+")
    settle(page)
    expect(value).to_have_value(str(round(first + 0.1, 3)))
    value.fill("-1.5")
    value.press("Tab")
    settle(page)
    assert_equals_numpy(page, OwnHeadWidget(n=3, d_k=2, mask="none", values={"Q.0.0.1": -1.5}))
    box = page.locator(".mh-plane").bounding_box()
    page.mouse.move(box["x"] + 76 + 70, box["y"] + 88 + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 76 + 70, box["y"] + 88 - 10, steps=4)  # 50 pixels: 1.0
    page.mouse.up()
    expect(value).to_have_value("-0.5")
    settle(page)
    assert_equals_numpy(page, OwnHeadWidget(n=3, d_k=2, mask="none", values={"Q.0.0.1": -0.5}))


def test_heads_are_at_most_as_wide_as_the_model(plane):
    page = plane(n=3, d_k=16)
    page.get_by_label("h", exact=True).fill("8")
    page.get_by_label("h", exact=True).press("Tab")
    expect(page.get_by_label("h", exact=True)).to_have_value("4")  # 4 · 16 = 64
    choose(page, "head", 3)
    expect(page.locator(".mh-plane")).to_contain_text("entropy")


def test_one_screen_on_a_laptop_two_on_a_phone(book_page):
    page = book_page(OwnHeadWidget(), "05-multi-head")
    figure = page.locator("figure.mhalib-widget").first
    assert figure.bounding_box()["height"] <= 640
    page.set_viewport_size({"width": 390, "height": 844})
    figure.evaluate("(figure) => figure.scrollIntoView()")  # what is near is laid out anew
    page.wait_for_function("() => document.querySelector('.mh-plane').clientWidth < 360")
    assert figure.bounding_box()["height"] <= 2 * 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
