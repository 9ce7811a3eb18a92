"""EmbeddingWidget on the page of the book, and on a bare one."""

import pytest
from arrays import assert_array
from pages import choose, overlaps, ready, texts
from playwright.sync_api import expect

from mhalib.widgets import EmbeddingWidget

LESSON = "02-embedding"


@pytest.fixture
def plane(widget_page):
    def opened(**values):
        page = ready(widget_page(EmbeddingWidget(**values).html()))
        page.locator(".mh-plane:visible").focus()
        return page

    return opened


def test_lists_numpys_neighbours_and_follows_a_choice(plane):
    page = plane()
    widget = EmbeddingWidget()
    picture = page.locator(".mh-plane:visible")
    for name, cosine in widget.neighbours:
        expect(picture).to_contain_text(name.strip())
        expect(picture).to_contain_text(f"{cosine:.3f}")
    name, cosine = widget.neighbours[1]
    page.keyboard.press("Enter")  # into the list
    page.keyboard.press("ArrowDown")
    expect(page.locator(".mh-said")).to_have_text(
        f"“bats” and “{name.strip()}”: cosine {cosine:.3f}, number 2"
    )
    page.keyboard.press("Enter")
    expect(picture).to_contain_text(f"nearest to “{name.strip()}”")
    expect(page.get_by_label("word", exact=True)).to_have_value(name.strip())
    chosen = EmbeddingWidget(word=name)
    expect(page.locator(".mh-said")).to_contain_text(f"cosine {chosen.neighbours[0][1]:.3f}")
    page.get_by_text("numbers", exact=True).click()
    cells = texts(page.locator("table tbody td"))
    assert len(cells) == len(widget.words) - 1
    assert float(cells[7]) == pytest.approx(chosen.neighbours[7][1], abs=6e-5)


def test_two_keys_within_a_frame_are_two_steps(plane, settle):
    page = plane()
    field, picture = page.get_by_label("word", exact=True), page.locator(".mh-plane").first
    words = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        picture.press(key)
        settle(page)
        words.append(field.input_value())
    assert words[3] not in words[:2]  # back where it began
    picture.evaluate("""(plane) => {
        for (const key of ["ArrowRight", "ArrowRight"])
            plane.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    }""")
    settle(page)
    assert field.input_value() == words[1]


def test_arrow_keys_and_a_click_choose_words_on_the_map(plane, settle):
    page = plane()
    seen = {page.get_by_label("word", exact=True).input_value()}
    for key in ("ArrowRight", "ArrowUp", "Home"):
        page.keyboard.press(key)
        settle(page)
        seen.add(page.get_by_label("word", exact=True).input_value())
    assert len(seen) == 4
    widget = EmbeddingWidget()
    leftmost = widget.tokenizer.decode([widget.words[int(widget.plane[:, 0].argmin())]])
    expect(page.get_by_label("word", exact=True)).to_have_value(leftmost.strip())


def test_random_rows_are_numpys(plane):
    page = plane()
    choose(page, "table", "random")
    name, cosine = EmbeddingWidget(table="random").neighbours[0]
    said = page.locator(".mh-said")
    expect(said).to_have_text(f"“bats” and “{name.strip()}”: cosine {cosine:.3f}, the nearest")


def test_the_code_of_a_position_and_its_products(plane):
    page = plane(shown="place", n=10, d_model=6)
    P = EmbeddingWidget(n=10, d_model=6).positions
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".mh-said")).to_have_text(f"P[1] · P[0] = {P[1] @ P[0]:.3f}")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    expect(page.locator(".mh-said")).to_have_text(f"position 1, column 0: {P[1, 0]:.4f}")
    page.get_by_text("numbers", exact=True).click()
    expect(page.locator("table").first.locator("tbody td")).to_have_count(10)
    rows = texts(page.locator("table").first.locator("tbody td"))
    assert_array([float(r.replace("−", "-")) for r in rows], P @ P[1], atol=6e-5)
    page.get_by_label("n, exact value").fill("4")
    page.keyboard.press("Tab")
    expect(page.locator("table").first.locator("tbody td")).to_have_count(4)


@pytest.mark.parametrize("shown", ["meaning", "place"])
def test_one_screen_on_a_laptop_one_and_a_half_on_a_phone(book_page, shown):
    page = book_page(EmbeddingWidget(shown=shown), LESSON)
    figure = page.locator("figure.mhalib-widget").first
    assert figure.bounding_box()["height"] <= 640
    for sight in (page.locator(".mh-plane:visible").first, page.locator(".mh-bar")):
        box = sight.bounding_box()
        assert box["y"] >= 48 and box["y"] + box["height"] <= 768  # below the book's header
    assert overlaps(page) == []
    height = figure.bounding_box()["height"]
    page.locator("[name^=mh-shown]:not(:checked)").first.check()
    expect(page.locator(".mh-plane:visible text").first).to_be_visible()
    assert figure.bounding_box()["height"] == pytest.approx(height, abs=1)  # nothing moves
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(f"[name^=mh-shown][value={shown}]").first.check()
    expect(page.locator(".mh-plane:visible text").first).to_be_visible()
    assert figure.bounding_box()["height"] <= 1.5 * 844
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert overlaps(page) == []
