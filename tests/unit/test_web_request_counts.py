"""Counts of requests in files that processes map into memory."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from photosvc.web.request_counts import BOUNDS, Latency, RequestCounts, Series
from tests.helpers.clock import MovedClock

SERIES = Series("/photos", "GET", 200)


def buckets(**numbers):
    """How many are at most each bound, from how many are in each bucket."""
    total, found = 0, []
    for number in range(len(BOUNDS) + 1):
        total += numbers.get(f"at_{number}", 0)
        found.append(total)
    return tuple(found)


def test_a_request_counts_in_the_first_bucket_whose_bound_it_does_not_exceed(tmp_path):
    counts = RequestCounts(tmp_path)
    for seconds in (0.001, 0.002, 0.0025, 31.0):
        counts.add(SERIES, seconds)
    assert counts.read() == {SERIES: Latency(pytest.approx(31.0055), buckets(at_0=1, at_1=2, at_14=1))}


def test_two_processes_count_in_files_of_their_own_and_are_added_up(tmp_path):
    one, other = RequestCounts(tmp_path), RequestCounts(tmp_path)
    one.add(SERIES, 0.5)
    other.add(SERIES, 0.25)
    other.add(SERIES._replace(status=404), 0.25)
    assert (
        one.read()
        == other.read()
        == {
            SERIES: Latency(0.75, buckets(at_7=1, at_8=1)),
            SERIES._replace(status=404): Latency(0.25, buckets(at_7=1)),
        }
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["requests-1-0", "requests-1-1"]


def test_only_the_owner_of_the_service_can_read_the_files(tmp_path):
    RequestCounts(tmp_path / "metrics").add(SERIES, 0.5)
    folder = tmp_path / "metrics"
    assert [f"{path.stat().st_mode & 0o777:o}" for path in (folder, folder / "requests-1-0")] == ["700", "600"]


def test_a_new_process_continues_the_file_of_one_that_has_ended(tmp_path):
    for number in range(3):
        RequestCounts(tmp_path).add(SERIES._replace(status=200 + number % 2), 0.5)
    assert {series.status: latency.buckets[-1] for series, latency in RequestCounts(tmp_path).read().items()} == {
        200: 2, 201: 1,
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["requests-1-0"]


def test_a_record_that_a_process_died_while_writing_is_dropped(tmp_path):
    RequestCounts(tmp_path).add(SERIES, 0.5)
    path = tmp_path / "requests-1-0"
    path.write_bytes(path.read_bytes() + b"GET\t2")
    assert [*RequestCounts(tmp_path).read()] == [SERIES]
    counts = RequestCounts(tmp_path)
    counts.add(Series("/users", "GET", 403), 0.5)
    counts.add(SERIES, 0.5)
    assert {series: latency.buckets[-1] for series, latency in counts.read().items()} == {
        SERIES: 2, Series("/users", "GET", 403): 1,
    }  # fmt: skip


def test_a_forked_process_counts_in_a_file_of_its_own(tmp_path):
    counts = RequestCounts(tmp_path)
    counts.add(SERIES, 0.5)
    child = os.fork()
    if child == 0:
        counts.add(SERIES, 0.5)
        os._exit(0)
    os.waitpid(child, 0)
    counts.add(SERIES, 0.5)
    assert counts.read() == {SERIES: Latency(1.5, buckets(at_8=3))}


def test_threads_lose_no_count(tmp_path):
    counts = RequestCounts(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(lambda: [counts.add(SERIES, 1.0) for _ in range(5000)])
    assert counts.read() == {SERIES: Latency(20000.0, buckets(at_9=20000))}


def test_nothing_is_read_where_nothing_was_counted(tmp_path):
    assert RequestCounts(tmp_path / "metrics").read() == {}


def test_on_a_full_disk_requests_are_not_counted_until_there_is_room(tmp_path, monkeypatch, caplog):
    clock = MovedClock()
    counts, other = RequestCounts(tmp_path, clock), SERIES._replace(status=404)
    counts.add(SERIES, 0.5)
    with monkeypatch.context() as full:
        full.setattr(os, "pwrite", lambda file, data, place, write=os.pwrite: write(file, data[:100], place))
        counts.add(other, 0.5)
        counts.add(other, 0.5)
    assert caplog.text.count("No space left on device") == 1
    assert set(counts.read()) == {SERIES}
    clock.move(seconds=61)
    for series in (SERIES, other):
        counts.add(series, 0.5)
    assert {series.status: latency.buckets[-1] for series, latency in counts.read().items()} == {200: 2, 404: 1}
    assert [path.name for path in tmp_path.iterdir()] == ["requests-1-0"]
