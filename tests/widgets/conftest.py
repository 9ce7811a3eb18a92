"""Widgets on a bare page: their html and the classic bundle, from file://, under a strict CSP."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

import mhalib.widgets
from scripts.browser import INTO_SIGHT

# JavaScript: waits until what was asked is drawn, and no colour changes any more
AT_REST = """async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const all = document.getAnimations().filter((each) => each instanceof CSSTransition);
  await Promise.allSettled(all.map((each) => each.finished));
}"""
STATIC = Path(mhalib.widgets.__file__).parent / "static"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src file: 'wasm-unsafe-eval'; style-src file:">
<title>Widgets</title>
<link rel="stylesheet" href="{static}/widgets.css">
<script src="{static}/widgets.js"></script>
<script src="{static}/by-hand.js"></script>
</head>
<body><main><h1>Widgets</h1>
{figures}
</main></body>
</html>
"""


@pytest.fixture
def widget_page(chromium, tmp_path):
    """Open a page of the given figures, offline; at the end nothing was logged or fetched."""
    contexts, complaints = [], []

    def open_page(*figures, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.set_default_timeout(120_000)  # several browsers may share two cores
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
def book_page(chromium, server, site):
    """Open a lesson of the book with a widget in the place of its first; nothing was logged."""
    contexts, complaints = [], []

    def open_page(widget, lesson, **options):
        context = chromium.new_context(**{"viewport": {"width": 1366, "height": 768}, **options})
        contexts.append(context)
        context.set_default_timeout(120_000)
        text = (site / "chapters" / f"{lesson}.html").read_text("utf-8")
        first = re.search(r'<figure class="mhalib-widget".*?</figure>', text, re.S)[0]
        address = f"{server}/chapters/{lesson}.html"
        body = text.replace(first, widget.html())
        context.route(address, lambda r: r.fulfill(body=body, content_type="text/html"))
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        figure = page.locator("figure.mhalib-widget").first
        figure.evaluate("(figure) => { figure.style.scrollMarginTop = '-8px'; }")
        figure.evaluate(INTO_SIGHT, [{}, 10])  # a widget goes live when it comes near
        page.locator(".mh-foot").first.wait_for()
        page.wait_for_function("() => document.readyState === 'complete'")
        figure.evaluate(INTO_SIGHT, [{}, 10])  # what came meanwhile has moved it
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def book():
    """The folder of the book's own style and script."""
    return Path(__file__).parents[2] / "_static"


@pytest.fixture
def settle():
    """Return a function that waits until a page has drawn what was asked of it."""

    def wait(page):
        page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )

    return wait


@pytest.fixture
def step_times():
    """Return a function: the processor's milliseconds for each of a list of scripts on a page.

    Other processes do not count, but on a busy machine the processor itself is slower; so tests
    allow several frames, and the benchmark on a quiet machine is what the book's figure is from.
    """

    def measure(page, scripts):
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

        def spent():
            metrics = session.send("Performance.getMetrics")["metrics"]
            return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")

        times = []
        for script in scripts:
            before = spent()
            page.evaluate(script)
            page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            times.append(spent() - before)
        return times[len(times) // 3 :]  # the first ones compile

    return measure


@pytest.fixture
def axe():
    """Return a function that fails with what axe finds on a page."""

    def check(page):
        page.evaluate(AT_REST)  # a colour on its way may have too little contrast
        found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False})
        assert found.violations_count == 0, found.generate_report()

    return check
