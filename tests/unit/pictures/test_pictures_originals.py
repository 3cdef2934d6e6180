"""Originals are read as the library knows them, or not at all."""

import errno
import os

import pytest

from photosvc.pictures.originals import (
    Original,
    OriginalChangedError,
    OriginalUnreadableError,
    descriptor_of,
    open_original,
)


@pytest.fixture
def original(tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(b"1" * 100)
    return Original(tmp_path, "a.jpg", "0" * 40, 100, path.stat().st_mtime_ns)


def test_a_file_that_stays_as_it_is_known_is_read(original):
    with open_original(original) as file:
        assert file.read() == b"1" * 100


def grow(path):
    path.write_bytes(b"2" * 101)


def touch(path):
    os.utime(path, (1, 1))


@pytest.mark.parametrize("change", [grow, touch])
def test_what_was_made_of_a_file_that_changed_meanwhile_is_not_kept(original, change):
    with pytest.raises(OriginalChangedError), open_original(original):
        change(original.root / original.name)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE, errno.EACCES])
def test_a_file_is_not_gone_because_the_system_cannot_open_it_now(original, monkeypatch, code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("photosvc.pictures.originals.open_inside", refuse)
    with pytest.raises(OriginalUnreadableError) as raised:
        descriptor_of(original)
    assert (raised.value.status, raised.value.retry_after) == (503, 30)


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENOTDIR, errno.ELOOP])
def test_a_file_that_is_gone_or_a_link_needs_an_index_run(original, monkeypatch, code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("photosvc.pictures.originals.open_inside", refuse)
    with pytest.raises(OriginalChangedError):
        descriptor_of(original)
