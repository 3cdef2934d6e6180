"""Searches by local days and years, also where the clock of a camera was wrong by years."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from photosvc.models import Album, AlbumPhoto, Photo
from photosvc.search.reading.pages import find
from photosvc.search.rows.write import project
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.parsing import parse_request

ALBUM = "a" * 16

#: For each photo the local day and the time by UTC.
TAKEN = {
    "evening before by UTC": ("2012-05-06", "2012-05-05T20:00"),
    "same day": ("2012-05-06", "2012-05-06T10:00"),
    "morning after by UTC": ("2012-05-06", "2012-05-07T08:00"),
    "clock in 1970": ("1970-01-01", "2012-05-06T09:00"),
    "clock in 2033": ("2033-03-03", "2012-05-06T11:00"),
    "day before": ("2012-05-05", "2012-05-05T10:00"),
    "day after": ("2012-05-07", "2012-05-07T10:00"),
    "first day of all": ("0001-01-01", "0001-01-01T00:00"),
    "last day of all": ("9999-12-31", "9999-12-31T23:59"),
}


@pytest.fixture(scope="module")
def session(new_database):
    engine = create_engine(new_database())
    with Session(engine) as session:
        add_photos(session, len(TAKEN), NOW)
        session.flush()
        photos = session.scalars(select(Photo).order_by(Photo.id)).all()
        for photo, (title, (day, moment)) in zip(photos, TAKEN.items(), strict=True):
            photo.title, photo.taken_at = title, datetime.fromisoformat(moment).replace(tzinfo=UTC)
            photo.year, photo.month, photo.day = map(int, day.split("-"))
        project(session, [photo.id for photo in photos])
        session.commit()
        yield session
    engine.dispose()


def titles(session, **parameters):
    page = find(session.connection(), parse_request({"count": "100", **parameters}), sees_private=True)
    return [record["Title"] for records in page.results() for record in records]


def expected(low, high):
    return {title for title, (day, _) in TAKEN.items() if low <= day <= high}


def test_a_day_finds_its_photos_in_every_order(session):
    for order in ("newest", "oldest", "added", "name"):
        for query, low, high in (
            ("taken:2012-05-06", "2012-05-06", "2012-05-06"),
            ("taken:1970-01-01", "1970-01-01", "1970-01-01"),
            ("taken:2033", "2033-01-01", "2033-12-31"),
            ("before:2012-05-05", "", "2012-05-05"),
            ("after:2012-05-07", "2012-05-07", "~"),
            ("after:2012-05-06 before:2012-05-06", "2012-05-06", "2012-05-06"),
            ("before:9999-12-31", "", "~"),
            ("after:0001-01-01", "", "~"),
        ):
            found = titles(session, q=query, order=order)
            assert set(found) == expected(low, high), (order, query)
            assert found, query
            for direction in ("", "-"):
                asked = {"q": query, "order": direction + order}
                assert by_pages(session, **asked) == titles(session, **asked), asked


def by_pages(session, **asked):
    """Return the titles of a search of single files, each found behind the cursor of the one before."""
    found, cursor = [], ""
    while cursor is not None:
        page = find(session.connection(), parse_request({"count": "1", "cursor": cursor, **asked}), sees_private=True)
        found += [record["Title"] for records in page.results() for record in records]
        cursor = str(page.next) if page.next else None
    return found


def test_a_photo_of_a_wrong_clock_is_sorted_near_its_local_day(session):
    for order, is_falling in (("newest", True), ("oldest", False)):
        found = [*dict.fromkeys(titles(session, order=order))]  # some photos have two files
        assert found == sorted(TAKEN, key=by_day_and_time, reverse=is_falling), order


def by_day_and_time(title):
    day, moment = TAKEN[title]
    return moment if title.startswith(("evening", "morning")) else day + moment[10:]


def test_undated_photos_come_last_in_both_orders_by_time_and_on_each_page(session):
    photos = session.scalars(select(Photo).where(Photo.title.in_(("same day", "clock in 2033")))).all()
    for photo in photos:
        photo.year = photo.month = photo.day = -1
    session.add(Album(id=9, uid=ALBUM, title="All", created_at=NOW, updated_at=NOW))
    session.flush()
    every = session.scalars(select(Photo.id)).all()
    session.add_all(AlbumPhoto(album_id=9, photo_id=photo_id, created_at=NOW) for photo_id in every)
    project(session, every)
    for order, undated in (("newest", ["clock in 2033", "same day"]), ("oldest", ["same day", "clock in 2033"])):
        for scope in ({}, {"q": "day:-1|1-31"}, {"s": ALBUM}, {"q": "clock | day | of | evening | morning"}):
            expected = titles(session, order=order, **scope)
            assert expected[-2:] == undated, (order, scope)
            assert set(expected) == set(TAKEN)
            by_offset = [
                titles(session, order=order, count="1", offset=str(at), **scope) for at in range(len(expected))
            ]
            assert [one for (one,) in by_offset] == expected
            by_cursor, cursor = [], ""
            while cursor is not None:
                asked = {"order": order, "count": "3", "cursor": cursor, **scope}
                page = find(session.connection(), parse_request(asked), sees_private=True)
                by_cursor += [record["Title"] for records in page.results() for record in records]
                cursor = str(page.next) if page.next else None
            assert by_cursor == expected
    session.rollback()
