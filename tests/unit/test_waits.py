"""Every place of the package where a thread can wait has a bound, and this file says which."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import photosvc

PACKAGE = Path(photosvc.__file__).parent
#: Methods and functions that wait, by the last part of their name.
CALLS = frozenset({"sleep", "acquire", "wait", "wait_for", "result", "communicate", "flock", "lockf", "poll"})
#: Modules of what waits, or is waited for: everything of these that is called counts.
MODULES = frozenset({"threading", "queue", "concurrent.futures", "multiprocessing", "subprocess", "select", "asyncio"})
#: What makes a statement wait for another transaction, without an end of its own.
STATEMENTS = ("pg_advisory_lock", "pg_advisory_xact_lock", "pg_sleep", "LOCK TABLE")

#: Modules without any of these words need not be parsed.
WORDS = re.compile("|".join([*CALLS, *MODULES, *STATEMENTS, r"\.join\(\)"]))

#: Seconds and number of waiting threads of the places that a request can reach.
REQUESTS = {
    "web/incoming.py wait_for_index: sleep": "up to 20 s after its beginning; those with a slot for uploads",
    "auth/passwords.py Turns._begin: wait_for": "0.3 s; those with a place, three and one favoured of a process",
    "auth/passwords.py Turns.pause: sleep": "0.2 s; as many as may wait for a turn, the others do not pause",
    "dav/dav_request.py patiently: sleep": "5 s; two of an owner and four of a process (`patient`)",
    "dav/locks.py serialize: pg_advisory_xact_lock": "15 s (`limit_lock_waits`); those of `Writers`",
    "index/jobs.py lock_jobs: pg_advisory_xact_lock": "15 s (`limit_lock_waits`); those of `Writers`",
    "library/trash_deletion.py Deletion._begin: flock": (
        "a new name: only `recover` can look at it, once, by renames or one list of a store"
    ),
    "storage/bucket.py _answer: wait": "1 s at a time; 120 s, and for a file as long as its size at 16 KiB/s",
    "storage/groups.py for_each: ThreadPoolExecutor": "60 s, and the time limits of a store for requests begun then",
    "models/engine.py _begin_writing: sleep": "15 s; those of `Writers`; for optional writes 50 ms",
    "models/engine.py _lock_library: pg_advisory_xact_lock": "15 s (`limit_lock_waits`); `Writers`",
    "models/silence.py connection_class.Attending.wait: wait": "4 s without an answer of the server; every thread",
    "pictures/on_demand.py Thumbnails._result: wait": "`thumb_wait`; `thumb_waiters`, 4 of 6 an owner",
    "pictures/on_demand.py Thumbnails._wait_for: sleep": "`thumb_wait`; `thumb_waiters`, 4 of 6 an owner",
    "pictures/videos.py Videos._wait_for: result": "5 s; `thumb_waiters`, 4 of 6 an owner; the others 0 s",
    "pictures/videos.py Videos._wait_for: sleep": "5 s; `thumb_waiters`, 4 of 6 an owner; the others 0.05 s",
    "search/limits.py _Step._look: sleep": "0.005 s; `costly_searches`, two thirds of them of an owner",
    "search/limits.py _Step._wait: sleep": "`search_timeout`; `costly_searches`, two thirds of them of an owner",
    "serving/client.py Client._is_ready: poll": "30 s; those of `WaitBudget`, the others 0.05 s",
    "web/transactions.py Writers.take: wait": "1 s, while places change hands; five of sixteen threads",
    "web/transactions.py Transactions.writing: sleep": "0.02 s; one for each transaction of a batch",
}
#: They do not wait: what is taken is refused at once, what is asked for is known.
AT_ONCE = {
    "auth/passwords.py Turns.pause: acquire": "not blocking",
    "auth/passwords.py Turns.place: acquire": "not blocking",
    "core/machine.py ByteLocks.release: lockf": "unlocks",
    "core/machine.py ByteLocks.take: lockf": "LOCK_NB",
    "core/machine.py exclusive_lock: flock": "LOCK_NB",
    "library/staging.py _locked: flock": "LOCK_NB",
    "library/trash_deletion.py _recover: flock": "LOCK_NB",
    "models/engine.py _Log.after_use: acquire": "not blocking",
    "models/silence.py Server.is_silent: acquire": "not blocking",
    "pictures/cache.py being_written: flock": "its own temporary file, which others only try to lock",
    "pictures/cache.py is_abandoned: flock": "LOCK_NB",
    "pictures/on_demand.py Thumbnails._finish: result": "of work that has ended",
    "pictures/on_demand.py Thumbnails._result: result": "of work that has ended",
    "serving/arrival.py _held: acquire": "not blocking",
    "serving/worker.py Worker._go_on: result": "of work that has ended",
    "web/requests.py ClientGone.__call__: poll": "0 s",
    "web/request_counts.py _lock_first_free: flock": "LOCK_NB",
    "workers/process.py Worker.is_alive: poll": "not blocking",
}
#: Threads and processes of their own, and commands: no request waits for them.
APART = {
    "backup/copying.py _only_read: LOCK TABLE": "a command; 15 s (`limit_lock_waits`)",
    "backup/restoring.py _unused: lockf": "a command; LOCK_NB",
    "backup/snapshot.py _within: Event": "a command",
    "backup/snapshot.py _within: ThreadPoolExecutor": "a command",
    "backup/snapshot.py _within: result": "a command; the deadline of a check",
    "backup/writing.py _is_used: flock": "a command; LOCK_NB",
    "backup/writing.py workspace: flock": "a command; its own new folder",
    "backup/writing.py _read_together: sleep": "a command",
    "backup/writing.py _run: run": "a command; programs of PostgreSQL, which wait a minute for locks",
    "cli/index.py _end_with.wait: sleep": "the indexer",
    "cli/index.py _end_with: Thread": "the indexer",
    "cli/index.py _end_late: sleep": "the indexer",
    "cli/index.py _ended_by_signals: Thread": "the indexer",
    "cli/run.py _start_indexer: Popen": "a command",
    "auth/keys.py encrypt_again: LOCK TABLE": "a command",
    "index/lease.py Lease._renew: wait": "the thread of a lease, in the indexer or a command",
    "index/lease.py Lease.keep: Thread": "one of a job that runs",
    "index/mirror.py refresh: sleep": "index runs; 0.02 s",
    "index/nodes.py Heartbeat.end: sleep": "a process that ends; 0.5 s",
    "index/nodes.py Heartbeat._run: wait": "the thread of a heartbeat",
    "index/nodes.py Heartbeat.start: Thread": "one of a process",
    "index/events.py FolderEvents.stop: join": "the indexer",
    "index/events.py FolderEvents.unwatched: sleep": "the indexer",
    "index/watcher.py RequestedIndexer._serve: sleep": "the indexer",
    "index/watcher.py Watcher._wait: sleep": "the indexer",
    "models/pace.py Pace.writing: sleep": "index runs and imports; 0.1 s",
    "models/schema.py upgrade: sleep": "a command; 30 s, and as long for the locks of its migrations",
    "pictures/ahead.py make_ahead: sleep": "a command, or an index run",
    "search/limits.py Watch._run: sleep": "the thread of `Watch`",
    "search/limits.py Watch._run: wait": "the thread of `Watch`",
    "search/limits.py Watch.add: Thread": "one of a process",
    "serving/worker.py Worker.murder_pending: sleep": "the loop, when the process may open no more files; 0.05 s",
    "web/indexer.py _launch: Popen": "one of a process; nobody waits for its end",
    "web/current.py Starter._wait: wait": "the thread of `Starter`",
    "web/current.py Starter.start: Thread": "one of a process",
    "web/transactions.py StreamedRead.__init__: Timer": "one of an answer that is sent; 30 s",
    "workers/scheduler.py SchedulerPool._outcome: result": "index runs; 10 s",
    "workers/remote.py work: result": "threads of dask's workers; the time limit of an item",
    "workers/on_demand.py OnDemandWorkers._next: wait": "threads of workers",
    "workers/on_demand.py OnDemandWorkers._receive: poll": "threads of workers; the time limit of an item",
    "workers/on_demand.py OnDemandWorkers._start_thread: Thread": "as many as workers, and one",
    "workers/pool.py WorkerPool._answering: wait": "index runs",
    "workers/process.py Worker.__init__: Popen": "threads of workers, and index runs",
    "workers/process.py Worker.end: wait": "threads of workers, and index runs; the process was killed",
}
#: Locks, and what each guards: nobody waits for anything else while one is held.
GUARDS = {
    "auth/passwords.py Turns.__init__: BoundedSemaphore": "a place, taken without waiting",
    "auth/passwords.py Turns.__init__: Condition": "counts of turns",
    "auth/passwords.py Turns.let_wait: BoundedSemaphore": "places, taken without waiting",
    "core/logs.py Outages.__init__: Lock": "two numbers",
    "index/requested.py Pending.__init__: Lock": "a set of names, in the indexer",
    "models/engine.py _Log.__init__: Lock": "a checkpoint of at most 2 s, taken without waiting",
    "models/replica.py Replica.__init__: Lock": "making an engine without a connection, and three numbers",
    "models/silence.py Server.__init__: Lock": "asking the server for at most 3 s, taken without waiting",
    "web/transactions.py Commits.__init__: Lock": "a pragma of one connection, which reads a page in memory",
    "web/transactions.py Unchanged.__init__: Lock": "a dict",
    "pages/photos.py KnownTotals.__init__: Lock": "a dict",
    "storage/bucket.py module: Lock": "making a client of a store without a connection, once of a process",
    "serving/arrival.py RequestQueue.__init__: Lock": "dicts of at most as many requests as a worker has connections",
    "core/machine.py Slots.__init__: Lock": "a set, and locks of a file that are taken without waiting",
    "pictures/on_demand.py Failures.__init__: Lock": "a dict",
    "pictures/on_demand.py Thumbnails.__init__: Lock": "a dict, and looks into the cache",
    "pictures/on_demand.py Waiters.__init__: Lock": "counts",
    "pictures/videos.py Videos.__init__: Lock": "a dict, and looks into the cache",
    "search/limits.py Turns.__init__: Lock": "a list, and locks of a file that are taken without waiting",
    "search/limits.py Watch.__init__: Event": "whether there are searches, for the thread of `Watch`",
    "search/limits.py Watch.__init__: Lock": "cancelling one statement",
    "serving/arrival.py WaitBudget.__init__: BoundedSemaphore": "places, taken without waiting",
    "web/request_counts.py RequestCounts.__init__: Lock": "counts in mapped memory",
    "web/current.py Starter.__init__: Lock": "two flags, and starting one process",
    "web/transactions.py StreamedRead.__init__: Lock": "the connection of one answer",
    "web/transactions.py Writers.__init__: Condition": "counts",
    "workers/scheduler.py SchedulerPool.__init__: SimpleQueue": "numbers of batches, in a command; 0.5 s",
    "workers/on_demand.py OnDemandWorkers.__init__: Condition": "a queue that refuses items when it is full",
}


def dotted(called: ast.expr) -> str:
    """The name of what is called; `ast.unparse`, which writes any other expression, takes long."""
    if isinstance(called, ast.Attribute):
        return f"{dotted(called.value)}.{called.attr}"
    return called.id if isinstance(called, ast.Name) else ast.unparse(called)


def sites(tree: ast.Module) -> Iterator[str]:
    """`function: call` of each place of a module."""
    from_modules = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES
        for alias in node.names
    }

    def name_of(call: ast.Call) -> str | None:
        full = dotted(call.func)
        name = full.rpartition(".")[2]
        if name in CALLS or full in from_modules or full.rpartition(".")[0] in MODULES:
            return None if name in {"local", "Future"} or name.endswith("Error") else name
        # That of texts has an argument; `Read.join` does not wait.
        return name if name == "join" and not call.args and not call.keywords and full != "read.join" else None

    def walk(node: ast.AST, where: str) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            inside = where
            if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                inside = f"{where}.{child.name}".lstrip(".")
            if isinstance(child, ast.Call) and (name := name_of(child)) is not None:
                yield f"{where or 'module'}: {name}"
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                yield from (f"{where or 'module'}: {word}" for word in STATEMENTS if word in child.value)
            yield from walk(child, inside)

    yield from walk(tree, "")


def found() -> set[str]:
    return {
        f"{path.relative_to(PACKAGE)} {site}"
        for path in PACKAGE.rglob("*.py")
        if WORDS.search(text := path.read_text())
        for site in sites(ast.parse(text))
    }


def test_every_place_that_waits_has_a_bound():
    listed = {**REQUESTS, **AT_ONCE, **APART, **GUARDS}
    assert len(listed) == sum(map(len, (REQUESTS, AT_ONCE, APART, GUARDS)))
    there = found()
    new, gone = sorted(there - set(listed)), sorted(set(listed) - there)
    assert not new, (
        f"{new}: a thread can wait here. Bound the seconds, and the threads of one owner and of a process that wait at "
        "the same time (`Slots`, `Writers`, `WaitBudget`); refuse the others at once with 503 or 429 and Retry-After. "
        "Then write the bound into REQUESTS of this file; or into one of the other tables, if no request waits here."
    )
    assert not gone, f"{gone}: nothing waits here any more; remove it from this file."


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("import time\ndef f():\n    time.sleep(1)", "f: sleep"),
        ("from time import sleep\nclass A:\n    def f(self):\n        sleep(1)", "A.f: sleep"),
        ("import threading\nlock = threading.Lock()", "module: Lock"),
        ("from queue import Queue\ndef f():\n    Queue()", "f: Queue"),
        ("from subprocess import run\ndef f():\n    run([])", "f: run"),
        ("def f(thread):\n    thread.join()", "f: join"),
        ("def f(session):\n    session.execute('SELECT pg_advisory_xact_lock(1)')", "f: pg_advisory_xact_lock"),
    ],
)
def test_a_new_place_is_found(code, place):
    assert set(sites(ast.parse(code))) == {place}


def test_texts_and_searches_are_no_threads():
    assert set(sites(ast.parse("','.join(x)\nselect(a).where(b)\nread.join()"))) == set()
