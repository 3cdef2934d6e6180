"""What the cache of pictures takes: exact where it is small, near the truth where only some folders are read."""

import hashlib
from pathlib import Path

import pytest

from photosvc.pictures import cache as cache_uses
from photosvc.pictures.cache import PictureCache, cache_use


@pytest.fixture
def cache(tmp_path):
    return PictureCache(tmp_path / "cache", 10**9)


def fill(cache, number):
    for at in range(number):
        cache.write(hashlib.sha1(b"%d" % at).hexdigest(), "tile_50.jpg", b"x" * 10)


def test_few_files_are_counted_exactly(cache):
    found = cache_use(cache)
    assert (found.files, found.size, found.limit, found.is_exact) == (0, 0, 10**9, True)
    fill(cache, 30)
    (cache.folder / "pictures" / "README").write_text("not a folder")
    found = cache_use(cache)
    assert (found.files, found.size, found.is_exact) == (30, 300, True)
    assert (found.files, found.size) == (cache.usage().files - 1, cache.usage().bytes - 12)


def test_many_files_are_estimated_from_some_folders(cache, monkeypatch):
    for number in range(800):
        path = Path(cache.path(hashlib.sha1(b"%d" % number).hexdigest(), "tile_50.jpg"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 10)
    monkeypatch.setattr(cache_uses, "_ENOUGH_FILES", 300)
    found = cache_use(cache)
    assert not found.is_exact
    assert found.files == pytest.approx(800, rel=0.15)
    assert found.size == pytest.approx(8_000, rel=0.15)
