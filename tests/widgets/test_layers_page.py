"""LayersWidget on a page."""

from pages import ready
from playwright.sync_api import expect

from mhalib.widgets import LayersWidget


def test_layers_shows_how_the_meanings_part(widget_page):
    widget = LayersWidget()
    page = ready(widget_page(widget.html()))
    first, last = widget.cosines[0], widget.cosines[-1]
    expect(page.get_by_text(f"{first:.3f} at the start, {last:.3f} at the end")).to_be_visible()
    page.locator(".mh-segments label", has_text="1").first.click()
    widget.depth = 1
    expect(page.get_by_text(f"{widget.cosines[-1]:.3f} at the end")).to_be_visible()


def test_layers_only_attention_spreads_a_change(widget_page):
    page = ready(widget_page(LayersWidget(position=4).html()))
    expect(page.get_by_text("1 → 9 → 9 → 9 → 9 → 9 → 9")).to_be_visible()


def test_layers_compares_a_model_with_pre_norm(widget_page):
    page = ready(widget_page(LayersWidget().html()))
    page.locator("[name^=mh-norm][value=pre]").check(force=True)
    widget = LayersWidget(norm="pre")
    expect(page.get_by_text(f"{widget.cosines[-1]:.3f} at the end")).to_be_visible()
    likeliest = widget.trace.probabilities[widget.position].max()
    expect(page.locator(".mh-predictions .mh-figures").first).to_have_text(f"{likeliest:.3f}")
