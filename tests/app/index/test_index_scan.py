import os

import pytest

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.problems import Problem, Reason
from photosvc.index import scan as module
from photosvc.index.scan import FoundFile, Unreachable, disk_path, scan, start_folder


def write(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x" * len(name))


def names(root, folder=""):
    return [found.name for found in scan(root, folder)]


def test_folders_come_one_after_the_other_sorted(tmp_path):
    write(tmp_path, "b/2.jpg", "b/1.jpg", "a/z/3.jpg", "a/4.jpg", "5.jpg")
    assert names(tmp_path) == ["5.jpg", "a/4.jpg", "a/z/3.jpg", "b/1.jpg", "b/2.jpg"]
    assert names(tmp_path, "a") == ["a/4.jpg", "a/z/3.jpg"]


def test_files_come_in_the_order_of_their_whole_names(tmp_path):
    write(tmp_path, "a/b.jpg", "a.jpg", "a-b/c.jpg", "a0.jpg", "A.jpg", "é.jpg", "z.jpg")
    found = ["A.jpg", "a-b/c.jpg", "a.jpg", "a/b.jpg", "a0.jpg", "z.jpg", "é.jpg"]
    assert names(tmp_path) == found == sorted(found)


def test_a_file_is_found_with_size_and_time(tmp_path):
    write(tmp_path, "a.jpg")
    os.utime(tmp_path / "a.jpg", ns=(1, 123_456_789))
    assert list(scan(tmp_path)) == [FoundFile("a.jpg", 5, 123_456_789)]


def test_hidden_names_and_those_of_other_programs_are_passed_over(tmp_path):
    write(tmp_path, ".a.jpg", ".git/b.jpg", "@eaDir/c.jpg", "#recycle/d.jpg", "__MACOSX/e.jpg", "f.jpg")
    assert names(tmp_path) == ["f.jpg"]


def test_folders_of_nas_systems_and_previews_of_photo_programs_are_passed_over(tmp_path):
    write(tmp_path, "@Recycle/a.jpg", "@__thumb/b.jpg", "#snapshot/c.jpg", "x/@eadir/d.jpg", "My.lrdata/e.jpg")
    write(tmp_path, "Old.photoslibrary/resources/f.jpg", "Old.photoslibrary/originals/g.jpg", "resources/h.jpg")
    assert names(tmp_path) == ["Old.photoslibrary/originals/g.jpg", "resources/h.jpg"]


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


def test_links_are_reported_and_never_followed(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "file").symlink_to("/etc/passwd")
    problem = Problem(Reason.SYMBOLIC_LINK)
    assert list(scan(tmp_path)) == [Unreachable("file", problem), Unreachable("loop", problem)]


def test_what_is_no_regular_file_is_reported(tmp_path):
    os.mkfifo(tmp_path / "pipe.jpg")
    assert list(scan(tmp_path)) == [Unreachable("pipe.jpg", Problem(Reason.NOT_REGULAR))]


def test_a_folder_that_vanishes_is_reported(tmp_path):
    assert list(scan(tmp_path, "gone")) == [Unreachable("gone", Problem.of(Reason.UNREADABLE_FOLDER, "ENOENT"))]


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


@pytest.mark.parametrize("folder", ["..", "a/../..", "/etc", "a\0b"])
def test_a_start_elsewhere_is_refused(tmp_path, folder):
    with pytest.raises(InvalidValueError, match="not below the folder of originals"):
        start_folder(tmp_path, folder)


def test_a_start_that_does_not_exist_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in ("nowhere", "file"):
        with pytest.raises(NotFoundError, match=f"There is no folder '{folder}' below the originals"):
            start_folder(tmp_path, folder)
    with pytest.raises(NotFoundError, match="set PHOTOSVC_ORIGINALS"):
        start_folder(tmp_path / "nowhere", "")
