"""Hints for searches that find nothing."""

import pytest
from sqlalchemy import create_engine, event, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from photosvc.media.metadata import Metadata
from photosvc.models import Photo
from photosvc.models.engine import configure_engine
from photosvc.search.limits import Steps, within_steps
from photosvc.search.reading import hints
from photosvc.search.reading.hints import Hint, find_hints, header_of
from photosvc.search.reading.suggest import read_names
from photosvc.web.service import current_service
from tests.databases.search.typed_library import fill_typed_library
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import edit_photos, new_extraction, store_extractions
from tests.helpers.library import open_library
from tests.helpers.parsing import TODAY


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("hints"))
    with library.session() as session:
        _fill(session)
    yield library
    library.close()


def _fill(session):
    fill_typed_library(session, NOW)
    hidden = new_extraction(99, metadata=Metadata(title="Zugspitze"))
    store_extractions(session, [("secret/zug.jpg", hidden)], NOW)
    edit_photos(session, [session.scalars(select(Photo.id).where(Photo.path == "secret")).one()], private=True)
    session.commit()


def hint_of(library, **parameters):
    role = parameters.pop("role", "admin")
    answer = library.get(parameters, token=library.token(role=role))
    assert (answer.status_code, answer.json) == (200, [])
    return answer.headers.get("X-Search-Hint", "")


def test_an_empty_answer_says_what_would_be_found(library):
    for query, hint in (
        ("sumer", "did you mean summer?"),
        ("flowr", "did you mean flower?"),
        ("arezo", "did you mean arezzo?"),
        ("cannon", "did you mean canon?"),
        ("lake boots", "did you mean boats?; 2 photos without boots"),
        ("lake iso:>6400", "2 photos without iso:>6400"),
        ("lake -summer -dawn", "1 photo without -summer; 1 photo without -dawn; 3 photos without lake"),
        ("dawn not lake", "1 photo without not lake; 3 photos without dawn"),
        ("dawn december", "1 photo without dawn; 1 photo without december"),
        ("dawn december 2020", "1 photo without dawn; 1 photo without december 2020"),
        ("flower (stars | boxes)", "2 photos without flower; 1 photo without (stars | boxes)"),
        ("xqzzy", ""),
        ("xqzzy | wqxxy", ""),
        ("xqz wqx", ""),
        ("year:1900", ""),
    ):
        assert sorted(hint_of(library, q=query).split("; ")) == sorted(hint.split("; "))


def test_hints_keep_the_other_parameters(library):
    assert hint_of(library, q="lake iso:>6400", year="2021") == "1 photo without iso:>6400"
    assert hint_of(library, q="sumer", year="2019") == ""


def test_hints_are_repeated_with_a_page_that_is_kept(library):
    assert hint_of(library, q="flowr boat") == hint_of(library, q="flowr boat") != ""


def test_hints_are_ascii(library):
    assert hint_of(library, q='lake "\u6771\u4eac%"') == "2 photos without %22%E6%9D%B1%E4%BA%AC%25%22".replace(
        "%22", '"'
    )


def test_words_that_only_private_photos_have_are_no_hints_for_others(library):
    assert hint_of(library, q="zugspitse") == "did you mean zugspitze?"
    assert hint_of(library, q="zugspitse", role="viewer") == ""


def test_a_page_that_is_not_empty_has_no_hints(library):
    answer = library.get({"q": "lake"}, token=library.token(role="admin"))
    assert "X-Search-Hint" not in answer.headers
    answer = library.get({"q": "lake", "offset": "50"}, token=library.token(role="admin"))
    assert "X-Search-Hint" not in answer.headers


def test_only_for_words_the_names_of_the_library_are_read(tmp_path):
    library, statements = open_library(tmp_path / "instance"), []
    with library.app.app_context():
        engine = current_service().engine()
    event.listen(engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))
    for asked, reads_names in (({"year": "1900"}, False), ({"q": " "}, False), ({"q": "x"}, True)):
        statements.clear()
        assert library.find(**asked) == []
        assert any("FROM photosvc_markers" in statement for statement in statements) == reads_names, asked
    library.close()


def hints_for(library, query):
    return library.get({"q": query}, token=library.token(role="admin"), path="/api/v1/suggest").json["hints"]


def test_suggestions_have_hints_if_there_is_nothing_to_suggest(library):
    hint = {"kind": "word", "text": "lake summer", "label": "did you mean summer?", "count": 1, "more": False}
    assert hints_for(library, "lake sumner")[0] == hint
    assert hints_for(library, "lak") == []
    assert hints_for(library, "xyzzy:2 q") == []


def test_a_header_of_hints_is_short():
    found = [Hint("part", "x", "9 photos without " + "x" * 250, 9, more=False)] * 3
    assert header_of(found) == found[0].label


def test_hints_end_after_their_steps_and_the_search_goes_on(new_database, monkeypatch):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine) as session:
        _fill(session)
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            with within_steps(connection, Steps(9)):
                connection.exec_driver_sql(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT max(i) FROM n"
                )
                pytest.fail("the statement was not ended")
        else:
            monkeypatch.setattr(hints, "_MOST_STEPS", 0)
            names = read_names(connection, sees_private=True)
            assert find_hints(connection, [("q", "flowr")], names, sees_private=True, today=TODAY) == []
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    engine.dispose()


def test_other_errors_of_the_database_are_not_hidden(new_database):
    engine = create_engine(new_database())
    with engine.connect() as connection, pytest.raises(DBAPIError), within_steps(connection, Steps(9)):
        connection.exec_driver_sql("SELECT nothing")
    engine.dispose()


def hints_among(new_database, titles, *queries):
    """The hints for each query in a library of photos with these titles and an ISO of 200."""
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine) as session:
        photos = [new_extraction(number, metadata=Metadata(title=one, iso=200)) for number, one in enumerate(titles)]
        store_extractions(session, [(f"{number}/{number}.jpg", photo) for number, photo in enumerate(photos)], NOW)
        session.commit()
    with engine.connect() as connection:
        names = read_names(connection, sees_private=True)
        asked = ([("q", query)] for query in queries)
        found = [find_hints(connection, one, names, sees_private=True, today=TODAY) for one in asked]
    engine.dispose()
    return [[hint.label for hint in hints if hint.kind == "word"] for hints in found]


def test_no_much_shorter_word_is_suggested(new_database):
    for typed, known, meant in (
        ("cats", ["at", "scat", "hat", "night"], ""),
        ("cats", ["at", "cars"], "cars"),
        ("stars", ["tar", "sta", "stairs"], "stairs"),
        ("sunset", ["sun", "unset", "suns"], "unset"),
    ):
        assert hints_among(new_database, known, typed) == [[f"did you mean {meant}?"] * bool(meant)], (typed, known)


def test_both_databases_give_the_same_hints(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine) as session:
        _fill(session)
    with engine.connect() as connection:
        names = read_names(connection, sees_private=True)
        found = [
            find_hints(connection, [("q", query)], names, sees_private=True, today=TODAY)
            for query in ("flowr", "lake year:1900")
        ]
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    engine.dispose()
    assert [one.label for every in found for one in every] == ["did you mean flower?", "2 photos without year:1900"]
