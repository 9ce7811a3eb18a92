"""The scaling widget on a page opened from file:// in Chromium, with the network cut."""

import statistics

import pytest
from pages import choose, overlaps, ready
from playwright.sync_api import expect

from mhalib.widgets import ScalingWidget

FRAME = 16  # ms


@pytest.fixture
def shown(widget_page):
    """A page with one scaling widget, d_k = 16."""
    return ready(widget_page(ScalingWidget(d_k=16).html()))


def table(page, title):
    part = page.locator(".mh-more", has=page.get_by_text("numbers", exact=True))
    part.evaluate("e => { e.open = true; }")
    rows = page.get_by_role("region", name=title).locator("tbody tr")
    return rows.evaluate_all("all => all.map((r) => [...r.children].map((c) => c.textContent))")


def value(page, title):
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return float(dict(table(page, "The measures"))[title].replace("−", "-"))


def three_digits(number):
    return pytest.approx(number, rel=0.006)


def test_shows_numpys_values(shown):
    said = ScalingWidget(d_k=16).statistics
    assert value(shown, "score variance") == three_digits(said["variance"])
    assert value(shown, "largest weight") == three_digits(said["largest weight"])
    assert value(shown, "entropy") == three_digits(said["entropy"])
    assert value(shown, "Jacobian norm") == three_digits(said["jacobian norm"])


def test_drag_moves_d_k(shown):
    range_ = shown.get_by_role("slider", name="dk")
    box = range_.bounding_box()
    shown.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2)
    shown.mouse.down()
    shown.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=5)
    shown.mouse.up()
    exact = shown.get_by_label("d_k, exact value")
    expect(exact).to_have_value("1024")
    expected = ScalingWidget(d_k=1024).statistics
    assert value(shown, "largest weight") == three_digits(expected["largest weight"])


def test_keyboard_steps_and_focus_stays(shown):
    range_ = shown.locator("input[type=range]").first
    range_.focus()
    shown.keyboard.press("End")
    shown.keyboard.press("ArrowLeft")
    expect(shown.get_by_label("d_k, exact value")).to_have_value("939")
    expect(range_).to_be_focused()
    assert range_.get_attribute("aria-valuetext") == "939"


def test_touch_chooses_the_divisor(widget_page):
    page = widget_page(
        ScalingWidget(d_k=512).html(), has_touch=True, viewport={"width": 360, "height": 740}
    )
    page.locator(".mh-segments label", has_text="√dk").first.tap()
    expected = ScalingWidget(d_k=512, scale="sqrt_d_k").statistics
    expect(page.locator("[name^=mh-scale][value=sqrt_d_k]")).to_be_checked()
    assert value(page, "largest weight") == three_digits(expected["largest weight"])
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize(
    ("typed", "taken"), [("97", "97"), ("0", "1"), ("5000", "1024"), ("2.6", "3"), ("", "16")]
)
def test_typed_values_are_kept_within_the_limits(shown, typed, taken):
    exact = shown.get_by_label("d_k, exact value")
    exact.fill(typed)
    exact.press("Tab")
    expect(exact).to_have_value(taken)


def test_arrow_keys_read_bars_and_measures(shown):
    picture = shown.locator(".mh-plane")
    said = shown.locator(".mh-readout")
    widget = ScalingWidget(d_k=16)
    largest = widget.statistics["largest weight"]
    expect(said).to_contain_text(f"largest weight {largest:.3f} at")
    picture.focus()
    shown.keyboard.press("ArrowUp")
    expect(said).to_contain_text("of 2048 scores lie between")
    shown.keyboard.press("End")
    shown.keyboard.press("ArrowRight")
    shown.keyboard.press("ArrowRight")
    score = f"{widget.scores[0, 1]:.2f}".replace("-", "−")
    expect(said).to_contain_text(f"key 2 of 64: score {score}, weight")
    shown.keyboard.press("End")
    expect(said).to_contain_text("key 64 of 64")
    expect(picture).to_be_focused()


def test_counts_of_scores_are_numpys(shown):
    shown.locator(".mh-plane").focus()
    shown.keyboard.press("ArrowUp")
    for _ in range(24):
        shown.keyboard.press("ArrowRight")
    scores = ScalingWidget(d_k=16).scores
    width = 2 * 16 / 48
    count = ((scores >= 0) & (scores < width)).sum()
    expect(shown.locator(".mh-said")).to_have_text(
        f"{count} of 2048 scores lie between 0 and {width:.3f}"
    )


def test_a_drag_in_a_small_chart_sets_d_k(shown):
    picture = shown.locator(".mh-plane")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    at = shown.locator(".mh-here").nth(2).bounding_box()
    shown.mouse.move(at["x"] + 4, at["y"] + 4)
    shown.mouse.down()
    shown.mouse.move(box["x"] + box["width"] - 2, at["y"] - 60, steps=4)
    shown.mouse.move(at["x"] + 200, at["y"], steps=4)
    shown.mouse.up()
    exact = shown.get_by_label("d_k, exact value")
    expect(exact).not_to_have_value("16")
    widget = ScalingWidget(d_k=int(exact.input_value()))
    assert value(shown, "entropy") == three_digits(widget.statistics["entropy"])


def test_one_screen_on_a_laptop_two_on_a_phone(book_page):
    page = book_page(ScalingWidget(d_k=64), "04-scaling")
    figure = page.locator("figure.mhalib-widget").first
    assert figure.bounding_box()["height"] <= 640
    for sight in (page.locator(".mh-plane").first, page.locator(".mh-bar")):
        box = sight.bounding_box()
        assert box["y"] >= 48 and box["y"] + box["height"] <= 768  # below the book's header
    before = figure.bounding_box()["height"]
    for scale in ("d_k", "sqrt_d_model", "none"):
        choose(page, "scale", scale)
        assert overlaps(page) == [], scale
        assert figure.bounding_box()["height"] == before
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".mh-plane text", has_text="all scores")).to_be_visible()
    assert figure.bounding_box()["height"] <= 1.5 * 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert overlaps(page) == []


def test_table_has_every_number(shown):
    rows = table(shown, "The first query")
    assert len(rows) == 64
    widget = ScalingWidget(d_k=16)
    assert [float(c.replace("−", "-")) for c in rows[10][1:]] == [
        pytest.approx(widget.scores[0, 10], abs=1e-4),
        pytest.approx(widget.weights[0, 10], abs=1e-6),
    ]


def test_reset_restores_what_the_page_opened_with(shown, settle):
    exact = shown.get_by_label("d_k, exact value")
    exact.fill("512")
    exact.press("Tab")
    shown.get_by_role("button", name="New sample").click()
    shown.get_by_role("button", name="Reset").click()
    expect(exact).to_have_value("16")
    settle(shown)
    assert value(shown, "entropy") == three_digits(ScalingWidget(d_k=16).statistics["entropy"])


def test_two_widgets_do_not_touch_each_other(widget_page):
    page = widget_page(ScalingWidget(d_k=4).html(), ScalingWidget(d_k=8, scale="d_k").html())
    first, second = (page.get_by_label("d_k, exact value").nth(i) for i in (0, 1))
    first.fill("100")
    first.press("Tab")
    page.locator("figure").nth(0).locator("[value=sqrt_d_k]").check()
    expect(second).to_have_value("8")
    expect(page.locator("figure").nth(1).locator("[value=d_k]")).to_be_checked()
    assert page.locator("[id]").count() == 0


def test_a_step_takes_few_frames(shown, step_times):
    step = (
        "range = document.querySelector('input[type=range]'); range.value = {};"
        "range.dispatchEvent(new Event('input', {{ bubbles: true }}))"
    )
    median = statistics.median(step_times(shown, [step.format(i) for i in range(20, 60)]))
    print(f"scaling: {median:.1f} ms a step")
    assert median < 6 * FRAME


def test_nothing_moves_when_the_page_opens(widget_page):
    page = widget_page(*(ScalingWidget(d_k=d).html() + "<p>Text below.</p>" for d in (1, 512)))
    shift = page.evaluate(
        """() => new Promise((done) => {
            let sum = 0;
            new PerformanceObserver((list) => {
                for (const entry of list.getEntries()) sum += entry.value;
            }).observe({ type: "layout-shift", buffered: true });
            setTimeout(() => done(sum), 300);
        })"""
    )
    assert shift == 0


def test_without_javascript_and_in_print_the_picture_stays(widget_page):
    html = ScalingWidget(d_k=512).html()
    without = widget_page(html, java_script_enabled=False)
    expect(without.locator("figure svg[role=img]")).to_be_visible()
    expect(without.get_by_text("largest weight 0.938", exact=False)).to_be_visible()
    page = widget_page(html)
    picture = page.locator("figure svg[role=img]")
    expect(picture).to_be_hidden()
    page.emulate_media(media="print")
    expect(picture).to_be_visible()
    expect(page.locator(".mhalib-live")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(widget_page, axe, scheme):
    page = widget_page(ScalingWidget().html(), color_scheme=scheme)
    page.get_by_text("numbers", exact=True).click()
    for scale in ("none", "sqrt_d_k", "d_k", "sqrt_d_model"):
        page.locator(f"[value={scale}]").check()
        axe(page)
