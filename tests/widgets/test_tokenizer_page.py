"""TokenizerWidget on a page."""

from pages import ready
from playwright.sync_api import expect

from mhalib.widgets import TokenizerWidget


def test_tokenizer_steps_through_the_merges(widget_page, settle):
    widget = TokenizerWidget(text="I love bats")
    page = ready(widget_page(widget.html()))
    boxes = page.locator("li.mh-token")
    expect(boxes).to_have_count(3)
    assert [int(t) for t in page.locator(".mh-id").all_inner_texts()] == widget.shown
    page.get_by_label("merges done").focus()
    page.keyboard.press("Home")
    expect(boxes).to_have_count(11)
    page.get_by_role("button", name="next merge").click()
    page.get_by_role("button", name="next merge").click()
    settle(page)
    widget.step = 2
    assert [int(t) for t in page.locator(".mh-id").all_inner_texts()] == widget.shown
