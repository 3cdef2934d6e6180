"""Databases that photosvc cannot work with: one sentence from `svc db upgrade` and `svc run`, no traceback."""

import pytest
from sqlalchemy import create_engine, make_url, text

from photosvc.models import SCHEMA_VERSION, schema
from tests.helpers.library import call_svc
from tests.helpers.programs.ports import free_port

COMMANDS = (("db", "upgrade"), ("run", "--port", "{}"))


def sentence(instance, address, command):
    """The line on stderr with which a command fails."""
    arguments = [one.format(free_port()) for one in command]
    done = call_svc(*arguments, instance=instance, environ={"PHOTOSVC_DATABASE_URI": address})
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    lines = done.stderr.splitlines()
    assert "Traceback" not in done.stderr
    return lines[-1]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_a_database_of_a_newer_version(tmp_path, empty_database, command):
    address = empty_database()
    engine = create_engine(address)
    schema.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'"))
    engine.dispose()
    assert sentence(tmp_path, address, command) == (
        f"Error: The database is at schema 9999, newer than this photosvc ({SCHEMA_VERSION}): upgrade photosvc. "
        f"If it is of a build before 0.2, {schema.WAY_OUT}."
    )


@pytest.mark.parametrize("command", COMMANDS, ids=str)
@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_store_every_name(tmp_path, empty_postgres, command, encoding):
    url = make_url(empty_postgres())
    name = f"{encoding.lower()}_{abs(hash(command))}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(
            text(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
        )
    engine.dispose()
    address = url.set(database=name).render_as_string(hide_password=False)
    assert sentence(tmp_path, address, command) == (
        f"Error: The database {name} has the encoding {encoding}, in which names of files cannot be stored: make one "
        f"with createdb --encoding=UTF8 --template=template0 {name}"
    )


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_a_role_that_does_not_own_the_schema(tmp_path, empty_postgres, command):
    url = make_url(empty_postgres())
    role = f"reader_{abs(hash(command))}"
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
        connection.execute(text(f"CREATE ROLE {role} LOGIN PASSWORD 'x'"))
    engine.dispose()
    address = url.set(username=role, password="x").render_as_string(hide_password=False)
    assert sentence(tmp_path, address, command) == (
        "Error: The role may not change the database (permission denied for schema public): let it own that, as "
        "createdb -O ROLE DATABASE does."
    )
