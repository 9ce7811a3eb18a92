"""VocabHeadWidget on a page."""

from pages import ready
from playwright.sync_api import expect

from mhalib.widgets import VocabHeadWidget


def test_vocab_head_compares_with_the_exact_and_writes(widget_page):
    widget = VocabHeadWidget(text="I love to study bats that live inside a", position=8)
    page = ready(widget_page(widget.html()))
    first = page.locator(".mh-predictions li").first.inner_text()
    assert "cave" in first and "exact 0.800" in first
    assert f"{widget.probabilities.max():.3f}" in first
    page.get_by_role("button", name="to the full stop").click()
    expect(page.locator(".mh-writing mark")).to_have_text(
        widget.write(20).removeprefix("I love to study bats that live inside a")
    )
    page.get_by_role("button", name="take back").click()
    expect(page.locator(".mh-writing mark")).not_to_contain_text(".")
    page.get_by_role("button", name="choose at the baseball store").click()
    expect(page.locator(".mh-writing")).to_have_text(VocabHeadWidget().text)
    expect(page.locator(".mh-writing mark")).to_be_empty()  # written for the other sentence
