"""The socket of a client: keeps the end of an answer that the client is slow to take, and waits little for bodies."""

import errno
import os
import select
import socket
import time
from collections.abc import Callable
from typing import Any, Final

from photosvc.serving.budget import WaitBudget

#: Seconds without a byte after which a client that does not take its answer, or send its request, is dropped.
STALL_SECONDS: Final = 30
#: Seconds that a thread waits for a client when as many as may wait long do so already.
_SHORT_WAIT: Final = 0.05
#: Seconds that a thread waits, in all of one answer, before the end of the answer is kept.
_PATIENCE: Final = 0.25
#: Bytes of an answer that are kept; the thread waits with a longer rest.
MOST_KEPT: Final = 4 << 20
#: A client may let the server wait for these seconds, and one more for each KiB that it takes or sends.
_GRACE_SECONDS: Final = 30
_LOWEST_RATE: Final = 1 << 10
_PIECE: Final = 256 << 10
#: Errors of file systems whose files the kernel cannot send by itself.
_NO_SENDFILE: Final = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


class Client(socket.socket):
    """Sends answers; between `begin_answer` and the end of the request, what stays unsent is kept in `unsent`.

    Args:
        connection: the socket that it replaces.
        budget: of threads that wait for clients.

    """

    def __init__(self, connection: socket.socket, budget: WaitBudget) -> None:
        super().__init__(fileno=connection.detach())
        self._budget = budget
        self._received = 0
        self._awaited = 0.0
        """Seconds that this client let a thread wait for the body of this request."""
        self._is_late = False
        self.early = bytearray()
        """What was received before a thread was used; `recv` gives it first, in pieces, which are cheaper to parse."""
        self.unsent = bytearray()
        self._answering = False
        self._sent = 0
        self._waited = 0.0
        """Seconds that this client let the server wait in this answer."""
        self._waits_since = 0.0

    def begin_answer(self) -> None:
        """Start counting bytes and waiting time, and keep what the client is slow to take."""
        self._answering, self._sent, self._waited = True, 0, 0.0
        self._received, self._awaited, self._is_late = 0, 0.0, False

    def end_answer(self) -> None:
        """Send further bytes as any socket does."""
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
        """What was received before, then a part of the body of a request inside of one; else as any socket does.

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
        """Send `count` bytes of the file, or keep their end; as `sendall`."""
        if not self._answering or count is None:
            return super().sendfile(file, offset, count)
        source, position, end = file.fileno(), offset, offset + count

        def send() -> int:
            try:
                sent = os.sendfile(self.fileno(), source, position, end - position)
            except OSError as error:
                if error.errno not in _NO_SENDFILE:
                    raise
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
        """Send what the client takes now of what was kept; whether that was all.

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
        """Note that the server waits for the client from now on, without a thread."""
        self._waits_since = time.monotonic()

    def is_too_slow(self) -> bool:
        """Whether it took nothing for long, or less than a KiB a second on average."""
        waits = time.monotonic() - self._waits_since
        return waits > STALL_SECONDS or self._waited + waits > self._allowed()

    def _allowed(self) -> float:
        return _GRACE_SECONDS + self._sent / _LOWEST_RATE

    def _attempt(self, send: Callable[[], int]) -> int:
        """The bytes that were sent, after those that were kept; 0 when the client takes none at present."""
        try:
            self._waits_since = time.monotonic()
            sent = send() if self.send_unsent() else 0
        except BlockingIOError:
            return 0
        self._sent += sent
        return sent

    def _may_go_on(self, size: int) -> bool:
        """Wait until the client takes bytes; False when the rest, of `size` bytes, is to be kept."""
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
        """Wait until the client sends bytes; whether it did in time."""
        began = time.monotonic()
        left = _GRACE_SECONDS + self._received / _LOWEST_RATE - self._awaited
        with self._budget.for_body() as may_wait:
            ready = self._is_ready(select.POLLIN, max(0, min(left, STALL_SECONDS if may_wait else _SHORT_WAIT)))
        self._awaited += time.monotonic() - began
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
