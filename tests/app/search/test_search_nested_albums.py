"""Smart albums inside smart albums: each is resolved once, none contains itself, and no number of them is too many."""

from contextlib import contextmanager

import pytest
from sqlalchemy import delete, event

from photosvc.models import Album
from photosvc.models.counters import record_change
from photosvc.web.service import current_service
from tests.helpers.clock import NOW


@pytest.fixture(scope="module")
def filled_library(new_library):
    return new_library(30)


@pytest.fixture
def albumless_library(filled_library):
    """The library, from which the albums of the test are deleted after it."""
    yield filled_library
    with filled_library.session() as session:
        session.execute(delete(Album))


def uid(title):
    return f"a{title}".ljust(16, "0")


def add_albums(library, **filters):
    """A smart album for each title, with its filter."""
    with library.session() as session:
        session.add_all(
            Album(uid=uid(title), title=title, filter=query, created_at=NOW, updated_at=NOW)
            for title, query in filters.items()
        )
        record_change(session)


@contextmanager
def counted(library):
    """The statements that the library's database runs inside of the block."""
    with library.app.app_context():
        engine = current_service().engine()
    statements = []

    def note(_connection, _cursor, statement, *_):
        statements.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield statements
    event.remove(engine, "before_cursor_execute", note)


def found(library, **parameters):
    return {record["FileUID"] for record in library.find(count=1000, **parameters)}


def test_an_album_of_albums_finds_what_all_of_them_find(albumless_library):
    add_albums(
        albumless_library,
        one="type:video",
        two="album:one type:image",
        three="album:one|two -path:b",
        four="album:three",
    )
    assert found(albumless_library, s=uid("one")) == found(albumless_library, type="video") != set()
    assert found(albumless_library, s=uid("two")) == set()
    assert found(albumless_library, s=uid("four")) == found(albumless_library, q="type:video -path:b")


def test_an_album_that_many_albums_name_is_resolved_once(albumless_library):
    middle = {f"middle{number}": f"album:leaf path:* iso:{number}-" for number in range(100, 112)}
    add_albums(albumless_library, leaf="near:{} type:video".format(albumless_library.find(count=1)[0]["UID"]), **middle)
    add_albums(albumless_library, top="album:middle*")
    with counted(albumless_library) as once:
        albumless_library.find(s=uid("middle101"))
    with counted(albumless_library) as often:
        albumless_library.find(s=uid("top"))
    positions = [text for text in often if "lat, photosvc_search_rows.lng" in text.partition("FROM")[0]]
    assert len(positions) == 1
    assert len(often) <= len(once) + 2  # the wildcard reads all titles; the planner counts further candidates


def test_albums_that_contain_each_other_contain_nothing_there(albumless_library):
    add_albums(
        albumless_library, one="album:two | type:video", two="album:one | type:raw", three="album:one | album:three"
    )
    assert found(albumless_library, s=uid("one")) == found(albumless_library, type="video")
    assert found(albumless_library, s=uid("two")) == found(albumless_library, type="raw")
    assert found(albumless_library, s=uid("three")) == found(albumless_library, type="video")
    assert found(albumless_library, q="album:one album:two") == set()
    assert found(albumless_library, q="album:one|two") == found(albumless_library, type="video|raw")


def test_an_album_contains_the_same_wherever_a_search_names_it(albumless_library):
    add_albums(
        albumless_library, one="album:two type:video", two="album:three | type:video", three="album:one | path:b"
    )
    alone = found(albumless_library, s=uid("two"))
    assert found(albumless_library, q="album:two") == alone
    assert found(albumless_library, q="album:one | album:two") == alone | found(albumless_library, s=uid("one"))


def test_twenty_albums_that_all_name_each_other_are_answered(albumless_library):
    add_albums(albumless_library, **{f"knot{number}": f"album:knot* | iso:{number}" for number in range(100, 120)})
    for order in ("newest", "name"):
        answer = albumless_library.get({"q": "album:knot*", "order": order})
        assert answer.status_code == 200, order
        assert albumless_library.get(path="/api/v1/albums", parameters={"order": order}).status_code == 200


def test_albums_with_more_conditions_than_a_database_can_parse_are_refused(albumless_library):
    leaf = " | ".join(f"iso:{number}" for number in range(200))
    add_albums(
        albumless_library, leaf=leaf, twice="album:leaf -album:leaf", top="album:twice | album:leaf (album:leaf snow)"
    )
    assert albumless_library.get({"s": uid("leaf")}).status_code == 200
    assert albumless_library.get({"s": uid("twice"), "total": "true"}).status_code == 200
    for parameters, field in (({"s": uid("top")}, "s"), ({"q": "album:top"}, "q")):
        answer = albumless_library.get(parameters)
        assert answer.status_code == 400
        assert answer.json["error"] == "the query and the smart albums in it have more than 500 conditions"
        assert answer.json["details"][0]["field"] == field
    counts = {
        name: albumless_library.get(path=f"/api/v1/albums/{uid(name)}").json["PhotoCount"] for name in ("leaf", "top")
    }
    assert counts == {"leaf": 30, "top": 0}
