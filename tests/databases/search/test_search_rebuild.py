"""A rebuild writes the search rows that a first projection would have written, whatever is stored."""

import sqlite3

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.models import PROJECTION, PROJECTION_VERSION, Album, AlbumPhoto, LibraryState, SearchText
from photosvc.search.rows import check as module
from photosvc.search.rows.check import count_orphans, differing, is_stale, rebuild
from photosvc.search.rows.write import project
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library

#: Damage to a library of twelve photos, of which the second lies in an album that exists and one that was deleted.
DAMAGE = {
    "a value": "UPDATE photosvc_search_rows SET title_key = 'x', taken_at = 3, favorite = 1 WHERE photo_id < 9",
    "a record": "UPDATE photosvc_search_documents SET result_head = '{', file = '[]' WHERE file_id IN (2, 5)",
    "words": "UPDATE photosvc_search_texts SET words = ' wrong ', people = ' nobody ' WHERE photo_id = 4",
    "no record": "DELETE FROM photosvc_search_documents WHERE file_id = 3",
    "no words": "DELETE FROM photosvc_search_texts WHERE photo_id IN (1, 2)",
    "no rows": "DELETE FROM photosvc_search_rows WHERE photo_id > 3",
    "a row of two": "DELETE FROM photosvc_search_rows WHERE NOT is_primary",
    "the row of another photo": "UPDATE photosvc_search_rows SET photo_id = 7 WHERE photo_id = 1",
    "rows of no photo": "UPDATE photosvc_search_rows SET photo_id = photo_id + 100",
    "not in its album": "DELETE FROM photosvc_search_albums WHERE album_id = 1",
    "in another album": "UPDATE photosvc_search_albums SET file_id = file_id + 3 WHERE album_id = 1",
    "keys of an album": "UPDATE photosvc_search_albums SET taken_at = 1",
    "no album": "UPDATE photosvc_search_rows SET has_album = NOT has_album",
    "a missing file": "UPDATE photosvc_files SET missing = true WHERE photo_id = 6",
    "a photo without files": "DELETE FROM photosvc_files WHERE photo_id = 5",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("rebuild"))
    with library.session() as session:
        add_photos(session, 12, NOW)
        for number, deleted_at in ((1, None), (2, NOW)):
            times = {"created_at": NOW, "updated_at": NOW, "deleted_at": deleted_at}
            session.add(Album(id=number, uid=f"a{number}", title="Album", **times))
            session.flush()
            session.add(AlbumPhoto(album_id=number, photo_id=2, created_at=NOW))
        project(session, range(1, 13))
    return library


def test_a_rebuild_repairs(filled):
    for damage in DAMAGE.values():
        with filled.app.app_context(), Session(current_service().engine()) as session:
            with sqlite3.connect(filled.instance / "photosvc.db") as other:  # which keeps no foreign keys
                other.execute(damage)
            every = range(1, 13)
            assert differing(session, every) or count_orphans(session), damage
            session.rollback()
            rebuild(session)
            assert differing(session, every) == set(), damage
            assert count_orphans(session) == 0, damage


def test_a_rebuild_writes_no_row_that_is_right(filled):
    with filled.app.app_context(), Session(current_service().engine()) as session:
        connection = session.connection()
        ((before,),) = connection.exec_driver_sql("SELECT total_changes()")
        rebuild(session)
        ((after,),) = session.connection().exec_driver_sql("SELECT total_changes()")
    assert after - before < 16  # counters of the library; each photo has three rows


def test_rows_of_another_version_are_stale(filled):
    with filled.app.app_context(), Session(current_service().engine()) as session:
        assert not is_stale(session)
        session.get(LibraryState, PROJECTION).value = PROJECTION_VERSION - 1
        session.commit()
        assert is_stale(session)
        rebuild(session)
        assert not is_stale(session)


def test_a_rebuild_lets_others_read_and_write_between_its_batches(library, monkeypatch):
    with library.session() as session:
        add_photos(session, 12, NOW)
    before, seen = library.stored(), []
    batch = module.renew

    def watched(session, photo_ids):
        with sqlite3.connect(library.instance / "photosvc.db") as other:
            seen.append(other.execute("SELECT count(*) FROM photosvc_search_rows").fetchone()[0])
        return batch(session, photo_ids)

    monkeypatch.setattr(module, "_FIRST_BATCH", 5)
    monkeypatch.setattr(module, "_BATCH", 5)
    monkeypatch.setattr(module, "renew", watched)
    with library.session() as session:
        assert rebuild(session) == 15
    assert seen == [15, 15, 15]
    assert library.stored() == before


def test_a_rebuild_that_is_cut_short_is_begun_again(library, monkeypatch):
    with library.session() as session:
        add_photos(session, 12, NOW)
        session.get(LibraryState, PROJECTION).value = PROJECTION_VERSION - 1
    before = library.stored()
    batches = iter(range(2))
    batch = module.renew

    def failing(session, photo_ids):
        next(batches)
        return batch(session, photo_ids)

    monkeypatch.setattr(module, "_FIRST_BATCH", 5)
    monkeypatch.setattr(module, "_BATCH", 5)
    monkeypatch.setattr(module, "renew", failing)
    with library.app.app_context(), Session(current_service().engine()) as session:
        with pytest.raises(StopIteration):
            rebuild(session)
        session.rollback()
        assert is_stale(session)
    monkeypatch.undo()
    assert library.stored() == before
    with library.session() as session:
        assert rebuild(session) == 15
        assert not is_stale(session)


def test_a_rebuild_clears_away_rows_of_nothing(library):
    with library.session() as session:
        add_photos(session, 3, NOW)
    before = library.stored()
    with sqlite3.connect(library.instance / "photosvc.db") as other:  # which keeps no foreign keys
        other.execute("UPDATE photosvc_search_rows SET photo_id = photo_id + 100")
        other.execute("UPDATE photosvc_search_texts SET photo_id = 77 WHERE photo_id = 1")
    with library.session() as session:
        rebuild(session)
        assert sorted(session.scalars(select(SearchText.photo_id))) == [1, 2, 3]
    assert library.stored() == before
