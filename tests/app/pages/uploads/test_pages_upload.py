"""The page that uploads, as a form: the result of each file, refusals, and who it is offered to."""

import re

import pytest

from tests.helpers.browser import OWN, Browser, text_of
from tests.helpers.clients.upload_client import FORM, changed, form, open_uploads, originals, parts, picture


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("form")) as api:
        yield api


@pytest.fixture
def browser(api):
    browser = Browser(api)
    browser.sign_in()
    return browser


def send(browser, *files, headers=None):
    """The answer to the form with these files."""
    head = 'Content-Disposition: form-data; name="files"; filename="{}"\r\n\r\n'
    body = form(*(head.format(name).encode() + data for name, data in files))
    sent = {"Origin": browser.base, **OWN} if headers is None else headers
    return browser.open("/upload", headers=sent, method="POST", data=body, content_type=FORM)


def test_the_form_tells_the_result_of_each_file(api, browser):
    data = picture(1)
    page = send(browser, ("a <b>.jpg", data), ("letter.doc", b"a letter"))
    assert page.status_code == 200
    assert "1 of 2 files added" in text_of(page)
    assert "letter.doc Refused: its content is not a picture or video" in text_of(page)
    assert "<b>.jpg" not in page.text
    (found,) = api.call("GET", "/photos?count=9", api.app_password("alice")).json
    assert f'href="/photos/{found["UID"]}"' in page.text
    again = send(browser, ("c.jpg", data))
    assert "0 of 1 files added c.jpg In the library already" in text_of(again)
    assert list(originals(api).values()) == [data]
    damaged = send(browser, ("cut.jpg", picture(8)[:-300]), ("d.jpg", picture(8)))
    assert "1 of 2 files added 1 file is stored, but cannot be shown. cut.jpg Stored, but damaged: the" in text_of(
        damaged
    )


def test_a_form_without_files_or_beyond_a_limit_says_so_and_leaves_nothing(api, browser):
    before, kept = originals(api), parts(api)
    assert send(browser).status_code == 400
    with changed(api, upload_files=1):
        many = send(browser, ("a.jpg", picture(2)), ("b.jpg", picture(3)))
    assert (many.status_code, "too many files" in text_of(many)) == (413, True)
    with changed(api, max_file_size=1):
        large = send(browser, ("a.jpg", picture(2) + bytes(2 << 20)))
    assert large.status_code == 413
    with changed(api, upload_quota=1):
        beyond = send(browser, ("a.jpg", picture(2) + bytes(2 << 20)))
    assert (beyond.status_code, "your account may have" in text_of(beyond)) == (413, True)
    for page in (many, large, beyond):
        assert 'role="alert"' in page.text
        assert '<form class="card sending"' in page.text
    assert (originals(api), parts(api)) == (before, kept)


def test_a_library_that_takes_no_files_offers_no_form(api, browser):
    with changed(api, readonly=True):
        page = browser.open("/upload")
        assert "no files can be uploaded" in text_of(page)
        assert '<form class="card' not in page.text
        assert "Upload" not in text_of(browser.open("/albums"))
        assert send(browser, ("a.jpg", picture(4))).status_code == 403
    assert 'href="/upload"' in browser.open("/albums").text


def test_who_may_only_look_is_offered_no_upload(api):
    browser = Browser(api)
    browser.sign_in("vera")
    assert 'href="/upload"' not in browser.open("/albums").text
    assert browser.open("/upload").status_code == 403
    assert send(browser, ("a.jpg", picture(5))).status_code == 403


def test_pages_of_others_send_no_files_with_the_session(api, browser):
    before = originals(api)
    for site in ("cross-site", "same-site"):
        headers = {**OWN, "Sec-Fetch-Site": site, "Origin": "https://evil.example"}
        assert send(browser, ("a.jpg", picture(6)), headers=headers).status_code == 403
    assert originals(api) == before


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
