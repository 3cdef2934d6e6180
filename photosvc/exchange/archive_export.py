"""The open archive: a folder with all that people entered, which needs no program of ours to be read.

It has the originals with XMP sidecars, the values of photos as JSON, albums also as playlists, and a list of SHA-256
that `sha256sum --check` reads. Accounts, passwords, tokens and links stay out of it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import file_digest, sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Final

import orjson
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError, PhotosvcError
from photosvc.core.files import clamped_time, clean_name, disk_name, open_folder, open_inside, system_sentence
from photosvc.exchange import archive_records as records
from photosvc.exchange.archive_records import FORMAT, README
from photosvc.exchange.sidecar_export import SidecarExport, SidecarOutcome, open_unfinished, unfinished_name
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library.trash.folder import Trash
from photosvc.models import GONE, ORIGINALS_ROOT, File, Photo, Sidecar, file_sidecars
from photosvc.models.statements import in_portions
from photosvc.pictures.originals import Original, OriginalChangedError, open_original

ORIGINALS, TRASH = "originals", "trash"
MANIFEST: Final = "manifest-sha256.txt"
_UNFINISHED: Final = ".unfinished"
_PLAYLIST: Final = re.compile(r"albums/[a-z0-9]+\.m3u8", re.ASCII)
_ESCAPE: Final = re.compile(r"\\(.)")
_CHUNK: Final = 1 << 20
#: Bytes of a line of the manifest: a digest and a path.
_MOST_LINE: Final = 1 << 14


class Originals(StrEnum):
    """The way of the originals into the archive."""

    COPY = "copy"
    LINK = "link"
    """Hard links, which take no room; on the same file system alone."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Missing:
    """A file that is not in the archive, or not as it should be."""

    name: str
    """Path relative to the archive."""
    reason: str


class ArchiveExport:
    """An export of some photos, or of the whole library, into a folder."""

    def __init__(self, engine: Engine, originals: Path, folder: Path, *, mode: Originals = Originals.COPY) -> None:
        """Prepare an export.

        Raises:
            ConflictError: the folder has something else in it.
        """
        if folder.exists() and any(folder.iterdir()) and not (folder / FORMAT.name).exists():
            msg = f"{folder} is not empty, and is no archive of photosvc: name a new or empty folder"
            raise ConflictError(msg, field="folder")
        self._engine = engine
        self._source = originals
        self._folder = folder
        self._mode = mode
        self._digests: dict[str, str] = {}
        self._known = dict(listed(folder / MANIFEST))
        self.missing: list[Missing] = []

    def run(self, photo_ids: Sequence[int], *, whole: bool) -> Iterator[int]:
        """Write the archive; yield the number of photos that are done.

        Raises:
            ConflictError: the originals cannot be linked into the folder.

        Args:
            photo_ids: the photos, by id.
            whole: whether they are all photos, so that albums without photos, the trash and the history of deleted
                photos are written, too.
        """
        (self._folder / ORIGINALS).mkdir(parents=True, exist_ok=True)
        if self._mode is Originals.LINK and self._folder.stat().st_dev != self._source.stat().st_dev:
            msg = "files are linked on their own file system alone: copy the originals, or name a folder beside them"
            raise ConflictError(msg, field="originals")
        for text in (README, FORMAT):  # first, so that an interrupted export can be continued
            self._write(text.name, text.content.encode())
        uids: set[str] = set()
        done = 0
        with Session(self._engine) as session, self._writing("photos.jsonl") as target:
            for portion in records.photos(session, photo_ids):
                for photo, record in portion:
                    uids.add(photo.uid)
                    target.write(orjson.dumps(record) + b"\n")
                    self._store_files(photo)
                done += len(portion)
                yield done
        self._store_sidecars(photo_ids)
        self._store_records(uids if not whole else None)
        self._keep_former()
        lines = (_line(name, digest) for name, digest in sorted(self._digests.items()))
        self._write(MANIFEST, "".join(lines).encode(errors="surrogateescape"), listed=False)

    @property
    def files(self) -> int:
        """Return the number of files in the archive."""
        return len(self._digests)

    def _keep_former(self) -> None:
        """List originals of former exports, too, and remove their playlists of albums that are not exported now."""
        for name in self._known.keys() - self._digests.keys():
            if name.startswith((f"{ORIGINALS}/", f"{TRASH}/")) and os.path.lexists(self._folder / name):
                self._digests[name] = self._known[name]
            elif _PLAYLIST.fullmatch(name):
                (self._folder / name).unlink(missing_ok=True)

    def _store_files(self, photo: Photo) -> None:
        """Bring the originals of a photo into the archive."""
        if self._mode is Originals.NONE:
            return
        for file in photo.files:
            if file.root == ORIGINALS_ROOT and not file.missing:
                self._store(Original(self._source, file.name, file.hash, file.size, file.mtime_ns))

    def _store(self, original: Original, top: str = ORIGINALS) -> None:
        name = f"{top}/{disk_name(original.name.removeprefix(f'{TRASH_FOLDER}/'))}"
        try:
            with open_original(original) as source, self._opened_folder(name) as (folder, base):
                if self._is_stored(folder, base, original):
                    self._digests[name] = self._known.get(name) or _digest(source)
                elif self._mode is Originals.LINK:
                    _link(source, folder, base)
                    self._digests[name] = _digest(source)
                else:
                    self._digests[name] = _copy(source, folder, base, original.mtime_ns)
        except (OSError, PhotosvcError) as error:
            self.missing.append(Missing(clean_name(name), reason_of(error)))

    @staticmethod
    def _is_stored(folder: int, base: str, original: Original) -> bool:
        try:
            status = os.stat(base, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return (status.st_size, status.st_mtime_ns) == (original.size, original.mtime_ns)

    def _store_sidecars(self, photo_ids: Sequence[int]) -> None:
        """Copy the sidecars of other programs, and write what people entered into these and into further ones."""
        for portion in in_portions(photo_ids) if self._mode is not Originals.NONE else ():
            with Session(self._engine) as session:
                query = select(Sidecar.id, Sidecar.name).join(file_sidecars).join(File).distinct()
                query = query.where(File.photo_id.in_(portion), Sidecar.size != GONE).order_by(Sidecar.id)
                names = [row.name for row in session.execute(query)]
            for name in names:  # copied outside of a transaction
                self._store_sidecar(name)
        for results in SidecarExport(self._engine, self._folder / ORIGINALS).run(photo_ids):
            for result in results:
                name = f"{ORIGINALS}/{disk_name(result.name)}"
                if result.outcome in (SidecarOutcome.FAILED, SidecarOutcome.KEPT):
                    self.missing.append(Missing(clean_name(name), result.reason))
                elif result.outcome is not SidecarOutcome.REMOVED:
                    self._digests[name] = _digest_of(self._folder, name)

    def _store_sidecar(self, clean: str) -> None:
        """Copy a sidecar as it is now, unless the archive has it from before with our values in it."""
        name = f"{ORIGINALS}/{disk_name(clean)}"
        try:
            descriptor = open_inside(self._source, clean)
            with os.fdopen(descriptor, "rb") as source, self._opened_folder(name) as (folder, base):
                status = os.fstat(descriptor)
                if not S_ISREG(status.st_mode):
                    raise NotFoundError("it is no regular file")
                try:
                    stored = os.stat(base, dir_fd=folder, follow_symlinks=False).st_mtime_ns
                except FileNotFoundError:
                    stored = -1
                if stored < status.st_mtime_ns:
                    _copy(source, folder, base, status.st_mtime_ns)
            self._digests[name] = _digest_of(self._folder, name)
        except (OSError, PhotosvcError) as error:
            self.missing.append(Missing(clean_name(name), reason_of(error)))

    def _store_records(self, photo_uids: set[str] | None) -> None:
        """Write albums, people, labels, trash and history: all of them, or those of these photos."""
        with Session(self._engine) as session:
            names = {row[0]: row[1] for row in session.execute(_SHOWN)}
            albums = list(records.albums(session, photo_uids))
            self._write("albums.json", _json(albums))
            for album in albums:
                members = [names[member["UID"]] for member in album["Photos"] if member["UID"] in names]
                shown = [name for name in members if not {"\n", "\r"} & {*disk_name(name)}]  # a playlist has one a line
                lines = [
                    "#EXTM3U",
                    f"#PLAYLIST:{album['Title']}",
                    *(f"../{ORIGINALS}/{disk_name(one)}" for one in shown),
                ]
                self._write(f"albums/{album['UID']}.m3u8", "\n".join([*lines, ""]).encode(errors="surrogateescape"))
            self._write("people.json", _json(records.people(session, photo_uids)))
            self._write("labels.json", _json(records.labels(session, photo_uids)))
            with self._writing("history.jsonl") as target:
                for change in records.history(session, photo_uids):
                    target.write(orjson.dumps(change) + b"\n")
        if photo_uids is None:
            trashed = list(Trash(self._source).every_file())
            rows = [
                {"Name": file.name, "Size": file.size, "At": file.deleted_at, "Deletion": file.deletion}
                for file in trashed
            ]
            self._write("trash.json", _json(rows))
            for file in trashed if self._mode is not Originals.NONE else ():
                with suppress(OSError):  # a person deletes or restores it now
                    mtime_ns = clamped_time(os.lstat(self._source / disk_name(file.path)))
                    self._store(Original(self._source, file.path, "", file.size, mtime_ns), TRASH)

    def _write(self, name: str, content: bytes, *, listed: bool = True) -> None:
        with self._writing(name, listed=listed) as target:
            target.write(content)

    @contextmanager
    def _writing(self, name: str, *, listed: bool = True) -> Iterator["_Digesting"]:
        """Write a file of the archive under another name, and rename it at the end."""
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        unfinished = path.with_name(f"{path.name}{_UNFINISHED}")
        try:
            with unfinished.open("wb") as file:
                target = _Digesting(file)
                yield target
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        if listed:
            self._digests[name] = target.digest.hexdigest()

    @contextmanager
    def _opened_folder(self, name: str) -> Iterator[tuple[int, str]]:
        """Open the folder of a file of the archive, following no link; yield it with the name of the file there."""
        *folders, base = name.split("/")
        folder = open_folder(self._folder, folders, create=True)
        try:
            yield folder, base
        finally:
            os.close(folder)


class _Digesting:
    """A file that is written, with the digest of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = sha256()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)
        self.digest.update(data)


#: UID of a photo -> name of the file that shows it.
_SHOWN: Final = select(Photo.uid, File.name).join(File).where(File.primary, File.missing.is_(False))


def reason_of(error: OSError | PhotosvcError) -> str:
    """Return the reason of an error in words."""
    if isinstance(error, OriginalChangedError):
        return "it is gone, or changed since it was indexed"
    return error.message if isinstance(error, PhotosvcError) else system_sentence(error)


def check_archive(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each file of an archive, with what is wrong about it; empty for nothing.

    Raises:
        NotFoundError: the folder is no archive.
    """
    if not (folder / MANIFEST).exists():
        raise NotFoundError(f"{folder} is no archive of photosvc, or an unfinished one: it has no {MANIFEST}")
    known = {MANIFEST}
    for name, digest in listed(folder / MANIFEST):
        known.add(name)
        try:
            wrong = "" if _digest_of(folder, name) == digest else "it is damaged: its content is another one"
        except (OSError, NotFoundError) as error:
            wrong = error.message if isinstance(error, NotFoundError) else system_sentence(error)
        yield clean_name(name), wrong
    for parent, folders, files in os.walk(folder):
        links = [one for one in folders if os.path.islink(f"{parent}/{one}")]  # noqa: PTH114 - a link to a folder
        for base in sorted((*files, *links)):
            name = os.path.relpath(f"{parent}/{base}", folder)
            if name not in known:
                yield clean_name(name), "it is not listed: no export wrote it"


def listed(manifest: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of a manifest with their digests.

    Raises:
        InvalidValueError: a line is too long.
    """
    if not manifest.exists():
        return
    with manifest.open("rb") as file:
        while line := file.readline(_MOST_LINE + 1):
            if len(line) > _MOST_LINE:
                raise InvalidValueError(f"{MANIFEST}: a line has more than {_MOST_LINE} bytes", field="FOLDER")
            digest, _, name = os.fsdecode(line.removesuffix(b"\n")).partition("  ")
            if digest.startswith("\\"):
                name = _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], name)
            yield name, digest.removeprefix("\\")


def _line(name: str, digest: str) -> str:
    """Return a line of a manifest, in which `sha256sum` marks and escapes names with line breaks and backslashes."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n")
    return f"{'' if escaped == name else chr(92)}{digest}  {escaped}\n"


def _digest_of(folder: Path, name: str) -> str:
    with os.fdopen(open_inside(folder, clean_name(name)), "rb") as file:
        return _digest(file)


def _digest(file: BinaryIO) -> str:
    file.seek(0)
    content: Any = file
    return file_digest(content, "sha256").hexdigest()


def _link(source: BinaryIO, folder: int, base: str) -> None:
    """Give an open file a further name; another file of that name is replaced."""
    unfinished = unfinished_name(base)
    with suppress(FileNotFoundError):
        os.unlink(unfinished, dir_fd=folder)
    os.link(f"/proc/self/fd/{source.fileno()}", unfinished, dst_dir_fd=folder, follow_symlinks=True)
    os.rename(unfinished, base, src_dir_fd=folder, dst_dir_fd=folder)


def _copy(source: BinaryIO, folder: int, base: str, mtime_ns: int) -> str:
    """Copy an open file, with its time, and return its SHA-256."""
    unfinished = unfinished_name(base)
    try:
        with open_unfinished(folder, unfinished) as file:
            target = _Digesting(file)
            while chunk := source.read(_CHUNK):
                target.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        os.utime(unfinished, ns=(mtime_ns, mtime_ns), dir_fd=folder)
        os.rename(unfinished, base, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(unfinished, dir_fd=folder)
    return target.digest.hexdigest()


def _json(value: Iterable[Any]) -> bytes:
    return orjson.dumps(list(value), option=orjson.OPT_INDENT_2) + b"\n"
