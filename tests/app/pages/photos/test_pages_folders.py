"""Folders as pages without scripts: the way to each, the folders in it with covers and counts, and its own photos."""

import re
from contextlib import contextmanager
from html import unescape

import pytest

from photosvc.pages import folders
from tests.app.pages.browser import OWN, Browser, text_of
from tests.app.pages.photos.test_pages_photos import grid_of, photos_of
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg

#: A name of characters that mean something in addresses, queries and HTML.
ODD = 'a*b "c|d" #1 %2F & <i>'
FILES = (
    "top.jpg", "2023/May/a.jpg", "2023/May/b.jpg", "2023/c.jpg", "2024/x/y/d.jpg", "2024/z/e.jpg", f"{ODD}/f.jpg",
    f"{ODD}/below/g.jpg", "aXb/h.jpg",
)  # fmt: skip


@contextmanager
def filled(folder):
    with open_api(folder) as api:
        for number, name in enumerate(FILES):
            taken = exif({}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(name, jpeg(64 + number, 48, exif=taken))
        api.library.index()
        yield api


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    """A library that stays as it is."""
    with filled(tmp_path_factory.mktemp("folders")) as api:
        yield api


@pytest.fixture
def changing(tmp_path):
    """A library of the same photos for one test, with browsers of `alice` and of `vera`, who sees no private photos."""
    with filled(tmp_path) as api:
        browsers = Browser(api), Browser(api)
        for browser, name in zip(browsers, ("alice", "vera"), strict=True):
            assert browser.sign_in(name).status_code == 303
        yield api, *browsers


@pytest.fixture
def uids(api):
    """UIDs by file name."""
    return {name: one["UID"] for name, one in photos_by_name(api).items()}


def photos_by_name(api):
    found = api.library.find(token=api.app_password("alice"), merged="true", count=100)
    return {one["FileName"].rpartition("/")[2].removesuffix(".jpg"): one for one in found}


def send(api, path, **json):
    assert api.call("POST", path, api.app_password("alice"), json=json).status_code == 200


def cards(page):
    """The folders on a page by name, with their numbers of photos."""
    found = re.findall(r'<span class="name"><bdi>(.*?)</bdi>.*?<small>(\d+) photos?</small>', page.text, re.DOTALL)
    return {unescape(name): int(count) for name, count in found}


def links(page):
    """The addresses of the folders on a page by name."""
    found = re.findall(r'<li>\s*<a href="(/folders/[^"]+)">.*?<bdi>(.*?)</bdi>', page.text, re.DOTALL)
    return {unescape(name): unescape(href) for href, name in found}


def open_folder(browser, path, status=200, **query):
    page = browser.open(path, headers=OWN, query_string=query or None)
    assert page.status_code == status, text_of(page)
    return page


def test_the_tree_leads_from_folder_to_folder_with_the_photos_of_each(alice, uids):
    top = open_folder(alice, "/folders")
    assert cards(top) == {"2023": 3, "2024": 2, ODD: 2, "aXb": 1}
    assert photos_of(top) == [uids["top"]]
    year = open_folder(alice, links(top)["2023"])
    assert (cards(year), photos_of(year)) == ({"May": 2}, [uids["c"]])
    may = open_folder(alice, links(year)["May"])
    assert (cards(may), photos_of(may)) == ({}, [uids["a"], uids["b"]])
    way = re.search(r'(?s)<nav class="trail".*?</nav>', may.text)[0]
    assert re.findall(r'href="([^"]+)"', way) == ["/folders", "/folders/2023", "/folders/2023/May"]
    assert 'aria-current="page"><bdi>May</bdi>' in way
    assert "<title>May \u00b7" in may.text


def test_a_folder_without_photos_of_its_own_shows_those_in_it_and_leads_to_all_their_photos(alice, uids):
    page = open_folder(alice, "/folders/2024")
    assert (cards(page), photos_of(page)) == ({"x": 1, "z": 1}, [])
    assert "2 photos in this folder and its subfolders" in text_of(page)
    every = unescape(re.search(r'<p class="muted"><a href="([^"]+)"', page.text)[1])
    assert sorted(photos_of(open_folder(alice, every))) == sorted([uids["d"], uids["e"]])


def test_names_of_folders_are_only_names(alice, uids):
    page = open_folder(alice, links(open_folder(alice, "/folders"))[ODD])
    assert photos_of(page) == [uids["f"]]
    assert links(page) == {"below": "/folders/a*b%20%22c%7Cd%22%20%231%20%252F%20&%20%3Ci%3E/below"}
    every = unescape(re.search(r'<p class="muted"><a href="([^"]+)"', page.text)[1])
    assert sorted(photos_of(open_folder(alice, every))) == sorted([uids["f"], uids["g"]])


@pytest.mark.parametrize("path", ["20", "2023/May/a.jpg", "none", "2023/..", "x%00", "%ff", "2023/May/x" * 300])
def test_other_folders_do_not_exist(alice, path):
    assert "This folder does not exist" in text_of(open_folder(alice, f"/folders/{path}", 404))


def test_the_case_of_a_path_does_not_matter_and_names_are_those_of_the_originals(alice, uids):
    page = open_folder(alice, "/folders/2023/mAY")
    assert photos_of(page) == [uids["a"], uids["b"]]
    assert 'href="/folders/2023/May" aria-current="page"' in page.text


def test_private_and_archived_photos_are_neither_counted_nor_shown_as_covers(changing):
    api, alice, vera = changing
    photos = photos_by_name(api)
    send(api, "/batch/photos/private", photos=[photos[name]["UID"] for name in ("b", "f", "top")])
    send(api, "/batch/photos/archive", photos=[photos["e"]["UID"]])
    mine, hers = open_folder(alice, "/folders"), open_folder(vera, "/folders")
    assert cards(mine) == {"2023": 3, "2024": 1, ODD: 2, "aXb": 1}
    assert cards(hers) == {"2023": 2, "2024": 1, ODD: 1, "aXb": 1}
    assert photos_of(hers) == []
    years, latest = (open_folder(alice, "/folders/2023"), open_folder(vera, "/folders/2023")), photos["b"]["Hash"]
    assert [(latest in page.text, cards(page)) for page in years] == [(True, {"May": 2}), (False, {"May": 1})]
    assert photos_of(open_folder(vera, "/folders/2023/May")) == [photos["a"]["UID"]]
    assert photos_of(open_folder(vera, links(hers)[ODD])) == []
    for browser in (alice, vera):
        open_folder(browser, "/folders/2024/z", 404)
        assert cards(open_folder(browser, "/folders/2024")) == {"x": 1}


def test_a_folder_of_private_photos_alone_does_not_exist_for_others(changing):
    api, alice, vera = changing
    send(api, "/batch/photos/private", photos=[photos_by_name(api)["h"]["UID"]])
    assert cards(open_folder(alice, "/folders", find="xb")) == {"aXb": 1}
    open_folder(alice, "/folders/aXb")
    open_folder(vera, "/folders/aXb", 404)
    assert cards(open_folder(vera, "/folders", find="xb")) == {}


def test_folders_are_sorted_and_found_by_name_at_every_level(alice):
    assert list(cards(open_folder(alice, "/folders", sort="latest"))) == ["aXb", ODD, "2024", "2023"]
    assert next(iter(cards(open_folder(alice, "/folders", sort="count")))) == "2023"
    found = open_folder(alice, "/folders", find="A")
    assert cards(found) == {"May": 2, ODD: 2, "aXb": 1}
    assert '<small class="within"><bdi>2023</bdi></small>' in found.text
    assert cards(open_folder(alice, "/folders/2024", find="Y")) == {"y": 1}
    assert "No folder name here contains “ may ”." in text_of(open_folder(alice, "/folders/2024", find="may"))


def test_many_folders_are_shown_a_page_at_a_time(alice, monkeypatch):
    monkeypatch.setattr(folders, "COUNT", 3)
    first = open_folder(alice, "/folders", sort="count")
    following = unescape(re.search(r'rel="next" href="([^"]+)"', first.text)[1])
    assert following == "/folders?sort=count&folders=2"
    second = open_folder(alice, following)
    assert (len(cards(first)), len(cards(second))) == (3, 1)
    assert not set(cards(first)) & set(cards(second))
    assert 'rel="prev" href="/folders?sort=count"' in second.text
    beyond = text_of(open_folder(alice, "/folders", folders=9))
    assert "There is no page 9." in beyond
    assert "Previous" not in beyond


def test_a_search_stays_in_the_folder(alice, uids):
    page = open_folder(alice, "/folders/2023/May", q="name:b", order="newest")
    assert photos_of(page) == [uids["b"]]
    assert 'action="/folders/2023/May"' in page.text
    assert cards(open_folder(alice, "/folders/2023", q="name:c")) == {}
    nothing = open_folder(alice, "/folders/2023/May", q="name:c")
    assert 'href="/folders/2023/May">The whole folder</a>' in nothing.text
    top = open_folder(alice, "/folders", q="name:b")
    assert (photos_of(top), 'href="/?q=name:b"' in top.text) == ([], True)


@pytest.mark.parametrize("path", ["/folders", "/folders/2023/May"])
def test_a_photo_leads_to_its_place_in_the_folder(alice, path):
    page = open_folder(alice, path)
    photo = unescape(re.search(r'data-photo="(/photos/[^"]+)"', page.text)[1]).replace("UID", photos_of(page)[0])
    answer = alice.open(grid_of(alice, photo), headers=OWN)
    if answer.status_code == 303:
        answer = alice.open(answer.headers["Location"], headers=OWN)
    assert f'action="{path}"' in answer.text


def test_addresses_of_folders_as_albums_lead_to_their_pages(api, alice):
    assert alice.open("/albums?type=folder&q=may", headers=OWN).headers["Location"] == "/folders?find=may"
    albums = api.call("GET", "/albums?type=folder", api.app_password()).json
    uid = next(album["UID"] for album in albums if album["Path"] == "2023/May")
    path = f"/albums/{uid}?q=name%3Ab&order=title&folder=x&_anchor=y"
    assert alice.open(path, headers=OWN).headers["Location"] == "/folders/2023/May?q=name%3Ab&order=title"


def test_a_library_without_folders_says_what_comes_there(tmp_path):
    with open_api(tmp_path) as api:
        browser = Browser(api)
        browser.sign_in()
        page = open_folder(browser, "/folders")
        assert "There are no folders yet." in text_of(page)
        assert re.findall(r'href="([^"]+)" aria-current="page"', page.text) == ["/folders", "/folders"]
