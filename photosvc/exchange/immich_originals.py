"""The originals of Immich that are not here: downloaded into the staging folder, checked, and added like an import.

A file gets its name among the originals once all its bytes have the SHA-1 that Immich states. Nothing is overwritten. A
transfer that breaks off leaves nothing; the next run asks for it again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.exchange.immich_api import Asset
from photosvc.exchange.imported import Outcome, Report, Unreadable
from photosvc.exchange.remote import CutOffError, RemoteApi, RemoteError
from photosvc.library.admission import DUPLICATE, Admission
from photosvc.library.content import ReceivedFile
from photosvc.library.staging import Part, Staging, add_original, require_writable
from photosvc.models import File, Imported, ImportRun
from photosvc.models.engine import write_session
from photosvc.models.statements import in_portions
from photosvc.settings import Settings

#: Files and bytes of one portion, which wait in the staging folder until all of them are there.
_MOST_FILES: Final = 32
_MOST_BYTES: Final = 256 << 20
#: Times that a file is asked for if its transfer breaks off.
_TRIES: Final = 3
_MIB: Final = 1 << 20
#: Folder of Immich with videos that it made; they are in the picture that they belong to.
_MADE: Final = "/encoded-video/"


@dataclass(slots=True)
class ImmichOriginals:
    """The downloads of one run.

    Args:
        index: called after files were added, to index them.
        dry_run: only count.
    """

    engine: Engine
    settings: Settings
    clock: Clock
    api: RemoteApi
    source: str
    index: Callable[[], object]
    dry_run: bool
    report: Report = field(default_factory=Report)

    def bring(self, assets: Sequence[Asset]) -> Iterator[Unreadable]:
        """Download and index the files that are not here; yield those that cannot be downloaded or stored.

        Raises:
            RemoteError: the server cannot be reached, or the key may not download.
            PhotosvcError: the originals cannot be written.
        """
        missing = self._missing(assets)
        self.report.count("original", Outcome.EQUAL, len(assets) - len(missing))
        if self.dry_run:
            self.report.count("original", Outcome.TAKEN, len(missing))
            return
        if missing:
            require_writable(self.settings)
        for portion in _portions(missing):
            yield from self._add(portion)
        if missing:
            self.index()

    def _missing(self, assets: Sequence[Asset]) -> list[Asset]:
        """Return the assets whose content is not here, not even in the trash.

        Immich has no SHA-1 of files of external libraries: these are here if an earlier run knew them, or if a file
        has their size and name.
        """
        here: set[str] = set()
        with Session(self.engine) as session:
            for hashes in in_portions([asset.hash for asset in assets if asset.hash]):
                here |= set(session.scalars(select(File.hash).where(File.hash.in_(hashes))))
            unhashed = [asset for asset in assets if not asset.hash]
            for keys in in_portions([asset.id for asset in unhashed]):
                known = select(Imported.key).join(ImportRun).where(ImportRun.source == self.source)
                here |= set(session.scalars(known.where(Imported.key.in_(keys))))
            named: set[tuple[int, str]] = set()
            for sizes in in_portions([asset.size for asset in unhashed]):
                query = select(File.size, File.name, File.original_name).where(File.size.in_(sizes))
                for size, *names in session.execute(query):
                    named |= {(size, name.rpartition("/")[2].lower()) for name in names}
        return [
            asset
            for asset in assets
            if (asset.hash or asset.id) not in here
            and not (not asset.hash and (asset.size, asset.file_name.lower()) in named)
        ]

    def _add(self, assets: Sequence[Asset]) -> Iterator[Unreadable]:
        """Download the files of some assets, and add them to the originals."""
        parts: dict[Path, Part] = {}
        received: list[ReceivedFile] = []
        with ExitStack() as staged:
            for asset in assets:
                try:
                    files = [(file, self._download(file, staged)) for file in (*self._moving(asset), asset)]
                except RemoteError as error:
                    if error.answer in (401, 403) or not (error.answer or isinstance(error, CutOffError)):
                        raise
                    yield Unreadable(asset.file_name or asset.id, f"{error.message}; the next run asks for it again")
                    continue
                for file, part in files:
                    parts[part.path] = part
                    name = file.file_name or file.id
                    received.append(ReceivedFile(part.path, name, part.size, part.hash, folder=asset.id))
            for outcome in self._admission(parts).admit(received):
                if outcome.problem is not None:
                    yield Unreadable(outcome.file.name, outcome.problem.sentence)
                else:
                    is_here = outcome.status == DUPLICATE
                    self.report.count("original", Outcome.EQUAL if is_here else Outcome.TAKEN)

    def _admission(self, parts: dict[Path, Part]) -> Admission:
        def place(file: ReceivedFile, name: str, undo: ExitStack) -> None:
            add_original(self.settings, parts[file.path], name, undo)

        return Admission(self.settings, lambda: write_session(self.engine), place, self.clock())

    def _moving(self, asset: Asset) -> Iterable[Asset]:
        """Return the video of a Live Photo that is a file of its own."""
        if not asset.live_photo_video_id:
            return ()
        try:
            video = self.api.get(f"/assets/{asset.live_photo_video_id}", Asset)
            video.id = asset.live_photo_video_id  # this one was checked
        except RemoteError as error:
            if error.answer not in (HTTPStatus.OK, 400, 404):
                raise
            return ()
        return () if _MADE in video.original_path else (video,)

    def _download(self, asset: Asset, staged: ExitStack) -> Part:
        """Return the whole file of an asset, which is deleted at the end of `staged` unless it was placed.

        Raises:
            CutOffError: its transfer broke off several times, or its content is another one.
        """
        for _ in range(_TRIES - 1):
            with suppress(CutOffError):
                return self._receive(asset, staged)
        return self._receive(asset, staged)

    def _receive(self, asset: Asset, staged: ExitStack) -> Part:
        most = self.settings.max_file_size * _MIB
        with ExitStack() as undo:
            part = undo.enter_context(Staging(self.settings.originals).receive(most_bytes=most))
            for piece in self.api.pieces(f"/assets/{asset.id}/original", most):
                part.write(piece)
            if asset.hash not in ("", part.hash) or (not asset.hash and asset.size not in (0, part.size)):
                raise CutOffError("what came is another file than Immich says")
            if asset.modified_at is not None:
                part.date(int(asset.modified_at.timestamp()) * 1_000_000_000)
            part.flush()  # before the write transaction, which it would prolong
            staged.enter_context(undo.pop_all())
        return part


def _portions(assets: Sequence[Asset]) -> Iterator[list[Asset]]:
    """Yield lists of assets with about `_MOST_FILES` files or `_MOST_BYTES` bytes."""
    portion: list[Asset] = []
    size = 0
    for asset in assets:
        portion.append(asset)
        size += asset.size
        if len(portion) >= _MOST_FILES or size >= _MOST_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion
