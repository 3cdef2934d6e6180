import os

import pytest

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.problems import Problem, Reason
from photosvc.index import scan as module
from photosvc.index.scan import ScannedFile, Unreachable, disk_path, scan, start_folder


def write(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x" * len(name))


def names(root, folder=""):
    return [found.name for found in scan(root, folder)]


def test_hidden_names_and_those_of_other_programs_are_passed_over(tmp_path):
    write(tmp_path, ".a.jpg", ".git/b.jpg", "@eaDir/c.jpg", "#recycle/d.jpg", "__MACOSX/e.jpg", "f.jpg")
    write(tmp_path, "@Recycle/a.jpg", "@__thumb/b.jpg", "#snapshot/c.jpg", "x/@eadir/d.jpg", "My.lrdata/e.jpg")
    write(tmp_path, "Old.photoslibrary/resources/f.jpg", "Old.photoslibrary/originals/g.jpg", "resources/h.jpg")
    assert names(tmp_path) == ["Old.photoslibrary/originals/g.jpg", "f.jpg", "resources/h.jpg"]


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ("", ["a.jpg", "raw/b.gif", "raw/c.jpg", "x/[#no]/d.jpg", "x/raw/b.GIF"]),
        ("*.gif\n", ["a.jpg", "raw/c.jpg", "x/[#no]/d.jpg"]),
        ("RAW\r\n\r\n", ["a.jpg", "x/[#no]/d.jpg"]),
        ("raw/", ["a.jpg", "x/[#no]/d.jpg"]),
        ("/raw", ["a.jpg", "x/[#no]/d.jpg", "x/raw/b.GIF"]),
        ("x/raw", ["a.jpg", "raw/b.gif", "raw/c.jpg", "x/[#no]/d.jpg"]),
        ("x/*/?.gif", ["a.jpg", "raw/b.gif", "raw/c.jpg", "x/[#no]/d.jpg"]),
        ("*/b.gif", ["a.jpg", "raw/c.jpg", "x/[#no]/d.jpg", "x/raw/b.GIF"]),
        ("**/b.gif", ["a.jpg", "raw/c.jpg", "x/[#no]/d.jpg"]),
        ("**/raw/*.gif", ["a.jpg", "raw/c.jpg", "x/[#no]/d.jpg"]),
        ("x/**", ["a.jpg", "raw/b.gif", "raw/c.jpg"]),
        ("a.jpg/", ["a.jpg", "raw/b.gif", "raw/c.jpg", "x/[#no]/d.jpg", "x/raw/b.GIF"]),
        ("\ufeff# *.jpg\n !*.gif\n[#no]\n", ["a.jpg", "raw/b.gif", "raw/c.jpg", "x/raw/b.GIF"]),
        ("\\#*\n?aw\n.jpg\njpg\n", ["a.jpg", "x/[#no]/d.jpg"]),
        ("*", []),
        (f"{'*a' * 120}*.jpg\n" * 900, ["a.jpg", "raw/b.gif", "raw/c.jpg", "x/[#no]/d.jpg", "x/raw/b.GIF"]),
    ],
)
def test_files_and_folders_that_a_ppignore_names_are_left_out(tmp_path, patterns, left):
    write(tmp_path, "a.jpg", "raw/b.gif", "raw/c.jpg", "x/raw/b.GIF", "x/[#no]/d.jpg")
    (tmp_path / ".ppignore").write_text(patterns[: 64 << 10], newline="")
    assert names(tmp_path) == left
    assert names(tmp_path, "x") == [name for name in left if name.startswith("x/")]


def test_rules_hold_for_their_folder_and_below_alone(tmp_path):
    write(tmp_path, "a.jpg", "x/a.jpg", "x/y/a.jpg", "x/y/b.jpg", "z/a.jpg", "z/b.jpg")
    write(tmp_path, "n/.nomedia", "n/m/c.jpg", "o/.nomedia/d.jpg", "o/e.jpg")
    (tmp_path / "x/.ppignore").write_text("a.jpg")
    (tmp_path / "z/.ppignore").symlink_to("../x/.ppignore")
    os.mkfifo(tmp_path / ".ppignore")
    assert names(tmp_path) == ["a.jpg", "x/y/b.jpg", "z/a.jpg", "z/b.jpg"]
    assert names(tmp_path, "n/m") == []


@pytest.mark.parametrize("data", [b"a" * 65537, b"a\n" * 1001, b"a\0b"])
def test_a_ppignore_that_is_no_list_of_patterns_leaves_its_folder_unread(tmp_path, data):
    write(tmp_path, "a/1.jpg", "a/b/2.jpg", "c/3.jpg")
    (tmp_path / "a/.ppignore").write_bytes(data)
    problem = Problem.of(Reason.BAD_PPIGNORE, 64, 1000)
    assert next(scan(tmp_path)) == Unreachable("a", problem)
    assert names(tmp_path) == ["a", "c/3.jpg"]


def test_folders_too_deep_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_DEPTH", 2)
    write(tmp_path, "a/b/c/d.jpg", "a/e.jpg")
    assert list(scan(tmp_path))[:1] == [Unreachable("a/b", Problem.of(Reason.TOO_DEEP, 2))]
    assert names(tmp_path) == ["a/b", "a/e.jpg"]


def test_names_that_are_not_text_lead_back_to_their_files(tmp_path):
    raw = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(raw)  # noqa: PTH102 - bytes
    with open(raw + b"/\xff.jpg", "wb"):  # noqa: PTH123 - bytes
        pass
    (found,) = scan(tmp_path)
    assert found.name == "%FFcaf%E9/%FF%FF.jpg"
    assert disk_path(tmp_path, found.name).is_file()


def test_the_start_is_a_folder_below_the_root(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    assert start_folder(tmp_path, "") == start_folder(tmp_path, ".") == start_folder(tmp_path, str(tmp_path)) == ""
    assert start_folder(tmp_path, "a/b/") == start_folder(tmp_path, str(tmp_path / "a/b")) == "a/b"


def test_files_come_in_the_order_of_their_whole_names_with_size_and_time(tmp_path):
    write(tmp_path, "b/2.jpg", "b/1.jpg", "a/z/3.jpg", "a/4.jpg", "a.jpg", "a-b/c.jpg", "a0.jpg", "A.jpg", "é.jpg")
    expected = ["A.jpg", "a-b/c.jpg", "a.jpg", "a/4.jpg", "a/z/3.jpg", "a0.jpg", "b/1.jpg", "b/2.jpg", "é.jpg"]
    assert names(tmp_path) == expected == sorted(expected)
    assert names(tmp_path, "a") == ["a/4.jpg", "a/z/3.jpg"]
    os.utime(tmp_path / "a/z/3.jpg", ns=(1, 123_456_789))
    assert list(scan(tmp_path, "a/z")) == [ScannedFile("a/z/3.jpg", 9, 123_456_789)]


def test_links_are_never_followed_and_they_and_pipes_and_lost_folders_are_reported(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "file").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.jpg")
    link = Problem(Reason.SYMBOLIC_LINK)
    pipe = Unreachable("pipe.jpg", Problem(Reason.NOT_REGULAR))
    assert list(scan(tmp_path)) == [Unreachable("file", link), Unreachable("loop", link), pipe]
    assert list(scan(tmp_path, "gone")) == [Unreachable("gone", Problem(Reason.VANISHED))]


def test_a_start_elsewhere_or_that_does_not_exist_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    elsewhere = dict.fromkeys(["..", "a/../..", "/etc", "a\0b"], "not below the folder of originals")
    nowhere = {name: f"There is no folder '{name}' below the originals" for name in ("nowhere", "file")}
    for folder, message in (elsewhere | nowhere).items():
        with pytest.raises(NotFoundError if folder in nowhere else InvalidValueError, match=message):
            start_folder(tmp_path, folder)
    with pytest.raises(NotFoundError, match="set PHOTOSVC_ORIGINALS"):
        start_folder(tmp_path / "nowhere", "")
