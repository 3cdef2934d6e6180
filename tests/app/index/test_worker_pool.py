import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.problems import Problem, Reason, UnreadableFileError
from photosvc.workers.pool import WorkerDiedError, WorkerPool, WorkerStartError, WorkerTimeoutError
from photosvc.workers.process import seconds_for
from tests.helpers.programs.worker_tasks import (
    chatter,
    echo,
    hang_unless_large,
    killed_by_tuples,
    large,
    no_data,
    obey,
    process_id,
    send_a_pickle,
    square,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts processes in /proc")


_STRANGERS = set()


def children(pid="self"):
    """Process ids of the direct children, without servers that other tests keep.

    They are found by their parents: the list of children that Linux keeps of a process may leave some out.
    """
    parent = str(os.getpid() if pid == "self" else pid)
    found = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/stat") if parent_of(path) == parent]
    return [child for child in found if child not in _STRANGERS]


def parent_of(path):
    try:
        return path.read_text().rpartition(")")[2].split()[1]
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return None


def are_gone(pids):
    """Whether the processes end within some seconds; zombies have."""
    for _ in range(600):
        states = [path.read_text().rpartition(")")[2].split()[0] for pid in pids if (path := stat(pid)).exists()]
        if set(states) <= {"Z"}:
            return True
        time.sleep(0.05)
    return False


def stat(pid):
    return Path(f"/proc/{pid}/stat")


@pytest.fixture(autouse=True)
def no_child_is_left():
    _STRANGERS.clear()
    _STRANGERS.update(children())
    yield
    assert children() == []


def outcomes(items, function=obey, **options):
    with WorkerPool(function, **({"result": Any, "workers": 2, "timeout": 20} | options)) as pool:
        return dict(pool.run(items))


def test_a_thousand_items_each_come_once():
    with WorkerPool(square, result=int, workers=2) as pool:
        results = list(pool.run(range(1000)))
    assert sorted(results) == [(number, number * number) for number in range(1000)]


@pytest.mark.slow
def test_items_that_arrive_slowly_start_no_more_workers_than_the_pool_has():
    def trickle():
        for number in range(400):
            time.sleep(0.002 if number % 20 else 0.02)
            yield number

    seen = set()
    with WorkerPool(square, result=int, workers=2, queue=64) as pool:
        for _ in pool.run(trickle()):
            seen.update(children())
    assert len(seen) == 2


def test_no_items_start_no_process():
    with WorkerPool(square, result=int, workers=2) as pool:
        assert list(pool.run([])) == []
        assert children() == []


@pytest.mark.parametrize("workers", [0, 1])
def test_there_is_always_one_worker(workers):
    assert outcomes([3], square, workers=workers) == {3: 9}


@pytest.mark.slow
def test_all_workers_work_and_live_on_between_runs():
    with WorkerPool(process_id, result=int, workers=2) as pool:
        first = {pid for _, pid in pool.run(range(20))}
        second = {pid for _, pid in pool.run(range(20))}
        assert first == second == set(children())
    assert len(first) == 2
    assert os.getpid() not in first


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("exit", "The reader of the file crashed."),
        ("segfault", "The reader of the file was killed (Segmentation fault)."),
        ("kill", "The reader of the file was killed (Killed)."),
        ("memory", "The file needs more memory to read than allowed."),
    ],
)
def test_a_death_costs_its_own_item_only(order, message):
    answers = outcomes([1, 2, order, *range(3, 20)], memory_bytes=500 << 20)
    error = answers.pop(order)
    assert type(error) is WorkerDiedError
    assert error.message == message
    assert answers == {number: number for number in range(1, 20)}


@pytest.mark.slow
def test_every_other_item_may_kill_its_worker():
    items = [number if number % 2 else ("kill", number) for number in range(8)]
    answers = outcomes(items, partial(killed_by_tuples, os.getpid()))
    assert {item: type(answer) for item, answer in answers.items()} == {
        item: int if isinstance(item, int) else WorkerDiedError for item in items
    }


@pytest.mark.slow
@pytest.mark.parametrize("order", ["hang", "stop"])
def test_an_item_that_takes_too_long_is_given_up(order):
    begun = time.monotonic()
    answers = outcomes([order, *range(10)], timeout=1)
    assert time.monotonic() - begun < 30  # and not 60, for which it hangs
    error = answers.pop(order)
    assert type(error) is WorkerTimeoutError
    assert error.message == "The file took longer than 1 s to read."
    assert answers == {number: number for number in range(10)}


def test_large_files_get_the_time_in_which_a_slow_disk_reads_them(tmp_path):
    paths = [tmp_path / name for name in ("small.mp4", "large.mp4", "sent.mp4", "gone.mp4")]
    for path in paths[:-1]:
        path.touch()
    for path in paths[1:3]:
        os.truncate(path, 4 << 30)
    items = [paths[0], paths[1], (paths[2], "name.mp4"), paths[3]]
    answers = outcomes(items, hang_unless_large, timeout=0.001)
    assert answers.pop(paths[1]) == 4 << 30
    assert answers.pop(items[2]) == 4 << 30
    assert [error.message for error in answers.values()] == ["The file took longer than 0.001 s to read."] * 2
    assert seconds_for(paths[1], 60) == 60 + 1024


@pytest.mark.slow
def test_a_slow_caller_is_not_taken_for_a_slow_worker():
    with WorkerPool(square, result=int, workers=1, timeout=1) as pool:
        run = pool.run(range(4))
        assert next(run) == (0, 0)
        time.sleep(1.2)
        assert list(run) == [(1, 1), (2, 4), (3, 9)]


def test_errors_travel_by_kind(caplog):
    answers = outcomes(["typed", "typed here", "untyped", "odd", "leave", "lambda", "interrupt"])
    assert type(answers["typed"]) is InvalidValueError
    assert (answers["typed"].message, answers["typed"].field) == ("No such thing.", "colour")
    assert type(answers["typed here"]) is UnreadableFileError
    assert answers["typed here"].message == "the converted video is larger than 8 MB"
    for order, name in [("untyped", "ValueError"), ("odd", "OddError"), ("leave", "SystemExit")]:
        assert type(answers[order]) is UnreadableFileError
        assert answers[order].problem == Problem.of(Reason.INTERNAL_ERROR, name)
    traces = {record.args[0]: str(record.exc_info[1]) for record in caplog.records}
    assert "worker_tasks.py" in traces["untyped"]
    assert "ValueError: secret /home/me" in traces["untyped"]
    assert isinstance(answers["lambda"], PhotosvcError)
    assert answers["interrupt"] == "interrupt"


def test_a_result_that_is_no_data_is_an_error_of_its_item():
    answers = outcomes([1, 2], no_data)
    assert type(answers[1]) is UnreadableFileError
    assert answers[2] == 2


@pytest.mark.slow
def test_what_a_taken_over_worker_sends_runs_nothing(tmp_path):
    mark = tmp_path / "mark"
    answers = outcomes([str(mark), "well"], send_a_pickle)
    assert type(answers[str(mark)]) is WorkerDiedError
    assert answers["well"] == "well"
    assert not mark.exists()


def test_a_result_of_another_type_ends_its_worker():
    answers = outcomes([1, "one", 2], echo, result=int)
    assert type(answers["one"]) is WorkerDiedError
    assert (answers[1], answers[2]) == (1, 2)


@pytest.mark.slow
def test_large_results_arrive_whole():
    sizes = [0, 1, 300_000, 5_000_000, 300_001]
    assert {size: len(data) for size, data in outcomes(sizes, large).items()} == {size: size for size in sizes}


def test_an_oversized_item_is_refused():
    with WorkerPool(square, result=int, workers=1) as pool, pytest.raises(ValueError, match="too large"):
        list(pool.run(["x" * 40_000]))


def test_workers_are_silent(capfd):
    assert outcomes([1], chatter) == {1: 5}
    assert capfd.readouterr() == ("", "")


def test_items_are_taken_only_as_workers_have_room():
    taken = 0

    def source():
        nonlocal taken
        for taken in itertools.count(1):  # noqa: UP028 - `taken` is what the test looks at
            yield taken

    with WorkerPool(square, result=int, workers=2) as pool:
        run = pool.run(source())
        for seen in range(1, 50):
            next(run)
            assert taken <= seen + 4
        run.close()


def test_what_the_items_raise_passes_through_and_the_pool_lives_on():
    def source():
        yield 1
        raise NotFoundError("The folder is gone.")

    with WorkerPool(square, result=int, workers=2) as pool:
        with pytest.raises(NotFoundError, match="gone"):
            list(pool.run(source()))
        assert list(pool.run([3])) == [(3, 9)]


@pytest.mark.slow
def test_a_run_left_early_leaves_nothing_behind_for_the_next():
    with WorkerPool(square, result=int, workers=2) as pool:
        for _ in pool.run(range(100)):
            break
        assert sorted(pool.run([1000, 2000])) == [(1000, 1_000_000), (2000, 4_000_000)]


def test_two_runs_at_a_time_are_refused():
    with WorkerPool(square, result=int, workers=2) as pool:
        run = pool.run(range(100))
        next(run)
        with pytest.raises(RuntimeError):
            next(pool.run([1]))
        run.close()


def test_a_function_that_no_child_can_import_is_reported(monkeypatch):
    hidden = type(sys)("hidden_module")
    hidden.work = lambda item: item
    hidden.work.__module__, hidden.work.__qualname__ = "hidden_module", "work"
    monkeypatch.setitem(sys.modules, "hidden_module", hidden)
    with (
        WorkerPool(hidden.work, result=int, workers=2) as pool,
        pytest.raises(WorkerStartError, match="ModuleNotFoundError"),
    ):
        list(pool.run([1, 2, 3]))


def test_an_interpreter_that_cannot_start_is_reported(monkeypatch):
    monkeypatch.setattr("multiprocessing.spawn.get_executable", lambda: b"/bin/false")
    with WorkerPool(square, result=int, workers=2) as pool, pytest.raises(WorkerStartError):
        list(pool.run([1, 2, 3]))
    monkeypatch.setattr("multiprocessing.spawn.get_executable", lambda: b"/no/such/file")
    with WorkerPool(square, result=int, workers=2) as pool, pytest.raises(WorkerStartError, match="No such file"):
        list(pool.run([1, 2, 3]))


PROGRAM = """
    import sys
    from photosvc.workers.pool import WorkerPool
    from tests.helpers.programs.worker_tasks import obey

    print("main", flush=True)  # no main guard: a child that imported this would print, and start children
    with WorkerPool(obey, result=str, workers=2) as pool:
        for item, answer in pool.run(["quick", "hang", "hang"]):
            print(item, flush=True)
"""


@pytest.fixture
def program(tmp_path):
    """A script in the middle of a run, with two children busy for a minute; its process and the children."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(PROGRAM))
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        # shells ignore it for background jobs, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:
        assert process.stdout.readline() == "main\n"
        assert process.stdout.readline() == "quick\n"
        yield process, children(process.pid)
        process.kill()


@pytest.mark.slow
def test_ctrl_c_ends_the_children(program):
    process, started = program
    assert len(started) == 2
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert out == ""
    assert err.count("Traceback") == 1
    assert "KeyboardInterrupt" in err
    assert are_gone(started)


@pytest.mark.slow
def test_a_killed_parent_takes_its_children_along(program):
    process, started = program
    process.kill()
    assert are_gone(started)


def test_an_idle_child_leaves_when_its_connection_closes(monkeypatch):
    monkeypatch.setattr("os.killpg", lambda *_: pytest.fail("it had to be killed"))
    assert outcomes([1, 2, 3, 4], square) == {1: 1, 2: 4, 3: 9, 4: 16}


def test_a_worker_does_not_inherit_the_secrets_of_the_service(monkeypatch):
    monkeypatch.setenv("PHOTOSVC_SECRET_KEY", "s" * 40)
    with WorkerPool(os.getenv, result=str | None, workers=1) as pool:
        assert dict(pool.run(["PHOTOSVC_SECRET_KEY", "PATH"])) == {
            "PHOTOSVC_SECRET_KEY": None,
            "PATH": os.environ["PATH"],
        }
