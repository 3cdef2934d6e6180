"""The free memory of a process, and garbage collection during long jobs."""

import ctypes
import gc
import mmap
import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import run

import pytest

from photosvc.core import process
from photosvc.core.process import address_space, available_memory, frozen_heap, release_memory


@pytest.fixture
def thawed() -> Iterator[None]:
    """A process without frozen objects."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    yield
    if frozen:
        gc.freeze()


@pytest.mark.usefixtures("thawed")
def test_objects_from_before_a_long_job_are_only_left_out_of_garbage_collection_during_it():
    with frozen_heap():
        assert gc.get_freeze_count() > 1000
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("thawed")
def test_a_program_that_froze_its_objects_keeps_them_so():
    gc.freeze()
    with frozen_heap():
        pass
    assert gc.get_freeze_count() > 1000


def test_a_process_without_a_limit_may_use_two_gibibytes(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert available_memory() == 2 << 30


def test_a_process_with_a_limit_may_use_the_memory_that_it_has_not_mapped(monkeypatch):
    monkeypatch.setattr(process, "address_space", lambda: 300)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, 1000))
    assert available_memory() == 700
    monkeypatch.setattr(resource, "getrlimit", lambda _: (200, 200))
    assert available_memory() == 0


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells how much memory a process has")
def test_freed_memory_returns_to_the_system_and_threads_share_free_memory():
    program = """if True:
        import ctypes, re, sys, threading
        from photosvc.core.process import release_memory

        def private():
            return int(re.search(r"RssAnon:\\s+(\\d+)", open("/proc/self/status").read())[1]) >> 10

        def fill(number):
            all_threads.wait()
            blocks = [bytes(2000) for _ in range(4000)]
            all_threads.wait()
            kept[number] = blocks[::100]  # between free ones

        all_threads, kept, before = threading.Barrier(16), {}, private()
        threads = [threading.Thread(target=fill, args=(number,)) for number in range(16)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        held = private() - before
        release_memory()
        print(held, private() - before, flush=True)
        ctypes.CDLL(None).malloc_info(0, ctypes.c_void_p.in_dll(ctypes.CDLL(None), "stdout"))
    """
    output = run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "MALLOC_ARENA_MAX": "2"},
    ).stdout
    held, left = map(int, output.split(maxsplit=2)[:2])
    assert held > 50
    assert left < 15
    assert output.count("<heap nr=") <= 2


def test_other_c_libraries_are_left_alone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    release_memory()


def test_the_mapped_memory_grows_by_each_mapping(monkeypatch):
    before = address_space()
    with mmap.mmap(-1, 64 << 20):
        assert address_space() - before >= 64 << 20
    monkeypatch.setattr(process, "Path", lambda _: Path("/nowhere/statm"))
    assert address_space() == 1 << 30


def test_memory_can_be_released_in_the_own_process():
    release_memory()
    assert available_memory() > 0
