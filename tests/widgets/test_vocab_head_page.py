"""VocabHeadWidget on the page of the book, and on a bare one."""

from pages import ready, typed
from playwright.sync_api import expect

from mhalib.widgets import VocabHeadWidget

TEXT = "I love to study bats that live inside a"


def test_compares_with_the_exact_and_writes(widget_page):
    widget = VocabHeadWidget(text=TEXT, position=8)
    page = ready(widget_page(widget.html()))
    first = page.locator(".mh-predictions li").first.inner_text()
    assert "cave" in first and "exact 0.800" in first
    assert f"{widget.probabilities.max():.3f}" in first
    page.get_by_role("button", name="to the full stop").click()
    made = page.locator(".mh-writing .mh-made")
    widget.write(20)
    expect(made).to_have_count(len(widget.generated))
    written = [widget.tokenizer.decode([i]).strip() for i in widget.generated]
    assert made.all_inner_texts() == written
    page.get_by_role("button", name="undo").click()
    expect(made).to_have_count(len(written) - 1)
    page.get_by_label("examples").select_option(index=1)
    expect(typed(page)).to_have_value(VocabHeadWidget().text)
    expect(made).to_have_count(0)  # written for the other sentence


def test_a_pick_shows_the_dot_product_and_a_cut_word_is_hatched(widget_page):
    page = ready(widget_page(VocabHeadWidget(top_k=3).html()))
    expect(page.locator(".mh-next .mh-cut")).to_have_count(5)  # of 8
    page.locator(".mh-predictions button", has_text="toy").click()
    widget = VocabHeadWidget(word=" toy")
    said = f"logit of “toy” = sum of 64 products = {widget.logits[widget.word]:.3f}"
    expect(page.locator(".mh-said")).to_contain_text(said)
    page.locator(".mh-plane").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".mh-plane")).to_contain_text("feature 1:")


def test_an_emptied_text_leaves_nothing_stale(widget_page):
    page = ready(widget_page(VocabHeadWidget().html()))
    typed(page).fill("")
    expect(page.locator(".mh-readout")).to_have_text("Type the beginning of a sentence.")
    expect(page.locator(".mh-next")).to_be_hidden()


def test_one_screen_on_a_laptop_two_on_a_phone(book_page):
    page = book_page(VocabHeadWidget(), "07-vocab-head")
    figure = page.locator("figure.mhalib-widget").first
    assert figure.bounding_box()["height"] <= 640
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("() => document.querySelector('.mh-plane').clientWidth > 300")
    assert figure.bounding_box()["height"] <= 2 * 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
