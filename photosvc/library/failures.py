"""Files that could not be indexed, shown or imported, and the use of the disks.

Index runs and imports store the files in their tables.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Select, Subquery, and_, delete, func, literal, not_, select, union_all
from sqlalchemy.orm import Session, aliased

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.problems import Problem, Reason, Severity
from photosvc.library.trash.folder import Trash
from photosvc.models import File, JobFailure, Photo, RejectedFile, UploadedFile
from photosvc.models.statements import UNLOADED

INDEX, IMPORT = "index", "import"
#: Reasons that need no repair, because files were left out on purpose.
_QUIET: Final = (Reason.REMOVED, Reason.DUPLICATE, Reason.UNRELATED, Reason.NO_PICTURE)
#: The kinds of rows: `id * _KINDS + kind` is a unique number.
_FILE, _REJECTED, _IMPORTED, _KINDS = 0, 1, 2, 3
#: Most files of the trash that are counted.
_MOST_COUNTED: Final = 10_000
#: Seconds after a change of the trash in which its files are counted again each time.
_RECENT: Final = 5.0


@dataclass(frozen=True, slots=True)
class FailedFile:
    """A file that failed, as `FailedFileSchema` dumps it."""

    id: int
    at: datetime
    source: str
    """`index` or `import`."""
    name: str
    """Relative to the originals, or to the folder of imports."""
    problem: Problem

    @property
    def level(self) -> str:
        """Return `warning` for a file that was left out on purpose, else `error`."""
        return "warning" if self.problem.reason.severity is Severity.SKIPPED else "error"

    @property
    def message(self) -> str:
        """Return the name and the sentence of the problem."""
        return f"{self.name}: {self.problem.sentence}"


def failed_files(session: Session, *, text: str, count: int, offset: int) -> Sequence[FailedFile]:
    """Return the files that failed, the last one first.

    Args:
        text: part of their names, in upper or lower case; empty for all.
    """
    every = _every(text)
    page = select(every).order_by(every.c.at.desc(), every.c.id.desc()).limit(count).offset(offset)
    return [failed for row in session.execute(page) if (failed := _failed(row)) is not None]


def damaged_imports(session: Session, since: datetime) -> Sequence[Any]:
    """Return files of an import without an account, stored since then, that the index could not show.

    A row has the imported name, the name among the originals, and the two columns of the problem.
    """
    columns = (UploadedFile.original_name, UploadedFile.name)
    imported = (UploadedFile.created_at >= since, UploadedFile.user_id.is_(None))
    stored = select(*columns, File.error, File.error_detail).join(File, File.name == UploadedFile.name)
    rejected = select(*columns, RejectedFile.reason, RejectedFile.detail)
    rejected = rejected.join(RejectedFile, RejectedFile.name == UploadedFile.name)
    damaged = union_all(
        stored.where(*imported, File.error != ""),
        rejected.where(*imported, RejectedFile.reason.not_in([reason.value for reason in _QUIET])),
    )
    return session.execute(damaged).all()


def count_failed(session: Session) -> int:
    """Return the number of files that failed."""
    return session.scalar(select(func.count()).select_from(_every(""))) or 0


def _every(text: str) -> Subquery:
    files = _rows(_FILE, File, File.updated_at, File.error, File.error_detail, text)
    files = files.where(File.error != "", not_(File.missing))
    rejected = _rows(_REJECTED, RejectedFile, RejectedFile.created_at, RejectedFile.reason, RejectedFile.detail, text)
    rejected = rejected.where(RejectedFile.reason.not_in([reason.value for reason in _QUIET]))
    imported = _rows(_IMPORTED, JobFailure, JobFailure.created_at, JobFailure.reason, JobFailure.detail, text)
    return union_all(files, rejected, imported).subquery()


def _rows(kind: int, table: Any, time: Any, reason: Any, detail: Any, text: str) -> Select[Any]:  # noqa: ANN401
    number = (table.id * _KINDS + kind).label("id")
    query: Select[Any] = select(
        number, time.label("at"), literal(kind).label("kind"), table.name.label("name"), reason.label("reason"),
        detail.label("detail"),
    )  # fmt: skip
    return query.where(func.lower(table.name).contains(text.lower(), autoescape=True)) if text else query


def _failed(row: Any) -> FailedFile | None:  # noqa: ANN401
    problem = Problem.from_columns(row.reason, row.detail)
    source = IMPORT if row.kind == _IMPORTED else INDEX
    return None if problem is None else FailedFile(row.id, row.at, source, row.name, problem)


@dataclass(frozen=True, slots=True)
class FailedPhoto:
    """The photo of a file that failed."""

    uid: str
    content_hash: str
    """The hash of the file that shows it; empty if none can."""


def photos_of_failed(session: Session, failed: Sequence[FailedFile]) -> dict[int, FailedPhoto]:
    """Return id of the failed file -> its photo, for files that have one."""
    ids = {file.id // _KINDS: file.id for file in failed if file.id % _KINDS == _FILE}
    shown = aliased(File)
    query = select(File.id, Photo.uid, shown.hash).join(Photo, Photo.id == File.photo_id)
    shows = and_(shown.photo_id == Photo.id, shown.primary, shown.error == "", not_(shown.missing))
    query = query.outerjoin(shown, shows).where(File.id.in_(ids))
    return {ids[row.id]: FailedPhoto(row.uid, row.hash or "") for row in session.execute(query)}


def forget_import_failures(session: Session) -> int:
    """Delete the failures of imports, in a write transaction, and return their number."""
    deleted: Any = session.execute(delete(JobFailure), execution_options=UNLOADED)
    return int(deleted.rowcount)


@dataclass(frozen=True, slots=True)
class DiskUse:
    """A disk, in bytes."""

    total: int
    free: int
    """Bytes that this process may still use."""


@dataclass(frozen=True, slots=True)
class TrashUse:
    """The files in the trash."""

    files: int
    size: int
    """Bytes."""
    is_exact: bool
    """True if all files were counted; otherwise there are more."""


def disk_of(folder: Path) -> DiskUse | None:
    """Return the disk of a folder; None if the folder cannot be reached."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError:
        return None
    return DiskUse(usage.total, usage.free)


def trash_use(trash: Trash) -> TrashUse:
    """Return the number of files in the trash and their bytes, counting ten thousand files at most.

    They are counted once for each change of the trash.
    """
    changed_at = trash.changed_at()
    # The time has steps of some milliseconds: a change a moment ago may be followed by another one of the same time.
    is_recent = abs(SYSTEM_CLOCK().timestamp() - changed_at / 1e9) < _RECENT
    return _count(trash) if is_recent else _count_once(trash, changed_at)


@lru_cache(maxsize=1)
def _count_once(trash: Trash, _changed_at: int) -> TrashUse:
    return _count(trash)


def _count(trash: Trash) -> TrashUse:
    sizes = [file.size for file in islice(trash.every_file(), _MOST_COUNTED + 1)]
    return TrashUse(min(len(sizes), _MOST_COUNTED), sum(sizes[:_MOST_COUNTED]), len(sizes) <= _MOST_COUNTED)
