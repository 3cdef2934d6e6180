"""Each filter finds exactly the files that its documented example describes, on both databases."""

import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from photosvc.models import File, SearchRow
from photosvc.models.engine import configure_engine
from photosvc.query.filters import FILTERS
from photosvc.search.reading.window import prepare
from tests.databases.search.example_library import (
    ALIVE,
    ARCHIVED,
    BROKEN,
    CLIP,
    DAWN,
    DAWN_RAW,
    HIDDEN,
    LAKE,
    LOGO,
    MOVING,
    PAPER,
    SECRET,
    SHOWN,
    SONG,
    fill_example_library,
)
from tests.helpers.parsing import parse_request

#: The files that the example of each filter finds.
FOUND = {
    "uid": {LAKE},
    "id": {LAKE},
    "similar": {LAKE, DAWN, DAWN_RAW},
    "hash": {LAKE},
    "path": {LAKE},
    "name": {LAKE},
    "filename": {LAKE},
    "ext": {ALIVE},
    "original": {DAWN, DAWN_RAW},
    "title": {LAKE},
    "description": {DAWN, DAWN_RAW},
    "keywords": {LAKE},
    "label": {LAKE, LOGO},
    "subject": {LAKE},
    "subjects": {LAKE, DAWN, DAWN_RAW},
    "faces": {LAKE, DAWN, DAWN_RAW},
    "face": set(),
    "category": set(),
    "album": {LAKE},
    "albums": {LAKE, DAWN, DAWN_RAW, CLIP},
    "unsorted": {ALIVE, SONG, PAPER, LOGO, SECRET},
    "type": {DAWN, DAWN_RAW, ALIVE},
    "codec": {CLIP, ALIVE},
    "animated": {MOVING},
    "audio": {SONG},
    "document": {PAPER},
    "image": {LAKE, SECRET},
    "live": {ALIVE},
    "raw": {DAWN, DAWN_RAW},
    "vector": {LOGO},
    "video": {CLIP},
    "photo": {LAKE, SECRET, DAWN, DAWN_RAW, ALIVE},
    "media": {ALIVE, CLIP, SONG, MOVING},
    "primary": SHOWN - {DAWN_RAW},
    "stack": {DAWN, DAWN_RAW},
    "stackable": SHOWN - {LOGO},
    "unstacked": {LOGO},
    "scan": {PAPER},
    "panorama": {DAWN, DAWN_RAW},
    "favorite": {LAKE},
    "public": SHOWN - {SECRET},
    "private": {SECRET},
    "review": {PAPER, LOGO},
    "quality": SHOWN - {PAPER, LOGO},
    "rating": {LAKE, DAWN, DAWN_RAW},
    "hidden": {HIDDEN},
    "archived": {ARCHIVED},
    "error": {BROKEN},
    "is": {LAKE, DAWN, DAWN_RAW},
    "width": {LAKE},
    "height": {DAWN, CLIP},
    "size": {LAKE},
    "portrait": {ALIVE},
    "landscape": SHOWN - {ALIVE, MOVING, LOGO},
    "square": {MOVING},
    "color": {LAKE, DAWN, DAWN_RAW},
    "chroma": {LAKE},
    "mono": {PAPER},
    "diff": {DAWN},
    "mp": {LAKE, DAWN, DAWN_RAW},
    "camera": {LAKE},
    "lens": {DAWN, DAWN_RAW},
    "iso": {LAKE, DAWN, DAWN_RAW},
    "mm": {LAKE, DAWN, DAWN_RAW},
    "f": {LAKE, DAWN, DAWN_RAW},
    "exposure": {LAKE},
    "year": {LAKE, DAWN, DAWN_RAW},
    "month": {DAWN, DAWN_RAW},
    "day": {DAWN, DAWN_RAW},
    "weekday": {CLIP},
    "hour": {DAWN, DAWN_RAW},
    "taken": {LAKE},
    "before": {LAKE, DAWN, DAWN_RAW},
    "after": {LAKE, CLIP},
    "added": {LAKE},
    "updated": {LAKE, DAWN, DAWN_RAW},
    "edited": {CLIP},
    "country": {LAKE, CLIP},
    "state": {LAKE},
    "city": {ALIVE},
    "place": {MOVING},
    "geo": {LAKE, DAWN, DAWN_RAW, CLIP, SONG, PAPER, LOGO},
    "alt": {LAKE, DAWN, DAWN_RAW},
    "near": {LAKE, PAPER, LOGO, CLIP},
    "latlng": {DAWN, DAWN_RAW},
    "s2": {LAKE},
    "olc": {LAKE, PAPER},
    "lat": {SONG},
    "lng": {SONG},
    "dist": {LAKE, PAPER},
}
#: Filters that clients know and that find nothing here, as their help says.
EMPTY = {"face", "category"}


@pytest.fixture(scope="module")
def session(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine) as session:
        fill_example_library(session)
        yield session
    engine.dispose()


def files(session, query):
    search = prepare(session.connection(), parse_request([("q", query)]), sees_private=True)
    return set(session.scalars(select(File.name).where(File.uid.in_(search.matching(SearchRow.file_uid)))))


def test_the_example_of_each_filter_finds_exactly_what_it_describes(session):
    assert {name: files(session, spec.example) for name, spec in FILTERS.items()} == FOUND


def test_every_filter_finds_some_files_and_leaves_some_out():
    assert FOUND.keys() == FILTERS.keys()
    assert {name for name, found in FOUND.items() if not found} == EMPTY
    assert all(not found >= SHOWN for found in FOUND.values())
