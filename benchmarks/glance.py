"""A knob and what it does in one look: heights of the widgets, and what a control changes in sight.

    python -m benchmarks.glance [FOLDER]        (a built book; _build/html by default)

Height in screens: of the live widget on its lesson's page, over the height of the window less the
book's header. In sight: each control is used once; of the pictures that change, those count that
are fully on the screen together with the control at the best scroll position.
"""

import functools
import http.server
import sys
import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from scripts.browser import INTO_SIGHT, launch

ROOT = Path(__file__).parent.parent
HEADER = 48
SIZES = {"laptop": (1366, 768), "desktop": (1920, 1080), "phone": (390, 844)}
PICTURES = ".mh-picture, .mh-heatmap, .mh-chart, .mh-predictions, .mh-readout, .mh-tokens, .mh-tile"
CONTROLS = (
    ".mh-segments label:has(input:not(:checked)), .mh-bar select, .mh-bar input[type=number],"
    " .mh-bar input[type=range], .mh-switch, .mh-chips label, .mh-slider input[type=range]"
)

# Pictures as text, so that a change is seen; and their places on the page.
LOOK = """([figure, pictures]) => [...figure.querySelectorAll(pictures)]
  .filter((e) => e.checkVisibility() && !e.parentElement.closest(pictures)).map((e) => {
    const pixels = [...e.querySelectorAll("canvas")].map((c) => c.toDataURL()).join();
    const shapes = [...e.querySelectorAll("svg")].map((s) => s.innerHTML).join();
    const bars = [...e.querySelectorAll("[style]")].map((s) => s.getAttribute("style")).join();
    const box = e.getBoundingClientRect();
    const look = pixels + shapes + bars + e.innerText;
    return { look, top: box.top + scrollY, bottom: box.bottom + scrollY };
  })"""
USE = """(control) => {
  const input = control.matches("label") ? control.querySelector("input") : control;
  if (input.type === "range" || input.type === "number") {
    const [low, high] = [Number(input.min), Number(input.max)];
    const now = input.valueAsNumber;
    input.value = now === high ? low : Math.min(high, now + (Number(input.step) || 1));
    for (const kind of ["input", "change"])
      input.dispatchEvent(new Event(kind, { bubbles: true }));
  } else if (input.matches("select")) {
    input.selectedIndex = (input.selectedIndex + 1) % input.options.length;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  } else input.click();
  const label = input.labels?.[0]?.innerText;
  return input.getAttribute("aria-label") ?? (label || input.innerText || input.value);
}"""
PLACE = """(e) => {
  const box = e.getBoundingClientRect();
  return [box.top + scrollY, box.bottom + scrollY];
}"""
QUIET = """new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))"""


def live(page: Page) -> None:
    figure = page.locator("figure.mhalib-widget").first
    page.mouse.move(1, 1)  # a reader's first sign
    figure.evaluate(INTO_SIGHT, [{}, 10])
    figure.locator(".mh-foot").wait_for()
    figure.evaluate(INTO_SIGHT, [{}, 10])
    page.evaluate(QUIET)


def in_sight(page: Page, room: int) -> tuple[int, int, list[str]]:
    """Return how many changed pictures are in sight, how many changed, and where not all are."""
    figure = page.query_selector("figure.mhalib-widget")
    count = page.locator(f"figure.mhalib-widget >> nth=0 >> {CONTROLS}").count()
    seen = changed = 0
    short = []
    for k in range(count):
        controls = page.locator(f"figure.mhalib-widget >> nth=0 >> {CONTROLS}")
        if k >= controls.count() or not controls.nth(k).is_visible():
            continue
        control = controls.nth(k)
        place = control.evaluate(PLACE)
        before = page.evaluate(LOOK, [figure, PICTURES])
        name = control.evaluate(USE)
        page.evaluate(QUIET)
        after = page.evaluate(LOOK, [figure, PICTURES])
        moved = [b for a, b in zip(before, after, strict=False) if a["look"] != b["look"]]
        tops = range(int(place[1] - room), int(place[0]) + 1, 4)
        best = max(
            (sum(p["top"] >= top and p["bottom"] <= top + room for p in moved) for top in tops),
            default=0,
        )
        seen, changed = seen + best, changed + len(moved)
        if best < len(moved):
            short.append(f"{name.strip()} {best}/{len(moved)}")
    return seen, changed, short


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "_build" / "html")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=folder)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for file in sorted((folder / "chapters").glob("*.html")):
            if '<figure class="mhalib-widget"' not in file.read_text("utf-8"):
                continue
            heights = []
            for width, height in SIZES.values():
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(f"http://127.0.0.1:{server.server_port}/chapters/{file.name}")
                live(page)
                box = page.locator("figure.mhalib-widget").first.bounding_box()
                heights.append(box["height"] / (height - HEADER) if box else 0)
                if (width, height) == SIZES["laptop"]:
                    seen, changed, short = in_sight(page, height - HEADER)
                page.close()
            screens = ", ".join(f"{name} {h:.2f}" for name, h in zip(SIZES, heights, strict=True))
            rest = f"; not all: {', '.join(short[:8])}" if short else ""
            print(f"{file.stem:16} screens: {screens}; in sight {seen} of {changed}{rest}")
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
