"""Widgets on a bare page: their html and the classic bundle, from file://, under a strict CSP."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

import mhalib.widgets

STATIC = Path(mhalib.widgets.__file__).parent / "static"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src file:; style-src file:">
<title>Widgets</title>
<link rel="stylesheet" href="{static}/widgets.css">
<script src="{static}/widgets.js"></script>
</head>
<body><main><h1>Widgets</h1>
{figures}
</main></body>
</html>
"""
# Time spent in animation frames, with the layout they cause, in window.spent.
STOPWATCH = """
window.spent = 0;
const ask = window.requestAnimationFrame;
window.requestAnimationFrame = (work) => ask((time) => {
    const start = performance.now();
    work(time);
    document.body.offsetHeight;
    window.spent += performance.now() - start;
});
"""


@pytest.fixture
def widget_page(chromium, tmp_path):
    """Open a page of the given figures, offline; at the end nothing was logged or fetched."""
    contexts, complaints = [], []

    def open_page(*figures, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        context.set_offline(True)
        context.add_init_script(STOPWATCH)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:")) or complaints.append(request.url)
            ),
        )
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(PAGE.format(static=STATIC.as_uri(), figures="\n".join(figures)), "utf-8")
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def step_times():
    """Return a function: the milliseconds of each step of the first slider of a page."""

    def measure(page, steps):
        return page.evaluate(
            """async (steps) => {
                const range = document.querySelector("input[type=range]");
                const times = [];
                for (const step of steps) {
                    window.spent = 0;
                    range.value = step;
                    const start = performance.now();
                    range.dispatchEvent(new Event("input", { bubbles: true }));
                    const handled = performance.now() - start;
                    await new Promise((done) => setTimeout(done, 40));
                    times.push(handled + window.spent);
                }
                return times;
            }""",
            steps,
        )

    return measure


@pytest.fixture
def axe():
    """Return a function that fails with what axe finds on a page."""

    def check(page):
        found = Axe().run(page, options={"preload": False})  # no CSS fetched again
        assert found.violations_count == 0, found.generate_report()

    return check
