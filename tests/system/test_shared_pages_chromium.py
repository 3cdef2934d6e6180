"""The pages of a public link in Chromium."""

import re

import pytest

from tests.app.pages.albums import test_pages_sharing as everyday
from tests.app.pages.albums.test_pages_sharing import make
from tests.browser.chromium import open_chromium
from tests.helpers.programs.server import serve

sharing = everyday.sharing


@pytest.mark.timeout(180)
def test_a_thumbnail_that_is_not_ready_is_asked_for_again(sharing):
    tried = []

    def refuse_first(route):
        tried.append(route.request.url)
        if tried.count(route.request.url) == 1:
            route.fulfill(status=202, headers={"Retry-After": "1"})
        else:
            route.continue_()

    with serve(sharing.library.instance, workers=1, threads=8) as base, open_chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.route("**/t/**", refuse_first)
        for path in ("", f"/picture/{sharing.photos[0]}"):
            page.goto(f"{base}/s/{make(sharing, ShowMetadata=True)['Token']}{path}")
            page.wait_for_function("() => document.images[0].naturalWidth")
    assert min(tried.count(address) for address in tried[:2]) >= 2  # more while the server makes it
    assert {re.search("quiet=([^&]+)", address)[1] for address in tried} == {"waits", "1"}
