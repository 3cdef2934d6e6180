"""A pool of worker processes for untrusted decoding: an item that kills its worker costs that item only."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, Final, Protocol, Self, TypeVar, cast

from photosvc.core.errors import PhotosvcError
from photosvc.workers.on_demand import OnDemandWorkers
from photosvc.workers.process import WorkerStartError

Item = TypeVar("Item")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

_LEAST_QUEUE: Final = 2  # items for each worker: it begins the next one while the caller takes its result
_NO_LIMIT: Final = 1 << 30
_END: Final = object()


class Pool(Protocol[Item, Result_co]):
    """A context manager that applies a function to items in other processes: those of this machine, or of others."""

    def __enter__(self) -> Self:
        """Return the pool."""

    def __exit__(self, *_: object) -> None:
        """End its processes, or leave them to others."""

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result_co | PhotosvcError]]:
        """Yield each item with its result or error, in the order in which they finish; see `WorkerPool.run`."""


class WorkerPool(OnDemandWorkers[Item, Result]):
    """Processes that apply a function to many items; the arguments are those of `OnDemandWorkers`.

    Args:
        workers: the number of processes; at least one is used.
        queue: items that are taken in advance for each process, which goes on while the caller stores results.
    """

    def __init__(
        self,
        function: Callable[[Item], Result],
        *,
        result: type[Result],
        workers: int,
        timeout: float = 60,
        memory_bytes: int = 2 << 30,
        queue: int = _LEAST_QUEUE,
    ) -> None:
        self._taken = queue * max(1, workers)
        limits: dict[str, Any] = {"timeout": timeout, "memory_bytes": memory_bytes, "idle_seconds": _NO_LIMIT}
        super().__init__(function, result=result, workers=max(1, workers), queued=_NO_LIMIT, **limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, items: Iterable[Item]) -> Iterator[tuple[Item, Result | PhotosvcError]]:
        """Yield each item with its result or error, in the order in which they finish.

        An item is taken from `items` only when there is room in the queue. Errors that `items` raises pass through.
        Items that no worker has begun are dropped then, and also when the caller stops early.

        Raises:
            WorkerStartError: no child starts, or none can import the function.
        """
        source, has_more = iter(items), True
        done: SimpleQueue[Future[Result]] = SimpleQueue()
        given: dict[Future[Result], Item] = {}
        try:
            while True:
                while has_more and len(given) < self._taken:
                    if has_more := (item := next(source, _END)) is not _END:
                        future = self.submit(cast("Item", item))
                        given[future] = cast("Item", item)
                        future.add_done_callback(done.put)
                if not given:
                    return
                future = done.get()
                finished, error = given.pop(future), future.exception()
                if error is None:
                    yield finished, future.result()
                elif isinstance(error, PhotosvcError) and not isinstance(error, WorkerStartError):
                    yield finished, error
                else:
                    raise error
        finally:
            for future in given:
                future.cancel()
