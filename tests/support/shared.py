"""What the processes of one test run make once and all use: the first that needs it makes it, the others wait.

Only whole files and folders are shared, none that a test changes: the processes have nothing else in common.
"""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryDirectory

#: A database of PostgreSQL is 300 files, which a disk takes long to make and to delete: dozens of them, some seconds.
_MEMORY = Path("/dev/shm")
_MUCH_MEMORY = 8 << 30

_folder: Path | None = None


def new_folder() -> TemporaryDirectory[str]:
    """A folder, in memory where there is much; not among those of pytest, which other runs clean up meanwhile."""
    within = _MEMORY if _MEMORY.is_dir() and disk_usage(_MEMORY).free > _MUCH_MEMORY else None
    return TemporaryDirectory(prefix="photosvc-tests-", dir=within, ignore_cleanup_errors=True)


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
            make(path)
            made.touch()
        return path


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Keep other processes from making the same."""
    with (_folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
