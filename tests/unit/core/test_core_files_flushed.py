"""Files that must outlast a loss of power: on the disk before they get their name."""

import os
import stat
from pathlib import Path

import pytest

from photosvc.auth.first_account import offer
from photosvc.core.files import flush_file, read_or_create
from photosvc.settings.instance import remember_originals

WRITERS = {
    "secret_key": lambda folder: read_or_create(folder / "secret_key", lambda: "key"),
    "first_account": offer,
    "photos_folder": lambda folder: remember_originals(folder, folder / "pictures"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_flushed_before_it_gets_its_name_and_its_folder_afterwards(tmp_path, monkeypatch, name):
    events = []
    fsync = os.fsync

    def note(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        size = os.fstat(descriptor).st_size if not is_folder else None
        events.append((is_folder, is_folder or size > 0, (tmp_path / name).exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    WRITERS[name](tmp_path)
    assert events == [(False, True, False), (True, True, True)]
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert [path.name for path in Path(tmp_path).iterdir()] == [name]


def test_the_content_of_a_file_is_flushed_but_never_through_a_link(tmp_path, monkeypatch):
    (tmp_path / "film.mp4").write_bytes(b"film")
    (tmp_path / "link.mp4").symlink_to(tmp_path / "film.mp4")
    flushed, fsync = [], os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda descriptor: flushed.append(os.fstat(descriptor).st_ino) or fsync(descriptor)
    )
    flush_file(tmp_path / "film.mp4")
    with pytest.raises(OSError, match="symbolic links"):
        flush_file(tmp_path / "link.mp4")
    assert flushed == [(tmp_path / "film.mp4").stat().st_ino]
