"""The answer around a page: totals, tags, albums, facets, large answers."""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from itertools import islice
from threading import Event

import pytest
from sqlalchemy import delete, select

from photosvc.models import Album, AlbumPhoto, Photo, SearchDocument
from photosvc.models.counters import record_change
from photosvc.search.reading import pages
from photosvc.search.reading.pages import LibraryChangedError
from photosvc.search.rows.write import project
from photosvc.web.service import current_service
from photosvc.web.transactions import StreamedRead
from tests.helpers.clock import NOW, until
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.library import DATABASE, copy_library, open_library

ALBUMS = {name: ("a" + name).ljust(16, "0") for name in ("plain", "smart", "secret", "gone")}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The library of which each test has a copy."""
    library = open_library(tmp_path_factory.mktemp("answers") / "instance")
    with library.session() as session:
        add_photos(session, 30, NOW)
        ids = list(session.scalars(select(Photo.id).order_by(Photo.id)))
        for number, (name, uid) in enumerate(ALBUMS.items()):
            session.add(
                Album(
                    id=number + 1,
                    uid=uid,
                    title=name,
                    filter="title:zebra" if name == "smart" else "",
                    private=name == "secret",
                    deleted_at=NOW if name == "gone" else None,
                    created_at=NOW,
                    updated_at=NOW,
                )
            )
            session.flush()
            members = [AlbumPhoto(album_id=number + 1, photo_id=one, created_at=NOW) for one in ids[:4]]
            session.add_all(members if name != "smart" else [])
        edit_photos(session, ids[:2], private=True)
        project(session, ids)
    library.close()
    return library


@pytest.fixture
def copied_library(filled, tmp_path):
    library = copy_library(filled, tmp_path / "instance")
    yield library
    library.close()


def test_the_order_archived_is_that_of_archiving(copied_library):
    with copied_library.session() as session:
        chosen = list(session.scalars(select(Photo.id).order_by(Photo.id)))[4:8]
        for hour, one in enumerate((2, 0, 1)):
            edit_photos(session, [chosen[one]], archived_at=NOW + timedelta(hours=hour))
        uids = dict(session.execute(select(Photo.id, Photo.uid)).all())
    admin = copied_library.token(role="admin")
    found = copied_library.find(order="archived", archived="true", primary="true", token=admin)
    assert [record["UID"] for record in found] == [uids[chosen[one]] for one in (1, 0, 2)]
    assert (
        copied_library.find(order="archived", archived="true", reverse="true", primary="true", token=admin)
        == found[::-1]
    )
    mixed = copied_library.find(order="archived", q="archived:true | -archived:true", count=1000, token=admin)
    listed = copied_library.find(order="added", count=1000, token=admin)
    assert mixed[-len(listed) :] == listed
    assert copied_library.find(order="archived", archived="true", token=copied_library.token(role="viewer")) == []


def titles(library, **parameters):
    return {record["Title"] for record in library.find(**parameters)}


def test_an_album_is_what_is_in_it(copied_library):
    user = copied_library.token(role="user")
    assert len({record["UID"] for record in copied_library.find(s=ALBUMS["plain"], token=user)}) == 4
    assert copied_library.find(s=ALBUMS["plain"], q="-tree") == []


def test_a_smart_album_is_what_its_filter_finds(copied_library):
    assert titles(copied_library, s=ALBUMS["smart"]) == {"Zebra"}
    assert titles(copied_library, q="album:smart") == {"Zebra"}
    with copied_library.session() as session:
        photo = session.scalar(select(Photo).where(Photo.title == "Zebra"))
        taken_out, number = photo.uid, photo.id
        session.add(AlbumPhoto(album_id=2, photo_id=number, hidden=True, created_at=NOW))
        record_change(session)
    assert taken_out not in {record["UID"] for record in copied_library.find(s=ALBUMS["smart"])}


def test_an_album_that_does_not_exist_is_not_found(copied_library):
    for uid in ("azzzzzzzzzzzzzzz", "x", "pqbcf5j446s0futy", "'", "\\", ALBUMS["gone"]):
        answer = copied_library.get({"s": uid})
        assert answer.status_code == 404, uid
        assert answer.json["details"][0]["field"] == "s", uid


def test_the_total_is_sent_when_asked_for(copied_library):
    everything = len(copied_library.find(count=1000))
    answer = copied_library.get({"total": "true", "count": 5})
    assert (answer.headers["X-Total-Count"], answer.headers["X-Count"]) == (str(everything), "5")
    assert copied_library.get({"total": "true", "q": "zebra"}).headers["X-Total-Count"] == str(
        len(copied_library.find(q="zebra"))
    )
    assert "X-Total-Count" not in copied_library.get().headers


def ask_again(library, answer, parameters="", **headers):
    sent = {"X-Auth-Token": library.token(role="admin"), "If-None-Match": answer.headers["ETag"], **headers}
    return library.app.test_client().get("/api/v1/photos", query_string=parameters, headers=sent)


def test_an_unchanged_page_is_not_sent_twice(copied_library):
    first = copied_library.get({"q": "tree zebra"}, token=copied_library.token(role="admin"))
    again = ask_again(copied_library, first, {"q": "  Tree   ZEBRA "})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert again.headers["X-Preview-Token"] == first.headers["X-Preview-Token"]
    assert again.headers["Cache-Control"] == first.headers["Cache-Control"] == "private, no-cache"
    assert set(again.headers["Vary"].split(", ")) == {"Authorization", "X-Auth-Token", "X-Session-ID", "Cookie"}


def test_a_tag_may_be_weak_or_one_of_several(copied_library):
    for sent in ("W/{}", '"other", {}', '{}, "other"', '"other", W/{}', "*"):
        first = copied_library.get({"q": "zebra"}, token=copied_library.token(role="admin"))
        again = ask_again(
            copied_library, first, {"q": "zebra"}, **{"If-None-Match": sent.format(first.headers["ETag"])}
        )
        assert again.status_code == 304, sent


def test_a_new_form_of_records_is_sent_although_the_library_is_unchanged(copied_library, monkeypatch):
    first = copied_library.get({"q": "zebra"}, token=copied_library.token(role="admin"))
    monkeypatch.setattr("photosvc.search.reading.library.PROJECTION_VERSION", 1000)
    again = ask_again(copied_library, first, {"q": "zebra"})
    assert (again.status_code, again.json) == (200, first.json)
    assert again.headers["ETag"] != first.headers["ETag"]


def test_a_304_is_given_without_searching(copied_library, monkeypatch):
    first = copied_library.get({"q": "zebra"}, token=copied_library.token(role="admin"))
    monkeypatch.setattr("photosvc.search.reading.pages.KnownSearches.find", None)
    assert ask_again(copied_library, first, {"q": "zebra"}).status_code == 304


def test_another_page_has_another_tag(copied_library):
    for other in (
        {"count": 5},
        {"offset": 1},
        {"order": "name"},
        {"q": "tree"},
        {"merged": "1"},
        {"total": "1"},
        {"s": ALBUMS["plain"]},
    ):
        assert (
            ask_again(copied_library, copied_library.get(token=copied_library.token(role="admin")), other).status_code
            == 200
        )


def test_who_sees_private_photos_has_other_tags(copied_library):
    first = copied_library.get(token=copied_library.token(role="user"))
    sent = {"X-Auth-Token": copied_library.token(role="viewer"), "X-Session-ID": ""}
    assert ask_again(copied_library, first, **sent).status_code == 200


def in_pieces(monkeypatch, results):
    for name in ("CHUNK", "PIECE"):
        monkeypatch.setattr(pages, name, results)


@pytest.mark.parametrize("merged", ["true", "false"])
def test_a_large_answer_comes_in_pieces_and_is_the_same(copied_library, monkeypatch, merged):
    whole = copied_library.get({"count": 1000, "merged": merged, "order": "newest"})
    in_pieces(monkeypatch, 4)
    streamed = copied_library.get({"count": 999, "merged": merged, "order": "newest"})
    assert streamed.headers["X-Count"] == whole.headers["X-Count"]
    assert "Content-Length" not in streamed.headers
    assert streamed.data == whole.data


def streamed(library, monkeypatch):
    in_pieces(monkeypatch, 4)
    client = library.app.test_client()
    return client.get("/api/v1/photos", headers={"X-Auth-Token": library.token()}, buffered=False)


def test_a_large_answer_is_of_one_moment(copied_library, monkeypatch):
    whole = copied_library.get().json
    with closing(streamed(copied_library, monkeypatch)) as answer:
        pieces = iter(answer.response)
        received = next(pieces)
        with copied_library.session() as session:
            session.execute(delete(SearchDocument))
        received += b"".join(pieces)
    assert json.loads(received) == whole


def test_a_client_that_is_slow_to_take_a_large_answer_keeps_no_old_state_of_the_database(copied_library, monkeypatch):
    whole = copied_library.get().json
    monkeypatch.setattr("photosvc.web.transactions.ONE_MOMENT", 0.05)
    log = copied_library.instance / f"{DATABASE}-wal"
    with (
        closing(streamed(copied_library, monkeypatch)) as answer,
        closing(sqlite3.connect(copied_library.instance / DATABASE)) as other,
    ):
        pieces = iter(answer.response)
        received = next(pieces)
        for _ in range(3):
            with copied_library.session() as session:
                record_change(session)
            until(lambda: other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0, "the end of all reads")
            assert log.stat().st_size == 0
            received += next(pieces)
        received += b"".join(pieces)
    assert json.loads(received) == whole


def test_a_late_piece_whose_files_are_gone_ends_the_answer(copied_library, monkeypatch):
    over, end = Event(), StreamedRead._end
    monkeypatch.setattr("photosvc.web.transactions.ONE_MOMENT", 0.0)
    monkeypatch.setattr(StreamedRead, "_end", lambda self: (end(self), over.set()))
    with closing(streamed(copied_library, monkeypatch)) as answer:
        pieces = iter(answer.response)
        received = next(pieces)
        assert over.wait(60)
        with copied_library.session() as session:
            session.execute(delete(SearchDocument))
        with pytest.raises(LibraryChangedError):
            received += b"".join(pieces)
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(received)


def test_a_large_answer_gives_its_connection_back_however_far_it_was_read(copied_library, monkeypatch):
    for read in (0, 1, 2):
        with copied_library.app.app_context():
            pool = current_service().engine().pool
        before = pool.checkedout()
        answer = streamed(copied_library, monkeypatch)
        list(islice(answer.response, read))
        assert pool.checkedout() == before + 1, read
        answer.close()
        assert pool.checkedout() == before, read


def test_an_answer_that_breaks_off_is_not_valid_json(copied_library, monkeypatch):
    def break_off(*_given):
        raise LibraryChangedError

    with closing(streamed(copied_library, monkeypatch)) as answer:
        pieces = iter(answer.response)
        received = next(pieces)
        monkeypatch.setattr(pages, "result_heads", break_off)
        with pytest.raises(LibraryChangedError):
            received += b"".join(pieces)
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(received)


def test_facets_count_what_the_same_search_finds(copied_library):
    answer = copied_library.get({"by": "type,year", "q": "tree", "s": ALBUMS["plain"]}, path="/api/v1/photos/facets")
    found = copied_library.find(q="tree", s=ALBUMS["plain"])
    assert sum(value["count"] for value in answer.json["year"]) == len(found)
    assert list(answer.json) == ["type", "year"]
    assert answer.json["year"][0].keys() == {"value", "label", "count"}
    assert copied_library.get({"by": "size"}, path="/api/v1/photos/facets").status_code == 400


def test_relevance_puts_whole_words_before_longer_ones_wherever_they_stand(copied_library):
    texts = {"Catalonia": "", "Cathedral": "", "T1": "our cat", "T2": "two cats", "Cat": "", "T3": "catalan"}
    shown = list(dict.fromkeys(record["UID"] for record in copied_library.find(q="type:image", count=100)))
    with copied_library.session() as session:
        for uid, (title, description) in zip(shown, texts.items(), strict=False):
            number = session.scalar(select(Photo.id).where(Photo.uid == uid))
            edit_photos(session, [number], title=title, description=description)
    found = [record["Title"] for record in copied_library.find(q="cat", order="relevance", primary="true")]
    assert (found[0], {*found[1:3]}, {*found[3:5]}, found[5]) == ("Cat", {"T1", "T2"}, {"Catalonia", "Cathedral"}, "T3")
    both = [record["Title"] for record in copied_library.find(q="cat our", order="relevance", primary="true")]
    assert both == ["T1"]
