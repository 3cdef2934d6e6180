"""A process that asks for thumbnails as a process of the service does; its arguments are a folder, a pipe and hashes.

The maker waits for the writer of the pipe, if its name is not `0`. Each hash is written when its thumbnail is there.
"""

import os
import sys
from pathlib import Path

from photosvc.core.slots import Slots
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.originals import Original
from photosvc.pictures.sizes import SIZES, Target
from photosvc.pictures.thumbnails import Thumbnails
from photosvc.workers.pool import WorkerPool
from tests.system.worker_tasks import count_thumbnails


def find(folder: Path, pipe: str, hashes: list[str]) -> None:
    """Ask for one thumbnail of each."""
    workers = WorkerPool(count_thumbnails, result=list[bytes], workers=1, queued=4, timeout=60, memory_bytes=1 << 30)
    thumbnails = Thumbnails(PictureCache(folder / "cache", 1 << 30), lambda: workers, wait=30, waiting=Slots(1, 1))
    for content_hash in hashes:
        found = thumbnails.find(Original(folder, pipe, content_hash, 0, 0, 4000, 3000), Target(SIZES["fit_1280"]))
        assert found.descriptor is not None
        assert os.fstat(found.descriptor).st_size == 2_000_005
        sys.stdout.write(f"{content_hash}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    find(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
