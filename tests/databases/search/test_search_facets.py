"""Facets: parsing `by`, and counts that agree with what the same query finds."""

from collections import Counter

import pytest
from sqlalchemy import case, create_engine, event, not_, or_, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError
from photosvc.core.vocabulary import COLORS
from photosvc.models import SearchRow
from photosvc.models.counters import record_change
from photosvc.search.reading.facets import FACETS, KnownFacets, count_values, parse_facets
from photosvc.search.reading.pages import find
from photosvc.search.reading.people import read_labels
from photosvc.search.reading.statistics import read_counts, read_years
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.parsing import parse_request, photo_query

import orjson  # isort: skip


@pytest.fixture(scope="module")
def session(new_database):
    engine = create_engine(new_database())
    with Session(engine) as session:
        fill_varied_library(session, photos=80)
        yield session
    engine.dispose()


def counts(session, query, facet, *, sees_private=True):
    values = count_values(session.connection(), photo_query(query, sees_private=sees_private), [facet])[facet]
    assert [value.count for value in values] == sorted((value.count for value in values), reverse=True)
    return {value.value: value.count for value in values}


def records(session, query, *, sees_private=True):
    return orjson.loads(
        find(session.connection(), parse_request({"q": query, "count": "1000"}), sees_private=sees_private).body
    )


READ = {
    "year": lambda record: record["Year"],
    "month": lambda record: record["Month"],
    "country": lambda record: record["Country"],
    "city": lambda record: record["PlaceCity"],
    "camera": lambda record: record["CameraID"],
    "lens": lambda record: record["LensID"],
    "type": lambda record: record["Type"],
    "rating": lambda record: record.get("Rating", 0),
    "color": lambda record: COLORS[record["Color"]],
}


def test_a_facet_counts_what_the_query_finds(session):
    for sees_private in (True, False):
        for query in ("", "lake", "-snow", "camera:canon | favorite:true", "primary:true"):
            found = records(session, query, sees_private=sees_private)
            assert found, query
            for facet, read in READ.items():
                counted = counts(session, query, facet, sees_private=sees_private)
                assert counted == Counter(map(read, found)), (facet, query)


def test_many_facets_at_once_are_counted_as_each_alone(session):
    for query in ("", "lake", "album:a000000000000001"):
        together = count_values(session.connection(), photo_query(query), FACETS)
        assert {facet: {value.value: value.count for value in values} for facet, values in together.items()} == {
            facet: counts(session, query, facet) for facet in FACETS
        }, query
        for facet, values in together.items():
            ordered = [value.count for value in values]
            assert ordered == sorted(ordered, reverse=True), (facet, query)


def test_many_facets_read_the_rows_once(session):
    if session.get_bind().dialect.name != "sqlite":
        pytest.skip("PostgreSQL groups each facet by hashing")
    connection, statements = session.connection(), []
    event.listen(connection, "before_cursor_execute", lambda *given: statements.append(given[2]))
    count_values(connection, photo_query(sees_private=False), ["year", "month", "type", "color"])
    assert len(statements) == 1


def test_an_album_counts_the_files_in_it(session):
    counted = counts(session, "", "album")
    assert counted
    for uid, count in counted.items():
        assert len(records(session, f"album:{uid}")) == count


def test_a_person_counts_what_the_filter_finds(session):
    for sees_private in (True, False):
        for query in ("", "lake", "primary:true", "lake | person:jane"):
            counted = counts(session, query, "person", sees_private=sees_private)
            assert counted, query
            for name, count in counted.items():
                asked = f'({query or "name:*"}) person:"{name}"'
                assert len(records(session, asked, sees_private=sees_private)) == count, asked


def test_an_album_counts_the_primary_files_in_it(session):
    for sees_private in (True, False):
        counted = counts(session, "primary:true", "album", sees_private=sees_private)
        assert counted, sees_private
        for uid, count in counted.items():
            assert len(records(session, f"album:{uid} primary:true", sees_private=sees_private)) == count


def test_the_facets_of_the_whole_library_are_counted_again_after_a_change_alone(session):
    connection, facets, statements = session.connection(), KnownFacets(), []
    record_change(session)
    event.listen(connection, "before_cursor_execute", lambda *given: statements.append(given[2]))

    def types(query, *, sees_private=False):
        (values,) = facets.count(connection, photo_query(query, sees_private=sees_private), ["type"]).values()
        return {value.value: value.count for value in values}

    asked = [(query, sees_private) for query in ("", "primary:true") for sees_private in (True, False)]
    first = [types(query, sees_private=sees_private) for query, sees_private in asked]
    assert first == [counts(session, query, "type", sees_private=sees_private) for query, sees_private in asked]
    assert len({str(found) for found in first}) == len(asked)
    statements.clear()
    assert [types(query, sees_private=sees_private) for query, sees_private in asked] == first
    assert statements == []  # the state is read past the events of SQLAlchemy
    session.execute(update(SearchRow).values(photo_type="animated"))
    assert types("") == first[1]
    record_change(session)
    assert types("") == {"animated": sum(first[1].values())}
    assert types("type:image") == {}
    session.rollback()


def test_private_and_deleted_albums_are_not_named_to_those_who_may_not_see_them(session):
    assert set(counts(session, "", "album")) == {"a000000000000000", "a000000000000001", "a000000000000002"}
    assert set(counts(session, "", "album", sees_private=False)) == {"a000000000000000", "a000000000000001"}


def test_every_facet_is_a_filter_that_takes_its_values(session):
    for facet in set(FACETS) - {"city", "person"}:
        counted = counts(session, "", facet)
        assert counted, facet
        for value, count in counted.items():
            assert len(records(session, f"{facet}:{value}")) == count, facet


def test_labels_are_what_people_say(session):
    counted = count_values(session.connection(), photo_query(), ["camera", "city"])
    assert {value.label for value in counted["camera"]} == {"Canon EOS 5D", "NIKON D-750", "Unknown"}
    assert {value.label for value in counted["city"]} == {"München", "Suva", "Unknown"}


def test_by_is_a_list_in_any_case_and_each_once():
    assert parse_facets(" Year,camera,,YEAR ") == ["year", "camera"]


def test_a_facet_that_is_unknown_is_refused():
    for text in ("", ",", "years", "year,'", "year;country"):
        with pytest.raises(InvalidValueError) as error:
            parse_facets(text)
            pytest.fail(f"{text!r} is not refused")
        assert error.value.field == "by", text


def test_the_years_of_a_library_are_those_of_what_is_found(session):
    for sees_private in (True, False):
        session.execute(update(SearchRow).values(year=SearchRow.photo_id % 9 * 200 - 1))
        shown = select(SearchRow.year).where(SearchRow.listed, or_(not_(SearchRow.private), sees_private))
        found = set(session.scalars(shown))
        assert read_years(session.connection(), sees_private=sees_private) == tuple(sorted(found - {-1}, reverse=True))
        session.rollback()
        assert len(found) > 3, sees_private


def test_the_numbers_of_a_library_are_those_of_what_is_found(session):
    for sees_private in (True, False):
        count = read_counts(session.connection(), sees_private=sees_private)
        found = records(session, "", sees_private=sees_private)

        def values(*names, unknown=("zz", ""), found=found):
            return len({row for row in (tuple(map(record.get, names)) for record in found) if not {*row} & {*unknown}})

        assert (count.cameras, count.countries) == (values("CameraID", unknown=[1]), values("Country"))
        assert (count.folders, count.months) == (values("Path"), values("Year", "Month", unknown=[-1]))
        assert (count.states, count.places) == (
            values("Country", "PlaceState"), values("Country", "PlaceState", "PlaceCity", unknown=["zz"]),
        )  # fmt: skip
        assert count.labels == len(read_labels(session.connection(), sees_private=sees_private)) > 1
        for name in ("hidden", "archived"):
            opened = records(session, f"{name}:true", sees_private=sees_private)
            assert getattr(count, name) == (len({record["UID"] for record in opened}) if sees_private else 0), name
        assert min(count.cameras, count.countries, count.folders, count.states, count.places, count.months + 1) > 1
        day = 20200100 + SearchRow.photo_id % 5 * 100 + SearchRow.photo_id % 9
        session.execute(update(SearchRow).values(timeline_day=case((SearchRow.photo_id > 9, day), else_=0)))
        # Five months, the days of which differ.
        assert read_counts(session.connection(), sees_private=sees_private).months == 5
        session.rollback()
