"""EmbeddingWidget on a page."""

from pages import ready
from playwright.sync_api import expect

from mhalib.widgets import EmbeddingWidget


def test_embedding_lists_numpys_neighbours_and_follows_a_click(widget_page, settle):
    page = ready(widget_page(EmbeddingWidget().html()))
    rows = page.locator(".mh-near li").all_inner_texts()
    expected = EmbeddingWidget().neighbours
    assert [row.split() for row in rows] == [[n.strip(), f"{c:.3f}"] for n, c in expected]
    page.get_by_role("button", name="mice").click()
    settle(page)
    expected = EmbeddingWidget(word=" mice").neighbours
    assert page.locator(".mh-near button").all_inner_texts() == [n.strip() for n, _ in expected]
    expect(page.get_by_label("word")).to_have_value(str(EmbeddingWidget(word=" mice").word))
