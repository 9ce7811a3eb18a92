"""What all tests share: Hypothesis without randomness, a browser, the built book."""

import functools
import http.server
import importlib
import os
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

ROOT = Path(__file__).parent.parent


def pytest_addoption(parser):
    parser.addoption("--shapes", action="store_true", help="check the library's annotations")


def pytest_configure(config):
    if config.getoption("--shapes"):
        import shapes

        shapes.install()  # before a test imports the library


settings.register_profile("course", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("course")


@pytest.fixture(autouse=True)
def seeded():
    """Torch's modules start with the same random numbers in each test."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


@pytest.fixture(scope="session")
def chromium():
    """Chromium, one for the whole session (Playwright allows only one at a time)."""
    from playwright.sync_api import sync_playwright

    from scripts.browser import launch

    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


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
def kernel_module():
    """The kernel, in a package of the name that it has in the worker."""
    package = types.ModuleType("course_run")
    package.__path__ = [str(ROOT / "_ext" / "run")]
    sys.modules["course_run"] = package
    return importlib.import_module("course_run.kernel")
