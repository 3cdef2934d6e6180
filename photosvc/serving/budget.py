"""How many threads of a worker may wait for clients at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore


class WaitBudget:
    """Keeps threads of a worker free for clients that do not let it wait.

    Args:
        threads: those of the worker. All but two may wait, and half of them for the bodies of requests.

    """

    def __init__(self, threads: int) -> None:
        self._all = BoundedSemaphore(max(1, threads - 2))
        self._bodies = BoundedSemaphore(max(1, threads // 2))

    @contextmanager
    def for_answer(self) -> Iterator[bool]:
        """Whether the thread may wait long for a client to take an answer; it is counted inside the block."""
        with _held(self._all) as may_wait:
            yield may_wait

    @contextmanager
    def for_body(self) -> Iterator[bool]:
        """Whether the thread may wait long for the body of a request; it is counted inside the block."""
        with _held(self._bodies) as is_one_of_few, _held(self._all) as may_wait:
            yield is_one_of_few and may_wait


@contextmanager
def _held(semaphore: BoundedSemaphore) -> Iterator[bool]:
    taken = semaphore.acquire(blocking=False)
    try:
        yield taken
    finally:
        if taken:
            semaphore.release()
