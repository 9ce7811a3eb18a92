"""How long Run takes, beside JupyterLab: from the click to the grader's answer.

    python -m benchmarks.run [--html FOLDER] [--times N] [--cells]

Needs the built book with Run. Its pages are served from this machine, packed as a web host sends
them. "cold": a browser that was never here; "cached": its second visit; "again": a further check on
the same page. JupyterLab: from the start of the server to the same answer. With --cells all cells
of all lessons run, too; what takes long or differs is listed.
"""

import argparse
import functools
import glob
import gzip
import http.server
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat
from playwright.sync_api import Browser, Page, sync_playwright

from scripts.browser import launch

ROOT = Path(__file__).parent.parent
LESSON, TRAP = "05-multi-head", "split_heads"
PACKED = {".html", ".css", ".js", ".mjs", ".svg", ".json", ".wasm", ".py"}
WRONG = f"""from mhalib.checks import check


def answer(X, n_heads):
    return X.reshape(n_heads, len(X), -1)


check("{TRAP}", answer)"""


@functools.cache
def packed(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.compress(data, 6) if path.suffix in PACKED else data


class Handler(http.server.SimpleHTTPRequestHandler):
    """Sends files packed, and counts their bytes."""

    sent = 0

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        body = packed(path)
        self.send_response(200)
        if path.suffix in PACKED:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)
        Handler.sent += len(body)

    def log_message(self, *args: object) -> None:
        pass


def check(page: Page) -> float:
    """Press Check; return the seconds until the answer is there."""
    cell = page.locator(".cell.run-exercise", has_text=f'"{TRAP}"')
    cell.locator(".cm-content").wait_for()
    return float(
        cell.evaluate(
            """(cell) => new Promise((done) => {
              const start = performance.now();
              const before = cell.querySelector(".run-output .mhalib-check");
              const look = () => {
                const now = cell.querySelector(".run-output .mhalib-check");
                if (now && now !== before) done((performance.now() - start) / 1000);
              };
              new MutationObserver(look).observe(cell, { subtree: true, childList: true });
              cell.querySelector(".run-run").click();
            })"""
        )
    )


def visit(browser: Browser, address: str) -> dict[str, float]:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.goto(f"{address}/chapters/{LESSON}.html")
    cell = page.locator(".cell.run-exercise", has_text=f'"{TRAP}"')
    cell.locator(".run-edit").click()  # the editor is there before the clock starts
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(WRONG)
    Handler.sent = 0
    found = {"cold": check(page), "megabytes": Handler.sent / 1e6}
    found["again"] = statistics.median(check(page) for _ in range(10))
    page.wait_for_timeout(1000)  # the service worker has stored what came
    page.goto("about:blank")
    page.goto(f"{address}/chapters/{LESSON}.html")
    found["cached"] = check(page)
    context.close()
    return found


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def jupyterlab(browser: Browser) -> dict[str, float]:
    """Start JupyterLab with the lesson, run its first cell and the exercise."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "notebooks")
        folder.mkdir()
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(WRONG)])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, folder / "lesson.ipynb")
        port = free_port()
        start = time.perf_counter()
        server = subprocess.Popen(
            [
                sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
                f"--ServerApp.port={port}", "--IdentityProvider.token=course",
                f"--ServerApp.root_dir={folder}", "--LabApp.extension_manager=readonly",
                f"--LabApp.user_settings_dir={home}/settings",
                f"--LabApp.workspaces_dir={home}/workspaces",
            ],
            env={**os.environ, "JUPYTER_CONFIG_DIR": f"{home}/config"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            address = f"http://127.0.0.1:{port}"
            while True:
                try:
                    urllib.request.urlopen(f"{address}/api?token=course", timeout=2).close()
                    break
                except (urllib.error.URLError, ConnectionError, TimeoutError):
                    time.sleep(0.05)
            page = browser.new_page()
            page.set_default_timeout(300_000)
            page.goto(f"{address}/lab/tree/lesson.ipynb?token=course")
            page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
            page.keyboard.press("Shift+Enter")  # JupyterLab keeps it until the kernel is there
            page.locator(".jp-OutputArea .mhalib-check").wait_for()
            took = time.perf_counter() - start
            page.close()
        finally:
            server.terminate()
            server.wait()
    return {"cold": took}


RUN = """async ([code, name]) => {
  const items = [];
  const start = performance.now();
  const state = await course.python.run({ code, name, give: (item) => items.push(item) });
  return { state, items, seconds: (performance.now() - start) / 1000 };
}"""


def cells(browser: Browser, address: str, html: Path) -> None:
    """Run every cell of every lesson; list what is slow, what needs torch, what differs."""
    (edition,) = (Path(path).parent.name for path in glob.glob(f"{html}/_static/run/*/cells.js"))
    page = browser.new_page()
    page.goto(f"{address}/chapters/{LESSON}.html")
    page.evaluate(
        """async (base) => {
          const root = new URL("/", location);
          const { start } = await import(new URL("cells.js", base));
          window.course = (await start({ base, root, page: "x", cells: [] })).session;
        }""",
        f"{address}/_static/run/{edition}/",
    )
    forget = "for n in [n for n in globals() if n[0] != '_' and n != 'display']: del globals()[n]"
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        page.evaluate(RUN, [forget, "cell 0"])
        code = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
        total, torch, same = 0.0, 0, 0
        for k, cell in enumerate(code, 1):
            result = page.evaluate(RUN, [cell.source, f"cell {k}"])
            total += result["seconds"]
            texts = [item["text"] for item in result["items"] if item["kind"] == "text"]
            stored = "".join(o.text for o in cell.outputs if o.output_type == "stream")
            torch += result["state"] == "torch"
            if result["state"] == "done" and "".join(texts) == stored:
                same += 1
            elif result["state"] != "torch":
                print(f"  {path.stem} cell {k} ({cell.id}): {result['state']}, prints otherwise")
            if result["seconds"] > 3:
                print(f"  {path.stem} cell {k} ({cell.id}): {result['seconds']:.1f} s")
        print(f"{path.stem:24}{len(code):4} cells{same:4} the same{torch:4} torch{total:8.1f} s")
    page.close()


def row(name: str, values: list[float]) -> None:
    print(f"{name:18}{statistics.median(values):8.2f}  ({min(values):.2f} … {max(values):.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--cells", action="store_true", help="run all cells of all lessons, too")
    options = parser.parse_args()
    handler = functools.partial(Handler, directory=str(options.html))
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as playwright,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        for file in options.html.glob("_static/run/**/*"):
            if file.is_file():
                packed(file)  # a web host does not pack while one waits
        browser = launch(playwright)
        if options.cells:
            cells(browser, address, options.html)
        rounds = []
        for _ in range(options.times):
            rounds.append((visit(browser, address), jupyterlab(browser)))
        for name in ("cold", "cached", "again", "megabytes"):
            row(f"page, {name}", [page[name] for page, _ in rounds])
        row("JupyterLab", [lab["cold"] for _, lab in rounds])
        browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
