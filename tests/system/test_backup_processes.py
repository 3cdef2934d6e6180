"""Backups and restores in processes: killed before any step, beside a service, and ended by a signal."""

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from photosvc.backup import restoring
from photosvc.backup.writing import BackupSource, write_backup
from photosvc.core.errors import SettingError
from photosvc.settings import load_settings
from tests.app.backup.conftest import _made_once, accounts, backed_up, make  # noqa: F401
from tests.app.backup.test_backup_hostile import COSTLY, with_database
from tests.app.backup.test_backup_making import NOW, left
from tests.app.backup.test_backup_restoring import ASIDE, names, restore
from tests.app.pictures.thumbnails import small_disk
from tests.helpers.clock import until
from tests.helpers.library import DATABASE, SVC, call_svc, hashes, open_library, svc
from tests.helpers.pictures import jpeg
from tests.helpers.programs.server import serve
from tests.system.killed_steps import is_killed_before

#: Events of Python that are steps of a backup or a restore.
STEPS = {
    "open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.chown", "sqlite3.connect",
    "shutil.rmtree",
}  # fmt: skip


def killed_backup(instance, target, number):
    """Tell whether a backup in a fork came to its n-th step on files, before which it is killed."""
    source = BackupSource(load_settings(instance), instance, instance / DATABASE, lambda: None)
    return is_killed_before(number, STEPS, lambda: write_backup(source, target, NOW))


def killed_restore(archive, instance, number):
    """Tell whether restoring in a fork came to its n-th step on files, before which it is killed."""
    return is_killed_before(number, STEPS, lambda: restore(archive, instance, replace=True))


def test_a_backup_while_the_service_serves_and_indexes_is_whole(tmp_path):
    library = make(tmp_path / "made", "alice")
    for number in range(20):
        library.put(f"{number}.jpg", jpeg(40 + number, 30))
    with serve(library.instance) as base, ThreadPoolExecutor(1) as pool:
        index = pool.submit(svc, "index", instance=library.instance)
        for number in range(2):
            assert subprocess.run(["curl", "-sf", f"{base}/api/v1/readyz"], check=True, capture_output=True).stdout
            done = svc("backup", str(tmp_path / f"{number}.zip"), "--verify", instance=library.instance)
            assert done.returncode == 0, done.stderr
        assert index.result().returncode == 0, index.result().stderr
        assert svc("index", instance=library.instance).stderr.count("failed") == 0
        done = svc("backup", str(tmp_path / "last.zip"), "--json", instance=library.instance)
    assert json.loads(done.stdout)["photos"] == 20


def test_killed_at_any_step_an_archive_is_whole_or_not_there_and_the_next_run_removes_the_rest(backed_up, tmp_path):  # noqa: F811
    number = whole = 0
    while True:
        number += 1
        (folder := tmp_path / f"archives{number}").mkdir()
        if not killed_backup(backed_up.instance, folder / "a.zip", number):
            break
        if (folder / "a.zip").exists():
            (room := tmp_path / f"room{number}").mkdir()
            assert restoring.check(folder / "a.zip", room).accounts == 1
            whole += 1
        for path in folder.glob(".photosvc-backup-*"):
            os.utime(path, (0, 0))  # a folder without a lock may belong to a process that is about to lock it
        assert not killed_backup(backed_up.instance, folder / "b.zip", 10**6)
        assert left(folder) == []
    assert number > 10
    assert whole >= 1


def test_killed_at_any_step_the_library_is_the_old_one_or_says_that_the_restore_is_to_be_finished(backed_up, tmp_path):  # noqa: F811
    made = make(tmp_path / "template", "bob").instance
    seen, number = set(), 0
    while True:
        number += 1
        other = tmp_path / f"{number}"
        os.system(f"cp -r {made} {other}")
        if not killed_restore(backed_up.archive, other, number):
            break
        if (other / ".restore" / "moves.json").exists():
            with pytest.raises(SettingError, match="was not finished: run the same `svc restore` again"):
                open_library(other, upgrade=False)
            seen.add("to be finished")
        else:
            seen.add(*accounts(other))
        restore(backed_up.archive, other, replace=True)
        assert accounts(other) == ["alice"]
        kept = [accounts(folder) for folder in sorted(other.glob("before-restore-*"))]
        assert ["bob"] in kept or ["alice"] in kept
        assert any(b"bob" in path.read_bytes() for path in other.rglob("*.db"))
        assert names(other) & {".restore", ".photosvc-restore.db"} == set()
    assert seen == {"bob", "to be finished", "alice"}
    assert number > 40


@pytest.mark.parametrize("is_killed_first", [False, True])
def test_a_library_of_which_a_part_cannot_be_moved_stays_as_it_was(backed_up, tmp_path, is_killed_first):  # noqa: F811
    other = make(tmp_path / "other", "bob").instance
    (other / "config.py").write_text("PHOTOSVC_SITE_NAME = 'theirs'\n")
    before, number = hashes(other), 1
    while is_killed_first and not (other / ".restore" / "moves.json").exists():
        number += 1
        killed_restore(backed_up.archive, other, number)
    with small_disk.mounted(other / "templates", 1):  # as a volume of a container
        with pytest.raises(OSError, match="busy"):
            restore(backed_up.archive, other, replace=True)
        assert {name: found for name, found in hashes(other).items() if b"restore" not in name} == before
        assert names(other) & {".restore", ".photosvc-restore.db", ASIDE} == set()
        assert accounts(other) == ["bob"]
    (other / "templates").rmdir()
    restore(backed_up.archive, other, replace=True)
    assert accounts(other) == ["alice"]


def test_another_archive_is_restored_after_one_that_was_not_finished(backed_up, tmp_path):  # noqa: F811
    other = make(tmp_path / "other", "bob").instance
    carol = make(tmp_path / "third", "carol").instance
    assert call_svc("backup", str(tmp_path / "carol.zip"), instance=carol).returncode == 0
    number = 1
    while not (other / ".restore" / "moves.json").exists():
        number += 1
        killed_restore(tmp_path / "carol.zip", other, number)
    refused = svc("restore", str(backed_up.archive), instance=other)
    assert refused.returncode == 2
    assert accounts(other) == ["carol"]  # that one is finished first
    restore(backed_up.archive, other, replace=True)
    assert accounts(other) == ["alice"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 1)])
def test_a_signal_ends_the_check_of_a_strange_database(backed_up, tmp_path, number, code):  # noqa: F811
    with_database(backed_up, COSTLY)
    environ = {**os.environ, "PHOTOSVC_INSTANCE": str(tmp_path / "new")}
    process = subprocess.Popen([SVC, "restore", backed_up.archive], env=environ, stderr=subprocess.PIPE, text=True)
    staged = tmp_path / "new" / ".photosvc-restore.db"
    until(lambda: staged.exists() and staged.stat().st_size)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(number)
    assert process.wait(10) == code, process.stderr.read()
    process.stderr.close()
    assert names(tmp_path / "new") == set()
