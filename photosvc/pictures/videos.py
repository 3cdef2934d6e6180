"""Videos that browsers do not play, converted once and kept like thumbnails."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotReadyError
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final, TypeAlias

from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.locks import ByteLocks
from photosvc.pictures.originals import Original, open_original
from photosvc.workers.on_demand import OnDemandWorkers, WorkersBusyError

#: What the cache calls a converted video.
CONVERTED: Final = "h264.mp4"
#: Bytes of a converted video.
MAX_BYTES: Final = 4 << 30
_PROGRESS: Final = "h264.progress"
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


@dataclass(frozen=True, slots=True)
class VideoJob:
    """A video to convert."""

    original: Original
    target: str
    """The file to write."""
    progress: str
    """The file that holds the share done, as text."""


def make_video(job: VideoJob) -> None:
    """Convert the original in a worker.

    Raises:
        OriginalChangedError: the original is not as the library knows it.
        DecodeError: it cannot be converted.
        MissingExtraError: the extra for videos is not installed.

    """
    from photosvc.media.video.convert import convert_video

    def report(share: float) -> None:
        with suppress(OSError):
            Path(job.progress).write_text(f"{share:.2f}", "ascii")

    try:
        with open_original(job.original) as file:
            convert_video(file, job.target, MAX_BYTES, report)
    except BaseException:
        Path(job.target).unlink(missing_ok=True)
        raise
    finally:
        Path(job.progress).unlink(missing_ok=True)


Workers: TypeAlias = OnDemandWorkers[VideoJob, None]


class Videos:
    """Finds and makes converted videos for one process of the service.

    Args:
        cache: shared by all processes.
        workers: gives those that convert; called when the first video is to be converted.
        wait: seconds a caller waits for a new one.

    """

    def __init__(self, cache: PictureCache, workers: Callable[[], Workers], wait: float) -> None:
        self._cache = cache
        self._workers = workers
        self._wait = wait
        self._making: dict[str, Future[None]] = {}
        self._guard = threading.Lock()
        self._locks = ByteLocks(cache.folder / "converting.lock")

    def find(self, original: Original) -> int:
        """A descriptor of the converted video; started now if the cache has none.

        Raises:
            VideoNotReadyError: it was not finished in time.
            ConversionsBusyError: too many others wait.
            OriginalChangedError: the original is not as the library knows it.
            DecodeError, MissingExtraError, WorkerDiedError, WorkerTimeoutError: it cannot be converted.

        """
        deadline = time.monotonic() + self._wait
        while True:
            descriptor = self._cache.open(original.hash, CONVERTED)
            if descriptor is not None:
                return descriptor
            future = self._begin(original)
            try:
                if future is not None:
                    future.result(max(0.0, deadline - time.monotonic()))
            except NotReadyError:
                raise VideoNotReadyError(self._progress(original)) from None
            if future is None:  # another process converts it
                if time.monotonic() > deadline:
                    raise VideoNotReadyError(self._progress(original))
                time.sleep(_POLL_SECONDS)

    def _begin(self, original: Original) -> Future[None] | None:
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
            target = self._cache.temporary(key, CONVERTED)
            job = VideoJob(original, target, self._cache.temporary(key, _PROGRESS))
            try:
                future = self._workers().submit(job)
            except WorkersBusyError:
                self._locks.release(key)
                raise ConversionsBusyError from None
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
        except OSError as problem:
            error = problem
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

    def _progress(self, original: Original) -> float:
        try:
            return float(Path(self._cache.temporary(original.hash, _PROGRESS)).read_text("ascii") or 0)
        except (OSError, ValueError):
            return 0.0
