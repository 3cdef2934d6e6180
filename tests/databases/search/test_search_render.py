"""Stored texts are what the Marshmallow schemas dump, for every photo of a varied library."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson
import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from photosvc.models import File, SearchDocument
from photosvc.records.photos import OPTIONAL_OF_FILES, FileSchema, PhotoResultSchema, without_empty
from photosvc.search.reading.pages import join_results, merge_result
from photosvc.search.rows.render import Result
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.library import migrated_database


@dataclass(frozen=True)
class WholeResult(Result):
    """A result with the two fields that are not stored."""

    merged: bool = False
    files: Sequence[File] = ()


@pytest.fixture(scope="module")
def varied_library(tmp_path_factory):
    path = tmp_path_factory.mktemp("render") / "test.db"
    path.write_bytes(migrated_database(of_a_host=True))
    engine = create_engine(f"sqlite:///{path}")
    with Session(engine) as session:
        photos, _ = fill_varied_library(session, photos=60)
        texts = {document.file_id: document for document in session.scalars(select(SearchDocument))}
        present = {photo: [file for file in photo.files if not file.missing] for photo in photos}
        assert texts.keys() == {file.id for files in present.values() for file in files}
        yield {photo: files for photo, files in present.items() if files}, texts
    engine.dispose()


def test_a_stored_result_is_what_the_schema_dumps(varied_library):
    photos, texts = varied_library
    for photo, files in photos.items():
        for file in files:
            fresh = PhotoResultSchema().dump(WholeResult(photo, file))
            sent = orjson.loads(join_results([texts[file.id].result_head]))
            assert sent == fresh
            assert list(sent) == list(fresh)


def test_a_stored_file_is_what_the_schema_dumps(varied_library):
    photos, texts = varied_library
    for file in (file for files in photos.values() for file in files):
        fresh = without_empty(FileSchema().dump(file), OPTIONAL_OF_FILES)
        assert orjson.loads(texts[file.id].file) == fresh
        assert list(orjson.loads(texts[file.id].file)) == list(fresh)


def test_a_merged_text_is_what_the_schema_dumps_for_all_files(varied_library):
    photos, texts = varied_library
    assert any(len(files) > 1 for files in photos.values())
    for photo, files in photos.items():
        merged = merge_result(texts[files[0].id].result_head, [texts[file.id].file for file in files])
        fresh = PhotoResultSchema().dump(WholeResult(photo, files[0], merged=True, files=files))
        assert orjson.loads(merged) == fresh
        assert list(orjson.loads(merged)) == list(fresh)


def test_results_are_joined_as_the_elements_of_an_array():
    for count in (0, 1, 2, 3):
        heads = [f'{{"ID":"{number}"' for number in range(count)]
        expected = [{"ID": str(number), "Merged": False, "Files": []} for number in range(count)]
        assert orjson.loads(f"[{join_results(heads)}]") == expected, count
