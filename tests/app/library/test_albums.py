"""Albums over HTTP: the list, one album and its photos; that searches follow at once; who may see what."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import event

from photosvc.library.albums import MOST_SMART_ALBUMS
from photosvc.models import Album, Photo, SearchRow
from photosvc.models.counters import record_change
from photosvc.models.engine import begin_write
from photosvc.search.reading import albums
from photosvc.web.changes import one_batch
from photosvc.web.service import current_service
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.library import open_library


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("filled") / "instance")
    with library.session() as session:
        add_photos(session, 20, library.clock())
    library.close()
    return library


@pytest.fixture
def uids(library):
    """The UIDs of the photos, by id."""
    with library.session() as session:
        return [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]


@pytest.fixture
def lake(call):
    return call("POST", "/albums", json={"Title": "Lake"})["UID"]


def found(library, **parameters):
    return {record["UID"] for record in library.find(count=1000, **parameters)}


def titles(answer):
    return [album["Title"] for album in answer]


def test_a_new_album_is_listed_read_changed_and_deleted(library, call):
    made = call("POST", "/albums", json={"Title": " Summer ", "Favorite": True, "Description": "at home"})
    assert (made["Title"], made["Favorite"], made["Type"], made["PhotoCount"]) == ("Summer", True, "album", 0)
    assert call("GET", f"/albums/{made['UID']}") == made
    library.clock.move(seconds=5)
    changed = call("PUT", f"/albums/{made['UID']}", json={**made, "Title": "Winter"})
    assert (changed["Title"], changed["Description"]) == ("Winter", "at home")
    assert changed["UpdatedAt"] > made["UpdatedAt"]
    assert titles(call("GET", "/albums?type=album")) == ["Winter"]
    assert call("DELETE", f"/albums/{made['UID']}")["code"] == 200
    assert call("GET", "/albums") == []
    call("GET", f"/albums/{made['UID']}", 404)
    call("PUT", f"/albums/{made['UID']}", 404, json={"Title": "Back"})


def test_photos_are_added_and_removed_and_searches_follow_at_once(library, call, lake, uids):
    before = library.get({"s": lake}).headers["ETag"]
    answer = call("POST", f"/albums/{lake}/photos", json={"photos": [uids[3], uids[1], uids[3]]})
    assert answer["photos"] == [uids[3], uids[1]]
    assert answer["added"] == [{"PhotoUID": uid, "AlbumUID": lake} for uid in (uids[3], uids[1])]
    assert (answer["code"], answer["album"]["PhotoCount"]) == (200, 2)
    assert library.get({"s": lake}).headers["ETag"] != before
    for parameters in ({"s": lake}, {"q": "album:Lake"}, {"q": "albums:lake"}, {"album": lake}):
        assert found(library, **parameters) == {uids[1], uids[3]}
    assert found(library, q="unsorted:true").isdisjoint({uids[1], uids[3]})
    again = call("POST", f"/albums/{lake}/photos", json={"photos": [uids[1], uids[2]]})
    assert [entry["PhotoUID"] for entry in again["added"]] == [uids[2]]
    gone = call("DELETE", f"/albums/{lake}/photos", json={"photos": [uids[3], uids[9]]})
    assert [entry["PhotoUID"] for entry in gone["removed"]] == [uids[3]]
    assert found(library, s=lake) == {uids[1], uids[2]}
    assert uids[3] in found(library, q="unsorted:true")


def test_photos_are_added_by_a_query_and_by_other_albums(library, call, lake, uids):
    call("POST", f"/albums/{lake}/photos", json={"q": "path:a"})
    assert found(library, s=lake) == found(library, q="path:a")
    other = call("POST", "/albums", json={"Title": "Other"})["UID"]
    folder = call("GET", "/albums?type=folder")[1]
    answer = call("POST", f"/albums/{other}/clone", json={"albums": [lake, folder["UID"]]})
    assert answer["album"]["PhotoCount"] == len(found(library, s=other)) == len(answer["added"])
    assert found(library, s=other) == found(library, s=lake) | found(library, s=folder["UID"])


def test_people_order_photos_by_hand(call, lake, uids):
    a, b, c, d = uids[:4]
    call("POST", f"/albums/{lake}/photos", json={"photos": [a, b, c]})
    assert call("GET", f"/albums/{lake}/photos") == {"photos": [a, b, c]}
    assert call("PUT", f"/albums/{lake}/photos", json={"photos": [c], "last": None}) == {"photos": [c]}
    assert call("GET", f"/albums/{lake}/photos") == {"photos": [c, a, b]}
    call("POST", f"/albums/{lake}/photos", json={"photos": [d]})
    call("PUT", f"/albums/{lake}/photos", json={"photos": [d, c], "before": b})
    for body in (
        {"photos": [a, a]}, {"photos": [uids[9]]}, {"photos": ["x"]}, {"photos": [a], "before": a},
        {"photos": [a], "before": uids[9]}, {"photos": [a], "before": "x\0"},
        {"photos": [a], "before": b, "last": True}, {"photos": [a], "last": "perhaps"},
    ):  # fmt: skip
        call("PUT", f"/albums/{lake}/photos", 400, json=body)
    assert call("PUT", f"/albums/{lake}/photos", 400, json={"photos": ["x"]})["error"] == "photos: send photo UIDs"
    assert call("GET", f"/albums/{lake}/photos") == {"photos": [a, d, c, b]}
    call("PUT", f"/albums/{lake}/photos", json={"photos": [d, a], "last": True})
    assert call("GET", f"/albums/{lake}/photos") == {"photos": [c, b, d, a]}


def test_a_move_takes_as_many_steps_of_sqlite_in_a_large_album(library, call, lake, uids):
    a, b, c, d = uids[:4]
    call("POST", f"/albums/{lake}/photos", json={"photos": [a, b, c, d]})
    with library.app.app_context():
        engine = current_service().engine()
    taken: list[int] = []

    def step():
        taken[-1] += 1

    event.listen(engine, "checkout", lambda driver, *_: driver.set_progress_handler(step, 10))
    numbers = "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 3000)"
    row = "album_id, photo_id + 100 * value, position + 9 * value, 0, created_at"
    for is_large in (False, True):
        if is_large:
            with closing(sqlite3.connect(library.instance / "photosvc.db")) as other, other:
                other.execute(f"{numbers} INSERT INTO photosvc_album_photos SELECT {row} FROM photosvc_album_photos, n")
        for body in ({"photos": [d], "before": b}, {"photos": [b]}, {"photos": [c, d], "last": True}):
            taken.append(0)
            call("PUT", f"/albums/{lake}/photos", json=body)
    small, large_album = taken[:3], taken[3:]
    assert all(later < 3 * before for before, later in zip(small, large_album, strict=True)), taken


def test_a_smart_album_contains_the_photos_of_its_query_except_removed_ones(library, call, uids):
    smart = call("POST", "/albums", json={"Title": "Folder b", "Filter": "path:b"})
    inside = found(library, q="path:b")
    assert (smart["PhotoCount"], found(library, s=smart["UID"])) == (len(inside), inside)
    one = next(iter(sorted(inside)))
    gone = call("DELETE", f"/albums/{smart['UID']}/photos", json={"photos": [one]})
    assert (gone["removed"], gone["album"]["PhotoCount"]) == (
        [{"PhotoUID": one, "AlbumUID": smart["UID"]}],
        len(inside) - 1,
    )
    assert found(library, s=smart["UID"]) == inside - {one}
    back = call("POST", f"/albums/{smart['UID']}/photos", json={"photos": uids})
    assert [entry["PhotoUID"] for entry in back["added"]] == [one]
    assert found(library, s=smart["UID"]) == inside
    assert call("PATCH", f"/albums/{smart['UID']}", json={"Filter": "path:a"})["PhotoCount"] > 0
    assert found(library, q='album:"Folder b"') == found(library, q="path:a")


def test_a_wrong_query_of_a_smart_album_is_refused_with_its_position(call, lake):
    answer = call("POST", "/albums", 400, json={"Title": "Bad", "Filter": "lake colr:red"})
    assert "colr" in answer["error"]
    assert "(character 6)" in answer["error"]
    call("PUT", f"/albums/{lake}", 400, json={"Filter": "path:a"})
    assert call("GET", f"/albums/{lake}")["Filter"] == ""


def test_a_wrong_value_is_refused_by_its_name(call):
    for body, field in (
        ({}, "Title"), ({"Title": " "}, "Title"), ({"Title": "x" * 201}, "Title"), ({"Title": 5}, "Title"),
        ({"Title": "x", "Favorite": "maybe"}, "Favorite"), ({"Title": "x", "Order": "sideways"}, "Order"),
        ({"Title": "x", "Description": "x" * 4097}, "Description"),
    ):  # fmt: skip
        answer = call("POST", "/albums", 400, json=body)
        assert answer["details"][0]["field"] == field
        assert call("GET", "/albums") == []


def test_a_wrong_selection_is_refused(call, lake):
    for body in (
        {}, {"photos": []}, {"photos": ["x"]}, {"photos": 5}, {"photos": ["p\x00"]}, [], "x",
    ):  # fmt: skip
        for method in ("POST", "DELETE"):
            call(method, f"/albums/{lake}/photos", 400, json=body)


def test_photos_that_do_not_exist_are_404_and_beside_others_left_out(call, lake, uids):
    call("POST", f"/albums/{lake}/photos", 404, json={"photos": ["pt0000000000000a"]})
    answer = call("POST", f"/albums/{lake}/photos", json={"photos": ["pt0000000000000a", uids[0]]})
    assert answer["photos"] == [uids[0]]


def test_private_albums_and_photos_need_the_right_to_private_photos(library, call, uids):
    secret = call("POST", "/albums", json={"Title": "Secret", "Private": True}, token=library.token(role="user"))["UID"]
    user, viewer, client = (
        library.token(role="user"),
        library.token(role="viewer"),
        library.token(),
    )
    with library.session() as session:
        edit_photos(session, [1], private=True)
    assert titles(call("GET", "/albums", token=user)) == ["Secret"]
    for token in (viewer, client):
        assert call("GET", "/albums", token=token) == []
        call("GET", f"/albums/{secret}", 404, token=token)
        assert library.get({"s": secret}, token=token).status_code == 404
    call("PUT", f"/albums/{secret}", 404, token=client, json={"Title": "Mine"})
    call("PUT", f"/albums/{secret}", 403, token=viewer, json={"Title": "Mine"})
    call("POST", f"/albums/{secret}/photos", token=user, json={"photos": uids[:2]})
    call("PUT", f"/albums/{secret}", token=user, json={"Private": False})
    assert [call("GET", f"/albums/{secret}", token=token)["PhotoCount"] for token in (user, client)] == [2, 1]
    assert call("GET", f"/albums/{secret}/photos", token=client) == {"photos": [uids[1]]}
    call("DELETE", f"/albums/{secret}/photos", 404, token=client, json={"photos": [uids[0]]})


def test_albums_are_listed_in_pages_by_type_title_and_order(call, uids):
    for title, count in (("Beach", 1), ("Ärger", 3), ("Castle", 2)):
        uid = call("POST", "/albums", json={"Title": title, "Favorite": title == "Castle"})["UID"]
        call("POST", f"/albums/{uid}/photos", json={"photos": uids[:count]})
    assert titles(call("GET", "/albums")) == ["Ärger", "Beach", "Castle"]
    assert titles(call("GET", "/albums?order=favorites")) == ["Castle", "Ärger", "Beach"]
    assert titles(call("GET", "/albums?order=count")) == ["Ärger", "Castle", "Beach"]
    assert titles(call("GET", "/albums?order=name_reverse&count=1&offset=1")) == ["Beach"]
    for order, same in (("category", "name"), ("moment", "newest")):
        assert call("GET", f"/albums?order={order}") == call("GET", f"/albums?order={same}")
    assert titles(call("GET", "/albums?q=ARG")) == ["Ärger"]
    assert call("GET", "/albums?type=moment") == []
    for query in ("type=x", "order=x", "count=0", "offset=-1"):
        call("GET", f"/albums?{query}", 400)


def test_the_list_says_what_page_it_is_and_revalidates(library, lake):
    answer = library.get("count=5&offset=0", path="/api/v1/albums")
    assert [answer.headers[name] for name in ("X-Count", "X-Limit", "X-Offset")] == ["1", "5", "0"]
    headers = {"X-Auth-Token": library.token(), "If-None-Match": answer.headers["ETag"]}
    assert library.app.test_client().get("/api/v1/albums?count=5", headers=headers).status_code == 304


def test_liking_an_album_and_deleting_several(call, lake):
    call("POST", f"/albums/{lake}/like")
    assert call("GET", f"/albums/{lake}")["Favorite"] is True
    call("DELETE", f"/albums/{lake}/like")
    assert call("GET", f"/albums/{lake}")["Favorite"] is False
    other = call("POST", "/albums", json={"Title": "Other"})["UID"]
    answer = call("POST", "/batch/albums/delete", json={"albums": [lake, other, "at00000000000000"], "photos": None})
    assert answer["albums"] == [lake, other]
    assert call("GET", "/albums") == []
    assert call("POST", "/batch/albums/delete", 400, json={})["error"] == "No items selected"


def test_unknown_albums_are_left_out_without_a_transaction_for_each(library, call, lake):
    unknown = [f"at{number:014}" for number in range(2000)]
    with library.app.app_context():
        writes = []
        event.listen(current_service().engine(), "begin", writes.append)
        assert call("POST", "/batch/albums/delete", json={"albums": [*unknown, lake]})["albums"] == [lake]
    assert len(writes) < 10


def test_an_account_deletes_many_albums_in_one_request_at_a_time(library, call, lake, monkeypatch):
    monkeypatch.setattr("photosvc.api.albums._BATCH", 1)
    others = [call("POST", "/albums", json={"Title": "Other"})["UID"] for _ in range(2)]
    with library.app.test_request_context(headers={"X-Auth-Token": library.token()}), one_batch():
        call("POST", "/batch/albums/delete", 429, json={"albums": others})
        assert call("POST", "/batch/albums/delete", json={"albums": [lake]})["albums"] == [lake]
    assert call("POST", "/batch/albums/delete", json={"albums": others})["albums"] == others


def test_an_owner_has_a_limited_number_of_smart_albums(library, call):
    own = call("POST", "/albums", json={"Title": "x", "Filter": "path:a"})["UID"]
    with library.session() as session:
        begin_write(session)
        owner_uid = session.query(Album.owner_uid).filter_by(uid=own).scalar()
        at = library.clock()
        for number in range(MOST_SMART_ALBUMS - 1):
            values = {"title": "x", "filter": "path:a", "created_at": at, "updated_at": at, "owner_uid": owner_uid}
            session.add(Album(uid=f"at{number:014}", **values))
    answer = call("POST", "/albums", 409, json={"Title": "One more", "Filter": "path:b"})
    assert answer["error"] == "there are 200 smart albums already; delete some"
    other = library.token(role="admin")
    call("POST", "/albums", json={"Title": "That of another", "Filter": "path:b"}, token=other)
    call("POST", "/albums", json={"Title": "A plain one"})


def test_computed_albums_contain_their_photos_and_refuse_changes(library, call, uids):
    for kind in (
        "folder",
        "month",
        "state",
    ):
        albums = call("GET", f"/albums?type={kind}")
        assert albums
        for album in albums:
            uid = album["UID"]
            assert (album["Type"], uid[0], len(uid)) == (kind, "a", 16)
            inside = found(library, s=uid)
            assert len(inside) == album["PhotoCount"] > 0
            assert call("GET", f"/albums/{uid}") == album
            path = {"folder": f'path:"{album["Path"]}"', "month": f"year:{album['Year']} month:{album['Month']}"}
            assert inside == found(library, q=path.get(kind, f'state:"{album["State"]}" country:{album["Country"]}'))
            for method, rest, body in (
                ("PUT", "", {"Title": "Mine"}), ("DELETE", "", None), ("POST", "/like", None),
                ("POST", "/photos", {"photos": uids[:1]}), ("GET", "/photos", None),
            ):  # fmt: skip
                assert "cannot be changed" in call(method, f"/albums/{uid}{rest}", 409, json=body)["error"]
        assert [album["UID"] for album in call("GET", f"/albums?type={kind}")] == [album["UID"] for album in albums]


def test_computed_albums_count_private_photos_only_for_accounts_that_see_them(library, call):
    before = {album["Path"]: album["PhotoCount"] for album in call("GET", "/albums?type=folder")}
    with library.session() as session:
        path = session.query(SearchRow.path).filter(SearchRow.photo_id == 1).first()[0]
        edit_photos(session, [1], private=True)
    after = {album["Path"]: album["PhotoCount"] for album in call("GET", "/albums?type=folder")}
    key = next(name for name in before if name.lower() == path.lower())
    assert after[key] == before[key] - 1
    assert before == {
        a["Path"]: a["PhotoCount"] for a in call("GET", "/albums?type=folder", token=library.token(role="user"))
    }


def test_albums_that_the_library_does_not_have_are_404(library, call):
    for uid in (
        "a00m000000000000", "a00m999999999913", "a00fxxxxxxxxxxxx", "a00sxxxxxxxxxxxx", "a00zxxxxxxxxxxxx",
    ):  # fmt: skip
        call("GET", f"/albums/{uid}", 404)
        assert library.get({"s": uid}).status_code == 404
        call("PUT", f"/albums/{uid}", 404, json={"Title": "x"})


def test_costly_smart_albums_do_not_keep_the_list_of_albums_from_anybody(library, call, monkeypatch):
    with library.session() as session:
        add_photos(session, 400, library.clock(), first=1000)
    patterns = "|".join(f"filename:*{number}*q*z*" for number in range(60)).replace("|", " | ")
    costly = [call("POST", "/albums", json={"Title": f"!{number}", "Filter": patterns})["UID"] for number in range(4)]
    cheap = call("POST", "/albums", json={"Title": "Folder b", "Filter": "path:b"})
    with library.session() as session:
        record_change(session)
    monkeypatch.setattr(albums, "_MOST_OF_ONE", 3)
    monkeypatch.setattr(albums, "_MOST_STEPS", 20)
    listed = {one["UID"]: one["PhotoCount"] for one in call("GET", "/albums")}
    assert [listed[uid] for uid in costly] == [-1] * 4
    assert listed[cheap["UID"]] == cheap["PhotoCount"] > 0
    assert call("GET", f"/albums/{costly[0]}")["PhotoCount"] == 0
    listed = {one["UID"]: one["PhotoCount"] for one in call("GET", "/albums?order=count")}
    assert [listed[uid] for uid in costly] == [0, -1, -1, -1]
