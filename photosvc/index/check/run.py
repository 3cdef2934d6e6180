"""A check of the library. It changes nothing but the place at which the next sample begins."""

import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from sqlalchemy import ColumnElement, func, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from photosvc.core.paths import clean_name
from photosvc.index.check.faults import Fault, Finding, Report
from photosvc.index.check.originals import KnownOriginal, fault_of
from photosvc.index.scanning.scan import start_folder
from photosvc.models import ORIGINALS_ROOT, File, LibraryState, Photo
from photosvc.models.database.below import is_below
from photosvc.models.database.transactions import begin_write
from photosvc.pictures.cache.folder import PictureCache
from photosvc.pictures.thumbnails.verify import is_sound
from photosvc.search.projection.rebuild import is_stale
from photosvc.search.projection.verify import count_orphans, differing
from photosvc.settings import Settings

#: Called with the number of files read and the number to read.
Progress = Callable[[int, int], None]

_PAGE: Final = 200
#: Name of the state: the first digits of the hash of the file that was checked last.
_POSITION: Final = "checked"
_DIGITS: Final = 15


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What to check."""

    subfolder: str = ""
    sample: int | None = None
    """Number of files; the next sample continues where this one ends, so that every file has its turn."""
    percent: float | None = None
    """The same as a share of all files."""


@dataclass(slots=True)
class Check:
    """One check.

    Args:
        found: called with each finding.

    """

    session: Session
    settings: Settings
    cache: PictureCache
    options: CheckOptions
    found: Callable[[Finding], None]
    progress: Progress | None = None
    report: Report = field(init=False, default_factory=Report)

    def run(self) -> Report:
        """Check originals, then search rows, then thumbnails.

        Raises:
            NotFoundError: the originals or the subfolder do not exist.
            InvalidValueError: the subfolder is not below the originals.

        """
        started = time.monotonic()
        folder = start_folder(self.settings.originals, self.options.subfolder)
        whole_library = not folder and self.options.sample is None and self.options.percent is None
        compares = not is_stale(self.session)
        if not compares:
            self._find(Fault.SEARCH_VERSION)
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
        self.report.seconds = time.monotonic() - started
        return self.report

    def _find(self, fault: Fault, name: str = "", number: int = 1) -> None:
        self.report.faults[fault] = self.report.faults.get(fault, 0) + number
        self.found(Finding(fault, name, number))

    def _check_original(self, known: KnownOriginal) -> None:
        self.report.files += 1
        fault = fault_of(self.settings.originals, known)
        if fault in (None, Fault.DAMAGED):
            self.report.bytes += known.size
        if fault is not None:
            self._find(fault, known.name)

    def _pages(self, folder: str) -> Iterator[Sequence[KnownOriginal]]:
        """The files to check, in the order of ids, or of hashes for a sample."""
        which: list[ColumnElement[bool]] = [File.root == ORIGINALS_ROOT, File.missing.is_(False)]
        if folder:
            which.append(is_below(File.name, folder, self.session.get_bind().dialect.name))
        total = self.session.scalar(select(func.count()).select_from(File).where(*which)) or 0
        number = self.options.sample
        if self.options.percent is not None:
            number = -int(-total * self.options.percent // 100)
        if number is None:
            pages = self._by_id(which)
        else:
            total = min(number, total)
            pages = self._sample(which, total, in_turn=not folder)
        done = 0
        for page in pages:
            yield page
            done += len(page)
            if self.progress:
                self.progress(done, total)

    def _by_id(self, which: list[ColumnElement[bool]]) -> Iterator[Sequence[KnownOriginal]]:
        last = 0
        while page := self._read(File.id, [*which, File.id > last], _PAGE):
            last = page[-1].id
            yield page

    def _sample(
        self, which: list[ColumnElement[bool]], number: int, *, in_turn: bool
    ) -> Iterator[Sequence[KnownOriginal]]:
        """Files in the order of their hashes, from where the last sample ended, or from a random place."""
        state = self.session.get(LibraryState, _POSITION) if in_turn else None
        first = f"{state.value if state else random.getrandbits(4 * _DIGITS):0{_DIGITS}x}g"
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
            self.session.merge(LibraryState(name=_POSITION, value=int(last[:_DIGITS] or "0", 16)))
            self.session.commit()

    def _read(
        self, order: InstrumentedAttribute[Any], which: list[ColumnElement[bool]], number: int
    ) -> list[KnownOriginal]:
        columns = (File.id, File.photo_id, File.name, File.hash, File.size, File.mtime_ns)
        return [
            KnownOriginal(*row)
            for row in self.session.execute(select(*columns).where(*which).order_by(order).limit(number))
        ]

    def _compare_all(self) -> None:
        last = 0
        shown = select(Photo.id).order_by(Photo.id).limit(_PAGE)
        while ids := self.session.scalars(shown.where(Photo.id > last)).all():
            last = ids[-1]
            self._compare(ids)
        if orphans := count_orphans(self.session):
            self._find(Fault.SEARCH_ORPHANS, number=orphans)

    def _compare(self, ids: Collection[int]) -> None:
        """Compare search rows, in a transaction all of whose statements see the same state: an index run may write."""
        self.session.rollback()
        if self.session.get_bind().dialect.name == "postgresql":
            self.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        self.report.photos += len(ids)
        if wrong := differing(self.session, list(ids)):
            names = select(Photo.path, Photo.name).where(Photo.id.in_(wrong)).order_by(Photo.path, Photo.name)
            for path, name in self.session.execute(names):
                self._find(Fault.SEARCH, f"{path}/{name}" if path else name)

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
                    self._find(Fault.THUMBNAIL_ORPHANS, f"{content_hash}_{what}")
                    continue
                self.report.thumbnails += 1
                # It may have been evicted meanwhile.
                with suppress(FileNotFoundError):
                    path = self.cache.path(content_hash, what)
                    if not is_sound(path, what, (row.width, row.height), row.turn):
                        self._find(Fault.THUMBNAIL, f"{row.name} ({what})")
