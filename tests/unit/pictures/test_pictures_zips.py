"""Names in zip archives, and archives of originals."""

import os
from datetime import datetime
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.pictures.originals import Original, UniqueNames, safe_name
from photosvc.pictures.selections import NOTE, Entry, stream_zip
from tests.helpers.examples import examples

TAKEN = datetime(2021, 7, 4, 12, 30, 10)  # noqa: DTZ001 - wall time


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("IMG_1.jpg", "IMG_1.jpg"), ("Zürich – 雪.jpg", "Zürich – 雪.jpg"), ("../../etc/passwd", "_.._etc_passwd"),
        ("a\\b:c*d?e.jpg", "a_b_c_d_e.jpg"), ("line\nbreak\x00.jpg", "line_break_.jpg"),
        ("abc\u202egpj.exe", "abc_gpj.exe"), ("CON.jpg", "_CON.jpg"), ("nul", "_nul"), ("con .jpg", "_con .jpg"),
        ("Lpt\u00b2.tar.gz", "_Lpt\u00b2.tar.gz"), ("CONIN$", "_CONIN$"), ("come.jpg", "come.jpg"), (" . ", "file"),
        ("..", "file"), ("ends with dots...", "ends with dots"), ("a" * 195 + "." * 9 + "b" * 21, "a" * 195),
        ("é" * 300 + ".jpeg", "é" * 97 + ".jpeg"),
    ],
)  # fmt: skip
def test_names_are_made_safe_for_every_system(name, safe):
    assert safe_name(name) == safe


def test_names_that_differ_only_in_case_or_accents_get_numbers():
    names = UniqueNames()
    taken = [names.take(name) for name in ("a.jpg", "A.JPG", "a.jpg", "a (2).jpg", "b", "b", "e\u0301.jpg", "é.jpg")]
    assert taken == ["a.jpg", "A (2).JPG", "a (3).jpg", "a (2) (2).jpg", "b", "b (2)", "e\u0301.jpg", "é (2).jpg"]


def test_numbers_are_found_quickly_among_names_that_end_in_numbers():
    names = UniqueNames()
    for number in range(2, 5000):
        names.take(f"a ({number})")
    assert [names.take("a") for _ in range(3)] == ["a", "a (5000)", "a (5001)"]


@examples(100)
@given(st.lists(st.text(max_size=30), max_size=30))
def test_any_names_come_out_safe_and_different(given_names):
    names = UniqueNames()
    taken = [names.take(name) for name in given_names]
    assert len({name.casefold() for name in taken}) == len(taken)
    assert not any(set(name) & set('/\\:*?"<>|\0\n') or name in {"", ".", ".."} for name in taken)


def entry(folder, name, data, shown=None):
    (folder / name).write_bytes(data)
    status = (folder / name).stat()
    return Entry(shown or name, Original(folder, name, "", status.st_size, status.st_mtime_ns), TAKEN)


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


def test_what_vanished_or_changed_is_named_in_the_archive(tmp_path):
    gone, kept, changed = (entry(tmp_path, name, b"12345") for name in ("gone.jpg", "kept.jpg", "changed.jpg"))
    (tmp_path / "gone.jpg").unlink()
    (tmp_path / "changed.jpg").write_bytes(b"123456")
    archive = ZipFile(BytesIO(b"".join(stream_zip([gone, kept, changed]))))
    assert archive.namelist() == ["kept.jpg", NOTE]
    assert archive.read(NOTE).decode().splitlines()[2:] == ["gone.jpg", "changed.jpg"]


def test_a_file_that_is_cut_while_it_is_read_is_named_in_the_archive(tmp_path):
    cut = entry(tmp_path, "cut.jpg", b"1" * 600_000)
    pieces = stream_zip([cut])
    received = [next(pieces)]
    os.truncate(tmp_path / "cut.jpg", 300_000)
    archive = ZipFile(BytesIO(b"".join([*received, *pieces])))
    assert archive.testzip() is None
    assert archive.namelist() == ["cut.jpg", NOTE]
    assert archive.read(NOTE).decode().splitlines()[2:] == ["cut.jpg (cut)"]


def test_a_file_that_changes_while_it_is_read_is_named_in_the_archive(tmp_path):
    changed = entry(tmp_path, "a.jpg", b"1" * 600_000)
    pieces = stream_zip([changed])
    received = [next(pieces)]
    os.utime(tmp_path / "a.jpg", (1, 1))
    archive = ZipFile(BytesIO(b"".join([*received, *pieces])))
    assert archive.namelist() == ["a.jpg", NOTE]
    assert archive.read(NOTE).decode().splitlines()[2:] == ["a.jpg (changed while it was read)"]


def test_a_file_that_grows_while_it_is_read_keeps_its_length_in_the_archive(tmp_path):
    grown = entry(tmp_path, "a.jpg", b"1" * 600_000)
    pieces = stream_zip([grown])
    received = [next(pieces)]
    with (tmp_path / "a.jpg").open("ab") as file:
        file.write(b"2" * 100)
    archive = ZipFile(BytesIO(b"".join([*received, *pieces])))
    assert archive.read("a.jpg") == b"1" * 600_000


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


def open_files():
    return {path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}


def test_a_reader_that_goes_away_leaves_no_file_open(tmp_path):
    pieces = stream_zip([entry(tmp_path, "a.jpg", b"1" * 600_000)])
    next(pieces)
    assert tmp_path / "a.jpg" in open_files()
    pieces.close()
    assert tmp_path / "a.jpg" not in open_files()


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "secret").write_bytes(b"12345")
    linked = entry(tmp_path, "a.jpg", b"12345")
    (tmp_path / "a.jpg").unlink()
    (tmp_path / "a.jpg").symlink_to(tmp_path / "secret")
    assert ZipFile(BytesIO(b"".join(stream_zip([linked])))).namelist() == [NOTE]
