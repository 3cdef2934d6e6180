"""Thumbnails made before they are requested, and the check of cached thumbnails."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PIL import Image

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.core.machine import ByteLocks
from photosvc.core.vocabulary import swaps_sides
from photosvc.media.decode import guarded
from photosvc.media.errors import DecodeError
from photosvc.pictures.cache import PictureCache, has_both_ends, open_file
from photosvc.pictures.on_demand import LOCKS
from photosvc.pictures.originals import Original
from photosvc.pictures.sizes import USUAL, Job, Size, Target, canonical, file_name, named_target, thumbnail_size
from photosvc.workers.pool import Pool

#: Most pictures that wait because another process makes their thumbnails; further ones are made twice.
_MOST_PUT_OFF: Final = 10_000
#: Seconds between two tries of pictures that other processes still work on.
_PAUSE: Final = 0.2


@dataclass(slots=True)
class Made:
    """The results of making thumbnails ahead."""

    made: int = 0
    """Thumbnails that are new in the cache."""
    kept: int = 0
    """Thumbnails that the cache had already, or that another process made meanwhile."""
    failed: list[tuple[str, PhotosvcError]] = field(default_factory=list)
    """Names of originals without thumbnails, and the errors."""


@dataclass(slots=True)
class _Run:
    cache: PictureCache
    sizes: Sequence[Size]
    locks: ByteLocks
    total: Made = field(default_factory=Made)
    put_off: list[Original] = field(default_factory=list)

    def jobs(self, originals: Iterable[Original]) -> Iterator[Job]:
        """Yield the thumbnails to make, locked against other processes."""
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
        """Keep the thumbnails made of one picture, or record the failure."""
        try:
            if isinstance(result, PhotosvcError):
                self.total.failed.append((job.original.name, result))
            else:
                _keep(self.cache, job.original.hash, job.targets, result)
                self.total.made += len(result)
        finally:
            self.locks.release(job.original.hash)


def make_ahead(
    cache: PictureCache, pool: Pool[Job, list[bytes]], originals: Iterable[Original], sizes: Sequence[Size]
) -> Iterator[Made]:
    """Make the missing thumbnails of these sizes, all of one picture from one decode; yield the totals after each.

    Pictures that other processes work on come last.

    Raises:
        OSError: the cache cannot be written.
        WorkerStartError: no worker process starts.
    """
    with closing(ByteLocks(cache.folder / LOCKS)) as locks:
        run = _Run(cache, sizes, locks)
        while True:
            for job, result in pool.run(run.jobs(originals)):
                run.finish(job, result)
                yield run.total
            if not run.put_off:
                yield run.total
                return
            SYSTEM_CLOCK.sleep(_PAUSE)
            originals, run.put_off = run.put_off, []


@dataclass(frozen=True, slots=True)
class UsualThumbnails:
    """A maker of the missing usual thumbnails of a file that a worker has open for another purpose."""

    folder: Path
    """The folder of the cache."""
    limit: int
    """Most bytes of the cache."""

    def make(self, content_hash: str, whole: tuple[int, int], render: Callable[[Sequence[Target]], list[bytes]]) -> int:
        """Make the thumbnails of an original of `whole` pixels; return their number, 0 if another process makes them.

        Raises:
            OSError: the cache cannot be written. Exceptions of `render` pass through.
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


def is_sound(path: str, name: str, whole: tuple[int, int], turn: int = 1) -> bool:
    """Return whether a thumbnail can be decoded and has the right size, or whether a video is whole.

    It is true for derived files of other kinds, and for files that count as missing, which are made again anyway.

    Args:
        whole: pixels of the upright original; zeros when unknown.
        turn: Exif orientation that the library applies to the original; thumbnails with other turns are older.
    """
    descriptor = open_file(path)
    if descriptor is None:
        return True
    with os.fdopen(descriptor, "rb") as file:
        target = named_target(name)
        if target is None:
            return not name.endswith(".mp4") or has_both_ends(descriptor, name)
        try:
            with guarded(), Image.open(file, formats=("JPEG" if target.encoding == "jpg" else "WEBP",)) as picture:
                picture.load()
                size = picture.size
        except DecodeError:
            return False
    if swaps_sides(turn) != swaps_sides(target.turn):
        whole = whole[::-1]
    return not all(whole) or size == thumbnail_size(whole, target.size, target.area)
