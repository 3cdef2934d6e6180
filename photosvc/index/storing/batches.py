"""The writing side of an index run: batches of read files, each stored in one transaction."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import Problem, Reason, Validity
from photosvc.index.extract import Extraction
from photosvc.index.places import Gazetteer
from photosvc.index.running.run_lock import Lease
from photosvc.index.running.summary import Outcome, Status, Summary
from photosvc.index.scanning.scan import FoundFile
from photosvc.index.sidecars.folders import Folders
from photosvc.index.storing.catalog import Catalog
from photosvc.index.storing.store import Store
from photosvc.models.database.pace import Pace

#: Files that the first transaction stores, and the most. The first one also compiles the statements.
_FIRST_SIZE, _MOST = 5, 500
#: The same for those that mark missing files: a file takes a twentieth of the time, each transaction as much again.
_FIRST_MARKED, _MOST_MARKED = 100, 2000
#: A file with its extraction, or the reason why there is none.
ReadFile = tuple[FoundFile, Extraction | Problem]


class BatchWriter:
    """Stores files in batches, stacked by these kinds, and counts them in the summary of the run."""

    def __init__(
        self,
        session: Session,
        originals: Path,
        clock: Clock,
        summary: Summary,
        kinds: frozenset[str] = frozenset(),
        lease: Lease | None = None,
    ) -> None:
        self._session = session
        self._originals = originals
        self._kinds = kinds
        self._folders = Folders(originals)
        self._clock = clock
        self._summary = summary
        self._lease = lease
        self._storing = Pace(_FIRST_SIZE, _MOST)
        self._marking = Pace(_FIRST_MARKED, _MOST_MARKED)

    @property
    def size(self) -> int:
        """The number of files to store next."""
        return self._storing.size

    def store(self, batch: Sequence[ReadFile]) -> None:
        """Store a batch; when the database refuses it, store file by file, so that only the one at fault is left out.

        Raises:
            Exception: what the database raises when it is locked, full or away.

        """
        batch = sorted(batch, key=lambda read: read[0].name)
        try:
            self._write(batch)
        except Exception as error:  # noqa: BLE001 - `_roll_back` raises errors that no file causes
            self._roll_back(error)
            for found, result in batch:
                self._store_one(found, result)

    def mark_missing(self, names: Iterator[str]) -> None:
        """Mark files that are gone from the folder as missing."""
        while batch := list(islice(names, self._marking.size)):
            with self._transaction(self._marking, len(batch)) as store:
                missing = store.mark_missing(batch)
            for name in missing:
                self._summary.add(Outcome(name, Status.MISSING))

    def _store_one(self, found: FoundFile, result: Extraction | Problem) -> None:
        try:
            self._write([(found, result)])
        except Exception as error:  # noqa: BLE001 - hostile files may cause any error
            self._roll_back(error)
            problem = Problem.of(Reason.UNSTORABLE, type(error).__name__)
            try:
                self._write([(found, problem)])
            except Exception as second:  # noqa: BLE001 - not even the problem can be stored; every run reports it
                self._roll_back(second)
                self._summary.add(Outcome.of_problem(found.name, problem))

    def _write(self, batch: Sequence[ReadFile]) -> None:
        with self._transaction(self._storing, len(batch)) as store:
            names = [found.name for found, _ in batch]
            store.load(names, [(found, read) for found, read in batch if isinstance(read, Extraction)])
            outcomes = [_save(store, found, result) for found, result in batch]
        for outcome in outcomes:
            self._summary.add(outcome)

    @contextmanager
    def _transaction(self, pace: Pace, items: int) -> Iterator[Store]:
        """One transaction: all of the batch or nothing."""
        with pace.writing(self._session, items):
            if self._lease:
                self._lease.check(self._session)
            catalog = Catalog(self._session, Gazetteer.load())
            store = Store(self._session, catalog, self._originals, self._clock(), self._kinds, self._folders)
            yield store
            store.finish()
            self._session.expunge_all()  # before the commit, which would mark each object as expired

    def _roll_back(self, error: Exception) -> None:
        """Undo the batch; raise the error unless the values of a file caused it."""
        self._session.rollback()
        self._session.expunge_all()
        if not caused_by_values(error):
            raise error


def caused_by_values(error: Exception) -> bool:
    """Whether the written values caused the error, rather than a locked, full, broken or unreachable database."""
    if isinstance(error, PhotosvcError | OSError):
        return False
    if not isinstance(error, DBAPIError):
        return True
    # PostgreSQL reports values beyond its limits (class 54, such as an index row too long) as operational errors.
    sqlstate: str = getattr(error.orig, "sqlstate", None) or ""
    return (isinstance(error, DataError | IntegrityError) or sqlstate.startswith("54")) and (
        not error.connection_invalidated
    )


def _save(store: Store, found: FoundFile, result: Extraction | Problem) -> Outcome:
    if isinstance(result, Problem):
        if result.reason.validity is not Validity.NOT_STORED:
            store.reject(found, result)
        return Outcome.of_problem(found.name, result)
    saved = store.save(found, result)
    if saved.problem:
        return Outcome.of_problem(found.name, saved.problem)
    return Outcome(found.name, Status.INDEXED if saved.new else Status.UPDATED)
