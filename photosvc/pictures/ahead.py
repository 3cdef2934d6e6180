"""Thumbnails made before anybody asks for them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from photosvc.core.errors import ConflictError, PhotosvcError
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.geometry import Job, Target
from photosvc.pictures.originals import Original
from photosvc.pictures.sizes import Size
from photosvc.pictures.thumbnails import canonical, file_name
from photosvc.workers.pool import WorkerPool


@dataclass(slots=True)
class Made:
    """What became of the pictures."""

    made: int = 0
    """Thumbnails that are new in the cache."""
    kept: int = 0
    """Thumbnails that were there already."""
    failed: list[tuple[str, PhotosvcError]] = field(default_factory=list)
    """Names of originals and why they have no thumbnails."""


def make_ahead(
    cache: PictureCache, pool: WorkerPool[Job, list[bytes]], originals: Iterable[Original], sizes: Sequence[Size]
) -> Iterator[Made]:
    """Make the missing thumbnails of these sizes, all of one picture from one decode; gives the sum after each.

    Raises:
        OSError: the cache cannot be written.
        WorkerStartError: no worker process starts.

    """
    total = Made()
    for job, result in pool.run(_jobs(cache, originals, sizes, total)):
        if isinstance(result, PhotosvcError):
            total.failed.append((job.original.name, result))
        else:
            evict = [
                cache.write(job.original.hash, file_name(target), data)
                for target, data in zip(job.targets, result, strict=True)
            ]
            total.made += len(result)
            if any(evict):
                with suppress(ConflictError):
                    cache.evict()
        yield total


def _jobs(cache: PictureCache, originals: Iterable[Original], sizes: Sequence[Size], total: Made) -> Iterator[Job]:
    for original in originals:
        targets = dict.fromkeys(canonical(original, Target(size)) for size in sizes)
        missing = tuple(target for target in targets if not cache.has(original.hash, file_name(target)))
        total.kept += len(targets) - len(missing)
        if missing:
            yield Job(original, missing)
