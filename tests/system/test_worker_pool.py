"""Worker processes of an index run: bounded, silent, replaced when they die, and gone with their parent."""

import itertools
import os
import select
import signal
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from photosvc.core.errors import InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.problems import Problem, Reason, UnreadableFileError
from photosvc.workers.pool import WorkerPool
from photosvc.workers.process import WorkerDiedError, WorkerStartError, WorkerTimeoutError, seconds_for
from tests.system.worker_tasks import (
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
    return {child for child in found if child not in _STRANGERS}


def parent_of(path):
    try:
        return path.read_text().rpartition(")")[2].split()[1]
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return None


@pytest.fixture(autouse=True)
def no_child_is_left():
    _STRANGERS.clear()
    _STRANGERS.update(children())
    yield
    assert children() == set()


def outcomes(items, function=obey, **options):
    with WorkerPool(function, **({"result": Any, "workers": 2, "timeout": 20} | options)) as pool:
        return dict(pool.run(items))


def test_a_thousand_items_each_come_once_and_no_items_start_no_process():
    with WorkerPool(square, result=int, workers=2) as pool:
        assert list(pool.run([])) == []
        assert children() == set()
        results = list(pool.run(range(1000)))
    assert sorted(results) == [(number, number * number) for number in range(1000)]
    for workers in (0, 1):
        assert outcomes([3], square, workers=workers) == {3: 9}, workers


def test_all_workers_work_and_live_on_between_runs_and_no_others_start():
    with WorkerPool(process_id, result=int, workers=2) as pool:
        runs = []
        for _ in range(2):
            seen = set()
            for _, pid in pool.run(iter(lambda seen=seen: len(seen), 2)):  # until both have answered
                seen.add(pid)
                assert len(children()) <= 2
            runs.append(seen)
        assert runs[0] == runs[1] == children()
    assert os.getpid() not in runs[0]


def test_a_death_costs_its_own_item_only():
    deaths = {
        "exit": "The reader of the file crashed.",
        "segfault": "The reader of the file was killed (Segmentation fault).",
        "kill": "The reader of the file was killed (Killed).",
        "memory": "The file needs more memory to read than allowed.",
    }
    answers = outcomes([1, *itertools.chain(*zip(deaths, range(2, 6), strict=True))], memory_bytes=500 << 20)
    errors = {order: answers.pop(order) for order in deaths}
    assert {order: error.message for order, error in errors.items()} == deaths
    assert {type(error) for error in errors.values()} == {WorkerDiedError}
    assert answers == {number: number for number in range(1, 6)}
    items = [number if number % 2 else ("kill", number) for number in range(8)]
    assert {item: type(answer) for item, answer in outcomes(items, partial(killed_by_tuples, os.getpid())).items()} == {
        item: int if isinstance(item, int) else WorkerDiedError for item in items
    }


def test_an_item_that_takes_too_long_is_given_up_and_large_files_get_the_time_of_a_slow_disk(tmp_path):
    paths = [tmp_path / name for name in ("small.mp4", "stopped.mp4", "large.mp4", "sent.mp4", "gone.mp4")]
    for path in paths[:-1]:
        path.touch()
    for path in paths[2:4]:
        os.truncate(path, 4 << 30)
    items = [*paths[:3], (paths[3], "name.mp4"), paths[4]]
    answers = outcomes(items, hang_unless_large, timeout=0.001)
    assert answers.pop(paths[2]) == 4 << 30
    assert answers.pop(items[3]) == 4 << 30
    assert [error.message for error in answers.values()] == ["The file took longer than 0.001 s to read."] * 3
    assert {type(error) for error in answers.values()} == {WorkerTimeoutError}
    assert seconds_for(paths[2], 60) == 60 + 1024


def test_errors_travel_by_kind_and_results_that_are_no_data_are_errors_of_their_items(caplog):
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
    answers = outcomes([1, 2], no_data)
    assert (type(answers[1]), answers[2]) == (UnreadableFileError, 2)


def test_a_worker_that_a_picture_took_over_runs_nothing_here_and_answers_of_another_type_end_it(tmp_path):
    mark = tmp_path / "mark"
    answers = outcomes([str(mark), "well"], send_a_pickle)
    assert type(answers[str(mark)]) is WorkerDiedError
    assert answers["well"] == "well"
    assert not mark.exists()
    answers = outcomes([1, "one", 2], echo, result=int)
    assert type(answers["one"]) is WorkerDiedError
    assert (answers[1], answers[2]) == (1, 2)


def test_large_results_arrive_whole_and_an_oversized_item_is_refused():
    sizes = [0, 1, 300_000, 5_000_000, 300_001]
    assert {size: len(data) for size, data in outcomes(sizes, large).items()} == {size: size for size in sizes}
    with pytest.raises(ValueError, match="too large"):
        outcomes(["x" * 40_000])


def test_workers_are_silent_and_do_not_inherit_the_secrets_of_the_service(capfd, monkeypatch):
    assert outcomes([1], chatter) == {1: 5}
    assert capfd.readouterr() == ("", "")
    monkeypatch.setenv("PHOTOSVC_SECRET_KEY", "s" * 40)
    found = outcomes(["PHOTOSVC_SECRET_KEY", "PATH"], os.getenv)
    assert found == {"PHOTOSVC_SECRET_KEY": None, "PATH": os.environ["PATH"]}


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


def test_a_pool_lives_on_when_its_items_raise_or_a_run_is_left_early():
    def source():
        yield 1
        raise NotFoundError("The folder is gone.")

    with WorkerPool(square, result=int, workers=2) as pool:
        with pytest.raises(NotFoundError, match="gone"):
            list(pool.run(source()))
        assert list(pool.run([3])) == [(3, 9)]
        run = pool.run(range(100))
        next(run)
        assert list(pool.run([5])) == [(5, 25)]
        run.close()
        assert sorted(pool.run([1000, 2000])) == [(1000, 1_000_000), (2000, 4_000_000)]


def test_workers_that_cannot_start_are_reported(monkeypatch):
    hidden = type(sys)("hidden_module")
    hidden.work = lambda item: item
    hidden.work.__module__, hidden.work.__qualname__ = "hidden_module", "work"
    monkeypatch.setitem(sys.modules, "hidden_module", hidden)
    with pytest.raises(WorkerStartError, match="ModuleNotFoundError"):
        outcomes([1, 2, 3], hidden.work)
    for executable, message in ((b"/bin/false", None), (b"/no/such/file", "No such file")):
        monkeypatch.setattr("multiprocessing.spawn.get_executable", lambda executable=executable: executable)
        with pytest.raises(WorkerStartError, match=message):
            outcomes([1, 2, 3])


PROGRAM = """
    import sys
    from photosvc.workers.pool import WorkerPool
    from tests.system.worker_tasks import obey

    print("main", flush=True)  # no main guard: a child that imported this would print, and start children
    with WorkerPool(obey, result=str, workers=2) as pool:
        for item, answer in pool.run(["quick", "hang", "hang"]):
            print(item, flush=True)
"""


@pytest.mark.parametrize("end", ["Ctrl+C", "kill"])
def test_children_end_with_their_parent(tmp_path, end):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(PROGRAM))
    with subprocess.Popen(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        # shells ignore it for background jobs, and children inherit that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as process:
        assert [process.stdout.readline() for _ in range(2)] == ["main\n", "quick\n"]
        started = [os.pidfd_open(pid) for pid in children(process.pid)]
        assert len(started) == 2
        if end == "kill":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=60)
            assert (out, err.count("Traceback"), "KeyboardInterrupt" in err) == ("", 1, True)
    for child in started:
        assert select.select([child], [], [], 60)[0], "a worker outlives its parent"
        os.close(child)


def test_an_idle_child_leaves_when_its_connection_closes(monkeypatch):
    monkeypatch.setattr("os.killpg", lambda *_: pytest.fail("it had to be killed"))
    assert outcomes([1, 2, 3, 4], square) == {1: 1, 2: 4, 3: 9, 4: 16}
