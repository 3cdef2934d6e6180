"""A check of the library: originals, search rows and thumbnails compared with their rows in the database.

It writes nothing except the place at which the next sample begins.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeAlias

from sqlalchemy import ColumnElement, func, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import ConflictError, NotFoundError
from photosvc.core.files import clean_name, is_as_known, open_inside
from photosvc.index.extract import hash_of
from photosvc.index.mounts import are_away
from photosvc.index.scan import start_folder
from photosvc.models import ORIGINALS_ROOT, File, Photo, SearchRow, read_counter, set_counters
from photosvc.models.engine import begin_write
from photosvc.models.statements import among, is_below
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.prerender import is_sound
from photosvc.search.reading.statistics import photos_by_type
from photosvc.search.rows.check import count_orphans, differing, is_stale
from photosvc.settings import Settings

#: Called with the number of files read and the number to read.
Progress = Callable[[int, int], None]
_Conditions = list[ColumnElement[bool]]
_PAGE: Final = 200
_COLUMNS: Final = (File.id, File.photo_id, File.name, File.hash, File.size, File.mtime_ns)
#: Name of the state: the first digits of the hash of the file that was checked last.
_POSITION: Final = "checked"
_DIGITS: Final = 15


class Fault(StrEnum):
    """A kind of fault: its code, a sentence, and whether an index run or a purge is all that is needed."""

    sentence: str
    is_due: bool

    def __new__(cls, code: str, sentence: str, is_due: bool = False) -> Self:
        """Keep the further columns as attributes of the member."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence, member.is_due = sentence, is_due
        return member

    DAMAGED = "damaged", "its content has changed although its size and time have not"
    GONE = "gone", "the original is gone"
    UNREADABLE = "unreadable", "the original cannot be read"
    CHANGED = "changed", "it has changed since it was indexed; an index run is due", True
    SEARCH = "search", "its search rows are not what the library says; `svc index --rebuild-search` renders them again"
    SEARCH_ORPHANS = "search_orphans", "search rows of files that the library does not have"
    SEARCH_VERSION = "search_version", "the search rows are of another version; an index run renders them again", True
    THUMBNAIL = "thumbnail", "a cached thumbnail or video of it is broken or has other pixels"
    THUMBNAIL_ORPHANS = "thumbnail_orphans", "cached files of originals that the library does not have", True


class Finding(NamedTuple):
    """One fault."""

    fault: Fault
    name: str = ""
    """The file relative to the originals or the cached file; empty for the library as a whole."""
    number: int = 1
    """The number of rows or files that it stands for."""

    def as_record(self) -> dict[str, str | int]:
        """Return the finding as JSON has it."""
        return {"code": self.fault.value, "name": self.name, "count": self.number, "reason": self.fault.sentence}


@dataclass(slots=True)
class CheckReport:
    """The counts of a check: compared files, search rows and thumbnails, and faults."""

    files: int = 0
    bytes: int = 0
    """Bytes of originals that were read."""
    photos: Counter[str] = field(default_factory=Counter)
    """The photos by type whose search rows were compared and that a search without filters finds."""
    hidden: int = 0
    """The other photos whose search rows were compared."""
    thumbnails: int = 0
    faults: dict[Fault, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def is_sound(self) -> bool:
        """Return whether nothing is wrong; a fault that is only due does not count."""
        return all(fault.is_due for fault in self.faults)


#: A row of `_COLUMNS`.
KnownOriginal: TypeAlias = Any


def fault_of(root: Path, known: KnownOriginal) -> Fault | None:
    """Return the fault of a file, which is only read; None when it is as it was indexed."""
    try:
        descriptor = open_inside(root, known.name)
    except (NotFoundError, FileNotFoundError, NotADirectoryError):
        return Fault.GONE
    except OSError:
        return Fault.UNREADABLE
    with os.fdopen(descriptor, "rb") as file:
        if not is_as_known(os.fstat(descriptor), known.size, known.mtime_ns):
            return Fault.CHANGED
        try:
            digest = hash_of(file)
        except OSError:
            return Fault.UNREADABLE
        if digest == known.hash:
            return None
        return Fault.DAMAGED if is_as_known(os.fstat(descriptor), known.size, known.mtime_ns) else Fault.CHANGED


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The scope of a check."""

    subfolder: str = ""
    sample: int | None = None
    """Number of files. The next sample continues where this one ends, so that every file has its turn."""
    percent: float | None = None
    """The size of the sample in percent of all files."""


@dataclass(slots=True)
class Check:
    """One check.

    Args:
        report_finding: called with each finding.
    """

    session: Session
    settings: Settings
    cache: PictureCache
    options: CheckOptions
    report_finding: Callable[[Finding], None]
    progress: Progress | None = None
    clock: Clock = SYSTEM_CLOCK
    report: CheckReport = field(init=False, default_factory=CheckReport)

    def run(self) -> CheckReport:
        """Check originals, then search rows, then thumbnails.

        Raises:
            NotFoundError: the originals or the subfolder do not exist.
            InvalidValueError: the subfolder is not below the originals.
            ConflictError: the disk of the originals is away.
        """
        started = self.clock.monotonic()
        folder = start_folder(self.settings.originals, self.options.subfolder)
        if are_away(self.session, self.settings.originals):
            raise ConflictError("None of the library's files is in the folder of originals: is the disk mounted?")
        whole_library = not folder and self.options.sample is None and self.options.percent is None
        compares = not is_stale(self.session)
        if not compares:
            self.note(Fault.SEARCH_VERSION)
        hashes: set[str] | None = None if whole_library else set()
        for page in self._pages(clean_name(folder)):
            self.session.rollback()  # reading originals takes long; no transaction is open meanwhile
            for known in page:
                self._check_original(known)
            if hashes is not None:
                hashes.update(known.hash for known in page)
                if compares:
                    self._compare({known.photo_id for known in page})
        if whole_library and compares:
            self._compare_all()
        self._check_thumbnails(hashes)
        self.session.rollback()
        self.report.seconds = self.clock.monotonic() - started
        return self.report

    def note(self, fault: Fault, name: str = "", number: int = 1) -> None:
        """Count a finding and report it."""
        self.report.faults[fault] = self.report.faults.get(fault, 0) + number
        self.report_finding(Finding(fault, name, number))

    def _check_original(self, known: KnownOriginal) -> None:
        self.report.files += 1
        fault = fault_of(self.settings.originals, known)
        if fault in (None, Fault.DAMAGED):
            self.report.bytes += known.size
        if fault is not None:
            self.note(fault, known.name)

    def _pages(self, folder: str) -> Iterator[Sequence[KnownOriginal]]:
        """Yield the files to check, in the order of ids, or of hashes for a sample."""
        which: _Conditions = [File.root == ORIGINALS_ROOT, File.missing.is_(False)]
        if folder:
            which.append(is_below(File.name, folder))
        total = self.session.scalar(select(func.count()).select_from(File).where(*which)) or 0
        number = self.options.sample
        if self.options.percent is not None:
            number = -int(-total * self.options.percent // 100)
        if number is not None:
            total = min(number, total)
        done = 0
        for page in self._by_id(which) if number is None else self._sample(which, total, in_turn=not folder):
            yield page
            done += len(page)
            if self.progress:
                self.progress(done, total)

    def _by_id(self, which: _Conditions) -> Iterator[Sequence[KnownOriginal]]:
        last = 0
        while page := self._read(File.id, [*which, File.id > last], _PAGE):
            last = page[-1].id
            yield page

    def _sample(self, which: _Conditions, number: int, *, in_turn: bool) -> Iterator[Sequence[KnownOriginal]]:
        """Yield files in the order of their hashes, from where the last sample ended, or from a random place."""
        ended = read_counter(self.session, _POSITION) if in_turn else None
        first = f"{random.getrandbits(4 * _DIGITS) if ended is None else ended:0{_DIGITS}x}g"
        last, left = "", number
        for lowest, within in ((first, true()), ("", File.hash <= first)):
            last = lowest
            while left and (page := self._read(File.hash, [*which, within, File.hash > last], min(left, _PAGE))):
                last = page[-1].hash
                left -= len(page)
                yield page
            if not left:
                break
        if in_turn and number:
            begin_write(self.session)
            set_counters(self.session, {_POSITION: int(last[:_DIGITS] or "0", 16)})
            self.session.commit()

    def _read(self, order: InstrumentedAttribute[Any], which: _Conditions, number: int) -> list[KnownOriginal]:
        return list(self.session.execute(select(*_COLUMNS).where(*which).order_by(order).limit(number)))

    def _compare_all(self) -> None:
        last = 0
        shown = select(Photo.id).order_by(Photo.id).limit(_PAGE)
        while ids := self.session.scalars(shown.where(Photo.id > last)).all():
            last = ids[-1]
            self._compare(ids)
        if orphans := count_orphans(self.session):
            self.note(Fault.SEARCH_ORPHANS, number=orphans)

    def _compare(self, ids: Collection[int]) -> None:
        """Compare search rows in one snapshot of the database, because an index run may write meanwhile."""
        self.session.rollback()
        if self.session.get_bind().dialect.name == "postgresql":
            self.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        found = photos_by_type(self.session, among(self.session, SearchRow.photo_id, ids), sees_private=True)
        self.report.photos.update(found)
        self.report.hidden += len(ids) - sum(found.values())
        if wrong := differing(self.session, list(ids)):
            names = select(Photo.path, Photo.name).where(Photo.id.in_(wrong)).order_by(Photo.path, Photo.name)
            for path, name in self.session.execute(names):
                self.note(Fault.SEARCH, f"{path}/{name}" if path else name)

    def _check_thumbnails(self, hashes: Collection[str] | None) -> None:
        derived = self.cache.derived(hashes)
        while page := list(islice(derived, _PAGE)):
            self.session.rollback()
            query = select(File.hash, File.name, File.width, File.height, File.turn)
            rows = self.session.execute(query.where(File.hash.in_({content_hash for content_hash, _ in page})))
            known = {row.hash: row for row in rows}
            self.session.rollback()
            for content_hash, what in page:
                row = known.get(content_hash)
                if row is None:
                    self.note(Fault.THUMBNAIL_ORPHANS, f"{content_hash}_{what}")
                    continue
                self.report.thumbnails += 1
                path = self.cache.path(content_hash, what)
                if not is_sound(path, what, (row.width, row.height), row.turn):
                    self.note(Fault.THUMBNAIL, f"{row.name} ({what})")
