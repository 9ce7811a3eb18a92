"""The widgets around the model on a page from file://, network cut."""

import json
import statistics
from urllib.parse import quote

import numpy as np
import pytest
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
expect.set_options(timeout=60_000)
ALL = [
    EmbeddingWidget,
    TokenizerWidget,
    SingleHeadWidget,
    MultiHeadWidget,
    LayersWidget,
    VocabHeadWidget,
    MachineWidget,
]
LONG = " ".join(["bats cave"] * 16)  # 32 tokens


def ready(page):
    """Wait for the live widget, and for the losses by relation if it has them."""
    for live in page.locator(".mhalib-live").all():
        live.locator("> *").nth(1).wait_for()
    expect(page.get_by_text("measuring …", exact=True)).to_have_count(0)
    return page


def typed(page):
    return page.get_by_label("your sentence").or_(page.get_by_label("your text")).first


@pytest.mark.parametrize("widget", [SingleHeadWidget, MultiHeadWidget, LayersWidget, MachineWidget])
def test_arrow_keys_read_cells_and_focus_stays(widget_page, widget, settle):
    page = ready(widget_page(widget().html()))
    surface = page.locator(".mh-map:visible").first
    surface.focus()
    read = []
    for key in ("Home", "ArrowRight", "ArrowDown", "End", "PageDown"):
        page.keyboard.press(key)
        settle(page)
        read.append(page.locator("figure [aria-live=polite]").all_inner_texts())
        expect(surface).to_be_focused()
    assert all(before != after for before, after in zip(read, read[1:], strict=False))


@pytest.mark.parametrize("widget", ALL)
def test_two_copies_and_a_reset_leave_each_other_alone(widget_page, widget, settle):
    page = widget_page(widget().html(), widget().html())
    ready(page)
    second = page.locator("figure").nth(1)
    before = second.inner_text()
    for control in page.locator("figure").nth(0).locator("input[type=range]").all():
        control.focus()
        page.keyboard.press("Home")
    for label in page.locator("figure").nth(0).locator(".mh-segments label:last-child").all():
        label.click()
    settle(page)
    assert second.inner_text() == before
    names = page.evaluate("[...document.querySelectorAll('input[type=radio]')].map((r) => r.name)")
    assert len(set(names)) % 2 == 0  # each group once per copy


@pytest.mark.parametrize(
    "widget", [SingleHeadWidget, MultiHeadWidget, LayersWidget, VocabHeadWidget, MachineWidget]
)
def test_a_step_at_32_tokens_takes_few_frames(widget_page, step_times, widget):
    page = ready(widget_page(widget(text=LONG).html()))
    step = (
        "area = document.querySelector('textarea'); area.value = '{}' + area.value.slice(4);"
        "area.dispatchEvent(new Event('input', {{ bubbles: true }}))"
    )
    steps = [step.format(word) for word in ["mice", "bats"] * 9]
    median = statistics.median(step_times(page, steps))
    print(f"{widget.__name__}: {median:.1f} ms a step at 32 tokens")
    assert median < 10 * FRAME


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


def test_single_head_shows_the_arithmetic_of_a_weight(widget_page, settle):
    widget = SingleHeadWidget()
    page = ready(widget_page(widget.html()))
    surface = page.get_by_role("application", name="weights = softmax of each row")
    surface.focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    line = page.locator(".mh-arithmetic")
    expect(line).to_contain_text(f"= {widget.weights[4, 2]:.4f}"[:6])
    page.locator("[value=none]").check()
    settle(page)
    widget.mask = "none"
    page.get_by_text("The weights in numbers").click()
    cells = page.locator("tbody tr").nth(4).locator("td").all_inner_texts()
    np.testing.assert_allclose([float(c) for c in cells], widget.weights[4], atol=6e-5)


def test_single_head_hides_the_padding_that_was_picked(widget_page):
    page = ready(widget_page(SingleHeadWidget(mask="padding").html()))
    page.locator(".mh-chips label", has_text="store").click()
    page.get_by_text("The weights in numbers").click()
    row = page.locator("tbody tr").nth(4).locator("td").all_inner_texts()
    widget = SingleHeadWidget(mask="padding", padding=[11])
    assert row[11] == "masked"
    assert float(row[4]) == pytest.approx(widget.weights[4, 4], abs=6e-5)


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


def test_machine_follows_a_probability_back_to_an_id(widget_page, settle):
    page = ready(widget_page(MachineWidget().html()))
    follow = page.locator(".mh-follow")
    expect(follow).to_contain_text(f"= {MachineWidget().value:.4f}"[:7])
    for _ in range(40):
        buttons = follow.locator(".mh-terms button")
        if buttons.count() == 0:
            break
        buttons.first.click()
        settle(page)
    assert (
        "where it starts" in follow.inner_text()
        or "mask hides" in follow.inner_text()
        or "sin(" in follow.inner_text()
        or "cos(" in follow.inner_text()
    )
    follow.get_by_role("button", name="back").click()
    expect(follow.locator(".mh-terms button").first).to_be_visible()


@pytest.mark.parametrize("switch", ["causal mask", "positions", "layer norm", "residual"])
def test_machine_switches_parts_off(widget_page, switch):
    page = ready(widget_page(MachineWidget().html()))
    name = {"causal mask": "mask", "layer norm": "norm"}.get(switch, switch)
    page.get_by_label(switch, exact=True).uncheck()
    widget = MachineWidget(off=[name])
    expect(page.get_by_text(f"with your switches {widget.loss:.3f}")).to_be_visible()


def test_machine_link_reproduces_the_state(widget_page, settle):
    page = ready(widget_page(MachineWidget().html()))
    page.get_by_label("head 2", exact=True).nth(1).uncheck()
    typed(page).fill("I love to study bats that live inside a cave.")
    settle(page)
    page.get_by_role("link", name="link to this state").click()
    page.reload()
    ready(page)
    expect(typed(page)).to_have_value("I love to study bats that live inside a cave.")
    expect(page.get_by_label("head 2", exact=True).nth(1)).not_to_be_checked()


def test_machine_shows_the_changed_model_beside_the_whole_one(widget_page, settle):
    page = ready(widget_page(MachineWidget(off=["heads.1.0"], layer=1, head=0).html()))
    tile = page.locator(".mh-stage", has_text="head output")
    tile.scroll_into_view_if_needed()
    settle(page)
    pictures = tile.locator("canvas:visible").evaluate_all("all => all.map((c) => c.toDataURL())")
    assert len(set(pictures)) == 2
    page.get_by_role("button", name="Reset").click()
    page.get_by_label("head 0", exact=True).nth(1).check()
    settle(page)
    expect(tile.locator("canvas:visible")).to_have_count(1)


INK = """all => all.map((canvas) => {
  const { width, height } = canvas;
  return canvas.getContext("2d").getImageData(0, 0, width, height).data.some((byte) => byte > 0);
})"""


def test_a_picture_off_the_screen_is_drawn_when_it_comes_near(widget_page, settle):
    page = ready(widget_page(MachineWidget().html()))
    settle(page)
    drawn = page.locator("canvas:visible").evaluate_all(INK)
    assert False in drawn
    below = page.locator("canvas:visible").nth(drawn.index(False))
    page.get_by_label("your sentence").fill("I love to study bats")  # it changes meanwhile
    below.scroll_into_view_if_needed()
    settle(page)
    assert below.evaluate("canvas => canvas.height") == 5
    assert below.evaluate_all(INK) == [True]


def address(**state):
    return "#machine=" + quote(json.dumps(state))


@pytest.mark.parametrize(
    "hash_",
    [
        "#machine=%7Bbroken",
        "#machine=%",
        "#x",
        address(text=7, off=[7]),
        address(layer=99, head=99, position=10**9, off=["foo.0", "constructor", "layers.-1", "a"]),
        address(follow="constructor.1.2", off="scale", text="x" * 401),
        address(follow="layers.9.Q.9.9.9", layer=-1, head=0.5),
        "#machine=null",
        "#machine=" + quote('{"__proto__": {"text": "x"}}'),
    ],
)
def test_machine_survives_a_bad_link(widget_page, settle, hash_):
    page = widget_page(MachineWidget().html())
    page.goto(page.url + hash_)
    page.reload()
    ready(page)
    expect(typed(page)).to_have_value(MachineWidget().text)
    expect(page.locator(".mh-stage canvas:visible").first).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    settle(page)
    expect(page.locator(".mh-follow")).to_contain_text(f"{MachineWidget().value:.4f}")


def test_machine_follows_a_link_on_its_own_page(widget_page):
    page = ready(widget_page(MachineWidget().html()))
    text = "I love to study bats that live inside a"
    page.goto(page.url + address(text=text, position=8, off=["mask", "heads.2.2"]))
    widget = MachineWidget(text=text, position=8, off=["mask", "heads.2.2"])
    expect(typed(page)).to_have_value(text)
    expect(page.get_by_text(f"with your switches {widget.loss:.3f}")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(typed(page)).to_have_value(MachineWidget().text)


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


def test_layers_compares_a_model_with_pre_norm(widget_page):
    page = ready(widget_page(LayersWidget().html()))
    page.locator("[name^=mh-norm][value=pre]").check(force=True)
    widget = LayersWidget(norm="pre")
    expect(page.get_by_text(f"{widget.cosines[-1]:.3f} at the end")).to_be_visible()
    likeliest = widget.trace.probabilities[widget.position].max()
    expect(page.locator(".mh-predictions .mh-figures").first).to_have_text(f"{likeliest:.3f}")


def test_single_head_adds_its_correction_to_the_stream(widget_page):
    widget = SingleHeadWidget(layer=1, head=2)
    page = ready(widget_page(widget.html()))
    line = page.locator(".mh-arithmetic")
    for name, matrix in (("correction = O W", widget.correction), ("X + O W", widget.sum)):
        page.get_by_role("application", name=name).focus()
        page.keyboard.press("PageDown")
        page.keyboard.press("End")
        expect(line).to_contain_text(f"= {matrix[12, 63]:.4f}".replace("-", "−"))
    x, c = widget.X[12, 63], widget.correction[12, 63]
    expect(line).to_contain_text(f"{x:.4f} + {c:.4f}".replace("-", "−"))
    expect(page.locator(".mh-shape").last).to_have_text("n × dmodel = 13\u00a0×\u00a064")


def test_a_model_of_ones_own_stays_a_picture_on_a_page(widget_page, settle):
    config = mhalib.Config(vocab_size=567, d_model=6, n_heads=3, n_layers=1)
    model = mhalib.Transformer(config, mhalib.init_parameters(config, np.random.default_rng(3)))
    page = widget_page(SingleHeadWidget(model=model).html())
    settle(page)
    expect(page.locator("figure svg[role=img]")).to_be_visible()
    assert page.locator(".mhalib-live").count() == 0
