"""Folders and files that no other account may read."""

from pathlib import Path

import pytest

from photosvc.core.files import (
    create_private,
    make_files_private,
    make_folder_private,
    private_umask,
    readable_by_others,
)


def mode(path):
    return path.stat().st_mode & 0o7777


def test_a_private_folder_is_made_with_its_parents(tmp_path):
    make_folder_private(tmp_path / "a" / "b")
    assert mode(tmp_path / "a" / "b") == 0o700


@pytest.mark.parametrize(
    ("passable", "before", "after"),
    [(False, 0o755, 0o700), (False, 0o500, 0o500), (True, 0o755, 0o711), (True, 0o700, 0o700), (True, 0o2770, 0o2710)],
)
def test_a_readable_folder_loses_the_rights_of_others_and_gains_none(tmp_path, passable, before, after):
    tmp_path.chmod(before)
    make_folder_private(tmp_path, passable=passable)
    assert mode(tmp_path) == after


def test_existing_files_become_private_and_no_file_is_made(tmp_path):
    there, missing = tmp_path / "a.db", tmp_path / "a.db-wal"
    there.touch(0o644)
    make_files_private([missing, there, tmp_path])
    assert mode(there) == 0o600
    assert not missing.exists()


def test_a_private_file_is_made_and_an_existing_file_left_alone(tmp_path):
    create_private(tmp_path / "new")
    assert (mode(tmp_path / "new"), (tmp_path / "new").read_bytes()) == (0o600, b"")
    (tmp_path / "old").write_bytes(b"kept")
    create_private(tmp_path / "old")
    assert (tmp_path / "old").read_bytes() == b"kept"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no file system whose rights nobody changes")
def test_rights_that_cannot_be_changed_are_logged_with_the_command(caplog):
    make_files_private([Path("/proc/self/stat")])
    assert caplog.messages == [
        "/proc/self/stat can be read by other accounts of this machine: as its owner, run chmod 400 /proc/self/stat"
    ]


def test_new_files_are_private_and_readable_ones_are_reported_with_the_command(tmp_path):
    made, opened, absent = tmp_path / "made", tmp_path / "open", tmp_path / "absent"
    opened.touch()
    opened.chmod(0o644)
    with private_umask():
        made.touch()
    assert mode(made) == 0o600
    (told,) = readable_by_others([made, opened, absent])
    assert f"chmod 600 {opened}" in told
    assert mode(opened) == 0o644
