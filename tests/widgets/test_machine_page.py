"""MachineWidget on a page."""

import json
from urllib.parse import quote

import pytest
from pages import ready, typed
from playwright.sync_api import expect

from mhalib.widgets import MachineWidget


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
