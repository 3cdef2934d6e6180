"""Look-alikes that an indexer found: which groups wait for a decision, and what decisions change."""

import pytest
from sqlalchemy import select, update

from photosvc.index.run_log import reports
from photosvc.library import look_alikes
from photosvc.library.look_alikes import find_duplicates
from photosvc.models import LookAlike, Photo
from photosvc.models.engine import write_session
from photosvc.search.reading.statistics import read_statistics
from tests.app.index.indexing_requests import look_at_once
from tests.helpers.library import open_library
from tests.helpers.pictures import clouds, encoded


@pytest.fixture
def alike_library(tmp_path):
    """Two pictures in three sizes each, and one that looks like no other."""
    library = open_library(tmp_path / "instance")
    for number in (1, 2):
        for width in (60, 120, 240):
            library.put(
                f"{number}-{width}.jpg", encoded(clouds(number, 240, 180).resize((width, width * 3 // 4)), "JPEG")
            )
    library.put("other.jpg", encoded(clouds(9, 240, 180), "JPEG"))
    library.index()
    yield library
    library.close()


def look(library):
    with library.session() as session:
        engine = session.get_bind()
    with write_session(engine) as session:
        look_alikes.request_search(session, library.clock())
    return look_at_once(engine, library.clock)


def waiting(library, **asked):
    with library.session() as session:
        page = look_alikes.read_look_alikes(session.connection(), **{"after": 0, "count": 9, **asked})
        assert asked or look_alikes.count_look_alikes(session.connection()) == len(page.groups)
    return [[member.name for member in group.members] for group in page.groups], page.after


def ids(session, *names):
    return session.scalars(select(Photo.id).where(Photo.name.in_(names)).order_by(Photo.id)).all()


ONE, TWO = ["1-240.jpg", "1-120.jpg", "1-60.jpg"], ["2-240.jpg", "2-120.jpg", "2-60.jpg"]


def test_an_indexer_looks_once_for_a_wish_and_keeps_the_groups(alike_library):
    assert waiting(alike_library) == ([], None)
    assert look(alike_library)
    found, _ = waiting(alike_library)
    assert sorted(found) == [ONE, TWO]
    with alike_library.session() as session:
        assert look_alikes.last_search_at(session) == alike_library.clock()
        assert not look_alikes.is_search_requested(session)
        assert not look_at_once(session.get_bind(), alike_library.clock)


def test_groups_come_in_pages(alike_library):
    look(alike_library)
    (first,), after = waiting(alike_library, count=1)
    (second,), end = waiting(alike_library, count=1, after=after)
    assert sorted([first, second]) == [ONE, TWO]
    assert end is None
    assert waiting(alike_library, after=2**31 - 1) == ([], None)


def test_a_group_waits_for_as_long_as_two_of_its_photos_are_listed(alike_library):
    look(alike_library)
    with alike_library.session() as session:
        session.execute(update(Photo).where(Photo.name == "1-240").values(archived_at=alike_library.clock()))
    alike_library.app.test_cli_runner().invoke(args=["svc", "index", "--rebuild-search"])
    assert ["1-120.jpg", "1-60.jpg"] in waiting(alike_library)[0]
    with alike_library.session() as session:
        session.execute(update(Photo).where(Photo.name == "1-60").values(archived_at=alike_library.clock()))
    alike_library.app.test_cli_runner().invoke(args=["svc", "index", "--rebuild-search"])
    assert waiting(alike_library)[0] == [TWO]


def test_what_is_not_the_same_is_not_asked_again_until_that_is_taken_back(alike_library):
    look(alike_library)
    with alike_library.session() as session:
        number = look_alikes.set_apart(session, ids(session, "1-240", "1-60"))
    assert sorted(waiting(alike_library)[0]) == [ONE[:2], TWO]
    look(alike_library)
    assert sorted(waiting(alike_library)[0]) == [ONE[:2], TWO]
    with alike_library.session() as session:
        every = [[copy.name for copy in group] for group in find_duplicates(session.connection())]
        assert sorted(every) == [ONE[:2], TWO]
        look_alikes.take_back(session, number)
    look(alike_library)
    assert sorted(waiting(alike_library)[0]) == [ONE, TWO]


def test_only_the_best_that_is_left_decides_what_is_asked(alike_library):
    look(alike_library)
    with alike_library.session() as session:
        look_alikes.set_apart(session, ids(session, "1-240", "1-120"))
        look_alikes.set_apart(session, ids(session, "1-120", "1-60"))
    assert sorted(waiting(alike_library)[0]) == [[ONE[0], ONE[2]], TWO]
    with alike_library.session() as session:
        session.execute(update(Photo).where(Photo.name == "2-240").values(archived_at=alike_library.clock()))
    alike_library.app.test_cli_runner().invoke(args=["svc", "index", "--rebuild-search"])
    assert sorted(waiting(alike_library)[0]) == [[ONE[0], ONE[2]], TWO[1:]]
    with alike_library.session() as session:
        look_alikes.set_apart(session, ids(session, "2-120", "2-60"))
    assert waiting(alike_library)[0] == [[ONE[0], ONE[2]]]


def test_a_wish_that_is_repeated_while_an_indexer_looks_stays(alike_library, monkeypatch):
    find = look_alikes.find_duplicates

    def slow(connection):
        with write_session(connection.engine) as session:
            alike_library.clock.move(seconds=1)
            look_alikes.request_search(session, alike_library.clock())
        return find(connection)

    monkeypatch.setattr(look_alikes, "find_duplicates", slow)
    look(alike_library)
    with alike_library.session() as session:
        assert look_alikes.is_search_requested(session)
        assert session.query(LookAlike).count() == 6


def test_large_groups_show_their_best_first_and_the_number_of_the_others(alike_library, monkeypatch):
    monkeypatch.setattr(look_alikes, "MOST_SHOWN", 2)
    look(alike_library)
    with alike_library.session() as session:
        page = look_alikes.read_look_alikes(session.connection(), after=0, count=9)
    assert [(len(group.members), group.more) for group in page.groups] == [(2, 1), (2, 1)]


def test_both_databases_find_and_keep_the_same_groups(tmp_path, new_database):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    for width in (60, 120):
        library.put(f"{width}.jpg", encoded(clouds(1, 120, 90).resize((width, width * 3 // 4)), "JPEG"))
    library.index()
    look(library)
    assert waiting(library) == ([["120.jpg", "60.jpg"]], None)
    with library.session() as session:
        assert len(find_duplicates(session.connection())) == 1
        look_alikes.set_apart(session, ids(session, "120", "60"))
    assert waiting(library) == ([], None)
    with library.session() as session:
        found = read_statistics(session.connection(), sees_private=True)
        assert (found.total, found.files, [share.photos for share in found.types]) == (2, 2, [2])
        assert [report.state for report in reports(session, library.clock(), count=9)] == ["done"]
    library.close()
