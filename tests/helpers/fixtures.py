"""Fixtures that several folders of tests import into their `conftest.py`."""

import pytest

from tests.app.pages.browser import Browser
from tests.browser.chromium import open_chromium
from tests.system.clients.dav_server import serve_dav


# Not for the whole session: Playwright keeps the event loop of its thread running, and clients of other tests need one.
@pytest.fixture(scope="package")
def chromium():
    """Chromium, started once for the tests of a folder."""
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


@pytest.fixture(scope="module")
def dav_of_module(tmp_path_factory):
    """A WebDAV server with two workers."""
    with serve_dav(tmp_path_factory.mktemp("dav")) as dav:
        yield dav


@pytest.fixture
def dav(dav_of_module):
    """The WebDAV server of the module, without originals."""
    dav_of_module.empty()
    return dav_of_module
