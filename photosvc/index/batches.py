"""The writing side of an index run: batches of read files, each stored in one transaction.

When the rules of stacks or their setting changed, the whole library is stacked again; no file is opened.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Final

from sqlalchemy import select
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import Problem, Reason, Validity
from photosvc.core.vocabulary import KINDS, parse_kinds
from photosvc.index.extract import Extraction
from photosvc.index.identity import Contents, ReadFile
from photosvc.index.run_log import Outcome, Status, Summary
from photosvc.index.scan import ScannedFile
from photosvc.index.sidecar_links import Folders
from photosvc.index.store import Store
from photosvc.jobs.lease import Lease
from photosvc.models import STACKING, File, read_counter, set_counters
from photosvc.models.batch_size import BatchSize
from photosvc.models.engine import begin_write, many_pages
from photosvc.settings import Settings

_LOG = logging.getLogger("photosvc")
#: Files that the first transaction stores, and the most files of any. The first one also compiles the statements.
_FIRST_SIZE, _MOST = 5, 500
#: The same for transactions that mark missing files, which take a twentieth of the time for each file.
_FIRST_MARKED, _MOST_MARKED = 100, 2000
#: Raise it when the rules give other photos for the same files.
_RULES_VERSION: Final = 6
_FIRST_BATCH: Final = 20
_LIBRARY_MOST: Final = 500


class BatchWriter:
    """The writer of batches of files, which counts them in the summary of the run."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        clock: Clock,
        summary: Summary,
        lease: Lease | None = None,
        contents: Contents | None = None,
    ) -> None:
        self._session = session
        self._settings = settings
        self._folders = Folders(settings.originals)
        self._contents = contents or Contents(settings.originals)
        self._clock = clock
        self._summary = summary
        self._lease = lease
        self._storing = BatchSize(_FIRST_SIZE, _MOST, clock)
        self._marking = BatchSize(_FIRST_MARKED, _MOST_MARKED, clock)

    @property
    def size(self) -> int:
        """Return the number of files to store next."""
        return self._storing.items

    def store(self, batch: Sequence[ReadFile]) -> None:
        """Store a batch. If the database refuses it, store file by file, so that only the file at fault is left out.

        Raises:
            Exception: the error of a database that is locked, full or unreachable.
        """
        batch = self._contents.learn(self._session, batch)
        try:
            self._write(batch)
        except Exception as error:  # noqa: BLE001 - `_roll_back` raises errors that no file causes
            self._roll_back(error)
            for scanned, result in batch:
                self._store_one(scanned, result)

    def mark_missing(self, names: Iterator[str]) -> None:
        """Mark files that are gone from the folder as missing."""
        while batch := list(islice(names, self._marking.items)):
            with self._transaction(self._marking, len(batch)) as store, many_pages(self._session):
                missing = store.mark_missing(batch)
            for name in missing:
                self._summary.add(Outcome(name, Status.MISSING))

    def _store_one(self, scanned: ScannedFile, result: Extraction | Problem) -> None:
        try:
            self._write([(scanned, result)])
        except Exception as error:  # noqa: BLE001 - hostile files may cause any error
            self._roll_back(error)
            reason = Reason.UNSTORABLE if isinstance(error, DBAPIError) else Reason.INTERNAL_ERROR
            _LOG.error("%s cannot be stored", scanned.name, exc_info=error)
            problem = Problem.of(reason, type(error).__name__)
            try:
                self._write([(scanned, problem)])
            except Exception as second:  # noqa: BLE001 - not even the problem can be stored; every run reports it
                self._roll_back(second)
                self._summary.add(Outcome.of_problem(scanned.name, problem))

    def _write(self, batch: Sequence[ReadFile]) -> None:
        with self._transaction(self._storing, len(batch)) as store:
            names = [scanned.name for scanned, _ in batch]
            store.load(names, [(scanned, read) for scanned, read in batch if isinstance(read, Extraction)])
            outcomes = [_save(store, scanned, result) for scanned, result in batch]
        for outcome in outcomes:
            self._summary.add(outcome)

    @contextmanager
    def _transaction(self, batch_size: BatchSize, items: int) -> Iterator[Store]:
        """Open one transaction, so that all of the batch is stored or nothing."""
        with batch_size.writing(self._session, items):
            if self._lease:
                self._lease.check(self._session)
            store = Store.of(self._session, self._settings, self._clock(), self._folders, self._contents)
            yield store
            store.finish()
            self._session.expunge_all()  # before the commit, which would mark each object as expired

    def _roll_back(self, error: Exception) -> None:
        """Undo the batch, and raise the error unless the values of a file caused it."""
        self._session.rollback()
        self._session.expunge_all()
        if not caused_by_values(error):
            raise error


def caused_by_values(error: Exception) -> bool:
    """Return whether the written values caused the error, not a locked, full, broken or unreachable database."""
    if isinstance(error, PhotosvcError | OSError):
        return False
    if not isinstance(error, DBAPIError):
        return True
    # PostgreSQL reports values beyond its limits (class 54, such as an index row too long) as operational errors.
    is_beyond = str(getattr(error.orig, "sqlstate", None) or "").startswith("54")
    return (isinstance(error, DataError | IntegrityError) or is_beyond) and not error.connection_invalidated


def _save(store: Store, scanned: ScannedFile, result: Extraction | Problem) -> Outcome:
    if isinstance(result, Problem):
        if result.reason.validity is not Validity.NOT_STORED:
            store.reject(scanned, result)
        return Outcome.of_problem(scanned.name, result)
    saved = store.save(scanned, result)
    if saved.problem:
        return Outcome.of_problem(scanned.name, saved.problem)
    return Outcome(scanned.name, Status.INDEXED if saved.new else Status.UPDATED)


def restack_library(session: Session, settings: Settings, clock: Clock, lease: Lease | None = None) -> int:
    """Stack all files again unless they are stacked by these settings and rules; return the number of files read.

    Commits after each batch. A run that was interrupted starts again.
    """
    kinds = parse_kinds(settings.stack_by)
    rules = _RULES_VERSION << len(KINDS) | sum(1 << number for number, kind in enumerate(KINDS) if kind in kinds)
    if read_counter(session, STACKING) == rules:
        return 0
    for stacking in (False, True):  # first all keys are written: those of other rules would divide photos
        count, last, size = 0, 0, BatchSize(_FIRST_BATCH, _LIBRARY_MOST, clock)
        while ids := session.scalars(select(File.id).where(File.id > last).order_by(File.id).limit(size.items)).all():
            with size.writing(session, len(ids)):
                if lease:
                    lease.check(session)
                store = Store.of(session, settings, clock())
                for file in session.scalars(select(File).where(File.id.in_(ids))):
                    store.restack(file)
                    count += 1
                if stacking:
                    store.finish()
                else:
                    store.write_keys()
            session.expunge_all()
            last = max(ids)
    begin_write(session)
    set_counters(session, {STACKING: rules})
    session.commit()
    return count
