"""The side of a dask worker: it lets processes of its own read the files, as an index run on one machine does.

A file that kills its reader costs that file, and not the dask worker. Both sides of a connection run pickled code of
the other one: only machines that trust each other may reach a scheduler.
"""

import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from photosvc import __version__
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import PhotosvcError
from photosvc.workers.on_demand import OnDemandWorkers, WorkersBusyError
from photosvc.workers.process import WorkerStartError
from photosvc.workers.protocol import write_error, write_result

#: Most items of a batch, and batches of a thread that a worker may have.
MOST_ITEMS: Final = 32
BATCHES: Final = 2


class UnfitError(Exception):
    """The worker cannot be used; its arguments are the address of the worker and the end of the sentence about it."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """The means by which a worker proves that it has the same program and originals as the process that asks."""

    version: str
    folder: str
    """The folder of originals, which has the same path on all machines."""
    names: tuple[str, ...]
    """Some of the names in it; a folder in which nothing is mounted has none of them."""

    @classmethod
    def of(cls, folder: str) -> "Landmarks":
        """Return those of this machine."""
        with os.scandir(folder) as entries:
            names = tuple(sorted(entry.name for entry, _ in zip(entries, range(MOST_ITEMS), strict=False)))
        return cls(__version__, folder, names)

    def unfitness(self) -> str:
        """Return why this machine cannot be used; empty if it can."""
        if __version__ != self.version:
            return f"runs photosvc {__version__}, not {self.version}"
        has_names = not self.names or any(os.path.lexists(f"{self.folder}/{name}") for name in self.names)
        if not has_names or not os.path.isdir(self.folder):  # noqa: PTH112 - a path of another machine
            return f"does not see the originals in {self.folder}"
        return ""


@dataclass(frozen=True, slots=True)
class Work:
    """The function to apply to items, and the limits of the processes that do."""

    function: bytes
    """Pickled."""
    result: Any
    """The type of its results."""
    timeout: float
    memory_bytes: int
    landmarks: Landmarks


def work(given: Work, items: Sequence[Any]) -> tuple[list[bytes], float]:
    """Apply the function to the items, and return an answer for each, and the seconds that they took.

    Args:
        items: at most `MOST_ITEMS`.

    Raises:
        UnfitError: this machine cannot be used.
    """
    from distributed import get_worker

    worker = get_worker()
    if reason := given.landmarks.unfitness():
        raise UnfitError(worker.address, reason)
    began, answers = SYSTEM_CLOCK.monotonic(), []
    try:
        processes = _processes(given, worker.state.nthreads)
        for future in [processes.submit(item) for item in items]:
            try:
                answers.append(write_result(future.result()))
            except WorkerStartError:
                raise
            except PhotosvcError as error:
                answers.append(write_error(error))
    except (WorkerStartError, WorkersBusyError) as error:
        raise UnfitError(worker.address, f"cannot work: {error.message}") from None
    return answers, SYSTEM_CLOCK.monotonic() - began


@lru_cache(maxsize=4)
def _processes(given: Work, threads: int) -> OnDemandWorkers[Any, Any]:
    """Return the processes for this work, which end by themselves soon after it."""
    return OnDemandWorkers(
        pickle.loads(given.function),  # noqa: S301 - from the process that asks, as all of a task
        result=given.result,
        workers=threads,
        queued=MOST_ITEMS * BATCHES * threads,
        timeout=given.timeout,
        memory_bytes=given.memory_bytes,
    )
