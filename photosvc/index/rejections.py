"""Rejected files: the rows that say why a file is no part of a photo, and when it is read again."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.orm import Session

from photosvc.core.problems import Problem, Reason, pause_after
from photosvc.index.extract import READER_VERSION
from photosvc.index.scan import ScannedFile
from photosvc.models import ORIGINALS_ROOT, RejectedFile
from photosvc.models.engine import begin_write
from photosvc.models.statements import UNLOADED, among, is_below

#: Files that are looked up at once; further ones are due at the next look.
_MOST: Final = 1000
_IS_DUPLICATE: Final = and_(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.reason == Reason.DUPLICATE.value)


class Rejections:
    """The rejections of one batch: new ones, and files that are rejected no more."""

    def __init__(self, session: Session, now: datetime) -> None:
        self._session = session
        self._now = now
        self._rows: dict[str, RejectedFile | None] = {}
        self._left: set[str] = set()

    @property
    def names(self) -> Collection[str]:
        """Return the names of all files of the batch."""
        return self._rows.keys()

    def add(self, scanned: ScannedFile, problem: Problem) -> None:
        """Reject a file."""
        self._rows[scanned.name] = _rejection(scanned, problem, self._now)

    def accept(self, *names: str) -> None:
        """Note files that are not rejected any more."""
        self._rows |= dict.fromkeys(names)

    def leave(self, name: str) -> None:
        """Note a name whose former content is elsewhere now: the copies of that content are read again."""
        self._left.add(name)

    def duplicates(self) -> set[tuple[str, str]]:
        """Return the names of the duplicates that the batch rejects, each with the name of its original."""
        rows = filter(None, self._rows.values())
        return {(row.name, row.detail) for row in rows if row.reason == Reason.DUPLICATE.value}

    def changed_originals(self) -> set[str]:
        """Return the names of the originals whose duplicates the batch adds or removes."""
        stored = select(RejectedFile.name, RejectedFile.detail).where(
            _IS_DUPLICATE, among(self._session, RejectedFile.name, self.names)
        )
        before = {tuple(row) for row in self._session.connection().execute(stored)}
        return {original for _, original in before ^ self.duplicates()}

    def forget_copies(self) -> None:
        """Delete the rejections of copies of the names that `leave` noted."""
        if self._left:
            copies = delete(RejectedFile).where(_IS_DUPLICATE, among(self._session, RejectedFile.detail, self._left))
            self._session.execute(copies, execution_options=UNLOADED)

    def write(self) -> None:
        """Replace the stored rejections of all files of the batch."""
        rows = [row for row in self._rows.values() if row is not None]
        _count_tries(self._session, rows, self._now)
        former = and_(RejectedFile.root == ORIGINALS_ROOT, among(self._session, RejectedFile.name, self.names))
        self._session.execute(delete(RejectedFile).where(former), execution_options=UNLOADED)
        self._session.add_all(rows)


def stored_reason(session: Session, name: str) -> str | None:
    """Return the code of the reason for which an earlier run rejected a file; None if it did not."""
    query = select(RejectedFile.reason).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.name == name)
    with session.no_autoflush:
        return session.scalar(query)


def due_folders(session: Session, now: datetime) -> set[str]:
    """Return the folders of files that are to be read again now."""
    due = select(RejectedFile.name).where(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.retry_at <= now)
    return {name.rpartition("/")[0] for name in session.connection().execute(due.limit(_MOST)).scalars()}


def put_off(session: Session, folder: str, started: datetime) -> None:
    """Let files wait longer that a run over a folder was to read again and did not find, as without their disk.

    The rows are written in a transaction of their own, if there are any.

    Args:
        started: the time at which the run began.
    """
    due: Any = and_(RejectedFile.root == ORIGINALS_ROOT, RejectedFile.retry_at <= started)
    if folder:
        due = and_(due, or_(RejectedFile.name == folder, is_below(RejectedFile.name, folder)))
    if session.scalar(select(RejectedFile.id).where(due).limit(1)) is not None:
        session.rollback()
        begin_write(session)
        later = update(RejectedFile).where(due).values(retry_at=started + pause_after(3))
        session.execute(later, execution_options=UNLOADED)
        session.commit()


def _rejection(scanned: ScannedFile, problem: Problem, now: datetime) -> RejectedFile:
    may_pass = problem.reason.may_pass
    return RejectedFile(
        root=ORIGINALS_ROOT,
        name=scanned.name,
        size=scanned.size,
        mtime_ns=scanned.mtime_ns,
        reason=problem.reason.value,
        detail=problem.detail,
        reader_version=READER_VERSION,
        attempts=int(may_pass),
        retry_at=now + pause_after(1) if may_pass else None,
        created_at=now,
    )


def _count_tries(session: Session, rejected: Sequence[RejectedFile], now: datetime) -> None:
    """Add the tries of the stored rows of these files to the new rows, which are not in the session yet."""
    tried = {row.name: row for row in rejected if row.attempts}
    if not tried:
        return
    columns = (RejectedFile.name, RejectedFile.size, RejectedFile.mtime_ns, RejectedFile.attempts)
    stored = select(*columns).where(RejectedFile.root == ORIGINALS_ROOT, among(session, RejectedFile.name, tried))
    for name, size, mtime_ns, attempts in session.connection().execute(stored):
        row = tried[name]
        if (size, mtime_ns) == (row.size, row.mtime_ns):
            row.attempts += attempts
            row.retry_at = now + pause_after(row.attempts)
