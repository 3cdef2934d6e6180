"""`svc backup`: what is in the archive, while others write and when the disk is full."""

import json
import os
import re
import sqlite3
import threading
import zipfile
from contextlib import closing
from datetime import UTC, datetime

import pytest

from photosvc import __version__
from photosvc.auth.service_key import fingerprint
from photosvc.backup import restoring, snapshot, writing
from photosvc.backup.archive import instance_files
from photosvc.backup.writing import BackupSource, archive_name, workspace, write_backup
from photosvc.core.errors import ConflictError
from photosvc.models.base import SCHEMA_VERSION
from photosvc.settings import load_settings
from tests.app.backup.conftest import make
from tests.app.pictures.thumbnails import small_disk
from tests.helpers.library import DATABASE, call_svc, svc

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def content(archive, name):
    with zipfile.ZipFile(archive) as opened:
        return opened.read(name)


def left(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_an_archive_has_database_keys_and_configuration_and_only_its_owner_may_read_it(backed_up):
    with zipfile.ZipFile(backed_up.archive) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    assert names == [
        "instance/config.py", "instance/secret_key", "database.sqlite", "manifest.json",
    ]  # fmt: skip
    manifest = json.loads(content(backed_up.archive, "manifest.json"))
    assert (manifest["format"], manifest["version"], manifest["photosvc"]) == ("photosvc backup", 1, __version__)
    assert (manifest["database"], manifest["schema"]) == ("sqlite", SCHEMA_VERSION)
    assert (manifest["photos"], manifest["accounts"], len(manifest["key"])) == (0, 1, 16)
    assert [member["name"] for member in manifest["members"]] == names[:-1]
    assert content(backed_up.archive, "instance/secret_key").decode() == backed_up.key()
    assert content(backed_up.archive, "instance/config.py") == b"PHOTOSVC_SITE_NAME = 'ours'\n"
    assert backed_up.archive.stat().st_mode & 0o777 == 0o600
    assert left(backed_up.archive.parent) == []


def test_in_a_folder_archives_are_named_by_their_time(backed_up, tmp_path):
    (folder := tmp_path / "archives").mkdir()
    done = call_svc("backup", str(folder), "--verify", "--json", instance=backed_up.instance)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    (archive,) = folder.iterdir()
    assert re.fullmatch(r"photosvc-\d{8}-\d{6}\.zip", archive.name)
    assert (shown["archive"], shown["size"]) == (str(archive), archive.stat().st_size)
    assert (shown["key_included"], shown["verified"]) == (True, True)
    assert archive_name(NOW) == "photosvc-20260301-123000.zip"


def test_an_archive_never_replaces_a_file(backed_up):
    before = backed_up.archive.read_bytes()
    done = call_svc("backup", str(backed_up.archive), instance=backed_up.instance)
    assert (done.returncode, done.stderr) == (1, f"Error: {backed_up.archive} exists already; give another name.\n")
    assert backed_up.archive.read_bytes() == before


def test_a_file_that_appears_meanwhile_is_kept(backed_up, tmp_path, monkeypatch):
    target = tmp_path / "new.zip"
    list_files = writing.instance_files

    def appear(instance):
        target.write_text("of another")
        return list_files(instance)

    monkeypatch.setattr(writing, "instance_files", appear)
    source = BackupSource(
        load_settings(backed_up.instance), backed_up.instance, backed_up.instance / DATABASE, lambda: None
    )
    with pytest.raises(ConflictError, match="exists already; give another name"):
        write_backup(source, target, NOW)
    assert target.read_text() == "of another"
    assert left(tmp_path) == []


def test_what_is_missing_is_said_in_a_sentence(backed_up, tmp_path):
    done = call_svc("backup", str(tmp_path / "none" / "a.zip"), instance=backed_up.instance)
    wanted = f"Error: There is no folder {tmp_path}/none: make it, or name another one.\n"
    assert (done.returncode, done.stderr) == (3, wanted)
    done = call_svc("backup", str(tmp_path / "archives"), instance=backed_up.instance)
    wanted = f"Error: There is no folder {tmp_path}/archives: make it, or give a name that ends with .zip.\n"
    assert (done.returncode, done.stderr) == (3, wanted)
    assert not (tmp_path / "archives").exists()
    (tmp_path / "empty").mkdir()
    done = call_svc("backup", str(tmp_path / "a.zip"), instance=tmp_path / "empty")
    assert done.returncode == 1
    assert "There is no database at" in done.stderr
    assert not (tmp_path / "a.zip").exists()
    assert left(tmp_path) == []


def test_a_key_that_is_a_setting_is_not_in_it_and_that_is_said(tmp_path):
    library = make(tmp_path / "made", "alice", PHOTOSVC_SECRET_KEY="k" * 32)
    environ = {"PHOTOSVC_SECRET_KEY": "k" * 32, "PHOTOSVC_SITE_NAME": "outer"}
    done = call_svc("backup", str(tmp_path / "a.zip"), instance=library.instance, environ=environ)
    assert done.returncode == 0, done.stderr
    assert "The service key is not in it: keep PHOTOSVC_SECRET_KEY (environment) as well." in done.stderr
    assert json.loads(content(tmp_path / "a.zip", "manifest.json"))["settings"] == {"PHOTOSVC_SITE_NAME": "outer"}
    assert b"k" * 32 not in (tmp_path / "a.zip").read_bytes()


def test_a_library_whose_schema_is_old_or_whose_key_is_lost_can_be_backed_up(backed_up, tmp_path):
    with closing(sqlite3.connect(backed_up.instance / DATABASE)) as connection, connection:
        connection.execute("UPDATE photosvc_schema SET version_num = '0020'")
    (backed_up.instance / "secret_key").write_text("x" * 64)
    done = call_svc("backup", str(tmp_path / "b.zip"), "--json", instance=backed_up.instance)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == "0020"


def test_a_copy_has_one_moment_although_others_write_all_the_time(tmp_path, monkeypatch):
    instance = make(tmp_path / "made", "alice").instance
    done, copied = threading.Event(), 0

    def write():
        with closing(sqlite3.connect(instance / DATABASE, timeout=20)) as connection:
            number = 0
            while not done.is_set():
                number += 1
                with connection:
                    for name in ("one", "two"):
                        connection.execute("REPLACE INTO photosvc_library VALUES (?, ?)", (name, number))

    def count():
        nonlocal copied
        copied += 1

    monkeypatch.setattr(snapshot, "_PAGES", 1)
    writer = threading.Thread(target=write)
    writer.start()
    try:
        with snapshot.snapshot(instance / DATABASE) as connection:
            ((pages,),) = connection.execute("PRAGMA page_count")
            snapshot.copy(connection, tmp_path / "copy.db", progress=count)
    finally:
        done.set()
        writer.join()
    assert snapshot.check(tmp_path / "copy.db", thoroughly=True).accounts == 1
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        found = connection.execute("SELECT value FROM photosvc_library WHERE name IN ('one', 'two')").fetchall()
    assert len({value for (value,) in found}) <= 1
    assert copied <= pages + 1  # it has not begun again


@pytest.mark.parametrize("share", [0, 0.5, 1.02], ids=["at once", "in the copy", "in the archive"])
def test_on_a_full_disk_nothing_is_left_and_the_library_goes_on(backed_up, tmp_path, share):
    free = int((backed_up.instance / DATABASE).stat().st_size * share)
    with small_disk.mounted(tmp_path / "disk", 8) as disk:
        with (disk / "filler").open("wb") as file:
            file.write(bytes((8 << 20) - free))
        done = call_svc("backup", str(disk / "a.zip"), instance=backed_up.instance)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("Error: No space left on device")
        assert [path.name for path in disk.iterdir()] == ["filler"]
    assert call_svc("users", "ls", instance=backed_up.instance).returncode == 0


def test_a_backup_that_is_ended_by_a_signal_leaves_nothing(backed_up, tmp_path):
    code = (
        "import os, signal, sys\n"
        "from photosvc.backup import writing\n"
        "writing.copy = lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM)\n"
        "from photosvc.main import main\n"
        f"sys.argv = ['svc', 'backup', {str(tmp_path / 'b.zip')!r}]\n"
        "main()\n"
    )
    process = os.fork()
    if process == 0:
        try:
            os.environ["PHOTOSVC_INSTANCE"] = str(backed_up.instance)
            exec(code, {})
        except SystemExit as end:
            os._exit(int(str(end.code)))
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 128 + 15
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive.zip", "made"]


def test_the_folder_of_a_backup_that_is_being_made_is_left_alone(tmp_path):
    with workspace(tmp_path) as one, workspace(tmp_path) as other:
        assert one.exists()
        assert other.exists()
    assert left(tmp_path) == []


def test_verifying_finds_a_database_that_was_damaged_before(backed_up, tmp_path):
    file = backed_up.instance / DATABASE
    with closing(sqlite3.connect(file)) as connection:
        ((page,),) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'photosvc_users' LIMIT 1"
        )
        ((size,),) = connection.execute("PRAGMA page_size")
    with file.open("r+b") as opened:
        opened.seek((page - 1) * size)
        opened.write(b"damage" * 100)
    done = call_svc("backup", str(tmp_path / "b.zip"), "--verify", instance=backed_up.instance)
    assert (done.returncode, done.stdout) == (1, "")
    assert "The database in the backup is damaged: " in done.stderr


def test_a_database_that_cannot_be_read_is_told_in_a_sentence(backed_up, tmp_path):
    (backed_up.instance / DATABASE).write_bytes(b"no database" * 1000)
    done = call_svc("backup", str(tmp_path / "b.zip"), instance=backed_up.instance)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(" cannot be read: file is not a database.\n")


def test_a_backup_during_a_replacement_of_the_key_has_the_key_that_it_needs(backed_up, tmp_path, monkeypatch):
    instance, before = backed_up.instance, backed_up.key()

    def rotate_between(folder):
        assert call_svc("keys", "rotate", "--service", instance=instance).returncode == 0
        return instance_files(folder)

    monkeypatch.setattr(writing, "instance_files", rotate_between)
    assert call_svc("backup", str(tmp_path / "b.zip"), instance=instance).returncode == 0
    assert content(tmp_path / "b.zip", "instance/secret_key").decode().split()[1:] == [before]
    assert json.loads(content(tmp_path / "b.zip", "manifest.json"))["key"] == f"{fingerprint(before):016x}"
    monkeypatch.undo()
    assert svc("restore", str(tmp_path / "b.zip"), instance=tmp_path / "new").returncode == 0
    assert (tmp_path / "new" / "secret_key").exists()


def test_a_dry_run_of_the_restore_checks_an_archive(backed_up, tmp_path):
    (tmp_path / "room").mkdir()
    assert restoring.check(backed_up.archive, tmp_path / "room").accounts == 1
