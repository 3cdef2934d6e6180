"""Some files of an import: those that the library lacks are copied into the staging folder and added together."""

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from io import FileIO
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from photosvc.core.clock import Clock
from photosvc.core.errors import NotFoundError
from photosvc.core.paths import open_inside
from photosvc.core.problems import FileProblemError, Problem, Reason, system_symbol
from photosvc.index.scanning.scan import FoundFile
from photosvc.library.imports.folder import ImportFolder, is_as_found
from photosvc.library.imports.known_sizes import KnownSizes
from photosvc.library.imports.outcome import Fate, Imported, ImportOptions, Observer
from photosvc.library.staging import Part, Staging
from photosvc.library.staging.part import new_hash
from photosvc.library.uploads.admit import ADDED, DUPLICATE, Admission, Admitted
from photosvc.library.uploads.inspect import InspectionPool, ReceivedFile, kind_of
from photosvc.media.formats import HEAD_SIZE
from photosvc.models.database.transactions import UnitOfWork, write_session
from photosvc.settings import Settings

_PIECE: Final = 1 << 20
_NANOSECONDS: Final = 1_000_000_000
_SIDECAR: Final = "sidecar"


@dataclass(slots=True)
class _Source:
    """A file that may be imported."""

    found: FoundFile
    status: os.stat_result
    media_type: str
    received: ReceivedFile
    part: Part | None = None


@dataclass(slots=True)
class Portion:
    """Imports groups of files; usable for many portions of one run."""

    engine: Engine
    settings: Settings
    clock: Clock
    source: ImportFolder
    options: ImportOptions
    observer: Observer
    sizes: KnownSizes
    pool: InspectionPool
    _emptied: set[str] = field(default_factory=set, init=False)

    def bring(self, groups: Sequence[Sequence[FoundFile]]) -> list[Sequence[FoundFile]]:
        """Import these files; the observer is told of each. Gives the groups that may still be written to.

        Raises:
            PhotosvcError: the files cannot be stored. Those before them are added, and none is removed or half there.

        """
        staged: dict[Path, _Source] = {}

        def place(file: ReceivedFile, name: str) -> None:
            if (part := staged[file.path].part) is not None:
                part.place(name, replace=False)

        admission = Admission(
            self.settings,
            lambda: write_session(self.engine),
            place,
            self.clock(),
            self.options.user_id,
            self.options.albums,
            self.pool,
            checks_quota=True,
        )
        left: list[Sequence[FoundFile]] = []
        with ExitStack() as parts:
            for group in groups:
                if self._may_be_written(group):
                    left.append(group)
                    continue
                sources = self._opened(group)
                if not self._are_known(sources, admission):
                    for one in self._staged(sources, parts):
                        staged[one.received.path] = one
            for outcome in admission.admit([one.received for one in staged.values()]) if staged else ():
                self._finish(staged[outcome.file.path], outcome, admission)
        for folder in sorted(self._emptied, key=len, reverse=True):
            self.source.remove_empty(folder, self.options.folder)
        self._emptied.clear()
        return left

    def _may_be_written(self, group: Sequence[FoundFile]) -> bool:
        """Whether one of these files was written a moment ago; the future of a file server does not count."""
        settle = self.options.settle * _NANOSECONDS
        return any(abs(time.time_ns() - found.ctime_ns) < settle for found in group)

    def _opened(self, group: Sequence[FoundFile]) -> list[_Source]:
        """The files of a group that may be added; of the others the observer is told."""
        opened = []
        for found in group:
            try:
                opened.append(self._looked_at(found))
            except FileProblemError as error:
                self.observer(Imported.refused(found.name, error.problem))
        if all(one.media_type == _SIDECAR for one in opened):
            for one in opened:
                self.observer(Imported.refused(one.found.name, Problem(Reason.UNRELATED)))
            return []
        return opened

    def _looked_at(self, found: FoundFile) -> _Source:
        folder, _, name = found.name.rpartition("/")
        with self.source.open(found) as file:
            kind = kind_of(name, found.size, _read(file, HEAD_SIZE), self.settings)
            if isinstance(kind, Problem):
                raise FileProblemError(kind.reason, *kind.details)
            received = ReceivedFile(Path(), name, found.size, "", folder)
            return _Source(found, os.fstat(file.fileno()), kind[0], received)

    def _are_known(self, sources: Sequence[_Source], admission: Admission) -> bool:
        """Whether the library has all of these files, which are finished then, without a copy."""
        if not all(self.sizes.has(one.found.size) for one in sources):
            return False
        known = []
        for one in sources:
            try:
                with self.source.open(one.found) as file:
                    one.received = replace(one.received, hash=_sha1(file))
            except FileProblemError:
                return False
            # Without albums nothing is written, and others may write meanwhile.
            with write_session(self.engine) if self.options.albums else UnitOfWork(self.engine) as session:
                name = admission.find(session, one.received)
            if name is None:
                return False
            known.append((one, name))
        for one, name in known:
            self._finish(one, Admitted(one.received, DUPLICATE, name), admission)
        return True

    def _staged(self, sources: Sequence[_Source], parts: ExitStack) -> Sequence[_Source]:
        """Those of the files that could be copied, each with its part."""
        if self.options.dry_run:
            for one in sources:
                self.observer(Imported(one.found.name, Fate.IMPORTED))
            return ()
        copied = []
        for one in sources:
            try:
                part = self._copy(one, parts)
            except FileProblemError as error:
                self.observer(Imported.refused(one.found.name, error.problem))
                continue
            one.part, one.received = part, replace(one.received, path=part.path, hash=part.sha1)
            copied.append(one)
        return copied

    def _copy(self, one: _Source, parts: ExitStack) -> Part:
        left = one.found.size
        with self.source.open(one.found) as file, ExitStack() as undo:
            receiving = Staging(self.settings.originals).receive(most_bytes=left, expected_length=left)
            part = undo.enter_context(receiving)
            while piece := _read(file, min(left, _PIECE)):
                part.write(piece)
                left -= len(piece)
            if left or not is_as_found(os.fstat(file.fileno()), one.found):
                raise FileProblemError(Reason.CHANGED)
            part.date(one.status.st_mtime_ns)
            part.flush()  # now, and not within the write transaction
            parts.enter_context(undo.pop_all())
        return part

    def _finish(self, one: _Source, outcome: Admitted, admission: Admission) -> None:
        """Tell what became of a file, and remove it where it is to be moved and its original is there."""
        if outcome.problem is not None:
            self.observer(Imported.refused(one.found.name, outcome.problem))
            return
        self.sizes.add(one.found.size)
        is_new = outcome.status == ADDED
        self.observer(Imported(one.found.name, Fate.IMPORTED if is_new else Fate.DUPLICATE, outcome.placed))
        if not self.options.moves or self.options.dry_run:
            return
        if is_new or (self._is_other_file(one, outcome.placed) and admission.is_same(outcome.file, outcome.placed)):
            self.source.remove(one.found, one.status)
            self._emptied.add(one.found.name.rpartition("/")[0])

    def _is_other_file(self, one: _Source, name: str) -> bool:
        """Whether the original is not this very file, which folders that are mounted twice show under two names."""
        try:
            with FileIO(open_inside(self.settings.originals, name)) as original:
                return not os.path.samestat(os.fstat(original.fileno()), one.status)
        except (OSError, NotFoundError):
            return False


def _sha1(file: FileIO) -> str:
    digest = new_hash()
    while piece := _read(file, _PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _read(file: FileIO, size: int) -> bytes:
    """Raises FileProblemError: the disk of the folder of imports fails."""
    try:
        return file.read(size)
    except OSError as error:
        raise FileProblemError(Reason.UNREADABLE, system_symbol(error)) from None
