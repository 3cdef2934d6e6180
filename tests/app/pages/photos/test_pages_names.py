"""Labels and People without scripts: lists with covers and counts, renaming, merging, removing."""

import re
from html import unescape

import pytest

from photosvc.library import renames as library_names
from photosvc.pages import names
from tests.app.pages.browser import OWN, Browser, text_of
from tests.app.pages.photos.test_pages_photos import photos_of
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg, showing

HOSTILE = '"><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("filled")) as api:
        for number, people in enumerate((("Ada", "Bob"), ("Ada",), ())):
            taken = exif({}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"{number}.jpg", jpeg(64 + number, 48, exif=taken, xmp=showing(*people)))
        api.library.index()
        for number, words in enumerate(("lake, boat", "lake", "sea")):
            call(api, "PUT", f"/photos/{uids(api, f'name:{number}')[0]}", json={"Details": {"Keywords": words}})
    return api


@pytest.fixture
def api(filled, tmp_path):
    with open_api(tmp_path, like=filled) as api:
        yield api


def call(api, method, path, **options):
    answer = api.call(method, path, api.app_password("alice"), **options)
    assert answer.status_code == 200, answer.text
    return answer.json


def uids(api, query):
    found = api.library.find(token=api.app_password("alice"), q=query, merged="true")
    return [one["UID"] for one in found]


def listed(alice, path, **query):
    """The names of a list with the numbers of their photos."""
    page = alice.open(path, headers=OWN, query_string=query)
    assert page.status_code == 200
    names = [unescape(name) for name in re.findall(r'<bdi lang="">(.*?)</bdi>', page.text)]
    return list(zip(names, map(int, re.findall(r"<small>(\d+) photos?</small>", page.text)), strict=True))


def uid_of(api, kind, name):
    return next(one["UID"] for one in call(api, "GET", f"/{kind}") if one["Name"] == name)


def test_labels_are_listed_with_counts_and_covers_and_lead_to_their_photos(api, alice):
    assert listed(alice, "/labels") == [("boat", 1), ("lake", 2), ("sea", 1)]
    assert listed(alice, "/labels", order="count") == [("lake", 2), ("boat", 1), ("sea", 1)]
    assert listed(alice, "/labels", q="A") == [("boat", 1), ("lake", 2), ("sea", 1)]
    assert listed(alice, "/labels", q="lak") == [("lake", 2)]
    page = alice.open("/labels", headers=OWN).text
    cover = call(api, "GET", "/labels?order=count")[0]["Thumb"]
    assert cover in page
    links = [unescape(link) for link in re.findall(r'<a href="(/\?q=[^"]+)"', page)]
    assert sorted(photos_of(alice.open(links[1], headers=OWN))) == sorted(uids(api, "label:lake"))


def test_people_are_shown_by_their_area_of_the_latest_photo(api, alice):
    assert listed(alice, "/people") == [("Ada", 2), ("Bob", 1)]
    page = alice.open("/people", headers=OWN).text
    covers = re.findall(r'<img src="([^"]+)"', page)
    assert all(re.search(r"/t/[0-9a-f]{40}-[0-9a-f]{12}/[^/]+/tile_224", cover) for cover in covers), covers
    with alice.open(unescape(covers[0]).replace("quiet=1", ""), headers=OWN) as cover:
        assert (cover.status_code, cover.content_type) == (200, "image/jpeg")
    links = [unescape(link) for link in re.findall(r'<a href="(/\?q=[^"]+)"', page)]
    assert photos_of(alice.open(links[0], headers=OWN)) == uids(api, "subject:Ada")


@pytest.mark.parametrize(("path", "kind", "old"), [("/labels", "labels", "boat"), ("/people", "subjects", "Bob")])
def test_a_name_is_changed_on_all_photos(api, alice, path, kind, old):
    uid = uid_of(api, kind, old)
    answer = alice.send(f"{path}/{uid}", {"name": HOSTILE, "favorite": "yes"})
    assert answer.headers["Location"] == f"{path}?done=saved"
    page = alice.open(answer.headers["Location"], headers=OWN)
    assert "Saved." in text_of(page)
    assert "<img src=x" not in page.text
    assert (HOSTILE, 1) in listed(alice, path)
    renamed = next(one for one in call(api, "GET", f"/{kind}") if one["Name"] == HOSTILE)
    assert renamed["Favorite"] is True
    alice.send(f"{path}/{renamed['UID']}", {"name": HOSTILE})
    assert not any(one["Favorite"] for one in call(api, "GET", f"/{kind}"))


@pytest.mark.parametrize(
    ("path", "kind", "old", "other", "after"),
    [("/labels", "labels", "boat", "LAKE", [("LAKE", 2), ("sea", 1)]),
     ("/people", "subjects", "Bob", "ada", [("ada", 2)])],
)  # fmt: skip
def test_two_are_merged_only_by_a_second_press(api, alice, path, kind, old, other, after):
    uid, before = uid_of(api, kind, old), listed(alice, path)
    answer = alice.send(f"{path}/{uid}", {"name": other})
    assert answer.status_code == 409
    assert "with 2 photos. Merging makes one of both" in text_of(answer)
    assert listed(alice, path) == before
    into = re.search(r'name="merge" value="(\w+)"', answer.text)[1]
    assert alice.send(f"{path}/{uid}", {"name": other, "merge": "x"}).status_code == 409
    answer = alice.send(f"{path}/{uid}", {"name": other, "merge": into})
    assert answer.headers["Location"] == f"{path}?done=merged"
    found = listed(alice, path)
    assert [(name.lower(), count) for name, count in found] == [(name.lower(), count) for name, count in after]


def test_a_label_is_removed_from_all_photos(api, alice):
    uid = uid_of(api, "labels", "lake")
    assert "is removed from 2 photos" in text_of(alice.open(f"/labels/{uid}", headers=OWN))
    assert alice.send(f"/labels/{uid}/remove", {}).headers["Location"] == "/labels?done=removed"
    assert listed(alice, "/labels") == [("boat", 1), ("sea", 1)]
    assert alice.send(f"/labels/{uid}/remove", {}).status_code == 404


@pytest.mark.parametrize(
    ("path", "kind", "old", "typed", "message"),
    [("/labels", "labels", "boat", "a, b", "Type a name without commas."),
     ("/labels", "labels", "boat", " ", "Type a name with letters or digits."),
     ("/labels", "labels", "boat", "x" * 256, "Type a name of at most 255 characters."),
     ("/people", "subjects", "Bob", "!?", "Type a name with letters or digits."),
     ("/people", "subjects", "Bob", "x" * 161, "Type a name of at most 160 characters.")],
)  # fmt: skip
def test_a_name_that_cannot_be_is_refused_beside_its_field(api, alice, path, kind, old, typed, message):
    before = listed(alice, path)
    answer = alice.send(f"{path}/{uid_of(api, kind, old)}", {"name": typed})
    assert answer.status_code == 400
    assert f'id="wrong-name">{message}' in answer.text
    assert listed(alice, path) == before


def test_a_change_of_very_many_photos_goes_on_by_itself(api, alice, monkeypatch):
    monkeypatch.setattr(library_names, "MOST_AT_ONCE", 1)
    woken = []
    monkeypatch.setattr(names, "wake_indexer", woken.append)
    answer = alice.send(f"/labels/{uid_of(api, 'labels', 'lake')}", {"name": "water"})
    assert answer.headers["Location"] == "/labels?done=job"
    assert len(woken) == 1
    assert "goes on by itself" in text_of(alice.open(answer.headers["Location"], headers=OWN))


def test_lists_have_pages(alice, monkeypatch):
    monkeypatch.setattr(names, "COUNT", 2)
    assert listed(alice, "/labels") == [("boat", 1), ("lake", 2)]
    assert 'rel="next" href="/labels?page=2"' in alice.open("/labels", headers=OWN).text
    assert listed(alice, "/labels", page=2) == [("sea", 1)]
    beyond = text_of(alice.open("/labels?page=9", headers=OWN))
    assert "There is no page 9." in beyond
    assert "Previous" not in beyond


def test_empty_lists_say_what_comes_there(tmp_path):
    with open_api(tmp_path / "empty") as api:
        browser = Browser(api)
        assert browser.sign_in().status_code == 303
        assert "There are no labels yet." in text_of(browser.open("/labels", headers=OWN))
        assert "There are no people yet." in text_of(browser.open("/people", headers=OWN))


def test_viewers_see_the_lists_without_forms_and_without_private_photos(api, alice):
    call(api, "PUT", f"/photos/{uids(api, 'name:0')[0]}", json={"Private": True})
    vera = Browser(api)
    assert vera.sign_in("vera").status_code == 303
    assert listed(vera, "/labels") == [("lake", 1), ("sea", 1)]
    assert listed(vera, "/people") == [("Ada", 1)]
    assert "/labels/" not in vera.open("/labels", headers=OWN).text


def test_a_name_that_is_not_there_has_no_form(alice):
    for path in ("/labels/ltouqe1kbhlaydg7", "/people/jtouqe1kbhlaydg7"):
        assert alice.open(path, headers=OWN).status_code == 404
        assert alice.send(path, {"name": "x"}).status_code == 404


def test_a_person_has_a_birth_date_that_the_form_changes_and_checks(api, alice):
    uid = uid_of(api, "subjects", "Bob")
    path, name = f"/people/{uid}", {"name": "Bob"}
    assert alice.send(path, {**name, "birth_date": "1950-12-31"}).status_code == 303
    assert 'type="date" value="1950-12-31"' in alice.open(path, headers=OWN).text
    wrong = alice.send(path, {**name, "birth_date": "31.12.1950"})
    assert (wrong.status_code, "Type a date such as 1950-12-31." in wrong.text) == (400, True)
    assert 'value="31.12.1950" aria-invalid="true"' in wrong.text
    assert alice.send(path, {**name, "birth_date": ""}).status_code == 303
    assert 'type="date" value=""' in alice.open(path, headers=OWN).text


def test_a_person_is_hidden_by_the_form_and_shown_again_by_undo_or_from_the_hidden_ones(api, alice):
    uid = uid_of(api, "subjects", "Bob")
    assert "Hide person" in text_of(alice.open(f"/people/{uid}", headers=OWN))
    assert "hidden" not in text_of(alice.open("/people", headers=OWN))
    for undo in (True, False):
        done = alice.send(f"/people/{uid}/hide", {"hidden": "yes"}).headers["Location"]
        page = alice.open(done, headers=OWN)
        assert "“ Bob ” is hidden" in text_of(page)
        assert listed(alice, "/people") == [("Ada", 2)]
        assert "1 hidden person: show" in text_of(page)
        hidden = alice.open("/people?hidden=yes", headers=OWN)
        assert "<h1>Hidden people</h1>" in hidden.text
        assert listed(alice, "/people", hidden="yes") == [("Bob", 1)]
        assert "Show again" in text_of(alice.open(f"/people/{uid}", headers=OWN))
        form = page if undo else alice.open(f"/people/{uid}", headers=OWN)
        assert f'action="/people/{uid}/hide"' in form.text
        assert alice.send(f"/people/{uid}/hide", {"hidden": "no"}).headers["Location"] == "/people?done=shown"
        assert listed(alice, "/people") == [("Ada", 2), ("Bob", 1)]
        assert "is hidden" not in text_of(alice.open(done, headers=OWN))
    assert "No person is hidden." in text_of(alice.open("/people?hidden=yes", headers=OWN))


def test_hidden_people_of_private_photos_are_not_told_to_others(api, alice):
    send = {"photos": uids(api, "subject:Bob")}
    call(api, "POST", "/batch/photos/private", json=send)
    alice.send(f"/people/{uid_of(api, 'subjects', 'Bob')}/hide", {"hidden": "yes"})
    vera = Browser(api)
    vera.sign_in("vera")
    assert "hidden" not in text_of(vera.open("/people", headers=OWN))
    assert "No person is hidden." in text_of(vera.open("/people?hidden=yes", headers=OWN))
