"""Slots: limits for the threads of a process that do one kind of work, for each owner and for all together."""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Condition

from photosvc.core.clock import SYSTEM_CLOCK, Clock


class Slots:
    """Slots for threads that do one kind of work, with a limit for each owner and one for all.

    Args:
        each: slots of one owner.
        total: slots of all owners.
        reserved: further slots for work without an owner, such as signing in.
        waiting: the most threads that wait for a slot.
        clock: the clock of the waits.
    """

    def __init__(
        self,
        each: int,
        total: float = math.inf,
        *,
        reserved: int = 0,
        waiting: float = math.inf,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._changed = Condition()
        self._taken = Counter[str]()
        self._moved: dict[str, float] = {}
        self._waiting = 0
        self.limit(each, total, reserved=reserved, waiting=waiting)

    def limit(self, each: int, total: float = math.inf, *, reserved: int = 0, waiting: float = math.inf) -> None:
        """Replace the limits; call it before the first slot is taken."""
        self._each, self._total, self._reserved, self._most_waiting = each, total, reserved, waiting

    @property
    def are_all_taken(self) -> bool:
        """Return whether the slots of all owners together are taken."""
        return self._taken.total() >= self._total

    def take(self, owner: str, *, patience: float = 0, still: float = math.inf) -> Callable[[], None] | None:
        """Take a slot; return the function that frees it, to be called once, or None if there is no slot.

        Args:
            owner: the `owner_uid` of the principal; empty for work without one.
            patience: the most seconds to wait.
            still: the most seconds to wait after a slot was last taken or freed: a slot of the owner if the owner has
                all of its slots, else any. While slots change hands, a wait is worth while.
        """
        until = self._clock.monotonic() + patience
        with self._changed:
            most = self._total if owner else self._total + self._reserved
            while (owner_is_full := self._taken[owner] >= self._each) or self._taken.total() >= most:
                moved = self._moved[owner] if owner_is_full else max(self._moved.values())
                rest = min(until, moved + still) - self._clock.monotonic()
                if not patience or rest <= 0 or self._waiting >= self._most_waiting:
                    return None
                self._waiting += 1
                try:
                    self._clock.wait(self._changed, rest)
                finally:
                    self._waiting -= 1
            self._taken[owner] += 1
            self._moved[owner] = self._clock.monotonic()
        return partial(self._free, owner)

    @contextmanager
    def holding(self, owner: str, *, patience: float = 0) -> Iterator[bool]:
        """Hold a slot inside the block, taken as by `take`; yield whether there was one."""
        free = self.take(owner, patience=patience)
        try:
            yield free is not None
        finally:
            if free is not None:
                free()

    def _free(self, owner: str) -> None:
        with self._changed:
            self._taken[owner] -= 1
            self._moved[owner] = self._clock.monotonic()
            if not self._taken[owner]:
                del self._taken[owner], self._moved[owner]
            self._changed.notify_all()
