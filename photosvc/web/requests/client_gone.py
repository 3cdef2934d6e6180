"""Whether the client of a request still waits for its answer."""

import select
import socket
from collections.abc import Mapping
from typing import Any, Final

#: Where servers put the connection of the client: gunicorn, and Werkzeug's for development.
_SOCKETS: Final = ("gunicorn.socket", "werkzeug.socket")


class ClientGone:
    """Whether the client of a request has closed its connection; any thread may ask."""

    __slots__ = ("_environ",)

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self._environ = environ

    def __call__(self) -> bool:
        """Whether it has. One that has sent its next request already is there; so is one that no server shows."""
        client = next((self._environ[name] for name in _SOCKETS if name in self._environ), None)
        if client is None:
            return False
        try:
            poll = select.poll()
            poll.register(client.fileno(), select.POLLIN)
            # Of a connection with TLS too: what it carries does not matter.
            return bool(poll.poll(0)) and not socket.socket.recv(client, 1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except (OSError, ValueError):
            return True
