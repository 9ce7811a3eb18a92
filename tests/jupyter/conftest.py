"""A real JupyterLab with Chromium in front of it."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import nbformat
import pytest
from playwright.sync_api import expect

TOKEN = "course"
# what scripts/environment.py and Binder do, so that JupyterLab does not ask about news
NO_NEWS = ["labextension", "disable", "@jupyterlab/apputils-extension:announcements"]


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The address of a running server, and the folder it shows."""
    home = tmp_path_factory.mktemp("lab")
    folder = home / "notebooks"
    folder.mkdir()
    environment = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
    }
    quiet = [sys.executable, "-m", "jupyter", *NO_NEWS, "--level=user"]
    subprocess.run(quiet, env=environment, stderr=subprocess.DEVNULL, check=True)
    port = free_port()
    server = subprocess.Popen(
        [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
            f"--ServerApp.port={port}", "--ServerApp.port_retries=0",
            f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}",
            f"--LabApp.user_settings_dir={home / 'settings'}",
            f"--LabApp.workspaces_dir={home / 'workspaces'}",
            "--LabApp.extension_manager=readonly",
        ],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=2):
                    break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                assert server.poll() is None, "the server ended"
                time.sleep(0.2)
        yield address, folder
    finally:
        server.terminate()
        try:
            server.wait(timeout=60)  # it ends its kernels first
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


class Notebook:
    """An open notebook: its page, and its cells by number."""

    def __init__(self, page, address):
        self.page, self.address = page, address

    def cell(self, number):
        return self.page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{number}"]')

    def run(self, number):
        """Run one cell and wait until it has its number."""
        prompt = self.cell(number).locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        self.cell(number).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        expect(prompt).not_to_have_text(before)
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=60_000)

    def end_kernel(self, name):
        """End the kernel of the notebook `name`; while it lives, a reload finds the widgets."""
        sessions, head = f"{self.address}/api/sessions", {"Authorization": f"token {TOKEN}"}
        for session in self.page.request.get(sessions, headers=head).json():
            if session["path"] == name:
                self.page.request.delete(f"{sessions}/{session['id']}", headers=head)

    def output(self, number):
        return self.cell(number).locator(".jp-OutputArea-output")


@pytest.fixture
def open_notebook(lab, chromium):
    """Return a function that opens a new notebook of the given cells."""
    address, folder = lab
    pages = []

    def open_cells(*cells, file=None):
        name = f"widgets-{len(list(folder.iterdir()))}.ipynb"
        book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(nbformat.read(file, as_version=4) if file else book, folder / name)
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        pages.append(page)
        page.goto(f"{address}/lab/tree/{name}?token={TOKEN}&reset")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
        page.locator(".jp-mod-status-bar, #jp-bottom-panel").get_by_text("| Idle").wait_for(
            timeout=60_000
        )
        return Notebook(page, address)

    yield open_cells
    for page in pages:
        page.close()
