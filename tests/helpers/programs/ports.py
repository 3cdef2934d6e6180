"""Ports for servers that have to be told theirs."""

import random
import socket
from pathlib import Path

from tests.helpers.clock import until

#: From where on systems give ports to clients, and to servers that ask for any.
_GIVEN = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST, _USUAL = 10_000, 32_768


def free_port() -> int:
    """A port of this machine that no server has and that no client of another test is given meanwhile."""
    end = int(_GIVEN.read_text().split()[0]) if _GIVEN.exists() else _USUAL
    for _ in range(1000):
        port = random.SystemRandom().randrange(_LOWEST, end) if end > _LOWEST else 0
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return tried.getsockname()[1]
    raise RuntimeError("no port is free")


def is_open(port: int) -> bool:
    """Whether a server listens there."""
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0


def wait_for(port: int, seconds: float = 60) -> None:
    """Wait until a server listens there."""
    until(lambda: is_open(port), f"a server at {port}", seconds)
