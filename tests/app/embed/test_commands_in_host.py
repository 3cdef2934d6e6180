"""`flask svc …` inside a host app: on the host's database, by the runner of its tests too, and never on another one."""

import json
import os
import re
import sqlite3
import stat
import subprocess
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.cli import ScriptInfo
from flask_sqlalchemy import SQLAlchemy

from photosvc import PhotoService, SchemaError
from photosvc.app import create_app
from photosvc.cli import svc
from tests.app.embed.host import NAMES, open_host


def test_the_runner_of_the_hosts_tests_finds_the_commands(tmp_path):
    with open_host(tmp_path / "host") as app:
        done = app.test_cli_runner().invoke(args=["svc", "search", "", "--json"])
        assert done.exit_code == 0, done.output
        assert sorted(record["FileName"] for record in json.loads(done.stdout)) == list(NAMES)
        assert app.test_cli_runner().invoke(args=["svc", "search", "nosuch:1"]).exit_code == 2


def test_the_configuration_names_the_database_that_is_used(tmp_path):
    with open_host(tmp_path / "host") as app:
        done = app.test_cli_runner().invoke(args=["svc", "show", "config", "--json"])
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["PHOTOSVC_DATABASE_URI"]["value"] == f"sqlite:///{tmp_path}/host/host.db"
    assert rows["PHOTOSVC_DATABASE_URI"]["origin"] == "host app"
    assert rows["PHOTOSVC_ORIGINALS"]["origin"] == "app"
    assert rows["PHOTOSVC_INSTANCE"]["value"] == str(tmp_path / "host")
    assert not (tmp_path / "host/photosvc.db").exists()


def test_the_configuration_hides_the_password_of_the_hosts_database(tmp_path):
    config = {"SQLALCHEMY_BINDS": {"media": "postgresql+psycopg://ann:secret@db.example.org/photos"}}
    with open_host(tmp_path / "host", config=config, bind_key="media") as app:
        done = app.test_cli_runner().invoke(args=["svc", "show", "config", "--json"])
    (shown,) = (row["value"] for row in json.loads(done.stdout) if row["name"] == "PHOTOSVC_DATABASE_URI")
    assert shown == "postgresql+psycopg://ann:***@db.example.org/photos"


@pytest.mark.parametrize("bind_key", [None, "media"])
def test_the_upgrade_tells_that_it_left_a_database_of_the_host_readable_for_others(tmp_path, bind_key):
    with bare_host(tmp_path, "sqlite:///{}", bind_key) as (app, database):
        with sqlite3.connect(database) as other:  # as a worker of the host keeps it open
            other.execute("PRAGMA journal_mode=WAL")
            other.execute("CREATE TABLE hosts (id INTEGER)")
            other.commit()
            files = [database, *(database.with_name(f"own.db{end}") for end in ("-wal", "-shm"))]
            for file, mode in zip(files, (0o644, 0o640, 0o600), strict=True):
                file.chmod(mode)
            done = app.test_cli_runner().invoke(args=["svc", "db", "upgrade"])
        other.close()
    assert done.exit_code == 0, done.output
    said = [line for line in done.stderr.splitlines() if "can be read" in line]
    assert said == [
        f"{file} can be read by other accounts of this machine: as its owner, run chmod 600 {file}"
        for file in files[:2]
    ]
    assert mode_of(database) == 0o644


@contextmanager
def bare_host(folder, address, bind_key):
    """A host whose engine for photosvc is that of `own.db`, which is not there yet."""
    database = folder / "own.db"
    app = Flask("host", instance_path=str(folder))
    address = address.format(database)
    app.config.update(
        SECRET_KEY="x" * 32,
        SQLALCHEMY_DATABASE_URI=address if bind_key is None else f"sqlite:///{folder}/host.db",
        SQLALCHEMY_BINDS={} if bind_key is None else {bind_key: address},
        PHOTOSVC_ORIGINALS=folder / "originals",
    )
    db = SQLAlchemy(app)
    PhotoService(app, db=db, url_prefix="/media", bind_key=bind_key, environ={})
    yield app, database
    with app.app_context():
        for engine in db.engines.values():
            engine.dispose()


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_svc_run_refuses_to_serve_a_host_and_makes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "execv", lambda *_: pytest_fails())
    with open_host(tmp_path / "host") as app:
        before = sorted((tmp_path / "host").iterdir())
        done = app.test_cli_runner().invoke(args=["svc", "run"])
        assert done.exit_code == 2
        assert "`flask svc run` serves photosvc alone, and the app 'host' contains more" in done.output
        assert sorted((tmp_path / "host").iterdir()) == before


def test_files_for_deployment_and_restores_are_refused_in_a_host(tmp_path):
    with open_host(tmp_path / "host") as app:
        runner = app.test_cli_runner()
        for program in ("systemd", "nginx", "compose"):
            done = runner.invoke(args=["svc", "deploy", "show", program])
            assert (done.exit_code, done.stdout) == (2, "")
            assert "`flask svc deploy show` writes files for photosvc alone, and the app 'host'" in done.stderr
            assert "with `flask svc watch` as one more service" in done.stderr
        done = runner.invoke(args=["svc", "restore", str(tmp_path / "host/host.db")])
        assert (done.exit_code, done.stdout) == (2, "")
        assert "it restores only libraries without another app, by `svc` alone" in done.stderr


def test_help_and_wrong_usage_speak_of_the_commands_of_the_host(tmp_path):
    with open_host(tmp_path / "host") as app:
        runner = app.test_cli_runner()
        shown = {
            command: " ".join(runner.invoke(args=["svc", *command.split(), "--help"]).output.split())
            for command in ("", "trash restore", "users", "users logout", "show sizes", "db drop")
        }
        wrong = runner.invoke(args=["svc", "thumbs", "--sizes", "nosuch"])
    assert "an item of `flask svc trash ls`" in shown["trash restore"]
    assert "`flask svc auth rm ID` ends one" in shown["users logout"]
    assert "End all login sessions of an account; `flask svc" in shown["users"]
    assert "whether `flask svc thumbs` makes it" in shown["show sizes"]
    assert not re.search("`svc", "".join(shown.values()))
    assert wrong.exit_code == 2
    assert "`flask svc show sizes` lists them" in wrong.output


def test_the_library_is_dropped_from_the_database_of_a_host_whose_own_tables_stay(tmp_path):
    with open_host(tmp_path / "host") as app:
        database = tmp_path / "host/host.db"
        with sqlite3.connect(database) as own:
            own.executescript(
                "CREATE TABLE photos (id INTEGER PRIMARY KEY); INSERT INTO photos VALUES (7);"
                "CREATE TABLE photosvc_notes (id INTEGER REFERENCES photosvc_photos (id)); PRAGMA journal_mode=WAL;"
            )
            before = own.execute("SELECT count(*) FROM sqlite_master").fetchone()
        drop = ["svc", "db", "drop"]
        runner = app.test_cli_runner()
        assert runner.invoke(args=drop).exit_code == 2
        refused = runner.invoke(args=[*drop, "--yes"])
        assert (refused.exit_code, refused.stderr.splitlines()[-1]) == (
            1,
            "Error: Nothing is removed, as the app depends on the tables: table photosvc_notes. Remove that first.",
        )
        assert own.execute("SELECT count(*) FROM sqlite_master").fetchone() == before
        own.executescript("DROP TABLE photosvc_notes; CREATE TABLE photosvc_notes (id INTEGER)")
        done = runner.invoke(args=[*drop, "--yes"])
        assert (done.exit_code, done.stdout) == (0, ""), done.output
        assert "Left, as this version does not have these tables: photosvc_notes" in done.stderr
        names = own.execute("SELECT name FROM sqlite_master").fetchall()
        assert sorted(name for (name,) in names) == ["photos", "photosvc_notes", "sqlite_sequence"]
        assert own.execute("SELECT id FROM photos").fetchall() == [(7,)]
        own.close()
        with pytest.raises(SchemaError, match="yet: run `flask svc db upgrade`") as missing:
            app.service.search()
        assert str(missing.value) == missing.value.message
        answer = app.test_client().get("/media/api/v1/photos", headers={"X-Auth-Token": "0" * 48})
        assert (answer.status_code, "run `flask svc db upgrade`" in answer.text) == (503, True)
        assert runner.invoke(args=[*drop, "--yes"]).exit_code == 3
        assert sorted(path.name for path in (tmp_path / "host/originals").iterdir()) == sorted(NAMES)
        assert runner.invoke(args=["svc", "db", "upgrade"]).exit_code == 0


def pytest_fails():
    raise AssertionError


def test_svc_run_serves_the_instance_that_code_has_chosen(tmp_path, monkeypatch):
    environ, programs = {}, []
    app = create_app(instance=tmp_path / "chosen", environ={})
    monkeypatch.setattr(os, "environ", environ)
    monkeypatch.setattr(os, "execv", lambda _, command: programs.append(command))
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: None)
    done = app.test_cli_runner().invoke(args=["svc", "run", "--port", "18099"])
    assert done.exit_code == 0, done.output
    assert environ["PHOTOSVC_INSTANCE"] == str(tmp_path / "chosen")
    assert len(programs) == 1


def test_svc_run_refuses_an_app_whose_code_gives_settings_that_the_server_would_not_have(tmp_path):
    app = create_app(instance=tmp_path, environ={}, settings={"PHOTOSVC_SITE_NAME": "Ours"})
    done = app.test_cli_runner().invoke(args=["svc", "run"])
    assert done.exit_code == 2
    assert "without what the code of this one sets (PHOTOSVC_SITE_NAME)" in done.output


def test_the_command_reports_a_host_without_photosvc():
    done = CliRunner().invoke(svc, ["search"], obj=ScriptInfo(create_app=lambda: Flask("bare")))
    assert done.exit_code == 2
    assert "The app 'bare' has no PhotoService" in done.stderr


def test_messages_name_the_commands_as_they_are_called_there(tmp_path):
    with bare_host(tmp_path, "sqlite:///{}", None) as (app, _):
        done = app.test_cli_runner().invoke(args=["svc", "db", "current"])
        assert done.stderr == "Error: The database has no photosvc tables yet: run `flask svc db upgrade`.\n"
        searched = app.test_cli_runner().invoke(args=["svc", "status"])
        assert "run `flask svc db upgrade`" in searched.stderr
        rules = [rule.rule for rule in app.url_map.iter_rules() if rule.rule.endswith("/readyz")]
        answer = app.test_client().get(rules[0])
        assert answer.json["error"] == "The database has no photosvc tables yet: run `flask svc db upgrade`."
