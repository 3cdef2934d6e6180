"""Commits that outlast a loss of power, for what is changed outside of the database afterwards."""

import os
from contextlib import suppress

from sqlalchemy import Engine


def flush_commits(engine: Engine) -> None:
    """Wait until the disk has what was committed.

    SQLite with `synchronous=NORMAL` does not wait for it; its log has all that the database file has not. The database
    file itself is not opened: closing it would end the locks that SQLite has on it in this process. PostgreSQL has
    waited at the commit.

    Raises:
        OSError: the disk failed.

    """
    if engine.dialect.name != "sqlite" or not engine.url.database:
        return
    with suppress(FileNotFoundError):  # in another journal mode, SQLite has waited
        descriptor = os.open(f"{engine.url.database}-wal", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
