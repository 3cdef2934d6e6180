"""The page that uploads: who it is offered to, and files that other apps share."""

import re

import pytest

from tests.app.pages.browser import OWN, Browser, text_of
from tests.app.uploads.upload_client import FORM, changed, form, open_uploads, originals, picture


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("form")) as api:
        yield api


@pytest.fixture
def browser(api):
    browser = Browser(api)
    browser.sign_in()
    return browser


def test_a_library_that_takes_no_files_offers_no_form(api, browser):
    with changed(api, readonly=True):
        page = browser.open("/upload")
        assert "no files can be uploaded" in text_of(page)
        assert '<form class="card' not in page.text
        assert "Upload" not in text_of(browser.open("/albums"))
    assert 'href="/upload"' in browser.open("/albums").text


def test_who_may_only_look_is_offered_no_upload(api):
    browser = Browser(api)
    browser.sign_in("vera")
    assert 'href="/upload"' not in browser.open("/albums").text
    assert browser.open("/upload").status_code == 403


def test_files_that_are_shared_without_the_worker_are_not_read_and_the_page_says_that_they_are_lost(api, browser):
    before = originals(api)
    by_person = {**OWN, "Sec-Fetch-Site": "none", "Origin": "null"}
    body = form(b'Content-Disposition: form-data; name="files"; filename="a.jpg"\r\n\r\n' + picture(7))
    for who in (browser, Browser(api)):
        answer = who.open("/upload/shared", headers=by_person, method="POST", data=body, content_type=FORM)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/upload?shared=none")
    assert "The shared files did not arrive" in text_of(browser.open("/upload?shared=none"))
    assert "shared files" not in text_of(browser.open("/upload"))
    assert originals(api) == before


def test_the_worker_of_shared_files_reaches_nothing_but_their_address(browser):
    manifest = browser.open(re.search(r'href="([^"]+page\.webmanifest)"', browser.open("/upload").text)[1])
    assert manifest.json["share_target"] == {
        "action": "../../upload/shared",
        "method": "POST",
        "enctype": "multipart/form-data",
        "params": {"files": [{"name": "files", "accept": ["image/*", "video/*"]}]},
    }
    assets = manifest.request.path.removesuffix("/page.webmanifest")
    assert browser.open(f"{assets}/grid/share.js").headers["Service-Worker-Allowed"] == "/upload/"
    assert "Service-Worker-Allowed" not in browser.open(f"{assets}/grid/upload.js").headers
