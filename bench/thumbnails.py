"""Thumbnails beside bare Pillow: `python -m bench.thumbnails PHOTOGRAPHS [ROUNDS]`.

PHOTOGRAPHS is a folder of JPEGs of nature, for example `/usr/share/backgrounds` with Debian's package
`lomiri-wallpapers-16.04`: charts and drawings give other times and sizes. Each is scaled to 12 megapixels once. Both
sides read the same files, use the same number of processes and write their results to disk; rounds alternate.
"""

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from PIL import Image

from bench.servers import with_spread
from photosvc.core.slots import Slots
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.originals import Original
from photosvc.pictures.render import make_thumbnails
from photosvc.pictures.sizes import SIZES, Size, Target
from photosvc.pictures.thumbnails import Thumbnails
from photosvc.workers.pool import WorkerPool

PROCESSES = len(os.sched_getaffinity(0))
WIDTH, HEIGHT = 4000, 3000
ORDERS = {
    "largest first": ["fit_1920", "fit_1280", "fit_720", "tile_500", "tile_224", "tile_100"],
    "mixed": ["fit_720", "tile_500", "fit_1280", "fit_1920", "tile_224", "tile_100"],
    "smallest first": ["tile_100", "tile_224", "tile_500", "fit_720", "fit_1280", "fit_1920"],
}


def photographs(source: Path, folder: Path) -> list[Original]:
    """Every JPEG of `source` with at least 5 megapixels, scaled to 12, in `folder`."""
    found = []
    for path in sorted(source.glob("**/*.jp*g")):
        with Image.open(path) as picture:
            if picture.width * picture.height < 5_000_000:
                continue
            upright = picture if picture.width >= picture.height else picture.transpose(Image.Transpose.ROTATE_90)
            target = folder / path.name
            upright.convert("RGB").resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS).save(target, quality=92)
        status = target.stat()
        digest = hashlib.sha1(target.read_bytes()).hexdigest()
        found.append(Original(folder, path.name, digest, status.st_size, status.st_mtime_ns, WIDTH, HEIGHT))
    return found


def resized(picture: Image.Image, size: Size) -> Image.Image:
    """The same steps as the service, as a script would write them."""
    if not size.fills:
        ratio = min(1.0, size.width / picture.width, size.height / picture.height)
        return picture.resize(
            (round(picture.width * ratio), round(picture.height * ratio)), Image.Resampling.BICUBIC, reducing_gap=2.0
        )
    side = min(picture.size)
    left, top = (picture.width - side) / 2, (picture.height - side) / 2
    box = (left, top, left + side, top + side)
    return picture.resize((size.width, size.height), Image.Resampling.BICUBIC, box=box, reducing_gap=2.0)


def bare(job: tuple[str, str, Sequence[str]]) -> None:
    """One decode at 1.5 times the largest size, then every size from it."""
    path, target, names = job
    with Image.open(path) as picture:
        needed = max(_scale(SIZES[name]) for name in names) * 1.5
        picture.draft("RGB", (round(WIDTH * min(1.0, needed)), round(HEIGHT * min(1.0, needed))))
        picture.load()
        for name in names:
            resized(picture, SIZES[name]).save(f"{target}_{name}.jpg", quality=83)


def _scale(size: Size) -> float:
    if size.fills:
        return size.height / HEIGHT
    return min(size.width / WIDTH, size.height / HEIGHT)


def bare_seconds(pool: ProcessPoolExecutor, originals: Sequence[Original], names: Sequence[str]) -> float:
    """Seconds of the bare loop for these sizes of all photographs."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(str(found.root / found.name), f"{folder}/{found.hash}", names) for found in originals]
        began = time.perf_counter()
        list(pool.map(bare, jobs, chunksize=1))
        return time.perf_counter() - began


def our_seconds(workers: WorkerPool, originals: Sequence[Original], names: Sequence[str]) -> float:
    """Seconds of the service: callers ask for the sizes of a photograph one after the other."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(PROCESSES * 2) as callers:
        thumbnails = Thumbnails(PictureCache(Path(folder), 1 << 40), lambda: workers, wait=120, waiting=Slots(1000))

        def ask(original: Original) -> None:
            for name in names:
                os.close(thumbnails.find(original, Target(SIZES[name])).descriptor)

        began = time.perf_counter()
        list(callers.map(ask, originals))
        return time.perf_counter() - began


def compare(rounds: int, ours: Callable[[], float], peer: Callable[[], float]) -> tuple[list[float], list[float]]:
    """The ratio peer / ours of each round, and our seconds."""
    ratios, seconds = [], []
    for number in range(rounds):
        first, second = (ours, peer) if number % 2 else (peer, ours)
        one, other = first(), second()
        mine, theirs = (one, other) if number % 2 else (other, one)
        ratios.append(theirs / mine)
        seconds.append(mine)
    return ratios, seconds


def main() -> None:
    source, rounds = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    workers = WorkerPool(
        make_thumbnails, result=list[bytes], workers=PROCESSES, queued=1000, timeout=60, memory_bytes=2 << 30
    )
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(PROCESSES) as pool:
        originals = photographs(source, Path(folder))
        list(pool.map(bare, [(str(found.root / found.name), f"{folder}/warm", ["tile_100"]) for found in originals]))
        our_seconds(workers, originals, ["tile_100"])
        print(f"{len(originals)} photographs of 12 megapixels, {PROCESSES} processes, {rounds} rounds")
        print("| thumbnails | ratio to bare Pillow | ms a photograph |\n|---|---|---|")
        for name in ("fit_1280", "tile_500"):
            _row(f"first `{name}`", rounds, workers, pool, originals, [name])
        for order, names in ORDERS.items():
            _row(f"six usual sizes, {order}", rounds, workers, pool, originals, names)


def _row(
    label: str,
    rounds: int,
    workers: WorkerPool,
    pool: ProcessPoolExecutor,
    originals: Sequence[Original],
    names: Sequence[str],
) -> None:
    ratios, seconds = compare(
        rounds,
        lambda: our_seconds(workers, originals, names),
        lambda: bare_seconds(pool, originals, sorted(names, key=lambda name: -SIZES[name].width)),
    )
    each = [1000 * value / len(originals) for value in seconds]
    print(f"| {label} | {with_spread(ratios)} | {with_spread(each, 0)} |", flush=True)


if __name__ == "__main__":
    main()
