"""A visitor's phone adds pictures in Chromium."""

import pytest

from tests.helpers.chromium import open_chromium
from tests.helpers.clients.upload_client import open_uploads, originals, picture
from tests.helpers.programs.server import serve


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("filled")) as api:
        for number in range(2):
            api.library.put(f"secretname{number}.jpg", picture(number + 1))
        api.library.index()
        api.token = api.app_password("alice")
        api.photos = [photo["UID"] for photo in api.call("GET", "/photos", api.token).json]
        api.album = api.call("POST", "/albums", api.token, json={"Title": "Pictures"}).json["UID"]
        api.call("POST", f"/albums/{api.album}/photos", api.token, json={"photos": api.photos[:1]})
    return api


@pytest.fixture
def sharing(filled, tmp_path):
    with open_uploads(tmp_path, like=filled) as api:
        api.token, api.photos, api.album = filled.token, filled.photos, filled.album
        yield api


def make(api, **values):
    answer = api.call("POST", f"/albums/{api.album}/links", api.token, json={"CanUpload": True, **values})
    assert answer.status_code == 200, answer.text
    return answer.json


@pytest.mark.timeout(180)
def test_a_visitor_with_a_phone_adds_a_picture(sharing, tmp_path):
    path = f"/s/{make(sharing)['Token']}"
    (tmp_path / "mine.jpg").write_bytes(picture(9))
    with (
        serve(sharing.library.instance, workers=1, threads=8) as base,
        open_chromium() as browser,
    ):
        page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
        page.goto(base + path)
        page.get_by_label("Add pictures and videos").set_input_files(tmp_path / "mine.jpg")
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_text("1 picture added.").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        button = page.get_by_role("button", name="Add", exact=True).bounding_box()
        assert button["height"] >= 40
    assert len(originals(sharing)) == 3
