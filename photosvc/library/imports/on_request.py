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
from photosvc.library.imports import wishes
from photosvc.library.imports.folder import ImportFolder
from photosvc.library.imports.outcome import Fate, Imported, ImportOptions
from photosvc.library.imports.run import ImportRun
from photosvc.library.imports.wishes import Wish
from photosvc.models.database import UnitOfWork, write_session
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
    """Fulfils wishes, a step at a time; `close` it in the end."""

    engine: Engine
    settings: Settings
    clock: Clock
    _wish: Wish | None = field(default=None, init=False)
    _portions: Generator[int, None, None] | None = field(default=None, init=False)
    _counts: Counter[Fate] = field(default_factory=Counter, init=False)
    _not_before: float = field(default=0.0, init=False)

    def step(self) -> bool:
        """Import some files; whether there is more to do.

        Errors of the library, such as a full disk, end a run and are logged, as are conflicts, which are tried again.
        """
        try:
            return self._step()
        except ConflictError as error:
            _LOG.info("import on request: %s", error.message)
            self._end()
            self._not_before = time.monotonic() + _PAUSE
            return True
        except PhotosvcError as error:
            _LOG.warning("import on request: %s", error.message)
            self._end(fulfilled=True)
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
                self._end()
            elif (count := next(self._portions, None)) is None:
                self._report()
                self._end(fulfilled=True)
            elif count == 0 or time.monotonic() > end:
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
        self._portions = ImportRun(self.engine, self.settings, self.clock, source, options, self._observe).portions()
        return True

    def _observe(self, file: Imported) -> None:
        self._counts[file.fate] += 1
        if file.fate is Fate.FAILED and file.problem is not None and self._counts[Fate.FAILED] <= _MOST_LOGGED:
            _LOG.warning("import on request: %s: %s", file.name, file.problem.sentence)

    def _report(self) -> None:
        listed = ", ".join(f"{self._counts[fate]} {fate.value}" for fate in Fate if self._counts[fate])
        _LOG.info("import on request: %s", listed or "no files")

    def _end(self, *, fulfilled: bool = False) -> None:
        portions, one = self._portions, self._wish
        self._portions = self._wish = None
        if portions is not None:
            portions.close()
        if fulfilled and one is not None:
            with write_session(self.engine) as session:
                wishes.fulfil(session, one)
