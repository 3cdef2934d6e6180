"""Browsers that open the pages of a library with users."""

import pytest

from tests.pages.browser import Browser
from tests.pages.chromium import open_chromium


# Not for the whole session: Playwright keeps the event loop of its thread running, and clients of other tests need one.
@pytest.fixture(scope="module")
def chromium():
    """Chromium, started once for the tests of a file."""
    with open_chromium() as browser:
        yield browser


@pytest.fixture
def browser(api):
    """A browser that is not signed in."""
    return Browser(api)


@pytest.fixture
def alice(browser):
    """The browser, in which `alice` is signed in."""
    assert browser.sign_in().status_code == 303
    return browser


@pytest.fixture
def ann(api):
    """A browser in which the administrator `ann` is signed in."""
    browser = Browser(api)
    assert browser.sign_in("ann").status_code == 303
    return browser
