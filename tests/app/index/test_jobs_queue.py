"""The life of jobs: who has one, and what becomes of it when its run does not end well."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from photosvc.core.errors import InvalidValueError
from photosvc.index.requests import IndexRequest, due, enqueue, stop, waiting
from photosvc.jobs import lease, queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX, KINDS, RunCancelledError, State, TooManyJobsError
from photosvc.models import Job
from photosvc.models.engine import write_session
from tests.helpers.clock import NOW, MovedClock
from tests.helpers.factories.accounts import add_user


@pytest.fixture
def clock():
    return MovedClock()


def ask(engine, clock, *folders, force=False):
    with write_session(engine) as session:
        for folder in folders:
            enqueue(session, clock(), folder, force=force)


def began(engine, clock, folder="", *, force=False, former=()):
    run = IndexRequest(folder, force)
    held = Lease(engine, clock)
    held.begin(INDEX, folder, {"force": force}, covers=run.covers, former=former)
    return held


def folders(engine, find, *arguments):
    with write_session(engine) as session:
        return [one.folder for one in find(session, *arguments)]


def states(engine):
    with write_session(engine) as session:
        found = session.execute(select(Job.subject, Job.state, Job.attempts, Job.report).order_by(Job.id)).all()
    return [(*row[:3], row.report.get("message")) for row in found]


def test_a_run_that_is_stopped_leaves_the_folders_that_it_covered_and_drops_what_was_to_be_stopped(engine, clock):
    ask(engine, clock, "", "2024/05")
    run = began(engine, clock)
    with write_session(engine) as session:
        assert stop(session, clock())
        with pytest.raises(RunCancelledError):
            run.check(session)
    run.end(RunCancelledError())
    assert states(engine) == [("", "stopped", 1, ""), ("2024/05", "waiting", 0, None)]
    assert folders(engine, due, clock()) == ["2024/05"]


def test_a_folder_whose_own_run_is_stopped_is_due_again_later(engine, clock):
    ask(engine, clock, "2024/05")
    run = began(engine, clock, "2024/05")
    assert folders(engine, due, clock()) == []
    run.end(RunCancelledError())
    assert folders(engine, waiting) == ["2024/05"]
    assert folders(engine, due, clock()) == []
    clock.move(seconds=30)
    assert folders(engine, due, clock()) == ["2024/05"]


def test_a_job_that_always_fails_is_tried_after_growing_pauses_and_ends_with_its_report(engine, clock):
    ask(engine, clock, "a")
    pauses = []
    for _ in range(lease.MOST_ATTEMPTS):
        began(engine, clock, "a").end(OSError("the disk is full"))
        with write_session(engine) as session:
            pauses.append(session.scalars(select(Job.not_before)).one() - clock())
        clock.move(hours=5)
    assert pauses[:-1] == [timedelta(seconds=30 * 2**number) for number in range(9)]
    assert states(engine) == [("a", "failed", 10, "OSError")]
    assert folders(engine, waiting) == []


def test_who_knows_that_a_run_has_ended_takes_over_at_once(engine, clock):
    ask(engine, clock, "a")
    killed = began(engine, clock, "a")
    other = began(engine, clock, "a", former=[killed.owner])
    assert other.owner != killed.owner
    assert states(engine) == [("a", "running", 2, None)]


def test_what_is_asked_for_during_a_run_is_another_job_also_when_the_run_fails(engine, clock):
    ask(engine, clock, "a")
    run = began(engine, clock, "a")
    ask(engine, clock, "a", force=True)
    ask(engine, clock, "a")
    run.end(OSError())
    assert states(engine) == [("a", "failed", 1, "OSError"), ("a", "waiting", 0, None)]
    with write_session(engine) as session:
        assert list(waiting(session)) == [IndexRequest("a", force=True)]
    covered = began(engine, clock, "", force=True)
    ask(engine, clock, "a")
    covered.end(OSError())
    with write_session(engine) as session:
        assert list(waiting(session)) == [IndexRequest("a", force=True)]


def test_an_account_may_have_so_many_jobs_that_wait_and_old_reports_are_forgotten(engine, clock, monkeypatch):
    kind = replace(INDEX, name="new", most_waiting=2, most_ended=2, is_exclusive=False)
    monkeypatch.setitem(KINDS, "new", kind)
    with write_session(engine) as session:
        one, other = (add_user(session, name=name).id for name in ("ann", "bob"))
        for subject in ("1", "2", "2"):
            queue.add(session, kind, subject, NOW, {}, user_id=one)
        with pytest.raises(TooManyJobsError):
            queue.add(session, kind, "3", NOW, {}, user_id=one)
        queue.add(session, kind, "3", NOW, {}, user_id=other)
        queue.add(session, kind, "4", NOW, {}, large=False)
        session.execute(Job.__table__.update().where(Job.subject == "1").values(large=True))
    claimed = []
    for _ in range(4):
        held = Lease(engine, clock)
        claimed.append(held.claim(kind).subject)
        held.end(None)
        clock.move(seconds=1)
    assert Lease(engine, clock).claim(kind) is None
    assert claimed == ["2", "3", "4", "1"]
    assert [(subject, state) for subject, state, *_ in states(engine)] == [("1", State.DONE), ("4", State.DONE)]


def test_a_job_that_would_end_in_the_same_way_again_is_not_tried_again_and_the_end_of_a_process_costs_no_attempt(
    engine, clock
):
    ask(engine, clock, "a")
    began(engine, clock, "a").end(KeyboardInterrupt())
    assert states(engine) == [("a", "waiting", 0, "")]
    assert folders(engine, due, clock()) == ["a"]
    began(engine, clock, "a").end(InvalidValueError("it is refused"))
    assert states(engine) == [("a", "failed", 1, "it is refused")]
