"""The memory that is left, and garbage collection during long jobs."""

import gc
import mmap
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from photosvc.core import memory
from photosvc.core.memory import address_space, available_memory, frozen_heap


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


def test_a_process_with_a_limit_may_use_what_it_has_not_mapped(monkeypatch):
    monkeypatch.setattr(memory, "address_space", lambda: 300)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1000, 1000))
    assert available_memory() == 700
    monkeypatch.setattr(resource, "getrlimit", lambda _: (200, 200))
    assert available_memory() == 0


def test_the_mapped_memory_grows_by_what_is_mapped(monkeypatch):
    before = address_space()
    with mmap.mmap(-1, 64 << 20):
        assert address_space() - before >= 64 << 20
    monkeypatch.setattr(memory, "Path", lambda _: Path("/nowhere/statm"))
    assert address_space() == 1 << 30
