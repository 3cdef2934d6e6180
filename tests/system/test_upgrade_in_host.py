"""The rights of files that an upgrade makes in a host app."""

import os
from contextlib import contextmanager

import pytest
from sqlalchemy import text

from photosvc.auth import accounts
from photosvc.web.auditing import operation_in
from photosvc.web.service import current_service
from tests.app.embed.test_commands_in_host import bare_host, mode_of


@pytest.mark.parametrize("bind_key", [None, "media"])
@pytest.mark.parametrize("address", ["sqlite:///{}", "sqlite:///file:{}?uri=true"])
def test_the_upgrade_makes_the_database_and_its_journals_readable_for_its_owner_alone(tmp_path, bind_key, address):
    with umask(0o022), bare_host(tmp_path, address, bind_key) as (app, database):
        done = app.test_cli_runner().invoke(args=["svc", "db", "upgrade"])
        assert done.exit_code == 0, done.output
        assert "can be read" not in done.stderr
        with app.app_context():
            service = current_service()
            with service.engine().connect() as connection:
                connection.execute(text("PRAGMA journal_mode=WAL"))
            with service.writing(library=True) as session:
                user = accounts.new_user(service.now(), name="ann", password="a long password")
                accounts.add(operation_in(session), user)
                session.flush()
                made = sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(database.name))
                assert made == ["own.db", "own.db-shm", "own.db-wal"]
                assert {mode_of(tmp_path / name) for name in made} == {0o600}


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)
