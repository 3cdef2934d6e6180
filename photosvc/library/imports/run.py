"""An import run. It can be stopped or killed at any moment, and another run completes it.

A file of the originals is always whole, a file to import is removed only after its original is durable, and what the
originals have already is found by its content.
"""

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from sqlalchemy import Engine

from photosvc.core.clock import Clock
from photosvc.core.locks.lock import exclusive_lock
from photosvc.core.problems import Problem, Reason
from photosvc.index.scanning.scan import FoundFile, Unreachable
from photosvc.library.imports.folder import ImportFolder
from photosvc.library.imports.known_sizes import KnownSizes
from photosvc.library.imports.outcome import Imported, ImportOptions, Observer
from photosvc.library.imports.portion import Portion
from photosvc.library.staging.errors import ReadOnlyError
from photosvc.library.uploads.inspect import inspection_pool
from photosvc.models.database.transactions import UnitOfWork
from photosvc.settings import Settings

#: Files and bytes of one portion, which wait in the staging folder until all of them have been read.
_MOST_FILES: Final = 32
_MOST_BYTES: Final = 256 << 20
#: Seconds for which a run waits for files that are still being written.
_PATIENCE: Final = 1800.0
_REFUSAL: Final = "Another import is going on; wait for it to end."


@dataclass(frozen=True, slots=True)
class ImportRun:
    """One import from a folder."""

    engine: Engine
    settings: Settings
    clock: Clock
    source: ImportFolder
    options: ImportOptions
    observer: Observer

    def portions(self) -> Generator[int, None, None]:
        """Import one portion after the other; each gives the number of its files; 0 while it waits for a writer.

        Raises:
            ReadOnlyError: nothing may be added.
            NotFoundError: there is no such folder.
            InvalidValueError: it cannot be imported.
            ConflictError: another import is going on.
            QuotaExceededError: the account may not add more.
            PhotosvcError: the files cannot be stored.

        """
        if self.settings.readonly:
            raise ReadOnlyError
        folder = self.source.check(self.settings.originals, self.options.folder)
        options = replace(self.options, folder=folder)
        with UnitOfWork(self.engine) as session:
            sizes = KnownSizes(session)
        with (
            exclusive_lock(self.settings.cache / "import.lock", _REFUSAL),
            inspection_pool(self.settings) as pool,
            closing(self._readable_groups()) as found,
        ):
            portion = Portion(self.engine, self.settings, self.clock, self.source, options, self.observer, sizes, pool)
            left: list[Sequence[FoundFile]] = []
            for groups in _portioned(found):
                left += portion.bring(groups)
                yield sum(map(len, groups))
            yield from self._wait_for(left, portion)

    def _wait_for(self, left: Sequence[Sequence[FoundFile]], portion: Portion) -> Generator[int, None, None]:
        """Import groups whose files are no longer being written."""
        end = time.monotonic() + _PATIENCE
        while left and time.monotonic() < end:
            look = time.monotonic() + self.options.settle
            while time.monotonic() < look:
                yield 0
            again, left = filter(None, map(self.source.again, left)), []
            for groups in _portioned(again):
                left += portion.bring(groups)
                yield sum(map(len, groups))
        for file in chain.from_iterable(left):
            self.observer(Imported.refused(file.name, Problem(Reason.UNSETTLED)))

    def count(self) -> int:
        """Files of any kind below the folder."""
        groups = self.source.groups(self.options.folder)
        return sum(len(group) for group in groups if not isinstance(group, Unreachable))

    def _readable_groups(self) -> Generator[Sequence[FoundFile], None, None]:
        for group in self.source.groups(self.options.folder):
            if isinstance(group, Unreachable):
                self.observer(Imported.refused(group.name, group.problem))
            else:
                yield group


def _portioned(groups: Iterable[Sequence[FoundFile]]) -> Iterator[list[Sequence[FoundFile]]]:
    """The groups of files, some at a time."""
    portion: list[Sequence[FoundFile]] = []
    files = size = 0
    for group in groups:
        portion.append(group)
        files, size = files + len(group), size + sum(file.size for file in group)
        if files >= _MOST_FILES or size >= _MOST_BYTES:
            yield portion
            portion, files, size = [], 0, 0
    if portion:
        yield portion
