"""The pages of albums that are shared with accounts: those of a guest, and the form of the owner."""

import re

import pytest

from tests.app.pages.browser import Browser, text_of
from tests.app.uploads.upload_client import FORM, form_of, open_uploads, picture
from tests.helpers.api_client import HASH, PASSWORD
from tests.helpers.factories.accounts import add_user

ORIGIN = {"Origin": "http://localhost"}


@pytest.fixture
def sharing(tmp_path):
    with open_uploads(tmp_path) as api:
        for number in range(3):
            api.library.put(f"secretname{number}.jpg", picture(number + 1))
        api.library.index()
        with api.library.session() as session:
            api.uids["gus"] = add_user(session, "gus", "guest", password_hash=HASH).uid
        api.token = api.app_password("alice")
        api.photos = [photo["UID"] for photo in api.call("GET", "/photos", api.token).json]
        api.album = api.call("POST", "/albums", api.token, json={"Title": "Summer"}).json["UID"]
        api.call("POST", f"/albums/{api.album}/photos", api.token, json={"photos": api.photos[:2]})
        yield api


def signed_in(api, name):
    browser = Browser(api)
    assert browser.sign_in(name, PASSWORD).status_code == 303
    return browser


def pictures(answer):
    return re.findall(r'<a href="(/shared/[^"]+/picture/([^"]+))"><img src="([^"]+)"', answer.text)


def test_the_owner_shares_an_album_with_an_account_and_removes_it(sharing):
    owner = signed_in(sharing, "alice")
    path = f"/albums/{sharing.album}"
    wrong = owner.send(f"{path}/accounts", {"account": "nobody"})
    assert (wrong.status_code, "no such user" in wrong.text) == (404, True)
    assert 'value="nobody"' in wrong.text
    assert owner.send(f"{path}/accounts", {"account": "gus"}).status_code == 303
    assert "gus · since" in text_of(owner.open(f"{path}/links"))
    of_guest = f"{path}/accounts/{sharing.uids['gus']}"
    assert owner.send(f"{of_guest}/change", {"role": "contributor"}).status_code == 303
    assert "Adds photos" in text_of(owner.open(f"{path}/links"))
    assert owner.send(f"{of_guest}/remove", {}).status_code == 303
    assert "gus · since" not in text_of(owner.open(f"{path}/links"))


def test_a_guest_sees_the_shared_album_and_nothing_else(sharing):
    guest = signed_in(sharing, "gus")
    home = guest.open("/")
    assert (home.status_code, home.headers["Location"]) == (303, "/shared")
    assert "No album is shared with you yet." in text_of(guest.open("/shared"))
    owner = signed_in(sharing, "alice")
    owner.send(f"/albums/{sharing.album}/accounts", {"account": "gus"})
    listed = guest.open("/shared")
    assert "Summer 2 photos" in text_of(listed)
    for path in ("/albums", "/favorites", "/places", "/people"):
        assert f'href="{path}"' not in listed.text
        assert guest.open(path).status_code == 403
    album = guest.open(f"/shared/{sharing.album}")
    found = pictures(album)
    assert {uid for _, uid, _ in found} == set(sharing.photos[:2])
    address = found[0][2].replace("&amp;", "&")
    # 503: the machine is too busy to make it now.
    assert guest.open(address, headers={"Accept": "image/*"}, buffered=True).status_code in {200, 503}
    one = guest.open(found[0][0])
    assert (one.status_code, "Download" in text_of(one), "Take out" in text_of(one)) == (200, True, False)
    assert guest.open(f"/shared/{sharing.album}/picture/{sharing.photos[2]}").status_code == 404
    assert guest.open(f"/photos/{sharing.photos[0]}").status_code == 403
    assert "Add photos" not in text_of(album)
    archive = guest.open(f"/shared/{sharing.album}/pictures.zip")
    assert guest.open(archive.headers["Location"], buffered=True).status_code == 200
    some = guest.send(f"/shared/{sharing.album}/pictures.zip", {"photo": sharing.photos[2]})
    assert (some.status_code, guest.open(f"/shared/{sharing.album}x/photos/sequence").status_code) == (404, 404)
    assert guest.open("/settings/account").status_code == 200
    assert guest.send(f"/shared/{sharing.album}/leave", {}).headers["Location"] == "/shared?left=1"
    assert guest.open(f"/shared/{sharing.album}").status_code == 404
    assert guest.send("/sign-out", {}).status_code == 303
    assert guest.open("/shared").status_code == 303


def test_a_contributor_adds_pictures_by_the_form_and_takes_them_out_again(sharing):
    body = {"Account": "gus", "Role": "contributor"}
    sharing.call("POST", f"/albums/{sharing.album}/accounts", sharing.token, json=body)
    guest = signed_in(sharing, "gus")
    path = f"/shared/{sharing.album}"
    before = {uid for _, uid, _ in pictures(guest.open(path))}
    form = {"data": form_of(("new.jpg", picture(9))), "content_type": FORM, "headers": ORIGIN}
    answer = guest.open(f"{path}/pictures", method="POST", **form)
    assert answer.headers["Location"] == f"{path}?added=1"
    assert "1 picture added." in text_of(guest.open(f"{path}?added=1"))
    (new,) = {uid for _, uid, _ in pictures(guest.open(path))} - before
    assert "Take out of the album" in text_of(guest.open(f"{path}/picture/{new}"))
    grid = guest.open(f"{path}/photos/sequence").json["photos"]
    assert {photo["uid"]: photo["own"] for photo in grid} == {**dict.fromkeys(before, False), new: True}
    form["data"] = form_of(("words.txt", b"words"))
    refused = guest.open(f"{path}/pictures", method="POST", **form)
    assert (refused.status_code, "words.txt" in text_of(refused)) == (200, True)
    other = guest.send(f"{path}/picture/{next(iter(before))}/take-out", {})
    assert other.status_code == 404
    assert guest.send(f"{path}/picture/{new}/take-out", {}).status_code == 303
    assert {uid for _, uid, _ in pictures(guest.open(path))} == before


def test_an_account_that_sees_the_library_finds_its_shared_albums_above_the_albums(sharing):
    sharing.call("POST", f"/albums/{sharing.album}/accounts", sharing.token, json={"Account": "vera"})
    viewer = signed_in(sharing, "vera")
    assert 'href="/shared"' in viewer.open("/albums").text
    assert "Open in the library" in text_of(viewer.open(f"/shared/{sharing.album}"))
