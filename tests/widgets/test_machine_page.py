"""MachineWidget on the page of the book, and on a bare one."""

import json
import re
from urllib.parse import quote

import numpy as np
import pytest
from pages import overlaps, ready, typed
from playwright.sync_api import expect

from mhalib.language import RELATIONS
from mhalib.widgets import MachineWidget

LESSON = "machine"
CAVE = "I love to study bats that live inside a"


@pytest.fixture
def machine(widget_page):
    def opened(options=None, **values):
        page = ready(widget_page(MachineWidget(**values).html(), **(options or {})))
        page.locator(".mh-plane").focus()
        return page

    return opened


def said(page):
    return page.locator(".mh-said")


def numbers(page, title):
    """The rows of one of the tables, opened."""
    if not page.locator("details[open]").count():
        page.get_by_text("numbers", exact=True).click()
    table = page.locator("table").filter(has=page.locator("caption", has_text=title))
    rows = table.locator("tbody tr")
    rows.first.wait_for()
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_a_number_is_followed_back_to_an_id(machine):
    page = machine(follow="probabilities.9.536")
    expect(said(page)).to_contain_text(f"= {MachineWidget().value:.4f}")
    for _ in range(40):
        terms = page.locator(".mh-from button:not([aria-label=back])")
        if not terms.count():
            break
        before = said(page).inner_text()
        terms.first.click()
        expect(said(page)).not_to_have_text(before)
    end = page.locator(".mh-said-more").inner_text()
    assert re.search(r"where it starts|mask hides|sin\(|cos\(", end), end
    page.get_by_role("button", name="back", exact=True).click()
    expect(page.locator(".mh-from button").first).to_be_visible()


OFF = ["scale", "mask", "positions", "embedding_scale", "residual", "norm"]
PARTS = {
    "heads.1.1": "layer 1, head 1",
    "W_O.0": "layer 0, W_O",
    "ffn.2": "layer 2, FFN",
    "layers.1": "layer 1",
}


@pytest.mark.parametrize("name", [*OFF, *PARTS])
def test_every_part_is_a_switch_and_the_numbers_are_numpys(machine, name):
    page = machine()
    if name in PARTS:
        page.get_by_role("button", name=PARTS[name], exact=True).click()
    else:
        page.locator(".mh-toggle").nth(OFF.index(name)).click()
    widget = MachineWidget(off=[name])
    at = widget.trace.probabilities[9]
    words = {row[0]: row[1:] for row in numbers(page, "Next word")}
    for word, (before, after) in words.items():
        i = widget.tokenizer.encode(f" {word}" if word != "." else word)[0]
        assert float(before) == pytest.approx(widget.full_trace.probabilities[9, i], abs=6e-5)
        assert float(after) == pytest.approx(at[i], abs=6e-5)
    loss = numbers(page, "Loss in nats")[0]
    assert [float(x) for x in loss[1:]] == pytest.approx([widget.full_loss, widget.loss], abs=6e-4)
    expect(page.get_by_role("button", name="hold: whole model")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("button", name="hold: whole model")).to_be_hidden()


def test_a_head_that_is_off_takes_nothing(machine):
    page = machine(off=["heads.1.1"], follow="layers.1.weights.1.9.4")
    expect(said(page)).to_contain_text("layer 1, head 1 is off: “the” would take")


def test_the_change_is_where_it_arises_and_as_long_as_it_is(machine):
    page = machine(off=["heads.1.1"])
    widget = MachineWidget(off=["heads.1.1"])
    bars = page.locator(".mh-change").first.get_attribute("d")
    lengths = [float(x) for x in re.findall(r"h([\d.]+)v", bars)]
    shares = []
    for whole, changed in zip(widget.full_trace.layers, widget.trace.layers, strict=True):
        apart = np.linalg.norm(changed.output - whole.output, axis=1)
        shares += list((apart / np.linalg.norm(whole.output, axis=1))[: 9 + 1])
    assert shares[0] == 0  # layer 0 stands before it
    expected = [64 * min(1, s) for s in shares if 64 * min(1, s) >= 0.5]
    assert lengths == pytest.approx(expected, abs=0.01)
    spoken = page.locator(".mh-said-more")
    expect(spoken).to_have_text("layer 1, head 1 off: baseball 0.813 → 0.445, toy 0.182 → 0.521")


def test_losses_by_relation_are_pythons(machine):
    page = machine(off=["heads.1.1"], right="loss by relation")
    expect(page.locator(".mh-plane text", has_text="recall")).to_be_attached()
    widget = MachineWidget(off=["heads.1.1"])
    whole = MachineWidget().relation_losses
    rows = {row[0]: row[1:] for row in numbers(page, "Loss in nats")}
    losses = widget.relation_losses
    assert {"all", *RELATIONS} <= set(rows)
    for name in ("all", *RELATIONS):
        loss = losses[name]
        assert [float(x) for x in rows[name]] == pytest.approx([whole[name], loss], abs=6e-4)


def test_holding_shows_the_whole_model_and_letting_go_the_changed_one(machine):
    page = machine(off=["mask"])
    fan = page.locator(".mh-fan-changed")
    expect(fan.first).to_be_attached()
    page.get_by_role("button", name="hold: whole model").hover()
    page.mouse.down()
    expect(fan).to_have_count(0)
    page.mouse.up()
    expect(fan.first).to_be_attached()


def test_the_walk_goes_stage_by_stage_forward_and_back(machine):
    page = machine()
    widget = MachineWidget()
    on, back = (page.get_by_role("button", name=f"one stage {way}") for way in ("on", "back"))
    on.click()
    expect(said(page)).to_have_text(
        re.compile(rf"1/9\s+“the” is token 9 of the text. Its id is {widget.ids[9]}.")
    )
    for _ in range(3):
        on.click()
    active = int((widget.trace.layers[0].ffn_hidden[9] > 0).sum())
    expect(said(page)).to_contain_text("4/9  Layer 0: the feed-forward network works on “the”")
    expect(said(page)).to_contain_text(f"{active} of its 256 neurons are on")
    expect(page.locator(".mh-said-more")).to_contain_text("lesson 6")
    back.click()
    expect(said(page)).to_contain_text("3/9")
    most = widget.trace.layers[0].attention.weights[:, 9, :9].max(axis=1)
    expect(said(page)).to_contain_text(f"{most.max():.3f} in head {most.argmax()}")


def test_run_plays_to_the_words_and_stops_anywhere(machine):
    page = machine()
    page.clock.install()
    page.get_by_role("button", name="run").click()
    expect(said(page)).to_contain_text("1/9")
    page.clock.run_for(950)
    expect(said(page)).to_contain_text("2/9")
    page.get_by_role("button", name="stop").click()
    page.clock.run_for(5000)
    expect(said(page)).to_contain_text("2/9")
    page.get_by_role("button", name="run").click()
    page.clock.run_for(9000)
    expect(said(page)).to_contain_text("9/9")
    expect(page.get_by_role("button", name="run")).to_be_visible()


@pytest.mark.parametrize(
    ("opened", "stage", "first"),
    [
        ("X", "X", "embedded"),
        ("W_O", "W_O", "layers.1.concat"),
        ("ffn", "FFN", "layers.1.norm_1"),
    ],
)
def test_an_opened_part_shows_its_matrices_to_the_arrow_keys(machine, opened, stage, first):
    page = machine(options={"reduced_motion": "reduce"}, opened=opened)
    expect(page.locator(".mh-crumb")).to_contain_text(f"{stage} ▸ the")
    press(page, "Home", "PageUp")
    called = {"embedded": "row of E", "layers.1.concat": "concat", "layers.1.norm_1": "norm after"}
    expect(said(page)).to_contain_text(f"{called[first]}")
    expect(said(page)).to_contain_text("[“There”, 0]")
    value = MachineWidget().trace.flat()[first][0, 0]
    expect(said(page)).to_contain_text(mhalib_number(value))
    press(page, "Escape")
    expect(page.locator(".mh-crumb")).to_have_text("")


def mhalib_number(value):
    digits = 4 - 1 - int(np.floor(np.log10(abs(value))))
    return f"{value:.{digits}f}".replace("-", "−")


def test_arrow_keys_walk_an_opened_head(machine):
    page = machine(options={"reduced_motion": "reduce"}, opened="head", layer=1, head=1)
    weights = MachineWidget().trace.layers[1].attention.weights[1]
    expect(said(page)).to_contain_text(f"“the” takes {weights[9, 4]:.3f} from “bats”")
    press(page, "ArrowLeft")
    expect(said(page)).to_contain_text(f"“the” takes {weights[9, 3]:.3f} from “many”")
    press(page, "ArrowUp")
    expect(said(page)).to_contain_text(f"“at” takes {weights[8, 3]:.3f} from “many”")
    press(page, "Home", "ArrowLeft")
    expect(said(page)).to_contain_text("layer 1, head 1: Q[“at”, 15]")


def test_a_pointer_reads_flows_words_and_tokens(machine, settle):
    page = machine()
    plane = page.locator(".mh-plane")
    flow = page.locator(".mh-lane[data-head='2']").last  # layer 2: “bats” to “the”
    x, y = flow.evaluate(
        "p => { const at = p.getPointAtLength(p.getTotalLength() * 0.4); return [at.x, at.y]; }"
    )
    plane.hover(position={"x": x, "y": y})
    expect(said(page)).to_contain_text("“the” takes")
    name = page.locator(".mh-plane text", has_text="bats").first
    box, home = name.bounding_box(), plane.bounding_box()
    at = {"x": box["x"] - home["x"] + 5, "y": box["y"] - home["y"] + 5}
    plane.hover(position=at)
    expect(said(page)).to_contain_text("“bats”: token 4")
    plane.click(position=at)
    expect(page.locator(".mh-words-name")).to_have_text("after “bats”")
    word = page.locator(".mh-word-bar").first.bounding_box()
    plane.click(position={"x": word["x"] - home["x"] + 2, "y": word["y"] - home["y"] - 8})
    expect(said(page)).to_contain_text("probability[“bats”")


def address(**state):
    return "#machine=" + quote(json.dumps(state))


def test_a_link_holds_the_state(machine):
    page = machine()
    page.get_by_role("button", name="layer 1, head 2", exact=True).click()
    page.get_by_role("button", name="open layer 0").click()
    typed(page).fill(CAVE)
    expect(page.get_by_role("link", name="link to this state")).to_have_attribute(
        "href", re.compile("heads.1.2.*inside")
    )
    page.get_by_role("link", name="link to this state").click()
    page.reload()
    ready(page)
    expect(typed(page)).to_have_value(CAVE)
    off = page.get_by_role("button", name="layer 1, head 2", exact=True)
    expect(page.locator(".mh-crumb")).to_contain_text("layer 0")
    page.get_by_role("button", name="close layer 0").click()
    expect(off).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(
    "hash_",
    [
        "#machine=%7Bbroken",
        "#machine=%",
        "#x",
        address(text=7, off=[7], opened="window", step=-1, right="left"),
        address(layer=99, head=99, position=10**9, off=["foo.0", "constructor", "layers.-1", "a"]),
        address(follow="constructor.1.2", off="scale", text="x" * 401),
        address(follow="layers.9.Q.9.9.9", layer=-1, head=0.5, lessons=[[1, "x", "javascript:0"]]),
        "#machine=null",
        "#machine=" + quote('{"__proto__": {"text": "x"}}'),
    ],
)
def test_survives_a_bad_link(widget_page, hash_):
    page = widget_page(MachineWidget().html())
    page.goto(page.url + hash_)
    page.reload()
    ready(page)
    expect(typed(page)).to_have_value(MachineWidget().text)
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".mh-plane text", has_text="baseball").last).to_be_visible()
    expect(said(page)).to_contain_text("“the” takes 0.972 from “bats”")


def test_an_emptied_text_leaves_nothing_stale(machine):
    page = machine(opened="head", follow="layers.1.weights.0.9.4", off=["mask"])
    typed(page).fill("")
    expect(said(page)).to_have_text("Type a sentence.")
    expect(page.locator(".mh-plane text")).to_have_count(0)
    expect(page.locator(".mh-on-picture button")).to_have_count(0)
    typed(page).fill("I love bats")
    expect(said(page)).to_contain_text("“bats”")
    assert "undefined" not in page.locator("figure").inner_text()
    assert "NaN" not in page.locator("figure").inner_text()


def test_the_first_page_writes_on_word_by_word(widget_page):
    text = "There are so many bats I can choose at the"
    widget = MachineWidget(text=text, landing=True, step=9)
    page = ready(widget_page(widget.html()))
    for word in ("baseball", "store", "."):
        page.get_by_role("button", name="Next word").click()
        text += word if word == "." else f" {word}"
        expect(typed(page)).to_have_value(text)
        expect(page.locator(".mh-words-name")).to_have_text(f"after “{word}”")
    links = page.get_by_role("navigation", name="lessons").get_by_role("link")
    assert links.evaluate_all("all => all.map((a) => a.getAttribute('href'))") == [
        f"chapters/{name}.html"
        for name in ("01-tokenization", "02-embedding", "03-single-head", "04-scaling",
                     "05-multi-head", "06-layers", "07-vocab-head")
    ]  # fmt: skip


def test_a_screen_reader_hears_the_way_as_an_outline(machine):
    page = machine(off=["heads.1.1"])
    story = page.get_by_role("list", name="the way through the machine").locator("li")
    expect(story).to_have_count(11)  # what changed, nine stages, the words
    expect(story.first).to_contain_text("layer 1, head 1 off")
    expect(story.last).to_contain_text("Next: toy 0.521, baseball 0.445")


def test_arrow_keys_reach_every_switch(machine):
    page = machine()
    for name, count in (
        ("parts of the model", 26),
        ("switches of the whole model", 6),
        ("walk", 3),
    ):
        buttons = page.get_by_role("toolbar", name=name).get_by_role("button")
        expect(buttons).to_have_count(count)
        page.locator(f"[aria-label^='{name}'] button[tabindex='0']").focus()
        press(page, *["ArrowLeft"] * count)
        for k in range(count):
            expect(buttons.nth(k)).to_be_focused()
            press(page, "ArrowRight")


def test_at_most_14_tab_stops(machine):
    page = machine(off=["mask"], follow="layers.1.Q.1.9.4")
    stops = page.evaluate(
        """() => [...document.querySelectorAll(
            "figure :is(input, select, button, a[href], summary, [tabindex='0'])")]
            .filter((e) => e.checkVisibility() && e.tabIndex >= 0)
            .filter((e) => e.type !== "radio" || e.checked).length"""
    )
    assert stops <= 14


SIZES = """() => [...document.querySelectorAll('figure.mhalib-widget *')]
    .filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.data?.trim()))
    .filter((e) => e.localName !== "sub" && !e.closest(".mh-unseen"))
    .map((e) => parseFloat(getComputedStyle(e).fontSize))"""
PLACES = """() => [...document.querySelectorAll(
    'figure.mhalib-widget :is(.mh-bar, .mh-picture, .mh-readout, .mh-foot)')].map((e) => {
    const { top, height } = e.getBoundingClientRect(); return [top, height]; })"""


def test_one_screen_on_a_laptop_two_on_a_phone_and_nothing_moves(book_page, settle):
    page = book_page(MachineWidget(), LESSON, reduced_motion="reduce")
    figure = page.locator("figure.mhalib-widget").first
    box = figure.bounding_box()
    assert box["height"] <= 650 and box["width"] > 1000
    before = page.evaluate(PLACES)
    for name in ("layer 1, head 1", "open layer 1", "close layer 1", "one stage on"):
        page.get_by_role("button", name=name, exact=True).click()
        settle(page)
        assert page.evaluate(PLACES) == before, name
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".mh-layer-bar")).to_have_count(3)  # turned
    assert figure.bounding_box()["height"] <= 2 * 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert min(page.evaluate(SIZES)) >= 12
    layer = page.get_by_role("button", name="layer 1, head 1", exact=True)
    layer.scroll_into_view_if_needed()
    before = page.evaluate(PLACES)
    layer.click()
    settle(page)
    assert page.evaluate(PLACES) == before
    # a page that opens on a phone paints each of its sections for itself
    page.evaluate("delete document.documentElement.dataset.whole")
    cut = figure.evaluate(
        """figure => {
            const section = figure.closest(".bd-article > section > section");
            const { left, right } = section.getBoundingClientRect();
            const margin = parseFloat(getComputedStyle(section).overflowClipMargin);
            const box = figure.getBoundingClientRect();
            return Math.max(left - margin - box.left, box.right - right - margin);
        }"""
    )
    assert cut <= 0  # what is past a section's edges is not painted
    assert page.locator(".mhalib-live svg[viewBox]").count() == 0  # never scaled


@pytest.mark.parametrize("width", [1000, 760, 640, 360])
def test_the_words_of_the_whole_model_stay_in_the_list(machine, width):
    page = machine({"viewport": {"width": width, "height": 800}}, off=["mask"])
    for word in ("baseball", "toy", "red"):
        text = page.locator(".mh-plane text", has_text=re.compile(f"^{word}$"))
        expect(text.last).not_to_have_class(re.compile("mh-end|mh-thin"))
    expect(page.locator(".mh-said-more")).to_contain_text("baseball 0.813 →")


@pytest.mark.parametrize("width", [1076, 1300, 800, 690, 330])
def test_no_words_lie_over_each_other_and_no_name_is_cut(machine, width):
    page = machine({"viewport": {"width": width, "height": 800}}, text=f"{CAVE} baseball",
                   off=["heads.2.2"], right="loss by relation", position=9)  # fmt: skip
    expect(page.locator(".mh-plane text", has_text="coreference")).to_be_attached()
    assert overlaps(page) == []
    page.locator("[name^=mh-right-][value='next word']").evaluate("e => e.click()")
    expect(page.locator(".mh-words-name")).to_have_text("after “baseball”")
    segments, picture = (
        page.locator(f".mh-picture{x}").bounding_box() for x in (" .mh-segments", "")
    )
    assert segments["x"] + segments["width"] <= picture["x"] + picture["width"]
    for opened in (False, True):
        if opened:
            page.get_by_role("button", name="open layer 1").click()
            page.get_by_role("button", name="close layer 1").wait_for()
        found = page.evaluate(
            """async () => {
                await new Promise((done) => setTimeout(done, 400));
                const all = [...document.querySelectorAll(".mh-on-picture button")];
                const boxes = all.map((e) => [e.textContent, e.getBoundingClientRect()]);
                const cut = all.filter((e) => !e.matches(".mh-words-name")).filter((e) =>
                    e.scrollWidth > e.clientWidth + 1 ||
                    e.firstChild.scrollWidth > e.firstChild.clientWidth + 1);
                const cross = ([, p], [, q]) =>
                    Math.min(p.right, q.right) - Math.max(p.left, q.left) > 0.5 &&
                    Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 0.5;
                const over = boxes.flatMap((a, i) =>
                    boxes.slice(i + 1).filter((b) => cross(a, b)).map((b) => [a[0], b[0]]));
                return [cut.map((e) => e.textContent), over];
            }"""
        )
        assert found == [[], []], opened
        assert overlaps(page) == []


def test_what_is_said_is_of_what_is_open(machine):
    page = machine({"reduced_motion": "reduce"}, opened="head", follow="layers.1.V.0.6.4")
    expect(said(page)).to_contain_text("V[“can”, 4]")
    page.get_by_role("button", name="layer 1, show W_O").click()
    expect(said(page)).to_contain_text("layer 1: O[“the”, 0]")


def test_all_terms_and_the_formula_of_a_number_are_in_sight(machine):
    page = machine({"viewport": {"width": 1076, "height": 800}}, follow="layers.1.V.0.7.4")
    room = page.locator(".mh-readout").bounding_box()
    terms = page.locator(".mh-from button")
    expect(terms).to_have_count(4)
    for term in terms.all():
        box = term.bounding_box()
        assert box["x"] + box["width"] <= room["x"] + room["width"], term.inner_text()
    assert page.locator(".mh-formula").bounding_box()["width"] > 60


def test_a_phone_keeps_in_sight_what_was_tapped_and_what_follows(machine):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    page = machine(phone, text=CAVE, position=8, off=["heads.1.1"], follow="layers.2.weights.2.8.4")
    bar = page.locator(".mh-result")
    expect(bar).to_contain_text("layer 2, head 2: “a” takes")
    expect(bar).to_contain_text("layer 1, head 1 off: ")
    page.get_by_role("button", name="one stage on").tap()
    expect(bar).to_contain_text("1/9")


def test_forced_colours_leave_the_roads_and_the_heads_theirs(machine):
    page = machine({"forced_colors": "active"})
    chip = page.get_by_role("button", name="layer 1, head 1", exact=True)
    ground = "(e) => getComputedStyle(e).backgroundColor"
    other = page.get_by_role("button", name="layer 1, head 2", exact=True)
    assert chip.evaluate(ground) != other.evaluate(ground)
    pixel = page.locator("canvas").evaluate(
        """(canvas) => {
            const ratio = canvas.width / canvas.clientWidth;
            const at = [101 * ratio, canvas.height - 60 * ratio];
            return [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
        }"""
    )
    assert pixel[3] == 0 or sum(pixel[:3]) > 300, pixel  # not the text's black
