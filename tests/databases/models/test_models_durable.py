"""What is committed before something else depends on it is on the disk."""

import pytest
from sqlalchemy import create_engine, text

from photosvc.models.engine import flush_commits
from tests.helpers.library import new_engine


def test_the_log_of_sqlite_is_flushed_and_its_locks_stay(tmp_path, monkeypatch):
    engine, flushed = new_engine(tmp_path), []
    monkeypatch.setattr("os.fsync", flushed.append)
    with engine.connect() as connection:
        connection.execute(text("SELECT count(*) FROM photosvc_users")).all()
        flush_commits(engine)
    assert len(flushed) == 1
    engine.dispose()


@pytest.mark.parametrize("address", ["sqlite://", "sqlite:///{}/none.db", "postgresql+psycopg://nowhere/none"])
def test_a_database_without_a_log_file_is_left_alone(tmp_path, address):
    engine = create_engine(address.format(tmp_path))
    flush_commits(engine)
    assert list(tmp_path.iterdir()) == []
    engine.dispose()
