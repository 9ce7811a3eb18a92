"""MultiHeadWidget on the page of the book, and on a bare one."""

import pytest
from pages import choose, ready, texts
from playwright.sync_api import expect

from mhalib.widgets import MultiHeadWidget

LESSON = "05-multi-head"


def head(page, number):
    return page.locator(".mh-head-chips").get_by_role("button", name=f"head {number}", exact=True)


def test_measures_what_a_missing_head_costs(widget_page):
    page = ready(widget_page(MultiHeadWidget(layer=1).html()))
    head(page, 1).click()
    expect(head(page, 1)).to_have_attribute("aria-pressed", "false")
    widget = MultiHeadWidget(layer=1, heads_off=[(1, 1)])
    expect(
        page.locator(".mh-of-changed", has_text=f"with heads off {widget.loss:.3f}")
    ).to_be_visible()
    ready(page)
    expected = widget.relation_losses
    rows = page.locator(".mh-panel", has_text="loss by relation").locator("li")
    shown = dict(
        zip(
            texts(rows.locator(".mh-name")),
            texts(rows.locator(".mh-after-text")),
            strict=True,
        )
    )
    assert len(shown) > 5
    for name, loss in shown.items():
        assert float(loss) == pytest.approx(expected[name], abs=0.006), name


def test_a_phone_keeps_the_relation_that_suffers_in_sight(widget_page):
    """Its losses are below the screen when a head is switched off."""
    page = ready(
        widget_page(MultiHeadWidget(layer=1).html(), viewport={"width": 390, "height": 844})
    )
    head(page, 1).click()
    ready(page)
    widget = MultiHeadWidget(layer=1, heads_off=[(1, 1)])
    whole, without = MultiHeadWidget(layer=1).relation_losses, widget.relation_losses
    named = whole.keys() - {"all", "free"}
    worst = max(named, key=lambda name: without[name] - whole[name])
    page.locator(".mh-heads-board").scroll_into_view_if_needed()
    bar = page.locator(".mh-result")
    expect(bar).to_have_text(f"{worst}: loss {whole[worst]:.2f} → {without[worst]:.2f}")
    expect(bar).to_be_in_viewport()
    head(page, 1).click()
    expect(bar).to_contain_text("looks at")


def test_a_further_model_is_fetched_when_it_is_chosen(widget_page):
    page = widget_page(MultiHeadWidget().html())
    fetched = []
    page.on("request", lambda request: fetched.append(request.url.rsplit("/")[-1]))
    page.reload()
    ready(page)
    assert {url for url in fetched if "head" in url or "norm" in url} == set()
    chips = page.locator(".mh-head-chips button")
    expect(chips).to_have_count(4)
    chosen = page.locator("[name^=mh-n_heads][value='8']")
    chosen.focus()
    chosen.press("Space")
    expect(chips).to_have_count(8)
    assert "layers3-heads8.js" in fetched
    expect(chosen).to_be_focused()
    widget = MultiHeadWidget(n_heads=8)
    expect(page.get_by_text(f"loss of this sentence: {widget.full_loss:.3f}")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(chips).to_have_count(4)


def test_a_model_that_does_not_come_leaves_the_widget_and_can_be_asked_for_again(widget_page):
    page = ready(widget_page(MultiHeadWidget().html()))
    page.evaluate(
        """() => {
            const append = document.head.append.bind(document.head);
            document.head.append = (script) => window.there || !script.src.includes("heads8")
                ? append(script) : setTimeout(() => script.dispatchEvent(new Event("error")));
        }"""
    )
    choose(page, "n_heads", 8)
    expect(page.get_by_role("alert")).to_contain_text("models/layers3-heads8.js did not load")
    expect(page.locator(".mh-head-chips button")).to_have_count(4)  # what was there
    page.evaluate("window.there = true")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".mh-head-chips button")).to_have_count(8)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_pick_reads_every_head(widget_page):
    page = ready(widget_page(MultiHeadWidget(layer=2).html()))
    page.locator(".mh-plane").focus()
    for key in ("PageUp", "Home", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    weights = MultiHeadWidget(layer=2).weights[:, 2, 1]
    said = ", ".join(f"head {k} {w:.3f}" for k, w in enumerate(weights))
    expect(page.locator(".mh-said")).to_have_text(f"“so” looks at “are”: {said}")


def test_two_keys_within_a_frame_are_two_steps(widget_page):
    page = ready(widget_page(MultiHeadWidget(layer=2).html()))
    page.locator(".mh-plane").evaluate("""(plane) => {
        for (const key of ["PageUp", "Home", "ArrowDown", "ArrowDown", "ArrowRight"])
            plane.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }""")
    expect(page.locator(".mh-said")).to_contain_text("“so” looks at “are”")


def test_one_screen_with_all_that_a_head_changes(book_page):
    page = book_page(MultiHeadWidget(layer=2), LESSON)
    figure = page.locator("figure.mhalib-widget").first
    assert figure.bounding_box()["height"] <= 640
    for sight in (head(page, 1), page.locator(".mh-two"), page.locator(".mh-readout")):
        box = sight.bounding_box()
        assert box["y"] >= 48 and box["y"] + box["height"] <= 768
    page.set_viewport_size({"width": 390, "height": 844})
    figure.evaluate("(figure) => figure.scrollIntoView()")  # what is near is laid out anew
    page.wait_for_function("() => document.querySelector('.mh-plane').clientWidth < 360")
    assert figure.bounding_box()["height"] <= 2 * 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
