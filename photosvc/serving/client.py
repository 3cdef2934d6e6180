"""The socket of a client, which keeps the end of a slow answer, and the connections that wait for their client's close.

The server closes a connection in two steps, because a client that still sends when the server closes would lose the
end of the answer (RFC 9112 section 9.6).
"""

import errno
import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from selectors import EVENT_READ
from typing import Any, Final

from photosvc.serving.arrival import WaitBudget

#: A closed connection that the client keeps open is dropped after this time, in seconds (RFC 9112 section 9.6).
LINGER_SECONDS: Final = 2.0
#: Connections that may wait for the client to close; one more is dropped at once.
_MOST_LINGERING: Final = 500
_RECEIVE: Final = 64 << 10
#: Seconds without a byte after which a client that does not take its answer, or send its request, is dropped.
STALL_SECONDS: Final = 30
#: Seconds that a thread waits for a client when `WaitBudget` allows no long wait.
_SHORT_WAIT: Final = 0.05
#: Seconds that a thread waits in total for one answer before the end of the answer is kept, and in total for the body
#: of one request when `WaitBudget` allows no long wait.
_PATIENCE: Final = 0.25
#: The most bytes of an answer that are kept; with a longer rest, the thread waits.
MOST_KEPT: Final = 4 << 20
#: A client may let the server wait this many seconds, and one more for each KiB that it takes or sends.
_GRACE_SECONDS: Final = 30
_LOWEST_RATE: Final = 1 << 10
_PIECE: Final = 256 << 10


class Lingering:
    """The connections in a worker's loop that the server has closed and the client has not."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[float, socket.socket]] = deque()

    def close(self, client: socket.socket, poller: Any) -> None:  # noqa: ANN401 - gunicorn has no types
        """Close a connection once its client has, so that it receives the whole answer; at once if too many wait."""
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
        """Read and discard bytes that a client still sends on a closed connection."""
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


class Client(socket.socket):
    """A client's socket that keeps the unsent end of an answer in `unsent`, from `begin_answer` to `end_answer`.

    Args:
        connection: the socket that this one replaces.
        budget: the limit of threads that wait for clients.
    """

    def __init__(self, connection: socket.socket, budget: WaitBudget) -> None:
        super().__init__(fileno=connection.detach())
        self._budget = budget
        self._received = 0
        self._awaited = 0.0
        """Seconds that this client let a thread wait for the body of this request."""
        self._awaited_besides = 0.0
        """The part of `_awaited` for which `WaitBudget` allowed no long wait."""
        self._is_late = False
        self.early = bytearray()
        """Bytes received before a thread was used; `recv` returns them first, in pieces, which are cheaper to parse."""
        self.unsent = bytearray()
        self._answering = False
        self._sent = 0
        self._waited = 0.0
        """Seconds that this client let the server wait in this answer."""
        self._waits_since = 0.0

    def begin_answer(self) -> None:
        """Start counting bytes and waiting time, and keep the end of a slow answer in `unsent`."""
        self._answering, self._sent, self._waited = True, 0, 0.0
        self._received, self._awaited, self._awaited_besides, self._is_late = 0, 0.0, 0.0, False

    def end_answer(self) -> None:
        """Send further bytes as a plain socket does."""
        self._answering = False

    def sendall(self, data: Any, flags: int = 0) -> None:  # noqa: ANN401 - as typeshed has it
        """Send all of `data`, or keep its end.

        Raises:
            BrokenPipeError: the client takes it too slowly.
        """
        if not self._answering:
            super().sendall(data, flags)
            return
        view = memoryview(data)

        def send() -> int:
            return self.send(view[done:], socket.MSG_DONTWAIT | flags)

        done = 0
        while done < len(view):
            done += self._attempt(send)
            if done < len(view) and not self._may_go_on(len(view) - done):
                break
        self.unsent += view[done:]

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Return the bytes in `early`, then, within a request, a part of its body; otherwise receive as a plain socket.

        Raises:
            TimeoutError: the client sends it too slowly.
        """
        if self.early:
            data = bytes(self.early[:size])
            del self.early[:size]
            return data
        if not self._answering:
            return super().recv(size, flags)
        if not self._is_late and not self._is_ready(select.POLLIN, 0):
            self._is_late = not self._may_await_body()
        if self._is_late:
            raise TimeoutError(errno.ETIMEDOUT, "the client sends its request too slowly")
        data = super().recv(size, flags)
        self._received += len(data)
        return data

    def sendfile(self, file: Any, offset: int = 0, count: int | None = None) -> int:  # noqa: ANN401
        """Send `count` bytes of the file, or keep their end, as `sendall` does."""
        if not self._answering or count is None:
            return super().sendfile(file, offset, count)
        source, position, end = file.fileno(), offset, offset + count

        def send() -> int:
            try:
                sent = os.sendfile(self.fileno(), source, position, end - position)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                    raise  # else the file system does not support `sendfile`
                sent = self.send(os.pread(source, min(_PIECE, end - position), position))
            if not sent:  # the file was cut: the connection ends before the promised length
                raise BrokenPipeError(errno.EPIPE, "the file is shorter than it was")
            return sent

        self.setblocking(False)
        try:
            while position < end:
                position += self._attempt(send)
                if position < end and not self._may_go_on(end - position):
                    break
        finally:
            self.setblocking(True)
        if position < end:
            self.unsent += os.pread(source, end - position, position)
        return count

    def send_unsent(self) -> bool:
        """Send as much of the kept bytes as the client takes now, and return whether none is left.

        Raises:
            OSError: the connection is broken.
        """
        while self.unsent:
            try:
                sent = self.send(memoryview(self.unsent)[:_PIECE], socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            del self.unsent[:sent]
            self._sent += sent
            self._waited += time.monotonic() - self._waits_since
            self._waits_since = time.monotonic()
        return True

    def wait_for_client(self) -> None:
        """Start measuring how long the server waits for the client without a thread."""
        self._waits_since = time.monotonic()

    def is_too_slow(self) -> bool:
        """Return whether the client took nothing for `STALL_SECONDS`, or less than a KiB a second on average."""
        waits = time.monotonic() - self._waits_since
        return waits > STALL_SECONDS or self._waited + waits > self._allowed()

    def _allowed(self) -> float:
        return _GRACE_SECONDS + self._sent / _LOWEST_RATE

    def _attempt(self, send: Callable[[], int]) -> int:
        """Send the kept bytes, then new ones; return how many new ones, 0 when the client takes none at present."""
        try:
            self._waits_since = time.monotonic()
            sent = send() if self.send_unsent() else 0
        except BlockingIOError:
            return 0
        self._sent += sent
        return sent

    def _may_go_on(self, size: int) -> bool:
        """Wait until the client takes bytes; return False when the rest, of `size` bytes, is to be kept."""
        if self._is_writable(max(0.0, _PATIENCE - self._waited)):
            return True
        if len(self.unsent) + size <= MOST_KEPT:
            return False
        with self._budget.for_answer() as may_wait:
            if self._is_writable(STALL_SECONDS if may_wait else _SHORT_WAIT) and self._waited <= self._allowed():
                return True
        self.unsent.clear()
        raise BrokenPipeError(errno.EPIPE, "the client takes the answer too slowly")

    def _may_await_body(self) -> bool:
        """Wait until the client sends bytes, and return whether it did in time."""
        began = time.monotonic()
        left = _GRACE_SECONDS + self._received / _LOWEST_RATE - self._awaited
        with self._budget.for_body() as may_wait:
            most = STALL_SECONDS if may_wait else min(_SHORT_WAIT, _PATIENCE - self._awaited_besides)
            ready = self._is_ready(select.POLLIN, max(0, min(left, most)))
        waited = time.monotonic() - began
        self._awaited += waited
        self._awaited_besides += 0 if may_wait else waited
        return ready

    def _is_writable(self, seconds: float) -> bool:
        began = time.monotonic()
        ready = self._is_ready(select.POLLOUT, seconds)
        self._waited += time.monotonic() - began
        return ready

    def _is_ready(self, event: int, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self.fileno(), event)
        return bool(poll.poll(round(seconds * 1000)))
