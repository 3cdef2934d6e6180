"""A library with users, and browsers that open its pages."""

import pytest

from tests.pages.browser import Browser


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
