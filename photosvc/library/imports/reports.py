"""What became of the imports that requests asked for: counts, and the files that failed, for some of the last ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session

from photosvc.core.problems import Problem
from photosvc.library.imports.outcome import Fate, Imported
from photosvc.library.imports.wishes import Wish
from photosvc.models import ImportFailure, ImportReport, ImportWish

#: Imports that are remembered, and failed files of each.
MOST_KEPT: Final = 50
MOST_FAILURES: Final = 1000
_UNLOADED: Final = {"synchronize_session": False}


class State(StrEnum):
    """How far an import is."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Report:
    """What `ImportReportSchema` dumps."""

    row: ImportReport
    state: State
    failures: Sequence[tuple[str, Problem]]
    """Names and problems of the first files that failed."""


def begin(session: Session, one: Wish, now: datetime) -> int:
    """Remember that an import begins, or begins again, in a write transaction; gives the id of its report."""
    same = (ImportReport.folder == one.folder, ImportReport.wished_at == one.created_at)
    discard(session, session.scalars(select(ImportReport.id).where(*same)).first())
    report = ImportReport(
        folder=one.folder, moves=one.moves, state=State.RUNNING.value, wished_at=one.created_at, started_at=now
    )
    session.add(report)
    session.flush()
    last = select(ImportReport.id).order_by(ImportReport.started_at.desc(), ImportReport.id.desc()).offset(MOST_KEPT)
    for report_id in session.scalars(last.limit(MOST_KEPT)).all():
        discard(session, report_id)
    return report.id


def discard(session: Session, report_id: int | None) -> None:
    """Forget an import that did not begin after all."""
    if report_id is not None:
        failures = delete(ImportFailure).where(ImportFailure.report_id == report_id)
        session.execute(failures, execution_options=_UNLOADED)  # also where the database does not cascade
        session.execute(delete(ImportReport).where(ImportReport.id == report_id), execution_options=_UNLOADED)


def save(
    session: Session, report_id: int, counts: Mapping[Fate, int], failures: Sequence[Imported], now: datetime
) -> None:
    """Write the counts of an import so far, and further files that failed."""
    counted = update(ImportReport).where(ImportReport.id == report_id)
    values = {fate.value: counts.get(fate, 0) for fate in Fate}
    found = session.execute(counted.values(values).returning(ImportReport.id), execution_options=_UNLOADED).first()
    if found is not None and failures:  # else it was forgotten meanwhile
        rows = [
            {
                "report_id": report_id,
                "name": file.name,
                "reason": file.problem.reason.value,
                "detail": file.problem.detail,
                "created_at": now,
            }
            for file in failures
            if file.problem is not None
        ]
        session.execute(insert(ImportFailure), rows)


def end(session: Session, report_id: int, state: State, message: str, now: datetime) -> None:
    """Write how an import ended."""
    ended = update(ImportReport).where(ImportReport.id == report_id)
    values = {"state": state.value, "message": message, "ended_at": now}
    session.execute(ended.values(values), execution_options=_UNLOADED)


def reports(session: Session, *, count: int, failures: int) -> list[Report]:
    """The last imports, the latest first, each with so many of its failures.

    An import whose wish was withdrawn while no indexer ran does not go on; it counts as stopped.
    """
    last = select(ImportReport).order_by(ImportReport.started_at.desc(), ImportReport.id.desc()).limit(count)
    wished = {(row.folder, row.created_at) for row in session.scalars(select(ImportWish))}
    found = []
    for row in session.scalars(last):
        failed = select(ImportFailure).where(ImportFailure.report_id == row.id).order_by(ImportFailure.id)
        named = [
            (one.name, Problem.from_columns(one.reason, one.detail)) for one in session.scalars(failed.limit(failures))
        ]
        state = State(row.state)
        if state is State.RUNNING and (row.folder, row.wished_at) not in wished:
            state = State.STOPPED
        found.append(Report(row, state, [(name, problem) for name, problem in named if problem is not None]))
    return found
