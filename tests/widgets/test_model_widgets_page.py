"""The widgets around the model on a page from file://, network cut."""

import statistics

import numpy as np
import pytest
from pages import LONG, read_out, ready
from playwright.sync_api import expect

import mhalib
from mhalib.widgets import (
    EmbeddingWidget,
    LayersWidget,
    MachineWidget,
    MultiHeadWidget,
    SingleHeadWidget,
    TokenizerWidget,
    VocabHeadWidget,
)

FRAME = 16  # ms
ALL = [
    EmbeddingWidget,
    TokenizerWidget,
    SingleHeadWidget,
    MultiHeadWidget,
    LayersWidget,
    VocabHeadWidget,
    MachineWidget,
]


@pytest.mark.parametrize("widget", [SingleHeadWidget, MultiHeadWidget, LayersWidget, MachineWidget])
def test_arrow_keys_read_cells_and_focus_stays(widget_page, widget, settle):
    page = ready(widget_page(widget().html()))
    surface = page.locator(":is(.mh-map, .mh-plane):visible").first
    surface.focus()
    page.keyboard.press("PageUp")
    read = []
    for key in ("Home", "ArrowRight", "ArrowDown", "End", "PageDown"):
        page.keyboard.press(key)
        settle(page)
        read.append(read_out(page))
        expect(surface).to_be_focused()
    assert all(before != after for before, after in zip(read, read[1:], strict=False))


@pytest.mark.parametrize("widget", ALL)
def test_two_copies_and_a_reset_leave_each_other_alone(widget_page, widget, settle):
    page = widget_page(widget().html(), widget().html())
    ready(page)
    second = page.locator("figure").nth(1)
    # what is to be seen; the region for screen readers speaks in its own time
    seen = """figure => { const copy = figure.cloneNode(true);
      copy.querySelectorAll(".mh-unseen").forEach((part) => part.remove());
      return copy.textContent; }"""
    settle(page)
    before = second.evaluate(seen)
    for control in page.locator("figure").nth(0).locator("input[type=range]").all():
        control.focus()
        page.keyboard.press("Home")
    for label in page.locator("figure").nth(0).locator(".mh-segments label:last-child").all():
        if label.is_visible():  # a tab may have put it away
            label.click()
    settle(page)
    assert second.evaluate(seen) == before
    names = page.evaluate("[...document.querySelectorAll('input[type=radio]')].map((r) => r.name)")
    assert len(set(names)) % 2 == 0  # each group once per copy


@pytest.mark.parametrize(
    "widget", [SingleHeadWidget, MultiHeadWidget, LayersWidget, VocabHeadWidget, MachineWidget]
)
def test_a_step_at_32_tokens_takes_few_frames(widget_page, step_times, widget):
    page = ready(widget_page(widget(text=LONG).html()))
    step = (
        "area = document.querySelector('textarea, .mh-line-input');"
        "area.value = '{}' + area.value.slice(4);"
        "area.dispatchEvent(new Event('input', {{ bubbles: true }}))"
    )
    steps = [step.format(word) for word in ["mice", "bats"] * 9]
    median = statistics.median(step_times(page, steps))
    print(f"{widget.__name__}: {median:.1f} ms a step at 32 tokens")
    assert median < 10 * FRAME


def test_a_model_of_ones_own_stays_a_picture_on_a_page(widget_page, settle):
    config = mhalib.Config(vocab_size=567, d_model=6, n_heads=3, n_layers=1)
    model = mhalib.Transformer(config, mhalib.init_parameters(config, np.random.default_rng(3)))
    page = widget_page(SingleHeadWidget(model=model).html())
    settle(page)
    expect(page.locator("figure svg[role=img]")).to_be_visible()
    assert page.locator(".mhalib-live").count() == 0
