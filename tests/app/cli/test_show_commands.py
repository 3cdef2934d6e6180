"""What `svc show` tells, and what it keeps to itself."""

import json

from click.testing import CliRunner

from photosvc.auth.policy import policy_table
from photosvc.cli.show import show
from photosvc.web.contract import mounted_actions
from tests.helpers.library import call_svc, open_library


def test_a_database_password_is_masked_wherever_the_address_has_it(tmp_path):
    for address in ("postgresql://u:hunter2@localhost/d", "postgresql://u@localhost/d?password=hunter2"):
        shown = call_svc("show", "config", "--json", instance=tmp_path, environ={"PHOTOSVC_DATABASE_URI": address})
        assert "hunter2" not in shown.stdout + shown.stderr
        assert "localhost" in shown.stdout


def test_a_hosts_own_configuration_file_is_left_alone(tmp_path):
    from flask import Flask
    from flask_sqlalchemy import SQLAlchemy

    from photosvc.extension import PhotoService

    (tmp_path / "config.py").write_text("SECRET_KEY = 'of the host'\nPHOTOSVC_ORIGINALS = 'pictures'\n")
    host = Flask("host", instance_path=str(tmp_path), instance_relative_config=True)
    host.config.from_pyfile("config.py")
    host.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    PhotoService(host, db=SQLAlchemy(host))
    settings = host.extensions["photosvc"].settings
    assert settings.origins["originals"] == "app"


def test_formats_are_shown_with_their_extra_and_unread_ones_with_the_reason(monkeypatch):
    monkeypatch.setattr("photosvc.cli.show.has_extra", lambda extra: extra != "jxl")
    rows = json.loads(CliRunner().invoke(show, ["formats", "--json"]).output)
    by_extension = {extension: row for row in rows for extension in row["extensions"].split()}
    assert by_extension["insp"] == {
        "format": "jpg", "extensions": "jpg jpeg jpe jfif jif thm mpo insp", "kind": "image", "extra": "",
        "supported": True, "note": "",
    }  # fmt: skip
    assert (by_extension["jxl"]["extra"], by_extension["jxl"]["supported"]) == ("jxl", False)
    assert (by_extension["svg"]["extra"], by_extension["svg"]["supported"]) == ("vips", True)
    assert by_extension["psb"]["note"] == (
        "its merged picture, of 1 to 16 bits; not in mode Multichannel, nor saved without it"
    )
    assert by_extension["psb"]["supported"]
    assert by_extension["raf"]["note"] == (
        "metadata and preview tested with generated files; development by LibRaw untested"
    )


def test_the_policy_is_shown_as_the_table_of_the_rules_with_the_mounted_actions(tmp_path):
    app = open_library(tmp_path / "instance", upgrade=False).app
    rows = json.loads(CliRunner().invoke(show, ["policy", "--json"], obj=lambda: app).output)
    with app.app_context():
        assert rows == policy_table(mounted_actions())
    assert {row["action"]: row["roles"] for row in rows}["users.list"] == "admin"
