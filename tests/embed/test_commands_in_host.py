"""`flask svc …` inside a host app: on the host's database, by the runner of its tests too, and never on another one."""

import json
import os
import subprocess

from click.testing import CliRunner
from flask import Flask
from flask.cli import ScriptInfo

from photosvc.app import create_app
from photosvc.cli import svc
from tests.embed.host import NAMES, open_host


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


def test_svc_run_refuses_to_serve_a_host_and_makes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "execv", lambda *_: pytest_fails())
    with open_host(tmp_path / "host") as app:
        before = sorted((tmp_path / "host").iterdir())
        done = app.test_cli_runner().invoke(args=["svc", "run"])
        assert done.exit_code == 2
        assert "`svc run` serves photosvc alone, and the app 'host' contains more" in done.output
        assert sorted((tmp_path / "host").iterdir()) == before


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


def test_a_host_without_photosvc_is_told_so_by_the_command():
    done = CliRunner().invoke(svc, ["search"], obj=ScriptInfo(create_app=lambda: Flask("bare")))
    assert done.exit_code == 2
    assert "The app 'bare' has no PhotoService" in done.stderr
