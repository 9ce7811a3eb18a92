"""The browser of the tests and of `make pdf`: find one, or get one.

    python scripts/browser.py

One is looked for in the variable CHROMIUM, on the PATH, and where Playwright keeps its own. If
there is none: Playwright's own is downloaded; where that cannot be had, Debian's package is
installed, as root; else the command stops and says what to type. It needs the standard library
only, so that it can be asked before anything is installed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
PACKAGES = ("chromium-headless-shell", "chromium")  # without windows it is quicker
FONTS = ("fonts-dejavu", "fonts-noto-color-emoji")  # Chromium brings none
CACHES = {"darwin": "Library/Caches", "win32": "AppData/Local"}
PATIENCE = 0.9  # seconds for the first answer of the host of Playwright's downloads
HELP = """The tests need a Chromium or Chrome. None was found, none could be had. Do one of these:
    sudo apt-get install chromium              (Debian's own)
    python3 scripts/environment.py && .venv/bin/python -m playwright install --with-deps chromium
    export CHROMIUM=/path/to/chrome            (if it is somewhere else)"""

# JavaScript: scrolls to an element, again as long as what comes into sight above it moves it.
INTO_SIGHT = """async (element, [where, frames]) => {
  for (let before = NaN, same = 0; same < frames; ) {
    element.scrollIntoView(where);
    await new Promise(requestAnimationFrame);
    const { y } = element.getBoundingClientRect();
    same = y === before ? same + 1 : 0;
    before = y;
  }
}"""


def starts(program: str) -> bool:
    """Return whether the program runs (a stub that asks for another package does not)."""
    if os.name == "nt":  # there Chrome opens a window whatever it is asked
        return Path(program).is_file()
    try:
        asked = [program, "--version"]
        done = subprocess.run(asked, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def find() -> str | None:
    """Return the browser that CHROMIUM names, else the first on the PATH that starts."""
    named = os.environ.get("CHROMIUM")
    if named:
        if not starts(named):
            raise SystemExit(f"CHROMIUM names {named}, which is no program that starts.")
        return named
    return next((found for found in map(shutil.which, NAMES) if found and starts(found)), None)


def downloaded() -> bool:
    """Return whether Playwright has a Chromium of its own."""
    default = Path.home() / CACHES.get(sys.platform, ".cache") / "ms-playwright"
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default)
    return any(folder.glob("chromium*/INSTALLATION_COMPLETE"))


def reachable() -> bool:
    """Return whether the host of Playwright's downloads answers, and soon."""
    answers = []

    def ask() -> None:
        host = os.environ.get("PLAYWRIGHT_DOWNLOAD_HOST", "https://cdn.playwright.dev")
        try:
            urllib.request.urlopen(urllib.request.Request(host, method="HEAD"), timeout=PATIENCE)
        except urllib.error.HTTPError:
            pass  # it answers
        except (OSError, ValueError):
            return
        answers.append(host)

    asking = threading.Thread(target=ask, daemon=True)  # looking up a name knows no time-out
    asking.start()
    asking.join(PATIENCE)
    return bool(answers)


def download() -> bool:
    """Have Playwright install its own Chromium; return whether one is there that starts."""
    as_root = sys.platform == "linux" and os.geteuid() == 0 and not downloaded()
    command = [sys.executable, "-m", "playwright", "install"]
    patience = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "5000", **os.environ}
    libraries = ["--with-deps"] if as_root and shutil.which("apt-get") else []
    done = subprocess.run(
        [*command, *libraries, "chromium"], env=patience, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        return False
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            playwright.chromium.launch(args=["--no-sandbox"]).close()
        except Error as error:
            print(f"Playwright's Chromium does not start: {error.message}", file=sys.stderr)
            return False
    return True


def install() -> None:
    """Install Debian's package; what fails is seen by whoever looks for the browser next."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive", **os.environ}

    def apt(*arguments: str) -> bool:
        command = ["apt-get", *arguments]
        return subprocess.run(command, env=quiet, stdin=subprocess.DEVNULL).returncode == 0

    apt("update")
    for package in PACKAGES:
        if apt("install", "-y", "--no-install-recommends", package, *FONTS):
            return


def ensure() -> None:
    """Return when there is a browser, or when Playwright, not yet installed, can get one."""
    if find():
        return
    own = downloaded() or reachable()
    if own and (importlib.util.find_spec("playwright") is None or download()):
        return
    if os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        install()
    if not find():
        raise SystemExit(HELP)


def short_folder() -> str:
    """Return a folder for temporary files short enough for Chromium's socket in it.

    A socket's address holds 104 bytes, and Chromium adds 45 to the folder's.
    """
    usual = tempfile.gettempdir()
    return usual if os.name != "posix" or len(os.fsencode(usual)) <= 59 else "/tmp"


def launch(playwright: Playwright) -> Browser:
    """Start the browser that was found, else Playwright's own."""
    quiet = ("background-networking", "component-update", "sync")
    return playwright.chromium.launch(
        executable_path=find(),
        env=dict(os.environ, TMPDIR=short_folder()),
        args=[
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            *(f"--disable-{q}" for q in quiet),
        ],
    )


if __name__ == "__main__":
    ensure()
