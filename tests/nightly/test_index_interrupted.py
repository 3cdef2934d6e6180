"""A run that is killed, or meets a full disk, at any moment leaves a library that the next run completes."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from photosvc.pictures.cache import PictureCache
from tests.helpers.api_client import open_api
from tests.helpers.library import DATABASE, SURROUNDINGS, hashes, open_library, svc
from tests.helpers.pictures import jpeg

#: Columns that differ between two libraries of the same files: numbers, random identifiers, times of the runs.
_VARYING = re.compile(r"(.*_)?(id|uid|key|at|hash_key)$|shuffle$")
ROOT = Path(__file__).resolve().parents[2]
_TABLES = ("photos", "files", "rejected_files", "cameras", "lenses", "keywords", "search_texts")


def rows(library):
    """Table -> rows without what differs between runs, sorted."""
    found = {}
    with sqlite3.connect(library.instance / DATABASE) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        for table in _TABLES:
            cursor = database.execute(f"SELECT * FROM photosvc_{table}")
            kept = [n for n, column in enumerate(cursor.description) if not _VARYING.match(column[0])]
            found[table] = sorted(repr([row[number] for number in kept]) for row in cursor)
        files = database.execute("SELECT count(*) FROM photosvc_files WHERE NOT missing").fetchone()
        assert database.execute("SELECT count(*) FROM photosvc_search_rows").fetchone() == files
        assert database.execute("SELECT count(*) FROM photosvc_search_documents").fetchone() == files
    database.close()
    return found


def fill(library, count):
    for number in range(count):
        library.put(f"{number % 7}/{number:04}.jpg", jpeg(48 + number % 40, 40 + number // 40), age=90_000 + number)
    library.put("broken.jpg", jpeg(640, 480)[:2000], age=90_000)
    library.put("7/copy.jpg", (library.originals / "0/0000.jpg").read_bytes(), age=90_000)


def left_over(library):
    """Files below the instance that a finished run does not leave, a day later."""
    paths = [path for path in library.instance.rglob("*") if path.is_file()]
    for path in paths:
        if path.name.startswith(".tmp-"):
            os.utime(path, (0, 0))
    PictureCache(library.instance / "cache", 1 << 30).evict()
    return {path.name for path in paths if path.exists() and (path.name.startswith(".") or "tmp" in path.name)}


def thumbnails(library):
    return {path.name: path.read_bytes() for path in (library.instance / "cache/pictures").rglob("*_*.jpg")}


@pytest.fixture
def disk(tmp_path):
    """A file system of its own, whose size can be changed; of 64 MiB at first."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options):
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
        return shutil.which("mount") and subprocess.run(command, check=False, capture_output=True).returncode == 0

    if not mount("size=64m"):
        pytest.skip("no permission to mount a small file system")

    def leave(free):
        status = os.statvfs(folder)
        used = (status.f_blocks - status.f_bfree) * status.f_frsize
        assert mount(f"remount,size={used + free}")

    yield SimpleNamespace(folder=folder, leave=leave)
    subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.timeout(600)
def test_a_disk_that_fills_up_at_any_moment_harms_nothing(tmp_path, disk):
    """The database, its journal, the cache, the worklist and the originals are on a disk that has ever more room."""
    plain, full = open_library(tmp_path / "plain"), open_library(disk.folder / "full")
    for library in (plain, full):
        fill(library, 40)
        library.close()
    svc("index", "--thumbs", instance=plain.instance)
    before = hashes(full.originals)
    refusals, status = 0, None
    for step in range(20):
        disk.leave(int(2**step * (32 << 10)))
        done = svc("index", "--thumbs", "--json", instance=full.instance, environ={"TMPDIR": str(disk.folder)})
        assert done.returncode in {0, 1}
        assert "Traceback" not in done.stderr
        status = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
        if "seconds" in status and "Thumbnails are missing" not in done.stderr:
            break
        # SQLite gives the last one when the index of its journal finds no room.
        causes = ("no space left on device", "database or disk is full", "disk i/o error")
        assert any(cause in done.stderr.lower() for cause in causes), done.stderr
        refusals += 1
    assert refusals > 3
    disk.leave(1 << 25)
    svc("index", "--thumbs", "--force", instance=full.instance)
    assert rows(full) == rows(plain)
    assert thumbnails(full) == thumbnails(plain)
    assert hashes(full.originals) == before
    assert left_over(full) == left_over(plain)  # workers are ended while they write: what they left goes like this


def test_a_service_on_a_full_disk_searches_and_answers_503_to_what_it_cannot_store(disk):
    with open_api(disk.folder / "full") as api:
        api.library.put("a.jpg", jpeg())
        api.library.index()
        token = api.library.token()
        disk.leave(0)
        answers = (api.log_in() for _ in range(20))
        refused = next(answer for answer in answers if answer.status_code != 200)
        assert (refused.status_code, refused.json["code"]) == (503, 503)
        assert api.library.names(token=token) == ["a.jpg"]
        disk.leave(1 << 20)
        assert api.log_in().status_code == 200


@pytest.mark.timeout(3600)
def test_many_kills_change_nothing_in_the_library_that_comes_of_it(tmp_path):
    kills, count = int(os.environ.get("TEST_KILLS", "20")), int(os.environ.get("TEST_PICTURES", "500"))
    plain, killed = open_library(tmp_path / "plain"), open_library(tmp_path / "killed")
    for library in (plain, killed):
        fill(library, count)
    before = hashes(killed.originals)
    assert svc("index", "--thumbs", instance=plain.instance, timeout=1800).returncode == 1  # the broken picture
    arguments = [killed.instance, *map(str, (kills, max(1, 2 * count // kills), 1))]
    command = [sys.executable, "-m", "tests.nightly.killed_runs", *arguments]
    done = subprocess.run(command, env=SURROUNDINGS, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["workers_left"] == 0
    assert found["reading"] > found["ended"], found
    svc("index", "--thumbs", instance=killed.instance, timeout=1800)
    assert rows(killed) == rows(plain)
    assert thumbnails(killed) == thumbnails(plain)
    assert hashes(killed.originals) == before
    assert left_over(killed) == left_over(plain)
    for library in (plain, killed):
        assert svc("check", instance=library.instance, timeout=1800).returncode == 0
    again = svc("index", "--json", instance=killed.instance, timeout=600)
    assert json.loads(again.stdout.splitlines()[-1])["updated"] == 0
