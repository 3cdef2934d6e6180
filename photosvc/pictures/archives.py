"""Zip archives of originals, and the stored selections of files from which they are made.

An archive is written while it is sent, without compression and in bounded memory. Its length is unknown in advance: a
file that changed or vanished since it was selected is left out or cut, and the last entry of the archive lists it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import RawIOBase
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import orjson
from sqlalchemy import ColumnElement, Connection, delete, or_, select
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.ids import BASE36, random_text
from photosvc.models import Credential, Visit, ZipSelection
from photosvc.models.engine import MOST_SWEPT
from photosvc.pictures.download_names import UniqueNames
from photosvc.pictures.originals import (
    Original,
    OriginalChangedError,
    OriginalUnreadableError,
    is_unchanged,
    open_unbuffered,
)

#: Lifetime of a selection; a download token has the same.
LIFETIME: Final = timedelta(hours=1)
#: Most selections of one principal; the oldest are removed first.
MOST_WAITING: Final = 10
#: Most selections of all credentials of one account, client or public link. One takes up to 400 KB.
MOST_OF_OWNER: Final = 50
_NAME: Final = re.compile(r"photos-[0-9]{8}-[0-9]{6}-[0-9a-z]{12}\.zip")
#: Name of the entry that lists missing files.
NOTE: Final = "NOT INCLUDED.txt"
_HEADING: Final = (
    "These files are missing from the archive, or incomplete, because they changed, vanished or cannot be read:\n\n"
)
_CHUNK: Final = 256 << 10
#: Small files are sent together, in pieces of at least this many bytes.
_PIECE: Final = 64 << 10
#: The years that the format can express.
_YEARS: Final = range(1980, 2108)


@dataclass(frozen=True, slots=True)
class StoredSelection:
    """Files that were selected to be downloaded as one archive."""

    title: str
    file_ids: Sequence[int]


class NoSuchArchiveError(NotFoundError):
    """There is no such archive, or its hour is over: select the files again."""


def _new_name(now: datetime) -> str:
    """Draw the name of an archive, which is safe in an address and begins with its time."""
    return f"photos-{now:%Y%m%d-%H%M%S}-{random_text(12, BASE36)}.zip"


def _is_name(name: str) -> bool:
    """Return whether a text has the form of an archive's name."""
    return _NAME.fullmatch(name) is not None


def store_selection(session: Session, now: datetime, principal_uid: str, selection: StoredSelection) -> str:
    """Store a selection, delete expired ones, and return its name, which is safe in an address."""
    surplus = [_all_but_newest(ZipSelection.principal_uid == principal_uid, MOST_WAITING - 1)]
    owners = (Credential.user_id, Credential.client_id, Visit.link_id)
    with_visits = Visit.credential_id == Credential.id
    owner = session.execute(
        select(*owners).outerjoin(Visit, with_visits).where(Credential.uid == principal_uid)
    ).first()
    for column, owner_id in zip(owners, owner or (), strict=False):
        if owner_id is not None:
            uids = select(Credential.uid).outerjoin(Visit, with_visits).where(column == owner_id)
            surplus.append(_all_but_newest(ZipSelection.principal_uid.in_(uids), MOST_OF_OWNER - 1))
    session.execute(delete(ZipSelection).where(or_(ZipSelection.expires_at <= now, *surplus)))
    name = _new_name(now)
    session.add(
        ZipSelection(
            name=name,
            principal_uid=principal_uid,
            title=selection.title,
            file_ids=orjson.dumps(selection.file_ids).decode(),
            expires_at=now + LIFETIME,
        )
    )
    session.flush()
    return name


def _all_but_newest(own: ColumnElement[bool], most: int) -> ColumnElement[bool]:
    """Return the condition of all selections that meet a condition, except the `most` newest ones."""
    newest = select(ZipSelection.id).where(own).order_by(ZipSelection.id.desc()).limit(most)
    return own & ZipSelection.id.not_in(newest.scalar_subquery())


def sweep_selections(session: Session, now: datetime) -> int:
    """Delete at most `MOST_SWEPT` expired selections and return their number."""
    expired = select(ZipSelection.id).where(ZipSelection.expires_at <= now).limit(MOST_SWEPT)
    return len(
        session.scalars(delete(ZipSelection).where(ZipSelection.id.in_(expired)).returning(ZipSelection.id)).all()
    )


def find_selection(connection: Connection, now: datetime, principal_uid: str, name: str) -> StoredSelection:
    """Return the selection that this principal stored under this name.

    Raises:
        NoSuchArchiveError: there is none, it has expired, or it belongs to another principal.
    """
    query = select(ZipSelection.title, ZipSelection.file_ids).where(
        ZipSelection.name == name, ZipSelection.principal_uid == principal_uid, ZipSelection.expires_at > now
    )
    # PostgreSQL refuses texts with NUL, so only texts in the form of a name are looked up.
    row = connection.execute(query).first() if _is_name(name) else None
    if row is None:
        raise NoSuchArchiveError(field="name")
    return StoredSelection(row.title, orjson.loads(row.file_ids))


@dataclass(frozen=True, slots=True)
class ZipEntry:
    """An original and its name in the archive; `stream_zip` makes the name safe and unique."""

    name: str
    original: Original
    modified: datetime
    """Wall time, shown by programs that unpack the archive."""
    sidecar: bytes = b""
    """The content of an XMP sidecar that follows the file; empty for none."""


def stream_zip(entries: Iterable[ZipEntry | None]) -> Iterator[bytes]:
    """Yield the archive in pieces of about 64 to 320 KiB.

    Args:
        entries: in the order of the archive; None stands for a selected file whose name the caller may no longer read.
    """
    sink = _Sink()
    names = UniqueNames()
    missing: list[str] = []
    unnamed = 0
    with ZipFile(sink, "w", ZIP_STORED) as archive:
        for entry in entries:
            if entry is None:
                unnamed += 1
            else:
                yield from _add(archive, sink, entry, names, missing)
                if entry.sidecar:
                    info = _info(names.take(f"{entry.name}.xmp"), len(entry.sidecar), entry.modified)
                    archive.writestr(info, entry.sidecar)
        if unnamed:
            missing.append(f"({unnamed} that are no longer in the library, or that you may no longer see)")
        if missing:
            archive.writestr(ZipInfo(names.take(NOTE)), _HEADING + "\n".join(missing) + "\n")
    yield sink.take()


def _add(archive: ZipFile, sink: "_Sink", entry: ZipEntry, names: UniqueNames, missing: list[str]) -> Iterator[bytes]:
    original, name = entry.original, ""
    try:
        with open_unbuffered(original) as file:
            name = names.take(entry.name)
            left = original.size
            with archive.open(_info(name, left, entry.modified), "w") as target:
                # Read no more than the size in the database, so that a growing file does not lengthen the archive.
                while left and (chunk := file.read(min(_CHUNK, left))):
                    left -= len(chunk)
                    target.write(chunk)
                    if sink.size >= _PIECE:
                        yield sink.take()
            if left:
                missing.append(f"{name} (cut)")
            elif not is_unchanged(file, original):
                missing.append(f"{name} (changed while it was read)")
    except (OriginalChangedError, OriginalUnreadableError, OSError):
        missing.append(f"{name} (cut)" if name else original.name)


def _info(name: str, size: int, modified: datetime) -> ZipInfo:
    info = ZipInfo(name, modified.timetuple()[:6] if modified.year in _YEARS else (1980, 1, 1, 0, 0, 0))
    info.file_size = size  # ZipFile uses the 64-bit form if this size needs it
    info.external_attr = 0o644 << 16
    return info


class _Sink(RawIOBase):
    """The output of `ZipFile`, which keeps bytes until they are taken and cannot seek."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0
        """Bytes kept."""

    def write(self, data: Any, /) -> int:  # noqa: ANN401 - the type of buffers is new in Python 3.12
        """Keep bytes."""
        self._pieces.append(bytes(data))
        self.size += len(data)
        return len(data)

    def take(self) -> bytes:
        """Return the bytes since the last call."""
        data = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        return data
