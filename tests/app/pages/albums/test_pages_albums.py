"""Albums as pages without scripts: lists with covers, one album, making, changing and deleting them."""

import re
from html import unescape

import pytest
from sqlalchemy import select

from photosvc.library import albums
from photosvc.models import Album, Photo
from photosvc.pages.albums import listing
from photosvc.search.rows.write import project
from tests.app.pages.browser import OWN, Browser, text_of
from tests.app.pages.photos.test_pages_photos import grid_of, of_timeline, photos_of
from tests.helpers.api_client import open_api
from tests.helpers.factories.photos import add_photos, edit_photos

HOSTILE = '"><img src=x onerror=alert(1)>\u202e{{7*7}}'


@pytest.fixture(scope="module")
def filled_api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("albums")) as api:
        with api.library.session() as session:
            add_photos(session, 30, api.clock())
            ids = list(session.scalars(select(Photo.id).order_by(Photo.id)))
            edit_photos(session, ids[1:2], private=True)
            project(session, ids)
        yield api


@pytest.fixture
def alice(filled_api):
    """`alice`, in a library without albums of people."""
    browser = Browser(filled_api)
    assert browser.sign_in().status_code == 303
    for album in call(filled_api, "GET", "/albums?count=1000"):
        call(filled_api, "DELETE", f"/albums/{album['UID']}")
    return browser


def call(library, method, path, json=None):
    answer = library.call(method, path, library.app_password("alice"), json=json)
    assert answer.status_code == 200, answer.text
    return answer.json


def make(alice, status=303, **form):
    answer = alice.send("/albums/new", {"Title": "Lake", "kind": "chosen", "Order": "oldest", **form})
    assert answer.status_code == status, text_of(answer)
    return re.match(r"/albums/(\w+)\?done=made", answer.headers["Location"])[1] if status == 303 else answer


def uids(library, **parameters):
    found = library.library.find(token=library.app_password("alice"), merged="true", count=1000, **parameters)
    return [record["UID"] for record in found]


def open_text(alice, path, **query):
    answer = alice.open(path, headers=OWN, query_string=query)
    assert answer.status_code == 200
    return text_of(answer)


def test_a_library_without_albums_says_how_to_begin(alice):
    assert "There are no albums yet." in open_text(alice, "/albums")
    assert 'href="/albums/new"' in alice.open("/albums", headers=OWN).text


def test_an_album_of_chosen_photos_is_made_shown_changed_and_deleted(filled_api, alice):
    uid = make(alice, Description="at home\nand away", Favorite="yes")
    assert "Album created." in open_text(alice, f"/albums/{uid}", done="made")
    call(filled_api, "POST", f"/albums/{uid}/photos", {"photos": uids(filled_api)[:3]})
    assert photos_of(alice.open(f"/albums/{uid}", headers=OWN)) == of_timeline(filled_api, s=uid, order="oldest")
    assert "Lake 3 photos Favorite" in open_text(alice, "/albums")
    page = alice.open(f"/albums/{uid}/edit", headers=OWN).text
    version = re.search(r'name="version" value="(\w+)"', page)[1]
    form = {"Title": "Sea", "Order": "title", "Private": "yes", "version": version}
    assert alice.send(f"/albums/{uid}/edit", form).headers["Location"] == f"/albums/{uid}?done=saved"
    album = call(filled_api, "GET", f"/albums/{uid}")
    names = ("Title", "Description", "Order", "Favorite", "Private")
    assert [album[name] for name in names] == ["Sea", "", "title", False, True]
    assert photos_of(alice.open(f"/albums/{uid}", headers=OWN)) == uids(filled_api, s=uid, order="title")
    assert alice.send(f"/albums/{uid}/delete", {}).headers["Location"] == f"/albums?deleted={uid}"
    assert "The album “ Sea ” is deleted. Its photos stay in the library." in open_text(alice, "/albums", deleted=uid)
    assert alice.open(f"/albums/{uid}", headers=OWN).status_code == 404
    assert alice.send(f"/albums/{uid}/delete", {}).status_code == 404


@pytest.mark.parametrize("portion", [1000, 2])
def test_a_deleted_album_comes_back_as_it_was_however_many_photos_it_has(filled_api, alice, monkeypatch, portion):
    monkeypatch.setattr(albums, "MOST_AT_ONCE", portion)
    uid = make(alice, Description="at home", Order="manual", Favorite="yes")
    photos = uids(filled_api)[:7]
    call(filled_api, "POST", f"/albums/{uid}/photos", {"photos": photos[:6]})
    call(filled_api, "PUT", f"/albums/{uid}/photos", {"photos": [photos[4]]})
    album, members = call(filled_api, "GET", f"/albums/{uid}"), call(filled_api, "GET", f"/albums/{uid}/photos")
    assert members["photos"][0] == photos[4]
    alice.send(f"/albums/{uid}/delete", {})
    assert set(photos) <= set(uids(filled_api, q="unsorted:true"))
    assert f'action="/albums/{uid}/restore"' in alice.open("/albums", query_string={"deleted": uid}, headers=OWN).text
    assert alice.send(f"/albums/{uid}/restore", {}).headers["Location"] == f"/albums/{uid}?done=restored"
    assert "Album restored." in open_text(alice, f"/albums/{uid}", done="restored")
    changing = ("UpdatedAt",)
    assert {
        name: value for name, value in call(filled_api, "GET", f"/albums/{uid}").items() if name not in changing
    } == {name: value for name, value in album.items() if name not in changing}
    assert call(filled_api, "GET", f"/albums/{uid}/photos") == members
    assert set(uids(filled_api, s=uid)) == set(photos[:6])
    assert set(uids(filled_api, q="unsorted:true")).isdisjoint(photos[:6])
    assert alice.send(f"/albums/{uid}/restore", {}).status_code == 404
    assert "is deleted" not in open_text(alice, "/albums", deleted=uid)


def test_an_album_that_was_half_deleted_takes_its_photos_again_and_comes_back_whole(filled_api, alice, monkeypatch):
    monkeypatch.setattr(albums, "MOST_AT_ONCE", 2)
    uid = make(alice)
    photos = uids(filled_api)[:5]
    call(filled_api, "POST", f"/albums/{uid}/photos", {"photos": photos})
    with filled_api.library.session() as session:
        one = session.scalars(select(Album).where(Album.uid == uid)).one()
        assert not albums.delete_album(session, one, filled_api.clock())
    gone = set(photos) - set(uids(filled_api, s=uid))
    assert len(gone) == 2
    again = gone.pop()
    assert call(filled_api, "POST", f"/albums/{uid}/photos", {"photos": [again]})["added"] == [
        {"PhotoUID": again, "AlbumUID": uid}
    ]
    assert call(filled_api, "GET", f"/albums/{uid}/photos")["photos"][-1] == again
    assert alice.send(f"/albums/{uid}/restore", {}).status_code == 303
    assert set(uids(filled_api, s=uid)) == set(photos)


def test_a_deleted_saved_search_comes_back_without_what_was_taken_out(filled_api, alice):
    uid = make(alice, Filter="year:2020", kind="following")
    out = uids(filled_api, s=uid)[0]
    call(filled_api, "DELETE", f"/albums/{uid}/photos", {"photos": [out]})
    expected = uids(filled_api, s=uid)
    alice.send(f"/albums/{uid}/delete", {})
    assert alice.send(f"/albums/{uid}/restore", {}).status_code == 303
    assert uids(filled_api, s=uid) == expected
    assert out not in expected


def test_only_deleted_albums_that_one_may_see_and_that_have_room_are_restored(filled_api, alice, monkeypatch):
    uid = make(alice, Title=HOSTILE, Private="yes")
    alice.send(f"/albums/{uid}/delete", {})
    text = alice.open("/albums", query_string={"deleted": uid}, headers=OWN).text
    assert "<img src=x" not in text
    for wrong in ("", "x", "\0", "at00000000000000", uid + "'", "9" * 500):
        assert "is deleted" not in open_text(alice, "/albums", deleted=wrong)
    for wrong in ("x", "at00000000000000", uid.upper()):
        assert alice.send(f"/albums/{wrong}/restore", {}).status_code == 404
    monkeypatch.setattr(albums, "MOST_ALBUMS", 1)
    make(alice)
    answer = alice.send(f"/albums/{uid}/restore", {})
    assert answer.status_code == 409
    assert "there are 1 albums already" in text_of(answer)


def test_a_search_is_saved_as_an_album_that_follows_it(filled_api, alice):
    page = alice.open("/", headers=OWN, query_string={"q": "year:2020 order:title"}).text
    link = unescape(re.search(r'href="([^"]+)"[^>]*>Save as album', page)[1])
    form = alice.open(link, headers=OWN).text
    assert 'name="Filter" value="year:2020"' in form
    assert '<option value="title" selected>' in form
    assert 'value="following" checked' in form
    uid = make(alice, Filter="year:2020", kind="following", Order="title")
    assert photos_of(alice.open(f"/albums/{uid}", headers=OWN)) == uids(filled_api, q="year:2020", order="title")
    assert f"Lake {len(uids(filled_api, q='year:2020'))} photos · saved search" in open_text(alice, "/albums")


def test_what_a_search_finds_now_is_put_into_an_album(filled_api, alice):
    uid = make(alice, Filter="tree path:a", kind="found")
    album = call(filled_api, "GET", f"/albums/{uid}")
    assert (album["Filter"], album["PhotoCount"]) == ("", len(uids(filled_api, q="tree path:a")))


def test_the_search_in_an_album_stays_in_it_with_its_photos_and_in_the_album_that_saves_it(filled_api, alice):
    uid = make(alice, kind="found", Filter="path:a")
    answer = alice.open(f"/albums/{uid}", headers=OWN, query_string={"q": "tree or number"})
    expected = uids(filled_api, s=uid, q="tree or number", order="oldest")
    assert photos_of(answer) == of_timeline(filled_api, s=uid, q="tree or number", order="oldest")
    photo = unescape(re.search(r'data-photo="([^"]*)"', answer.text)[1]).replace("UID", expected[0])
    assert grid_of(alice, photo) == f"/albums/{uid}?q=tree+or+number&order=oldest"
    link = unescape(re.search(r'href="([^"]+)"[^>]*>Save as album', answer.text)[1])
    query = unescape(re.search(r'name="Filter" value="([^"]*)"', alice.open(link, headers=OWN).text)[1])
    assert query == f"album:{uid} (tree or number)"
    assert uids(filled_api, q=query, order="oldest") == expected


def test_what_is_wrong_with_a_new_album_is_told_beside_its_field(filled_api, alice):
    for form, field, message in (
        ({"Title": " "}, "Title", "An album needs a title."),
        ({"Description": "x" * 4097}, "Description", "At most 4,096 characters."),
        ({"kind": "following"}, "Filter", "Type a search."),
        ({"kind": "following", "Filter": "yaer:2020"}, "Filter", 'did you mean "year"?'),
        ({"kind": "found", "Filter": "year:1900"}, "Filter", "The search finds no photos now."),
        ({"Order": "none"}, "Order", "Use one of"),
    ):
        answer = make(alice, 400, **form)
        assert message in text_of(answer), form
        assert f'aria-describedby="wrong-{field}"' in answer.text, form
    assert call(filled_api, "GET", "/albums") == []


def test_a_stale_form_overwrites_nothing_and_shows_what_was_saved_meanwhile(filled_api, alice):
    uid = make(alice, Description="a")
    page = alice.open(f"/albums/{uid}/edit", headers=OWN).text
    version = re.search(r'name="version" value="(\w+)"', page)[1]
    form = {"Title": "Mine", "Description": "a", "Order": "oldest", "version": version}
    call(filled_api, "PUT", f"/albums/{uid}", {"Title": "Theirs"})
    answer = alice.send(f"/albums/{uid}/edit", form)
    assert answer.status_code == 409
    assert "Somebody has changed this album since you opened the form." in text_of(answer)
    assert "Saved meanwhile: Theirs" in text_of(answer)
    assert text_of(answer).count("Saved meanwhile") == 1
    assert 'name="Title" value="Mine"' in answer.text
    assert call(filled_api, "GET", f"/albums/{uid}")["Title"] == "Theirs"
    version = re.search(r'name="version" value="(\w+)"', answer.text)[1]
    assert alice.send(f"/albums/{uid}/edit", {**form, "version": version}).status_code == 303
    assert call(filled_api, "GET", f"/albums/{uid}")["Title"] == "Mine"


def test_photos_that_are_added_meanwhile_make_no_form_stale(filled_api, alice):
    uid = make(alice)
    version = re.search(r'name="version" value="(\w+)"', alice.open(f"/albums/{uid}/edit", headers=OWN).text)[1]
    call(filled_api, "POST", f"/albums/{uid}/photos", {"photos": uids(filled_api)[:1]})
    form = {"Title": "Mine", "Order": "oldest", "version": version}
    assert alice.send(f"/albums/{uid}/edit", form).status_code == 303


def test_a_saved_search_stays_one(filled_api, alice):
    uid = make(alice, Filter="year:2020", kind="following")
    version = re.search(r'name="version" value="(\w+)"', alice.open(f"/albums/{uid}/edit", headers=OWN).text)[1]
    form = {"Title": "Lake", "Order": "oldest", "Filter": "", "version": version}
    for query, message in (("", "A saved search cannot become another"), ("yaer:1", 'did you mean "year"?')):
        answer = alice.send(f"/albums/{uid}/edit", {**form, "Filter": query})
        assert (answer.status_code, message in text_of(answer)) == (400, True)
    assert alice.send(f"/albums/{uid}/edit", {**form, "Filter": "year:2021"}).status_code == 303
    assert call(filled_api, "GET", f"/albums/{uid}")["Filter"] == "year:2021"


def test_an_album_is_made_a_favorite_and_not(filled_api, alice):
    uid = make(alice)
    for sent, favorite in (("yes", True), ("yes", True), ("no", False)):
        assert alice.send(f"/albums/{uid}/favorite", {"favorite": sent}).headers["Location"] == f"/albums/{uid}"
        assert call(filled_api, "GET", f"/albums/{uid}")["Favorite"] is favorite


@pytest.mark.parametrize("kind", ["month", "state"])
def test_albums_of_the_library_are_listed_with_the_numbers_and_show_their_photos(filled_api, alice, kind):
    listed = call(filled_api, "GET", f"/albums?type={kind}")
    answer = alice.open("/albums", headers=OWN, query_string={"type": kind})
    shown = re.findall(r'<a href="/albums/(\w+)">\s*<img src="([^"]+)', answer.text)
    assert [uid for uid, _ in shown] == [album["UID"] for album in listed]
    for album, (uid, cover) in zip(listed, shown, strict=True):
        assert uid in cover
        page = alice.open(f"/albums/{uid}", headers=OWN)
        assert photos_of(page) == of_timeline(filled_api, s=uid, order="oldest")
        assert f"{album['PhotoCount']} photo" in text_of(page)
        assert "Edit" not in text_of(page)
        link = unescape(re.search(r'href="([^"]+)"[^>]*>Save as album', page.text)[1])
        query = unescape(re.search(r'name="Filter" value="([^"]*)"', alice.open(link, headers=OWN).text)[1])
        saved = make(alice, Filter=query, kind="following")
        assert of_timeline(filled_api, s=saved, order="oldest") == photos_of(page)
        assert alice.open(f"/albums/{uid}/edit", headers=OWN).status_code == 409
        assert alice.send(f"/albums/{uid}/favorite", {"favorite": "yes"}).status_code == 409


def test_months_have_their_names_and_stand_below_their_year(alice):
    assert "2020 February 2020" in open_text(alice, "/albums", type="month")
    month = re.search(r'<a href="(/albums/\w+)"', alice.open("/albums?type=month", headers=OWN).text)[1]
    assert "February 2020" in open_text(alice, month)


def test_the_pages_of_the_list_are_the_list(filled_api, alice, monkeypatch):
    monkeypatch.setattr(listing, "COUNT", 3)
    for number in range(7):
        make(alice, Title=f"Album {number}")
    found, address = [], "/albums?order=added&q=album"
    while address:
        answer = alice.open(address, headers=OWN)
        found += re.findall(r'class="name"><bdi>([^<]+)', answer.text)
        following = re.search(r'rel="next" href="([^"]+)"', answer.text)
        address = unescape(following[1]) if following else ""
    assert found == [f"Album {number}" for number in reversed(range(7))]
    beyond = open_text(alice, "/albums", page="9")
    assert "There is no page 9." in beyond
    assert "Previous" not in beyond
    assert "No title contains “ <b>x " in open_text(alice, "/albums", q="<b>x")


def test_markup_in_the_texts_of_an_album_is_text(filled_api, alice):
    uid = call(filled_api, "POST", "/albums", {"Title": HOSTILE, "Description": HOSTILE, "Filter": '"<img src=x>"'})[
        "UID"
    ]
    for path in ("/albums", f"/albums/{uid}", f"/albums/{uid}/edit"):
        page = alice.open(path, headers=OWN).text
        assert "<img src=x" not in page
        assert "&gt;&lt;img src=x onerror=alert(1)&gt;\u202e{{7*7}}" in page


def test_who_may_only_look_is_offered_no_changes_and_sees_no_private_albums(filled_api, alice):
    uid, private = make(alice), make(alice, Title="Secret", Private="yes")
    vera = Browser(filled_api)
    vera.sign_in("vera")
    assert "Secret" not in open_text(vera, "/albums")
    assert vera.open(f"/albums/{private}", headers=OWN).status_code == 404
    for path in ("/", "/?q=year:2020", "/albums", f"/albums/{uid}"):
        assert not re.search("New album|Save as album|Arrange|>Edit", vera.open(path, headers=OWN).text), path


@pytest.mark.parametrize(
    ("status", "paths"),
    [
        (200, ["?type=x", "?order=x", "?q=%00&page=0", "?page=99999999999999", "?type=moment"]),
        (200, ["/new?q=%00", "/new?q=(x&s=x&photo=x", "/new?q=%ff&order=x"]),
        (404, ["/none", "/%00", "/a00m000002023050", "/none/edit"]),
    ],
)
def test_strange_addresses_are_no_errors_of_ours(alice, status, paths):
    for path in paths:
        assert alice.open(f"/albums{path}", headers=OWN).status_code == status, path


def arranged(library, uid):
    return call(library, "GET", f"/albums/{uid}/photos")["photos"]


def send_photos(alice, uid, photos, **form):
    return alice.send(f"/albums/{uid}/photos", {"photo": photos, **form})


def ticks(page):
    return re.findall(r'name="photo" value="(\w+)" *>', page)


@pytest.fixture
def five(filled_api, alice):
    """An album of five photos in the order by hand, and their UIDs in that order."""
    uid = make(alice)
    call(filled_api, "PUT", f"/albums/{uid}", {"Order": "manual"})
    call(filled_api, "POST", f"/albums/{uid}/photos", {"photos": uids(filled_api)[:5]})
    return uid, arranged(filled_api, uid)


@pytest.mark.parametrize("order", ["manual", "newest", "oldest", "size", "name"])
def test_a_move_begins_from_the_order_that_is_shown_which_the_album_keeps(filled_api, alice, five, order):
    uid, _ = five
    first = uids(filled_api, s=uid, order=order)
    moved = {"photos": [first[3]], "before": first[1], "order": order}
    assert call(filled_api, "PUT", f"/albums/{uid}/photos", moved) == {"photos": [first[3]]}
    expected = [first[0], first[3], first[1], first[2], first[4]]
    assert call(filled_api, "GET", f"/albums/{uid}")["Order"] == "manual"
    assert arranged(filled_api, uid) == photos_of(alice.open(f"/albums/{uid}", headers=OWN)) == expected
    token = filled_api.app_password("alice")
    for wrong in ("random", "x", ""):
        body = {"photos": [first[0]], "order": wrong}

        assert filled_api.call("PUT", f"/albums/{uid}/photos", token, json=body).status_code == 400
    assert arranged(filled_api, uid) == expected
    assert alice.open(f"/albums/{uid}/photos", headers=OWN).headers["Location"] == f"/albums/{uid}"


def test_photos_are_taken_out_of_a_saved_search_and_put_back(filled_api, alice):
    uid = make(alice, Filter="path:a", kind="following")
    before = uids(filled_api, s=uid, order="oldest")
    page = alice.open(f"/albums/{uid}/photos", headers=OWN)
    assert ticks(page.text) == before
    removed = send_photos(alice, uid, before[:2], act="remove")
    assert sorted(ticks(removed.text.partition("Removed")[2])) == sorted(before[:2])
    assert set(photos_of(alice.open(f"/albums/{uid}", headers=OWN))) == set(before[2:])
    send_photos(alice, uid, before[:2], act="add")
    assert set(photos_of(alice.open(f"/albums/{uid}", headers=OWN))) == set(before)
    send_photos(alice, uid, before[:1], act="remove")
    assert "They were no longer in the album." in text_of(send_photos(alice, uid, before[:1], act="remove"))
    for chosen, act, message in (
        ([], "remove", "Select photos first."),
        (["x", "%00"], "remove", "Select photos first."),
        (before[:2], "", "Choose an action for the selected photos."),  # the key Enter
        (before[1:2], "first", "Choose an action for the selected photos."),
    ):
        refused = send_photos(alice, uid, chosen, act=act)
        assert (refused.status_code, message in text_of(refused)) == (400, True), act


def test_an_album_is_made_with_its_links_in_one_step(filled_api, alice):
    form = {"Title": "For Ben", "Order": "oldest", "kind": "found", "Filter": "year:2020", "then": "share"}
    assert 'name="then" value="share"' in alice.open("/albums/new", headers=OWN).text
    answer = alice.send("/albums/new", form)
    uid = re.fullmatch(r"/albums/(\w+)/links", answer.headers["Location"])[1]
    assert sorted(arranged(filled_api, uid)) == sorted(uids(filled_api, q="year:2020"))
    assert "Share the album" in alice.open(answer.headers["Location"], headers=OWN).text
    private = alice.send("/albums/new", {**form, "Private": "yes"})  # private albums are not shared
    assert private.headers["Location"].endswith("?done=made")
