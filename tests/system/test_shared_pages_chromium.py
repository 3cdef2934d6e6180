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
    assert {re.search("quiet=([^&]+)", address)[1] for address in tried} == {"waits"}


@pytest.mark.timeout(180)
def test_keys_lead_from_a_picture_to_its_neighbours_and_back_to_all(sharing):
    with serve(sharing.library.instance, workers=1, threads=8) as base, open_chromium() as browser:
        page = browser.new_page()
        path = f"{base}/s/{make(sharing, ShowMetadata=True)['Token']}"
        page.goto(path)
        page.click(".grid a >> nth=1")
        page.wait_for_url(f"{path}/picture/{sharing.photos[1]}")  # until its script takes keys
        for key, number in (("ArrowRight", 2), ("ArrowLeft", 1), ("ArrowLeft", 0)):
            page.keyboard.press(key)
            page.wait_for_url(f"{path}/picture/{sharing.photos[number]}")
        page.keyboard.press("Escape")
        page.wait_for_url(path)
