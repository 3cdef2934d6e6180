"""What gets into the originals, and what never does."""

import errno
import fcntl
import hashlib
import os
import stat
import threading
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.index.scan import scan
from photosvc.library import staging as staging_module
from photosvc.library.staging import Staging
from photosvc.library.storage_errors import (
    IncompleteError,
    NameRefusedError,
    NameTakenError,
    ParentMissingError,
    PartLockedError,
    PartMissingError,
    StorageFailedError,
    StorageFullError,
    StorageReadOnlyError,
    TooLargeError,
)

MOST = 1000


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    folder = tmp_path / "originals"
    folder.mkdir()
    return folder


@pytest.fixture
def staging(originals: Path) -> Staging:
    return Staging(originals)


def parts_of(originals: Path) -> list[str]:
    return sorted(path.name for path in (originals / ".photosvc").iterdir())


def store(
    staging: Staging, name: str, data: bytes, *, replace: bool = False, expected_length: int | None = None
) -> None:
    with staging.receive(most_bytes=MOST, expected_length=expected_length) as part:
        part.write(data)
        part.place(name, replace=replace)


def test_a_placed_file_has_its_bytes_hash_time_and_mode(staging, originals):
    with staging.receive(most_bytes=MOST, expected_length=6) as part:
        part.write(b"abc")
        part.write(memoryview(b"def"))
        assert (part.size, part.hash) == (6, hashlib.sha1(b"abcdef").hexdigest())
        assert not (originals / "2024").exists()
        status = part.place("2024/05/a.jpg", replace=False, modified_at=1_000_000_000.5)
    placed = originals / "2024/05/a.jpg"
    assert placed.read_bytes() == b"abcdef"
    assert placed.stat().st_mtime == 1_000_000_000.5 == status.st_mtime
    assert placed.stat().st_ino == status.st_ino
    assert stat.S_IMODE(placed.stat().st_mode) == 0o666 & ~_umask()
    assert parts_of(originals) == []


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_staging_folder_is_private_and_no_scan_sees_it(staging, originals):
    with staging.receive(most_bytes=MOST) as part:
        part.write(b"abc")
        assert part.path.read_bytes() == b"abc"
        assert list(scan(originals)) == []
    assert stat.S_IMODE((originals / ".photosvc").stat().st_mode) == 0o700


def test_a_part_that_is_not_placed_disappears(staging, originals):
    with staging.receive(most_bytes=MOST) as part:
        part.write(b"abc")
    with pytest.raises(ZeroDivisionError), staging.receive(most_bytes=MOST, keep=True):
        raise ZeroDivisionError
    assert parts_of(originals) == []
    assert list(originals.iterdir()) == [originals / ".photosvc"]


def test_a_shorter_or_longer_file_than_announced_is_refused(staging, originals):
    store(staging, "a.jpg", b"old")
    for length in (2, 6):
        with pytest.raises(IncompleteError):
            store(staging, "a.jpg", b"abc", replace=True, expected_length=length)
    assert (originals / "a.jpg").read_bytes() == b"old"
    assert parts_of(originals) == []


def test_one_of_many_threads_creates_a_name_and_all_make_its_folders(staging, originals):
    results: list[str] = []
    start = threading.Barrier(8)

    def create(number: int) -> None:
        with staging.receive(most_bytes=MOST) as part:
            part.write(b"%d" % number * 100)
            start.wait()
            try:
                part.place("new/er/a.jpg", replace=False)
            except NameTakenError:
                results.append("taken")
            else:
                results.append("placed")

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["placed"] + ["taken"] * 7
    assert len(set((originals / "new/er/a.jpg").read_bytes())) == 1
    assert parts_of(originals) == []


def test_no_link_leads_out_of_the_originals(staging, originals, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.jpg").write_bytes(b"old")
    (originals / "out").symlink_to(outside)
    (originals / "a.jpg").symlink_to(outside / "a.jpg")
    for replace in (False, True):
        with pytest.raises(ParentMissingError):
            store(staging, "out/a.jpg", b"new", replace=replace)
        with pytest.raises(NameTakenError):
            store(staging, "a.jpg", b"new", replace=replace)
    assert (outside / "a.jpg").read_bytes() == b"old"
    assert (originals / "a.jpg").is_symlink()


def test_a_folder_is_never_replaced_and_a_file_is_no_folder(staging, originals):
    store(staging, "a/b.jpg", b"old")
    for replace in (False, True):
        with pytest.raises(NameTakenError):
            store(staging, "a", b"new", replace=replace)
        with pytest.raises(ParentMissingError):
            store(staging, "a/b.jpg/c.jpg", b"new", replace=replace)


def test_a_resumable_part_continues_from_its_size_on_disk(staging, originals):
    with staging.receive(most_bytes=MOST, keep=True) as part:
        part.write(b"abc")
        token = part.token
    assert staging.size_of(token) == 3
    with staging.resume(token, most_bytes=MOST) as part:
        assert part.size == 3
        part.write(b"xyz")
        part.cut(4)
        part.write(b"ef")
    with staging.resume(token, most_bytes=MOST, expected_length=6) as part:
        assert (part.size, part.hash) == (6, hashlib.sha1(b"abcxef").hexdigest())
        part.place("a.jpg", replace=False)
    assert (originals / "a.jpg").read_bytes() == b"abcxef"
    with pytest.raises(PartMissingError):
        staging.size_of(token)


def test_one_request_at_a_time_writes_to_a_resumable_part(staging):
    with staging.receive(most_bytes=MOST, keep=True) as part:
        token = part.token
    with staging.resume(token, most_bytes=MOST):
        with pytest.raises(PartLockedError) as caught, staging.resume(token, most_bytes=MOST):
            pass
        assert caught.value.status == 423
        staging.delete(token)
    with pytest.raises(PartMissingError), staging.resume(token, most_bytes=MOST):
        pass
    staging.delete(token)


def test_a_part_opened_before_it_was_placed_cannot_be_written_to_afterwards(staging, originals, monkeypatch):
    with staging.receive(most_bytes=MOST, keep=True) as part:
        part.write(b"abc")
        token = part.token
    flock = fcntl.flock

    def late(file: int, flags: int) -> None:
        monkeypatch.setattr("photosvc.library.staging.fcntl.flock", flock)
        with staging.resume(token, most_bytes=MOST) as part:
            part.place("a.jpg", replace=True)
        flock(file, flags)

    monkeypatch.setattr("photosvc.library.staging.fcntl.flock", late)
    with pytest.raises(PartMissingError), staging.resume(token, most_bytes=MOST):
        pass
    assert (originals / "a.jpg").read_bytes() == b"abc"


def raising(number: int) -> Mock:
    return Mock(side_effect=OSError(number, "a disk says"))


def test_a_file_over_the_cap_or_the_free_space_is_refused_before_and_while_it_arrives(staging):
    with pytest.raises(TooLargeError), staging.receive(most_bytes=5, expected_length=6):
        pass
    with staging.receive(most_bytes=5) as part:
        part.write(b"abcde")
        with pytest.raises(TooLargeError):
            part.write(b"f")
    with pytest.raises(StorageFullError), staging.receive(most_bytes=1 << 62, expected_length=1 << 61):
        pass


def test_faults_of_the_disk_are_errors_of_their_own_and_leave_the_old_file(staging, originals, monkeypatch):
    store(staging, "a.jpg", b"old")
    for function, number, error, status in (
        ("write", errno.ENOSPC, StorageFullError, 507),
        ("write", errno.EDQUOT, StorageFullError, 507),
        ("fsync", errno.EIO, StorageFailedError, 503),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(staging_module.os, function, raising(number))
            with pytest.raises(error) as caught:
                store(staging, "a.jpg", b"new", replace=True)
        assert caught.value.status == status
        assert parts_of(originals) == []
        assert (originals / "a.jpg").read_bytes() == b"old"
    (originals / ".photosvc").rmdir()
    monkeypatch.setattr("photosvc.core.files.os.mkdir", raising(errno.EROFS))
    with pytest.raises(StorageReadOnlyError) as caught, staging.receive(most_bytes=MOST):
        pass
    assert caught.value.status == 403


def test_a_new_file_never_replaces_another_one_also_on_a_disk_without_hard_links(staging, originals, monkeypatch):
    store(staging, "a.jpg", b"old")
    with pytest.raises(NameTakenError):
        store(staging, "a.jpg", b"new")
    assert (originals / "a.jpg").read_bytes() == b"old"
    store(staging, "a.jpg", b"new", replace=True)
    assert (originals / "a.jpg").read_bytes() == b"new"
    monkeypatch.setattr(staging_module.os, "link", raising(errno.EPERM))
    store(staging, "b.jpg", b"old")
    with pytest.raises(NameTakenError):
        store(staging, "b.jpg", b"new")
    assert (originals / "b.jpg").read_bytes() == b"old"
    assert parts_of(originals) == []


def test_hostile_names_and_impossible_times_are_refused(staging, originals):
    for name in (
        "", "/etc/a.jpg", "../a.jpg", "a/../../a.jpg", "..", ".", "a/./b.jpg", "a//b.jpg", "a/", ".photosvc/a.jpg",
        "a/.photosvc/b.jpg", ".photosvc", "a\x00.jpg", "a\n.jpg", "a\u202egpj.exe", "%FFa.jpg",
        os.fsdecode(b"\xff.jpg"), "a" * 256, "ä" * 128, "/".join(["a"] * 101), "/".join(["a" * 200] * 6),
    ):  # fmt: skip
        with pytest.raises(NameRefusedError) as caught:
            store(staging, name, b"abc", replace=True)
        assert (caught.value.status, caught.value.field) == (400, "name"), name
        assert list(originals.rglob("*")) == [originals / ".photosvc"], name
    for seconds in (1e20, -1e20, float("nan"), float("inf")):
        with pytest.raises(NameRefusedError), staging.receive(most_bytes=MOST) as part:
            part.place("a.jpg", replace=True, modified_at=seconds)
        assert not (originals / "a.jpg").exists(), seconds


def test_missing_folders_can_be_an_error_and_those_of_originals_and_staging_are_never_made_or_followed(
    staging, originals, tmp_path
):
    with pytest.raises(ParentMissingError) as caught, staging.receive(most_bytes=MOST) as part:
        part.place("a/b.jpg", replace=True, make_folders=False)
    assert caught.value.status == 409
    assert not (originals / "a").exists()
    with pytest.raises(StorageFailedError), Staging(tmp_path / "unmounted").receive(most_bytes=MOST):
        pass
    assert not (tmp_path / "unmounted").exists()
    (originals / ".photosvc").rmdir()
    (originals / ".photosvc").symlink_to(tmp_path)
    with pytest.raises(ParentMissingError), staging.receive(most_bytes=MOST):
        pass


def test_only_tokens_of_parts_are_looked_up_and_a_part_that_was_linked_is_never_written_to(staging, originals):
    store(staging, "a.jpg", b"old")
    for token in ("", "../../a", "a" * 32 + "/", "A" * 32, "a" * 31, "\x00" * 32):
        with pytest.raises(PartMissingError):
            staging.size_of(token)
        with pytest.raises(PartMissingError), staging.resume(token, most_bytes=MOST):
            pass
        staging.delete(token)
        assert (originals / "a.jpg").exists(), token
    with staging.receive(most_bytes=MOST, keep=True) as part:
        part.write(b"abc")
    os.link(part.path, originals / "b.jpg")  # of a process that died then
    with pytest.raises(PartMissingError), staging.resume(part.token, most_bytes=MOST):
        pass


def test_the_sweep_deletes_abandoned_parts_and_no_others(staging, originals):
    now = SYSTEM_CLOCK()
    assert staging.sweep(now) == 0
    assert list(originals.iterdir()) == []
    folder = originals / ".photosvc"
    with staging.receive(most_bytes=MOST, keep=True) as kept:
        kept.write(b"abc")
    (folder / "0.part").write_bytes(b"of a killed process")
    (folder / "link").symlink_to(originals)
    with staging.receive(most_bytes=MOST) as part:
        assert staging.sweep(now + timedelta(minutes=59)) == 0
        assert staging.sweep(now + timedelta(hours=2)) == 1
        assert part.path.exists()
        assert staging.sweep(now + timedelta(days=15)) == 1
    assert parts_of(originals) == ["link"]
