"""The cache of derived pictures: whole files or none, eviction of the files used longest ago, and the usage."""

import errno
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.pictures.cache import CacheUse, PictureCache, Usage, cache_use

HASH = "abcdef" + "0" * 34


def cache(folder, limit=1 << 30):
    return PictureCache(folder, limit)


def read(pictures, content_hash, suffix):
    descriptor = pictures.open(content_hash, suffix)
    if descriptor is None:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def used(pictures, content_hash, suffix, hours_ago, now=1_700_000_000):
    os.utime(pictures.path(content_hash, suffix), (now - hours_ago * 3600, now))


def test_a_file_lies_below_folders_of_its_first_digits_until_the_cache_is_cleared(tmp_path):
    pictures = cache(tmp_path, limit=14)
    assert (pictures.usage(), pictures.evict(), pictures.clear()) == (Usage(), Usage(), Usage())  # it was never written
    pictures.write(HASH, "tile_224.jpg", b"picture")
    assert (tmp_path / f"pictures/a/b/c/{HASH}_tile_224.jpg").read_bytes() == b"picture"
    assert read(pictures, HASH, "tile_224.jpg") == b"picture"
    assert read(pictures, HASH, "tile_500.jpg") is None
    assert pictures.usage() == Usage(1, 7)
    pictures.write(HASH, "y", b"picture")
    assert pictures.evict() == Usage()  # it is not above its cap
    assert (pictures.clear(), pictures.usage()) == (Usage(2, 14), Usage())


def test_an_unreadable_file_counts_as_missing(tmp_path, monkeypatch):
    pictures = cache(tmp_path)
    pictures.write(HASH, "tile_224.jpg", b"picture")
    for code in (errno.EACCES, errno.EIO, errno.EMFILE):

        def refuse(*_, code=code, **__):
            raise OSError(code, os.strerror(code))

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", refuse)
            assert pictures.open(HASH, "tile_224.jpg") is None, code
            assert not pictures.has(HASH, "tile_224.jpg"), code


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    pictures, write_bytes = cache(tmp_path), Path.write_bytes

    def fail_halfway(path, data):
        write_bytes(path, data[:4])
        raise RuntimeError

    monkeypatch.setattr(Path, "write_bytes", fail_halfway)
    with pytest.raises(RuntimeError):
        pictures.write(HASH, "fit_720.jpg", b"half a picture")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_many_writers_of_one_file_leave_one_whole_file(tmp_path):
    pictures = cache(tmp_path)
    texts = [bytes([number]) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda data: pictures.write(HASH, "fit_720.jpg", data), texts))
    assert read(pictures, HASH, "fit_720.jpg") in texts
    assert pictures.usage() == Usage(1, 100_000)


def test_files_used_longest_ago_are_evicted_until_a_tenth_is_free(tmp_path):
    pictures = cache(tmp_path, limit=1000)
    for number in range(12):
        pictures.write(f"{number:040x}", "x", b"1" * 100)
        used(pictures, f"{number:040x}", "x", hours_ago=number * 2)
    assert pictures.evict() == Usage(3, 300)
    assert [number for number in range(12) if pictures.has(f"{number:040x}", "x")] == list(range(9))


def test_asking_for_a_file_counts_as_a_use(tmp_path):
    pictures = cache(tmp_path, limit=250)
    for number in range(3):
        pictures.write(f"{number:040x}", "x", b"1" * 100)
        used(pictures, f"{number:040x}", "x", hours_ago=10 + number)
    assert read(pictures, f"{2:040x}", "x") == b"1" * 100
    pictures.evict()
    assert [number for number in range(3) if pictures.has(f"{number:040x}", "x")] == [0, 2]


def test_temporary_files_of_killed_processes_go_after_an_hour(tmp_path):
    pictures = cache(tmp_path, limit=1)
    fresh, old, ahead = (Path(pictures.temporary(HASH, name)) for name in ("fresh", "old", "ahead"))
    for path in (fresh, old, ahead):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    os.utime(ahead, (1 << 32, 1 << 32))  # the clock was set back since
    pictures.evict()
    assert (fresh.exists(), old.exists(), ahead.exists()) == (True, False, False)
    assert pictures.usage() == Usage(1, 4)


def test_temporary_files_count_and_displace_finished_ones(tmp_path):
    pictures = cache(tmp_path, limit=1000)
    for number in range(9):
        pictures.write(f"{number:040x}", "x", b"1" * 100)
        used(pictures, f"{number:040x}", "x", hours_ago=number * 2)
    Path(pictures.temporary(HASH, "video")).write_bytes(b"1" * 300)
    assert pictures.usage() == Usage(10, 1200)
    assert pictures.evict() == Usage(3, 300)
    assert pictures.usage() == Usage(7, 900)


def test_a_use_is_noted_after_the_clock_was_set_back(tmp_path):
    pictures = cache(tmp_path)
    pictures.write(HASH, "x", b"picture")
    os.utime(pictures.path(HASH, "x"), (1 << 32, 1))
    assert read(pictures, HASH, "x") == b"picture"
    assert abs(SYSTEM_CLOCK().timestamp() - Path(pictures.path(HASH, "x")).stat().st_atime) < 60


def test_a_cache_that_cannot_be_written_is_named_with_what_to_do(tmp_path, monkeypatch):
    pictures = cache(tmp_path)

    def refuse(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(OSError, match="cannot be written") as caught:
        pictures.write(HASH, "x", b"picture")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.strerror == (
        f"The folder of derived files {tmp_path} cannot be written (no space left on device). "
        "Free space on its disk, or set PHOTOSVC_CACHE to another folder."
    )


def test_an_abandoned_temporary_name_is_removed_whatever_has_it(tmp_path):
    pictures = cache(tmp_path, limit=1000)
    pictures.write(HASH, "x", b"1" * 100)
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    pipe, link = (Path(pictures.path(HASH, "x")).with_name(f".tmp-{name}") for name in ("pipe", "link"))
    os.mkfifo(pipe)
    link.symlink_to(outside)
    for path in (pipe, link):
        os.utime(path, (0, 0), follow_symlinks=False)
    pictures.evict()
    assert [path.name for path in pipe.parent.iterdir()] == [f"{HASH}_x"]
    assert outside.read_bytes() == b"mine"


def test_a_folder_in_place_of_a_file_is_missing_and_makes_way(tmp_path):
    pictures = cache(tmp_path)
    place = Path(pictures.path(HASH, "x"))
    (place / "inner").mkdir(parents=True)
    assert read(pictures, HASH, "x") is None
    pictures.write(HASH, "x", b"picture")
    assert read(pictures, HASH, "x") == b"picture"
    place.unlink()
    (place / "inner").mkdir(parents=True)
    assert pictures.remove_all([HASH]) == 1
    assert not place.exists()


def test_the_usage_of_few_files_is_exact(tmp_path):
    pictures = cache(tmp_path, limit=10**9)
    assert cache_use(pictures) == CacheUse(files=0, size=0, limit=10**9, is_exact=True)
    for number in range(30):
        pictures.write(hashlib.sha1(b"%d" % number).hexdigest(), "tile_50.jpg", b"x" * 10)
    (tmp_path / "pictures" / "README").write_text("not a folder")
    assert cache_use(pictures) == CacheUse(files=30, size=300, limit=10**9, is_exact=True)
    assert pictures.usage() == Usage(31, 312)


def test_the_usage_of_many_files_is_estimated_from_some_folders(tmp_path, monkeypatch):
    pictures = cache(tmp_path)
    for number in range(800):
        path = Path(pictures.path(hashlib.sha1(b"%d" % number).hexdigest(), "tile_50.jpg"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 10)
    monkeypatch.setattr("photosvc.pictures.cache._ENOUGH_FILES", 300)
    use = cache_use(pictures)
    assert not use.is_exact
    assert use.files == pytest.approx(800, rel=0.15)
    assert use.size == pytest.approx(8_000, rel=0.15)
