"""The imports that requests wish for, in the process of an indexer and between its index runs."""

import logging
import time
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Engine

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.library.imports import reports, wishes
from photosvc.library.imports.folder import ImportFolder
from photosvc.library.imports.outcome import Fate, Imported, ImportOptions
from photosvc.library.imports.reports import State
from photosvc.library.imports.run import ImportRun
from photosvc.library.imports.wishes import Wish
from photosvc.models.database.transactions import UnitOfWork, write_session
from photosvc.settings import Settings

_LOG = logging.getLogger("photosvc")
#: Seconds after which a run is tried again that another import refused.
_PAUSE: Final = 5.0
#: Seconds of one step: what was imported is indexed between two of them.
_STEP: Final = 5.0
#: Failed files of one run that are logged.
_MOST_LOGGED: Final = 20


@dataclass(slots=True)
class RequestedImports:
    """Fulfils wishes, a step at a time, and reports what became of them; `close` it in the end."""

    engine: Engine
    settings: Settings
    clock: Clock
    _wish: Wish | None = field(default=None, init=False)
    _portions: Generator[int, None, None] | None = field(default=None, init=False)
    _counts: Counter[Fate] = field(default_factory=Counter, init=False)
    _failures: list[Imported] = field(default_factory=list, init=False)
    """Files that failed since the last step."""
    _report_id: int | None = field(default=None, init=False)
    _not_before: float = field(default=0.0, init=False)

    def step(self) -> bool:
        """Import some files; whether there is more to do.

        Errors of the library, such as a full disk, end a run and are logged, as are conflicts, which are tried again.
        """
        try:
            return self._step()
        except ConflictError as error:
            _LOG.info("import on request: %s", error.message)
            self._forget()
            self._end()
            self._not_before = time.monotonic() + _PAUSE
            return True
        except PhotosvcError as error:
            _LOG.warning("import on request: %s", error.message)
            self._end(State.FAILED, error.message)
            return True
        except BaseException:
            self._end()
            raise

    def waits(self) -> bool:
        """Whether there is a wish."""
        with UnitOfWork(self.engine) as session:
            return wishes.next_wish(session) is not None

    def close(self) -> None:
        """Leave the rest to another process."""
        self._end()

    def _step(self) -> bool:
        if self._portions is None and not self._begin():
            return self.waits()
        end = time.monotonic() + _STEP
        while self._portions is not None:
            with UnitOfWork(self.engine) as session:
                is_wished = self._wish is not None and wishes.is_wished(session, self._wish)
            if not is_wished:
                _LOG.info("import on request: stopped")
                self._end(State.STOPPED)
            elif (count := next(self._portions, None)) is None:
                self._log_counts()
                self._end(State.DONE)
            elif count == 0 or time.monotonic() > end:
                self._save()
                return True
        return self.waits()

    def _begin(self) -> bool:
        if time.monotonic() < self._not_before:
            return False
        with UnitOfWork(self.engine) as session:
            self._wish = one = wishes.next_wish(session)
        if one is None:
            return False
        settle = self.settings.watch_settle
        options = ImportOptions(one.folder, moves=one.moves, settle=settle, user_id=one.user_id, albums=one.albums)
        source = ImportFolder(self.settings.import_folder)
        self._counts.clear()
        self._failures.clear()
        with write_session(self.engine) as session:
            self._report_id = reports.begin(session, one, self.clock())
        self._portions = ImportRun(self.engine, self.settings, self.clock, source, options, self._observe).portions()
        return True

    def _observe(self, file: Imported) -> None:
        self._counts[file.fate] += 1
        if file.fate is not Fate.FAILED or file.problem is None:
            return
        if self._counts[Fate.FAILED] <= reports.MOST_FAILURES:
            self._failures.append(file)
        if self._counts[Fate.FAILED] <= _MOST_LOGGED:
            _LOG.warning("import on request: %s: %s", file.name, file.problem.sentence)

    def _log_counts(self) -> None:
        listed = ", ".join(f"{self._counts[fate]} {fate.value}" for fate in Fate if self._counts[fate])
        _LOG.info("import on request: %s", listed or "no files")

    def _save(self) -> None:
        """Write how far the import is."""
        if self._report_id is not None:
            with write_session(self.engine) as session:
                reports.save(session, self._report_id, self._counts, self._failures, self.clock())
            self._failures.clear()

    def _forget(self) -> None:
        """Forget the report of an import that begins later."""
        if self._report_id is not None:
            with write_session(self.engine) as session:
                reports.discard(session, self._report_id)

    def _end(self, state: State | None = None, message: str = "") -> None:
        """End the import, or, without a state, leave it to a later one."""
        portions, one, report_id = self._portions, self._wish, self._report_id
        self._portions = self._wish = self._report_id = None
        if portions is not None:
            portions.close()
        if state is None or one is None or report_id is None:
            return
        now = self.clock()
        with write_session(self.engine) as session:
            reports.save(session, report_id, self._counts, self._failures, now)
            reports.end(session, report_id, state, message, now)
            wishes.fulfil(session, one)
        self._failures.clear()
