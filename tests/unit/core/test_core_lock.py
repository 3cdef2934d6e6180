"""A lock file that one process holds at a time."""

import pytest

from photosvc.core.errors import ConflictError
from photosvc.core.locks.lock import exclusive_lock


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
