"""The bytes of a request until a thread can work on it, and the limit of threads that wait for clients.

Each byte is examined once, however small the pieces that a client sends; otherwise the pieces of one request could
cost as much as thousands of requests.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum, auto
from threading import BoundedSemaphore
from typing import Final

#: Bodies up to this size, in bytes, are complete before a thread is used; a larger one is read by the thread.
SMALL_BODY: Final = 64 << 10
#: The most bytes of a head.
MOST_HEAD: Final = 64 << 10
#: The most bytes of the line with the size of a chunk.
_MOST_SIZE_LINE: Final = 1 << 10
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:[^\r\n]*chunked[ \t]*\r\n", re.IGNORECASE)
_CONTINUE: Final = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)
_SIZE: Final = re.compile(rb"([0-9a-f]{1,8})[ \t]*(?:;[^\r\n]*)?", re.IGNORECASE)
_END: Final = b"\r\n\r\n"


class WaitBudget:
    """The limit of threads that wait for slow clients at the same time; the others stay free for quick clients.

    Args:
        threads: number of threads of the worker. All but two may wait, and half of them for the bodies of requests.
    """

    def __init__(self, threads: int) -> None:
        self._all = BoundedSemaphore(max(1, threads - 2))
        self._bodies = BoundedSemaphore(max(1, threads // 2))

    @contextmanager
    def for_answer(self) -> Iterator[bool]:
        """Yield whether the thread may wait long for a client to receive an answer, and count it inside the block."""
        with _held(self._all) as may_wait:
            yield may_wait

    @contextmanager
    def for_body(self) -> Iterator[bool]:
        """Yield whether the thread may wait long for the body of a request, and count it inside the block."""
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


class State(Enum):
    """The state of a request that arrives."""

    INCOMPLETE = auto()
    COMPLETE = auto()
    """A thread can work on the request: it has arrived completely, or as far as is collected without a thread."""
    HEAD_TOO_LARGE = auto()


class Arrival:
    """The bytes of a request that have arrived.

    Args:
        longest_line: the most bytes of the request line and of a header; 0: only the whole head is limited.
        most_headers: the most headers of a request; 0: no limit.
    """

    __slots__ = (
        "_chunk",
        "_counted",
        "_line",
        "_lines",
        "_longest_line",
        "_looked",
        "_most_lines",
        "_size",
        "received",
    )

    def __init__(self, longest_line: int, most_headers: int) -> None:
        self.received = bytearray()
        self._longest_line = longest_line or MOST_HEAD
        self._most_lines = most_headers + 2 if most_headers > 0 else MOST_HEAD
        """Includes the request line, and the empty line that may precede it."""
        self._lines = self._line = 0
        self._size: int | None = None
        """Bytes of the request to collect before a thread works on it; None: its head is incomplete."""
        self._chunk: int | None = None
        """Position of the next chunk's size, or of the trailers; None: the body is not in chunks."""
        self._looked = 0
        """Position up to which a search found nothing."""
        self._counted = False
        """True once the last chunk has arrived."""

    def add(self, data: bytes) -> State:
        """Add bytes that have arrived, and return the new state."""
        start = len(self.received)
        self.received += data
        if self._size is None:
            end = self.received.find(_END, max(0, start - len(_END) + 1), MOST_HEAD + len(_END))
            if end < 0:
                return State.HEAD_TOO_LARGE if self._is_head_too_large(start, data) else State.INCOMPLETE
            self._read_head(end)
        if self._size is not None and len(self.received) >= self._size:
            return State.COMPLETE
        return State.COMPLETE if self._chunk is not None and self._has_last_chunk() else State.INCOMPLETE

    def _is_head_too_large(self, start: int, data: bytes) -> bool:
        self._lines += data.count(b"\n")
        if (last := data.rfind(b"\n")) >= 0:
            self._line = start + last + 1
        return (
            len(self.received) > MOST_HEAD
            or self._lines > self._most_lines
            or len(self.received) - self._line > self._longest_line + len(_END)
        )

    def _read_head(self, end: int) -> None:
        """Compute how many bytes must arrive; `end` is the end of the last line of the head."""
        head, body = (0, end + 2), end + len(_END)
        if _CONTINUE.search(self.received, *head) is not None:  # the client waits to be asked for the body
            self._size = body
        elif _CHUNKED.search(self.received, *head) is not None:
            self._size, self._chunk = body + SMALL_BODY, body
        else:
            length = _LENGTH.search(self.received, *head)
            size = int(length[1]) if length else 0
            self._size = body + size if size <= SMALL_BODY else body

    def _has_last_chunk(self) -> bool:
        """Return whether the body is complete or malformed; the parser later reports the fault."""
        while not self._counted:
            line = self._chunk or 0
            end = self.received.find(b"\r\n", max(line, self._looked - 1))
            if end < 0:
                self._looked = len(self.received)
                return len(self.received) - line > _MOST_SIZE_LINE
            size = _SIZE.fullmatch(self.received, line, end)
            if size is None:
                return True
            self._counted = int(size[1], 16) == 0
            # The trailers end with an empty line; the search for it begins with the end of the line of the last chunk.
            self._chunk = self._looked = end if self._counted else end + 2 + int(size[1], 16) + 2
            if not self._counted and self._chunk > len(self.received):
                return False
        found = self.received.find(_END, max(self._chunk or 0, self._looked - len(_END) + 1)) >= 0
        self._looked = len(self.received)
        return found
