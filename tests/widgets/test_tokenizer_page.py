"""TokenizerWidget on the page of the book, and on a bare one."""

import pytest
from pages import overlaps, ready, texts, typed
from playwright.sync_api import expect

from mhalib.widgets import TokenizerWidget


@pytest.fixture
def plane(widget_page):
    def opened(**values):
        page = ready(widget_page(TokenizerWidget(**values).html()))
        page.locator(".mh-plane").focus()
        return page

    return opened


def ids(page):
    part = page.locator(".mh-more", has=page.get_by_text("numbers", exact=True))
    part.evaluate("e => { e.open = true; }")
    cells = page.locator("figure table tbody tr td:nth-child(3)")
    return [int(text) for text in texts(cells)]


def test_steps_through_the_merges(plane, settle):
    widget = TokenizerWidget(text="I love bats")
    page = plane(text="I love bats")
    assert ids(page) == widget.shown
    page.get_by_label("merges done").press("Home")
    settle(page)
    assert len(ids(page)) == 11
    expect(page.locator(".mh-readout")).to_contain_text("every byte is a token")
    for _ in range(2):
        page.get_by_role("button", name="next merge").click()
    settle(page)
    widget.step = 2
    assert ids(page) == widget.shown
    page.locator(".mh-plane").press("ArrowUp")  # one more
    settle(page)
    widget.step = 3
    assert ids(page) == widget.shown


def test_a_token_and_the_tree_of_its_word(plane, settle):
    page = plane(text="I love bats")
    for key in ("Home", "End"):
        page.locator(".mh-plane").press(key)
    said = page.locator(".mh-readout")
    expect(said).to_contain_text(f"id {TokenizerWidget(text='I love bats').ids[-1]}")
    expect(said).to_contain_text("bytes 20 62 61 74 73")
    expect(page.locator(".mh-plane")).to_contain_text("merges of “␣bats”")
    expect(page.locator(".mh-leaf")).to_have_count(5)
    expect(page.locator(".mh-joint")).to_have_count(4)  # five bytes become one token
    page.locator(".mh-plane").press("PageDown")  # back to the bytes
    expect(page.locator(".mh-joint-open")).to_have_count(4)
    expect(page.locator(".mh-plane")).to_contain_text("0 of 4 done")


def test_a_click_in_the_tree_does_merges_and_undoes_them(plane, settle):
    page = plane(text=" bats")
    picture = page.locator(".mh-plane")
    leaf = page.locator(".mh-leaf").first.bounding_box()
    page.mouse.click(leaf["x"] + 5, leaf["y"] - 4)
    expect(picture).to_contain_text("0 of 4 done")
    assert len(ids(page)) == 5


def test_an_emptied_text_leaves_nothing_stale(plane):
    page = plane()
    typed(page).fill("")
    expect(page.locator(".mh-readout")).to_have_text("Type something.")
    assert page.locator(".mh-plane text").count() == 0
    typed(page).fill("🦇")
    expect(page.locator(".mh-plane")).to_contain_text("f0")


def test_one_screen_on_a_laptop_one_on_a_phone_and_nothing_moves(book_page, settle):
    page = book_page(TokenizerWidget(text="I love bats, batsmen and 🦇!"), "01-tokenization")
    figure = page.locator("figure.mhalib-widget").first
    height = figure.bounding_box()["height"]
    assert height <= 640
    assert overlaps(page) == []
    for _ in range(6):
        page.get_by_role("button", name="undo a merge").click()
        settle(page)
        assert overlaps(page) == []
        assert figure.bounding_box()["height"] == height
    page.set_viewport_size({"width": 390, "height": 844})
    settle(page)
    assert figure.bounding_box()["height"] <= 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert overlaps(page) == []
