"""The originals of an archive, their sidecars and the trash, brought among the originals of the library.

Each file is copied into the staging folder and gets its name when it is whole and has the content that the archive
states. No file is replaced: if another one has the name, the hash is added to it.
"""

import os
from collections import defaultdict
from contextlib import suppress
from hashlib import sha256
from io import BytesIO
from typing import BinaryIO, Final

from photosvc.core.errors import NotFoundError
from photosvc.core.files import clamped_time, clean_name, disk_name, open_inside
from photosvc.core.problems import FileProblemError, Problem
from photosvc.exchange.archive_export import ORIGINALS, TRASH
from photosvc.exchange.archive_folder import DAMAGED, ArchiveFolder, DamagedFileError, is_name, require
from photosvc.exchange.archive_schema import FileRecord, TrashedRecord
from photosvc.exchange.imported import Outcome, Report, Unreadable
from photosvc.index.exclusions import Exclusions
from photosvc.index.extract import hash_of
from photosvc.index.scan import STAGING_FOLDER
from photosvc.index.sidecar_formats import MAX_BYTES
from photosvc.index.sidecar_names import companions, is_read
from photosvc.library import originals
from photosvc.library.content import content_kind
from photosvc.library.staging import Staging
from photosvc.library.storage_errors import NameTakenError
from photosvc.library.trash.folder import deletion_prefix, is_deletion
from photosvc.media.formats import HEAD_SIZE
from photosvc.media.xmp_packet import NotXmpError, Packet
from photosvc.settings import Settings

_PIECE: Final = 1 << 20


class ArchiveOriginals:
    """The files of an archive."""

    def __init__(self, settings: Settings, archive: ArchiveFolder, report: Report) -> None:
        """Find the sidecars of each original in the archive."""
        self._settings = settings
        self._archive = archive
        self._report = report
        self._exclusions = Exclusions(settings.originals)
        self._sidecars: dict[str, list[str]] = {}
        folders: defaultdict[str, list[str]] = defaultdict(list)
        for name in archive.digests:
            top, _, rest = name.partition("/")
            if top == ORIGINALS and rest:
                folder, _, base = rest.rpartition("/")
                folders[folder].append(base)
        for folder, names in folders.items():
            for name, others in companions(names).items():
                if not is_read(name):
                    beside = [f"{folder}/{other}" if folder else other for other in others]
                    self._sidecars[clean_name(f"{folder}/{name}" if folder else name)] = beside

    def has(self, file: FileRecord) -> bool:
        """Return whether the archive has an original."""
        return f"{ORIGINALS}/{disk_name(file.Name)}" in self._archive.digests

    def bring(self, file: FileRecord) -> bool:
        """Bring an original with its sidecars; return whether it is among the originals now.

        Raises:
            PhotosvcError: the disk is full, read-only or fails.
        """
        name = f"{ORIGINALS}/{disk_name(file.Name)}"
        try:
            require(not self._exclusions.exclude(file.Name), "a .ppignore or .nomedia leaves it out here")
            with self._archive.opened(name) as source:
                self._check_kind(source, file.Name, file.Size)
                for sidecar in self._sidecars.get(file.Name, ()):
                    self._bring_sidecar(sidecar)
                outcome = self._place(source, file, self._archive.digests[name])
            require(outcome is not None, "other files have its name here")
            self._report.count("file", outcome or Outcome.NO_HOME)
        except (DamagedFileError, FileProblemError) as error:
            self._report.list_unreadable(Unreadable(clean_name(name), str(error)))
            return False
        return True

    def _place(self, source: BinaryIO, file: FileRecord, digest: str) -> Outcome | None:
        """Copy an original under its name, or another one if that is taken; None if both are taken."""
        for target in (file.Name, with_hash(file)):
            if self._has(target, file.SHA1):
                return Outcome.EQUAL
            with suppress(NameTakenError):
                self._copy(source, target, file.Size, digest, file.SHA1)
                return Outcome.TAKEN
        return None

    def bring_trash(self, file: TrashedRecord, *, dry_run: bool) -> None:
        """Bring a file of the trash, unless the archive does not have it; as `bring`. A dry run only counts it."""
        name, target = f"{TRASH}/{file.Deletion}/{disk_name(file.Name)}", deletion_prefix(file.Deletion) + file.Name
        if name not in self._archive.digests:
            self._report.count("file in the trash", Outcome.NO_MATCH)
            return
        if dry_run:
            is_here = os.path.lexists(self._settings.originals / disk_name(target))
            self._report.count("file in the trash", Outcome.EQUAL if is_here else Outcome.TAKEN)
            return
        try:
            is_named = is_deletion(file.Deletion) and is_name(file.Name, missing=False)
            require(is_named, "it has no name of a file in the trash")
            with self._archive.opened(name) as source:
                self._check_kind(source, file.Name, file.Size)
                self._copy(source, target, file.Size, self._archive.digests[name])
            self._report.count("file in the trash", Outcome.TAKEN)
        except NameTakenError:
            self._report.count("file in the trash", Outcome.EQUAL)
        except (DamagedFileError, FileProblemError) as error:
            self._report.list_unreadable(Unreadable(clean_name(name), str(error)))

    def _bring_sidecar(self, disk: str) -> None:
        """Bring a sidecar without the values that the export put into it, which the rows of its photo have."""
        name, target = f"{ORIGINALS}/{disk}", clean_name(disk)
        with self._archive.opened(name) as source:
            size, mtime_ns = os.fstat(source.fileno()).st_size, clamped_time(os.fstat(source.fileno()))
            content = source.read(MAX_BYTES + 1)
        require(size <= MAX_BYTES, f"its sidecar {target} has more than {MAX_BYTES >> 20} MiB")
        require(is_name(target, missing=False), f"its sidecar {target} has no name of a file")
        require(sha256(content).hexdigest() == self._archive.digests[name], f"its sidecar {target} is damaged")
        content = _without_ours(content) if target.lower().endswith(".xmp") else content
        with suppress(NameTakenError):
            if content:
                digest = sha256(content).hexdigest()
                self._copy(BytesIO(content), target, len(content), digest, mtime_ns=mtime_ns)

    def _check_kind(self, source: BinaryIO, name: str, size: int) -> None:
        """Refuse a file of another size, and one that is no picture, video or sidecar.

        Raises:
            DamagedFileError: it has another size.
            FileProblemError: it is of no kind that the library stores.
        """
        require(os.fstat(source.fileno()).st_size == size, DAMAGED)
        kind = content_kind(name.rpartition("/")[2], size, source.read(HEAD_SIZE), self._settings)
        if isinstance(kind, Problem):
            raise FileProblemError(kind.reason, *kind.details)

    def _has(self, target: str, sha1: str) -> bool:
        """Return whether an original of this name has this content."""
        try:
            with os.fdopen(open_inside(self._settings.originals, target), "rb", buffering=0) as file:
                return hash_of(file) == sha1
        except (OSError, NotFoundError):
            return False

    def _copy(
        self, source: BinaryIO, target: str, size: int, digest: str, sha1: str = "", *, mtime_ns: int | None = None
    ) -> None:
        """Copy a file, which gets its name if it has the right content.

        Raises:
            DamagedFileError: it has another content.
            NameTakenError: there is a file of this name.
            PhotosvcError: the disk is full, read-only or fails.
        """
        source.seek(0)
        staging, copied = Staging(self._settings.originals), sha256()
        with staging.receive(most_bytes=size, expected_length=size) as part:
            while piece := source.read(min(_PIECE, size - part.size)):
                part.write(piece)
                copied.update(piece)
            require(copied.hexdigest() == digest and sha1 in ("", part.hash), DAMAGED)
            part.date(clamped_time(os.fstat(source.fileno())) if mtime_ns is None else mtime_ns)
            part.flush()
            originals.rename_new(self._settings.originals, f"{STAGING_FOLDER}/{part.path.name}", target)


def with_hash(file: FileRecord) -> str:
    """Return the name that an original gets if another one has its own."""
    stem, dot, extension = file.Name.rpartition(".")
    added = file.SHA1[:8].upper() or file.UID
    return f"{stem}_{added}{dot}{extension}" if stem else f"{file.Name}_{added}"


def _without_ours(content: bytes) -> bytes:
    """Return a sidecar as other programs wrote it; empty if it has nothing of them."""
    try:
        packet = Packet(content)
    except NotXmpError:
        return content
    if not packet.has_written:
        return content
    packet.take_away()
    return b"" if packet.is_empty else packet.content()
