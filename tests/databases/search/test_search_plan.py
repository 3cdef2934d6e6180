"""The plans of SQLite for pages, on which the speed of a large library depends."""

from functools import partial

import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from photosvc.models import SORT_KEYS, Album, AlbumPhoto, Photo
from photosvc.models.engine import configure_engine
from photosvc.search.reading.clusters import find_towns
from photosvc.search.reading.files import file_with_hash, files_of_photo
from photosvc.search.reading.pages import KnownSearches, find
from photosvc.search.reading.selection import Selection, selected_ids
from photosvc.search.reading.timeline import read_slice
from photosvc.search.rows.write import project
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import migrated_database
from tests.helpers.parsing import TODAY, parse_request, photo_query

ALBUM = "a" + "1" * 15
SELECTION = Selection(photos=("p" + "1" * 15,), files=("f" + "1" * 15, "a" * 40))


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    path = tmp_path_factory.mktemp("plans") / "photosvc.db"
    path.write_bytes(migrated_database())
    engine = create_engine(f"sqlite:///{path}")
    configure_engine(engine)
    with Session(engine) as session:
        add_photos(session, 40, NOW)
        session.add(Album(id=1, uid=ALBUM, title="Half", created_at=NOW, updated_at=NOW))
        session.flush()
        ids = list(session.scalars(select(Photo.id)))
        session.add_all(AlbumPhoto(album_id=1, photo_id=one, created_at=NOW) for one in ids[::2])
        project(session, ids)
        session.commit()
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def statements(connection, **parameters):
    """Return the statements that a page asks of the database."""
    return asked_by(connection, lambda: find(connection, parse_request(parameters), sees_private=False))


def asked_by(connection, call):
    """Return the statements that a call asks of the database."""
    seen = []
    raw = connection.connection.driver_connection
    raw.set_trace_callback(seen.append)
    try:
        call()
    finally:
        raw.set_trace_callback(None)
    return [text for text in seen if text.startswith("SELECT")]


def plan(connection, statement):
    return [row[3] for row in connection.connection.driver_connection.execute("EXPLAIN QUERY PLAN " + statement)]


def window(connection, **parameters):
    """The plan of the statement that finds the rows."""
    (found,) = [text for text in statements(connection, **parameters) if "ORDER BY" in text]
    return plan(connection, found)


def test_every_order_is_walked_along_its_index(connection):
    for order in (
        "added",
        "newest",
        "oldest",
        "updated",
        "edited",
        "duration",
        "size",
        "similar",
        "name",
        "title",
        "place",
    ):
        for offset in ("0", "20"):
            steps = window(connection, order=order, offset=offset)
            assert not [step for step in steps if "TEMP B-TREE" in step], order
            assert "USING" in steps[0], order
            assert "INDEX ix_photosvc_search_rows_" in steps[0], order


def test_positions_of_photos_are_counted_in_the_index_of_their_order(connection):
    for order in sorted(SORT_KEYS.keys() - {"photo_size"}):
        for sees_private in (False, True):
            request = parse_request({"order": order, "merged": "true", "count": "5"})
            asked = asked_by(connection, partial(read_slice, connection, request, 20, sees_private=sees_private))
            (found,) = [text for text in asked if "ORDER BY" in text]
            index = {"size": "photo_size"}.get(order, SORT_KEYS[order].index)
            (step,) = plan(connection, found)
            assert step.endswith(f" INDEX ix_photosvc_search_rows_{index}"), order
            assert columns_of_rows(connection, found) == [], order


def columns_of_rows(connection, statement):
    """Return what a statement reads from the rows themselves, by its program: none if from indexes alone."""
    raw = connection.connection.driver_connection
    (root,) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = 'photosvc_search_rows'").fetchone()
    program = [(opcode, p1, p2) for _, opcode, p1, p2, *_ in raw.execute("EXPLAIN " + statement)]
    rows = {p1 for opcode, p1, p2 in program if opcode == "OpenRead" and p2 == root}
    return [p2 for opcode, p1, p2 in program if opcode == "Column" and p1 in rows]


def test_towns_are_counted_in_the_index_of_the_order_by_place(connection):
    for query in ("", "-n0"):
        steps = towns(connection, query)
        assert "SCAN photosvc_search_rows USING COVERING INDEX ix_photosvc_search_rows_place" in steps, query


def towns(connection, query):
    """The plan of the statement that counts the photos of towns."""
    asked = photo_query(query)
    (found,) = [text for text in asked_by(connection, lambda: find_towns(connection, asked)) if "GROUP BY" in text]
    return plan(connection, found)


def test_rows_are_read_as_they_are_stored_for_towns_of_other_queries(connection):
    for query in ("-iso:100", "-color:blue", "archived:true"):
        assert "SCAN photosvc_search_rows" in towns(connection, query)


def test_an_album_is_walked_along_its_own_index(connection):
    for order in ("added", "newest", "oldest"):
        for also in ({}, {"q": "favorite:false"}):
            steps = window(connection, order=order, s=ALBUM, **also)
            assert "SEARCH photosvc_search_albums USING COVERING INDEX" in steps[0], order
            assert "SEARCH photosvc_search_rows USING INTEGER PRIMARY KEY (rowid=?)" in steps[1], order
            assert not [step for step in steps if "TEMP B-TREE" in step], order


def test_an_album_goes_on_behind_a_cursor_along_its_own_index(connection):
    page = find(connection, parse_request({"order": "newest", "s": ALBUM, "count": "5"}), sees_private=False)
    steps = window(connection, cursor=str(page.next), s=ALBUM, count="5")
    assert "(album_id=? AND (taken_at,newest_key)<(?,?))" in steps[0]


def test_one_value_is_walked_along_its_index(connection):
    for parameters in ({"country": "it"}, {"camera": "1"}, {"year": "2020"}):
        steps = window(connection, order="newest", **parameters)
        assert "_taken (" in steps[0], parameters
        assert len(steps) == 1, parameters


def test_a_frequent_value_is_compared_in_the_index_of_the_order(connection):
    for order, index, query in (
        *(
            ("added", "added", query)
            for query in (
                "-color:blue",
                "-country:it",
                "-camera:2",
                "-year:1999",
                "type:image",
                "-month:2",
                "portrait:true",
            )
        ),
        *(
            ("newest", "taken", query)
            for query in ("-color:blue", "type:image", "-year:1999", "-month:2", "portrait:true")
        ),
    ):
        steps = window(connection, order=order, q=query)
        assert steps == [f"SCAN photosvc_search_rows USING COVERING INDEX ix_photosvc_search_rows_{index}"], order


def test_uids_and_hashes_are_looked_up_in_the_tables_of_the_library(connection):
    for column in ("uid", "file_uid", "hash"):
        value = {"uid": "p" + "1" * 15, "file_uid": "f" + "1" * 15, "hash": "a" * 40}[column]
        asked = statements(connection, q=f"uid:{value}")
        index = "ix_photosvc_files_hash (hash=?)" if column == "hash" else "(uid=?)"
        steps = [step for statement in asked for step in plan(connection, statement)]
        assert [step for step in steps if index in step], column
        assert not [step for step in steps if step.startswith("SCAN photosvc_search_rows")], column


def test_files_and_photos_are_found_without_reading_a_table(connection):
    for sees_private in (False, True):
        for look_up in (
            lambda *given, **rights: file_with_hash(*given, "a" * 40, **rights),
            lambda *given, **rights: files_of_photo(*given, "p" + "1" * 15, **rights),
            lambda *given, **rights: list(selected_ids(*given, SELECTION, limit=9, today=TODAY, **rights)),
        ):
            asked = asked_by(connection, partial(look_up, connection, sees_private=sees_private))
            steps = [step for statement in asked for step in plan(connection, statement)]
            assert steps, sees_private
            assert not [step for step in steps if step.startswith("SCAN photosvc_")], sees_private


def test_the_photos_of_a_rare_value_are_counted_in_an_index(connection):
    for query, index in (("color:blue", "similar (color=?)"), ("type:video", "photo_type (photo_type=?)")):
        (count, *_) = [text for text in statements(connection, order="size", q=query) if "count(*)" in text]
        assert [step for step in plan(connection, count) if f"INDEX ix_photosvc_search_rows_{index}" in step], query


def test_a_page_without_conditions_is_one_statement_and_a_merged_one_three(connection):
    for merged in ("true", "false"):
        assert len(statements(connection, order="newest", merged=merged)) == (3 if merged == "true" else 1)


def test_further_pages_of_a_query_follow_its_plan_in_the_same_state_for_the_same_rights(connection):
    known, asked = KnownSearches(), {"q": "n0*", "order": "size", "count": "5"}

    def counts(state, *, sees_private=False, **further):
        """The number of times that a page counts candidates, and the page."""
        request = parse_request(asked | further)
        pages = []
        seen = asked_by(
            connection, lambda: pages.append(known.find(connection, request, state, sees_private=sees_private))
        )
        expected = find(connection, request, sees_private=sees_private)
        assert (pages[0].body, pages[0].next) == (expected.body, expected.next)
        return len([text for text in seen if "count(*)" in text]), str(pages[0].next)

    first, cursor = counts(1)
    assert first > 0
    assert counts(1, cursor=cursor)[0] == 0
    assert counts(1)[0] == 0
    for state, further in (
        (2, {}), (0, {}), (1, {"sees_private": True}), (1, {"order": "name"}), (1, {"order": "-size"}),
        (1, {"count": "6"}), (1, {"q": "n1*"}), (1, {"s": ALBUM}), (1, {"q": "n0"}),
    ):  # fmt: skip
        assert counts(state, **further)[0] >= first, further


def test_any_of_many_words_is_looked_up_once(connection):
    words = "|".join(f"q{chr(97 + number // 25)}{chr(97 + number % 25)}zx" for number in range(250))
    (found,) = [text for text in statements(connection, order="newest", q=words) if "ORDER BY" in text]
    assert found.count(" MATCH ") == 1
    assert "instr" not in found


def test_a_walk_reads_the_words_of_a_photo_once_for_all_alternatives(connection):
    (found,) = [
        text for text in statements(connection, order="newest", q="photo|-lake|(sunset iso:100)") if "ORDER BY" in text
    ]
    assert found.count("photosvc_search_texts.photo_id") == 1
    assert found.count("instr") == 2 * 3  # in the words, and in what the picture shows


def test_words_are_counted_by_the_full_text_index_alone(connection):
    asked = statements(connection, order="newest", q="n0*", count="1", total="true")
    (count,) = [text for text in asked if "count(*)" in text and "FROM photosvc_search_rows" in text]
    assert count.count(" MATCH ") == 1
    assert "instr" not in count


def test_what_was_added_or_changed_since_a_day_is_looked_up(connection):
    for name in ("added", "updated", "edited"):
        steps = window(connection, order="newest", q=f"{name}:2199-01-01")
        index = "updated" if name == "added" else name
        assert [step for step in steps if f"ix_photosvc_search_rows_{index} (" in step], name


def test_orders_by_time_are_walked_between_the_times_of_days_that_are_not_counted(connection):
    for order, index, column in (("newest", "taken", "taken_at"), ("oldest", "oldest", "oldest_at")):
        for query, span in (
            ("before:2012-05-06", f"{column}<?"),
            ("after:2012-05-06", f"{column}>?"),
            ("taken:2012-05", f"{column}>? AND {column}<?"),
        ):
            steps = window(connection, order=order, q=query, count="1")
            assert f"INDEX ix_photosvc_search_rows_{index} ({span})" in steps[0], (order, query)
        asked = statements(connection, order=order, q="before:2012-05-06")
        assert len([text for text in asked if "FROM photosvc_search_rows" in text]) == 1
    page = find(connection, parse_request({"order": "newest", "count": "1"}), sees_private=False)
    steps = window(connection, q="before:2012-05-06", cursor=str(page.next), count="1")
    assert "((taken_at,newest_key)<(?,?))" in steps[0]


def test_few_days_are_looked_up_in_the_index_of_the_timeline(connection):
    steps = window(connection, order="added", q="taken:1999-01-01")
    assert [step for step in steps if "ix_photosvc_search_rows_timeline (timeline_day>? AND timeline_day<?)" in step]


def test_a_pattern_is_compared_in_an_index_once(connection):
    for query, column in (("name:*zq*", "name_key"), ("filename:*zq*", "file_key"), ("title:*zq*", "title")):
        asked = statements(connection, order="newest", q=query)
        (compared,) = [text for text in asked if "LIKE" in text and "ORDER BY" not in text]
        (step, *_) = plan(connection, compared)
        assert step.startswith("SCAN photosvc_search_rows USING COVERING INDEX ix_photosvc_search_rows_" + column), (
            query
        )


def test_the_start_of_a_name_is_looked_up_in_its_index(connection):
    (compared,) = [text for text in statements(connection, q="name:zq*") if "LIKE" in text and "ORDER BY" not in text]
    assert "ix_photosvc_search_rows_name_key_pattern (name_key>? AND name_key<?)" in plan(connection, compared)[0]


def test_photos_to_review_are_looked_up_by_their_quality(connection):
    steps = window(connection, order="newest", q="review:true")
    assert [step for step in steps if "ix_photosvc_search_rows_relevance (quality<?)" in step]


def test_the_shuffled_order_reads_an_index_alone(connection):
    (found,) = [text for text in statements(connection, order="random", seed="5") if "ORDER BY" in text]
    assert plan(connection, found)[0] == "SCAN photosvc_search_rows USING COVERING INDEX ix_photosvc_search_rows_added"
