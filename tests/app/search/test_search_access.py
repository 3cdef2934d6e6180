"""Access to the search: rights, visible photos, and the form of refusals."""

import pytest
from sqlalchemy import select

from photosvc.models import Album, AlbumPhoto, Photo
from photosvc.search.rows.write import project
from tests.helpers.clock import NOW
from tests.helpers.factories.accounts import add_token
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.library import open_library


@pytest.fixture(scope="module")
def restricted_library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("access"))
    with library.session() as session:
        add_photos(session, 10, NOW)
        ids = list(session.scalars(select(Photo.id).order_by(Photo.id)))
        edit_photos(session, ids[:3], private=True)
        edit_photos(session, ids[3:4], archived_at=NOW)
        edit_photos(session, ids[4:5], quality=-1)
    return library


def call(library, path="/api/v1/photos", method="GET", **headers):
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return library.app.test_client().open(path, method=method, headers=pairs)


PRIVATE = {0, 1, 2}
OPEN = {5, 6, 7, 8, 9}


def test_private_photos_are_seen_by_those_who_may(restricted_library):
    for role, seen in (("", OPEN), ("viewer", OPEN), ("user", OPEN | PRIVATE), ("admin", OPEN | PRIVATE)):
        found = restricted_library.find(token=restricted_library.token("photos", role=role), count=100)
        assert {int(record["Name"].rpartition("-")[2]) for record in found} == seen, role
        assert {record["Private"] for record in found} == ({False, True} if seen & PRIVATE else {False}), role


def test_no_order_and_no_page_shows_a_client_what_is_private(restricted_library):
    for order in ("added", "random", "name"):
        for parameters in ({}, {"primary": "true"}, {"count": 1, "offset": 3}):
            assert not any(record["Private"] for record in restricted_library.find(order=order, **parameters))


def test_private_albums_do_not_tell_by_unsorted_what_they_hold(tmp_path):
    library = open_library(tmp_path)
    with library.session() as session:
        add_photos(session, 3, NOW)
        ids = list(session.scalars(select(Photo.id).order_by(Photo.id)))
        for number, private in enumerate((True, False)):
            times = {"created_at": NOW, "updated_at": NOW}
            album = Album(uid=f"a{number:015}", title="Secret", private=private, **times)
            session.add(album)
            session.flush()
            session.add(AlbumPhoto(album_id=album.id, photo_id=ids[number], created_at=NOW))
        project(session, ids)

    def found(role, value):
        records = library.find(token=library.token("photos", role=role), q=f"unsorted:{value}")
        return {int(record["Name"].rpartition("-")[2]) for record in records}

    assert (found("admin", "false"), found("admin", "true")) == ({0, 1}, {2})
    assert (found("viewer", "false"), found("viewer", "true")) == ({1}, {0, 2})


def test_a_token_that_is_not_ours_is_answered_as_invalid(restricted_library):
    for token in ("x", "0" * 48, "é", "\x80\xff", "a" * 5000, "' OR 1=1 --", "null"):
        answer = call(restricted_library, X_Auth_Token=token)
        assert answer.status_code == 401, token
        assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="photosvc", error="invalid_token"'), token


def test_head_is_get_without_a_body(restricted_library):
    token = restricted_library.token()
    got, head = (call(restricted_library, method=method, X_Auth_Token=token) for method in ("GET", "HEAD"))
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["X-Count"] == got.headers["X-Count"]
    assert head.headers["Content-Length"] == got.headers["Content-Length"]
    assert call(restricted_library, method="HEAD").status_code == 401


def test_an_unknown_route_is_a_404_as_json(restricted_library):
    for path in ("/api", "/api/v1", "/api/v1/nothing", "/api/v2/photos", "/%00"):
        answer = call(restricted_library, path, X_Auth_Token=restricted_library.token())
        assert answer.status_code == 404, path
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8", path
        assert answer.json["code"] == 404, path


def test_a_database_without_tables_is_a_503_that_names_the_command(tmp_path):
    library = open_library(tmp_path, upgrade=False)
    for path in ("/api/v1/photos", "/api/v1/status"):
        answer = call(library, path, X_Auth_Token="0" * 48)
        assert answer.status_code == 503
        assert answer.json == {
            "code": 503, "error": "The database has no photosvc tables yet: run `svc db upgrade`.",
        }  # fmt: skip


def test_a_surprise_is_a_500_that_tells_nothing_and_the_next_request_works(restricted_library, monkeypatch, caplog):
    from photosvc.api import search

    def fail(*_, **__):
        raise RuntimeError("secret words")

    token = restricted_library.token()
    with monkeypatch.context() as patch:
        patch.setattr(search, "parse_request", fail)
        answer = call(restricted_library, X_Auth_Token=token)
    assert (answer.status_code, answer.json["error"]) == (500, "Internal error; the log has details.")
    assert "secret words" not in answer.text
    assert "secret words" in caplog.text
    assert call(restricted_library, X_Auth_Token=token).status_code == 200


def test_an_expired_token_is_refused_from_its_last_second_on(tmp_path):
    library = open_library(tmp_path)
    with library.session() as session:
        token = add_token(session, library.clock(), lifetime=60)
    library.clock.move(seconds=60 - 1)
    assert call(library, X_Auth_Token=token).status_code == 200
    library.clock.move(seconds=1)
    answer = call(library, X_Auth_Token=token)
    assert answer.status_code == 401
    library.clock.move(seconds=-1)
    assert call(library, X_Auth_Token=token).status_code == 401
