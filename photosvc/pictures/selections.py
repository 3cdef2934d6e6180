"""Selections: lists of files that wait to be downloaded as an archive, where every worker finds them; and the archives.

On PostgreSQL they are rows, because several machines may serve one library. On SQLite they are files of the machine
(`SelectionFiles`), because each row would need the one write lock of the library.

Zip archives are written while they are sent: stored, not compressed, in bounded memory. Their length is not known in
advance: a file that changed or vanished since it was selected is left out or cut, and the last entry of the archive
lists it.
"""

import os
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from http import HTTPStatus
from io import RawIOBase
from itertools import islice
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import orjson
from sqlalchemy import ColumnElement, Connection, delete, or_, select
from sqlalchemy.orm import Session

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.core.ids import BASE36, random_text
from photosvc.models import Credential, Visit, ZipSelection
from photosvc.models.engine import MOST_SWEPT
from photosvc.pictures.originals import (
    Original,
    OriginalChangedError,
    OriginalUnreadableError,
    UniqueNames,
    is_unchanged,
    open_file,
)

#: Lifetime of a selection, the same as that of a download token.
LIFETIME: Final = timedelta(hours=1)
#: Most selections of one principal; the oldest are removed first.
MOST_WAITING: Final = 10
#: Most selections of all credentials of one account, client or public link if they are rows. Each has up to 400 KB.
MOST_OF_OWNER: Final = 50
_NAME: Final = re.compile(r"photos-[0-9]{8}-[0-9]{6}-[0-9a-z]{12}\.zip")
#: Most selections of all owners. With 50,000 files each, the most that an archive has, they take 200 MB.
MOST_IN_ALL: Final = 500
#: Most files of the folder that are read; there are more only if others put files there.
_MOST_LISTED: Final = 4 * MOST_IN_ALL
#: Prefix of the names of files that are being written.
_TEMPORARY: Final = ".tmp-"
_STAMP: Final = slice(7, 22)
"""The part of an archive's name that states the second of its selection."""
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
class Waiting:
    """A stored selection."""

    title: str
    file_ids: Sequence[int]


class NoSuchArchiveError(NotFoundError):
    """There is no such archive, or its hour is over: select the files again."""


def new_name(now: datetime) -> str:
    """Draw the name of an archive, which is safe in an address and begins with its time."""
    return f"photos-{now:%Y%m%d-%H%M%S}-{random_text(12, BASE36)}.zip"


def is_name(name: str) -> bool:
    """Return whether a text has the form of an archive's name."""
    return _NAME.fullmatch(name) is not None


def store(session: Session, now: datetime, principal_uid: str, waiting: Waiting) -> str:
    """Store a selection, delete expired ones, and return its name, which is safe in an address."""
    over = [_all_but_newest(ZipSelection.principal_uid == principal_uid, MOST_WAITING - 1)]
    owners = (Credential.user_id, Credential.client_id, Visit.link_id)
    with_visits = Visit.credential_id == Credential.id
    owner = session.execute(
        select(*owners).outerjoin(Visit, with_visits).where(Credential.uid == principal_uid)
    ).first()
    for column, owner_id in zip(owners, owner or (), strict=False):
        if owner_id is not None:
            uids = select(Credential.uid).outerjoin(Visit, with_visits).where(column == owner_id)
            over.append(_all_but_newest(ZipSelection.principal_uid.in_(uids), MOST_OF_OWNER - 1))
    session.execute(delete(ZipSelection).where(or_(ZipSelection.expires_at <= now, *over)))
    name = new_name(now)
    session.add(
        ZipSelection(
            name=name,
            principal_uid=principal_uid,
            title=waiting.title,
            file_ids=orjson.dumps(waiting.file_ids).decode(),
            expires_at=now + LIFETIME,
        )
    )
    session.flush()
    return name


def _all_but_newest(own: ColumnElement[bool], most: int) -> ColumnElement[bool]:
    """Return the condition that selects these selections except the `most` newest ones."""
    newest = select(ZipSelection.id).where(own).order_by(ZipSelection.id.desc()).limit(most)
    return own & ZipSelection.id.not_in(newest.scalar_subquery())


def sweep(session: Session, now: datetime) -> int:
    """Delete at most `MOST_SWEPT` expired selections and return their number."""
    over = select(ZipSelection.id).where(ZipSelection.expires_at <= now).limit(MOST_SWEPT)
    return len(session.scalars(delete(ZipSelection).where(ZipSelection.id.in_(over)).returning(ZipSelection.id)).all())


def find(connection: Connection, now: datetime, principal_uid: str, name: str) -> Waiting:
    """Return the selection that this principal stored under this name.

    Raises:
        NoSuchArchiveError: there is none, it has expired, or it belongs to another principal.
    """
    query = select(ZipSelection.title, ZipSelection.file_ids).where(
        ZipSelection.name == name, ZipSelection.principal_uid == principal_uid, ZipSelection.expires_at > now
    )
    # PostgreSQL refuses texts with NUL, so only texts in the form of a name are looked up.
    row = connection.execute(query).first() if is_name(name) else None
    if row is None:
        raise NoSuchArchiveError(field="name")
    return Waiting(row.title, orjson.loads(row.file_ids))


class SelectionFiles:
    """The files of a folder, one for each selection.

    A file is called `TIME-OWNER-PRINCIPAL-NAME.json`, the last three as digests: the name reveals when the selection
    expires and to whom it belongs, but nothing that opens an archive.

    Args:
        cache: the folder of derived files, which contains this folder.
    """

    def __init__(self, cache: Path) -> None:
        self._folder = cache / "selections"

    def store(self, now: datetime, owner_uid: str, principal_uid: str, waiting: Waiting) -> str:
        """Store a selection, delete expired ones and those above the limits, and return the name of the archive.

        Above `MOST_IN_ALL`, the oldest selection of the owner with the most is deleted.

        Raises:
            PhotosvcError: the disk is full or the folder cannot be written.
        """
        name = new_name(now)
        temporary = self._folder / f"{_TEMPORARY}{secrets.token_hex(8)}"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.sweep(now)
            self._make_room(owner_uid, principal_uid)
            try:
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(orjson.dumps({"title": waiting.title, "file_ids": waiting.file_ids}))
                moment = SYSTEM_CLOCK().timestamp()  # the clock of the disk counts in steps of milliseconds
                os.utime(temporary, (moment, moment))
                temporary.rename(self._folder / _file_name(owner_uid, principal_uid, name))
            finally:
                temporary.unlink(missing_ok=True)
        except OSError as error:
            msg = "The selection cannot be stored, because the disk of the cache is full or fails: try again later."
            raise PhotosvcError(msg, status=HTTPStatus.SERVICE_UNAVAILABLE, retry_after=60) from error
        return name

    def find(self, now: datetime, owner_uid: str, principal_uid: str, name: str) -> Waiting:
        """Return the selection that this principal stored under this name.

        Raises:
            NoSuchArchiveError: there is none, it has expired, or it belongs to another principal.
        """
        if not is_name(name) or name[_STAMP] <= _last_expired(now):
            raise NoSuchArchiveError(field="name")
        try:
            path = self._folder / _file_name(owner_uid, principal_uid, name)
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                found = orjson.loads(file.read())
            return Waiting(found["title"], found["file_ids"])
        except (OSError, ValueError):  # a file may be empty after a loss of power
            raise NoSuchArchiveError(field="name") from None

    def sweep(self, now: datetime) -> int:
        """Delete expired selections and files that killed processes left; return their number."""
        last, count = _last_expired(now), 0
        for name in self._names():
            if self._is_left(name) if name.startswith(_TEMPORARY) else name <= last:
                with suppress(FileNotFoundError):
                    (self._folder / name).unlink()
                    count += 1
        return count

    def _names(self) -> Iterator[str]:
        with suppress(FileNotFoundError), os.scandir(self._folder) as entries:
            yield from [entry.name for entry in islice(entries, _MOST_LISTED)]

    def _is_left(self, name: str) -> bool:
        with suppress(FileNotFoundError):
            return abs(SYSTEM_CLOCK().timestamp() - (self._folder / name).stat().st_mtime) > LIFETIME.total_seconds()
        return False

    def _make_room(self, owner_uid: str, principal_uid: str) -> None:
        """Delete the oldest selections, so that one more is within the limits."""
        names = [name for name in self._names() if not name.startswith(_TEMPORARY)]
        owner, principal = _digest(owner_uid), _digest(principal_uid)
        own = sorted((name for name in names if _keys(name) == (owner, principal)), key=self._age_key)
        over = own[: max(0, len(own) - MOST_WAITING + 1)]
        left = sorted(set(names).difference(over))
        for _ in range(len(left) - MOST_IN_ALL + 1):
            counts = Counter(_keys(name)[0] for name in left)
            most = max(counts, key=counts.__getitem__)
            oldest = next(name for name in left if _keys(name)[0] == most)
            left.remove(oldest)
            over.append(oldest)
        for name in over:
            (self._folder / name).unlink(missing_ok=True)

    def _age_key(self, name: str) -> int:
        with suppress(FileNotFoundError):
            return (self._folder / name).stat().st_mtime_ns
        return 0


def _last_expired(now: datetime) -> str:
    """Return the time of the latest expired selections, in the form in which file names begin."""
    return f"{now - LIFETIME:%Y%m%d-%H%M%S}~"


def _file_name(owner_uid: str, principal_uid: str, name: str) -> str:
    return f"{name[_STAMP]}-{_digest(owner_uid)}-{_digest(principal_uid)}-{_digest(name)}.json"


def _keys(file_name: str) -> tuple[str, str]:
    """Return the digests of owner and principal in the name of a file; empty for other files."""
    parts = file_name.split("-")
    return (parts[2], parts[3]) if len(parts) == 5 else ("", "")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Entry:
    """An original and its name in the archive; `stream_zip` makes the name safe and unique."""

    name: str
    original: Original
    modified: datetime
    """Wall time, shown by programs that unpack the archive."""


def stream_zip(entries: Iterable[Entry | None]) -> Iterator[bytes]:
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
        if unnamed:
            missing.append(f"({unnamed} that are no longer in the library, or that you may no longer see)")
        if missing:
            archive.writestr(ZipInfo(names.take(NOTE)), _HEADING + "\n".join(missing) + "\n")
    yield sink.take()


def _add(archive: ZipFile, sink: "_Sink", entry: Entry, names: UniqueNames, missing: list[str]) -> Iterator[bytes]:
    original = entry.original
    try:
        with open_file(original) as file:
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
        missing.append(original.name)


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
        taken = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        return taken
