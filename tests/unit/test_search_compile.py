"""Queries as SQL: they mean what plain Python says (both databases), never fail, and never become SQL text."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from matcher import Matcher, shown
from motley import KEYWORDS, PEOPLE, fill_motley, uid
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import SearchRow, migrate
from photosvc.models.database import configure_engine
from photosvc.query.filters import FILTERS
from photosvc.query.kinds import Kind
from photosvc.search.columns import column_named
from photosvc.search.context import Context
from photosvc.search.orders import ORDERS
from photosvc.search.request import parse_node, parse_request
from photosvc.search.window import prepare

VALUES = {
    Kind.TEXT: ("lake*", "*lake*", "*%*", "img_*", '"Lake at dawn"', "image|raw", "!video", "*a*e*", "jpeg", "xmp*"),
    Kind.PATH: ("2020/*", "/", '"2020/Lake"', "*/lake*", "!2020*", "misc/bar", "*.jpg"),
    Kind.NAME: (
        '"Jane Doe"',
        "zoe",
        "jane-doe",
        "ja*",
        "*o*",
        "Summer-2020",
        "!jane",
        uid("a", 0),
        uid("a", 2),
        uid("j", 1),
    ),
    Kind.WORDS: (
        "jane",
        "lake",
        "sun",
        '"new york"',
        "ja&oh",
        "!beach",
        "bar|lake",
        "x",
        "o'hara",
        "secret|sum",
        "wilma",
    ),
    Kind.ID_OR_WORDS: ("canon", "eos", "1", "2|3", "!nikon", '"50mm f1"', "elm", "d-750", "unknown", "leica"),
    Kind.UID: (uid("p", 3), uid("f", 70), f"{20:040x}", f"!{uid('p', 4)}", f"{uid('p', 1)}|{uid('f', 50)}"),
    Kind.COUNTRY: ("de", "fj|zz", "!zz"),
    Kind.COLOR: ("black", "red|blue", "!grey", "gray"),
    Kind.INTEGER: ("3", "100-400", "-400", "12-", "!24", "0"),
    Kind.SIGNED: ("-10", "0-600", "*-0", "519"),
    Kind.CALENDAR: ("2020", "-1", "1-6", "31", "2019|2020", "!2020"),
    Kind.AT_LEAST: ("3", "1-3", "4"),
    Kind.CHROMA: ("5", "10", "0-40"),
    Kind.DECIMAL: ("1.8", "1.8-2.8", "-2"),
    Kind.FLAG: ("true", "false"),
    Kind.SWITCH: ("true", "false"),
    Kind.TAKEN: ("2020", "2020-01", "2020-01-03", "2019-2020", "!2020-01-02"),
    Kind.BEFORE: ("2020-01-04", "2019", "2020-01"),
    Kind.AFTER: ("2020-01-04", "2020", "2021"),
    Kind.SINCE: ("2020-01-10", "2020-01-20T10:00:00Z", "1960"),
    Kind.LATITUDE: ("0", "48.1", "-17.8", "90"),
    Kind.LONGITUDE: ("0", "11.5", "180", "-180"),
    Kind.DISTANCE: ("1", "3", "500", "15000", "20038"),
    Kind.NEAR: (uid("p", 2), uid("p", 9), f"!{uid('p', 5)}"),
    Kind.BOX: ("49,12,47,11", "-17,-179,-18,179", "0,0@5", "90,180,-90,-180", "89,10@300"),
    Kind.CELL: ("479", "479e", "6e1", "479e@50"),
    Kind.PLUS_CODE: ("8FWH4GX2+", "8FWH0000+@100"),
}
TERMS = ("lake", "LAKE", "snow", "la", "x", '"lake at"', '"the old lak*"', "strasse", "ELAN", "東京", "50", "nikon",
         "bav", "mun", "dawn*", "sun-set", "sunset", "orig", "note", "jane", '"jane doe"', "%", "_")  # fmt: skip

FILTER_TEXTS = st.sampled_from(sorted(FILTERS)).flatmap(
    lambda name: st.sampled_from(VALUES[FILTERS[name].kind]).map(lambda value: f"{name}:{value}")
)
PLACES = st.sampled_from(
    ("lat:0 lng:0 dist:5", "lat:-17.8 lng:180 dist:3", "lat:90 lng:0 dist:200", "lat:48.1 lng:11.5")
)
ATOMS = st.one_of(
    st.sampled_from(TERMS), FILTER_TEXTS.filter(lambda text: not text.startswith(("lat:", "lng:"))), PLACES
)
QUERIES = st.recursive(
    ATOMS,
    lambda parts: st.one_of(
        st.lists(parts, min_size=2, max_size=3).map(" ".join),
        st.lists(parts, min_size=2, max_size=3).map(lambda found: "(" + " | ".join(found) + ")"),
        parts.map(lambda part: f"-({part})"),
    ),
    max_leaves=5,
)
QUICK = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
SLOW = settings(QUICK, max_examples=2000)


@pytest.fixture(scope="module")
def shelf(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    migrate.upgrade(engine)
    with Session(engine, expire_on_commit=False) as library, Session(engine) as session:
        photos, albums = fill_motley(library)
        yield session, photos, albums
    engine.dispose()


def found_by(session, query, *, sees_private, order="newest"):
    session.rollback()
    search = search_for(session, [("q", query), ("order", order)], sees_private=sees_private)
    return search.node, set(session.scalars(search.matching(SearchRow.file_uid)))


def search_for(session, pairs, *, sees_private):
    return prepare(Context(session.connection(), sees_private), parse_request(pairs))


def check(shelf, query, sees_private, order):
    session, photos, albums = shelf
    try:
        node, found = found_by(session, query, sees_private=sees_private, order=order)
    except (InvalidValueError, NotFoundError):
        assume(False)
    matcher = Matcher(photos, albums, sees_private=sees_private)
    expected = {
        file.uid
        for photo in photos
        for file in photo.files
        if shown(file, node, sees_private=sees_private) and matcher.matches(node, file)
    }
    assert found == expected, query


ANYBODY = given(QUERIES, st.booleans(), st.sampled_from(sorted(ORDERS)))


@QUICK
@ANYBODY
@example("-(private:false)", False, "newest")
@example("archived:true | hidden:true | error:true", True, "added")
@example("lake -lake", True, "added")
@example("near:p000000000000002 dist:15000", True, "name")
@example(f"album:{uid('a', 0)}", False, "newest")
@example(f"album:{uid('a', 0)} archived:true", True, "oldest")
@example(f"album:{uid('a', 0)} lake type:image", True, "added")
def test_a_query_means_what_plain_python_says(shelf, query, sees_private, order):
    check(shelf, query, sees_private, order)


@pytest.mark.slow
@SLOW
@ANYBODY
def test_two_thousand_queries_mean_what_plain_python_says(shelf, query, sees_private, order):
    check(shelf, query, sees_private, order)


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter_finds_something_and_leaves_something_out(shelf, name):
    session, *_ = shelf
    if name in {"lat", "lng", "dist", "vector", "document", "audio"}:
        pytest.skip("finds nothing by itself, or the library has none")
    everything = found_by(session, "", sees_private=True)[1]
    sizes = set()
    for value in VALUES[FILTERS[name].kind]:
        with suppress(InvalidValueError, NotFoundError):
            sizes.add(len(found_by(session, f"{name}:{value}", sees_private=True)[1]))
    assert len(sizes) > 1 or 0 < sizes.pop() < len(everything)


@pytest.mark.parametrize(
    "spec", [spec for spec in FILTERS.values() if spec.kind in {Kind.TEXT, Kind.PATH, Kind.INTEGER}]
)
def test_filters_compare_columns_that_exist(spec):
    for name in spec.columns:
        if name != "description":  # which is kept with the words
            assert column_named(name) is not None


@QUICK
@given(QUERIES)
def test_who_may_not_see_private_photos_never_does(shelf, query):
    session, photos, _ = shelf
    try:
        _, found = found_by(session, query, sees_private=False)
    except (InvalidValueError, NotFoundError):
        return
    visible = {
        file.uid
        for photo in photos
        for file in photo.files
        if not (photo.private or photo.archived_at or photo.quality < 0 or file.error or file.missing or file.sidecar)
    }
    assert found <= visible


PAYLOADS = (
    "'", '"', "' OR 1=1 --", "1; DROP TABLE photosvc_photos", "') OR ('1'='1", "%", "_", "\\", "*", "x' UNION SELECT 1",
    "${7*7}", "{{7*7}}", ":1", "?", "/*", "*/", "NULL", "0x31", "\u0000", "ä'ö", "NEAR(a b)", "words:x", "^a", "a*b",
)  # fmt: skip


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("name", ["title", "name", "state", "codec", "description", "filename", "keywords", "id", None])
def test_a_value_never_becomes_sql(shelf, name, payload):
    session, *_ = shelf
    quoted = '"' + payload.replace("\\", "\\\\").replace('"', '\\"').replace("*", "\\*") + '"'
    plain = '"plain"' if name else '"plain words"'
    try:
        hostile = statement(session, [(name, quoted)] if name else [("q", quoted)])
    except InvalidValueError:
        return
    shapes = {statement(session, [(name or "q", text)]) for text in (plain, '"plain"', '"plain words"', '""')}
    assert hostile in shapes


def statement(session, pairs):
    search = search_for(session, [*pairs, ("order", "added")], sees_private=False)
    return str(search.matching(SearchRow.file_id).compile(session.get_bind()))


@settings(QUICK, max_examples=2000)
@given(st.one_of(QUERIES, st.text(max_size=60), st.text('ab1-!|&()":* \\near:titl,.@', max_size=60)))
def test_any_text_is_compiled_or_refused(shelf, query):
    session, *_ = shelf
    with suppress(InvalidValueError, NotFoundError):
        _ = search_for(session, [("q", query), ("order", "newest")], sees_private=True).plan


def test_names_match_without_case_and_accents(shelf):
    session, photos, _ = shelf
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


def test_a_keyword_is_found_by_its_words(shelf):
    session, *_ = shelf
    assert KEYWORDS[1] == "sun-set"
    found = {query: found_by(session, query, sees_private=True)[1] for query in ("keyword:set", 'keyword:"sun set"')}
    assert len({frozenset(files) for files in found.values()}) == 1
