"""A run that is killed, or meets a full disk, at any moment leaves a library that the next run completes."""

import os
import random
import re
import signal
import sqlite3
import subprocess
import time

import pytest

from tests.library import DATABASE, SURROUNDINGS, SVC, hashes, open_library, svc
from tests.pictures import jpeg

#: Columns that differ between two libraries of the same files: numbers, random identifiers, times of the runs.
_VARYING = re.compile(r"(.*_)?(id|uid|key|at|hash_key)$|shuffle$")
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
    """Files below the instance that a finished run does not leave."""
    names = {path.name for path in library.instance.rglob("*") if path.is_file()}
    return {name for name in names if name.startswith(".") or "tmp" in name}


def run_killed(library, kills, longest, seed):
    draw = random.Random(seed)
    for _ in range(kills):
        run = subprocess.Popen(
            [str(SVC), "index", "--workers", "2"],
            env={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(draw.uniform(0, longest))
        run.send_signal(signal.SIGKILL)
        run.wait()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_hundred_kills_change_nothing_in_the_library_that_comes_of_it(tmp_path):
    kills, count = int(os.environ.get("TEST_KILLS", "200")), int(os.environ.get("TEST_PICTURES", "2000"))
    plain, killed = open_library(tmp_path / "plain"), open_library(tmp_path / "killed")
    for library in (plain, killed):
        fill(library, count)
    before = hashes(killed.originals)
    began = time.monotonic()
    assert svc("index", instance=plain.instance, timeout=600).returncode == 1  # the broken picture
    whole = time.monotonic() - began
    run_killed(killed, kills, max(2.0, 4 * whole / kills), seed=1)
    svc("index", instance=killed.instance, timeout=600)
    assert rows(killed) == rows(plain)
    assert hashes(killed.originals) == before
    assert left_over(killed) == left_over(plain)


def test_a_full_disk_ends_the_run_with_a_clear_error_and_the_next_one_completes_it(tmp_path):
    plain, full = open_library(tmp_path / "plain"), open_library(tmp_path / "full")
    for library in (plain, full):
        fill(library, 40)
        library.close()
    svc("index", instance=plain.instance)
    blocker = tmp_path / "full_disk"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text(_FULL)
    for pages in (10, 20):
        done = svc("index", instance=full.instance, environ={"PYTHONPATH": str(blocker), "TEST_PAGES": str(pages)})
        assert (done.returncode, done.stdout) == (1, "")
        assert "Error: The database cannot be used: database or disk is full\n" in done.stderr
        assert "Traceback" not in done.stderr
    assert svc("index", instance=full.instance).returncode in {0, 1}
    assert rows(full) == rows(plain)


#: SQLite gives the same error when the file may not grow as when the disk is full.
_FULL = """
import os, sqlite3
connect = sqlite3.connect
def limited(database, *arguments, **options):
    connection = connect(database, *arguments, **options)
    if str(database).endswith("photosvc.db"):
        (count,), = connection.execute("PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count={count + int(os.environ['TEST_PAGES'])}")
    return connection
sqlite3.connect = sqlite3.dbapi2.connect = limited
"""
