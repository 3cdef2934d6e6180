"""The pages of a public link in Chromium."""

import re

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_chromium
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

PLACE = {1: "N", 2: [(52, 1), (31, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]}


@pytest.fixture(scope="module")
def sharing(tmp_path_factory):
    settings = {"PHOTOSVC_BASE_URL": "https://photos.example.org"}
    with open_api(tmp_path_factory.mktemp("sharing"), settings=settings) as api:
        for number in range(125):
            tags = exif({0x0110: "Maplecam"}, {0x9003: f"2021:07:01 {10 + number // 60}:{number % 60:02}:00"}, PLACE)
            api.library.put(f"beach/wave{number}.jpg", jpeg(160 + number, 120, exif=tags))
        api.library.index()
        api.token = api.app_password("alice")
        photos = api.call("GET", "/photos?count=200&order=oldest", api.token).json
        api.photos = [photo["UID"] for photo in photos]
        album = api.call("POST", "/albums", api.token, json={"Title": "Summer", "Description": "By the sea."}).json
        api.call("POST", f"/albums/{album['UID']}/photos", api.token, json={"photos": api.photos[:-1]})
        api.album = album["UID"]
        yield api


def make(api, **values):
    answer = api.call("POST", f"/albums/{api.album}/links", api.token, json=values)
    assert answer.status_code == 200, answer.text
    return answer.json


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
    assert min(tried.count(address) for address in tried[:2]) == 2
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
