"""Accounts that ask, clients that ask at the same time, and the figures that come out."""

import math
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask

from photosvc.auth import accounts, credentials
from photosvc.auth.scopes import parse_scope
from photosvc.core.accounts import USER
from photosvc.web.auditing import operating


def new_password(app: Flask, role: str = USER) -> str:
    """An app password of a fresh account."""
    with app.app_context(), operating() as operation:
        user = accounts.new_user(operation.now, name=f"bench-{secrets.token_hex(6)}", role=role)
        accounts.add(operation, user)
        return credentials.issue(operation, user, name="bench", scope=parse_scope("*")).secret


@contextmanager
def at_once(target: Callable[..., object], jobs: Iterable[tuple[Any, ...]]) -> Iterator[None]:
    """Call a function in a thread for each tuple of arguments, and wait for all at the end of the block."""
    threads = [threading.Thread(target=target, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join()


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[math.ceil(len(values) * share) - 1]


def private_memory(process: int | str = "self") -> float:
    """Megabytes of a process without the files that it maps, such as the database."""
    found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0
