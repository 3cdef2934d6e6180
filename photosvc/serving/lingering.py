"""Connections that the server has closed, and that wait for their client to close them too.

A client that still sends when the server closes would lose the end of the answer (RFC 9112 section 9.6).
"""

import socket
import time
from collections import deque
from functools import partial
from selectors import EVENT_READ
from typing import Any, Final

#: A closed connection that the client keeps open is dropped after this time, in seconds (RFC 9112 section 9.6).
LINGER_SECONDS: Final = 2.0
#: Connections that may wait for the client to close; one more is dropped at once.
_MOST_LINGERING: Final = 500
_RECEIVE: Final = 64 << 10


class Lingering:
    """The connections that wait, in the loop of a worker."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[float, socket.socket]] = deque()

    def close(self, client: socket.socket, poller: Any) -> None:  # noqa: ANN401 - gunicorn has no types
        """Close a connection after its client has, so that it receives the whole answer; at once if too many wait."""
        if len(self._waiting) >= _MOST_LINGERING:
            client.close()
            return
        client.setblocking(False)
        try:
            client.shutdown(socket.SHUT_WR)
        except OSError:
            client.close()
            return
        self._waiting.append((time.monotonic() + LINGER_SECONDS, client))
        poller.register(client, EVENT_READ, partial(self._discard, poller))

    def drop_late(self, poller: Any, now: float) -> None:  # noqa: ANN401
        """Drop connections that clients keep open for too long."""
        while self._waiting and self._waiting[0][0] <= now:
            self._drop(poller, self._waiting[0][1])

    def _discard(self, poller: Any, client: socket.socket) -> None:  # noqa: ANN401
        """Read what a client still sends on a closed connection."""
        try:
            data = client.recv(_RECEIVE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(poller, client)

    def _drop(self, poller: Any, client: socket.socket) -> None:  # noqa: ANN401
        self._waiting = deque(entry for entry in self._waiting if entry[1] is not client)
        poller.unregister(client)
        client.close()
