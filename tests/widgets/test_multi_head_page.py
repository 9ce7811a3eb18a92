"""MultiHeadWidget on a page."""

import pytest
from pages import ready
from playwright.sync_api import expect

from mhalib.widgets import MultiHeadWidget


def test_multi_head_measures_what_a_missing_head_costs(widget_page):
    page = ready(widget_page(MultiHeadWidget(layer=1).html()))
    page.get_by_label("head 1", exact=True).uncheck()
    widget = MultiHeadWidget(layer=1, heads_off=[(1, 1)])
    expect(page.get_by_text(f"with heads off {widget.loss:.3f}")).to_be_visible()
    ready(page)
    expected = widget.relation_losses
    rows = page.locator(".mh-panel", has_text="loss by relation").locator("li")
    shown = dict(
        zip(
            rows.locator(".mh-name").all_inner_texts(),
            rows.locator(".mh-after-text").all_inner_texts(),
            strict=True,
        )
    )
    assert len(shown) > 5
    for name, loss in shown.items():
        assert float(loss) == pytest.approx(expected[name], abs=0.006), name


def test_a_further_model_is_fetched_when_it_is_chosen(widget_page):
    page = widget_page(MultiHeadWidget().html())
    fetched = []
    page.on("request", lambda request: fetched.append(request.url.rsplit("/")[-1]))
    page.reload()
    ready(page)
    assert {url for url in fetched if "head" in url or "norm" in url} == set()
    assert page.locator(".mh-head").count() == 4
    chosen = page.locator("[name^=mh-n_heads][value='8']")
    chosen.focus()
    chosen.press("Space")
    expect(page.locator(".mh-head")).to_have_count(8)
    assert "layers3-heads8.js" in fetched
    expect(chosen).to_be_focused()
    widget = MultiHeadWidget(n_heads=8)
    expect(page.get_by_text(f"loss of this sentence: {widget.full_loss:.3f}")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".mh-head")).to_have_count(4)
