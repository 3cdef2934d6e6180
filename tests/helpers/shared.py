"""What the processes of one test run make once and all use: the first that needs it makes it, the others wait.

Only whole files and folders are shared, none that a test changes: the processes have nothing else in common.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import disk_usage, rmtree
from tempfile import TemporaryDirectory

#: A database of PostgreSQL is 300 files, which a disk takes long to make and to delete: dozens of them, some seconds.
_MEMORY = Path("/dev/shm")
_MUCH_MEMORY = 8 << 30
_PREFIX = "photosvc-tests-"
#: Held until the end of the process, also of a killed one.
_LOCKS: list[int] = []

_folder: Path | None = None


def new_run() -> TemporaryDirectory[str]:
    """The folder of a run, in memory where there is much: then those of runs that were killed are deleted."""
    if not _MEMORY.is_dir() or disk_usage(_MEMORY).free <= _MUCH_MEMORY:
        return TemporaryDirectory(ignore_cleanup_errors=True)
    for former in _MEMORY.glob(f"{_PREFIX}*/run.lock"):
        with suppress(OSError), former.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            rmtree(former.parent, ignore_errors=True)
    folder = TemporaryDirectory(prefix=_PREFIX, dir=_MEMORY, ignore_cleanup_errors=True)
    _LOCKS.append(os.open(Path(folder.name, "run.lock"), os.O_RDWR | os.O_CREAT))
    fcntl.flock(_LOCKS[-1], fcntl.LOCK_EX)
    return folder


def new_folder() -> TemporaryDirectory[str]:
    """A folder in that of the run; outside of test runs, one on the disk."""
    return TemporaryDirectory(dir=_folder, ignore_cleanup_errors=True)


def use(folder: Path) -> None:
    """Share what is in this folder."""
    global _folder  # noqa: PLW0603
    _folder = folder


def shared_bytes(name: str, make: Callable[[], bytes]) -> bytes:
    """What the first process of the run made; outside of test runs, what this one makes."""
    if _folder is None:
        return make()
    with _alone(name):
        path = _folder / name
        if not path.exists():
            path.write_bytes(make())
        return path.read_bytes()


def shared_folder(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first process of the run filled; a `make` that fails is tried again by the next."""
    assert _folder is not None
    with _alone(name):
        path, made = _folder / name, _folder / f"{name}.made"
        if not made.exists():
            rmtree(path, ignore_errors=True)
            make(path)
            made.touch()
        return path


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Keep other processes from making the same."""
    with (_folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
