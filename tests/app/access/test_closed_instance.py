"""Files in the instance folder are closed to other accounts of the machine; a damaged database is one sentence."""

import os
import stat

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from photosvc.app import create_app
from photosvc.cli import svc
from photosvc.models import schema
from photosvc.web.service import current_service
from tests.helpers.library import database_of_models


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def opened(instance, **settings):
    app = create_app(instance=instance, environ={}, settings=settings)
    with app.app_context():
        schema.upgrade(current_service().engine())
        app.test_client().get("/api/v1/status")
    return app


@pytest.fixture
def permissive():
    """The usual umask, by which new files can be read by everybody."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_new_instance_is_closed_to_other_accounts_and_an_open_one_at_the_start(tmp_path, permissive):
    instance = tmp_path / "instance"
    opened(instance)
    assert mode(instance) == 0o700
    files = [path for path in instance.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"photosvc.db", "photosvc.db-wal", "photosvc.db-shm", "secret_key"}
    assert {path.name: mode(path) for path in files if mode(path) & 0o077} == {}
    for name, rights in {"": 0o755, "photosvc.db": 0o664, "secret_key": 0o640, "config.py": 0o644}.items():
        (instance / name).touch()
        (instance / name).chmod(rights)
    opened(instance)
    assert [mode(instance / name) for name in ("", "photosvc.db", "secret_key", "config.py")] == [0o700, *[0o600] * 3]


def test_a_database_elsewhere_is_closed_too(tmp_path, permissive):
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "library.db"
    address = f"sqlite:///{file}"
    opened(tmp_path / "instance", PHOTOSVC_DATABASE_URI=address)
    assert {path.name: mode(path) for path in (tmp_path / "data").iterdir() if mode(path) & 0o077} == {}
    file.chmod(0o644)
    opened(tmp_path / "instance", PHOTOSVC_DATABASE_URI=address)
    assert mode(file) == 0o600


def test_a_web_server_that_sends_files_may_pass_through_the_folder(tmp_path, permissive):
    tmp_path.chmod(0o755)
    opened(tmp_path, PHOTOSVC_SENDFILE_HEADER="X-Accel-Redirect")
    assert mode(tmp_path) == 0o711


@pytest.mark.parametrize("damage", ["no database", "broken page"])
def test_a_damaged_database_is_one_sentence(tmp_path, damage, caplog):
    content, path = database_of_models(), tmp_path / "photosvc.db"
    path.write_bytes(os.urandom(8192) if damage == "no database" else content[:4096] + os.urandom(len(content) - 4096))
    app = create_app(instance=tmp_path, environ={})
    done = CliRunner().invoke(svc, ["users", "ls"], obj=lambda: app)
    assert done.exit_code == 1
    assert done.stderr == (
        f"Error: The database {path} cannot be used: its file is damaged or no database; "
        "restore a backup of photosvc.db, or move it away and index again.\n"
    )
    answer = app.test_client().get("/api/v1/status")
    assert (answer.status_code, answer.json["error"]) == (503, "The database is damaged; the operator must restore it.")
    assert "Traceback" not in caplog.text


def test_errors_of_the_database_do_not_name_values(library):
    with library.app.app_context(), current_service().engine().connect() as connection:
        with pytest.raises(Exception, match="no such table") as raised:
            connection.execute(text("SELECT * FROM nowhere WHERE secret = :secret"), {"secret": "open sesame"})
        assert "open sesame" not in str(raised.value)
