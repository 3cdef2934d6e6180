"""Queries as SQL: they mean what plain Python says (both databases), never fail, and never become SQL text."""

from contextlib import suppress
from math import sqrt

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import SearchRow
from photosvc.models.engine import configure_engine
from photosvc.query.filters import FILTERS
from photosvc.search.reading.request import ORDERS
from photosvc.search.reading.window import prepare
from tests.databases.search.query_model import Matcher, shown
from tests.databases.search.query_strategies import ANY_QUERIES, LARGE_QUERIES, QUERIES, VALUES
from tests.databases.search.varied_library import KEYWORDS, PEOPLE, fill_varied_library, uid, visible_to_all
from tests.helpers.examples import examples
from tests.helpers.parsing import parse_node, parse_request

QUICK = examples(300, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def varied_library(request, new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine, expire_on_commit=False) as library, Session(engine) as session:
        photos, albums = fill_varied_library(library, seed=getattr(request, "param", 2))
        yield session, photos, albums
    engine.dispose()


def found_by(session, query, *, sees_private, order="newest"):
    session.rollback()
    search = search_for(session, [("q", query), ("order", order)], sees_private=sees_private)
    return search.request.node, set(session.scalars(search.matching(SearchRow.file_uid)))


def search_for(session, pairs, *, sees_private):
    return prepare(session.connection(), parse_request(pairs), sees_private=sees_private)


class Refused:
    """How many of the queries of a test were tried and refused: a test of refused queries tests nothing."""

    def __init__(self):
        self.tried = self.refused = 0

    def __call__(self, answer):
        """Return the result of `answer`; None for a query that is refused."""
        self.tried += 1
        try:
            return answer()
        except (InvalidValueError, NotFoundError):
            self.refused += 1
            return None

    def check(self, most):
        assert self.tried
        chance = 3 * sqrt(self.tried * most * (1 - most))  # three standard deviations
        assert self.refused <= most * self.tried + chance, f"{self.refused} of {self.tried} queries were refused"


@pytest.fixture
def refused(request):
    """Counts refused queries, and fails the test if they were more than its share."""
    counted = Refused()
    yield counted
    counted.check(request.param)


def at_most(share):
    """The share of queries that may be refused in a test."""
    return pytest.mark.parametrize("refused", [share], indirect=True, ids=[""])


def check(varied_library, refused, query, sees_private, order):
    session, photos, albums = varied_library
    answer = refused(lambda: found_by(session, query, sees_private=sees_private, order=order))
    assume(answer)
    node, found = answer
    matcher = Matcher(photos, albums, sees_private=sees_private)
    expected = {
        file.uid
        for photo in photos
        for file in photo.files
        if shown(file, node, sees_private=sees_private) and matcher.matches(node, file)
    }
    assert found == expected, query


MEANING = at_most(0.2)
ANY_RIGHTS = given(QUERIES, st.booleans(), st.sampled_from(sorted(ORDERS)))


@MEANING
@QUICK
@ANY_RIGHTS
@example("-(private:false)", False, "newest")
@example("archived:true | hidden:true | error:true", True, "added")
@example("lake -lake", True, "added")
@example("lake | uid:p000000000000003", True, "newest")
@example("lake | uid:p000000000000003|f000000000000004", True, "newest")
@example("f/1.8 | title:lake", True, "added")
@example("-(f/1.8 | raw | description:sunset) videos", False, "newest")
@example("title:lake | (iso:100 (f/1.8 | raw))", True, "newest")
@example("(videos | lake | 2019..2020) -blue", True, "relevance")
@example("near:p000000000000002 dist:15000", True, "name")
@example(f"album:{uid('a', 0)}", False, "newest")
@example(f"album:{uid('a', 0)} archived:true", True, "oldest")
@example(f"album:{uid('a', 0)} lake type:image", True, "added")
def test_a_query_means_what_plain_python_says(varied_library, refused, query, sees_private, order):
    check(varied_library, refused, query, sees_private, order)


#: Filters that find nothing by themselves, or whose media the varied library has not.
WITHOUT_MATCHES = {"lat", "lng", "dist", "vector", "document", "audio", "face", "category"}


def test_the_values_of_random_queries_find_some_files_and_leave_some_out(varied_library):
    session, *_ = varied_library
    everything = len(found_by(session, "", sees_private=True)[1])

    def chooses(name, value):
        with suppress(InvalidValueError, NotFoundError):
            return 0 < len(found_by(session, f"{name}:{value}", sees_private=True)[1]) < everything
        return False

    tried = FILTERS.keys() - WITHOUT_MATCHES
    assert [name for name in tried if not any(chooses(name, value) for value in VALUES[FILTERS[name].kind])] == []


def check_nothing_private(varied_library, refused, query, order):
    session, photos, _ = varied_library
    answer = refused(lambda: found_by(session, query, sees_private=False, order=order))
    assert answer is None or answer[1] <= visible_to_all(photos)


RESTRICTED = given(QUERIES, st.sampled_from(sorted(ORDERS)))


@MEANING
@QUICK
@RESTRICTED
def test_who_may_not_see_private_photos_never_does(varied_library, refused, query, order):
    check_nothing_private(varied_library, refused, query, order)


PAYLOADS = (
    "'", '"', "' OR 1=1 --", "1; DROP TABLE photosvc_photos", "') OR ('1'='1", "%", "_", "\\", "*", "x' UNION SELECT 1",
    "${7*7}", "{{7*7}}", ":1", "?", "/*", "*/", "NULL", "0x31", "\u0000", "ä'ö", "NEAR(a b)", "words:x", "^a", "a*b",
)  # fmt: skip


def test_a_value_never_becomes_sql(varied_library):
    session, *_ = varied_library
    for name in ("title", "name", "state", "codec", "description", "filename", "keywords", "id", "q"):
        shapes = {statement(session, [(name, text)]) for text in ('"plain"', '"plain words"', '""')}
        for payload in PAYLOADS:
            quoted = '"' + payload.replace("\\", "\\\\").replace('"', '\\"').replace("*", "\\*") + '"'
            try:
                assert statement(session, [(name, quoted)]) in shapes, (name, payload)
            except InvalidValueError:
                assert payload == "\u0000", name


def statement(session, pairs):
    search = search_for(session, [*pairs, ("order", "added")], sees_private=False)
    return str(search.matching(SearchRow.file_id).compile(session.get_bind()))


def check_compiled_or_refused(varied_library, refused, query, sees_private, order):
    session, *_ = varied_library
    session.rollback()
    search = refused(lambda: search_for(session, [("q", query), ("order", order)], sees_private=sees_private))
    if search is not None:
        search.matching(SearchRow.file_uid).compile(session.get_bind())


SEARCHED = (st.booleans(), st.sampled_from(sorted(ORDERS)))


@at_most(0.5)
@QUICK
@given(ANY_QUERIES, *SEARCHED)
def test_any_text_is_compiled_or_refused(varied_library, refused, query, sees_private, order):
    check_compiled_or_refused(varied_library, refused, query, sees_private, order)


@at_most(0.8)
@settings(QUICK, max_examples=50)
@given(LARGE_QUERIES, *SEARCHED)
def test_the_largest_queries_are_answered_or_refused(varied_library, refused, query, sees_private, order):
    session, *_ = varied_library
    refused(lambda: found_by(session, query, sees_private=sees_private, order=order))


def test_names_match_without_case_and_accents(varied_library):
    session, photos, _ = varied_library
    for query, name in (("person:zoe", PEOPLE[2]), ("people:OHARA|hara", PEOPLE[1])):
        _, found = found_by(session, f"{query} hidden:false", sees_private=True)
        expected = {
            file.uid
            for photo in photos
            for file in photo.files
            if shown(file, parse_node([]), sees_private=True)
            and name in {marker.name for other in photo.files for marker in other.markers}
        }
        assert found == expected != set()


def test_a_keyword_is_found_by_its_words(varied_library):
    session, *_ = varied_library
    assert KEYWORDS[1] == "sun-set"
    found = {query: found_by(session, query, sees_private=True)[1] for query in ("keyword:set", 'keyword:"sun set"')}
    assert len({frozenset(files) for files in found.values()}) == 1
