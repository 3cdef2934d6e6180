"""Thumbnails made before they are requested."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.core.locks.byte_locks import ByteLocks
from photosvc.pictures.cache.folder import PictureCache
from photosvc.pictures.originals import Original
from photosvc.pictures.thumbnails.geometry import Job, Target
from photosvc.pictures.thumbnails.on_demand import LOCKS
from photosvc.pictures.thumbnails.sizes import USUAL, Size
from photosvc.pictures.thumbnails.targets import canonical, file_name
from photosvc.workers.pool import WorkerPool

#: Pictures that are put off because another process makes their thumbnails; further ones are made twice.
_MOST_PUT_OFF: Final = 10_000
#: Seconds between two looks at pictures that other processes still work on.
_PAUSE: Final = 0.2


@dataclass(slots=True)
class Made:
    """What became of the pictures."""

    made: int = 0
    """Thumbnails that are new in the cache."""
    kept: int = 0
    """Thumbnails that were there already, or that another process made meanwhile."""
    failed: list[tuple[str, PhotosvcError]] = field(default_factory=list)
    """Names of originals and why they have no thumbnails."""


@dataclass(slots=True)
class _Run:
    cache: PictureCache
    sizes: Sequence[Size]
    locks: ByteLocks
    total: Made = field(default_factory=Made)
    put_off: list[Original] = field(default_factory=list)

    def jobs(self, originals: Iterable[Original]) -> Iterator[Job]:
        """What is to be made, locked against other makers."""
        for original in originals:
            locked = self.locks.take(original.hash)
            if not locked and len(self.put_off) < _MOST_PUT_OFF:
                self.put_off.append(original)
                continue
            targets = _targets(original, self.sizes)
            missing = _missing(self.cache, original.hash, targets)
            self.total.kept += len(targets) - len(missing)
            if missing:
                yield Job(original, missing)
            elif locked:
                self.locks.release(original.hash)

    def finish(self, job: Job, result: list[bytes] | PhotosvcError) -> None:
        """Keep what was made of one picture."""
        try:
            if isinstance(result, PhotosvcError):
                self.total.failed.append((job.original.name, result))
            else:
                _keep(self.cache, job.original.hash, job.targets, result)
                self.total.made += len(result)
        finally:
            self.locks.release(job.original.hash)


def make_ahead(
    cache: PictureCache, pool: WorkerPool[Job, list[bytes]], originals: Iterable[Original], sizes: Sequence[Size]
) -> Iterator[Made]:
    """Make the missing thumbnails of these sizes, all of one picture from one decode; gives the sum after each.

    Pictures that other processes work on come last, when those are done.

    Raises:
        OSError: the cache cannot be written.
        WorkerStartError: no worker process starts.

    """
    run = _Run(cache, sizes, ByteLocks(cache.folder / LOCKS))
    while True:
        for job, result in pool.run(run.jobs(originals)):
            run.finish(job, result)
            yield run.total
        if not run.put_off:
            yield run.total
            return
        time.sleep(_PAUSE)
        originals, run.put_off = run.put_off, []


@dataclass(frozen=True, slots=True)
class UsualThumbnails:
    """Makes the missing usual thumbnails of a file that a worker has open for another purpose."""

    folder: Path
    """Of the cache."""
    limit: int
    """Bytes of the cache."""

    def make(self, content_hash: str, whole: tuple[int, int], render: Callable[[Sequence[Target]], list[bytes]]) -> int:
        """How many were made of an original of `whole` pixels; none while another process makes them.

        Raises:
            OSError: the cache cannot be written; and what `render` raises.

        """
        cache = PictureCache(self.folder, self.limit)
        locks = ByteLocks(self.folder / LOCKS)
        if not locks.take(content_hash):
            return 0
        try:
            original = Original(Path(), "", content_hash, 0, 0, *whole)
            missing = _missing(cache, content_hash, _targets(original, USUAL))
            if missing:
                _keep(cache, content_hash, missing, render(missing))
            return len(missing)
        finally:
            locks.close()


def _targets(original: Original, sizes: Sequence[Size]) -> Sequence[Target]:
    return tuple(dict.fromkeys(canonical(original, Target(size)) for size in sizes))


def _missing(cache: PictureCache, content_hash: str, targets: Sequence[Target]) -> tuple[Target, ...]:
    return tuple(target for target in targets if not cache.has(content_hash, file_name(target)))


def _keep(cache: PictureCache, content_hash: str, targets: Sequence[Target], made: Sequence[bytes]) -> None:
    due = [cache.write(content_hash, file_name(target), data) for target, data in zip(targets, made, strict=True)]
    if any(due):
        with suppress(ConflictError):
            cache.evict()
