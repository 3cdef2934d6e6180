"""Stored texts are what the Marshmallow schemas dump, for every photo of a motley library."""

import orjson
import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from photosvc.models import SearchDocument, migrate
from photosvc.records.file import FileSchema
from photosvc.records.photo import PhotoResultSchema
from photosvc.search.projection.render import Result, merge_texts
from tests.factories.varied_library import fill_varied_library


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    engine = create_engine(f"sqlite:///{tmp_path_factory.mktemp('render') / 'test.db'}")
    migrate.upgrade(engine)
    with Session(engine) as session:
        photos, _ = fill_varied_library(session, photos=60)
        texts = {document.file_id: document for document in session.scalars(select(SearchDocument))}
        yield photos, texts
    engine.dispose()


def test_a_stored_result_is_what_the_schema_dumps(shelf):
    photos, texts = shelf
    for photo in photos:
        for file in photo.files:
            fresh = PhotoResultSchema().dump(Result(photo, file))
            assert orjson.loads(texts[file.id].result) == fresh
            assert list(orjson.loads(texts[file.id].result)) == list(fresh)


def test_a_stored_file_is_what_the_schema_dumps(shelf):
    photos, texts = shelf
    for file in (file for photo in photos for file in photo.files):
        assert orjson.loads(texts[file.id].file) == FileSchema().dump(file)


def test_a_merged_text_is_what_the_schema_dumps_for_all_files(shelf):
    photos, texts = shelf
    assert any(len(photo.files) > 1 for photo in photos)
    for photo in photos:
        merged = merge_texts(texts[photo.files[0].id].result, [texts[file.id].file for file in photo.files])
        fresh = PhotoResultSchema().dump(Result(photo, photo.files[0], merged=True, files=photo.files))
        assert orjson.loads(merged) == fresh
