"""Videos that browsers do not play: a worker converts each once, and the cache keeps it like a thumbnail.

The worker writes a temporary file of the cache, and its progress to another file beside it.
"""

import json
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotReadyError
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final, TypeAlias

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.core.files import flush_file
from photosvc.core.locks import ByteLocks
from photosvc.core.problems import FileProblemError, Problem, Reason, signal_symbol
from photosvc.core.slots import Slots
from photosvc.media.errors import DecodeError, MissingExtraError, StorageError, UnsupportedFileError, has_extra
from photosvc.media.slices import Slice, open_slices
from photosvc.pictures.cache import PictureCache, open_cached, open_new, remove_entry
from photosvc.pictures.originals import Original, open_original
from photosvc.workers.pool import WorkerPool, WorkersBusyError

#: Name of a converted video in the cache.
CONVERTED: Final = "h264.mp4"
#: Most bytes of a converted video; half of the cache when that is less, so that it is not evicted at once.
MAX_BYTES: Final = 4 << 30
_PROGRESS: Final = "h264.progress"
_LONGEST_SHARE: Final = 10
#: Name of the cached file with the reason why a video cannot be converted. Requests wait for seconds and conversions
#: take minutes: without the file, no later request would learn the reason.
_FAILED: Final = "h264.failed"
#: Seconds until a conversion that failed is tried again.
_REMEMBERED: Final = 3600
_POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class VideoJob:
    """A video to convert."""

    original: Original
    part: Slice
    """The place of the video in the original."""
    target: str
    """The file to write."""
    progress: str
    """The file of the progress: a number from 0 to 1, as text."""
    max_bytes: int
    cache: PictureCache
    """The cache of the result; its limit counts bytes of unfinished videos too."""

    def discard(self) -> None:
        """Remove the files of this job when no process writes them any more.

        Raises:
            OSError: they cannot be removed.
        """
        remove_entry(self.target)
        remove_entry(self.progress)


def make_video(job: VideoJob) -> None:
    """Convert the original in a worker.

    Raises:
        OriginalChangedError: the original has changed since it was indexed.
        DecodeError: it cannot be converted.
        MissingExtraError: the extra for videos is not installed.
        StorageError: the folder of the cache is full or cannot be written.
    """
    from photosvc.media.transcode import convert_video

    written = 0

    def report(share: float) -> None:
        nonlocal written
        with suppress(OSError):
            with os.fdopen(open_new(job.progress), "w", encoding="ascii") as file:
                file.write(f"{share:.2f}")
            size = Path(job.target).stat().st_size
            job.cache.evict_if_due(size - written)
            written = size

    # A worker of a killed process may still be writing, but to a file that loses its name here.
    job.discard()
    try:
        with open_original(job.original) as file:
            os.close(open_new(job.target))
            convert_video(open_slices(file, [job.part]), job.target, job.max_bytes, report)
            flush_file(Path(job.target))
    except BaseException:
        remove_entry(job.target)
        raise
    finally:
        remove_entry(job.progress)


class ConversionsBusyError(PhotosvcError):
    """Other videos are being converted; try again later."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 30
    limit = "videos"


Workers: TypeAlias = WorkerPool[VideoJob, None]


class Videos:
    """The converted videos of one process of the service, from the cache or newly made.

    Args:
        cache: shared by all processes.
        workers: a function that returns the workers; called when the first video is to be converted.
        wait: seconds a caller waits for a new video.
        waiting: the slots of waiting callers, shared with thumbnails.
        clock: of the waits; the files of the cache have times of the machine's clock.
    """

    def __init__(
        self,
        cache: PictureCache,
        workers: Callable[[], Workers],
        *,
        wait: float,
        waiting: Slots,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._cache = cache
        self._workers = workers
        self._wait = wait
        self._waiting = waiting
        self._clock = clock
        self._converting: dict[str, Future[None]] = {}
        self._guard = threading.Lock()
        self._locks = ByteLocks(cache.folder / "converting.lock")

    def find(self, original: Original, part: Slice, owner: str = "") -> int:
        """Return a descriptor of the converted video; start the conversion if the cache has none.

        Args:
            original: the file with the video; its hash names the result, so a file has one video.
            part: the place of the video in it.
            owner: the owner whose share of slots and conversions it takes.

        Raises:
            PhotosvcError: it was not finished in time, or all slots of waiting callers were taken.
            ConversionsBusyError: too many other videos wait to be converted, of this owner or of all.
            OriginalChangedError: the original has changed since it was indexed.
            FileProblemError: it cannot be converted, or could not within the last hour.
            UnsupportedFileError: the extra for videos is not installed.
            StorageError: the folder of the cache is full or cannot be written.
        """
        free = self._waiting.take(owner)
        try:
            return self._wait_for(original, part, self._wait if free else 0.0, owner)
        finally:
            if free:
                free()

    def _wait_for(self, original: Original, part: Slice, seconds: float, owner: str) -> int:
        deadline = self._clock.monotonic() + seconds
        while True:
            descriptor = self._cache.open_whole(original.hash, CONVERTED)
            if descriptor is not None:
                return descriptor
            self._check(original)
            future = self._begin(original, part, owner)
            try:
                if future is not None:
                    future.result(max(0.0, deadline - self._clock.monotonic()))
            except NotReadyError:
                raise self._not_ready(original) from None
            if self._clock.monotonic() >= deadline:
                raise self._not_ready(original)
            if future is None:  # another process converts it
                self._clock.sleep(_POLL_SECONDS)

    def _check(self, original: Original) -> None:
        """Raise the error of an earlier try, or of a missing extra, if a conversion cannot succeed."""
        if not has_extra("video"):
            raise UnsupportedFileError(Reason.MISSING_EXTRA, "video")
        descriptor = self._cache.open(original.hash, _FAILED)
        if descriptor is None:
            return
        problem = None
        with os.fdopen(descriptor, encoding="utf-8") as file:
            # A negative age means that the clock was set back since, so the age is unknown.
            age = SYSTEM_CLOCK().timestamp() - os.fstat(descriptor).st_mtime
            with suppress(ValueError, TypeError):  # it is damaged
                problem = Problem.from_columns(*json.load(file))
        if problem is not None and 0 <= age < _REMEMBERED:
            raise DecodeError(problem.reason, *problem.details)

    def _begin(self, original: Original, part: Slice, owner: str) -> Future[None] | None:
        """Start the conversion or join it; return None while another process does it."""
        key = original.hash
        with self._guard:
            if key in self._converting:
                return self._converting[key]
            if not self._locks.take(key):
                return None
            if self._cache.has(key, CONVERTED):  # finished between the check of the cache and the lock
                self._locks.release(key)
                return None
            try:
                job = VideoJob(
                    original,
                    part,
                    target=self._cache.temporary(key, CONVERTED),
                    progress=self._cache.temporary(key, _PROGRESS),
                    max_bytes=min(MAX_BYTES, self._cache.limit // 2),
                    cache=self._cache,
                )
                future = self._workers().submit(job, owner)
            except BaseException as error:
                self._locks.release(key)
                if isinstance(error, WorkersBusyError):
                    raise ConversionsBusyError from None
                if isinstance(error, OSError):
                    raise StorageError from None
                raise
            finished: Future[None] = Future()
            self._converting[key] = finished
        future.add_done_callback(lambda work: self._finish(job, work, finished))
        return finished

    def _finish(self, job: VideoJob, work: Future[None], finished: Future[None]) -> None:
        key = job.original.hash
        error = work.exception()
        try:
            if error is None:
                self._cache.keep_temporary(job.target, key, CONVERTED)
            else:
                job.discard()  # a killed worker leaves files
                self._remember(key, error)
        except OSError:
            error = error or StorageError()
        finally:
            with self._guard:
                del self._converting[key]
                self._locks.release(key)
            if error is None:
                finished.set_result(None)
            else:
                finished.set_exception(error)
        with suppress(ConflictError, OSError):
            self._cache.evict()

    def _remember(self, key: str, error: BaseException) -> None:
        """Record why a video cannot be converted, unless the cause is outside the video."""
        if not isinstance(error, FileProblemError) or isinstance(error, MissingExtraError):
            return
        problem = error.problem
        # The system may have killed the worker because of another process, so the next request tries again at once.
        if problem != Problem.of(Reason.KILLED, signal_symbol(signal.SIGKILL)):
            self._cache.write(key, _FAILED, json.dumps([problem.reason, problem.detail]).encode())

    def _not_ready(self, original: Original) -> PhotosvcError:
        msg = f"The video is being converted ({self._progress(original):.0%} done); try again in a moment."
        return PhotosvcError(msg, status=HTTPStatus.SERVICE_UNAVAILABLE, retry_after=5)

    def _progress(self, original: Original) -> float:
        with suppress(OSError, ValueError):
            descriptor = open_cached(self._cache.temporary(original.hash, _PROGRESS))
            if descriptor is not None:
                with os.fdopen(descriptor, encoding="ascii") as file:
                    return float(file.read(_LONGEST_SHARE))
        return 0.0
