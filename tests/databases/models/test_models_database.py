import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import create_engine, select, text
from sqlalchemy.exc import StatementError
from sqlalchemy.orm import Session

from photosvc.core.errors import SchemaError
from photosvc.core.times import ZERO_TIME
from photosvc.models import Album, LibraryState, schema
from photosvc.models.engine import (
    _POSTGRESQL,
    PendingChangesError,
    UnitOfWork,
    begin_write,
    configure_engine,
    engine_options,
    many_pages,
    open_reader,
    write_session,
)
from photosvc.models.schema import check_schema, schema_version
from photosvc.models.statements import run_text
from tests.helpers import cheap
from tests.helpers.library import new_engine

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture
def engine(tmp_path):
    engine = new_engine(tmp_path)
    yield engine
    engine.dispose()


def test_sqlite_has_the_settings_of_the_design(engine, monkeypatch):
    monkeypatch.setattr("photosvc.models.engine._PRAGMAS", cheap.REAL_PRAGMAS)
    engine.dispose()
    with engine.connect() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "journal_size_limit")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 1,
        "foreign_keys": 1,
        "busy_timeout": 15000,
        "journal_size_limit": 64 << 20,
    }


def test_a_connection_keeps_few_pages_and_puts_large_sorts_into_a_file(engine):
    with engine.connect() as connection:
        cached, temporary = (connection.scalar(text(f"PRAGMA {name}")) for name in ("cache_size", "temp_store"))
    assert (cached, temporary) == (-2000, 1)


def test_engines_of_other_databases_are_left_alone():
    engine = create_engine("postgresql+psycopg://nobody@localhost/none")
    configure_engine(engine)
    assert list(engine.dispatch.begin) == []


def album(created):
    return Album(uid="a" + "0" * 15, title="x", created_at=created, updated_at=created)


@pytest.mark.parametrize(
    "moment",
    [NOW, ZERO_TIME, datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), NOW.astimezone(timezone(timedelta(hours=5)))],
)
def test_times_come_back_as_the_same_instant_in_utc(engine, moment):
    with Session(engine) as session:
        session.add(album(moment))
        session.commit()
        found = session.scalars(select(Album.created_at)).one()
    assert found == moment
    assert found.tzinfo is UTC


def test_a_time_without_a_zone_is_refused(engine):
    with Session(engine) as session:
        session.add(album(NOW.replace(tzinfo=None)))
        with pytest.raises(StatementError, match="a time without a zone"):
            session.flush()


def test_writers_wait_for_each_other_and_lose_nothing(engine):
    with Session(engine) as session:
        session.add(LibraryState(name="n", value=0))
        session.commit()

    def count():
        for _ in range(25):
            with Session(engine) as session:
                begin_write(session)
                state = session.get(LibraryState, "n")
                state.value += 1
                session.commit()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Session(engine) as session:
        assert session.get(LibraryState, "n").value == 100


def test_beginning_to_write_ends_a_read_transaction(engine):
    with Session(engine) as session:
        session.scalars(select(LibraryState)).all()
        begin_write(session)
        begin_write(session)
        session.add(LibraryState(name="a", value=1))
        begin_write(session)
        session.commit()
        assert session.get(LibraryState, "a").value == 1


@pytest.mark.parametrize("begun", [False, True], ids=["no transaction", "a transaction that reads"])
def test_a_write_transaction_does_not_begin_with_changes_made_outside_of_one(engine, begun):
    with Session(engine) as session:
        if begun:
            session.scalars(select(LibraryState)).all()
        session.add(LibraryState(name="a", value=1))
        with pytest.raises(PendingChangesError, match="the session holds pending changes"):
            begin_write(session)
        session.rollback()
        begin_write(session)
        assert session.scalars(select(LibraryState)).all() == []


def test_changes_are_flushed_in_a_write_transaction_only(engine):
    with UnitOfWork(engine) as session:
        session.scalars(select(LibraryState)).all()
        session.add(LibraryState(name="a", value=1))
        for write in (session.flush, session.commit):
            with pytest.raises(PendingChangesError, match="no write transaction is open"):
                write()
        session.rollback()
        begin_write(session)
        session.add(LibraryState(name="a", value=1))
        session.commit()
        assert session.scalars(select(LibraryState.name)).all() == ["a"]


def add_and_fail(session):
    session.add(LibraryState(name="lost", value=1))
    session.flush()
    raise LookupError


def test_a_write_session_commits_at_its_end_and_rolls_back_after_an_exception(engine):
    with write_session(engine) as session:
        session.add(LibraryState(name="kept", value=1))
    with pytest.raises(LookupError), write_session(engine) as session:
        add_and_fail(session)
    with Session(engine) as session:
        assert session.scalars(select(LibraryState.name)).all() == ["kept"]


def test_the_schema_check_names_the_command(tmp_path):
    engine = create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    configure_engine(engine)
    with Session(engine) as session:
        assert schema_version(session) is None
        with pytest.raises(SchemaError, match="has no photosvc tables yet: run `svc db upgrade`"):
            check_schema(session)
        session.rollback()
        schema.upgrade(engine)
        check_schema(session)
        for version, sentence in (
            ("0000", "run `svc db upgrade`"),
            ("9999", "upgrade photosvc"),
        ):
            session.execute(text("UPDATE photosvc_schema SET version_num = :version"), {"version": version})
            with pytest.raises(SchemaError, match=sentence):
                check_schema(session)
    engine.dispose()


def test_a_reader_sees_one_state_from_its_first_statement_to_its_last(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    schema.upgrade(engine)
    titles = text("SELECT title FROM photosvc_albums")
    reader = open_reader(engine)
    assert reader.scalars(titles).all() == []
    with Session(engine) as session:
        session.add(album(NOW))
        session.commit()
    assert run_text(reader, titles.text, ()) == []
    assert reader.scalars(titles).all() == []
    reader.close()
    with open_reader(engine) as reader:
        assert reader.scalars(titles).all() == ["x"]
    with engine.connect() as connection:
        assert connection.get_isolation_level() == connection.default_isolation_level
    engine.dispose()


def test_a_transaction_of_many_changes_has_a_larger_cache_until_its_end(engine):
    def cache(session):
        return session.scalar(text("PRAGMA cache_size"))

    with write_session(engine) as session:
        before = cache(session)
        with many_pages(session):
            assert (before, cache(session)) == (-2000, -65536)
        assert cache(session) == before
        with pytest.raises(ValueError, match="x"), many_pages(session):
            raise ValueError("x")
        assert cache(session) == before


@pytest.mark.parametrize(
    ("address", "options"),
    [
        ("sqlite:////photos/photosvc.db", {"pool_use_lifo": True}),
        (
            "postgresql+psycopg://nobody@localhost/none",
            {"pool_use_lifo": True, "connect_args": {**_POSTGRESQL, "client_encoding": "utf8"}},
        ),
        ("sqlite://", {}),
    ],
)
def test_the_connection_used_last_comes_first_where_connections_are_kept_in_a_queue(address, options):
    assert engine_options(address) == {"hide_parameters": True, **options}
    create_engine(address, **engine_options(address)).dispose()
