"""Who may search, what they see, and how every refusal looks."""

import pytest
from sqlalchemy import select, text

from photosvc.models import Album, AlbumPhoto, Photo
from photosvc.search.rows.write import project
from tests.helpers.clock import NOW
from tests.helpers.factories.accounts import add_token
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.library import RESOURCE, open_library


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


def test_a_token_may_come_in_each_of_three_headers(restricted_library):
    for form in ("X_Auth_Token", "X_Session_ID", "Authorization"):
        token = restricted_library.token()
        values = [f"Bearer {token}", f"bearer  {token} ", f"BEARER {token}"] if form == "Authorization" else [token]
        for value in values:
            assert call(restricted_library, **{form: value}).status_code == 200


def test_the_same_token_twice_is_fine_and_two_different_ones_are_refused(restricted_library):
    token, other = restricted_library.token(), restricted_library.token("photos")
    assert call(restricted_library, X_Auth_Token=token, Authorization=f"Bearer {token}").status_code == 200
    answer = call(restricted_library, X_Auth_Token=token, X_Session_ID=other)
    assert (answer.status_code, answer.json["error"]) == (400, "the request shows two different tokens; send one")


def test_without_a_token_the_challenge_is_bare(restricted_library):
    for headers in ({}, {"X_Auth_Token": ""}, {"Authorization": "Bearer"}, {"Authorization": "Basic YTpi"}):
        answer = call(restricted_library, **headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="photosvc"' + RESOURCE
        assert answer.json["code"] == 401


def test_a_token_that_is_not_ours_is_answered_as_invalid(restricted_library):
    for token in ("x", "0" * 48, "é", "\x80\xff", "a" * 5000, "' OR 1=1 --", "null"):
        answer = call(restricted_library, X_Auth_Token=token)
        assert answer.status_code == 401, token
        assert answer.headers["WWW-Authenticate"].startswith('Bearer realm="photosvc", error="invalid_token"'), token


def test_a_token_in_the_address_is_not_looked_at(restricted_library):
    for name in ("access_token", "token", "t", "X-Auth-Token"):
        assert call(restricted_library, f"/api/v1/photos?{name}={restricted_library.token()}").status_code == 401


def test_a_token_without_the_scope_is_answered_with_the_one_it_needs(restricted_library):
    answer = call(restricted_library, X_Auth_Token=restricted_library.token("albums"))
    assert answer.status_code == 403
    assert answer.headers["WWW-Authenticate"] == (
        'Bearer realm="photosvc", error="insufficient_scope", scope="photos read"' + RESOURCE
    )
    assert answer.json == {"code": 403, "error": "Permission denied: this needs the scope photos read."}


def test_each_scope_that_covers_reading_photos_opens_the_search(restricted_library):
    for scope in ("*", "photos", "read", "photos read", "albums photos"):
        assert call(restricted_library, X_Auth_Token=restricted_library.token(scope)).status_code == 200


def test_head_is_get_without_a_body(restricted_library):
    token = restricted_library.token()
    got, head = (call(restricted_library, method=method, X_Auth_Token=token) for method in ("GET", "HEAD"))
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["X-Count"] == got.headers["X-Count"]
    assert head.headers["Content-Length"] == got.headers["Content-Length"]
    assert call(restricted_library, method="HEAD").status_code == 401


def test_options_tells_the_methods(restricted_library):
    answer = call(restricted_library, method="OPTIONS")
    assert answer.status_code == 200
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_other_methods_are_refused_as_json(restricted_library):
    for method in ("POST", "PUT", "PATCH", "DELETE", "PROPFIND"):
        answer = call(restricted_library, method=method, X_Auth_Token=restricted_library.token())
        assert answer.status_code == 405, method
        assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}, method
        assert answer.json["code"] == 405, method


def test_an_unknown_route_is_a_404_as_json(restricted_library):
    for path in ("/api", "/api/v1", "/api/v1/nothing", "/api/v2/photos", "/%00"):
        answer = call(restricted_library, path, X_Auth_Token=restricted_library.token())
        assert answer.status_code == 404, path
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8", path
        assert answer.json["code"] == 404, path


def test_status_says_that_the_service_can_answer(restricted_library):
    answer = call(restricted_library, "/api/v1/status")
    assert (answer.status_code, answer.json["status"]) == (200, "operational")


def test_a_database_without_tables_is_a_503_that_names_the_command(tmp_path):
    library = open_library(tmp_path, upgrade=False)
    for path in ("/api/v1/photos", "/api/v1/status"):
        answer = call(library, path, X_Auth_Token="0" * 48)
        assert answer.status_code == 503
        assert answer.json == {
            "code": 503, "error": "The database has no photosvc tables yet: run `svc db upgrade`.",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "sentence"),
    [("0000", "run `svc db upgrade`"), ("9999", "newer than this photosvc")],
)
def test_a_database_at_another_schema_is_a_503_that_says_what_to_do(tmp_path, version, sentence):
    library = open_library(tmp_path)
    with library.session() as session:
        session.execute(text("UPDATE photosvc_schema SET version_num = :version"), {"version": version})
    answer = call(library, X_Auth_Token="0" * 48)
    assert answer.status_code == 503
    assert sentence in answer.json["error"]


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
