"""Files that cannot be read or stored, or change while they are read, stop nothing else."""

import os
import struct
from pathlib import Path

import pytest

from tests.helpers import shared
from tests.helpers.library import counts, open_library, reasons, svc
from tests.helpers.pictures import encoded, exif, jpeg, quarters, rational, video
from tests.helpers.programs import deadly_extract, racing_extract

OURS = "an error inside photosvc ({}), not in the file: please report it with the traceback in the log"


def test_a_file_that_changes_or_vanishes_while_it_is_read_is_left_for_the_next_run(library, monkeypatch):
    from photosvc.index import run as job

    changing, vanishing = library.put("changing.jpg", jpeg()), library.put("vanishing.jpg", jpeg(80, 48))
    library.put("quiet.jpg", jpeg(90, 48))
    monkeypatch.setattr(job, "extract", racing_extract.extract)
    summary = library.index()
    assert sorted(reasons(summary.failed)) == [
        ("changing.jpg", "The file changed while it was read."),
        ("vanishing.jpg", "the file vanished"),
    ]
    assert summary.indexed == 1
    assert not vanishing.exists()
    monkeypatch.undo()
    again = library.index()
    assert (again.indexed, again.unchanged, again.failed) == (1, 1, [])
    assert library.names() == ["changing.jpg", "quiet.jpg"]
    assert changing.exists()


@pytest.fixture
def in_memory():
    """A library on a file system that keeps any time, where there is one."""
    with shared.new_folder() as folder:
        library = open_library(Path(folder, "instance"))
        yield library
        library.close()


@pytest.mark.parametrize("moment", [2**33 + 2**32, 10**10, -(10**10), 2**40, -(2**40)])
def test_a_time_that_64_bits_of_nanoseconds_do_not_hold_is_the_nearest_they_do(in_memory, moment):
    library = in_memory
    path = library.put("far.jpg", jpeg())
    os.utime(path, (moment, moment))
    if path.stat().st_mtime != moment:
        pytest.skip("the file system keeps no such times")
    library.put("near.jpg", jpeg(80, 48))
    assert library.index().indexed == 2
    again = library.index()
    assert (again.unchanged, again.updated) == (2, 0)
    assert len(library.find()) == 2


def test_one_file_that_cannot_be_stored_stops_no_other(library, monkeypatch):
    from photosvc.index.store import Store

    save = Store.save

    def failing(self, found, extraction):
        done = save(self, found, extraction)
        if found.name == "b.jpg":
            raise ValueError("secret")
        return done

    for number, name in enumerate("abc"):
        library.put(f"{name}.jpg", jpeg(80 + number, 48))
    monkeypatch.setattr(Store, "save", failing)
    summary = library.index()
    assert (summary.indexed, reasons(summary.failed)) == (2, [("b.jpg", OURS.format("ValueError"))])
    assert library.names() == ["a.jpg", "c.jpg"]
    again = library.index()
    assert (again.unchanged, reasons(again.skipped)) == (2, [("b.jpg", OURS.format("ValueError"))])


def test_a_file_that_cannot_even_be_rejected_is_reported_at_every_run(library, monkeypatch):
    from photosvc.index.store import Store

    monkeypatch.setattr(Store, "finish", lambda _self: 1 // 0)
    library.put("a.jpg", jpeg())
    for _ in range(2):
        assert reasons(library.index().failed) == [("a.jpg", OURS.format("ZeroDivisionError"))]


@pytest.mark.parametrize("words", ["database is locked", "database or disk is full"])
def test_a_database_that_takes_nothing_ends_the_run(library, monkeypatch, words):
    import sqlite3

    from sqlalchemy.exc import OperationalError

    from photosvc.index.store import Store

    def failing(*_):
        raise OperationalError("INSERT", {}, sqlite3.OperationalError(words))

    library.put("a.jpg", jpeg())
    monkeypatch.setattr(Store, "finish", failing)
    with pytest.raises(OperationalError, match=words):
        library.index()
    monkeypatch.undo()
    assert library.index().indexed == 1


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
    block = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: "2021:02:03 04:05:06"})
    picture = bytearray(encoded(quarters(), "JPEG", progressive=True, subsampling="4:4:4", exif=block))
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
    block = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: "2021:02:03 04:05:06"})
    picture = library.put("large.jpg", jpeg(80, 48, exif=block))
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


def test_a_file_that_kills_its_decoder_keeps_its_metadata(tmp_path, monkeypatch):
    from photosvc.index import run as job

    library = open_library(tmp_path, settings={"PHOTOSVC_INDEX_TIMEOUT": "1"})
    block = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: "2021:02:03 04:05:06"})
    library.put("deadly.jpg", jpeg(exif=block))
    library.put("endless.jpg", jpeg(80, 48, exif=block))
    library.put("quiet.jpg", jpeg(90, 48))
    monkeypatch.setattr(job, "extract", deadly_extract.extract)
    summary = library.index()
    failed = [
        ("deadly.jpg", "The reader of the file was killed (Segmentation fault)."),
        ("endless.jpg", "The file took longer than 1 s to read."),
    ]
    assert sorted(reasons(summary.failed)) == failed
    token = library.token(role="admin")
    found = library.find(token=token, taken="2021-02-03", order="name")
    assert [(one["FileName"], one["CameraModel"]) for one in found] == [
        ("deadly.jpg", "EOS R5"),
        ("endless.jpg", "EOS R5"),
    ]
    assert library.names(token=token) == ["deadly.jpg", "endless.jpg", "quiet.jpg"]
    assert library.find(token=token, error="true", order="name", q="error:true") == []
    assert sorted(reasons(library.index().skipped)) == failed


def vast_tiff():
    """A TIFF whose header promises 2^32-1 times 2^32-1 pixels."""
    most = 2**32 - 1
    tags = ((256, most), (257, most), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, most), (279, 4))
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + b"\0" * 68


def test_no_header_or_path_is_too_large_for_the_database(new_database, tmp_path):
    library = open_library(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_database()})
    library.put("vast.tiff", vast_tiff())
    numbers = {0x8827: (4, 1, b"\xff\xff\xff\xff"), 0x920A: rational(2**32 - 1, 1), 0xA405: 65_535}
    library.put("numbers.jpg", jpeg(exif=exif({0x4746: 65_535}, numbers)))
    folder = "/".join("".join(map(chr, range(start, start + 60))) for start in range(0x4E00, 0x4E00 + 300, 60))
    library.put(f"{folder}/x.jpg", jpeg(80, 48))
    library.put(f"{folder}/{folder}/x.jpg", jpeg(90, 48))
    summary = library.index()
    assert summary.indexed == 2
    needs = "the picture takes 18446744065119 MB of memory to decode, more than PHOTOSVC_INDEX_MEMORY leaves"
    assert reasons(summary.failed) == [("vast.tiff", needs)]
    assert [sentence for _, sentence in reasons(summary.skipped)] == ["its path is longer than 1024 bytes"]
    assert library.names() == ["numbers.jpg", f"{folder}/x.jpg"]
    with library.session() as session:
        session.get_bind().dispose()


def test_missing_originals_are_one_sentence(tmp_path):
    library = open_library(tmp_path)
    library.originals.rmdir()
    done = svc("index", instance=library.instance)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"Error: The folder of originals '{library.originals}' does not exist or is not a folder; "
        "set PHOTOSVC_ORIGINALS.\n"
    )
