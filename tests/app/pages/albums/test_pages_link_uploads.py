"""The form by which visitors of a public link add pictures, with and without a window, and its settings."""

import re

import pytest

from photosvc.auth.throttle import Allowance
from photosvc.library import links
from tests.app.pages.browser import OWN, Browser, text_of
from tests.app.uploads.upload_client import FORM, changed, form_of, open_uploads, originals, picture


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


def add(browser, path, *files):
    headers = {"Origin": browser.base, **OWN}
    return browser.open(f"{path}/pictures/add", method="POST", headers=headers, data=form_of(*files), content_type=FORM)


def shown(answer):
    return set(re.findall(r'<a href="/s/[^"]+/picture/([^"]+)"><img', answer.text))


def test_a_visitor_adds_pictures_by_the_form_and_sees_them(sharing):
    visitor, path = Browser(sharing), f"/s/{make(sharing)['Token']}"
    page = visitor.open(path)
    assert f'action="{path}/pictures/add" enctype="multipart/form-data"' in page.text
    answer = add(visitor, path, ("mine.jpg", picture(9)), ("second.jpg", picture(8)))
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{path}?added=2")
    after = visitor.open(answer.headers["Location"])
    assert "2 pictures added. They appear here in a moment." in text_of(after)
    assert len(shown(after) - shown(page)) == 2
    refused = add(visitor, path, ("words.txt", b"words"), ("third.jpg", picture(7)))
    assert (refused.status_code, "1 picture added." in text_of(refused)) == (200, True)
    assert "words.txt : its content is not a picture or video" in text_of(refused)
    assert "secretname" not in refused.text


def test_a_known_file_looks_like_a_new_one(sharing):
    visitor, path = Browser(sharing), f"/s/{make(sharing)['Token']}"
    visitor.open(path)
    new, known = (add(visitor, path, ("mine.jpg", picture(seed))) for seed in (9, 2))
    assert (new.status_code, new.headers["Location"]) == (known.status_code, known.headers["Location"])


def test_other_links_have_no_form_and_take_nothing(sharing):
    visitor, path = Browser(sharing), f"/s/{make(sharing, CanUpload=False)['Token']}"
    assert 'form class="adding' not in visitor.open(path).text
    assert add(visitor, path, ("mine.jpg", picture(9))).status_code == 403
    taking = f"/s/{make(sharing)['Token']}"
    visitor.open(taking)
    with changed(sharing, readonly=True):
        assert 'form class="adding' not in visitor.open(taking).text
        assert add(visitor, taking, ("mine.jpg", picture(9))).status_code == 403
    assert len(originals(sharing)) == 2


def test_without_a_visit_the_form_leads_to_the_link_and_its_password(sharing):
    path = f"/s/{make(sharing, Password='open sesame')['Token']}"
    stranger = Browser(sharing)
    for answer in (add(stranger, path, ("mine.jpg", picture(9))), stranger.open(f"{path}/pictures/add")):
        assert (answer.status_code, answer.headers["Location"]) == (303, path)
    assert add(stranger, "/s/" + "0" * 26, ("mine.jpg", picture(9))).status_code == 404
    assert len(originals(sharing)) == 2
    assert stranger.send(f"{path}/pictures", {"password": "open sesame"}).status_code == 303  # an album of this name
    assert add(stranger, path, ("mine.jpg", picture(9))).status_code == 303
    assert len(originals(sharing)) == 3


def test_a_proxy_is_told_who_may_send_a_large_body(sharing):
    large = {"X-Large-Body": "1"}
    for takes, status in ((True, 204), (False, 403)):
        visitor, path = Browser(sharing), f"/s/{make(sharing, CanUpload=takes)['Token']}"
        assert visitor.open(f"{path}/pictures/add", headers=large).status_code == 403
        visitor.open(path)
        assert visitor.open(f"{path}/pictures/add", headers=large).status_code == status
    assert visitor.open("/s/x/pictures/add", headers=large).status_code == 403


def test_pages_of_other_sites_send_nothing(sharing):
    visitor, path = Browser(sharing), f"/s/{make(sharing)['Token']}"
    visitor.open(path)
    headers = {"Origin": "https://other.example", "Sec-Fetch-Site": "cross-site"}
    body = form_of(("mine.jpg", picture(9)))
    answer = visitor.open(f"{path}/pictures/add", method="POST", headers=headers, data=body, content_type=FORM)
    assert (answer.status_code, len(originals(sharing))) == (403, 2)


def test_limits_are_told_on_the_page(sharing, monkeypatch):
    visitor, path = Browser(sharing), f"/s/{make(sharing)['Token']}"
    visitor.open(path)
    monkeypatch.setattr(links, "_MIBS", Allowance("link-mib", burst=2, seconds=60))
    large = add(visitor, path, ("large.jpg", picture(9) + bytes(4 << 20)))
    assert (large.status_code, "larger in total" in text_of(large)) == (413, True)
    monkeypatch.setattr(links, "_FILES", Allowance("link-files", burst=1, seconds=60))
    assert add(visitor, path, ("one.jpg", picture(9))).status_code == 303
    many = add(visitor, path, ("two.jpg", picture(8)))
    assert (many.status_code, "Too many files by this link" in text_of(many)) == (429, True)
    assert int(many.headers["Retry-After"]) > 0
    assert shown(many)


def test_an_owner_lets_visitors_add_pictures_and_no_longer(sharing):
    owner = Browser(sharing)
    assert owner.sign_in().status_code == 303
    links = f"/albums/{sharing.album}/links"
    values = {"lifetime": "0", "shows": "pictures", "uploads": "yes"}
    assert owner.send(links, values).status_code == 200
    page = owner.open(links)
    assert "Uploads" in text_of(page)
    change = re.search(r'action="(/albums/[^"]+/links/s[0-9a-z]+/change)"', page.text)[1]
    for value, on in (("no", False), ("yes", True)):
        assert f'name="uploads" value="{value}"' in owner.open(links).text
        assert owner.send(change, {"uploads": value}).status_code == 303
        (link,) = sharing.call("GET", f"{links}", sharing.token).json
        assert link["CanUpload"] is on
    smart = sharing.call("POST", "/albums", sharing.token, json={"Title": "S", "Filter": "year:2024"}).json["UID"]
    assert "uploads" not in owner.open(f"/albums/{smart}/links").text
    refused = owner.send(f"/albums/{smart}/links", values)
    assert (refused.status_code, 'role="alert"' in refused.text) == (409, True)
