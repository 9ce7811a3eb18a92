"""What each page costs: bytes, requests and times, beside Jupyter Book's own template page.

    python -m benchmarks.pages [--html FOLDER] [--json FILE]

Needs the built book (`make html`). Pages are served from this machine with gzip and opened in
Chromium at 1280 × 900. "first" is a visit with an empty cache, "further" one after another lesson.
Bytes are those of the bodies as sent. LCP: largest contentful paint; CLS: layout shift;
blocked: the part of long tasks above 50 ms. Median of three visits.
"""

import argparse
import functools
import gzip
import http.server
import json
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from scripts.browser import launch

ROOT = Path(__file__).parent.parent

COMPRESSED = {".html", ".css", ".js", ".mjs", ".svg", ".json"}
OBSERVE = """
window.measured = {lcp: 0, cls: 0, blocked: 0};
const watch = (type, each) => new PerformanceObserver((list) => list.getEntries().forEach(each))
  .observe({type, buffered: true});
watch("largest-contentful-paint", (e) => { measured.lcp = e.startTime; });
watch("layout-shift", (e) => { if (!e.hadRecentInput) measured.cls += e.value; });
watch("longtask", (e) => { measured.blocked += Math.max(0, e.duration - 50); });
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """As a web host sends files: compressed, and to be kept for a day."""

    extensions_map = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".woff2": "font/woff2",
    }

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        self.send_response(200)
        if path.suffix in COMPRESSED:
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def visit(browser: Browser, addresses: list[str]) -> dict[str, float]:
    """Open the pages one after the other, with one cache; what the last of them cost."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(OBSERVE)
    page = context.new_page()
    page.set_default_timeout(120_000)
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    cost = {"bytes": 0.0, "requests": 0, "failed": 0}
    cached: set[str] = set()
    responses: dict[str, str] = {}

    def finished(event: dict) -> None:
        if event["requestId"] not in cached and responses.get(event["requestId"]) == "http":
            cost["bytes"] += event["encodedDataLength"]
            cost["requests"] += 1

    client.on("Network.requestServedFromCache", lambda e: cached.add(e["requestId"]))
    client.on(
        "Network.responseReceived",
        lambda e: responses.update(
            {
                e["requestId"]: "cache"
                if e["response"].get("fromDiskCache")
                else e["response"]["url"].split(":")[0]
            }
        ),
    )
    client.on("Network.loadingFinished", finished)
    client.on("Network.loadingFailed", lambda e: cost.update(failed=cost["failed"] + 1))
    for address in addresses:
        cost.update(bytes=0.0, requests=0, failed=0)
        page.goto(address, wait_until="load")
        page.wait_for_timeout(700)
        for _ in range(page.evaluate("Math.ceil(document.body.scrollHeight / 800)")):
            page.mouse.wheel(0, 800)  # down the page, so that what loads when seen is counted
            page.evaluate("new Promise(requestAnimationFrame)")
        page.wait_for_timeout(700)
    cost.update(page.evaluate("measured"))
    context.close()
    return cost


def median(browser: Browser, addresses: list[str], times: int = 3) -> dict[str, float]:
    visits = [visit(browser, addresses) for _ in range(times)]
    return {name: statistics.median(v[name] for v in visits) for name in visits[0]}


def template(folder: Path) -> Path:
    """Jupyter Book's own template, built with its own settings."""
    book = folder / "template"
    tool = Path(sys.executable).with_name("jupyter-book")
    subprocess.run([tool, "create", book], check=True, capture_output=True)
    subprocess.run([tool, "build", book], check=True, capture_output=True)
    return book / "_build" / "html"


def serve(folder: Path) -> str:
    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def row(name: str, kind: str, cost: dict[str, float]) -> str:
    return (
        f"{name:34}{kind:>9}{cost['bytes'] / 1000:9.0f}{cost['requests']:10.0f}"
        f"{cost['failed']:8.0f}{cost['lcp']:8.0f}{cost['cls']:8.3f}{cost['blocked']:9.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    options = parser.parse_args()
    results = {}
    print(
        f"{'page':34}{'visit':>9}{'kB':>9}{'requests':>10}{'failed':>8}{'LCP':>8}{'CLS':>8}{'blocked':>9}"
    )
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = launch(playwright)
        plain = serve(template(Path(temporary)))
        results["template"] = median(browser, [f"{plain}/markdown-notebooks.html"])
        print(row("(Jupyter Book's template)", "first", results["template"]), flush=True)
        book = serve(options.html)
        chapters = sorted((options.html / "chapters").glob("*.html"))
        pages = ["index.html", *(f"chapters/{page.name}" for page in chapters)]
        lessons = [page for page in pages if page[9:11].isdigit()]
        for page in pages:
            results[page] = median(browser, [f"{book}/{page}"])
            print(row(page, "first", results[page]), flush=True)
            if page in lessons:
                before = lessons[lessons.index(page) - 1]
                further = median(browser, [f"{book}/{before}", f"{book}/{page}"])
                results[f"{page} further"] = further
                print(row(page, "further", further), flush=True)
        browser.close()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
