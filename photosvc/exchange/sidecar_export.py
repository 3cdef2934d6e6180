"""The export of values into XMP sidecars, one a file: into a folder of their own, or beside the originals.

Sidecars of other programs keep what these wrote, see `media.xmp_packet`. No sidecar is replaced that another program
changed since it was written, or while it is written.
"""

import os
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from errno import EACCES, ENAMETOOLONG
from hashlib import sha256
from pathlib import Path
from stat import S_IMODE, S_ISREG
from typing import BinaryIO, Final
from xml.etree.ElementTree import Element

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from photosvc.core.files import disk_name, open_folder, system_sentence
from photosvc.core.orientation import swaps_sides
from photosvc.exchange.known_values import entered_values, known_values, own_values
from photosvc.index.sidecar_formats import SidecarKind
from photosvc.index.sidecar_links import sidecars_of
from photosvc.index.sidecar_values import StoredSidecar
from photosvc.media.metadata import Metadata
from photosvc.media.xmp_packet import NotXmpError, Packet
from photosvc.media.xmp_tree import MAX_PACKET
from photosvc.media.xmp_writer import properties_to_write
from photosvc.models import ORIGINALS_ROOT, File, Photo
from photosvc.models.counters import LIBRARY, read_counter, set_counters
from photosvc.models.engine import write_session
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
    entered: Collection[str]
    """The result of `entered_values`."""


def sidecar_contents(session: Session, photo_ids: Sequence[int]) -> dict[int, bytes]:
    """Return the content of a new sidecar by the id of each file of these photos; empty without values for it."""
    contents: dict[int, bytes] = {}
    sidecars = sidecars_of(session, photo_ids)
    for photo in load_whole(session, photo_ids):
        own = own_values(photo)
        for file in photo.files:
            values, packet = known_values(photo, file, own, sidecars), Packet()
            is_written = packet.put(values, properties_to_write(values, _stored_size(file)))
            contents[file.id] = packet.content() if is_written else b""
    return contents


class SidecarExport:
    """An export of the sidecars of photos."""

    PORTION: Final = 200
    """Photos that are in memory at a time."""

    def __init__(self, engine: Engine, folder: Path, *, removes: bool = False, beside: bool = False) -> None:
        """Prepare an export.

        Args:
            engine: the database of the library.
            folder: that of the originals, or another one, which gets the same folders below it.
            removes: take away what was written before, instead of writing.
            beside: the folder is that of the originals, whose index does not take the written values for those of
                another program.
        """
        self._engine = engine
        self._folder = folder
        self._removes = removes
        self._beside = beside
        self._library = None if removes else _library(engine) if beside else ""

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
        names = {f"{file.name}.xmp".lower() for file in photo.files}
        of_photo = {sidecar.name: sidecar for file in photo.files for sidecar in sidecars.get(file.id, ())}
        # IMG.xmp stays, and its program may change it: a copy of its values would hide that.
        others = [
            sidecar
            for name, sidecar in of_photo.items()
            if self._beside and sidecar.kind is SidecarKind.XMP and name.lower() not in names
        ]
        own = _NOTHING if self._removes else own_values(photo, others)
        for file in photo.files:
            if not file.is_present or file.root != ORIGINALS_ROOT:
                continue
            name = f"{file.name}.xmp"
            present = (sidecar.name for sidecar in sidecars.get(file.id, ()) if sidecar.name.lower() == name.lower())
            values = _NOTHING if self._removes else known_values(photo, file, own, sidecars, others)
            yield _Wanted(next(present, name), values, _stored_size(file), entered_values(photo, file))

    def _export(self, wanted: _Wanted) -> ExportedSidecar | None:
        properties = properties_to_write(wanted.values, wanted.size)
        try:
            return self._write(wanted, properties)
        except NotXmpError:
            if not properties:  # nor did we write into it before
                return None
            reason = "the present sidecar is no XMP that can be changed"
        except OSError as error:
            reason = system_sentence(error)
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
            packet = Packet(present.content if present else b"", self._library)
            if not (packet.has_written or properties):
                return None
            if self._removes:
                packet.take_away()
            elif others := packet.changed_by_others(wanted.values, properties):
                reason = f"another program changed {', '.join(others)}"
                return ExportedSidecar(wanted.name, SidecarOutcome.KEPT, reason)
            elif not packet.put(wanted.values, properties, wanted.entered):
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
    except OSError as error:
        if error.errno == ENAMETOOLONG:  # no file has this name
            return None
        raise
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not S_ISREG(status.st_mode):
            raise NotXmpError
        return _Present(file.read(MAX_PACKET + 1), status)


def unfinished_name(base: str) -> str:
    """Return the name of a file while it is written: hidden from index runs, and as short as every folder takes."""
    return f".{sha256(os.fsencode(base)).hexdigest()[:24]}.photosvc-unfinished"


def open_unfinished(folder: int, name: str) -> BinaryIO:
    """Open a new file of this name in a folder, in place of one that an interrupted export left."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    return os.fdopen(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666, dir_fd=folder), "wb")


def _library(engine: Engine) -> str:
    """Return the number that stands for the library, and draw it before its first sidecar."""
    with write_session(engine) as session:
        number = read_counter(session, LIBRARY)
        if number is None:
            number = secrets.randbits(62)
            set_counters(session, {LIBRARY: number})
    return str(number)


def _replace(folder: int, base: str, present: _Present | None, content: bytes) -> SidecarOutcome:
    """Replace a sidecar by this content, or remove it without one, unless it changed since it was read.

    Raises:
        OSError: it cannot be written.
    """
    if present and not os.access(base, os.W_OK, dir_fd=folder, effective_ids=True):  # a rename would not ask
        raise PermissionError(EACCES, os.strerror(EACCES))
    unfinished = unfinished_name(base)
    try:
        with open_unfinished(folder, unfinished) as file:
            if present:
                for owner in ((-1, present.status.st_gid), (present.status.st_uid, -1)):  # often the group alone may
                    with suppress(PermissionError):
                        os.fchown(file.fileno(), *owner)
                os.fchmod(file.fileno(), S_IMODE(present.status.st_mode))  # the mask of the process does not apply
            file.write(content)
            if present:  # a new one that a loss of power leaves empty is written again by the next export
                file.flush()
                os.fsync(file.fileno())
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
    names = ("st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
    return before is not None and all(getattr(status, name) == getattr(before, name) for name in names)
