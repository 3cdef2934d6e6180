"""Thumbnails on demand: from the cache, or made by one worker however many ask for them."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeAlias

from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.core.locks.byte_locks import ByteLocks
from photosvc.pictures.cache.folder import PictureCache
from photosvc.pictures.originals import Original
from photosvc.pictures.thumbnails.failures import Failures
from photosvc.pictures.thumbnails.geometry import Job, Target, needed_side, thumbnail_size
from photosvc.pictures.thumbnails.sizes import SIZES, WHOLE
from photosvc.pictures.thumbnails.targets import canonical, encoding_of, file_name, together
from photosvc.pictures.thumbnails.waiting import Making, Patience
from photosvc.workers.on_demand import OnDemandWorkers, WorkersBusyError

#: A larger thumbnail serves as source from this many times the pixels of a side on: below, a second JPEG generation
#: falls under .99 SSIM of a thumbnail made from the original.
_ENOUGH: Final = 2.0
_POLL_SECONDS: Final = 0.02
#: The file, in the folder of the cache, of the locks that makers hold.
LOCKS: Final = "making.lock"

Workers: TypeAlias = OnDemandWorkers[Job, list[bytes]]


class ThumbnailsBusyError(PhotosvcError):
    """Too many thumbnails are being made; ask again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 1


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A finished thumbnail: a descriptor to read it from, or its bytes when the cache could not keep it."""

    descriptor: int | None
    name: str = ""
    """What the cache calls it."""
    data: bytes = b""


class Thumbnails:
    """Finds and makes thumbnails for one process of the service.

    Args:
        cache: shared by all processes.
        workers: gives those that make them; called when the first one is to be made.
        wait: seconds a caller waits for a new one.
        waiting: bounds the callers that wait at the same time; others are refused at once, so that threads stay free.

    """

    def __init__(
        self, cache: PictureCache, workers: Callable[[], Workers], *, wait: float, waiting: threading.Semaphore
    ) -> None:
        self._cache = cache
        self._workers = workers
        self._wait = wait
        self._slots = waiting
        self._making: dict[str, Making] = {}
        self._guard = threading.Lock()
        self._locks = ByteLocks(cache.folder / LOCKS)
        self._failures = Failures()

    def find(
        self,
        original: Original,
        target: Target,
        *,
        keep: bool = True,
        seconds: float | None = None,
        is_gone: Callable[[], bool] = lambda: False,
    ) -> Thumbnail:
        """The thumbnail, made now if the cache has none.

        Args:
            original: what it shows.
            target: what part of it, and how large.
            keep: whether the cache keeps a new one.
            seconds: how long to wait for a new one, if that is less than usual and the caller then asks again; it is
                begun even if too many other callers wait.
            is_gone: whether nobody takes the answer any more; what only such callers wanted is not begun.

        Raises:
            ThumbnailsBusyError: it was not finished in time, too many other callers wait, or nobody takes it.
            OriginalChangedError: the original is not as the library knows it.
            OriginalUnreadableError: it cannot be read at present.
            FileProblemError: it cannot be shown, now or when it was tried within the last minutes.
            WorkerStartError: no process can be started.

        """
        target = canonical(original, target)
        kept = self._kept(original, file_name(target))
        if kept is not None:
            return kept
        self._failures.check(original.hash, _side(original, target))
        if not self._slots.acquire(blocking=False):
            if keep and seconds is not None:
                self._begin_unawaited(original, target)
            raise ThumbnailsBusyError
        try:
            deadline = time.monotonic() + min(self._wait, self._wait if seconds is None else seconds)
            return self._wait_for(original, target, Patience(deadline, is_gone), keep=keep)
        finally:
            self._slots.release()

    def _wait_for(self, original: Original, target: Target, patience: Patience, *, keep: bool) -> Thumbnail:
        what = file_name(target)
        while (kept := self._kept(original, what)) is None:
            self._failures.check(original.hash, _side(original, target))
            job, making = self._begin(original, target, keep=keep)
            if making is None:  # another process makes thumbnails of this picture, or as many as may wait do
                if patience.is_over():
                    raise ThumbnailsBusyError
                time.sleep(_POLL_SECONDS)
                continue
            try:
                made = self._result(making, patience)
            except CancelledError:  # by one that joined before and has gone
                continue
            if job is not None and target in job.targets:
                return self._kept(original, what) or Thumbnail(None, data=made[job.targets.index(target)])
        return kept

    def _result(self, making: Making, patience: Patience) -> list[bytes]:
        """What becomes of it; without callers, work that was not begun is given up."""
        try:
            while not wait([making.finished], patience.next_look()).done:
                if patience.is_over():
                    raise ThumbnailsBusyError
            return making.finished.result()
        finally:
            with self._guard:
                making.callers -= 1
                making.is_wanted |= not patience.has_gone
                abandoned = not (making.callers or making.is_wanted)
            if abandoned:
                making.work.cancel()

    def _begin_unawaited(self, original: Original, target: Target) -> None:
        making = self._begin(original, target, keep=True)[1]
        if making is not None:
            with self._guard:
                making.callers -= 1
                making.is_wanted = True

    def _kept(self, original: Original, what: str) -> Thumbnail | None:
        descriptor = self._cache.open(original.hash, what)
        return None if descriptor is None else Thumbnail(descriptor, what)

    def _begin(self, original: Original, target: Target, *, keep: bool) -> tuple[Job | None, Making | None]:
        """Start the work, or join what is under way for the same picture in this process.

        Gives neither job nor work while another process works on the picture, or all workers are busy.
        """
        key = original.hash
        with self._guard:
            if (making := self._making.get(key)) is not None:
                making.callers += 1
                return None, making
            if not self._locks.take(key):
                return None, None
            if self._cache.has(key, file_name(target)):  # finished between the look and the lock
                self._locks.release(key)
                return None, None
            job = self._job(original, target) if keep else Job(original, (target,), kept=False)
            try:
                making = Making(self._workers().submit(job))
            except WorkersBusyError:
                self._locks.release(key)
                return None, None
            except BaseException:
                self._locks.release(key)
                raise
            making.callers = 1
            self._making[key] = making
        making.work.add_done_callback(lambda made: self._finish(job, made, making.finished))
        return job, making

    def _finish(self, job: Job, made: Future[list[bytes]], finished: Future[list[bytes]]) -> None:
        """Keep what was made, also when no caller waits for it any more, and let others go on."""
        key = job.original.hash
        error = CancelledError() if made.cancelled() else made.exception()
        side = _side(job.original, job.targets[0])
        evict = False
        try:
            if error is not None:
                self._failures.add(key, side, error)
            else:
                self._failures.forget(key, side)
                with suppress(OSError):  # a full disk: those who wait get the bytes
                    for target, data in zip(job.targets if job.kept else (), made.result(), strict=job.kept):
                        evict |= self._cache.write(key, file_name(target), data)
        finally:
            with self._guard:
                del self._making[key]
                self._locks.release(key)
            if error is None:
                finished.set_result(made.result())
            else:
                finished.set_exception(error)
        if evict:
            with suppress(ConflictError, OSError):
                self._cache.evict()

    def _job(self, original: Original, target: Target) -> Job:
        larger = self._larger(original, target)
        if larger:
            return Job(original, (target,), larger)
        others = (Target(size, encoding=encoding_of(size, target), turn=target.turn) for size in together(target))
        missing = [
            other
            for other in others
            if canonical(original, other) == other and not self._cache.has(original.hash, file_name(other))
        ]
        return Job(original, (target, *(other for other in missing if other != target)))

    def _larger(self, original: Original, target: Target) -> str:
        """The path of the smallest cached thumbnail of the whole picture that is large enough."""
        whole = (original.width, original.height)
        if not all(whole) or target.area != WHOLE:
            return ""
        wanted = thumbnail_size(whole, target.size)
        ratio = min(whole) / min(wanted) if target.size.fills else max(whole) / max(wanted)
        for size in SIZES.values():
            if size.fills:
                continue
            width, height = thumbnail_size(whole, size)
            enough = ratio * max(width, height) / max(whole) >= _ENOUGH
            what = file_name(Target(size, turn=target.turn))
            if enough and self._cache.has(original.hash, what):
                return self._cache.path(original.hash, what)
        return ""


def _side(original: Original, target: Target) -> int:
    return needed_side((original.width, original.height), [target])
