"""Searches while the library, or the database behind it, changes: each sees one state, and none keeps a connection."""

import shutil
from threading import Thread

import pytest
from flask import request
from sqlalchemy import create_engine, event, select, text
from sqlalchemy.exc import OperationalError

from photosvc.models import Album, AlbumPhoto, Photo
from photosvc.models.engine import open_reader
from photosvc.search.reading import pages
from photosvc.search.rows.write import project
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.library import DATABASE, open_library

ALBUMS = [f"a{number:015}" for number in range(1001)]


@pytest.fixture
def open_it(tmp_path):
    opened = []

    def open_it(folder="instance", **settings):
        library = open_library(tmp_path / folder, settings=settings)
        opened.append(library)
        return library

    yield open_it
    for library in opened:
        library.close()


def filled(library, photos=30):
    """The ids of its photos."""
    with library.session() as session:
        add_photos(session, photos, NOW)
        return session.scalars(select(Photo.id).order_by(Photo.id)).all()


def meanwhile(monkeypatch, change):
    """Let `change` happen in another thread, between finding files and reading their texts."""
    read, done = pages._read, []

    def read_later(*arguments):
        if not done:
            done.append(True)
            other = Thread(target=change)
            other.start()
            other.join()
        return read(*arguments)

    monkeypatch.setattr(pages, "_read", read_later)
    return done


@pytest.mark.parametrize("is_first", [False, True], ids=["any request", "the first request"])
def test_what_becomes_private_while_a_search_runs_is_not_shown_by_it(open_it, new_database, monkeypatch, is_first):
    shared = {"PHOTOSVC_DATABASE_URI": new_database(), "PHOTOSVC_SECRET_KEY": "k" * 32}
    library = open_it(**shared)
    photos = filled(library)
    token = library.token("photos", role="viewer")
    library.find(token=token)
    worker = open_it("another worker", **shared)
    if not is_first:
        worker.find(token=token)

    def hide():
        with library.session() as session:
            edit_photos(session, photos[:5], private=True, title="secret")

    done = meanwhile(monkeypatch, hide)
    found = worker.find(token=token, q="n0 | n1")
    assert done
    assert len(found) > 20
    assert not [record for record in found if record["Private"]]
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    "asked", [{}, {"merged": "true"}, {"count": "4", "offset": "2"}, {"order": "random", "seed": "3"}]
)
def test_a_page_asked_for_again_follows_rights_day_library_and_database(open_it, asked):
    library = open_it()
    photos = filled(library)
    admin, viewer = library.token("photos", role="admin"), library.token("photos", role="viewer")

    def seen(token, **further):
        """What both the first and the next request get, which is what a process that never answered one gets."""
        answers = [library.get({**asked, **further}, token=token) for _ in range(2)]
        answers.append(open_it("instance").get({**asked, **further}, token=token))
        assert len({(answer.data, str(answer.headers)) for answer in answers}) == 1
        return answers[0].headers["X-Count"], {record["UID"] for record in answers[0].json}

    query = {"q": "n0 | n1 | n2"}
    before = seen(viewer, **query)
    assert before == seen(admin, **query)
    with library.session() as session:
        edit_photos(session, photos[::2], private=True)
        private = set(session.scalars(select(Photo.uid).where(Photo.private)))
    for token, is_shown in ((admin, True), (viewer, False)):
        shown = seen(token, **query)[1]
        assert shown.isdisjoint(private) is not is_shown
        assert seen(token, q="private:true")[1] <= (private if is_shown else set())
    with library.session() as session:
        edit_photos(session, photos, private=False)
    assert seen(viewer, **query) == before
    other = open_it("another library")
    assert other.get({**asked, **query}, token=other.token("photos", role="viewer")).json == []


def test_a_smart_page_asked_for_again_follows_the_day(open_it):
    library = open_it()
    photos = filled(library, 3)
    with library.session() as session:
        edit_photos(session, photos, year=NOW.year, month=NOW.month, day=NOW.day)
    token = library.token("photos", role="viewer")
    assert [len(library.find(token=token, q="today")) for _ in range(2)] == [len(library.find(token=token))] * 2
    library.clock.move(days=1)
    assert [len(library.find(token=token, q="today")) for _ in range(2)] == [0, 0]
    assert len(library.find(token=token, q="yesterday")) == len(library.find(token=token))


def test_an_album_that_becomes_private_is_not_found_although_its_page_was(open_it):
    library = open_it()
    photos = filled(library)
    with library.session() as session:
        session.add(Album(uid=ALBUMS[0], title="Lake", created_at=NOW, updated_at=NOW))
        session.flush()
        album = session.scalars(select(Album.id)).one()
        session.add_all(AlbumPhoto(album_id=album, photo_id=photo, created_at=NOW) for photo in photos[:3])
        edit_photos(session, photos[:3], title="lake")
    admin, viewer = library.token("*", role="admin"), library.token("photos", role="viewer")
    for _ in range(2):
        assert library.get({"s": ALBUMS[0]}, token=viewer).status_code == 200
    library.call("PUT", f"/albums/{ALBUMS[0]}", token=admin, json={"Private": True})
    assert library.get({"s": ALBUMS[0]}, token=viewer).status_code == 404
    assert library.get({"s": ALBUMS[0]}, token=admin).status_code == 200


def test_a_reader_of_a_hosts_plain_sqlite_sees_one_state(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'host.db'}")
    with engine.begin() as connection:
        connection.execute(text("PRAGMA journal_mode=WAL"))
        connection.execute(text("CREATE TABLE things (name TEXT)"))
    with open_reader(engine) as reader:
        assert reader.scalar(text("SELECT count(*) FROM things")) == 0
        with engine.begin() as connection:
            connection.execute(text("INSERT INTO things VALUES ('new')"))
        assert reader.scalar(text("SELECT count(*) FROM things")) == 0
    engine.dispose()


def test_a_reader_that_cannot_begin_gives_its_connection_back(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'host.db'}", connect_args={"timeout": 0, "isolation_level": None})
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    with engine.begin():
        with pytest.raises(OperationalError, match="locked"):
            open_reader(engine)
        assert engine.pool.checkedout() == 1
    engine.dispose()


def checked_out(library):
    with library.app.app_context():
        return current_service().engine().pool.checkedout()


def test_a_long_answer_that_is_never_sent_gives_its_connection_back(open_it, monkeypatch):
    monkeypatch.setattr(pages, "CHUNK", 30)
    library = open_it()
    filled(library)
    token = library.token("photos")
    assert library.get({"count": 5000}, token=token).headers["X-Count"] == "35"
    failing = library.app.after_request_funcs[None] = [lambda _: 1 / 0]
    assert library.get({"count": 5000}, token=token).status_code == 500
    assert checked_out(library) == 0
    failing[0] = lambda _: library.app.response_class("another answer")
    assert library.get({"count": 5000}, token=token).text == "another answer"
    assert checked_out(library) == 0


#: Ends all connections to the database but the one that asks.
END_OTHERS = text(
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database()"
    " AND backend_type = 'client backend' AND pid != pg_backend_pid()"
)


def test_an_answer_that_is_complete_is_sent_although_postgresql_goes_away_then(open_it, new_postgres):
    uri = new_postgres()
    library = open_it(PHOTOSVC_DATABASE_URI=uri)
    filled(library, 3)
    token = library.token("photos")
    before = library.get(token=token).json
    other = create_engine(uri)
    ended = []

    def end(answer):
        with other.connect() as connection:
            ended.extend(connection.scalars(END_OTHERS))
        return answer

    with library.app.test_request_context("/api/v1/photos"):
        innermost = request.blueprints[0]
    library.app.after_request_funcs[innermost] = [end]
    answer = library.get(token=token)
    del library.app.after_request_funcs[innermost]
    other.dispose()
    assert ended
    assert (answer.status_code, answer.json) == (200, before)
    assert checked_out(library) == 0
    assert library.get(token=token).status_code == 200


def test_after_postgresql_was_restarted_one_request_fails_and_not_one_for_each_connection(open_it, new_postgres):
    uri = new_postgres()
    library = open_it(PHOTOSVC_DATABASE_URI=uri)
    filled(library, 3)
    token = library.token("photos")
    library.find(token=token)
    with library.app.app_context():
        engine = current_service().engine()
    idle = [engine.connect() for _ in range(5)]
    for connection in idle:
        connection.close()
    other = create_engine(uri)
    with other.connect() as connection:
        ended = connection.scalars(END_OTHERS).all()
    other.dispose()
    assert ended == [True] * 5
    assert [library.get(token=token).status_code for _ in range(4)] == [503, 200, 200, 200]


def test_a_tag_from_before_a_backup_was_put_back_never_holds_again(open_it, tmp_path):
    library = open_it()
    photos = filled(library, 10)
    token = library.token("photos")
    library.find(token=token)
    database = library.instance / DATABASE

    def at_rest():
        with library.app.app_context():
            engine = current_service().engine()
            with engine.connect() as connection:
                connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
            engine.dispose()

    at_rest()
    shutil.copy(database, tmp_path / "backup.db")
    with library.session() as session:
        edit_photos(session, photos[:1], title="first")
    first = library.get(token=token)
    at_rest()
    shutil.copy(tmp_path / "backup.db", database)
    with library.session() as session:
        edit_photos(session, photos[5:6], title="second")
    headers = {"X-Auth-Token": token, "If-None-Match": first.headers["ETag"]}
    again = library.app.test_client().get("/api/v1/photos", headers=headers)
    assert again.status_code == 200
    assert "second" in again.text


def test_private_albums_take_no_place_among_the_facets_of_those_who_may_not_see_them(open_it):
    library = open_it()
    photos = filled(library, 3)
    with library.session() as session:
        albums = [
            Album(uid=uid, title="x", private=uid != ALBUMS[-1], created_at=NOW, updated_at=NOW) for uid in ALBUMS
        ]
        session.add_all(albums)
        session.flush()
        session.add_all(
            AlbumPhoto(album_id=album.id, photo_id=photo, created_at=NOW)
            for album in albums
            for photo in photos[: 2 if album.private else 1]
        )
        project(session, photos)
    answer = library.get({"by": "album"}, token=library.token("photos", role="viewer"), path="/api/v1/photos/facets")
    assert [value["value"] for value in answer.json["album"]] == [ALBUMS[-1]]


def test_a_smart_album_that_cannot_be_read_is_empty_and_tells_nothing(open_it):
    for number, query in enumerate(("near:{} dist:5", "lat:nowhere", "near:pnotaphoto")):
        library = open_it(f"instance {number}")
        photos = filled(library, 10)
        with library.session() as session:
            edit_photos(session, photos[:1], private=True)
            private = session.get(Photo, photos[0]).uid
            filter_ = query.format(private)
            session.add(Album(uid=ALBUMS[0], title="Around home", filter=filter_, created_at=NOW, updated_at=NOW))
        viewer = library.token("photos", role="viewer")
        assert library.find(token=viewer, q='album:"Around home"') == [], query
        assert library.find(token=viewer, s=ALBUMS[0]) == [], query
        assert library.find(token=viewer, q="-albums:around", count=50) == library.find(token=viewer, count=50), query
        assert library.get({"near": private}, token=viewer).status_code == 404, query
