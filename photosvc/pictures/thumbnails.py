"""Thumbnails on demand, from the cache or newly made: a worker makes one picture for all waiting callers."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, TypeAlias

from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.slots import Slots
from photosvc.media.formats import by_extension
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.originals import Original
from photosvc.pictures.sizes import (
    SIZES,
    WHOLE,
    Target,
    ThumbnailJob,
    canonical,
    encoding_of,
    file_name,
    thumbnail_size,
    together,
)
from photosvc.workers.pool import WorkerPool, WorkersBusyError

#: Seconds between two checks whether a caller has disconnected.
_LOOK_SECONDS: Final = 0.1
#: A cached thumbnail with at least this many times the pixels of a side serves as source. With fewer, the second JPEG
#: generation falls below .99 SSIM of a thumbnail made from the original.
_ENOUGH: Final = 2.0
_POLL_SECONDS: Final = 0.02
#: Formats of pictures with transparent parts. HEIC has them too, but photographs of phones alone are common in it.
_CLEAR: Final = frozenset(("png", "gif", "webp", "svg", "tiff", "psd", "avif", "jxl", "jp2"))
Workers: TypeAlias = WorkerPool[ThumbnailJob, list[bytes]]


@dataclass(slots=True, eq=False)
class Rendering:
    """Thumbnails of one picture that are being made for this process."""

    job: ThumbnailJob
    work: Future[list[bytes]]
    finished: Future[list[bytes]] = field(default_factory=Future)
    """Done when the thumbnails are in the cache."""
    callers: int = 1
    is_wanted: bool = False
    """True if a caller that stopped waiting will ask again."""


@dataclass(slots=True)
class Patience:
    """The limit of a caller's wait."""

    clock: Clock
    deadline: float
    """Time of the monotonic clock."""
    is_gone: Callable[[], bool]
    """Returns whether the client has disconnected."""
    has_gone: bool = False
    """True if the client had disconnected at the last check."""

    def next_look(self) -> float:
        """Return the seconds to wait before the next check whether the wait is over."""
        return max(0.0, min(_LOOK_SECONDS, self.deadline - self.clock.monotonic()))

    def is_over(self) -> bool:
        """Return whether the caller has waited long enough or has disconnected."""
        self.has_gone = self.is_gone()
        return self.has_gone or self.clock.monotonic() >= self.deadline


class ThumbnailsBusyError(PhotosvcError):
    """Too many thumbnails are being made; try again in a moment."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 1
    limit = "thumbnails"


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A finished thumbnail: a descriptor to read it from, or its bytes when the cache could not keep it."""

    descriptor: int | None
    name: str = ""
    """Its name in the cache."""
    data: bytes = b""

    def close(self) -> None:
        """Close the descriptor of a thumbnail that is not read."""
        if self.descriptor is not None:
            os.close(self.descriptor)


class Thumbnails:
    """The thumbnails of one process of the service, from the cache or newly made.

    Args:
        cache: shared by all processes.
        workers: a function that returns the workers; called when the first thumbnail is to be made.
        wait: seconds a caller waits for a new thumbnail.
        waiting: the slots of waiting callers, shared with videos; callers without a slot are refused at once.
        clock: of the waits.
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
        self._renderings: dict[str, Rendering] = {}
        self._guard = threading.Lock()

    def find(
        self,
        original: Original,
        target: Target,
        *,
        owner: str = "",
        keep: bool = True,
        seconds: float | None = None,
        is_gone: Callable[[], bool] = lambda: False,
    ) -> Thumbnail:
        """Find the thumbnail in the cache, or make it.

        Args:
            owner: the owner whose share of slots and workers it takes.
            keep: whether the cache keeps a new thumbnail.
            seconds: a shorter wait for a new thumbnail, for callers that ask again; its work starts even if too many
                other callers wait.
            is_gone: a function that returns whether the client has disconnected; work for disconnected clients alone
                does not start.

        Raises:
            ThumbnailsBusyError: it was not finished in time, too many callers wait, of this owner or of all, or the
                client has disconnected.
            OriginalChangedError: the original has changed since it was indexed.
            OriginalUnreadableError: it cannot be read at present.
            FileProblemError: it cannot be shown.
            WorkerStartError: no process can be started.
        """
        target = canonical(original, target)
        if (cached := self._cached(original, file_name(target))) is not None:
            return cached
        if (free := self._waiting.take(owner)) is None:
            if keep and seconds is not None:
                self._begin_unawaited(original, target, owner)
            raise ThumbnailsBusyError
        try:
            deadline = self._clock.monotonic() + min(self._wait, self._wait if seconds is None else seconds)
            return self._wait_for(original, target, Patience(self._clock, deadline, is_gone), owner, keep=keep)
        finally:
            free()

    def _wait_for(self, original: Original, target: Target, patience: Patience, owner: str, *, keep: bool) -> Thumbnail:
        suffix = file_name(target)
        while (cached := self._cached(original, suffix)) is None:
            rendering = self._begin(original, target, owner, keep=keep)
            if rendering is None:  # the thumbnail is finished by now, or the queue of the workers is full
                if patience.is_over():
                    raise ThumbnailsBusyError
                self._clock.sleep(_POLL_SECONDS)
                continue
            try:
                thumbnails = self._result(rendering, patience)
            except CancelledError:  # by another caller that joined earlier and has disconnected
                continue
            if target in (targets := rendering.job.targets):
                return self._cached(original, suffix) or Thumbnail(None, data=thumbnails[targets.index(target)])
        return cached

    def _result(self, rendering: Rendering, patience: Patience) -> list[bytes]:
        """Wait for the result; cancel work that has not started when no caller is left."""
        try:
            while not wait([rendering.finished], patience.next_look()).done:
                if patience.is_over():
                    raise ThumbnailsBusyError
            return rendering.finished.result()
        finally:
            with self._guard:
                rendering.callers -= 1
                rendering.is_wanted |= not patience.has_gone
                is_abandoned = not (rendering.callers or rendering.is_wanted)
            if is_abandoned:
                rendering.work.cancel()

    def _begin_unawaited(self, original: Original, target: Target, owner: str) -> None:
        rendering = self._begin(original, target, owner, keep=True)
        if rendering is not None:
            with self._guard:
                rendering.callers -= 1
                rendering.is_wanted = True

    def _cached(self, original: Original, suffix: str) -> Thumbnail | None:
        descriptor = self._cache.open_whole(original.hash, suffix)
        return None if descriptor is None else Thumbnail(descriptor, suffix)

    def _begin(self, original: Original, target: Target, owner: str, *, keep: bool) -> Rendering | None:
        """Start the work, or join the work on the same picture in this process.

        Return None if the thumbnail is finished by now, and while the queue of the workers is full.
        """
        key = original.hash
        with self._guard:
            if (rendering := self._renderings.get(key)) is not None:
                rendering.callers += 1
                return rendering
            if self._cache.has(key, file_name(target)):  # finished between the check of the cache and the lock
                return None
            job = self._job(original, target) if keep else ThumbnailJob(original, (target,), keep=False)
            try:
                rendering = Rendering(job, self._workers().submit(job, owner))
            except WorkersBusyError:
                return None
            self._renderings[key] = rendering
        rendering.work.add_done_callback(lambda _: self._finish(rendering))
        return rendering

    def _finish(self, rendering: Rendering) -> None:
        """Store the thumbnails, even if no caller waits for them any more, and wake the callers that do."""
        job, work = rendering.job, rendering.work
        error = CancelledError() if work.cancelled() else work.exception()
        try:
            if error is None and job.keep:
                with suppress(OSError):  # on a full disk, waiting callers still get the bytes
                    for target, data in zip(job.targets, work.result(), strict=True):
                        self._cache.write(job.original.hash, file_name(target), data)
        finally:
            with self._guard:
                del self._renderings[job.original.hash]
            if error is None:
                rendering.finished.set_result(work.result())
            else:
                rendering.finished.set_exception(error)
        with suppress(OSError):
            self._cache.evict_if_due()

    def _job(self, original: Original, target: Target) -> ThumbnailJob:
        larger = self._larger(original, target)
        if larger:
            return ThumbnailJob(original, (target,), larger)
        others = (Target(size, encoding=encoding_of(size, target), turn=target.turn) for size in together(target))
        missing = [
            other
            for other in others
            if other != target
            and canonical(original, other) == other
            and not self._cache.has(original.hash, file_name(other))
        ]
        return ThumbnailJob(original, (target, *missing))

    def _larger(self, original: Original, target: Target) -> str:
        """Return the path of the smallest sufficient cached thumbnail of the whole picture; empty if there is none.

        These are JPEG: a picture with transparent parts lies on white there.
        """
        whole = (original.width, original.height)
        row = by_extension(original.name)
        may_be_clear = target.encoding != "jpg" and (row is None or row.name in _CLEAR)
        if not all(whole) or target.area != WHOLE or may_be_clear:
            return ""
        wanted = thumbnail_size(whole, target.size)
        ratio = min(whole) / min(wanted) if target.size.fills else max(whole) / max(wanted)
        for size in (size for size in SIZES.values() if not size.fills):
            width, height = thumbnail_size(whole, size)
            enough = ratio * max(width, height) / max(whole) >= _ENOUGH
            suffix = file_name(Target(size, turn=target.turn))
            if enough and (larger := self._cached(original, suffix)) is not None:
                larger.close()
                return self._cache.path(original.hash, suffix)
        return ""
