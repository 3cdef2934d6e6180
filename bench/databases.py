"""Libraries that benchmarks read directly, and the processor time that this takes."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, text

from photosvc.models.database import configure_engine


@contextmanager
def opened(library: str) -> Iterator[Connection]:
    """A connection to a library, named by its instance folder or by the address of its database."""
    engine = create_engine(library if "://" in library else f"sqlite:///{Path(library) / 'photosvc.db'}")
    configure_engine(engine)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def clock_of(connection: Connection) -> Callable[[], float]:
    """Gives the seconds of processor time that this process, and the one of PostgreSQL that serves it, have spent."""
    if connection.dialect.name == "sqlite":
        return time.process_time
    connection.execute(text("SET max_parallel_workers_per_gather = 0"))
    connection.commit()  # otherwise, the end of the transaction would undo it
    server = Path(f"/proc/{connection.scalar(text('SELECT pg_backend_pid()'))}/schedstat")
    return lambda: time.process_time() + int(server.read_text().split()[0]) / 1e9
