"""The loop of the watcher when something is wrong: what it says, and that it goes on."""

import errno
import logging
import os
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from sqlalchemy.exc import OperationalError

from photosvc.core.errors import ConflictError
from photosvc.index import requests
from photosvc.index import run as job
from photosvc.index import watcher as module
from photosvc.index.events import FolderEvents
from photosvc.index.rejections import due_folders
from photosvc.index.requests import IndexRequest, enqueue, run_lock, waiting
from photosvc.index.run_log import Summary
from photosvc.index.scan import start_folder
from photosvc.index.watcher import OtherJobs, Reporter, RequestedIndexer, Watcher, indexer_lock, takes_jobs
from photosvc.jobs.queue import RunCancelledError
from photosvc.models.counters import WATCHED, read_counter
from photosvc.web.service import current_service
from tests.app.index import deadly_extract
from tests.helpers.clock import NOW, until
from tests.helpers.library import Library, open_library
from tests.helpers.pictures import jpeg


class StopError(BaseException):
    """Ends the loop."""


class Watched:
    """A watcher that makes so many steps, with all that it says."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.said: list[str] = []
        self.ran: list[str] = []
        self.pauses = library.clock.pauses
        self.steps = 0
        self.meanwhile: list[Callable[[], object]] = []
        self.least = 10.0
        """The seconds of a pause, at least: more than a run takes, after which the watcher rests."""
        library.clock.in_pause = self.pause

    def pause(self):
        self.library.clock.seconds += max(0.0, self.least - self.pauses[-1])
        self.steps -= 1
        if not self.steps:
            raise StopError
        if self.meanwhile:
            self.meanwhile.pop(0)()

    def run(self, steps, *meanwhile, other_jobs=None):
        """Make these steps; after each of the first ones, one of these functions is called."""
        self.steps, self.meanwhile = steps, list(meanwhile)
        with self.library.app.app_context():
            service = current_service()
            reporter = Reporter(lambda folder, _: self.ran.append(folder), lambda _: None, self.said.append)
            self.watcher = Watcher(
                service.engine(), service.settings, service.clock, service.picture_cache, reporter, quiet=0.0,
                other_jobs=other_jobs or OtherJobs(),
            )  # fmt: skip
            with pytest.raises(StopError):
                self.watcher.run()


@pytest.fixture
def watched(library):
    return Watched(library)


def failing(monkeypatch, *errors, seconds=0.5):
    """Let the first runs raise these errors and others do nothing; gives the folders of all runs."""
    left, folders = list(errors), []

    def run_index(session, settings, clock, options, *_, **__):
        folders.append((options.subfolder, options.force))
        error = left.pop(0) if left else None
        if isinstance(error, ConflictError) and not isinstance(error, RunCancelledError):
            raise error  # the run did not begin
        with run_lock(session, settings, clock, IndexRequest(options.subfolder, options.force)):
            if error:
                raise error
        return Summary(seconds=seconds)

    monkeypatch.setattr(module, "run_index", run_index)
    return folders


def test_errors_are_said_once_and_tried_again_after_growing_pauses(watched, monkeypatch):
    locked = OperationalError("BEGIN", None, Exception("database is locked"))
    busy = ConflictError("Another index run is active; wait until it ends.")
    folders = failing(
        monkeypatch, busy, busy, busy, locked, OSError(errno.EIO, "Input/output error", "/x"), ValueError("?")
    )
    watched.run(8)
    assert watched.said == [
        "Another index run is active; wait until it ends. (trying again)",
        "The database cannot be used: database is locked (trying again)",
        "Input/output error: /x (trying again)",
        "Unexpected ValueError: ? (trying again)",
        "It works again after 60 s.",
    ]
    assert watched.pauses[:6] == [1, 1, 1, 2, 4, 8]  # another run may end at any time
    assert folders == [("", False)] * 7
    assert watched.ran == []
    with watched.library.session() as session:
        looked = read_counter(session, WATCHED)
    assert looked == int(NOW.timestamp() + 17)  # noted once a minute


def test_jobs_of_other_kinds_do_not_wait_for_the_run_of_another_process(watched, monkeypatch):
    failing(monkeypatch, ConflictError("Another index run is active; wait until it ends."))
    often = []
    watched.run(2, lambda: often.append("run ended"), other_jobs=OtherJobs(lambda: often.append("jobs")))
    assert often == ["jobs", "run ended", "jobs"]


def test_a_folder_that_vanishes_before_its_run_is_looked_for_in_the_folder_around_it(watched, monkeypatch):
    (watched.library.originals / "a/b").mkdir(parents=True)
    folders, existing = [], requests.existing_folder

    def run_index(session, settings, clock, options, *_, **__):
        folders.append(options.subfolder)
        start_folder(settings.originals, options.subfolder)
        return Summary()

    monkeypatch.setattr(module, "run_index", run_index)

    def vanish():
        watched.watcher._pending.add("a/b", delay=0)
        monkeypatch.setattr(requests, "existing_folder", lambda root, folder: existing(root, folder) and folder)
        (watched.library.originals / "a/b").rmdir()

    watched.run(4, vanish)
    assert (folders[:3], watched.said) == (["", "a/b", "a"], [])


def test_jobs_do_not_wait_for_the_end_of_the_rest_after_a_run(watched, monkeypatch):
    (watched.library.originals / "job").mkdir()
    (watched.library.originals / "event").mkdir()
    folders = failing(monkeypatch, seconds=50)
    watched.least = 0.0

    def wish_job():
        with watched.library.session() as session:
            enqueue(session, NOW, "job")

    def rest():
        assert folders == [("", False), ("job", False)]
        watched.least = 200.0

    watched.run(5, lambda: watched.watcher._pending.add("event", delay=0), wish_job, rest)
    assert (folders[2:], set(watched.pauses)) == ([("event", False)], {1.0})


def test_a_file_whose_reading_failed_for_no_fault_of_its_own_is_tried_again_when_that_is_due(tmp_path, monkeypatch):
    library = open_library(tmp_path, settings={"PHOTOSVC_WATCH_SETTLE": "0"})
    watched = Watched(library)
    library.put("old/a.jpg", jpeg())
    library.put("new/mistaken.jpg", jpeg(90, 48))
    monkeypatch.setattr(module, "_RETRIES", 0)
    with monkeypatch.context() as broken:
        broken.setattr(job, "extract", deadly_extract.extract)
        watched.run(2)
    assert (watched.ran, library.names(), watched.said) == ([""], ["old/a.jpg"], [])
    watched.run(2)
    assert (watched.ran, library.names(), watched.said) == ([""], ["old/a.jpg"], [])
    watched.run(3, lambda: None, lambda: library.clock.move(minutes=1))
    assert (watched.ran, library.names()) == (["", "new"], ["new/mistaken.jpg", "old/a.jpg"])


def test_an_indexer_on_request_fulfils_wishes_and_makes_way_for_another(library, monkeypatch):
    (library.originals / "a").mkdir()
    runs: list[str] = []

    def run_index(session, settings, clock, options, **_):
        runs.append(options.subfolder)
        if len(runs) == 3:
            raise ConflictError
        with run_lock(session, settings, clock, IndexRequest(options.subfolder)):
            if len(runs) == 1:
                raise RunCancelledError

    monkeypatch.setattr("photosvc.index.watcher.run_index", run_index)
    monkeypatch.setattr("photosvc.index.watcher._PAUSE", 0)
    with library.session() as session:
        enqueue(session, NOW, "a")
    other_jobs: list[str] = []
    with library.app.app_context():
        service = current_service()

        def often():
            other_jobs.append("often")
            library.clock.move(seconds=40)  # until a run is tried again that was stopped

        own = OtherJobs(often, lambda: other_jobs.append("hourly"))
        indexer = RequestedIndexer(service.engine(), service.settings, service.clock, own, idle_seconds=0.05)
        indexer.run()
        assert runs == ["a", "a"]
        with library.session() as session:
            assert waiting(session) == []
            enqueue(session, NOW, "b")
        with indexer_lock(service.settings):
            assert takes_jobs(service.settings)
            indexer.run()
        assert runs == ["a", "a"]
        assert not takes_jobs(service.settings)
        indexer.run()
    assert runs == ["a", "a", "", ""]
    assert other_jobs[-1] == "hourly"


def test_a_disk_below_the_originals_is_followed_when_it_comes_and_guarded_when_it_goes(watched, monkeypatch):
    mounted: dict[str, str] = {}
    root = watched.library.originals
    monkeypatch.setattr("photosvc.index.events.mounts_below", lambda _: dict(mounted))

    def mount(number):
        return lambda: mounted.update({f"{root}/nas": number})

    runs: list[frozenset[str]] = []

    def run_index(session, settings, clock, options, *_, **__):
        runs.append(options.unmounted)
        return Summary()

    monkeypatch.setattr(module, "run_index", run_index)
    watched.run(9, mount("1"), int, mounted.clear, int, mount("2"), int, mount("3"))
    assert runs == [frozenset(), frozenset(), frozenset({"nas"}), frozenset(), frozenset()]
    assert watched.said == ["nas is not mounted any more; its files stay in the library."]


class Reports:
    """What `FolderEvents` reports."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.folders: list[tuple[str, bool]] = []

    def __call__(self, folder, *, new=False):
        with self.lock:
            self.folders.append((folder, new))


def test_events_name_folders_and_leave_out_what_scans_leave_out(tmp_path):
    reports = Reports()
    (tmp_path / "a").mkdir()
    events = FolderEvents(tmp_path, reports)
    try:
        assert events.works()
        assert events.unwatched() == 0
        (tmp_path / "a/.hidden.jpg").write_bytes(jpeg())
        (tmp_path / "@eaDir").mkdir()
        (tmp_path / "a/b.jpg").write_bytes(jpeg())
        (tmp_path / "new").mkdir()
        (tmp_path / "new").rename(tmp_path / "renamed")
        until(lambda: ("renamed", True) in reports.folders)
        assert set(reports.folders) == {("a", False), ("new", True), ("new", False), ("renamed", True)}
        reports.folders.clear()
        (tmp_path / "renamed/.nomedia").touch()
        until(lambda: ("renamed", False) in reports.folders)
        (tmp_path / "renamed/.nomedia").rename(tmp_path / ".ppignore")
        until(lambda: ("", False) in reports.folders)
        assert set(reports.folders) == {("renamed", False), ("", False)}
        reports.folders.clear()
        logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed")
        assert reports.folders == [("", False)]
        tmp_path.rename(tmp_path.with_name("moved"))
        assert not events.works()
    finally:
        events.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="counts watches as Linux lists them")
def test_folders_that_appear_while_they_are_counted_are_no_folders_without_a_watch(tmp_path, monkeypatch):
    events, made = FolderEvents(tmp_path, Reports()), []

    def patch(walk):  # only for the module: the threads that watch use it too
        monkeypatch.setattr("photosvc.index.events.os", SimpleNamespace(**{**vars(os), "walk": walk}))

    def walk_later(folder):
        if not made:
            made.append((tmp_path / "new/er").mkdir(parents=True))
        return os.walk(folder)

    patch(walk_later)
    try:
        assert events.unwatched() == 0
        monkeypatch.setattr("photosvc.index.events._LATE_SECONDS", 0.1)
        patch(lambda folder: [*os.walk(folder), "refused by the system"])
        assert events.unwatched() == 1
    finally:
        events.stop()


def ask(watched, *folders, force=True):
    with watched.library.session() as session:
        for folder in folders:
            enqueue(session, NOW, folder, force=force)


def waited(watched):
    with watched.library.session() as session:
        return waiting(session)


def test_wishes_stay_until_their_run_succeeds_and_become_few_runs_around_folders_that_exist(watched, monkeypatch):
    for folder in ("a", "b/c", "x/y", "z"):
        (watched.library.originals / folder).mkdir(parents=True)
    (watched.library.originals / "link").symlink_to(watched.library.originals / "z")
    ask(watched, "a")
    ask(watched, "b/c/gone", force=False)
    failing(monkeypatch, ConflictError("busy"))
    watched.run(1)
    assert len(waited(watched)) == 2
    folders = failing(monkeypatch)
    watched.run(2)
    assert (folders, waited(watched)) == ([("a", True), ("", False)], [])
    ask(watched, *(f"x/y/gone {number}/deeper" for number in range(20)), ".hidden/a")
    watched.run(1)
    assert folders[2:] == [("", True)]
    ask(watched, "x/y/gone", "z")
    watched.run(1)
    assert folders[3:] == [("x/y", True), ("z", True), ("", False)]
    ask(watched, "")
    folders = failing(monkeypatch, RunCancelledError())
    watched.run(3)  # a run that was stopped on request is not tried again
    assert (folders, waited(watched)) == ([("", True)], [])
    assert watched.said[-1] == "The index run was stopped on request."


def test_originals_that_are_missing_or_empty_or_report_no_changes_are_said_once(watched, monkeypatch):
    watched.library.originals.rmdir()
    watched.run(3)
    assert watched.said == ["The folder of originals does not exist; is the disk mounted? (trying again)"]
    watched.said.clear()
    watched.library.put("a.jpg", jpeg())
    watched.library.index()
    (watched.library.originals / "a.jpg").unlink()
    asks = partial(ask, watched, "", force=False)
    watched.run(4, asks, asks, asks)
    (sentence,) = watched.said
    assert sentence.startswith("There is no picture or video in the originals, and 1 in the library: nothing was")
    watched.said.clear()
    folders = failing(monkeypatch)
    refuse = Mock(side_effect=OSError(errno.EMFILE, "inotify instance limit reached"))
    monkeypatch.setattr(module, "FolderEvents", refuse)
    watched.run(4)
    assert watched.said == [
        "Changes are not reported (inotify instance limit reached); the originals are scanned regularly."
    ]
    assert folders == [("", False)]


def test_a_file_that_is_due_while_its_disk_is_away_is_put_off(library, monkeypatch):
    library.put("old/a.jpg", jpeg())
    path = library.put("disk/mistaken.jpg", jpeg(90, 48))
    monkeypatch.setattr(job, "extract", deadly_extract.extract)
    library.index()
    path.rename(library.instance / "away.jpg")
    library.clock.move(minutes=1)
    library.index(unmounted=frozenset({"disk"}))
    with library.session() as session:
        assert due_folders(session, library.clock()) == set()
        assert due_folders(session, library.clock() + timedelta(hours=1)) == {"disk"}
