"""Widgets in JupyterLab: what is dragged is read in Python, what Python sets is seen."""

import pytest
from playwright.sync_api import expect


@pytest.mark.timeout(180)
def test_scaling_widget_and_python_follow_each_other(open_notebook):
    book = open_notebook(
        "from mhalib.widgets import ScalingWidget\nw = ScalingWidget(d_k=16)\nw",
        "print(w.d_k, w.scale, round(w.statistics['largest weight'], 3))",
        "w.scale = 'sqrt_d_k'; w.d_k = 512",
        "w.d_k = 5000",
    )
    book.run(0)
    widget = book.cell(0).locator("figure.mhalib-widget")
    exact = widget.get_by_label("d_k, exact value")
    expect(exact).to_have_value("16", timeout=60_000)
    expect(widget.locator("p.mhalib-task")).to_contain_text("Drag dk to 512")

    box = widget.get_by_role("slider", name="dk").bounding_box()
    book.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2)
    book.page.mouse.down()
    book.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=5)
    book.page.mouse.up()
    expect(exact).to_have_value("1024")
    largest = widget.locator(".mh-tile", has_text="Largest weight").locator("output")
    on_screen = float(largest.inner_text())
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
