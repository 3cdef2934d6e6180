"""The writing side of an index run: batches of read files, each stored in one transaction."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import Problem, Reason, Validity
from photosvc.index.catalog import Catalog
from photosvc.index.extract import Extraction
from photosvc.index.places import Gazetteer
from photosvc.index.scan import FoundFile
from photosvc.index.store import Store
from photosvc.index.summary import Summary
from photosvc.models.database import begin_write

#: Files a transaction stores.
BATCH_SIZE = 100
#: A file with its extraction, or the reason why there is none.
ReadFile = tuple[FoundFile, Extraction | Problem]


class BatchWriter:
    """Stores files in batches and counts them in the summary of the run."""

    def __init__(self, session: Session, originals: Path, clock: Clock, summary: Summary) -> None:
        self._session = session
        self._originals = originals
        self._clock = clock
        self._summary = summary

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

    def mark_missing(self, names: Sequence[str]) -> None:
        """Mark files that are gone from the folder as missing."""
        for start in range(0, len(names), BATCH_SIZE):
            with self._transaction() as store:
                self._summary.missing += store.mark_missing(names[start : start + BATCH_SIZE])

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
                self._summary.report(found.name, problem)

    def _write(self, batch: Sequence[ReadFile]) -> None:
        summary = Summary()
        with self._transaction() as store:
            for found, result in batch:
                if isinstance(result, Problem):
                    _reject(store, found, result, summary)
                else:
                    _save(store, found, result, summary)
        self._summary.add(summary)

    @contextmanager
    def _transaction(self) -> Iterator[Store]:
        """One transaction: all of the batch or nothing."""
        begin_write(self._session)
        catalog = Catalog(self._session, Gazetteer.load())
        store = Store(self._session, catalog, self._originals, self._clock())
        yield store
        store.finish()
        self._session.commit()
        self._session.expunge_all()

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


def _save(store: Store, found: FoundFile, extraction: Extraction, summary: Summary) -> None:
    saved = store.save(found, extraction)
    if saved.problem:
        summary.report(found.name, saved.problem)
    elif saved.new:
        summary.indexed += 1
    else:
        summary.updated += 1


def _reject(store: Store, found: FoundFile, problem: Problem, summary: Summary) -> None:
    if problem.reason.validity is not Validity.NOT_STORED:
        store.reject(found, problem)
    summary.report(found.name, problem)
