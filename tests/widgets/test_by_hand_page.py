"""The sheet and the problems of the page "By hand": by keyboard, on a phone, in the book."""

import json

import numpy as np
import pytest
from pages import ready, texts
from playwright.sync_api import expect

from mhalib.by_hand import RUNGS
from mhalib.by_hand.problem import number
from mhalib.widgets import ByHandWidget, PracticeWidget
from mhalib.widgets.practice import shipped

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


def said(page):
    return page.locator(".mh-readout")


def fill(page, text):
    """Type into the cell that has the focus, as a reader does."""
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def begin(page):
    """Go by Tab to the cells, which are one stop."""
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.mh-cell')"):
            return
    raise AssertionError("no cell was reached")


# ------------------------------------------------------------------------------- problems
@pytest.mark.parametrize("rung", RUNGS)
def test_a_problem_is_solved_by_keyboard_alone(widget_page, rung):
    page = ready(widget_page(PracticeWidget(rung=rung).html()))
    begin(page)
    first, second = shipped(rung)[:2]
    for cell in first.right:
        fill(page, number(cell))
    expect(said(page)).to_contain_text("All correct")
    expect(page.locator("[data-verdict=right]")).to_have_count(len(first.right))
    expect(page.locator("[role=status]")).to_contain_text("All correct")  # what is spoken
    expect(page.get_by_text("solved: 1", exact=True)).to_be_visible()
    page.get_by_role("button", name="New numbers").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-verdict=empty]")).to_have_count(len(second.right))
    expect(page.locator(".mh-cell").first).to_be_focused()
    page.keyboard.press("Tab")  # the cells are one stop
    assert not page.evaluate("document.activeElement.matches('.mh-cell')")


def test_a_known_mistake_is_named_and_a_slip_is_not(widget_page):
    rung = RUNGS["mask"]
    page = ready(widget_page(PracticeWidget(rung="mask").html()))
    problem = shipped("mask")[0]
    after = [mistake.name for mistake in rung.mistakes].index("mask after the softmax")
    begin(page)
    fill(page, number(problem.wrong[after][0]))
    expect(said(page)).to_contain_text(
        "✗ mask after the softmax, or no mask, or mask t"
    )  # so far alike
    expect(page.locator(".mh-cell").first).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".mh-cell").first).to_be_focused()
    page.locator(".mh-cell").nth(1).focus()
    fill(page, "0")  # right, and of these mistakes only one gives it
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(said(page)).to_contain_text("✗ mask after the softmax.")
    expect(said(page)).to_contain_text(rung.mistakes[after].says)
    page.locator(".mh-cell").first.fill("0.77")
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("Not yet")
    page.locator(".mh-cell").first.fill("1,00")
    page.keyboard.press("Enter")
    expect(page.locator("[data-verdict=right]")).to_have_count(2)


def test_hints_go_from_the_rule_to_the_value_and_a_shown_answer_does_not_count(
    widget_page,
):
    page = ready(widget_page(PracticeWidget(rung="score").html()))
    problem = shipped("score")[0]
    value = number(problem.right[0])
    hint = page.get_by_role("button", name="Hint")
    for text in ("add the products", problem.steps[0], f"It is {value}"):
        hint.click()
        expect(said(page)).to_contain_text(text)
    page.locator(".mh-cell").fill(value)
    page.keyboard.press("Enter")
    expect(said(page)).to_contain_text("New numbers, and this time without")
    page.get_by_role("button", name="New numbers").click()
    expect(page.locator("[data-verdict=empty]")).to_have_count(1)
    page.get_by_role("button", name="Answer").click()
    expect(said(page)).to_contain_text("New numbers, and this time without")
    assert page.get_by_text("solved:").count() == 0
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("[data-verdict=empty]")).to_have_count(1)
    assert page.locator("td").nth(1).inner_text() == number(problem.grids[0].given[0][0])


def test_what_was_typed_and_solved_is_remembered_and_no_part_of_a_link(widget_page):
    page = ready(widget_page(PracticeWidget(rung="score").html()))
    begin(page)
    fill(page, number(shipped("score")[0].right[0]))
    page.get_by_role("button", name="New numbers").click()
    expect(page.locator(".mh-cell")).to_be_focused()  # a frame later: a key before it is lost
    fill(page, "77")
    expect(page.locator(".mh-cell")).to_have_value("77")  # the first 7 alone is “Not yet”, too
    expect(said(page)).to_contain_text("Not yet")
    page.reload()
    ready(page)
    expect(page.locator(".mh-cell")).to_have_value("77")
    expect(page.get_by_text("solved: 1", exact=True)).to_be_visible()
    link = page.get_by_role("link", name="link to this state").get_attribute("href")
    assert "typed" not in link
    assert "solved" not in link
    address = page.url.partition("#")[0]
    page.goto("about:blank")
    page.goto(f"{address}#practice={json.dumps({'number': 2, 'solved': 500})}")
    ready(page)
    assert texts(page.locator("td"))[1:5] == [
        number(value) for value in shipped("score")[2].grids[0].given[0]
    ]
    expect(page.get_by_text("solved: 1", exact=True)).to_be_visible()


ODD = ("<img src=x onerror=alert(1)>", "1e999", "שלום 🦇", "9" * 40, "--", "\\")


@pytest.mark.parametrize("widget", [PracticeWidget(rung="merge"), ByHandWidget()])
def test_what_is_typed_into_a_cell_stays_text(widget_page, settle, widget):
    page = ready(widget_page(widget.html()))
    for cell in (page.locator(".mh-cell").first, page.locator("input.mh-cell").last):
        for text in ODD:
            cell.fill(text)
            cell.press("Enter")
            settle(page)
            assert page.locator("figure img").count() == 0
            assert len(cell.input_value()) <= 16
    assert "NaN" not in page.locator("figure").inner_text()


# ------------------------------------------------------------------------------ the sheet
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"values": {"X.0.0": 1001}}, "must lie in ±1000, got 1001"),
        ({"values": {"X.4.0": 1}}, "names must match"),
        ({"values": {"mask.0.0": 1}}, "names must match"),
        ({"n": 5}, "n must be at most 4, got 5"),
        ({"mask": "padding"}, "mask must be one of"),
    ],
)
def test_values_beyond_the_sheet_are_refused(widget_page, values, message):
    """In Python by an error, in a link by leaving them out."""
    with pytest.raises(ValueError, match=message):
        ByHandWidget(**values)
    page = widget_page(ByHandWidget().html())
    page.evaluate("state => { location.hash = 'by-hand=' + state; }", json.dumps(values))
    page.reload()
    ready(page)
    assert_equals_numpy(page, ByHandWidget())


def assert_equals_numpy(page, widget):
    for name, A in widget.trace.items():
        for (i, j), value in np.ndenumerate(A):
            across = ["I", "love", "bats", "too"] if A.shape[1] == widget.n else "0123"
            row = i if name.startswith("W_") else ["I", "love", "bats", "too"][i]
            label = f"{name}, {row}" + ("" if name == "sum" else f", {across[j]}")
            if name in ("X", "result") and widget.n == 3 or name.startswith("W_"):
                label = f"{name}, {row}, {j}"
            shown = page.get_by_label(label, exact=True).input_value().replace("−", "-")
            assert float(shown) == pytest.approx(value, abs=0.0051), label


def test_a_changed_number_runs_through_the_sheet(widget_page, settle):
    page = ready(widget_page(ByHandWidget().html()))
    assert_equals_numpy(page, ByHandWidget())
    cell = page.get_by_label("X, love, 2", exact=True)
    cell.fill("4")
    cell.press("Enter")
    expect(said(page)).to_contain_text("numbers changed")
    widget = ByHandWidget(values={"X.1.2": 4})
    assert widget.weights[2].argmax() == 1  # the task
    assert_equals_numpy(page, widget)
    expect(page.get_by_label("weights, bats, love", exact=True)).to_have_class("mh-cell mh-changed")
    expect(page.get_by_label("weights, I, I", exact=True)).to_have_class("mh-cell")
    cell.press("Delete")
    expect(cell).to_have_value("2")
    assert_equals_numpy(page, ByHandWidget())
    for control, values in (("[value='4']", {"n": 4}), ("[value=none]", {"n": 4, "mask": "none"})):
        page.locator(control).check()
        settle(page)
        assert_equals_numpy(page, ByHandWidget(**values))


def test_a_result_can_be_typed_over_and_says_what_was_computed(widget_page):
    page = ready(widget_page(ByHandWidget().html()))
    cell = page.get_by_label("scores, bats, I", exact=True)
    cell.fill("-1/2")
    cell.press("Enter")
    expect(said(page)).to_contain_text("Set by you (computed: 3). Delete puts it back.")
    assert_equals_numpy(page, ByHandWidget(values={"scores.2.0": -0.5}))
    cell.press("Escape")
    cell.fill("nonsense")
    cell.press("Enter")
    expect(cell).to_have_value("−0.5")


SOURCES = {
    "Q, bats, 1": (["X, bats, 0", "X, bats, 1", "X, bats, 2",
                    "W_Q, 0, 1", "W_Q, 1, 1", "W_Q, 2, 1"],
                   "2·0 + 1·(−1) + 0·0 = −1"),
    "scores, love, I": (["Q, love, 0", "Q, love, 1", "K, I, 0", "K, I, 1"], "1·1 + 0·(−2) = 1"),
    "scaled, bats, I": (["scores, bats, I"], "3 / 1.41 = 2.12"),
    "exp, bats, love": (["scaled, bats, I", "scaled, bats, love", "mask, bats, love"],
                        "e^(1.41 − 2.12) = 0.49"),
    "sum, bats": (["exp, bats, I", "exp, bats, love", "exp, bats, bats"], "1 + 0.49 + 0.24 = 1.74"),
    "weights, bats, love": (["exp, bats, love", "sum, bats"], "0.49 / 1.74 = 0.28"),
    "output, bats, 0": (["weights, bats, I", "weights, bats, love", "weights, bats, bats",
                         "V, I, 0", "V, love, 0", "V, bats, 0"],
                        "0.58·3 + 0.28·2 + 0.14·1 = 2.44"),
    "result, bats, 2": (["output, bats, 0", "output, bats, 1", "W_O, 0, 2", "W_O, 1, 2"],
                        "2.44·(−1) + 1.29·(−1) = −3.73"),
}  # fmt: skip


def test_a_cell_shows_its_formula_with_the_numbers_and_lights_up_what_it_comes_from(widget_page):
    page = ready(widget_page(ByHandWidget().html()))
    for name, (sources, formula) in SOURCES.items():
        page.get_by_label(name, exact=True).focus()
        expect(said(page)).to_contain_text(formula)
        lit = page.locator(".mh-cell.mh-from").evaluate_all(
            "all => all.map((e) => e.getAttribute('aria-label'))"
        )
        assert sorted(lit) == sorted(sources), name


def test_arrow_keys_walk_the_sheet_and_space_paints_the_mask(widget_page, settle):
    page = ready(widget_page(ByHandWidget().html(), viewport={"width": 1366, "height": 768}))
    begin(page)
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == "scores, bats, love"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "scaled, bats, I"
    page.get_by_label("mask, love, bats", exact=True).focus()
    page.keyboard.press("Space")
    expect(page.locator("[value=painted]")).to_be_checked()
    settle(page)
    widget = ByHandWidget(mask="painted", hidden=[(0, 1), (0, 2)])
    assert_equals_numpy(page, widget)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.matches('figure .mh-cell')")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('.mh-cell')")


# -------------------------------------------------------------------------- on every screen
def test_a_phone_shows_one_step_at_a_time_and_has_a_key_for_the_sign(widget_page):
    page = ready(widget_page(ByHandWidget().html(), **PHONE))
    names = "all => all.filter((t) => t.checkVisibility()).map((t) => t.dataset.name)"
    tables = page.locator("table[data-name]")
    assert tables.evaluate_all(names) == ["Q", "K", "scores"]
    page.get_by_role("button", name="next step").tap()
    expect(page.get_by_text("step 5 of 9: scaled")).to_be_visible()
    assert tables.evaluate_all(names) == ["scores", "scaled"]
    expect(said(page)).to_contain_text("4 / 1.41 = 2.83")
    for _ in range(4):
        page.get_by_role("button", name="step back").tap()
    expect(page.get_by_text("step 1 of 9: Q")).to_be_visible()
    assert tables.evaluate_all(names) == ["X", "W_Q", "Q"]
    cell = page.get_by_label("X, I, 1", exact=True)
    cell.tap()
    page.get_by_label("change the sign of the chosen cell").tap()
    expect(cell).to_have_value("−2")
    cell.press("Enter")
    query = ByHandWidget(values={"X.0.1": -2}).trace["Q"][0, 0]
    expect(page.get_by_label("Q, I, 0", exact=True)).to_have_value(number(query))


def test_nothing_that_is_said_is_cut_off(book_page, settle):
    """Every mistake and every hint of every rung, on a laptop and on a phone."""
    page = book_page(ByHandWidget(), "by-hand")
    for size in ({"width": 1366, "height": 768}, {"width": 390, "height": 844}):
        page.set_viewport_size(size)
        for k, (name, rung) in enumerate(RUNGS.items()):
            figure = page.locator("figure[data-widget=practice]").nth(k)
            figure.scroll_into_view_if_needed()
            figure.locator(".mh-foot").wait_for()
            problem = shipped(name)[0]
            box = figure.locator(".mh-readout")

            def fits(what, box=box):
                settle(page)
                inner = box.evaluate("e => e.firstChild.scrollHeight + 8 <= e.clientHeight + 1")
                assert inner, (what, box.inner_text())

            longest = max(len(mistake.says) for mistake in rung.mistakes)
            for mistake, wrong in zip(rung.mistakes, problem.wrong, strict=True):
                if size["width"] > 400 and len(mistake.says) < longest:
                    continue
                for c, (cell, right) in enumerate(zip(wrong, problem.right, strict=True)):
                    if number(cell) != number(right):
                        figure.locator(".mh-cell").nth(c).fill(number(cell))
                        figure.locator(".mh-cell").nth(c).press("Enter")
                        fits((name, mistake.name))
                        break
            figure.get_by_role("button", name="Reset").click()
            settle(page)
            assert page.evaluate("document.documentElement.scrollWidth") == size["width"], name
            for _ in range(3):
                figure.get_by_role("button", name="Hint").click()
                fits((name, "hint"))
            figure.get_by_role("button", name="Reset").click()
            assert figure.bounding_box()["height"] <= (690 if size["width"] > 400 else 2 * 844)


def test_the_sheet_is_one_screen_on_a_laptop_and_on_a_phone(book_page):
    page = book_page(ByHandWidget(), "by-hand")
    figure = page.locator("figure.mhalib-widget").first
    assert figure.bounding_box()["height"] <= 640
    page.locator("[value='4']").first.check()
    expect(page.get_by_label("X, too, 0", exact=True)).to_be_visible()
    assert figure.bounding_box()["height"] <= 660
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("() => document.querySelector('.mh-sheet').clientWidth < 360")
    assert figure.bounding_box()["height"] <= 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_each_page_gets_the_script_of_its_own_widgets(site):
    for page, script, other in (
        ("by-hand", "by-hand.js", "widgets.js"),
        ("04-scaling", "widgets.js", "by-hand.js"),
    ):
        text = (site / "chapters" / f"{page}.html").read_text("utf-8")
        assert f"mhalib/{script}" in text
        assert f"mhalib/{other}" not in text


def test_each_lesson_leads_to_its_problems(site):
    text = (site / "chapters" / "by-hand.html").read_text("utf-8")
    for name, rung in RUNGS.items():
        assert f'id="by-hand-{name}"' in text
        assert f'"rung": "{name}"' in text
        assert f'href="{rung.lesson}.html"' in text
        lesson = (site / "chapters" / f"{rung.lesson}.html").read_text("utf-8")
        assert f'href="by-hand.html#by-hand-{name}"' in lesson
