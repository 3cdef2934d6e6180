"""Locks between processes: a byte of one file for each key."""

import os
import subprocess
import sys

import pytest

from photosvc.core.locks import ByteLocks

FIRST, SECOND = "0" * 12, f"{1:012x}"
#: Another process: takes the key, says whether it has it, and keeps it until its input ends.
TAKING = """
import sys
from pathlib import Path
from photosvc.core.locks import ByteLocks
locks = ByteLocks(Path(sys.argv[1]))
print(locks.take(sys.argv[2]), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new folder" / "keys.lock"


@pytest.fixture
def locks(path):
    locks = ByteLocks(path)
    yield locks
    locks.close()


class Other:
    """Another process that has asked for a key."""

    def __init__(self, path, key):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, "-c", TAKING, path, key], stdin=pipe, stdout=pipe, text=True)
        self.has_it = self.process.stdout.readline() == "True\n"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.communicate()


def has_it(path, key):
    with Other(path, key) as other:
        return other.has_it


def test_one_process_at_a_time_holds_a_key(path, locks):
    assert locks.take(FIRST)
    assert [has_it(path, FIRST), has_it(path, SECOND)] == [False, True]
    locks.release(FIRST)
    assert has_it(path, FIRST)


def test_the_key_of_another_process_is_free_when_that_has_ended(path, locks):
    with Other(path, FIRST) as other:
        assert (other.has_it, locks.take(FIRST), locks.take(SECOND)) == (True, False, True)
    assert locks.take(FIRST)


def test_a_forked_process_has_none_of_the_keys_and_takes_none_away(path, locks):
    assert locks.take(FIRST)
    child = os.fork()
    if child == 0:
        os._exit(int(locks.take(FIRST)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not has_it(path, FIRST)


def test_closing_releases_every_key_and_the_file_opens_again(path, locks):
    assert locks.take(FIRST)
    locks.close()
    locks.close()
    assert has_it(path, FIRST)
    assert locks.take(FIRST)
    assert not has_it(path, FIRST)


def test_nobody_waits_if_the_file_cannot_be_made(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    locks = ByteLocks(tmp_path / "file" / "keys.lock")
    assert [locks.take(FIRST), locks.take(FIRST)] == [True, True]
    locks.release(FIRST)
    locks.close()
