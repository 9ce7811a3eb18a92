"""The book, built strictly once for all tests, and its pages."""

import functools
import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """Return the folder of the built book; every worker waits for the one that builds it."""
    base = tmp_path_factory.getbasetemp()  # one a worker, side by side
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "book"
    html, log = shared / "_build" / "html", shared / "log"
    with FileLock(f"{shared}.lock"):
        if not log.exists():
            shared.mkdir()
            command = [Path(sys.executable).with_name("jupyter-book"), "build", ROOT]
            command += ["--path-output", shared, "-W", "-n", "--keep-going"]
            run = subprocess.run(command, capture_output=True, text=True)
            log.write_text(f"{run.returncode}\n{run.stdout}\n{run.stderr}")
    code, _, text = log.read_text().partition("\n")
    assert code == "0", f"the strict build failed:\n{text}"
    return html


@pytest.fixture(scope="session")
def server(site):
    """Serve the book on a free port; return its address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Handler, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as http_server:
        threading.Thread(target=http_server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http_server.server_port}"
        http_server.shutdown()


@pytest.fixture(scope="session")
def pages(site) -> list[str]:
    """Return the addresses of all pages below the book's folder."""
    found = sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))
    return [page for page in found if not page.startswith("_")]  # _static, and the print copy


@pytest.fixture(scope="session")
def reader(chromium):
    """Return a function that makes a browser context; what its pages complain of is collected."""
    contexts = []

    def make(address: str, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        complaints: list[str] = []
        context.set_default_timeout(120_000)  # a busy machine is no fault of the page
        page = context.new_page()
        page.on("console", lambda m: complaints.append(f"{page.url}: console {m.type}: {m.text}"))
        page.on("pageerror", lambda e: complaints.append(f"{page.url}: error: {e}"))
        page.on(
            "requestfailed",
            lambda r: (
                r.failure == "net::ERR_ABORTED"  # the page was left before it came
                or complaints.append(f"{page.url}: failed: {r.url} {r.failure}")
            ),
        )
        page.on(
            "request",
            lambda r: (
                r.url.startswith((address, "data:", "blob:"))
                or complaints.append(f"{page.url}: asks another host: {r.url}")
            ),
        )
        return page, complaints

    yield make
    for context in contexts:
        context.close()
