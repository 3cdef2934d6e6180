"""Originals are read if they are unchanged since the index run, or not at all."""

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


def test_an_unchanged_file_is_read(original):
    with open_original(original) as file:
        assert file.read() == b"1" * 100


def test_a_file_that_changes_while_it_is_read_is_refused(original):
    path = original.root / original.name
    for change in (lambda: path.write_bytes(b"2" * 101), lambda: os.utime(path, (1, 1))):
        path.write_bytes(b"1" * 100)
        os.utime(path, ns=(original.mtime_ns, original.mtime_ns))
        with pytest.raises(OriginalChangedError), open_original(original):
            change()


def test_a_file_that_the_system_cannot_open_now_is_not_gone_and_others_need_an_index_run(original, monkeypatch):
    passing = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE, errno.EACCES)
    for code in (*passing, errno.ENOENT, errno.ENOTDIR, errno.ELOOP):

        def refuse(*_, code=code, **__):
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr("photosvc.pictures.originals.open_inside", refuse)
        with pytest.raises((OriginalUnreadableError, OriginalChangedError)) as raised:
            descriptor_of(original)
        assert (raised.type is OriginalUnreadableError) is (code in passing), errno.errorcode[code]
        if code in passing:
            assert (raised.value.status, raised.value.retry_after) == (503, 30)
