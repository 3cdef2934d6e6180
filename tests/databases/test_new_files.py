import re
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, func, select

from photosvc.core.vocabulary import KINDS
from photosvc.index.catalog import Catalog
from photosvc.index.places import Gazetteer
from photosvc.index.scan import FoundFile
from photosvc.index.store import Store
from photosvc.media.metadata import Metadata, Region
from photosvc.models import Base, File, Photo
from photosvc.models.engine import UnitOfWork, begin_write, configure_engine
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos, new_extraction, raw_of

FACES = tuple(Region(name, "face", 0.1, 0.2, 0.3, 0.4) for name in ("Bob", "Ann"))
OF_EDITOR = Metadata(document_id="xmp.did:1")
LOOK = {"look_1": 1, "look_2": 2, "look_3": 3, "look_4": 4}


@pytest.fixture
def new_session(new_database):
    """A function that gives a session in a write transaction on an empty database."""
    sessions = []

    def make():
        engine = create_engine(new_database())
        configure_engine(engine)
        sessions.append(UnitOfWork(engine))
        begin_write(sessions[-1])
        return sessions[-1]

    yield make
    for session in sessions:
        session.close()
        session.get_bind().dispose()


def store(session, files, *, looked_up):
    """Store a batch of files (name, extraction) of which the store was told in advance, or was not."""
    one = Store(session, Catalog(session, Gazetteer.load(), "UTC"), Path("/nonexistent"), NOW, KINDS)
    batch = [(FoundFile(name, extraction.size, extraction.mtime_ns), extraction) for name, extraction in files]
    if looked_up:
        one.load([name for name, _ in files], batch)
    for found, extraction in batch:
        one.save(found, extraction)
    one.finish()


def rows(session):
    """All rows of all tables, each UID as the place of its row."""
    tables = {
        table.name: [dict(row._mapping) for row in session.execute(select(table))]
        for table in Base.metadata.sorted_tables
        if table.name != "photosvc_library"
    }
    uids = {row["uid"]: f"{name} {row['id']}" for name, found in tables.items() for row in found if "uid" in row}
    for row in tables["photosvc_search_rows"]:
        del row["shuffle"]  # is computed from the UID
    pattern = re.compile("|".join(uids))
    return {
        name: sorted(pattern.sub(lambda match: uids[match[0]], repr(row)) for row in found)
        for name, found in tables.items()
    }


def test_new_files_give_the_same_rows_whether_they_were_looked_up_before_or_not(new_session):
    tree = new_extraction(7).metadata
    first = [
        ("a/1.jpg", new_extraction(1)),
        ("a/2.jpg", new_extraction(2, metadata=replace(tree, keywords=("One",), regions=FACES[:1]))),
        ("a/3.jpg", new_extraction(3, metadata=replace(tree, keywords=("b", "a", "ä"), regions=FACES))),
        ("a/4.jpg", new_extraction(4)),
        ("a/5.jpg", new_extraction(6, metadata=Metadata())),
        ("a/6.jpg", new_extraction(1)),
        ("b/7.mp4", new_extraction(8, file_type="mp4", media_type="video", duration_ns=9_000_000_000)),
        ("b/8.jpg", new_extraction(9, metadata=OF_EDITOR, **LOOK)),
    ]
    second = [
        ("a/1.jpg", new_extraction(11)),
        ("a/4.dng", raw_of(new_extraction(4), 5)),
        ("b/9.jpg", new_extraction(12, metadata=OF_EDITOR, **LOOK)),
        ("c/1.jpg", new_extraction(2)),
        ("c/2.jpg", new_extraction(13)),
    ]
    found = []
    for looked_up in (True, False):
        session = new_session()
        for files in (first, second):
            store(session, files, looked_up=looked_up)
            session.expunge_all()
        found.append(rows(session))
    for name, one in found[0].items():
        assert one == found[1][name]
    counts = {name: len(found[0][f"photosvc_{name}"]) for name in ("photos", "files", "markers", "photo_keywords")}
    assert counts == {"photos": 9, "files": 11, "markers": 2, "photo_keywords": 14}


def test_a_file_that_leaves_its_photo_and_a_new_file_take_different_ids(new_session):
    session = new_session()
    together = [
        (name, new_extraction(number, metadata=OF_EDITOR, **LOOK)) for number, name in enumerate(("1.jpg", "2.jpg"))
    ]
    store(session, together, looked_up=True)
    session.expunge_all()
    files = [("2.jpg", new_extraction(5, **LOOK)), ("3.jpg", new_extraction(6))]
    store(session, files, looked_up=True)
    photo_ids = session.scalars(select(File.photo_id).order_by(File.name)).all()
    assert photo_ids[0] == 1
    assert len(set(photo_ids)) == session.scalar(select(func.count()).select_from(Photo)) == 3


def test_storing_new_files_takes_as_many_steps_of_sqlite_in_a_large_library(library):
    steps = 0

    def step():
        nonlocal steps
        steps += 1

    found = []
    with library.session() as session:
        for first, photos in ((0, 10), (100, 200)):
            begin_write(session)
            add_photos(session, photos, NOW, first)
            session.expunge_all()
            begin_write(session)
            driver = session.connection().connection.driver_connection
            driver.set_progress_handler(step, 10)
            steps = 0
            files = [(f"new/{first}-{n}.jpg", new_extraction(9000 + first + n, metadata=Metadata())) for n in range(5)]
            store(session, files, looked_up=True)
            driver.set_progress_handler(None, 0)
            found.append(steps)
    assert found[1] < 1.2 * found[0]
