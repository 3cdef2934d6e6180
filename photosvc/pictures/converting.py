"""What a worker does to convert a video: to a temporary file of the cache, with the share done beside it."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from photosvc.media.video.embedded import Slice, open_slice
from photosvc.pictures.cache.folder import PictureCache
from photosvc.pictures.cache.locks import being_written
from photosvc.pictures.originals import Original, open_original


@dataclass(frozen=True, slots=True)
class VideoJob:
    """A video to convert."""

    original: Original
    part: Slice
    """Where the video lies in the original."""
    target: str
    """The file to write."""
    progress: str
    """The file that holds the share done, as text."""
    max_bytes: int
    cache: PictureCache
    """What the result belongs to; its cap holds also for what is written so far."""


def make_video(job: VideoJob) -> None:
    """Convert the original in a worker.

    Raises:
        OriginalChangedError: the original is not as the library knows it.
        DecodeError: it cannot be converted.
        MissingExtraError: the extra for videos is not installed.
        StorageError: the folder of the cache is full or cannot be written.

    """
    from photosvc.media.video.convert import convert_video

    written = 0

    def report(share: float) -> None:
        nonlocal written
        with suppress(OSError):
            Path(job.progress).write_text(f"{share:.2f}", "ascii")
            size = Path(job.target).stat().st_size
            job.cache.evict_if_due(size - written)
            written = size

    # A worker of a process that was killed may still be writing: to its own file, which has no name any more.
    for left in (job.target, job.progress):
        Path(left).unlink(missing_ok=True)
    try:
        with open_original(job.original) as file, being_written(job.target):
            convert_video(open_slice(file, job.part), job.target, job.max_bytes, report)
    except BaseException:
        Path(job.target).unlink(missing_ok=True)
        raise
    finally:
        Path(job.progress).unlink(missing_ok=True)
