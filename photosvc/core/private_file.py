"""Key files that only the owner of the service may read."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """The text in `path`; on first use the file is created with mode 0600 and the result of `make`.

    The text is written to a temporary file that is then hard-linked to `path`: when several processes start at once
    the first link wins, and no process reads a partly written key.

    Raises:
        OSError: the file cannot be read or written.

    """
    try:
        return path.read_text("utf-8").strip()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(make())
        os.link(temporary, path)
    except FileExistsError:
        return path.read_text("utf-8").strip()  # another process was first
    finally:
        temporary.unlink()
    return path.read_text("utf-8").strip()
