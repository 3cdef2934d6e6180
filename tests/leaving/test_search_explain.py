"""What a search explains about itself, on both databases."""

import pytest
from sqlalchemy import create_engine, func, select
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.models import SearchRow, SearchText
from photosvc.models.engine import configure_engine
from photosvc.search.reading.explain import explain
from photosvc.search.reading.pages import find
from tests.helpers.factories.varied_library import fill_varied_library, uid
from tests.helpers.queries.parsing import parse_request


@pytest.fixture(scope="module")
def connection(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine) as session:
        fill_varied_library(session)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def test_the_words_that_an_order_ranks_by_are_explained(connection):
    assert explained(connection, 'cat "old lake" -snow', order="relevance").ranked == [
        "cat or cats before longer words",
        "old lake",
    ]
    assert explained(connection, "cat").ranked == []


def explained(connection, query="", **parameters):
    return explain(connection, parse_request({"q": query, **parameters}), sees_private=True)


def test_words_that_mean_a_filter_are_explained(connection):
    query = "order:oldest lake january 2020 -videos"
    explanation = explain(connection, parse_request({"q": query}), query, sees_private=True)
    assert explanation.understood == ["january 2020 = taken:2020-01", "videos = video:true"]
    assert explained(connection, "lake").understood == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"q": ""},
        {"q": "", "order": "random", "seed": "7"},
        {"q": "", "merged": "true", "order": "size", "offset": "3", "count": "5"},
        {"q": "lake sun-set", "order": "relevance"},
        {"q": "title:*%* -person:j*", "order": "newest", "offset": "2", "count": "3"},
        {"q": "near:p000000000000002 dist:500", "order": "name"},
        {"q": "albums:winter | camera:canon", "s": uid("a", 0), "order": "oldest"},
    ],
)
def test_the_sql_it_shows_finds_the_files_of_the_page(connection, parameters):
    request = parse_request({**parameters, "merged": "false"})
    shown = explain(connection, request, sees_private=True).sql
    rows = connection.exec_driver_sql(shown, execution_options={"no_parameters": True}).all()
    page = find(connection, request, sees_private=True)
    assert len(rows) == page.count
    if rows:
        assert f'-{rows[0][0]}"' in page.body.partition(",")[0]


def test_the_sql_of_a_page_behind_a_cursor_has_the_cursors_values(connection):
    first = find(connection, parse_request({"order": "name", "count": "4"}), sees_private=True)
    request = parse_request({"order": "name", "count": "4", "cursor": str(first.next)})
    shown = explain(connection, request, sees_private=True).sql
    rows = connection.exec_driver_sql(shown, execution_options={"no_parameters": True}).all()
    assert rows[0][0] == select_file(connection, 4)


def select_file(connection, offset):
    query = select(SearchRow.file_id).where(SearchRow.listed)
    return connection.scalar(query.order_by(SearchRow.path, SearchRow.name, SearchRow.oldest_key).offset(offset))


def test_names_are_resolved_to_ids_and_points(connection):
    explanation = explained(connection, f"camera:nikon near:{uid('p', 2)} album:{uid('a', 0)} person:j*hn*")
    assert explanation.parsed == [
        "And",
        "  Filter camera: Choice(any_of=(Word(text='nikon', prefix=True)))",
        "  Filter near: Choice(any_of=(Near(uid='p000000000000002', km=2.0)))",
        "  Filter album: Choice(any_of=(Uid(text='a000000000000000', column='albums')))",
        "  Filter subject: Choice(any_of=(Pattern(pieces=('j', 'hn', ''))))",
    ]
    lat, lng = connection.execute(
        select(SearchRow.lat, SearchRow.lng).where(SearchRow.photo_uid == uid("p", 2))
    ).first()
    assert explanation.resolved == [
        "And",
        "  Filter camera: Choice(any_of=(3))",
        f"  Filter near: Choice(any_of=(Circle(lat={lat}, lng={lng}, km=2.0)))",
        "  Filter album: Choice(any_of=(1))",
        '  Filter subject: Choice(any_of=(MarkerNames(names=("John O\'Hara"))))',
    ]


def test_a_smart_album_is_resolved_to_the_query_of_its_filter(connection):
    assert explained(connection, 'album:"winter"').resolved == [
        "And",
        "  Or",
        "    Word(text='snow', prefix=True)",
        "    And",
        "      Filter favorite: True",
        "      Filter archived: True",
        "  Not",
        "    Filter album: Choice(any_of=(TakenOut(album_id=5)))",
    ]


def test_a_smart_album_inside_its_own_filter_contains_nothing(connection):
    assert explained(connection, "album:loop").resolved == [
        "And",
        "  Or",
        "    And",
        "      Not",
        "        Nothing()",
        "      Filter type: Choice(any_of=(Pattern(pieces=('image'))))",
        "    Nothing()",
        "  Not",
        "    Filter album: Choice(any_of=(TakenOut(album_id=9)))",
    ]


def test_an_unknown_name_is_nothing(connection):
    assert explained(connection, "camera:zzz").resolved == ["Nothing()"]
    assert explained(connection, "-camera:zzz").resolved == ["Not", "  Nothing()"]


def test_an_unknown_album_or_photo_is_not_found(connection):
    for parameters in ({"s": uid("a", 99)}, {"s": "no uid"}, {"near": uid("p", 99)}):
        with pytest.raises(NotFoundError):
            explained(connection, **parameters)


@pytest.mark.parametrize(
    ("query", "parameters", "plan"),
    [
        ("", {"order": "newest"}, "walk the order until the page is full"),
        ("lake", {"count": "100000"}, "sort the photos that one condition finds"),
        ("lake", {"count": "1", "order": "relevance"}, "sort the photos that one condition finds"),
        ("lake", {"count": "1", "order": "name"}, "walk the order until the page is full"),
        (f"album:{uid('a', 0)}", {"order": "newest"}, "walk the order within one album"),
        ("year:2020", {"count": "1", "order": "newest"}, "walk the order within one value"),
        ("year:2020", {"count": "1", "order": "name"}, "walk the order until the page is full"),
    ],
)
def test_the_plan_follows_the_decision_table(connection, query, parameters, plan):
    if connection.dialect.name == "postgresql" and "album" not in plan:
        plan = "PostgreSQL plans by its own statistics"
    assert explained(connection, query, **parameters).plan == plan


@pytest.mark.parametrize(
    ("query", "between"), [("year:2020", {"sqlite"}), ("year:2019-2020", {"sqlite", "postgresql"})]
)
def test_years_are_looked_for_between_two_times_unless_an_index_of_postgresql_finds_the_one(connection, query, between):
    sql = explained(connection, query, order="oldest", count="1").sql
    assert ("taken_at >=" in sql and "taken_at <=" in sql) == (connection.dialect.name in between)


def test_what_was_counted_is_shown_with_its_limit(connection):
    if connection.dialect.name == "postgresql":
        (words,) = explained(connection, "lak title:lake*").counts
        assert words.conditions == "Word(text='lak', prefix=True)"
        assert words.found > 0
        return
    highest = connection.scalar(select(func.max(SearchRow.photo_id)).where(SearchRow.listed))
    whole, prefix, color = explained(connection, "lak color:red|blue", count="1000").counts
    assert {count.limit for count in (whole, prefix, color)} == {int((1000 * (highest + 1)) ** 0.5) // 2}
    assert (whole.conditions, whole.found) == ("Word(text='lak', prefix=False)", 0)
    assert prefix.conditions == "Word(text='lak', prefix=True)"
    with_prefix = select(func.count()).select_from(SearchText).where(SearchText.words.contains(" lak"))
    assert prefix.found == connection.scalar(with_prefix) > 0
    assert color.conditions == "Filter color: Choice(any_of=(14, 6))"


def test_the_steps_are_those_of_the_database(connection):
    steps = explained(connection, order="newest").steps
    if connection.dialect.name == "sqlite":
        assert steps == ["SCAN photosvc_search_rows USING COVERING INDEX ix_photosvc_search_rows_taken"]
    else:
        assert steps[0].startswith("Limit  (cost=")


def test_a_part_of_a_title_is_looked_for_in_the_index_of_titles(connection):
    (count,) = explained(connection, "title:*ake*").counts
    assert count.conditions.startswith("Filter title: ")
    assert 0 < count.found <= count.limit


def only_postgresql(connection):
    if connection.dialect.name != "postgresql":
        pytest.skip("a rule of PostgreSQL alone")


def test_postgresql_looks_up_the_beginning_of_a_title_itself(connection):
    only_postgresql(connection)
    assert explained(connection, "title:lake*").counts == []
    assert explained(connection, "-title:*ake*").counts == []
    assert len(explained(connection, "title:x*|*ake*").counts) == 1


def test_the_index_of_postgresql_has_all_that_random_order_reads(connection):
    only_postgresql(connection)
    index = "SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_photosvc_search_rows_added'"
    columns = (
        "(newest_key, private, listed, shuffle, photo_id, color, photo_type, camera_id, country, year, month, "
        "portrait, is_first) INCLUDE (file_id) WHERE listed"
    )
    assert connection.exec_driver_sql(index).scalar().endswith(columns)


def test_a_page_of_one_year_is_read_from_an_index_of_postgresql_alone(connection):
    """Otherwise its planner walks the index of the order, which has the years too, past all later ones."""
    only_postgresql(connection)
    index = "SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_photosvc_search_rows_year_taken'"
    columns = "(year, taken_at, newest_key) INCLUDE (file_id, private) WHERE listed"
    assert connection.exec_driver_sql(index).scalar().endswith(columns)
