"""The index beside the least that any program must do: `python -m bench.index [--small N] [--large N] [FOLDER]`.

The pictures are drawn: large ones of 12 megapixels with Exif, read from memory, and small ones, whose cost is that of
storing. Peers run in the same rounds: a script that reads, hashes and reads Exif in two processes, and
`exiftool -json -fast2` where it is installed.
"""

import argparse
import hashlib
import io
import os
import re
import resource
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from PIL import Image
from sqlalchemy import func, select

from bench.servers import private_memory
from photosvc.app import create_app
from photosvc.index.run import rebuild_search, run_index
from photosvc.index.run_log import IndexOptions, Summary
from photosvc.models import SearchRow, schema
from photosvc.models.engine import UnitOfWork
from photosvc.web.service import current_service
from tests.helpers.pictures import exif, rational

ROUNDS = 3
_UNSET = "2000:01:01 00:00:00"
_DATE = re.compile(rb"20\d\d:\d\d:\d\d \d\d:\d\d:\d\d")


def draw(folder: Path, count: int, size: tuple[int, int]) -> None:
    """Fill a folder with JPEGs as cameras write them, 500 in a subfolder, all with other bytes and times."""
    random = np.random.default_rng(1)
    pictures = []
    for number in range(10):
        coarse = random.integers(0, 256, (size[1] // 40, size[0] // 40, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
        grain = random.integers(0, 24, (size[1], size[0], 3), dtype=np.uint8)
        picture = Image.fromarray(np.asarray(picture) // 2 + 64 + grain)
        thumbnail = io.BytesIO()
        picture.resize((160, 120)).save(thumbnail, "JPEG")
        block = exif(
            {0x010F: "Canon", 0x0110: f"EOS {number}", 0x0132: _UNSET},
            {0x9003: _UNSET, 0x8827: 100, 0x829D: rational(28, 10), 0x920A: rational(50, 1)},
            {1: "N", 2: [(48, 1), (number, 1), (0, 1)], 3: "E", 4: [(2, 1), (number, 1), (0, 1)]},
            thumbnail=thumbnail.getvalue(),
        )
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", exif=block, quality=85)
        pictures.append(buffer.getvalue())
    first = datetime(2001, 1, 1)  # noqa: DTZ001 - wall time, as cameras write it
    for number in range(count):
        inner = folder / f"{number // 500:04}"
        inner.mkdir(parents=True, exist_ok=True)
        taken = f"{first + timedelta(seconds=number * 977):%Y:%m:%d %H:%M:%S}".encode()
        data = _DATE.sub(taken, pictures[number % len(pictures)], count=2)
        comment = b"\xff\xfe" + struct.pack(">HQ", 10, number)
        (inner / f"IMG_{number:06}.jpg").write_bytes(data[:2] + comment + data[2:])


def drawn(folder: Path, count: int, size: tuple[int, int]) -> None:
    """Draw in a process of its own, so that this one's memory is that of the index."""
    with ProcessPoolExecutor(1) as process:
        process.submit(draw, folder, count, size).result()


class Instance:
    """An instance of the service whose index runs are measured."""

    def __init__(self, folder: Path, originals: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.app = create_app(instance=folder, environ={}, settings={"PHOTOSVC_ORIGINALS": str(originals)})
        with self.app.app_context():
            schema.upgrade(current_service().engine())

    def index(self, workers: int = 2) -> Summary:
        """One run."""
        with self.app.app_context():
            service = current_service()
            with UnitOfWork(service.engine()) as session:
                return run_index(session, service.settings, service.clock, IndexOptions(workers=workers))

    def rebuild(self) -> int:
        """Render all search rows again."""
        with self.app.app_context():
            service = current_service()
            with UnitOfWork(service.engine()) as session:
                return rebuild_search(session, service.settings, service.clock)

    def rows(self) -> int:
        """The number of search rows."""
        with self.app.app_context(), UnitOfWork(current_service().engine()) as session:
            return session.scalar(select(func.count()).select_from(SearchRow)) or 0


def least(path: str) -> tuple[str, object]:
    """What no index of pictures can do without: read the file, hash it, read its Exif."""
    data = Path(path).read_bytes()
    with Image.open(io.BytesIO(data)) as picture:
        exif = picture.getexif()
        taken = exif.get_ifd(0x8769).get(0x9003)
        exif.get_ifd(0x8825)
    return hashlib.sha1(data).hexdigest(), taken


def bare(originals: Path) -> None:
    """The least, of all files, in two processes."""
    with ProcessPoolExecutor(2) as pool:
        names = [str(path) for path in sorted(originals.rglob("*.jpg"))]
        assert len(dict(pool.map(least, names, chunksize=8))) == len(names)


def seconds(call: Callable[[], object]) -> tuple[float, float]:
    """Elapsed seconds, and those of all processors for this process and its children."""

    def used() -> float:
        kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, kinds))

    elapsed, processors = time.monotonic(), used()
    call()
    return time.monotonic() - elapsed, used() - processors


def large(folder: Path, count: int) -> None:
    """Pictures of 12 megapixels beside the least and ExifTool."""
    originals = folder / "large"
    if not originals.is_dir():
        drawn(originals, count, (4000, 3000))
    exiftool = shutil.which("exiftool")
    instances = [Instance(folder / f"instance-{number}", originals) for number in range(ROUNDS)]
    ways: dict[str, Callable[[], object]] = {
        "read, SHA-1, Exif": lambda: bare(originals),
        "svc index": lambda: instances.pop().index(),
    }
    if exiftool:
        command = [exiftool, "-json", "-fast2", "-r", "-q", str(originals)]
        ways["exiftool -fast2"] = lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            times[name].append(seconds(way))
    limit = [statistics.median(column) for column in zip(*times["read, SHA-1, Exif"], strict=True)]
    print(f"| {count} pictures of 12 megapixels | files/s | processor ms a file | of the least: elapsed | processor |")
    print("|---|---|---|---|---|")
    for name, rounds in times.items():
        elapsed, used = (statistics.median(column) for column in zip(*rounds, strict=True))
        ratios = f"{limit[0] / elapsed:.2f} | {limit[1] / used:.2f}"
        print(f"| {name} | {count / elapsed:.0f} | {used / count * 1000:.1f} | {ratios} |")


def small(folder: Path, count: int) -> None:
    """The cost of storing, comparing, forgetting and rendering small pictures."""
    few, many = folder / "few", folder / f"small-{count}"
    for originals, number in ((few, 1000), (many, count)):
        if not originals.is_dir():
            drawn(originals, number, (160, 120))
    instances = [Instance(folder / f"instance-{number}", few) for number in range(ROUNDS)]
    first = min(seconds(one.index)[1] for one in instances) / 1000
    memory = private_memory()
    instance = Instance(folder / "instance", many)
    rows: list[tuple[str, float, float]] = []

    def measure(what: str, files: int, call: Callable[[], object]) -> None:
        elapsed, used = seconds(call)
        rows.append((what, files / elapsed, used / files * 1000))

    measure("new", count, instance.index)
    growth = rows[0][2] / 1000 / first
    grown = private_memory()
    measure("unchanged", count, instance.index)
    shown = instance.rows()
    measure("search rows rendered again", shown, instance.rebuild)
    hidden = many.with_name("elsewhere")
    hidden.mkdir()
    for path in sorted(many.iterdir())[1:]:
        path.rename(hidden / path.name)
    try:
        measure("vanished", count - 500, instance.index)
    finally:
        for path in hidden.iterdir():
            path.rename(many / path.name)
        hidden.rmdir()
    print(f"\n| {count} small pictures | files/s | processor ms a file |\n|---|---|---|")
    for what, rate, used in rows:
        print(f"| {what} | {rate:.0f} | {used:.3f} |")
    print(f"\nA new file of {count} takes {growth:.2f} times the processor time of one of 1,000.")
    print(f"Memory of the process that writes: {memory:.0f} MB after 1,000 files, {grown:.0f} MB after {count}.")


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--large", type=int, default=300)
    parser.add_argument("--small", type=int, default=50_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="photosvc-bench-") as temporary:
        folder = given.folder or Path(temporary)
        if given.large:
            large(folder, given.large)
        if given.small:
            small(folder, given.small)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
