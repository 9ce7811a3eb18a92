"""Widgets in JupyterLab: what is dragged is read in Python, what Python sets is seen."""

import re

import pytest
from playwright.sync_api import expect


@pytest.mark.timeout(180)
def test_scaling_widget_and_python_follow_each_other(open_notebook):
    book = open_notebook(
        "from mhalib.widgets import ScalingWidget\nw = ScalingWidget(d_k=16)\nw",
        "print(w.d_k, w.scale, round(w.statistics['largest weight'], 3))",
        "w.scale = 'sqrt_d_k'; w.d_k = 512",
        "w.d_k = 5000",
        "import ipywidgets, numpy as np\n"
        "seen = []\n"
        "w.observe(lambda change: seen.append((change.old, change.new)), 'd_k')\n"
        "box = ipywidgets.BoundedIntText(value=3, min=1, max=1024)\n"
        "link = ipywidgets.jslink((box, 'value'), (w, 'd_k'))\n"
        "box",
        "w.d_k = np.int64(37)",
        "print(seen, type(w.d_k).__name__)",
    )
    book.run(0)
    widget = book.cell(0).locator("figure.mhalib-widget[data-live]")
    exact = widget.get_by_label("d_k, exact value")
    expect(exact).to_have_value("16", timeout=60_000)
    expect(widget.locator("p.mhalib-task")).to_contain_text("Drag dk to 512")

    box = widget.get_by_role("slider", name="dk").bounding_box()
    book.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2)
    book.page.mouse.down()
    book.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=5)
    book.page.mouse.up()
    expect(exact).to_have_value("1024")
    said = widget.locator(".mh-readout")
    expect(said).to_contain_text("= 1024")
    on_screen = float(re.search(r"largest weight ([\d.]+)", said.inner_text())[1])
    book.run(1)
    expect(book.output(1)).to_contain_text(f"1024 none {on_screen}")

    book.run(2)
    expect(exact).to_have_value("512")
    expect(widget.locator("[value=sqrt_d_k]")).to_be_checked()
    book.run(1)
    expect(book.output(1)).to_contain_text("512 sqrt_d_k")

    book.run(3)
    expect(book.output(3)).to_contain_text("ValueError: d_k must be at most 1024, got 5000")
    expect(exact).to_have_value("512")

    book.run(4)  # linked in the page: the box gives its value first
    expect(exact).to_have_value("3")
    box = book.cell(4).locator("input[type=number]")
    exact.fill("11")
    exact.press("Tab")
    expect(box).to_have_value("11")
    book.run(5)
    expect(exact).to_have_value("37")
    expect(box).to_have_value("37")
    book.run(6)
    expect(book.output(6)).to_contain_text("[(512, 3), (3, 11), (11, 37)] int")


@pytest.mark.timeout(300)
def test_model_widget_with_a_model_of_ones_own_and_typing(open_notebook):
    book = open_notebook(
        "import numpy as np, mhalib\n"
        "from mhalib.widgets import SingleHeadWidget\n"
        "config = mhalib.Config(vocab_size=567, d_model=6, n_heads=3, n_layers=2)\n"
        "parameters = mhalib.init_parameters(config, np.random.default_rng(3))\n"
        "own = mhalib.Transformer(config, parameters)\n"
        "w = SingleHeadWidget(model=own, text='I love bats')\nw",
        "print(w.text, w.mask, w.weights[2].round(4).tolist())",
        "w.mask = 'none'",
    )
    book.run(0)
    widget = book.cell(0).locator("figure.mhalib-widget[data-live]")
    area = widget.get_by_label("your sentence")
    expect(area).to_have_value("I love bats", timeout=60_000)
    area.click()
    book.page.keyboard.press("End")
    book.page.keyboard.type(" dd a")  # in command mode, "d d" would delete the cell
    expect(widget.locator(".mh-count")).to_have_text("6 tokens")
    expect(widget).to_be_visible()
    widget.get_by_text("numbers", exact=True).click()
    book.run(2)
    expect(widget.locator("[value=none]")).to_be_checked()
    book.run(1)
    expect(book.output(1)).to_contain_text("I love bats dd a none")
    cells = widget.locator("table").last.locator("tbody tr").nth(2).locator("td").all_inner_texts()
    printed = book.output(1).inner_text().split("[")[1].rstrip("]\n ").split(", ")
    assert [float(c) for c in cells] == pytest.approx([float(p) for p in printed], abs=2e-4)


@pytest.mark.timeout(300)
def test_a_saved_notebook_shows_the_picture_until_it_is_run_again(open_notebook, lab, tmp_path):
    book = open_notebook(
        "from mhalib.widgets import SingleHeadWidget\nSingleHeadWidget()",
        "from mhalib.checks import check\ncheck('softmax', lambda x: x)",
        "from mhalib.widgets import ByHandWidget\nByHandWidget()",
    )
    for number in (2, 1, 0):
        book.run(number)
    row = book.cell(1).locator(".mhalib-check tr").first  # JupyterLab's stripes cover the tint
    expect(row).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    live = book.cell(0).locator("figure[data-live]")
    expect(live.locator(".mh-plane").first).to_be_visible(timeout=60_000)
    above = book.cell(0).locator(".jp-OutputArea").bounding_box()["y"]
    assert live.bounding_box()["y"] - above < 20  # the screen is for the widget
    picture = book.cell(0).locator(".mhalib-picture")
    expect(picture).to_be_hidden()  # the live widget is there
    live.get_by_label("your sentence").click()
    book.page.keyboard.press("Control+s")  # from within a widget, too
    file = max(lab[1].glob("*.ipynb"), key=lambda path: path.stat().st_mtime)
    expect(book.page.locator(".jp-mod-dirty")).to_have_count(0, timeout=60_000)
    for _ in range(100):
        if "mhalib-picture" in file.read_text("utf-8"):
            break
        book.page.wait_for_timeout(100)
    assert file.stat().st_size < 100_000  # no weights, no bundle
    book.end_kernel(file.name)
    book.page.reload()
    book.page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
    expect(picture).to_be_visible(timeout=60_000)
    expect(book.cell(0).get_by_text("Run this cell to make it live.")).to_be_visible()
    expect(book.cell(0).get_by_text("model not found")).to_be_hidden()
    assert book.cell(0).locator("[data-live]").count() == 0

    sheet = book.cell(2)
    sheet.scroll_into_view_if_needed()
    expect(sheet.locator("table").first).to_be_visible()
    first, second = (sheet.locator("table").nth(i).bounding_box() for i in (0, 1))
    assert second["x"] > first["x"] + first["width"]  # side by side
    said = sheet.get_by_text("Run this cell to make it live.").bounding_box()
    assert said["y"] - sheet.bounding_box()["y"] < 768  # in sight with the picture
