"""Imports on request: those that wait, their handler for an indexer, and the results of the last ones."""

import logging
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from photosvc.core.problems import Problem
from photosvc.index import jobs
from photosvc.index.jobs import IMPORT, State, Waiting
from photosvc.index.lease import Lease
from photosvc.library.import_folder import ImportFolder
from photosvc.library.imports import Fate, Imported, ImportOptions, ImportRun
from photosvc.models import Job, JobFailure
from photosvc.models.engine import write_session
from photosvc.settings import Settings

_LOG = logging.getLogger("photosvc")
#: Failed files of one import that are kept, and that are logged.
MOST_FAILURES: Final = 1000
_MOST_LOGGED: Final = 20


def withdraw(session: Session, now: datetime) -> bool:
    """Drop waiting imports and stop the running one, in a write transaction; return whether there is any."""
    gone = jobs.withdraw(session, IMPORT)
    return jobs.cancel(session, now, [IMPORT.name]) or gone > 0


def import_in_portions(lease: Lease, settings: Settings, job: Waiting) -> Generator[bool, None, None]:
    """Import the folder that is the subject of a job, as a `library.job_runner.Handler`.

    Its arguments are `moves`, true if imported files are removed from the folder of imports, and `albums`, the UIDs of
    albums that the photos are added to.
    """
    wanted, counts = job.arguments, Counter[Fate]()
    failures: list[tuple[str, Problem]] = []

    def observe(file: Imported) -> None:
        counts[file.fate] += 1
        if file.fate is Fate.FAILED and file.problem is not None:
            if counts[Fate.FAILED] <= MOST_FAILURES:
                failures.append((file.name, file.problem))
            if counts[Fate.FAILED] <= _MOST_LOGGED:
                _LOG.warning("import on request: %s: %s", file.name, file.problem.sentence)

    lease.report = lambda: {fate.value: counts[fate] for fate in Fate}
    options = ImportOptions(
        job.subject,
        moves=wanted["moves"],
        settle=settings.watch_settle,
        user_id=job.user_id,
        albums=wanted["albums"],
    )
    source = ImportFolder(settings.import_folder)
    run = ImportRun(lease.engine, settings, lease.clock, source, options, observe)
    with closing(run.portions()) as portions:
        for count in portions:
            _keep(lease, failures)
            yield count > 0
    _keep(lease, failures)
    listed = ", ".join(f"{counts[fate]} {fate.value}" for fate in Fate if counts[fate])
    _LOG.info("import on request: %s", listed or "no files")


def _keep(lease: Lease, failures: list[tuple[str, Problem]]) -> None:
    if not failures:
        return
    own = {"job_id": lease.job_id, "created_at": lease.clock()}
    rows = [{**own, "name": name, "reason": one.reason.value, "detail": one.detail} for name, one in failures]
    with write_session(lease.engine) as session:
        lease.check(session, may_be_stopped=True)
        session.execute(insert(JobFailure), rows)
    failures.clear()


@dataclass(frozen=True, slots=True)
class Report:
    """An import with its state and failures, as `ImportReportSchema` dumps them."""

    job: Job
    state: State
    failures: Sequence[tuple[str, Problem]]
    """Names and problems of the first files that failed."""


def reports(session: Session, *, count: int, failures: int) -> list[Report]:
    """Return the last imports, the latest first, each with so many of its failures.

    An import that was stopped counts so at once, and one whose process ended goes on.
    """
    began = select(Job).where(Job.kind == IMPORT.name, Job.started_at.is_not(None))
    found = []
    for job in session.scalars(began.order_by(Job.started_at.desc(), Job.id.desc()).limit(count)):
        failed = select(JobFailure).where(JobFailure.job_id == job.id).order_by(JobFailure.id).limit(failures)
        named = [(one.name, Problem.from_columns(one.reason, one.detail)) for one in session.scalars(failed)]
        state = State.STOPPED if job.cancelled else State(job.outcome or job.state)
        if state is State.INTERRUPTED:
            state = State.RUNNING
        problems = [(name, problem) for name, problem in named if problem is not None]
        found.append(Report(job, state, problems))
    return found
