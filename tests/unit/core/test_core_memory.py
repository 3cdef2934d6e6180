"""Garbage collection during long jobs."""

import gc
from collections.abc import Iterator

import pytest

from photosvc.core.memory import frozen_heap


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
