"""The write-ahead log of SQLite beside readers that never pause."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from photosvc.models import LibraryState
from photosvc.models.engine import write_session
from tests.helpers.library import new_engine


@pytest.fixture
def engine(tmp_path):
    engine = new_engine(tmp_path)
    yield engine
    engine.dispose()


def test_the_log_stays_small_beside_readers_that_never_pause(engine, monkeypatch):
    limit = 1 << 20
    monkeypatch.setattr("photosvc.models.engine.LOG_LIMIT", limit)
    log, done, sizes = Path(f"{engine.url.database}-wal"), threading.Event(), []

    def read(number):
        done.wait(number / 100)
        while not done.is_set():  # four readers, of which three are always within a transaction
            with engine.connect() as connection:
                connection.execute(text("SELECT count(*) FROM photosvc_library")).scalar()
                done.wait(0.03)

    readers = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for reader in readers:
        reader.start()
    try:
        for number in range(25):
            with write_session(engine) as session:
                session.add(LibraryState(name=str(number) + "x" * 300_000, value=1))
            sizes.append(log.stat().st_size)
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert max(sizes) < 8 * limit
    with write_session(engine) as session:
        session.add(LibraryState(name="last", value=1))
    assert log.stat().st_size <= 2 * limit
