"""Imports on request: jobs that import a folder, and the reports of the last ones."""

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
from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import IMPORT, QueuedJob, State
from photosvc.library.import_folder import ImportFolder
from photosvc.library.imports import ImportedFile, ImportOptions, ImportOutcome, ImportRun
from photosvc.models import Job, JobFailure
from photosvc.models.engine import write_session
from photosvc.settings import Settings

_LOG = logging.getLogger("photosvc")
#: Failed files of one import on request that are kept, and that are logged.
MOST_FAILURES: Final = 1000
_MOST_LOGGED: Final = 20


def withdraw_imports(session: Session, now: datetime) -> bool:
    """Drop waiting imports and stop the running one, in a write transaction; return whether there is any."""
    dropped = queue.withdraw(session, IMPORT)
    return queue.cancel(session, now, [IMPORT.name]) or dropped > 0


def import_in_portions(lease: Lease, settings: Settings, job: QueuedJob) -> Generator[bool, None, None]:
    """Import the folder that is the subject of a job, as a `library.job_runner.Handler`.

    The arguments of the job are `moves` and `albums`, as `ImportOptions` has them.
    """
    arguments, counts = job.arguments, Counter[ImportOutcome]()
    failures: list[tuple[str, Problem]] = []

    def observe(file: ImportedFile) -> None:
        counts[file.outcome] += 1
        if file.outcome is ImportOutcome.FAILED and file.problem is not None:
            if counts[ImportOutcome.FAILED] <= MOST_FAILURES:
                failures.append((file.name, file.problem))
            if counts[ImportOutcome.FAILED] <= _MOST_LOGGED:
                _LOG.warning("import on request: %s: %s", file.name, file.problem.sentence)

    lease.report = lambda: {outcome.value: counts[outcome] for outcome in ImportOutcome}
    options = ImportOptions(
        job.subject,
        moves=arguments["moves"],
        settle=settings.watch_settle,
        user_id=job.user_id,
        albums=arguments["albums"],
    )
    source = ImportFolder(settings.import_folder)
    run = ImportRun(lease.engine, settings, lease.clock, source, options, observe)
    with closing(run.portions()) as portions:
        for count in portions:
            _keep(lease, failures)
            yield count > 0
    _keep(lease, failures)
    listed = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in ImportOutcome if counts[outcome])
    _LOG.info("import on request: %s", listed or "no files")


def _keep(lease: Lease, failures: list[tuple[str, Problem]]) -> None:
    if not failures:
        return
    shared = {"job_id": lease.job_id, "created_at": lease.clock()}
    rows = [
        {**shared, "name": name, "reason": problem.reason.value, "detail": problem.detail} for name, problem in failures
    ]
    with write_session(lease.engine) as session:
        lease.check(session, may_be_stopped=True)
        session.execute(insert(JobFailure), rows)
    failures.clear()


@dataclass(frozen=True, slots=True)
class ImportReport:
    """An import with its state and failures, as `ImportReportSchema` dumps them."""

    job: Job
    state: State
    failures: Sequence[tuple[str, Problem]]
    """Names and problems of the first files that failed."""


def import_reports(session: Session, *, count: int, failures: int) -> list[ImportReport]:
    """Return the last imports, the latest first.

    A cancelled import is reported as stopped at once. An import whose process ended is reported as running, because
    another process continues it.

    Args:
        count: the number of imports.
        failures: the number of failed files of each.
    """
    began = select(Job).where(Job.kind == IMPORT.name, Job.started_at.is_not(None))
    reports = []
    for job in session.scalars(began.order_by(Job.started_at.desc(), Job.id.desc()).limit(count)):
        failed = select(JobFailure).where(JobFailure.job_id == job.id).order_by(JobFailure.id).limit(failures)
        named = [
            (failure.name, Problem.from_columns(failure.reason, failure.detail)) for failure in session.scalars(failed)
        ]
        state = State.STOPPED if job.cancelled else State(job.outcome or job.state)
        if state is State.INTERRUPTED:
            state = State.RUNNING
        problems = [(name, problem) for name, problem in named if problem is not None]
        reports.append(ImportReport(job, state, problems))
    return reports
