"""Filters by values that few photos have: the same pages whether the order or the index of values is read."""

import random

import pytest
from sqlalchemy import create_engine, select, text, update
from sqlalchemy.orm import Session

from photosvc.models import SearchRow, SearchText
from photosvc.models.engine import configure_engine
from photosvc.search.reading import candidates
from photosvc.search.reading.pages import find
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.parsing import parse_request

PHOTOS = 240
#: Queries, and the rows that they match.
QUERIES = {
    "faces:3": lambda row: row.faces >= 3,
    "faces:0-1": lambda row: row.faces <= 1,
    "rating:5": lambda row: row.rating == 5,
    "rating:-1": lambda row: row.rating == -1,
    "width:>=10000": lambda row: row.width >= 10000,
    "iso:12800 -rating:5": lambda row: row.iso == 12800 and row.rating != 5,
    "(iso:12800)|(faces:3)": lambda row: row.iso == 12800 or row.faces >= 3,
    "lens:7": lambda row: row.lens_id == 7,
    "codec:hevc panorama:true": lambda row: row.codec == "hevc" and row.panorama,
    "size:>=900MB": lambda row: row.size >= 900_000_000,
    "width:20000-": lambda row: False,
}


@pytest.fixture(scope="module")
def sparse_session(new_database):
    """A library where few files have large values, in the older half of the library most of them."""
    draw = random.Random(7)
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine) as session:
        add_photos(session, PHOTOS, NOW)
        for row in session.scalars(select(SearchRow).order_by(SearchRow.taken_at)):
            rare = draw.random() < (0.02 if row.taken_at % 2 else 0.08)
            values = {
                "faces": draw.choice([0, 1, 3, 4]) if rare else 0,
                "rating": draw.choice([5, -1]) if rare else 0,
                "width": 12_000 if rare else 4000,
                "iso": 12_800 if rare and draw.random() < 0.7 else 100,
                "codec": "hevc" if rare else "jpeg",
                "panorama": draw.random() < 0.5,
                "lens_id": 7 if rare else 1,
                "size": 950_000_000 if rare else 5_000_000,
            }
            session.execute(update(SearchRow).where(SearchRow.file_id == row.file_id).values(values))
        session.commit()
        session.execute(text("ANALYZE"))
        session.commit()
        yield session
    engine.dispose()


@pytest.fixture(params=[2, 10**9], ids=["short walks", "whole walks"])
def walks(request, monkeypatch):
    monkeypatch.setattr(candidates, "_PART", 60)
    monkeypatch.setattr(candidates, "_LEAST", request.param)


def files(session, query, **parameters):
    request = parse_request({"q": query, "order": "newest", "count": "7", **parameters})
    page = find(session.connection(), request, sees_private=True)
    return [record["FileUID"] for records in page.results() for record in records], page


def every_page(session, query, **parameters):
    found, page = files(session, query, **parameters)
    while page.next:
        more, page = files(session, query, cursor=str(page.next), **parameters)
        found += more
    return found


def test_all_pages_have_exactly_the_files_that_match(sparse_session, walks):
    order = (SearchRow.taken_at.desc(), SearchRow.newest_key.desc())
    rows = list(sparse_session.scalars(select(SearchRow).order_by(*order)))
    for query, matches in QUERIES.items():
        wanted = [row.file_uid for row in rows if matches(row)]
        assert every_page(sparse_session, query) == wanted, query
        _, page = files(sparse_session, query, total="true")
        assert page.total == len(wanted), query
        assert files(sparse_session, query, offset="3")[0] == wanted[3:10], query


def test_every_order_goes_on_behind_a_short_walk(sparse_session, walks):
    wanted = {row.file_uid for row in sparse_session.scalars(select(SearchRow)) if row.faces >= 3 or row.iso == 12800}
    for order in ("added", "oldest", "name", "size", "-edited", "relevance", "random"):
        found = every_page(sparse_session, "(iso:12800)|(faces:3)", order=order, seed="5")
        assert len(found) == len(wanted), order
        assert set(found) == wanted, order


def test_merged_photos_come_once_behind_a_short_walk(sparse_session, walks):
    rows = sparse_session.scalars(select(SearchRow).order_by(SearchRow.taken_at.desc(), SearchRow.newest_key.desc()))
    matching = [row.photo_uid for row in rows if row.width >= 10000]
    request = parse_request({"q": "width:>=10000", "order": "newest", "count": "1000", "merged": "true"})
    page = find(sparse_session.connection(), request, sees_private=True)
    found = [record["UID"] for records in page.results() for record in records]
    assert found == list(dict.fromkeys(matching))


def test_a_word_is_found_in_its_own_section_alone_also_after_it_moved(sparse_session):
    photo = sparse_session.scalars(select(SearchText).limit(1)).one()
    photo.words, photo.title, photo.description = " dawn , heron ", " dawn ", " heron "
    sparse_session.flush()
    photo.title, photo.description = " heron ", ""
    sparse_session.flush()
    finds = {"title:heron": True, "description:heron": False, "title:dawn": False, "heron": True}
    try:
        for query, found in finds.items():
            for total in ("false", "true"):
                uids, page = files(sparse_session, query, total=total)
                assert bool(uids) is found, query
                assert page.total in {None, len(uids)}, query
    finally:
        sparse_session.rollback()
