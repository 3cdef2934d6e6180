"""Requests that arrive: their bytes until a thread can work on them, and their order, fair between clients.

Each byte is examined once, however small the pieces that a client sends; otherwise the pieces of one request could
cost as much as thousands of requests. The number of threads that wait for clients is limited.

A client is a credential at an address. One client never has all threads, and the next thread goes to the client with
the fewest, so that a flood of requests delays the client that sends it, and the others hardly.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from threading import BoundedSemaphore, Lock
from typing import Final, Generic, NamedTuple, TypeVar

from photosvc.auth.throttle import network_of
from photosvc.web.requests import without_port

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
K = TypeVar("K")
T = TypeVar("T")
#: The headers that contain a credential, whether it is valid or not.
_CREDENTIAL: Final = re.compile(rb"\r\n(?i:authorization|x-auth-token|x-session-id|cookie):([^\r\n]*)")
_FORWARDED: Final = re.compile(rb"\r\n(?i:x-forwarded-for):([^\r\n]*)")


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


class Requester(NamedTuple):
    """The client of a request, for the order of requests alone: nothing of it was checked."""

    network: str
    """The IPv4 address, or the /64 of an IPv6 address."""
    credential: int
    """A hash of the credentials; equal ones, and so most requests without any, count as one client."""


class RequestQueue(Generic[T]):
    """Requests that wait for a thread. All methods may be called from any thread.

    Args:
        threads: threads of the worker. A credential has half of them and one more at most, an address seven in eight.
        start: gives a request to a thread; must not block.
    """

    def __init__(self, threads: int, start: Callable[[Requester, T], object]) -> None:
        self._most = min(threads, threads // 2 + 1)
        self._most_of_network = max(self._most, threads * 7 // 8)
        self._start = start
        self._waiting: dict[Requester, deque[T]] = {}
        """The requests of each client, the client that was served longest ago first."""
        self._running = Counter[Requester]()
        self._networks = Counter[str]()
        self._free = threads
        self._mutex = Lock()

    def add(self, requester: Requester, request: T) -> None:
        """Start a request now, or when a thread is free and the turn is its client's."""
        with self._mutex:
            self._waiting.setdefault(requester, deque()).append(request)
            started = self._take()
        for requester, request in started:
            self._start(requester, request)

    def end(self, requester: Requester) -> None:
        """Note that a request of this client has ended, and start those whose turn it is."""
        with self._mutex:
            self._free += 1
            _decrement(self._running, requester)
            _decrement(self._networks, requester.network)
            started = self._take()
        for requester, request in started:
            self._start(requester, request)

    def _take(self) -> list[tuple[Requester, T]]:
        """Return the requests that may start now, in order, and count them as running."""
        taken: list[tuple[Requester, T]] = []
        while self._waiting and self._free:
            ready = [requester for requester in self._waiting if self._may_start(requester)]
            if not ready:
                break
            requester = min(ready, key=self._load)
            requests = self._waiting.pop(requester)
            request = requests.popleft()
            if requests:
                self._waiting[requester] = requests
            self._free -= 1
            self._running[requester] += 1
            self._networks[requester.network] += 1
            taken.append((requester, request))
        return taken

    def _may_start(self, requester: Requester) -> bool:
        of_network, own = self._load(requester)
        return own < self._most and of_network < self._most_of_network

    def _load(self, requester: Requester) -> tuple[int, int]:
        return self._networks[requester.network], self._running[requester]


def _decrement(counts: Counter[K], key: K) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]


def requester_of(head: bytes | bytearray, peer: object, proxies: int) -> Requester:
    """Return the client that sent a request.

    Args:
        head: the request as far as it has arrived, with its whole head; empty if that is not known.
        peer: the address of the connection, as sockets give it.
        proxies: number of proxies in front, each of which appends an address to `X-Forwarded-For`.
    """
    end = head.find(b"\r\n\r\n")
    end = len(head) if end < 0 else end
    address = str(peer[0]) if isinstance(peer, tuple) and peer else ""
    if proxies and (forwarded := _FORWARDED.findall(head, 0, end)):
        hops = b",".join(forwarded).split(b",")
        address = hops[-min(proxies, len(hops))].decode("latin-1").strip()
    found = _CREDENTIAL.findall(head, 0, end)
    return Requester(network_of(without_port(address)), hash(b"\n".join(found)) if found else 0)
