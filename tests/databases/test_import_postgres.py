"""Imports and uploads on PostgreSQL."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace

from photosvc.jobs import queue
from photosvc.jobs.queue import IMPORT
from photosvc.web.service import current_service
from tests.app.exchange.test_photoprism_api import ANN, FACE, mysql_dump, photo
from tests.app.index.indexing_requests import InlinePool, index_at_once
from tests.app.uploads.import_folder import Imports
from tests.app.uploads.upload_client import picture
from tests.helpers.library import open_library, svc


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


def test_a_dump_of_photoprism_is_taken_once_and_taken_back(tmp_path, new_postgres):
    uri = new_postgres()
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": uri})
    photos = []
    for number in range(3):
        content = library.put(f"{number}.jpg", picture(number)).read_bytes()
        label = {"LabelSrc": "manual", "Uncertainty": 0, "Label": {"Name": "Kuchen"}}
        photos.append(photo(number, content, Labels=[label], File={"Markers": [FACE], "OrientationSrc": ""}))
    library.index()
    subject = {"UID": ANN, "Name": "Ann", "Favorite": True}
    album = {"UID": "asabc12000000001", "Type": "album", "Title": "Sommer", "Category": "Ferien", "ThumbSrc": "manual"}
    album["Thumb"] = photos[1]["Files"][0]["Hash"]
    members = {album["UID"]: [one["UID"] for one in photos]}
    prism = SimpleNamespace(
        photos={one["UID"]: one for one in photos}, lists={"subjects": [subject], "albums": [album]}, members=members
    )
    dump = tmp_path / "dump.sql"
    dump.write_text("".join(mysql_dump(prism)))

    def call(*arguments):
        done = svc("import", *arguments, "--json", instance=library.instance, environ={"PHOTOSVC_DATABASE_URI": uri})
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    taken = {row["value"]: row["taken"] for row in call("photoprism", "--dump", str(dump))["values"]}
    assert taken == {
        "photo": 3, "album": 1, "album cover": 1, "album photo": 3, "keywords": 3, "label favorite": 1, "people": 3,
        "person favorite": 1,
    }  # fmt: skip
    assert call("photoprism", "--dump", str(dump))["run"] is None
    undone = call("undo", "1", "--yes")
    assert (undone["photos"], undone["albums"], undone["marks"]) == (3, 1, 2)
    library.close()
