"""A lock file that one process holds at a time."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from photosvc.core.errors import ConflictError
from photosvc.core.locks import exclusive_lock


def test_a_held_lock_refuses_others_and_is_free_afterwards(tmp_path):
    path = tmp_path / "new folder" / "index.lock"
    with (
        exclusive_lock(path, "refused"),
        pytest.raises(ConflictError, match="refused"),
        exclusive_lock(path, "refused"),
    ):
        pytest.fail("two held it")
    with exclusive_lock(path, "refused"):
        assert path.exists()


def test_a_lock_is_released_by_an_error(tmp_path):
    with pytest.raises(LookupError), exclusive_lock(tmp_path / "a.lock", "refused"):
        raise LookupError
    with exclusive_lock(tmp_path / "a.lock", "refused"):
        pass


def test_a_lock_names_its_former_holder_and_is_held_even_on_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "a.lock"
    with exclusive_lock(path, "refused", "first-with-a-long-name") as former:
        assert former == []
    with exclusive_lock(path, "refused", "second") as former:
        assert former == ["first-with-a-long-name"]

    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.pwrite", refuse)
    for _ in range(2):
        with (
            exclusive_lock(path, "refused", "third") as former,
            pytest.raises(ConflictError),
            exclusive_lock(path, "refused"),
        ):
            pytest.fail("two held it")
        assert former == ["second"]


def test_a_lock_names_all_holders_that_were_killed_since_one_ended_well(tmp_path):
    path = tmp_path / "a.lock"
    program = """
import os, pathlib, signal, sys
from photosvc.core.locks import exclusive_lock
with exclusive_lock(pathlib.Path(sys.argv[1]), "refused", sys.argv[2]):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    for name in ("first", "second"):
        done = subprocess.run([sys.executable, "-c", program, str(path), name], check=False, timeout=60)
        assert done.returncode == -signal.SIGKILL
    with exclusive_lock(path, "refused", "third") as former:
        assert former == ["second", "first"]
    with exclusive_lock(path, "refused", "fourth") as former:
        assert former == ["third"]
    path.write_bytes(b"\xff" * 10_000)
    for _ in range(2):
        with exclusive_lock(path, "refused", "fifth"):
            assert path.stat().st_size <= 16_384
