"""Files that cannot be read or stored, or change while they are read, stop nothing else."""

import errno
import os
import shutil
import sqlite3
import struct
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy.exc import OperationalError

from photosvc.index import extract, scan
from photosvc.index import run as job
from photosvc.index.store import Store
from tests.app.index import deadly_extract
from tests.app.index.indexing_requests import InlinePool
from tests.helpers import shared
from tests.helpers.library import call_svc, counts, open_library, reasons
from tests.helpers.pictures import encoded, exif, jpeg, quarters, video

DATED = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: "2021:02:03 04:05:06"})
OURS = "an error inside photosvc ({}), not in the file: please report it with the traceback in the log"


def test_a_file_that_changes_or_vanishes_while_it_is_read_is_left_for_the_next_run(library, monkeypatch):
    changing, vanishing = library.put("changing.jpg", jpeg()), library.put("vanishing.jpg", jpeg(80, 48))
    library.put("quiet.jpg", jpeg(90, 48))
    check = extract._check_unchanged

    def interfere(path, before):
        if path == changing:
            os.utime(path, (1, 1))
        elif path == vanishing:
            path.unlink()
        check(path, before)

    monkeypatch.setattr(job, "WorkerPool", InlinePool)
    monkeypatch.setattr(extract, "_check_unchanged", interfere)
    summary = library.index()
    assert reasons(summary.failed) == [("changing.jpg", "The file changed while it was read.")]
    assert reasons(summary.skipped) == [("vanishing.jpg", "the file or folder vanished")]
    assert summary.indexed == 1
    assert not vanishing.exists()
    monkeypatch.undo()
    again = library.index()
    assert (again.indexed, again.unchanged, again.failed) == (1, 1, [])
    assert library.names() == ["changing.jpg", "quiet.jpg"]
    assert changing.exists()


@pytest.mark.parametrize("vanishing", ["b", "b/deep", "b/deep/2.jpg"])
def test_what_vanishes_while_its_folder_is_listed_is_no_failure(library, monkeypatch, vanishing):
    for number, name in enumerate(("a/1.jpg", "b!.jpg", "b/deep/2.jpg", "b/deep/3.jpg", "b.jpg", "c/4.jpg")):
        library.put(name, jpeg(80 + number, 48))
    library.index()
    leads_deeper, everything = scan._leads_deeper, library.names()

    def remove(entry):
        is_folder = leads_deeper(entry)
        if entry.path == str(library.originals / vanishing):
            (shutil.rmtree if is_folder else os.unlink)(entry.path)
        return is_folder

    monkeypatch.setattr(scan, "_leads_deeper", remove)
    run = library.index()
    assert (reasons(run.failed), reasons(run.skipped)) == ([], [(vanishing, "the file or folder vanished")])
    assert library.names() == everything  # its disk may be away
    assert library.index().failed == []
    assert library.names() == [name for name in everything if not f"{name}/".startswith(f"{vanishing}/")]


@pytest.fixture
def in_memory():
    """A library on a file system that keeps any time, where there is one."""
    with shared.new_folder() as folder:
        library = open_library(Path(folder, "instance"))
        yield library
        library.close()


def test_paths_beyond_the_limit_are_left_out_with_that_reason(library):
    parts = "/".join(("p" * 200,) * 5)
    fits, longer = f"{parts}/{'x' * (1024 - 1005 - 4)}.jpg", f"{parts}/{'y' * (1025 - 1005 - 4)}.jpg"
    unfolds = "\ufdfa" * 32 + ".jpg"  # 33 bytes each, once folded
    for number, name in enumerate((fits, longer, unfolds)):
        library.put(name, jpeg(80 + number, 48))
    deeper = library.originals / parts / ("d" * 30)
    deeper.mkdir()
    (deeper / "z.jpg").write_bytes(b"never seen")
    summary = library.index()
    assert summary.indexed == 1
    reason = "its path is longer than 1024 bytes"
    assert sorted(reasons(summary.skipped)) == sorted(
        (name, reason) for name in (longer, unfolds, str(deeper.relative_to(library.originals)))
    )
    assert library.names() == [fits]


def test_a_picture_too_large_for_a_worker_is_found_by_its_date_and_with_error(tmp_path):
    library = open_library(tmp_path)
    picture = bytearray(encoded(quarters(), "JPEG", progressive=True, subsampling="4:4:4", exif=DATED))
    place = picture.index(b"\xff\xc2")
    picture[place + 5 : place + 9] = struct.pack(">HH", 30_000, 60_000)
    library.put("vast.jpg", bytes(picture))
    summary = library.index()
    needs = "the picture takes 10912 MB of memory to decode, more than PHOTOSVC_INDEX_MEMORY leaves"
    assert reasons(summary.failed) == [("vast.jpg", needs)]
    token = library.token(role="admin")
    (found,) = library.find(token=token, error="true", taken="2021-02-03", camera="EOS*")
    assert (found["FileName"], found["TakenAtLocal"], found["CameraModel"]) == (
        "vast.jpg", "2021-02-03T04:05:06Z", "EOS R5",
    )  # fmt: skip
    assert (found["Width"], found["Height"]) == (60_000, 30_000)
    assert library.find(token=token) == []
    assert reasons(library.index().skipped) == [("vast.jpg", needs)]
    library = open_library(tmp_path, settings={"PHOTOSVC_INDEX_MEMORY": "3000"}, upgrade=False)
    assert [reasons(library.index().failed), reasons(library.index().skipped)] == [[("vast.jpg", needs)]] * 2


def test_files_above_the_limit_are_found_by_date_and_shown_once_the_limit_is_higher(tmp_path):
    library = open_library(tmp_path, settings={"PHOTOSVC_MAX_FILE_SIZE": "1"})
    picture = library.put("large.jpg", jpeg(80, 48, exif=DATED))
    film = video(library.originals / "film.mp4", codec="libx264", tags={"creation_time": "2021-02-03T04:05:06Z"})
    for path in (picture, film):
        os.truncate(path, 2 << 20)
    refused = [(name, "the file is larger than 1 MB") for name in ("film.mp4", "large.jpg")]
    assert sorted(reasons(library.index().failed)) == refused
    token = library.token(role="admin")
    found = library.find(token=token, error="true", order="name", taken="2021-02-03")
    assert [(one["FileName"], one["TakenAt"], one["CameraModel"]) for one in found] == [
        ("film.mp4", "2021-02-03T04:05:06Z", "Unknown"),
        ("large.jpg", "2021-02-03T04:05:06Z", "EOS R5"),
    ]
    assert library.find(token=token) == []
    assert (library.index().failed, sorted(reasons(library.index().skipped))) == ([], refused)
    library = open_library(tmp_path, upgrade=False)
    assert counts(library.index()) == (0, 2, 0, 0, 0, 0)
    found = library.find(token=token, order="name")
    assert [(one["FileName"], one["Width"]) for one in found] == [("film.mp4", 64), ("large.jpg", 80)]
    assert library.find(token=token, error="true") == []


def test_a_file_that_kills_its_decoder_keeps_its_metadata(library, monkeypatch):
    library.put("deadly.jpg", jpeg(exif=DATED))
    library.put("quiet.jpg", jpeg(90, 48))
    monkeypatch.setattr(job, "extract", deadly_extract.extract)
    failed = [("deadly.jpg", "The reader of the file was killed (Segmentation fault).")]
    assert reasons(library.index().failed) == failed
    token = library.token(role="admin")
    (found,) = library.find(token=token, taken="2021-02-03")
    assert (found["FileName"], found["CameraModel"]) == ("deadly.jpg", "EOS R5")
    assert library.names(token=token) == ["deadly.jpg", "quiet.jpg"]
    assert library.find(token=token, error="true") == []
    assert reasons(library.index().skipped) == failed


@pytest.mark.parametrize("command", ["index", "check", "purge"])
def test_originals_that_cannot_be_read_are_one_sentence(library, monkeypatch, command):
    library.put("a.jpg", jpeg())
    library.index()
    library.close()
    scandir = os.scandir

    def refuse(path="."):
        if path == library.originals:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    done = call_svc(command, instance=library.instance)
    sentence = (
        f"The folder of originals '{library.originals}' cannot be read (Permission denied): let this user read it."
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"Error: {sentence}")


def test_missing_originals_are_one_sentence(library):
    library.originals.rmdir()
    done = call_svc("index", instance=library.instance)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"Error: The folder of originals '{library.originals}' does not exist or is not a folder; "
        "set PHOTOSVC_ORIGINALS.\n"
    )


def test_times_that_64_bits_of_nanoseconds_do_not_hold_are_the_nearest_they_do(in_memory):
    moments = [2**33 + 2**32, 10**10, -(10**10), 2**40, -(2**40)]
    for number, moment in enumerate(moments):
        path = in_memory.put(f"{moment}.jpg", jpeg(80 + number))
        os.utime(path, (moment, moment))
        if path.stat().st_mtime != moment:
            pytest.skip("the file system keeps no such times")
    assert in_memory.index().indexed == len(moments)
    again = in_memory.index()
    assert (again.unchanged, again.updated) == (len(moments), 0)
    assert len(in_memory.find()) == len(moments)


def test_a_file_that_cannot_even_be_rejected_is_reported_at_every_run_and_a_full_database_ends_it(library, monkeypatch):
    def failing(words):
        return OperationalError("INSERT", {}, sqlite3.OperationalError(words))

    library.put("a.jpg", jpeg())
    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish", lambda _self: 1 // 0)
        for _ in range(2):
            assert reasons(library.index().failed) == [("a.jpg", OURS.format("ZeroDivisionError"))]
        for words in ("database is locked", "database or disk is full"):
            patch.setattr(Store, "finish", Mock(side_effect=failing(words)))
            with pytest.raises(OperationalError, match=words):
                library.index()
    assert library.index().indexed == 1
