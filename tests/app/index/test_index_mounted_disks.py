import pytest

from photosvc.index import mounts
from photosvc.index.mounts import absent_disks, remember_disks


@pytest.fixture
def mounted(tmp_path, monkeypatch):
    """The names of folders on which disks are mounted, in the root that the tests pass."""
    names = []
    monkeypatch.setattr(mounts, "mounts_below", lambda root: {f"{root}/{name}": "1" for name in names})
    return names


def test_no_more_disks_than_the_limit_are_remembered(session, mounted, tmp_path, monkeypatch):
    monkeypatch.setattr(mounts, "_MOST", 2)
    for name in ("c", "b", "a"):
        mounted[:] = [name]
        remember_disks(session, tmp_path)
    mounted.clear()
    assert absent_disks(session, tmp_path) == {"b", "c"}
    monkeypatch.setattr(mounts, "_MOST", 1)
    mounted += ["a", "d"]
    remember_disks(session, tmp_path)
    assert absent_disks(session, tmp_path) == {"b", "c"}
