"""Machines by their heartbeats: one row for a machine and role, and what is wrong with it."""

import logging
import threading
import time
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, func, select, text, update

from photosvc import __version__
from photosvc.core import machine
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.index import nodes
from photosvc.index.jobs import INDEX
from photosvc.index.lease import Lease
from photosvc.index.nodes import Heartbeat, Role, look_at_cluster
from photosvc.models import Job, Node
from photosvc.models.engine import UnitOfWork, configure_engine, write_session
from photosvc.pictures.cache import PictureCache
from tests.helpers.library import new_settings


@pytest.fixture
def engine(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def beats(engine, tmp_path):
    """A function that makes the heartbeat of another process."""

    def make(role=Role.WEB, *, folder="one", clock=SYSTEM_CLOCK):
        settings = new_settings(tmp_path / folder)
        cache = PictureCache(settings.cache, 1 << 20)
        return Heartbeat(engine, settings, clock, role, cache)

    return make


def seen(engine):
    with UnitOfWork(engine) as session:
        return look_at_cluster(session, SYSTEM_CLOCK, None)


def rows(engine):
    with UnitOfWork(engine) as session:
        return session.scalar(select(func.count()).select_from(Node))


def changed(engine, **values):
    with write_session(engine) as session:
        session.execute(update(Node).values(**values))


def test_processes_of_a_machine_share_a_row_for_each_role(engine, beats):
    first, second, watcher = beats(), beats(), beats(Role.WATCH)
    assert first.beat()
    assert second.beat()
    assert watcher.beat()
    found = seen(engine)
    assert [(one.row.role, one.row.version, one.row.cache_limit, one.faults) for one in found.nodes] == [
        ("watch", __version__, 1 << 20, []),
        ("web", __version__, 1 << 20, []),
    ]
    assert found.findings == []
    assert not second._has_written  # the row of the first process was fresh


def test_a_row_is_written_again_once_it_is_due(engine, beats):
    own = beats()
    own.beat()
    changed(engine, seen_at=SYSTEM_CLOCK() - timedelta(seconds=26))
    own.beat()
    (node,) = seen(engine).nodes
    assert abs(SYSTEM_CLOCK() - node.row.seen_at) < timedelta(seconds=20)


def test_machines_are_told_apart_even_if_their_host_names_are_equal(engine, beats):
    beats(folder="one").beat()
    beats(folder="other").beat()
    names = {one.row.name for one in seen(engine).nodes}
    assert (rows(engine), names) == (2, {machine.host_name()})


def test_machines_are_told_apart_even_if_they_share_a_cache_folder(engine, beats, monkeypatch):
    beats().beat()
    monkeypatch.setattr(machine.socket, "gethostname", lambda: "host7")
    beats().beat()
    assert rows(engine) == 2


def test_a_machine_without_a_folder_to_write_has_the_hash_of_its_host_name(tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder")
    assert len(machine.machine_of(tmp_path / "cache")) == 8


def test_a_machine_that_ended_properly_is_not_listed_and_nothing_is_wrong(engine, beats):
    own = beats()
    own.beat()
    own.end()
    assert seen(engine) == ([], None, [])
    beats().beat()  # another process of the machine goes on
    assert len(seen(engine).nodes) == 1


def test_the_end_of_a_process_is_recorded_once_the_database_is_free(engine, beats):
    own = beats()
    own.beat()
    locked = threading.Event()

    def hold():
        with write_session(engine) as session:
            if engine.dialect.name == "postgresql":
                session.execute(text("LOCK TABLE photosvc_nodes IN EXCLUSIVE MODE"))
            locked.set()
            time.sleep(0.2)

    holder = threading.Thread(target=hold)
    holder.start()
    assert locked.wait(30)
    own.end()
    holder.join()
    assert seen(engine).nodes == []


def test_a_process_that_never_wrote_leaves_the_row_of_the_others(engine, beats):
    beats().beat()
    beats().end()
    assert len(seen(engine).nodes) == 1


def test_a_machine_that_fell_silent_is_said_so_for_a_day(engine, beats):
    beats(Role.WATCH).beat()
    changed(engine, seen_at=SYSTEM_CLOCK() - timedelta(seconds=91), name="host7")
    (node,) = seen(engine).nodes
    assert (node.is_silent, node.faults) == (True, [nodes.Fault.SILENT])
    assert seen(engine).findings == [nodes.Finding(nodes.Fault.SILENT, "watch on host7")]
    changed(engine, seen_at=SYSTEM_CLOCK() - timedelta(days=1, seconds=1))
    assert seen(engine).nodes == []
    beats(folder="other").beat()
    assert rows(engine) == 1


def test_an_index_run_that_was_killed_is_forgotten_without_a_word(engine, beats):
    beats(Role.INDEX).beat()
    changed(engine, seen_at=SYSTEM_CLOCK() - timedelta(seconds=91))
    assert seen(engine) == ([], None, [])


def test_another_version_is_said_so(engine, beats):
    beats().beat()
    changed(engine, version="0.0.9", name="host7")
    assert seen(engine).findings == [nodes.Finding(nodes.Fault.OTHER_VERSION, "web on host7")]


@pytest.mark.parametrize(("seconds", "is_wrong"), [(600, True), (-600, True), (7, True), (2, False), (-2, False)])
def test_a_clock_is_compared_with_that_of_the_database(engine, beats, seconds, is_wrong):
    beats(clock=lambda: SYSTEM_CLOCK() + timedelta(seconds=seconds)).beat()
    with UnitOfWork(engine) as session:
        offset = session.scalar(select(Node.clock_offset))
    if engine.dialect.name == "sqlite":  # its clock is that of the machine
        assert offset == 0
        return
    assert abs(offset - seconds * 1000) < 2000
    (node,) = seen(engine).nodes
    assert (node.faults == [nodes.Fault.CLOCK], node.is_silent) == (is_wrong, False)


def test_the_jobs_of_a_machine_are_listed_with_it(engine, beats):
    watcher = beats(Role.WATCH)
    watcher.beat()
    beats().beat()
    lease = Lease(engine, SYSTEM_CLOCK, machine=machine.machine_of(watcher.settings.cache))
    lease.begin(INDEX, "2024", {"force": False}, covers=lambda _: False)
    assert [(one.row.role, [job.kind for job in one.jobs]) for one in seen(engine).nodes] == [
        ("watch", ["index"]),
        ("web", []),
    ]
    lease.end(None)
    assert [one.jobs for one in seen(engine).nodes] == [[], []]
    with UnitOfWork(engine) as session:
        assert session.scalars(select(Job.machine)).all() == [""]


def test_there_are_never_more_rows_than_allowed(engine, beats, monkeypatch):
    monkeypatch.setattr(nodes, "MOST_NODES", 2)
    for folder in ("one", "two", "three"):
        beats(folder=folder).beat()
    assert rows(engine) == 2


def test_a_heartbeat_is_left_out_while_the_database_is_locked(engine, beats):
    own = beats()
    with write_session(engine) as session:  # which locks SQLite as a whole
        if engine.dialect.name == "postgresql":
            session.execute(text("LOCK TABLE photosvc_nodes IN EXCLUSIVE MODE"))
        assert not own.beat()
    assert rows(engine) == 0
    assert own.beat()


def test_a_database_that_refuses_writes_costs_one_line_of_information(engine, beats, caplog):
    caplog.set_level(logging.INFO, "photosvc")
    own = beats()
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(
                text("ALTER DATABASE " + engine.url.database + " SET default_transaction_read_only = on")
            )
            connection.commit()
    if engine.dialect.name == "sqlite":
        own.engine = create_engine(f"sqlite:///file:{engine.url.database}?mode=ro&uri=true")
    else:
        engine.dispose()
    assert own.beat() is False
    assert [record.levelname for record in caplog.records if "left out" in record.getMessage()] == ["INFO"]


def test_the_thread_writes_and_ends(engine, beats, monkeypatch):
    monkeypatch.setattr(nodes, "_FIRST", 0.01)
    with nodes.heartbeat(beats(Role.WATCH)):
        end = time.monotonic() + 30
        while not rows(engine) and time.monotonic() < end:
            time.sleep(0.01)
        assert [one.row.role for one in seen(engine).nodes] == ["watch"]
    assert seen(engine).nodes == []
