"""Workers for requests: bounded, replaced when they die, ended when idle."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from photosvc.core.errors import InvalidValueError
from photosvc.core.problems import Reason
from photosvc.workers.pool import WorkerPool, WorkersBusyError
from photosvc.workers.process import WorkerDiedError, WorkerStartError, WorkerTimeoutError
from tests.system.worker_tasks import hang_unless_large, obey, read_pipe, square


def workers(function=square, **options):
    given = {"result": Any, "workers": 2, "queued": 4, "timeout": 60, "memory_bytes": 1 << 29, "idle_seconds": 20}
    return WorkerPool(function, **{**given, **options})


def living():
    return {thread for thread in threading.enumerate() if thread.name == "photosvc-worker"}


@pytest.fixture
def busy(tmp_path):
    """A function that occupies a worker of a pool with an item, until the function that it returns is called."""
    opened = []

    def occupy(pool, owner=""):
        path = tmp_path / f"{len(opened)}"
        os.mkfifo(path)
        future = pool.submit(path, owner)
        opened.append(os.open(path, os.O_WRONLY))  # waits until the worker reads
        return future, lambda: os.close(opened.pop())

    yield occupy
    for pipe in opened:
        os.close(pipe)


def test_items_of_many_threads_come_back_from_two_processes_that_end_when_idle():
    before = living()
    pool = workers(queued=100, idle_seconds=0.05)
    assert living() == before
    with ThreadPoolExecutor(16) as callers:
        assert list(callers.map(lambda number: pool.submit(number).result(60), range(64))) == [n * n for n in range(64)]
    started = living() - before
    assert len(started) <= 2
    for thread in started:
        thread.join(60)
    assert living() == before
    assert pool.submit(4).result(60) == 16


def test_more_items_than_may_wait_are_refused_at_once(busy):
    pool = workers(read_pipe, workers=1, queued=1)
    first, _ = busy(pool)
    second = pool.submit("fine")
    with pytest.raises(WorkersBusyError):
        pool.submit("fine")
    assert second.cancel()
    assert pool.submit("fine") is not None
    assert not first.done()


def test_one_owner_is_refused_beyond_its_share_and_others_are_not(busy):
    pool = workers(read_pipe, workers=1, queued=4, each_owner=2)
    first, go_on = busy(pool, "a")
    second = pool.submit("2", "a")
    with pytest.raises(WorkersBusyError):
        pool.submit("3", "a")
    other = pool.submit("4", "b")
    go_on()
    assert [one.result(60) for one in (first, second, other)] == ["", "2", "4"]
    assert pool.submit("5", "a").result(60) == "5"


class NoThread:
    """Stands for a thread that the system refuses to start."""

    def __init__(self, **_):
        pass

    def start(self):
        raise RuntimeError("can't start new thread")


def test_a_system_without_room_for_threads_refuses_items_until_it_has_some(monkeypatch):
    pool = workers(workers=1, queued=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading, "Thread", NoThread)
        for _ in range(3):
            with pytest.raises(WorkerStartError):
                pool.submit(3)
    assert [future.result(60) for future in [pool.submit(3), pool.submit(4)]] == [9, 16]


def test_an_item_that_kills_its_worker_or_takes_too_long_costs_that_item_only(tmp_path):
    pool = workers(obey, workers=1)
    reasons = {"segfault": Reason.KILLED, "exit": Reason.CRASHED, "memory": Reason.OUT_OF_MEMORY}
    for order, reason in reasons.items():
        doomed, after = pool.submit(order), pool.submit("fine")
        with pytest.raises(WorkerDiedError) as caught:
            doomed.result(60)
        assert (caught.value.problem.reason, after.result(60)) == (reason, "fine")
    with pytest.raises(InvalidValueError) as caught:
        pool.submit("typed").result(60)
    assert (caught.value.field, pool.submit("fine").result(60)) == ("colour", "fine")
    large = tmp_path / "large.mp4"
    large.touch()
    os.truncate(large, 4 << 30)
    pool = workers(hang_unless_large, workers=1, timeout=0.001)
    with pytest.raises(WorkerTimeoutError):
        pool.submit(tmp_path / "small.mp4").result(60)
    assert pool.submit(large).result(60) == 4 << 30
