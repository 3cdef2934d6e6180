"""Thumbnails made before they are requested, and the check of cached files."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PIL import Image

from photosvc.core.errors import PhotosvcError
from photosvc.core.orientation import swaps_sides
from photosvc.media.decode import guarded
from photosvc.media.errors import DecodeError
from photosvc.pictures.cache import PictureCache, has_both_ends, open_cached
from photosvc.pictures.originals import Original
from photosvc.pictures.sizes import (
    USUAL,
    Size,
    Target,
    ThumbnailJob,
    canonical,
    file_name,
    named_target,
    thumbnail_size,
)
from photosvc.workers.pool import Pool

#: Encoding of a thumbnail -> its name in Pillow.
_FORMATS: Final = {"jpg": "JPEG", "webp": "WEBP", "png": "PNG"}


@dataclass(slots=True)
class PrerenderTotals:
    """Numbers of thumbnails that were made before they are requested."""

    made: int = 0
    """New thumbnails."""
    kept: int = 0
    """Thumbnails that were in the cache before."""
    failed: list[tuple[str, PhotosvcError]] = field(default_factory=list)
    """Names of originals without thumbnails, and the errors."""


def prerender(
    cache: PictureCache, pool: Pool[ThumbnailJob, list[bytes]], originals: Iterable[Original], sizes: Sequence[Size]
) -> Iterator[PrerenderTotals]:
    """Make the missing thumbnails of these sizes, all of one picture from one decode; yield the totals after each.

    Raises:
        OSError: the cache cannot be written.
        WorkerStartError: no worker process starts.
    """
    total = PrerenderTotals()

    def jobs() -> Iterator[ThumbnailJob]:
        for original in originals:
            targets = _targets(original, sizes)
            missing = _missing(cache, original.hash, targets)
            total.kept += len(targets) - len(missing)
            if missing:
                yield ThumbnailJob(original, missing)

    for job, result in pool.run(jobs()):
        if isinstance(result, PhotosvcError):
            total.failed.append((job.original.name, result))
        else:
            _store(cache, job.original.hash, job.targets, result)
            total.made += len(result)
        yield total
    yield total


def make_usual(
    cache: PictureCache,
    content_hash: str,
    whole: tuple[int, int],
    render: Callable[[Sequence[Target]], list[bytes]],
) -> int:
    """Make the missing usual thumbnails of an original that is decoded for another purpose; return their number.

    Args:
        whole: width and height in pixels of the upright original.
        render: a function that makes thumbnails; its exceptions pass through.

    Raises:
        OSError: the cache cannot be written.
    """
    width, height = whole
    original = Original(Path(), "", content_hash, size=0, mtime_ns=0, width=width, height=height)
    missing = _missing(cache, content_hash, _targets(original, USUAL))
    if missing:
        _store(cache, content_hash, missing, render(missing))
    return len(missing)


def _targets(original: Original, sizes: Sequence[Size]) -> Sequence[Target]:
    return tuple(dict.fromkeys(canonical(original, Target(size)) for size in sizes))


def _missing(cache: PictureCache, content_hash: str, targets: Sequence[Target]) -> tuple[Target, ...]:
    return tuple(target for target in targets if not cache.has(content_hash, file_name(target)))


def _store(cache: PictureCache, content_hash: str, targets: Sequence[Target], thumbnails: Sequence[bytes]) -> None:
    for target, data in zip(targets, thumbnails, strict=True):
        cache.write(content_hash, file_name(target), data)
    cache.evict_if_due()


def is_sound(path: str, name: str, whole: tuple[int, int], turn: int = 1) -> bool:
    """Return whether a cached thumbnail can be decoded and has the right size, or a video is whole.

    It is true for derived files of other kinds, and for files that count as missing, which are made again anyway.

    Args:
        whole: width and height in pixels of the upright original; zeros when unknown.
        turn: Exif orientation that the library applies to the original; thumbnails with other turns are older.
    """
    descriptor = open_cached(path)
    if descriptor is None:
        return True
    with os.fdopen(descriptor, "rb") as file:
        target = named_target(name)
        if target is None:
            return not name.endswith(".mp4") or has_both_ends(descriptor, name)
        try:
            with guarded(), Image.open(file, formats=(_FORMATS[target.encoding],)) as picture:
                picture.load()
                size = picture.size
        except DecodeError:
            return False
    if swaps_sides(turn) != swaps_sides(target.turn):
        whole = whole[::-1]
    return not all(whole) or size == thumbnail_size(whole, target.size, target.area)
