"""`svc import`."""

import json

import pytest

from photosvc.index.requests import IndexRequest
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import InlinePool
from tests.app.uploads.upload_client import originals, picture, sha1
from tests.helpers.api_client import open_api


@pytest.fixture
def api(tmp_path, monkeypatch):
    for name in ("photosvc.library.content", "photosvc.index.run"):
        monkeypatch.setattr(f"{name}.WorkerPool", InlinePool)
    with open_api(tmp_path) as api:
        (tmp_path / "card").mkdir()
        yield api


@pytest.fixture
def card(api, tmp_path):
    (tmp_path / "card/a.jpg").write_bytes(picture(1))
    (tmp_path / "card/notes.txt").write_bytes(b"notes")
    return tmp_path / "card"


NAME = f"2024/05/20240501_120000_{sha1(picture(1))[:8].upper()}.jpg"


def test_a_folder_is_copied_and_indexed(api, card):
    done = api.svc("import", str(card))
    assert (done.returncode, done.stdout) == (0, "1 imported, 0 duplicate, 1 skipped, 0 failed\n")
    assert done.stderr == "skipped notes.txt: its content is not a picture or video\n"
    assert originals(api) == {NAME: picture(1)}
    assert api.library.names() == [NAME]
    assert api.svc("import", str(card)).stdout == "0 imported, 1 duplicate, 1 skipped, 0 failed\n"
    assert sorted(path.name for path in card.iterdir()) == ["a.jpg", "notes.txt"]


def test_a_folder_is_moved_with_a_line_of_json_for_each_file(api, card):
    done = api.svc("import", str(card), "--move", "--json")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {
            "name": "notes.txt",
            "status": "skipped",
            "code": "wrong_content",
            "reason": "its content is not a picture or video",
        },
        {"name": "a.jpg", "status": "imported", "original": NAME},
        {"imported": 1, "duplicate": 0, "skipped": 1, "failed": 0, "dry_run": False},
    ]
    assert [path.name for path in card.iterdir()] == ["notes.txt"]


def test_a_dry_run_only_counts(api, card):
    done = api.svc("import", str(card), "--dry-run", "--move")
    assert done.stdout == "1 would be imported, 0 duplicate, 1 skipped, 0 failed\n"
    assert (originals(api), (card / "a.jpg").exists()) == ({}, True)


def test_without_a_folder_that_of_the_setting_is_imported(api):
    missing = api.svc("import")
    assert (missing.returncode, "PHOTOSVC_IMPORT_FOLDER" in missing.stderr) == (3, True)
    folder = api.library.instance / "import"
    folder.mkdir()
    (folder / "a.jpg").write_bytes(picture(1))
    assert api.svc("import").returncode == 0
    assert originals(api) == {NAME: picture(1)}


@pytest.mark.parametrize(("folder", "code"), [("none", 3), ("instance/originals", 2), ("instance", 2), (".", 2)])
def test_folders_that_cannot_be_imported_are_refused(api, tmp_path, folder, code):
    done = api.svc("import", str(tmp_path / folder))
    assert done.returncode == code
    assert done.stderr.startswith("Error: ")


def test_the_exit_code_is_1_when_a_file_cannot_be_read(api, card):
    (card / "broken.jpg").write_bytes(picture(3)[:300])
    (card / "big.jpg").write_bytes(picture(2))
    (card / "a.xmp").write_bytes(b"<x:xmpmeta")
    done = api.svc("import", str(card))
    assert (done.returncode, "failed a.xmp" in done.stderr) == (1, True)
    assert "stored, but damaged broken.jpg" in done.stderr
    assert done.stdout == "2 imported, 0 duplicate, 1 skipped, 1 failed, 1 damaged\n"


@pytest.mark.parametrize("ended", [False, True], ids=["killed", "failed"])
def test_an_import_also_indexes_the_files_of_an_interrupted_one(api, card, monkeypatch, ended):
    with monkeypatch.context() as patch:
        patch.setattr("photosvc.cli.imports.index_imported", lambda _: None)
        api.svc("import", str(card))
    with api.library.app.app_context():
        service = current_service()
        lease = Lease(service.engine(), service.clock)
        lease.begin(INDEX, "2024/05", {"force": False}, covers=IndexRequest("2024/05").covers)
        (service.settings.cache / "index.lock").write_text(lease.owner)
        if ended:
            lease.end(OSError("the disk is full"))
    assert api.library.names() == []
    assert api.svc("import", str(card)).stdout == "0 imported, 1 duplicate, 1 skipped, 0 failed\n"
    assert api.library.names() == [NAME]
