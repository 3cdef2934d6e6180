"""Workers for requests: bounded, replaced when they die, ended when idle."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from photosvc.core.errors import InvalidValueError
from photosvc.core.problems import Reason
from photosvc.workers.on_demand import OnDemandWorkers, WorkersBusyError
from photosvc.workers.pool import WorkerDiedError, WorkerStartError, WorkerTimeoutError
from tests.helpers.programs.worker_tasks import nap, obey, square


def workers(function=square, **options):
    return OnDemandWorkers(
        function,
        **{
            "result": Any,
            "workers": 2,
            "queued": 4,
            "timeout": 20,
            "memory_bytes": 1 << 29,
            "idle_seconds": 0.2,
            **options,
        },
    )


def living():
    return [thread for thread in threading.enumerate() if thread.name == "photosvc-worker"]


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_items_come_back_as_results():
    pool = workers()
    assert [future.result(20) for future in [pool.submit(number) for number in range(6)]] == [0, 1, 4, 9, 16, 25]


@pytest.mark.slow
def test_no_process_runs_before_the_first_item_or_after_the_idle_time():
    before = set(living())
    pool = workers(idle_seconds=1)
    assert set(living()) <= before
    assert pool.submit(3).result(20) == 9
    assert len(set(living()) - before) == 1
    assert until(lambda: set(living()) <= before)
    assert pool.submit(4).result(20) == 16


def test_more_items_than_may_wait_are_refused_at_once():
    pool = workers(obey, workers=1, queued=1)
    first, second = pool.submit("hang"), pool.submit("fine")
    with pytest.raises(WorkersBusyError):
        pool.submit("fine")
    assert second.cancel()
    assert pool.submit("fine") is not None
    assert not first.done()


@pytest.mark.slow
def test_owners_take_turns_and_what_is_made_last_waits_for_all_others():
    pool, done = workers(nap, workers=1, queued=20), []
    first = pool.submit("first", "a")
    until(first.running)
    for name, owner, last in (
        *(("a area", "a", True), ("a1", "a", False), ("a2", "a", False), ("a3", "a", False)),
        *(("b1", "b", False), ("b area", "b", True), ("b2", "b", False), ("c1", "c", False)),
    ):
        pool.submit(name, owner, last=last).add_done_callback(lambda future: done.append(future.result()))
    assert until(lambda: len(done) == 8)
    assert done == ["a1", "b1", "c1", "a2", "b2", "a3", "a area", "b area"]


@pytest.mark.slow
def test_one_owner_is_refused_beyond_its_share_and_others_are_not():
    pool = workers(nap, workers=1, queued=4, each=2)
    own = [pool.submit(str(number), "a") for number in range(2)]
    with pytest.raises(WorkersBusyError):
        pool.submit("3", "a")
    other = pool.submit("4", "b")
    assert [one.result(20) for one in (*own, other)] == ["0", "1", "4"]
    assert pool.submit("5", "a").result(20) == "5"


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_slow_items_of_one_owner_keep_only_its_own_items_waiting(size):
    before = set(living())
    pool = workers(obey, workers=size, queued=20)
    slow = [pool.submit("hang", "a") for _ in range(size)]
    own = [pool.submit("own", "a") for _ in range(3)]
    assert until(lambda: all(one.running() for one in slow))
    assert pool.submit("soon", "b").result(20) == "soon"  # it waited when they became slow
    assert pool.submit("at once", "c").result(20) == "at once"  # they were slow
    assert pool.submit("again", "b").result(20) == "again"
    assert [one.done() for one in (*slow, *own)] == [False] * (size + 3)
    assert len(set(living()) - before) == size + 1
    assert until(lambda: len(set(living()) - before) == size)
    assert pool.submit("later", "b").result(20) == "later"


@pytest.mark.slow
def test_slow_items_of_two_owners_occupy_all_workers_and_no_more():
    before = set(living())
    pool = workers(obey, workers=1, queued=20)
    slow = [pool.submit("hang", owner) for owner in "ab"]
    assert until(lambda: all(one.running() for one in slow))
    other = pool.submit("fine", "c")
    time.sleep(1.5)
    assert not other.running()
    assert len(set(living()) - before) == 2


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
    assert [future.result(20) for future in [pool.submit(3), pool.submit(4)]] == [9, 16]


@pytest.mark.parametrize(
    ("order", "error", "reason"),
    [
        ("segfault", WorkerDiedError, Reason.KILLED),
        ("exit", WorkerDiedError, Reason.CRASHED),
        ("memory", WorkerDiedError, Reason.OUT_OF_MEMORY),
    ],
)
def test_an_item_that_kills_its_worker_costs_that_item_only(order, error, reason):
    pool = workers(obey, workers=1)
    doomed, after = pool.submit(order), pool.submit("fine")
    with pytest.raises(error) as caught:
        doomed.result(20)
    assert caught.value.problem.reason is reason
    assert after.result(20) == "fine"


@pytest.mark.slow
def test_an_item_that_takes_too_long_is_ended():
    pool = workers(obey, workers=1, timeout=1)
    with pytest.raises(WorkerTimeoutError):
        pool.submit("hang").result(20)
    assert pool.submit("fine").result(20) == "fine"


def test_an_error_of_ours_comes_back_whole_and_keeps_the_worker():
    pool = workers(obey, workers=1)
    with pytest.raises(InvalidValueError) as caught:
        pool.submit("typed").result(20)
    assert caught.value.field == "colour"
    assert pool.submit("fine").result(20) == "fine"


def test_many_threads_are_served_by_two_processes():
    before = set(living())
    pool = workers(queued=100)
    with ThreadPoolExecutor(16) as callers:
        assert list(callers.map(lambda number: pool.submit(number).result(20), range(64))) == [n * n for n in range(64)]
    assert len(set(living()) - before) <= 2
