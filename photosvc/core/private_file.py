"""Files only the service may read: its keys."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def own_file(path: Path, make: Callable[[], str]) -> str:
    """The text in `path`; made by `make` on first use, mode 0600.

    A hard link from a finished temporary file lets the first of several starting processes win, and nobody ever
    reads half a key.

    Raises:
        OSError: the file cannot be read or written.

    """
    try:
        return path.read_text("utf-8").strip()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(make())
        os.link(fresh, path)
    except FileExistsError:
        return path.read_text("utf-8").strip()  # another process was first
    finally:
        fresh.unlink()
    return path.read_text("utf-8").strip()
