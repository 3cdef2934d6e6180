"""Zip archives of originals."""

import errno
import os
from datetime import datetime
from io import BytesIO, FileIO
from pathlib import Path
from zipfile import ZipFile

from photosvc.pictures import archives
from photosvc.pictures.archives import NOTE, ZipEntry, stream_zip
from photosvc.pictures.originals import Original

TAKEN = datetime(2021, 7, 4, 12, 30, 10)  # noqa: DTZ001 - wall time


def entry(folder, name, data, shown=None):
    (folder / name).write_bytes(data)
    status = (folder / name).stat()
    return ZipEntry(shown or name, Original(folder, name, "", status.st_size, status.st_mtime_ns), TAKEN)


def test_an_archive_holds_the_exact_bytes_stored(tmp_path):
    data = os.urandom(700_000)
    archive = ZipFile(
        BytesIO(b"".join(stream_zip([entry(tmp_path, "a.jpg", data), entry(tmp_path, "b", b"", "a.jpg")])))
    )
    assert archive.testzip() is None
    assert [(info.filename, info.file_size, info.compress_type) for info in archive.infolist()] == [
        ("a.jpg", 700_000, 0),
        ("a (2).jpg", 0, 0),
    ]
    assert archive.read("a.jpg") == data
    assert archive.getinfo("a.jpg").date_time == (2021, 7, 4, 12, 30, 10)


def test_files_that_vanished_or_changed_or_became_links_are_named_in_the_archive(tmp_path):
    names = ("gone.jpg", "kept.jpg", "changed.jpg", "link.jpg")
    gone, kept, changed, link = (entry(tmp_path, name, b"12345") for name in names)
    (tmp_path / "gone.jpg").unlink()
    (tmp_path / "changed.jpg").write_bytes(b"123456")
    (tmp_path / "link.jpg").rename(tmp_path / "secret")
    (tmp_path / "link.jpg").symlink_to(tmp_path / "secret")
    archive = ZipFile(BytesIO(b"".join(stream_zip([gone, kept, changed, link]))))
    assert archive.namelist() == ["kept.jpg", NOTE]
    assert archive.read(NOTE).decode().splitlines()[2:] == ["gone.jpg", "changed.jpg", "link.jpg"]


def test_a_file_that_changes_while_it_is_read_is_named_in_the_archive(tmp_path):
    path = tmp_path / "a.jpg"
    for change, note in (
        (lambda: os.truncate(path, 300_000), "a.jpg (cut)"),
        (lambda: os.utime(path, (1, 1)), "a.jpg (changed while it was read)"),
        (lambda: path.write_bytes(b"1" * 600_000 + b"2" * 100), "a.jpg (changed while it was read)"),
    ):
        pieces = stream_zip([entry(tmp_path, "a.jpg", b"1" * 600_000)])
        received = [next(pieces)]
        change()
        archive = ZipFile(BytesIO(b"".join([*received, *pieces])))
        assert archive.testzip() is None
        assert archive.namelist() == ["a.jpg", NOTE]
        assert archive.read(NOTE).decode().splitlines()[2:] == [note]
        assert note.endswith("(cut)") or archive.read("a.jpg") == b"1" * 600_000


def test_a_file_whose_disk_fails_is_named_as_its_member_in_the_archive(tmp_path, monkeypatch):
    class Failing(FileIO):
        def read(self, size=-1):
            if self.tell():
                raise OSError(errno.EIO, "Input/output error")
            return super().read(size)

    monkeypatch.setattr(archives, "open_unbuffered", lambda original: Failing(original.root / original.name))
    entries = [entry(tmp_path, f"{name}.jpg", name.encode() * 300_000, "Lake.jpg") for name in "ab"]
    archive = ZipFile(BytesIO(b"".join(stream_zip(entries))))
    assert archive.namelist() == ["Lake.jpg", "Lake (2).jpg", NOTE]
    assert archive.read(NOTE).decode().splitlines()[2:] == ["Lake.jpg (cut)", "Lake (2).jpg (cut)"]
    assert archive.testzip() is None


def test_files_that_cannot_be_named_any_more_are_counted(tmp_path):
    archive = ZipFile(BytesIO(b"".join(stream_zip([None, entry(tmp_path, "a.jpg", b"1"), None]))))
    assert archive.namelist() == ["a.jpg", NOTE]
    assert archive.read(NOTE).decode() == (
        "These files are missing from the archive, or incomplete, because they changed, vanished or cannot be read:\n\n"
        "(2 that are no longer in the library, or that you may no longer see)\n"
    )


def test_small_files_are_sent_together(tmp_path):
    pieces = list(stream_zip(entry(tmp_path, f"{number}.jpg", b"1" * 1000) for number in range(200)))
    assert len(pieces) == 4
    assert all(65_536 <= len(piece) < 70_000 for piece in pieces[:-1])


def readable_by_others():
    return {path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}


def test_a_reader_that_goes_away_leaves_no_file_open(tmp_path):
    pieces = stream_zip([entry(tmp_path, "a.jpg", b"1" * 600_000)])
    next(pieces)
    assert tmp_path / "a.jpg" in readable_by_others()
    pieces.close()
    assert tmp_path / "a.jpg" not in readable_by_others()
