"""`svc restore`: a library on another machine, one that makes way, and what is refused before anything changes."""

import json
import os
import signal
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.cli import ScriptInfo

from photosvc.backup import restoring, writing
from photosvc.cli import svc as commands
from photosvc.core.errors import ConflictError, PhotosvcError, SettingError
from photosvc.models.base import SCHEMA_VERSION
from photosvc.settings.instance import require_finished
from tests.app.backup.conftest import accounts, make
from tests.app.pictures.thumbnails import small_disk
from tests.helpers.library import DATABASE, call_svc, hashes, open_library, svc

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
ASIDE = "before-restore-20260301-123000"


def restore(archive, instance, *, replace=False, environ=()):
    return restoring.restore(archive, instance, dict(environ), NOW, replace=replace)


def names(folder):
    return {path.name for path in folder.iterdir()} - {"restore.lock"}


def test_on_another_machine_the_library_is_there_with_its_keys_and_configuration(backed_up, tmp_path):
    new = tmp_path / "deep" / "new"
    done = svc("restore", str(backed_up.archive), "--json", instance=new)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accounts"] == 1
    assert done.stderr.startswith(f"Restored into {new}.\n")
    assert "The former files" not in done.stderr
    assert names(new) == {DATABASE, "config.py", "secret_key"}
    assert (new / "secret_key").read_text() == backed_up.key()
    modes = {path.stat().st_mode & 0o777 for path in (new / DATABASE, new / "config.py", new / "secret_key")}
    assert (modes, new.stat().st_mode & 0o777) == ({0o600}, 0o700)
    assert svc("users", "ls", "--json", instance=new).stdout.count("alice") == 1
    kids = [call_svc("keys", "ls", "--json", instance=folder).stdout for folder in (backed_up.instance, new)]
    assert kids[0] == kids[1] != "[]\n"
    assert "ours" in svc("show", "config", "--csv", instance=new).stdout


def test_pages_of_the_operator_are_restored(backed_up, tmp_path):
    page = Path("templates/photosvc/layout.html")
    for folder in (backed_up.instance, tmp_path / "other"):
        (folder / page).parent.mkdir(parents=True)
        (folder / page).write_text(f"a page of {folder.name}")
    assert call_svc("backup", str(tmp_path / "b.zip"), instance=backed_up.instance).returncode == 0
    restore(tmp_path / "b.zip", tmp_path / "other", replace=True)
    assert (tmp_path / "other" / page).read_text() == "a page of made"
    assert (tmp_path / "other" / ASIDE / page).read_text() == "a page of other"


def test_machines_that_share_database_and_service_key_have_the_same_signing_keys(tmp_path, empty_postgres):
    settings = {"PHOTOSVC_SECRET_KEY": "k" * 32, "PHOTOSVC_DATABASE_URI": empty_postgres()}
    apps = [open_library(tmp_path / name, settings=settings) for name in ("one", "two")]

    def published():
        found = [library.app.test_client().get("/.well-known/jwks.json").json["keys"] for library in apps]
        assert found[0] == found[1]
        return len(found[0])

    assert published() == 1
    assert call_svc("keys", "rotate", instance=tmp_path / "one", environ=settings).returncode == 0
    assert published() == 2
    for library in apps:
        assert library.app.test_client().get("/api/v1/readyz").status_code == 200
        library.close()


def test_a_library_that_is_there_makes_way_only_when_told_and_is_kept_aside(backed_up, tmp_path):
    other = make(tmp_path / "other", "bob").instance
    (other / "photos_folder").write_text("/srv/photos")
    before = hashes(other)
    done = svc("restore", str(backed_up.archive), instance=other)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"There is a library already ({other}/photos_folder, {other}/secret_key, " in done.stderr
    assert {name: found for name, found in hashes(other).items() if b"restore" not in name} == before
    assert (other / ".restore").exists() is False
    restored = restore(backed_up.archive, other, replace=True)
    assert restored.aside == [other / ASIDE]
    assert accounts(other) == ["alice"]
    assert names(other / ASIDE) >= {DATABASE, "secret_key", "photos_folder"}
    assert not (other / "photos_folder").exists()
    assert accounts(other / ASIDE) == ["bob"]


def test_what_the_former_database_had_in_its_log_goes_aside_with_it(backed_up, tmp_path):
    other = make(tmp_path / "other", "bob").instance
    process = os.fork()
    if process == 0:  # it ends without closing the database: the last account is in the log alone
        connection = sqlite3.connect(other / DATABASE)
        connection.execute("UPDATE photosvc_users SET name = 'carol'")
        connection.commit()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(process, 0)
    assert (other / f"{DATABASE}-wal").stat().st_size
    restore(backed_up.archive, other, replace=True)
    assert accounts(other) == ["alice"]
    assert accounts(other / ASIDE) == ["carol"]


def test_a_damaged_library_can_be_replaced(backed_up, tmp_path):
    other = make(tmp_path / "other", "bob").instance
    (other / DATABASE).write_bytes(b"damage" * 5000)
    (other / "config.py").write_text("this is no Python")
    (other / "secret_key").write_text("")
    restore(backed_up.archive, other, replace=True)
    assert accounts(other) == ["alice"]


def test_a_database_that_a_process_has_open_is_not_replaced(backed_up, tmp_path):
    other = make(tmp_path / "other", "bob").instance
    with closing(sqlite3.connect(other / DATABASE)) as connection:
        assert connection.execute("SELECT name FROM photosvc_users").fetchall() == [("bob",)]
        done = svc("restore", str(backed_up.archive), "--replace", instance=other)
        assert (done.returncode, done.stdout) == (1, "")
        assert "A process uses the database: first stop the service" in done.stderr
    assert accounts(other) == ["bob"]
    assert svc("restore", str(backed_up.archive), "--replace", instance=other).returncode == 0


def test_a_database_elsewhere_is_restored_where_the_settings_say(backed_up, tmp_path):
    place = tmp_path / "data" / "library.db"
    environ = {"PHOTOSVC_DATABASE_URI": f"sqlite:///{place}"}
    restore(backed_up.archive, tmp_path / "new", environ=environ)
    assert not (tmp_path / "new" / DATABASE).exists()
    assert accounts(tmp_path / "new", PHOTOSVC_DATABASE_URI=f"sqlite:///{place}") == ["alice"]
    assert names(place.parent) == {"library.db"}


def test_a_database_beside_the_configuration_is_restored_there(backed_up, tmp_path):
    text = "from pathlib import Path\nPHOTOSVC_DATABASE_URI = f'sqlite:///{Path(__file__).parent}/mine.db'\n"
    (backed_up.instance / DATABASE).rename(backed_up.instance / "mine.db")
    (backed_up.instance / "config.py").write_text(text)
    assert call_svc("backup", str(tmp_path / "mine.zip"), instance=backed_up.instance).returncode == 0
    restore(tmp_path / "mine.zip", tmp_path / "new")
    assert "mine.db" in names(tmp_path / "new")
    assert accounts(tmp_path / "new") == ["alice"]


def test_without_its_key_the_library_is_restored_and_says_which_key_it_needs(tmp_path):
    key = {"PHOTOSVC_SECRET_KEY": "k" * 32}
    library = make(tmp_path / "made", "alice", **key)
    done = call_svc("backup", str(tmp_path / "a.zip"), instance=library.instance, environ=key)
    assert done.returncode == 0, done.stderr
    done = svc("restore", str(tmp_path / "a.zip"), instance=tmp_path / "new")
    assert done.returncode == 0, done.stderr
    assert "The service key here is not that of the backup: set PHOTOSVC_SECRET_KEY" in done.stderr
    refused = svc("users", "ls", instance=tmp_path / "new")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert svc("users", "ls", instance=tmp_path / "new", environ=key).returncode == 0


def test_settings_of_the_environment_that_differ_are_told(backed_up, tmp_path):
    environ = {"PHOTOSVC_ORIGINALS": "/srv/pictures", "PHOTOSVC_TRASH_DAYS": "7"}
    archive = tmp_path / "b.zip"
    assert call_svc("backup", str(archive), instance=backed_up.instance, environ=environ).returncode == 0
    done = svc("restore", str(archive), instance=tmp_path / "new", environ={"PHOTOSVC_TRASH_DAYS": "7"})
    assert "When it was made, PHOTOSVC_ORIGINALS was /srv/pictures." in done.stderr
    assert "PHOTOSVC_TRASH_DAYS" not in done.stderr


@pytest.mark.parametrize(("schema", "advice"), [("0000", "run `svc db upgrade`"), ("9999", "upgrade photosvc")])
def test_another_schema_is_told_with_what_to_do(backed_up, tmp_path, schema, advice):
    with closing(sqlite3.connect(backed_up.instance / DATABASE)) as connection, connection:
        connection.execute("UPDATE photosvc_schema SET version_num = ?", (schema,))
    assert call_svc("backup", str(tmp_path / "b.zip"), instance=backed_up.instance).returncode == 0
    done = svc("restore", str(tmp_path / "b.zip"), instance=tmp_path / "new")
    assert f"It has schema {schema}, " in done.stderr
    assert SCHEMA_VERSION in done.stderr
    assert advice in done.stderr


def test_the_configuration_in_an_archive_does_not_run(backed_up, tmp_path):
    mark = tmp_path / "mark"
    (backed_up.instance / "config.py").write_text(f"import os\nos.makedirs({str(mark)!r}, exist_ok=True)")
    archive = tmp_path / "program.zip"
    assert call_svc("backup", str(archive), instance=backed_up.instance).returncode == 0
    mark.rmdir()
    other = make(tmp_path / "other", "bob").instance
    assert svc("restore", str(archive), instance=other).returncode == 2
    environ = {"PHOTOSVC_DATABASE_URI": "postgresql+psycopg://localhost/none"}
    assert svc("restore", str(archive), instance=tmp_path / "new", environ=environ).returncode == 2
    done = svc("restore", "--replace", str(archive), instance=other)
    assert (done.returncode, "The service key here is not" in done.stderr, mark.exists()) == (0, False, False)
    assert accounts(other) == ["alice"]


@pytest.mark.parametrize("place", ["/data/library.db", "../library.db", "a/../../b.db", ".hidden", "config.py", "a\nb"])
def test_a_database_that_was_elsewhere_needs_an_address_in_the_environment(backed_up, tmp_path, monkeypatch, place):
    monkeypatch.setattr(writing, "_place", lambda _: place)
    archive = tmp_path / "elsewhere.zip"
    assert call_svc("backup", str(archive), instance=backed_up.instance).returncode == 0
    with pytest.raises(ConflictError, match="PHOTOSVC_DATABASE_URI=sqlite:///"):
        restore(archive, tmp_path / "new", replace=True)
    assert names(tmp_path / "new") == set()
    environ = {"PHOTOSVC_DATABASE_URI": f"sqlite:///{tmp_path}/mine.db"}
    restore(archive, tmp_path / "new", environ=environ)
    assert accounts(tmp_path / "new", **environ) == ["alice"]


def test_another_kind_of_database_is_refused(backed_up, tmp_path):
    environ = {"PHOTOSVC_DATABASE_URI": "postgresql+psycopg://localhost/none"}
    done = svc("restore", str(backed_up.archive), instance=tmp_path / "new", environ=environ)
    assert done.returncode == 2
    assert "The backup is of sqlite, and PHOTOSVC_DATABASE_URI names another kind" in done.stderr
    assert names(tmp_path / "new") == set()


def test_inside_another_app_it_is_refused(backed_up, library):
    info = ScriptInfo(create_app=lambda: library.app)
    done = CliRunner().invoke(commands, ["restore", str(backed_up.archive)], obj=info)
    assert done.exit_code == 2
    assert "restores only libraries without another app" in done.output


def test_a_dry_run_changes_nothing(backed_up, tmp_path):
    done = svc("restore", "--dry-run", "--json", str(backed_up.archive), instance=tmp_path / "new")
    assert (done.returncode, json.loads(done.stdout)["verified"]) == (0, True)
    assert not (tmp_path / "new").exists()


def test_a_disk_without_room_is_told_before_anything_is_written(backed_up, tmp_path):
    with small_disk.mounted(tmp_path / "disk", 4) as disk:
        done = svc("restore", str(backed_up.archive), instance=disk)
        assert done.returncode == 1
        assert f" MiB in {disk}, which has " in done.stderr
        assert names(disk) == set()
        with pytest.raises(PhotosvcError, match="The backup needs "):
            restoring.check(backed_up.archive, disk)


def fill(file):
    with suppress(OSError), file.open("wb", buffering=0) as opened:
        while True:
            opened.write(bytes(1 << 12))


def test_a_disk_that_is_full_meanwhile_leaves_the_library_as_it_was(backed_up, tmp_path, monkeypatch):
    monkeypatch.setattr(restoring, "require_room", lambda *_: None)
    with small_disk.mounted(tmp_path / "disk", 4) as disk:
        make(disk / "i", "bob")
        before = hashes(disk / "i")
        fill(disk / "filler")
        with pytest.raises(OSError, match="No space left"):
            restore(backed_up.archive, disk / "i", replace=True)
        (disk / "filler").unlink()
        assert {name: found for name, found in hashes(disk / "i").items() if b"restore" not in name} == before
        assert accounts(disk / "i") == ["bob"]


def test_what_two_restores_of_one_second_replace_is_kept_aside_in_two_folders(backed_up, tmp_path):
    other = make(tmp_path / "other", "bob").instance
    for text in ("first", "second"):
        (other / "photos_folder").write_text(text * 10)
        restore(backed_up.archive, other, replace=True)
        assert not (other / "photos_folder").exists()
    kept = [(folder / "photos_folder").read_text() for folder in sorted(other.glob("before-restore-*"))]
    assert kept == ["first" * 10, "second" * 10]


def test_a_list_of_moves_that_nobody_can_read_stops_everything(backed_up, tmp_path):
    (tmp_path / "new" / ".restore").mkdir(parents=True)
    (tmp_path / "new" / ".restore" / "moves.json").write_text("[")
    with pytest.raises(SettingError, match="cannot be read"):
        restore(backed_up.archive, tmp_path / "new")
    with pytest.raises(SettingError):
        require_finished(tmp_path / "new")
