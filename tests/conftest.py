"""What all tests share: Hypothesis without randomness (two runs test the same), a browser."""

import pytest
from hypothesis import settings

settings.register_profile("course", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("course")


@pytest.fixture(scope="session")
def chromium():
    """Chromium, one for the whole session (Playwright allows only one at a time)."""
    from playwright.sync_api import sync_playwright

    from scripts.browser import launch

    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()
