"""Favorites, Archive and Review as pages with a title, and their own words when they are empty."""

import re

import pytest

from tests.app.pages.browser import OWN, text_of
from tests.app.pages.photos.test_pages_photos import photos_of
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg

PAGES = {"/favorites": "Favorites", "/archive": "Archive", "/review": "Review"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("filled")) as api:
        for number, name in enumerate(("lake", "hill", "town", "tree")):
            taken = exif({}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"{name}.jpg", jpeg(64 + number, 48, exif=taken))
        api.library.index()
    return api


@pytest.fixture
def api(filled, tmp_path):
    with open_api(tmp_path, like=filled) as api:
        yield api


@pytest.fixture
def photos(api):
    """UIDs by file name."""
    found = api.library.find(token=api.app_password("alice"), merged="true")
    return {one["FileName"].removesuffix(".jpg"): one["UID"] for one in found}


def send(api, path, **json):
    assert api.call("POST", path, api.app_password("alice"), json=json).status_code == 200


def favor(api, *uids):
    for uid in uids:
        send(api, f"/photos/{uid}/like")


@pytest.mark.parametrize(
    ("path", "message"),
    [("/favorites", "There are no favorites yet."), ("/archive", "The archive is empty."),
     ("/review", "There is nothing to review.")],
)  # fmt: skip
def test_an_empty_page_says_what_comes_there(api, alice, photos, path, message):
    send(api, "/batch/photos/approve", photos=list(photos.values()))
    page = alice.open(path, headers=OWN)
    assert message in text_of(page)
    assert f"<h1>{PAGES[path]}</h1>" in page.text
    assert f"<title>{PAGES[path]} \u00b7" in page.text
    assert re.findall(r'href="([^"]+)" aria-current="page"', page.text)[0] == path


def test_each_page_shows_its_photos_and_names_them_for_its_scripts(api, alice, photos):
    favor(api, photos["lake"])
    send(api, "/batch/photos/archive", photos=[photos["hill"]])
    favorites, archive, review = (alice.open(path, headers=OWN) for path in PAGES)
    assert photos_of(favorites) == [photos["lake"]]
    assert photos_of(archive) == [photos["hill"]]
    assert photos_of(review) == [photos["tree"], photos["town"]]
    shown = [
        re.search(r'data-archive="(1?)" data-review="(1?)"', page.text).groups()
        for page in (favorites, archive, review)
    ]
    assert shown == [("", ""), ("1", ""), ("", "1")]
    assert 'data-query="lake favorite:true"' in alice.open("/favorites?q=lake", headers=OWN).text


@pytest.mark.parametrize(
    ("query", "found"),
    [("name:lake", ["lake"]), ("name:lake | name:hill", ["hill", "lake"]), ("name:tree", []),
     ("order:oldest", ["lake", "hill"]), ("name:lake|hill order:oldest", ["lake", "hill"]), ("archived:true", [])],
)  # fmt: skip
def test_a_search_stays_on_the_page(api, alice, photos, query, found):
    favor(api, photos["lake"], photos["hill"])
    page = alice.open("/favorites", headers=OWN, query_string={"q": query})
    assert photos_of(page) == [photos[name] for name in found]
    assert 'action="/favorites"' in page.text
    if not found:
        assert "Nothing here matches this search." in text_of(page)
        assert f'href="/?q={query}"' in page.text


def test_a_wrong_search_is_told_beside_the_field_which_keeps_it(api, alice, photos):
    favor(api, photos["lake"])
    page = alice.open("/favorites?q=yaer:2023", headers=OWN)
    assert page.status_code == 400
    assert 'value="yaer:2023"' in page.text
    message = re.search(r'role="alert">([^<]*)<', page.text)[1]
    assert message == re.search(r'role="alert">([^<]*)<', alice.open("/?q=yaer:2023", headers=OWN).text)[1]


def test_a_photo_leads_to_its_place_on_the_page(api, alice, photos):
    favor(api, photos["town"])
    page = alice.open("/favorites", headers=OWN)
    assert 'data-photo="/photos/UID?in=favorites"' in page.text
    for name, shelf, grid in (("town", "favorites", "/favorites"), ("tree", "review", "/review"), ("tree", "x", "/")):
        address = f"/photos/{photos[name]}?in={shelf}"
        assert f'data-grid="{grid}"' in alice.open(address, headers=OWN).text, shelf


def test_only_administrators_are_led_from_the_archive_to_the_trash(alice, ann):
    assert 'href="/administration/library/trash"' not in alice.open("/archive", headers=OWN).text
    assert 'href="/administration/library/trash"' in ann.open("/archive", headers=OWN).text


@pytest.mark.parametrize(
    ("settings", "deletes"),
    [({}, {"/": True, "/archive": True}),
     ({"delete_originals": False}, {"/": False, "/archive": True}),
     ({"readonly": True}, {"/": False, "/archive": False})],
)  # fmt: skip
def test_photos_that_do_not_move_to_the_trash_are_archived_before_they_can_be_deleted(api, alice, settings, deletes):
    for name, value in settings.items():
        object.__setattr__(api.library.app.extensions["photosvc"].settings, name, value)
    rights = {
        path: re.search(r'data-may="([\w ]*)"', alice.open(path, headers=OWN).text)[1].split() for path in deletes
    }
    assert {path: "delete" in may for path, may in rights.items()} == deletes


def test_the_api_is_found_in_settings(alice):
    assert 'href="/api-docs"' not in alice.open("/", headers=OWN).text
    assert 'href="/api-docs">API' in alice.open("/settings/account", headers=OWN).text
