"""The export of values into XMP sidecars, one a file: into a folder of their own, or beside the originals.

Sidecars of other programs keep what these wrote, see `media.xmp_packet`. No sidecar is replaced that another program
changed since it was written, or while it is written.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import Final
from xml.etree.ElementTree import Element

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from photosvc.core.files import disk_name, open_folder
from photosvc.core.orientation import swaps_sides
from photosvc.exchange.known_values import known_values, own_values
from photosvc.index.sidecar_links import sidecars_of
from photosvc.index.sidecar_values import StoredSidecar
from photosvc.media.metadata import Metadata
from photosvc.media.xmp_packet import NotXmpError, Packet
from photosvc.media.xmp_tree import MAX_PACKET
from photosvc.media.xmp_writer import properties_to_write
from photosvc.models import ORIGINALS_ROOT, File, Photo
from photosvc.models.photo import load_whole
from photosvc.models.statements import in_portions

_FLAGS: Final = os.O_NOFOLLOW | os.O_CLOEXEC
_NOTHING: Final = Metadata()


class SidecarOutcome(StrEnum):
    """The end of the export of a file's sidecar."""

    WRITTEN = "written"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    KEPT = "kept"
    """Another program changed what was written before, or changed it just now."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ExportedSidecar:
    """The sidecar of a file, and what became of it."""

    name: str
    """Path relative to the folder."""
    outcome: SidecarOutcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The values for the sidecar of a file."""

    name: str
    values: Metadata
    size: tuple[int, int]
    """Width and height of the picture as stored, in pixels."""


def sidecar_contents(session: Session, photo_ids: Sequence[int]) -> dict[int, bytes]:
    """Return the content of a new sidecar by the id of each file of these photos; empty without values for it."""
    contents: dict[int, bytes] = {}
    for photo in load_whole(session, photo_ids):
        own = own_values(photo)
        for file in photo.files:
            values, packet = known_values(photo, file, own), Packet()
            is_written = packet.put(values, properties_to_write(values, _stored_size(file)))
            contents[file.id] = packet.content() if is_written else b""
    return contents


class SidecarExport:
    """An export of the sidecars of photos."""

    PORTION: Final = 200
    """Photos that are in memory at a time."""

    def __init__(self, engine: Engine, folder: Path, *, removes: bool = False) -> None:
        """Prepare an export.

        Args:
            engine: the database of the library.
            folder: that of the originals, or another one, which gets the same folders below it.
            removes: take away what was written before, instead of writing.
        """
        self._engine = engine
        self._folder = folder
        self._removes = removes

    def run(self, photo_ids: Sequence[int]) -> Iterator[list[ExportedSidecar]]:
        """Write the sidecars of these photos; yield the results for some hundreds of photos at a time.

        A file without values that it does not say itself, and without a sidecar from before, has no result.
        """
        for portion in in_portions(photo_ids, self.PORTION):
            with Session(self._engine) as session:
                photos, sidecars = load_whole(session, portion), sidecars_of(session, portion)
                wanted = [one for photo in photos for one in self._wanted(photo, sidecars)]
            yield [result for one in wanted if (result := self._export(one)) is not None]

    def _wanted(self, photo: Photo, sidecars: Mapping[int, Sequence[StoredSidecar]]) -> Iterator[_Wanted]:
        own = _NOTHING if self._removes else own_values(photo)
        for file in photo.files:
            if not file.is_present or file.root != ORIGINALS_ROOT:
                continue
            name = f"{file.name}.xmp"
            present = (sidecar.name for sidecar in sidecars.get(file.id, ()) if sidecar.name.lower() == name.lower())
            values = _NOTHING if self._removes else known_values(photo, file, own)
            yield _Wanted(next(present, name), values, _stored_size(file))

    def _export(self, wanted: _Wanted) -> ExportedSidecar | None:
        try:
            return self._write(wanted, properties_to_write(wanted.values, wanted.size))
        except NotXmpError:
            reason = "the present sidecar is no XMP that can be changed"
        except OSError as error:
            reason = error.strerror or str(error)
        return ExportedSidecar(wanted.name, SidecarOutcome.FAILED, reason)

    def _write(self, wanted: _Wanted, properties: Mapping[str, Sequence[Element]]) -> ExportedSidecar | None:
        """Write or remove one sidecar.

        Raises:
            NotXmpError: the present sidecar is none.
            OSError: it cannot be read or written.
        """
        *folders, base = disk_name(wanted.name).split("/")
        try:
            folder = open_folder(self._folder, folders, create=bool(properties))
        except FileNotFoundError:
            if properties:
                raise
            return None
        try:
            present = _read(folder, base)
            if not (present or properties):
                return None
            packet = Packet(present.content if present else b"")
            if not (packet.has_written or properties):
                return None
            others = packet.changed_by_others()
            if others and not self._removes:
                reason = f"another program changed {', '.join(others)}"
                return ExportedSidecar(wanted.name, SidecarOutcome.KEPT, reason)
            if self._removes:
                packet.take_away()
            elif not packet.put(wanted.values, properties):
                return ExportedSidecar(wanted.name, SidecarOutcome.UNCHANGED)
            outcome = _replace(folder, base, present, b"" if packet.is_empty else packet.content())
            reason = "another program changes it now" if outcome is SidecarOutcome.KEPT else ""
            return ExportedSidecar(wanted.name, outcome, reason)
        finally:
            os.close(folder)


def _stored_size(file: File) -> tuple[int, int]:
    """Return width and height of the picture as it is stored."""
    return (file.height, file.width) if swaps_sides(file.orientation) else (file.width, file.height)


@dataclass(frozen=True, slots=True)
class _Present:
    """A sidecar as it was read."""

    content: bytes
    status: os.stat_result


def _read(folder: int, base: str) -> _Present | None:
    """Return the sidecar of this name in a folder; None if there is none.

    Raises:
        NotXmpError: it is too large.
        OSError: it cannot be read, or is a link.
    """
    try:
        descriptor = os.open(base, os.O_RDONLY | os.O_NONBLOCK | _FLAGS, dir_fd=folder)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not S_ISREG(status.st_mode):
            raise NotXmpError
        return _Present(file.read(MAX_PACKET + 1), status)


def unfinished_name(base: str) -> str:
    """Return the name of a file while it is written: hidden from index runs, and as short as every folder takes."""
    return f".{sha256(os.fsencode(base)).hexdigest()[:24]}.photosvc-unfinished"


def _replace(folder: int, base: str, present: _Present | None, content: bytes) -> SidecarOutcome:
    """Replace a sidecar by this content, or remove it without one, unless it changed since it was read.

    Raises:
        OSError: it cannot be written.
    """
    unfinished = unfinished_name(base)
    mode = S_IMODE(present.status.st_mode) if present else 0o666
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if present:
                os.fchmod(descriptor, mode)  # the mask of the process does not apply
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        if not _is_same(folder, base, present):
            return SidecarOutcome.KEPT
        if not content:
            os.unlink(base, dir_fd=folder)
            return SidecarOutcome.REMOVED
        os.rename(unfinished, base, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(unfinished, dir_fd=folder)
    return SidecarOutcome.CHANGED if present else SidecarOutcome.WRITTEN


def _is_same(folder: int, base: str, present: _Present | None) -> bool:
    """Return whether a sidecar is as it was read."""
    try:
        status = os.stat(base, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return present is None
    before = present.status if present else None
    names = ("st_ino", "st_size", "st_mtime_ns")
    return before is not None and all(getattr(status, name) == getattr(before, name) for name in names)
