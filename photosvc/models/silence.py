"""Connections to PostgreSQL that fail when the server stops answering, instead of waiting for ever.

A statement may rightly take long, and a server that is stopped, or cut off without a word, looks the same from here. So
a connection that has heard nothing for a second asks the server at its address, over a connection of its own, for the
first byte that every server sends at once. Waiting goes on as long as that byte comes.
"""

import math
import socket
import struct
import threading
from collections.abc import Generator
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.rows import TupleRow

from photosvc.core.clock import SYSTEM_CLOCK

#: Seconds without a word from the server after which it is asked whether it still answers.
SILENCE: Final = 1.0
#: Seconds within which it must do so: longer than a busy server needs to start a process.
_PATIENCE: Final = 3.0
#: Seconds for which an answer, or none, holds for other connections.
_HOLDS: Final = 1.0
#: Seconds for which a new connection waits for each address of the server.
_CONNECT: Final = 2
#: The first message of a client that would encrypt (`SSLRequest`); the answer is one byte, before any log-in.
_HELLO: Final = struct.pack("!ii", 8, 80877103)
_T = TypeVar("_T")

#: Options of libpq, by name. The system ends a connection whose other end is gone, although the server answers others.
OPTIONS: Final[dict[str, Any]] = {
    "connect_timeout": _CONNECT,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}


class ServerSilentError(psycopg.OperationalError):
    """The server has stopped answering."""


class Server:
    """A database server as its connections see it: whether it answers."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._asked = -math.inf
        self._is_silent = False

    def is_silent(self, host: str, port: int) -> bool:
        """Return whether the server is known not to answer; ask it, unless another thread does so just now."""
        if SYSTEM_CLOCK.monotonic() - self._asked >= _HOLDS and self._asking.acquire(blocking=False):
            try:
                self._is_silent = not _answers(host, port)
                self._asked = SYSTEM_CLOCK.monotonic()
            finally:
                self._asking.release()
        return self._is_silent and SYSTEM_CLOCK.monotonic() - self._asked < _HOLDS


def _answers(host: str, port: int) -> bool:
    is_local = host.startswith("/")
    try:
        family = socket.AF_UNIX if is_local else socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as asking:
            asking.settimeout(_PATIENCE)
            asking.connect(f"{host}/.s.PGSQL.{port}" if is_local else (host, port))
            asking.sendall(_HELLO)
            asking.recv(1)
    except OSError:
        return False
    return True


def connection_class(server: Server) -> "type[psycopg.Connection[TupleRow]]":
    """Return the class of connections to this server."""

    class Attending(psycopg.Connection[TupleRow]):
        def wait(self, gen: PQGen[_T], *arguments: Any, **options: Any) -> _T:  # noqa: ANN401
            return super().wait(_attended(gen, self, server), *arguments, **options)

    return Attending


def _attended(gen: PQGen[_T], connection: psycopg.Connection[Any], server: Server) -> Generator[Any, Any, _T]:
    """Pass on what the driver waits for, and what has come; nothing comes every tenth of a second.

    Raises:
        ServerSilentError: the server has stopped answering.
    """
    try:
        wanted = next(gen)
        heard = SYSTEM_CLOCK.monotonic()
        while True:
            ready = yield wanted
            if ready:
                heard = SYSTEM_CLOCK.monotonic()
            elif SYSTEM_CLOCK.monotonic() - heard > SILENCE and server.is_silent(*_address(connection)):
                connection.close()
                raise ServerSilentError("the server has stopped answering")
            wanted = gen.send(ready)
    except StopIteration as end:
        value: _T = end.value
        return value


def _address(connection: psycopg.Connection[Any]) -> tuple[str, int]:
    """Return the path of the folder with the socket or the number of the host, and the port."""
    info = connection.info
    return info.host if info.host.startswith("/") else info.hostaddr, info.port
