"""What the cache of pictures takes: exact where it is small, near the truth where only some folders are read."""

import hashlib

import pytest

from photosvc.pictures import cache as cache_uses
from photosvc.pictures.cache import PictureCache, cache_use


@pytest.fixture
def cache(tmp_path):
    return PictureCache(tmp_path / "cache", 10**9)


def fill(cache, number):
    for at in range(number):
        cache.write(hashlib.sha1(b"%d" % at).hexdigest(), "tile_50.jpg", b"x" * 10)


def test_a_cache_that_does_not_exist_is_empty(cache):
    found = cache_use(cache)
    assert (found.files, found.size, found.limit, found.is_exact) == (0, 0, 10**9, True)


def test_few_files_are_counted_exactly(cache):
    fill(cache, 30)
    (cache.folder / "pictures" / "README").write_text("not a folder")
    found = cache_use(cache)
    assert (found.files, found.size, found.is_exact) == (30, 300, True)
    assert (found.files, found.size) == (cache.usage().files - 1, cache.usage().bytes - 12)


@pytest.mark.slow
def test_many_files_are_estimated_from_some_folders(cache, monkeypatch):
    fill(cache, 3000)
    monkeypatch.setattr(cache_uses, "_ENOUGH_FILES", 500)
    found = cache_use(cache)
    assert not found.is_exact
    assert found.files == pytest.approx(3000, rel=0.15)
    assert found.size == pytest.approx(30_000, rel=0.15)
