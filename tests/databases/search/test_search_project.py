import json

import pytest
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from photosvc.models import CHANGES, File, LibraryState, Photo, SearchRow
from photosvc.search.rows.write import project
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos, edit_photos, new_extraction, store_extractions
from tests.helpers.library import open_library


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("project"))
    with library.session() as session:
        add_photos(session, 12, NOW)
    return library


@pytest.fixture
def session(filled):
    with filled.app.app_context(), Session(current_service().engine()) as session:
        yield session


def test_each_projection_counts_as_one_change(session):
    before = session.get(LibraryState, CHANGES).value
    project(session, [1])
    project(session, [1, 2])
    session.expire_all()
    assert session.get(LibraryState, CHANGES).value == before + 2


def test_a_photo_that_is_gone_loses_its_rows(session):
    (photo_id,) = session.scalars(select(Photo.id).limit(1))
    session.execute(delete(File).where(File.photo_id == photo_id))
    session.expire_all()
    assert project(session, [photo_id, 999_999]) == 0
    assert session.query(SearchRow).filter_by(photo_id=photo_id).count() == 0


def test_the_files_of_a_photo_have_unique_neighbouring_keys(session):
    rows = session.scalars(select(SearchRow)).all()
    assert len({row.newest_key for row in rows}) == len({row.oldest_key for row in rows}) == len(rows)
    for row in rows:
        assert row.newest_key >> 16 == row.oldest_key >> 16 == row.photo_id
    pairs = [(row.oldest_key & 0xFFFF, row.is_primary) for row in rows]
    assert set(pairs) == {(0, True), (1, False)}


def test_what_is_archived_or_hidden_is_not_listed(filled):
    for values in ({"archived_at": NOW}, {"quality": -1}):
        with filled.session() as session:
            store_extractions(
                session,
                [(f"z/{len(values)}{next(iter(values))}.jpg", new_extraction(700 + len(next(iter(values)))))],
                NOW,
            )
            photo = session.scalars(select(Photo).order_by(Photo.id.desc()).limit(1)).one()
            uid = photo.uid
            edit_photos(session, [photo.id], **values)
            assert session.scalars(select(SearchRow.listed).where(SearchRow.photo_uid == uid)).all() == [False], values
        assert uid not in {record["UID"] for record in filled.find(count=100)}, values


def test_stored_texts_are_one_line_of_json(filled):
    for result, file, _ in filled.stored().values():
        assert "\n" not in result + file
        assert json.loads(result)["Files"] == []
