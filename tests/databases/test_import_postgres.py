"""Imports and uploads on PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

from photosvc.jobs import queue
from photosvc.jobs.queue import IMPORT
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import InlinePool, index_at_once
from tests.app.uploads.import_folder import Imports
from tests.app.uploads.upload_client import picture
from tests.helpers.library import open_library


def test_an_import_is_wished_for_done_and_found(tmp_path, new_postgres, monkeypatch):
    for name in ("photosvc.library.content", "photosvc.index.run"):
        monkeypatch.setattr(f"{name}.WorkerPool", InlinePool)
    settings = {"PHOTOSVC_DATABASE_URI": new_postgres(), "PHOTOSVC_WATCH_SETTLE": 0}
    library = open_library(tmp_path / "instance", settings=settings)
    imports = Imports(library, tmp_path / "instance/import")
    for number in range(3):
        imports.put(f"a/{number}.jpg", picture(number))
    with library.app.app_context():
        service = current_service()
        for moves in (False, True):
            with service.writing() as session:
                queue.add(session, IMPORT, "a", service.now(), {"moves": moves, "albums": []})
        index_at_once(service)  # imports
        index_at_once(service)  # and indexes what was imported
        with service.reading(orm=True) as session:
            assert queue.requested(session, IMPORT) == []
    assert imports.left() == ["a"]
    assert len(imports.originals()) == 3
    assert library.names() == sorted(imports.originals())
    assert imports.import_all() == {}
    library.close()


def test_imports_of_one_picture_at_once_are_one_original(tmp_path, new_postgres, monkeypatch):
    monkeypatch.setattr("photosvc.library.content.WorkerPool", InlinePool)
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_postgres()})
    folders = [Imports(library, tmp_path / str(number)) for number in range(4)]
    for number, folder in enumerate(folders):
        folder.put(f"{number}.jpg", picture(1))
    # As on several machines, whose lock files are not the same.
    monkeypatch.setattr("photosvc.library.imports.exclusive_lock", lambda *_: nullcontext())
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(Imports.import_all, folders))
    outcomes = sorted(outcome for one in found for outcome, _ in one.values())
    assert outcomes == ["duplicate"] * 3 + ["imported"]
    assert list(folders[0].originals().values()) == [picture(1)]
    library.close()
