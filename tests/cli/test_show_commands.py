"""What `svc show` tells, and what it keeps to itself."""

from tests.library import svc


def test_a_database_password_is_masked_wherever_the_address_has_it(tmp_path):
    for address in ("postgresql://u:hunter2@localhost/d", "postgresql://u@localhost/d?password=hunter2"):
        shown = svc("show", "config", "--json", instance=tmp_path, environ={"PHOTOSVC_DATABASE_URI": address})
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
