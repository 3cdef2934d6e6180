"""Videos that browsers do not play, converted once and kept like thumbnails."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotReadyError
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final, TypeAlias

from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.core.locks.byte_locks import ByteLocks
from photosvc.core.problems import FileProblemError, Problem, Reason, signal_symbol
from photosvc.media.errors import DecodeError, MissingExtraError, StorageError, UnsupportedFileError, has_extra
from photosvc.media.video.embedded import Slice
from photosvc.pictures.cache.folder import PictureCache
from photosvc.pictures.converting import VideoJob
from photosvc.pictures.originals import Original
from photosvc.workers.on_demand import OnDemandWorkers, WorkersBusyError

#: What the cache calls a converted video.
CONVERTED: Final = "h264.mp4"
#: Bytes of a converted video at most; half of the cache when that is less, so that it is not evicted at once.
MAX_BYTES: Final = 4 << 30
_PROGRESS: Final = "h264.progress"
#: The cached file that says why a video cannot be converted.
_FAILED: Final = "h264.failed"
#: Seconds until a video that could not be converted is tried again.
_REMEMBERED: Final = 3600
_POLL_SECONDS: Final = 0.05


class VideoNotReadyError(PhotosvcError):
    """The video is being converted; ask again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 5

    def __init__(self, progress: float) -> None:
        super().__init__(f"The video is being converted ({progress:.0%} done); ask again.")
        self.progress = progress
        """Share done, 0 to 1."""


class ConversionsBusyError(PhotosvcError):
    """Other videos are being converted; ask again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 30


Workers: TypeAlias = OnDemandWorkers[VideoJob, None]


class Videos:
    """Finds and makes converted videos for one process of the service.

    Args:
        cache: shared by all processes.
        workers: gives those that convert; called when the first video is to be converted.
        wait: seconds a caller waits for a new one.
        waiting: bounds the callers that wait at the same time; others are answered at once, so that threads stay free.

    """

    def __init__(
        self, cache: PictureCache, workers: Callable[[], Workers], *, wait: float, waiting: threading.Semaphore
    ) -> None:
        self._cache = cache
        self._workers = workers
        self._wait = wait
        self._slots = waiting
        self._making: dict[str, Future[None]] = {}
        self._guard = threading.Lock()
        self._locks = ByteLocks(cache.folder / "converting.lock")

    def find(self, original: Original, part: Slice) -> int:
        """A descriptor of the converted video; started now if the cache has none.

        Args:
            original: its hash names the result, so a file has one video.
            part: where the video lies in it.

        Raises:
            VideoNotReadyError: it was not finished in time, or as many callers wait as may.
            ConversionsBusyError: too many others wait.
            OriginalChangedError: the original is not as the library knows it.
            FileProblemError: it cannot be converted, or could not be within the last hour.
            UnsupportedFileError: the extra for videos is not installed.
            StorageError: the folder of the cache is full or cannot be written.

        """
        waits = self._slots.acquire(blocking=False)
        try:
            return self._wait_for(original, part, self._wait if waits else 0.0)
        finally:
            if waits:
                self._slots.release()

    def _wait_for(self, original: Original, part: Slice, seconds: float) -> int:
        deadline = time.monotonic() + seconds
        while True:
            descriptor = self._cache.open(original.hash, CONVERTED)
            if descriptor is not None:
                return descriptor
            self._check(original)
            future = self._begin(original, part)
            try:
                if future is not None:
                    future.result(max(0.0, deadline - time.monotonic()))
            except NotReadyError:
                raise VideoNotReadyError(self._progress(original)) from None
            if time.monotonic() > deadline:
                raise VideoNotReadyError(self._progress(original))
            if future is None:  # another process converts it
                time.sleep(_POLL_SECONDS)

    def _check(self, original: Original) -> None:
        """Make sure that a conversion may succeed."""
        if not has_extra("video"):
            raise UnsupportedFileError(Reason.MISSING_EXTRA, "video")
        descriptor = self._cache.open(original.hash, _FAILED)
        if descriptor is None:
            return
        problem = None
        with os.fdopen(descriptor, encoding="utf-8") as file:
            # An age below zero: the clock was set back since, so nothing is known of the age.
            if not 0 <= time.time() - os.fstat(descriptor).st_mtime <= _REMEMBERED:
                return
            with suppress(KeyError, ValueError):  # of another version
                problem = Problem.from_columns(*json.load(file))
        if problem is not None:
            raise DecodeError(problem.reason, *problem.details)

    def _begin(self, original: Original, part: Slice) -> Future[None] | None:
        """Start the work or join it; None while another process does it."""
        key = original.hash
        with self._guard:
            if key in self._making:
                return self._making[key]
            if not self._locks.take(key):
                return None
            if self._cache.has(key, CONVERTED):  # finished between the look and the lock
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
                future = self._workers().submit(job)
            except WorkersBusyError:
                self._locks.release(key)
                raise ConversionsBusyError from None
            except OSError:
                self._locks.release(key)
                raise StorageError from None
            except BaseException:
                self._locks.release(key)
                raise
            finished: Future[None] = Future()
            self._making[key] = finished
        future.add_done_callback(lambda made: self._finish(job, made, finished))
        return finished

    def _finish(self, job: VideoJob, made: Future[None], finished: Future[None]) -> None:
        key = job.original.hash
        error = made.exception()
        try:
            if error is None:
                os.replace(job.target, self._cache.path(key, CONVERTED))  # noqa: PTH105
            else:
                for left in (job.target, job.progress):
                    Path(left).unlink(missing_ok=True)  # of a worker that was killed
                self._remember(key, error)
        except OSError:
            error = error or StorageError()
        finally:
            with self._guard:
                del self._making[key]
                self._locks.release(key)
            if error is None:
                finished.set_result(None)
            else:
                finished.set_exception(error)
        with suppress(ConflictError, OSError):
            self._cache.evict()

    def _remember(self, key: str, error: BaseException) -> None:
        """Keep why a video cannot be converted, unless the reason lies outside of it."""
        if not isinstance(error, FileProblemError) or isinstance(error, MissingExtraError):
            return
        problem = error.problem
        if problem != Problem.of(Reason.KILLED, signal_symbol(signal.SIGKILL)):
            self._cache.write(key, _FAILED, json.dumps([problem.reason, problem.detail]).encode())

    def _progress(self, original: Original) -> float:
        try:
            return float(Path(self._cache.temporary(original.hash, _PROGRESS)).read_text("ascii") or 0)
        except (OSError, ValueError):
            return 0.0
