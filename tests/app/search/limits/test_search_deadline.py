"""A search ends at its deadline, and leaves everything as it was."""

import socket
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from photosvc.models import Album, Photo
from photosvc.search.reading.albums_named import LibraryAlbum
from photosvc.web.service import current_service
from tests.app.search.limits.slow_rows import slow_rows
from tests.helpers.api_client import check_error
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library

TOO_LONG = "the search took too long"
#: Seconds by the clock in which a search of ten seconds has ended; it moves by a second at each look.
SOON = 50


@pytest.fixture(scope="module")
def filled_library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("deadline") / "instance")
    with library.session() as session:
        add_photos(session, 60, library.clock())
    yield library
    library.close()


@contextmanager
def slowed(library):
    """Searches take many looks at the clock, and each look takes a second."""
    library.clock.step = 1.0
    try:
        with slow_rows(library):
            yield
    finally:
        library.clock.step = 0.0


@pytest.fixture
def slow(filled_library):
    with slowed(filled_library):
        yield filled_library


def parts(answer):
    """The fields that an answer names as costly."""
    body = check_error(answer, 503)
    assert body["error"] == TOO_LONG
    return [detail["field"] for detail in body["details"]]


def test_names_that_are_compared_without_a_statement_end_at_the_deadline_too(filled_library):
    for query in ("camera:maker", "album:lake*", f"album:{LibraryAlbum('folder', path='zz').uid}"):
        with filled_library.session() as session:
            if not session.query(Album).count():
                session.add(Album(uid="at00000000000000", title="Lake", created_at=NOW, updated_at=NOW))
        with filled_library.app.app_context():
            service = current_service()
        usual = service.limits
        service.limits = replace(usual, seconds=0)
        try:
            assert check_error(filled_library.get({"q": query}), 503)["error"] == TOO_LONG
        finally:
            service.limits = usual
        assert filled_library.get({"q": query}).status_code == 200


def test_a_search_that_takes_too_long_ends_with_503_and_names_the_costly_filters(slow):
    began = slow.clock.seconds
    answer = slow.get({"q": "year:1990-2100 mp:0-900 -description:*lake*", "total": "true"})
    assert 10 <= slow.clock.seconds - began < SOON
    assert parts(answer) == ["mp", "description"]
    assert answer.json["details"][0]["message"].startswith("no index finds photos by this")
    assert slow.get({"q": "-iso:1-"}, path="/api/v1/photos").status_code == 503


def test_the_connection_is_good_for_other_requests_afterwards(filled_library):
    with slowed(filled_library):
        assert filled_library.get({"q": "-iso:1-"}).status_code == 503
    assert len(filled_library.find(count=100)) == 70
    with filled_library.app.app_context():
        assert current_service().engine().pool.checkedout() == 0


def test_a_cheap_search_is_answered_to_a_client_that_will_send_nothing_more(filled_library):
    server_side, client = socket.socketpair()
    with server_side, client:
        client.shutdown(socket.SHUT_WR)
        answer = filled_library.app.test_client().get(
            "/api/v1/photos?q=-iso:1-&total=true",
            headers={"X-Auth-Token": filled_library.token()},
            environ_overrides={"gunicorn.socket": server_side},
        )
    assert (answer.status_code, answer.headers["X-Total-Count"]) == (200, "70")


ROUTES = {
    "/photos": (),
    "/photos?q=-zebra": ("q",),
    "/photos?merged=true&offset=50": (),
    "/photos/view?title=!*zeb*ra*": ("title",),
    "/geo": ("geo", "primary"),
    "/photos/facets?by=year,month,camera,color": ("by",),
    "/photos/timeline": (),
    "/photos/timeline/months/{month}": (),
    "/photos/clusters": ("bbox",),
    "/photos/sequence?order=title": ("from",),
    "/config": ("config",),
    "/albums?type=folder": (),
    "/albums?type=month": (),
}


def test_every_route_that_searches_has_a_deadline(filled_library):
    for path, fields in ROUTES.items():
        month = filled_library.find(count=1)[0]["TakenAtLocal"][:7]
        route, _, query = path.format(month=month).partition("?")
        with slowed(filled_library):
            began = filled_library.clock.seconds
            answer = filled_library.get(query, path=f"/api/v1{route}")
        assert parts(answer) == list(fields or ("q",)), path
        assert 10 <= filled_library.clock.seconds - began < SOON, path


def test_a_selection_for_an_archive_has_a_deadline(slow):
    client, headers = slow.app.test_client(), {"X-Auth-Token": slow.token()}
    assert parts(client.post("/api/v1/zip", json={"q": "-iso:1-"}, headers=headers)) == ["iso"]


def test_a_batch_whose_query_takes_too_long_changes_nothing(slow):
    client, headers = slow.app.test_client(), {"X-Auth-Token": slow.token()}
    body = {"q": "-iso:1-", "expected": 60}
    assert parts(client.post("/api/v1/batch/photos/archive", json=body, headers=headers)) == ["iso"]
    with slow.session() as session:
        assert session.scalar(select(func.count()).where(Photo.archived_at.is_not(None))) == 0


def test_a_batch_may_take_longer_than_its_query(filled_library):
    client, headers = filled_library.app.test_client(), {"X-Auth-Token": filled_library.token()}
    body = {"q": "-iso:1-", "expected": 0}
    before = client.post("/api/v1/batch/photos/approve", json=body, headers=headers)
    assert before.status_code in {200, 409}
