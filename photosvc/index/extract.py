"""The extraction of a file: all values that the index needs, read while the file is open once, read-only.

On request, thumbnails are made while the file is open.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from io import BufferedReader, FileIO
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from photosvc.core.files import clamped_time
from photosvc.core.problems import FileProblemError, Problem, Reason, Severity, UnreadableFileError, system_symbol
from photosvc.media.colours import Colors, read_colors
from photosvc.media.errors import DecodeError, UnsupportedFileError
from photosvc.media.formats import HEAD_SIZE, Format, by_extension, sniff
from photosvc.media.metadata import Metadata
from photosvc.media.motion_photo import embedded_duration
from photosvc.media.perceptual_hash import PerceptualHash, hash_picture
from photosvc.media.picture import Decoded, read_picture
from photosvc.media.video import read_video, read_video_metadata

if TYPE_CHECKING:  # with its modules, its import takes a fifth of the time in which a worker starts
    from photosvc.pictures.cache import PictureCache

#: The version of the readers. Raise it by one when an unchanged file gives more or other values than before: the next
#: run then reads all files of a lower version again. The row of each file has its version, so that an interrupted run
#: continues where it ended.
READER_VERSION: Final = 17
_Keep = Callable[[Decoded], None]
_CODECS: Final = {"jpg": "jpeg"}
#: Formats of motion photos.
_WITH_VIDEO: Final = frozenset(("jpg", "heic", "avif"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The content of one file as the index needs it; frozen and picklable, so that workers can send it."""

    hash: str
    """SHA1 of the content, 40 hexadecimal digits."""
    size: int
    """Bytes."""
    mtime_ns: int
    file_type: str
    """Short format name, `jpg heic avif png webp gif tiff dng avi mp4 …`."""
    media_type: str
    """`image raw video animated sidecar`."""
    mime: str
    codec: str = ""
    """`jpeg png heic avif mjpeg avc1 hvc1 …`, of a sidecar its `SidecarKind`; empty when unknown."""
    width: int = 0
    """Pixels, after orientation."""
    height: int = 0
    orientation: int = 1
    """Exif orientation 1 to 8."""
    motion: bool = False
    """True for a picture that contains a video, a motion photo."""
    duration_ns: int = 0
    """Duration of a video, or of the one in a motion photo; 0 when unknown."""
    fps: float = 0.0
    frames: int = 0
    projection: str = ""
    color_profile: str = ""
    colors: str = ""
    """Nine hexadecimal colour ids, a 3x3 picture row by row."""
    luminance: str = ""
    main_color: int = -1
    chroma: int = -1
    diff: int = -1
    look_1: int = -1
    """The perceptual hash in four parts, see `media.perceptual_hash.PerceptualHash`."""
    look_2: int = -1
    look_3: int = -1
    look_4: int = -1
    problem: Problem | None = None
    """The reason why the file cannot be shown."""
    metadata: Metadata = field(default_factory=Metadata)
    library: str = ""
    """The library that wrote a part of a sidecar; empty if it is not known."""
    others: Metadata = field(default_factory=Metadata)
    """The metadata of that sidecar without what people entered in that library."""


class FileChangedError(FileProblemError):
    """The file changed or vanished while it was read."""


def extract(
    path: Path,
    *,
    max_bytes: int = 1_000_000_000,
    decode: bool = True,
    then: Callable[[BinaryIO, Format, Extraction, Decoded | None], None] | None = None,
    name: str = "",
) -> Extraction:
    """Return the type, the metadata and the colours of one file.

    A picture that cannot be decoded has its reason in `problem`, and the metadata that could be read.

    Args:
        path: the file; its name may hold undecodable bytes.
        max_bytes: larger pictures and videos are not decoded.
        decode: false for files that made a decoder crash: their pixels are not read.
        then: called with the open file, its format, the extraction, and the picture if all its pixels were decoded.
        name: the name whose extension counts; by default that of the path.

    Raises:
        UnsupportedFileError: it is empty, or neither picture, video nor sidecar.
        UnreadableFileError: it cannot be opened or read.
        FileChangedError: it changed or vanished meanwhile.
    """
    try:
        with _opened(path) as (file, state):
            row = _row(file, state, name or PurePath(path.name).name)
            is_too_large = state.st_size > max_bytes and row.media_type != "sidecar"
            digest = hash_of(file)
            decoded: list[Decoded] = []
            keep = decoded.append if then else None
            extraction = _extraction(file, row, digest, state, decode=decode and not is_too_large, keep=keep)
            if by_extension(name or path.name) is None and _is_empty(extraction):
                raise UnsupportedFileError(Reason.NO_PICTURE)
            if is_too_large:
                extraction = replace(extraction, problem=Problem.of(Reason.TOO_LARGE, max_bytes >> 20))
            if then is not None:
                then(file, row, extraction, decoded[0] if decoded else None)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileChangedError(Reason.VANISHED) from error
    except OSError as error:
        raise UnreadableFileError(Reason.UNREADABLE, system_symbol(error)) from error
    return extraction


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BufferedReader, os.stat_result]]:
    """Open a file for reading, and check at the end of the block that it has not changed meanwhile."""
    with _opened_on_disk(path) as file:
        before = os.fstat(file.fileno())
        yield file, before
    _check_unchanged(path, before)


def content_hash(path: Path) -> str:
    """Return the hash of a regular file, as `Extraction.hash`.

    Raises:
        UnreadableFileError: there is none of this name, or it cannot be read.
    """
    try:
        with _opened_on_disk(path) as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return hash_of(file)
    except OSError as error:
        raise UnreadableFileError(Reason.UNREADABLE, system_symbol(error)) from error
    raise UnreadableFileError(Reason.NOT_REGULAR)


def _opened_on_disk(path: Path) -> BufferedReader:
    # Without O_NONBLOCK, opening a named pipe would block the worker until something writes to the pipe.
    # O_NOFOLLOW: a link may have taken the place of the file that the scan found.
    flags = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    return open(path, "rb", opener=lambda name, given: os.open(name, given | flags))


def _row(file: BinaryIO, state: os.stat_result, name: str) -> Format:
    if not stat.S_ISREG(state.st_mode):
        raise UnsupportedFileError(Reason.NOT_REGULAR)
    promised = by_extension(name)
    if state.st_size == 0:
        raise UnsupportedFileError(Reason.EMPTY if promised or PurePath(name).suffix else Reason.NO_PICTURE)
    row = sniff(file.read(HEAD_SIZE), name)
    if row is not None:
        return row
    if promised is None:
        raise UnsupportedFileError(Reason.UNKNOWN_EXTENSION if PurePath(name).suffix else Reason.NO_PICTURE)
    raise UnsupportedFileError(Reason.WRONG_CONTENT, "video" if promised.media_type == "video" else "picture")


def _is_empty(extraction: Extraction) -> bool:
    """Return whether nothing but its first bytes makes a file a picture or video.

    Of the files without an extension that backup programs fill with random bytes, one of some ten thousand begins so.
    """
    is_damaged = extraction.problem is not None and extraction.problem.reason.severity is Severity.FAILED
    return is_damaged and not extraction.width and extraction.metadata == Metadata()


def hash_of(file: BufferedReader | FileIO) -> str:
    """Return the SHA-1 of an open file in hexadecimal digits, by which the library knows its content."""
    file.seek(0)
    return hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()


def _extraction(
    file: BinaryIO, row: Format, digest: str, state: os.stat_result, *, decode: bool, keep: _Keep | None
) -> Extraction:
    base = Extraction(
        hash=digest,
        size=state.st_size,
        mtime_ns=clamped_time(state),
        file_type=row.name,
        media_type=row.media_type,
        mime=row.mime,
    )
    if row.media_type == "sidecar":
        return _with_sidecar(base, file)
    if row.media_type == "video":
        return _with_video(base, file) if decode else replace(base, metadata=read_video_metadata(file)[0])
    return _with_picture(base, file, row, decode=decode, keep=keep)


def _with_sidecar(base: Extraction, file: BinaryIO) -> Extraction:
    # Its parsers take a fifth of a worker's start.
    from photosvc.index.sidecar_formats import MAX_BYTES, read_sidecar

    file.seek(0)
    try:
        content = read_sidecar(file.read(MAX_BYTES + 1), base.file_type)
    except FileProblemError as error:
        return replace(base, problem=error.problem)
    if content is None:
        return replace(base, problem=Problem(Reason.UNRELATED))
    metadata, others = content.metadata, content.others
    return replace(base, codec=content.kind, metadata=metadata, library=content.library, others=others)


def _with_video(base: Extraction, file: BinaryIO) -> Extraction:
    try:
        video = read_video(file)
        colors = read_colors(video.frame) if video.frame else None
        look = hash_picture(video.frame) if video.frame else PerceptualHash()
    except DecodeError as error:
        metadata, is_cut = read_video_metadata(file)
        return replace(base, problem=_video_problem(error.problem, is_cut=is_cut), metadata=metadata)
    return replace(
        base,
        codec=video.codec,
        width=video.width,
        height=video.height,
        duration_ns=video.duration_ns,
        fps=video.fps,
        frames=video.frames,
        metadata=video.metadata,
        problem=video.problem,
        **_values(look),
        **(_values(colors) if colors else {}),
    )


def _video_problem(problem: Problem, *, is_cut: bool) -> Problem:
    """Return the problem of a video in the words for videos; `is_cut` tells that its boxes are incomplete."""
    if problem.reason is Reason.MISSING_EXTRA:
        return problem
    if is_cut or problem.reason is Reason.TRUNCATED:
        return Problem(Reason.TRUNCATED_VIDEO)
    return Problem(Reason.UNDECODABLE_VIDEO) if problem.reason is Reason.UNDECODABLE else problem


def _with_picture(base: Extraction, file: BinaryIO, row: Format, *, decode: bool, keep: _Keep | None) -> Extraction:
    picture = read_picture(file, row, decode=decode, keep=keep)
    duration_ns = embedded_duration(file, base.size) if row.name in _WITH_VIDEO else None
    return replace(
        base,
        motion=duration_ns is not None,
        duration_ns=duration_ns or 0,
        media_type="animated" if picture.frames else base.media_type,
        codec="" if row.media_type == "raw" else _CODECS.get(row.name, row.name),
        width=picture.width,
        height=picture.height,
        orientation=picture.orientation,
        frames=picture.frames,
        projection=picture.projection,
        color_profile=picture.color_profile,
        problem=picture.problem,
        metadata=picture.metadata,
        **_values(picture.look),
        **(_values(picture.colors) if picture.colors else {}),
    )


def _values(record: PerceptualHash | Colors) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def _check_unchanged(path: Path, before: os.stat_result) -> None:
    """Raise `FileChangedError` if the file was changed or replaced meanwhile: the extraction may mix old and new."""
    after = path.stat()
    if any(getattr(after, name) != getattr(before, name) for name in ("st_ino", "st_dev", "st_size", "st_mtime_ns")):
        raise FileChangedError(Reason.CHANGED)


def extract_and_show(path: Path, *, max_bytes: int, cache: "PictureCache") -> tuple[Extraction, int, str]:
    """Extract a file and make its usual thumbnails; thumbnails that fail are tried again when a request needs them.

    Returns:
        the extraction, the number of thumbnails made, and why the cache could not be written, empty if it could.
    """
    from photosvc.pictures.prerender import make_usual
    from photosvc.pictures.render import render_original

    made, refusal = 0, ""

    def make(file: BinaryIO, row: Format, extraction: Extraction, decoded: Decoded | None) -> None:
        nonlocal made, refusal
        if extraction.problem is None and row.media_type != "sidecar":
            try:
                whole = extraction.width, extraction.height
                render = partial(render_original, file, row, whole, decoded=decoded)
                made = make_usual(cache, extraction.hash, whole, render)
            except DecodeError:
                made = 0
            except OSError as error:
                refusal = str(error.strerror)

    return extract(path, max_bytes=max_bytes, then=make), made, refusal
