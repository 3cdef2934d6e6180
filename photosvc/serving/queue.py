"""Requests that have arrived and wait for a thread, and their order: fair between clients, whatever number one sends.

A client is a credential at an address. One client never has all threads, and the next thread goes to the client with
the fewest, so that a flood of requests delays the client that sends it, and the others hardly.
"""

import re
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Final, Generic, NamedTuple, TypeVar

from photosvc.auth.throttle import network_of
from photosvc.web.requests import without_port

K = TypeVar("K")
T = TypeVar("T")
#: The headers that contain a credential, whether it is valid or not.
_CREDENTIAL: Final = re.compile(rb"\r\n(?i:authorization|x-auth-token|x-session-id|cookie):([^\r\n]*)")
_FORWARDED: Final = re.compile(rb"\r\n(?i:x-forwarded-for):([^\r\n]*)")


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
        self._running: dict[Requester, int] = {}
        self._networks: dict[str, int] = {}
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
            self._running[requester] = self._running.get(requester, 0) + 1
            self._networks[requester.network] = self._networks.get(requester.network, 0) + 1
            taken.append((requester, request))
        return taken

    def _may_start(self, requester: Requester) -> bool:
        of_network, own = self._load(requester)
        return own < self._most and of_network < self._most_of_network

    def _load(self, requester: Requester) -> tuple[int, int]:
        return self._networks.get(requester.network, 0), self._running.get(requester, 0)


def _decrement(counts: dict[K, int], key: K) -> None:
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
