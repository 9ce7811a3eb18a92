"""What all tests share: Hypothesis without randomness (two runs test the same), a browser."""

import os
import shutil

import pytest
from hypothesis import settings

settings.register_profile("course", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("course")


def _browser() -> str | None:
    """The browser that CHROMIUM names, else one on the PATH, else None: Playwright's own."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
    found = (shutil.which(name) for name in names)
    return os.environ.get("CHROMIUM") or next(filter(None, found), None)


@pytest.fixture(scope="session")
def chromium():
    """Chromium, one for the whole session (Playwright allows only one at a time)."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_browser(),
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
            ],
        )
        yield browser
        browser.close()
