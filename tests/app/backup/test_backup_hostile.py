"""Archives that somebody else made: paths out, links, bombs, lies; nothing is written but below the staging folder."""

import json
import os
import random
import resource
import sqlite3
import stat
import struct
import zipfile
from contextlib import closing
from hashlib import sha256

import pytest

from photosvc.backup import snapshot
from photosvc.backup.archive import NotABackupError
from photosvc.core.errors import PhotosvcError
from tests.app.backup.test_backup_restoring import names, restore
from tests.app.pictures.thumbnails import small_disk
from tests.helpers.library import svc


def read(archive):
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def write(archive, files, *, manifest=None, entries=(), compression=zipfile.ZIP_DEFLATED):
    """An archive of these files whose manifest names them rightly, but for what `manifest` changes."""
    found = json.loads(files.pop("manifest.json"))
    found["members"] = [
        {"name": name, "size": len(data), "sha256": sha256(data).hexdigest()} for name, data in files.items()
    ]
    if manifest:
        found = manifest(found)
    archive.unlink()
    with zipfile.ZipFile(archive, "w", compression) as opened:
        for name, data in files.items():
            opened.writestr(name, data)
        opened.writestr("manifest.json", found if isinstance(found, bytes | str) else json.dumps(found))
        for info, data in entries:
            opened.writestr(info, data)


def refused(backed_up, tmp_path):
    """Restore; gives the sentence of the refusal and makes sure that nothing came of it."""
    before = {path for path in tmp_path.rglob("*") if "new" not in path.parts}
    with pytest.raises(NotABackupError) as caught:
        restore(backed_up.archive, tmp_path / "new")
    assert names(tmp_path / "new") == set()
    assert {path for path in tmp_path.rglob("*") if "new" not in path.parts} == before
    return caught.value.message


def test_an_archive_of_the_test_is_one(backed_up, tmp_path):
    write(backed_up.archive, read(backed_up.archive))
    restore(backed_up.archive, tmp_path / "new")


def test_names_that_no_backup_has_are_refused(backed_up, tmp_path):
    files = read(backed_up.archive)
    for name in (
        "../outside", "instance/../../outside", "/tmp/outside", "instance//etc/passwd", "instance/photosvc.db",
        "instance/signing_keys/1.json", "instance/secret_key.next", "instance/config.py\n", "instance\\config.py",
        "config.py", "instance/.restore/moves.json", "instance/", "C:config.py", "\x00", "", "instance/templates",
        "instance/templates/../../x", "instance/templates/.hidden", "instance/templates/a/b/c/d/e/f",
        "instance/templates//x", "instance/templates/a\n", "instance/templates/..", "instance/templates/é.html",
    ):  # fmt: skip

        def add(found, name=name):
            found["members"].append({"name": name, "size": 1, "sha256": sha256(b"x").hexdigest()})
            return found

        entries = [(zipfile.ZipInfo(name), b"x")] if name else []
        write(backed_up.archive, dict(files), manifest=add, entries=entries)
        refused(backed_up, tmp_path)
        assert not (tmp_path / "outside").exists(), name


def test_links_and_devices_are_refused(backed_up, tmp_path):
    files = read(backed_up.archive)
    files.pop("instance/config.py")
    for kind in (stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFBLK):
        info = zipfile.ZipInfo("instance/config.py")
        info.external_attr = (kind | 0o777) << 16
        target = b"/etc/passwd"

        def add(found, info=info, target=target):
            found["members"].append({"name": info.filename, "size": len(target), "sha256": sha256(target).hexdigest()})
            return found

        write(backed_up.archive, dict(files), manifest=add, entries=[(info, target)])
        assert "not a plain file" in refused(backed_up, tmp_path)


LIES = {
    "no members": lambda found: {**found, "members": []},
    "a name twice": lambda found: {**found, "members": [*found["members"], found["members"][0]]},
    "no database": lambda found: {**found, "database": "postgresql"},
    "another kind": lambda found: {**found, "database": "oracle"},
    "a later format": lambda found: {**found, "version": 2},
    "no format": lambda found: {name: value for name, value in found.items() if name != "members"},
    "another program": lambda found: {**found, "format": "photosvc archive"},
    "negative sizes": lambda found: {**found, "members": [{**m, "size": -1} for m in found["members"]]},
    "huge sizes": lambda found: {**found, "members": [{**m, "size": 1 << 61} for m in found["members"]]},
    "wrong digests": lambda found: {**found, "members": [{**m, "sha256": "0" * 64} for m in found["members"]]},
    "another schema": lambda found: {**found, "schema": "0000"},
    "another key": lambda found: {**found, "key": "0" * 16},
    "a list": lambda found: [found],
    "no JSON": lambda found: b"\xff\xfe",
    "deep JSON": lambda found: "[" * 100_000,
    "a megabyte": lambda found: " " * (1 << 20) + "{}",
    "NaN": lambda found: json.dumps(found).replace('"version": 1', '"version": NaN'),
}


def test_manifests_that_lie_are_refused(backed_up, tmp_path):
    files = read(backed_up.archive)
    for lie in LIES.values():
        write(backed_up.archive, dict(files), manifest=lie)
        refused(backed_up, tmp_path)


def test_two_files_of_one_name_are_refused(backed_up, tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        write(backed_up.archive, read(backed_up.archive), entries=[("instance/secret_key", b"k" * 64)])
    assert "duplicate names" in refused(backed_up, tmp_path)


def test_files_that_the_manifest_does_not_name_are_refused(backed_up, tmp_path):
    write(backed_up.archive, read(backed_up.archive), entries=[("more", b"")])
    assert "does not name" in refused(backed_up, tmp_path)


def test_other_compressions_are_refused(backed_up, tmp_path):
    files = read(backed_up.archive)
    for compression in (
        zipfile.ZIP_BZIP2,
        zipfile.ZIP_LZMA,
    ):
        write(backed_up.archive, dict(files), compression=compression)
        refused(backed_up, tmp_path)


def test_a_large_configuration_is_refused_before_it_is_unpacked(backed_up, tmp_path):
    files = read(backed_up.archive)
    files["instance/config.py"] = b" " * (20 << 20)
    write(backed_up.archive, files)
    assert "instance/config.py" in refused(backed_up, tmp_path)


def test_a_database_larger_than_the_disk_is_refused_before_it_is_unpacked(backed_up, tmp_path):
    files = read(backed_up.archive)
    files["database.sqlite"] = bytes(64 << 20)
    write(backed_up.archive, files)
    assert backed_up.archive.stat().st_size < 1 << 20
    with small_disk.mounted(tmp_path / "disk", 40) as disk:
        with pytest.raises(PhotosvcError, match="The backup needs 64 MiB in "):
            restore(backed_up.archive, disk / "new")
        assert names(disk / "new") == set()


def test_a_table_of_contents_that_claims_gigabytes_takes_no_memory(backed_up, tmp_path):
    with backed_up.archive.open("r+b") as file:
        file.truncate(3 << 30)  # sparse
        file.seek(0, 2)
        file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 60000, 60000, 3 << 30, 0, 0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(backed_up, tmp_path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_something_else_than_a_backup_is_refused(backed_up, tmp_path):
    for data in (b"", b"PK", b"PK\5\6" + bytes(18), os.urandom(5000), b"\x1f\x8b" + bytes(100)):
        backed_up.archive.write_bytes(data)
        assert refused(backed_up, tmp_path).startswith("The file is no")


def test_an_archive_that_is_cut_off_or_changed_anywhere_is_refused_or_gives_what_was_backed_up(backed_up, tmp_path):
    whole = backed_up.archive.read_bytes()
    draw = random.Random(7)
    for _ in range(60):
        data = bytearray(whole)
        if draw.random() < 0.3:
            del data[draw.randrange(len(data)) :]
        for _ in range(draw.choice([1, 1, 20])):
            if data:
                data[draw.choice([draw.randrange(len(data)), -1 - draw.randrange(min(900, len(data)))])] ^= (
                    draw.randrange(1, 256)
                )
        backed_up.archive.write_bytes(data)
        new = tmp_path / f"{draw.random()}"
        try:
            restore(backed_up.archive, new)
        except NotABackupError:
            assert names(new) == set()
        else:
            assert (new / "secret_key").read_text() == backed_up.key()


def test_a_database_with_a_hostile_schema_is_not_run(backed_up, tmp_path):
    files = read(backed_up.archive)
    files["database.sqlite"] = b"SQLite format 3\0" + os.urandom(4080)
    write(backed_up.archive, files)
    refused(backed_up, tmp_path)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"
#: A computed column that takes some milliseconds to check for each row.
COSTLY = """
    CREATE TABLE costly (a INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT INTO costly SELECT i FROM n;
    PRAGMA writable_schema = ON;
    UPDATE sqlite_master SET sql = 'CREATE TABLE costly (a INTEGER, b AS (hex(zeroblob(3000000 + a % 2))) NOT NULL)'
        WHERE name = 'costly'
"""


def with_database(backed_up, script):
    """Let a script change the database in the archive."""
    files = read(backed_up.archive)
    database = backed_up.archive.with_name("hostile.db")
    database.write_bytes(files["database.sqlite"])
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(f"PRAGMA journal_mode = DELETE; PRAGMA foreign_keys = OFF; {script}")
    files["database.sqlite"] = database.read_bytes()
    database.unlink()
    write(backed_up.archive, files)


@pytest.mark.parametrize(
    ("table", "made"),
    [
        ("photosvc_photos", f"CREATE VIEW photosvc_photos AS {ENDLESS.format('i AS id')}"),
        ("photosvc_users", "CREATE VIRTUAL TABLE photosvc_users USING fts5(name)"),
        ("photosvc_schema", f"CREATE VIEW photosvc_schema AS {ENDLESS.format('CAST(i AS TEXT) AS version_num')}"),
        (
            "photosvc_library",
            """
            CREATE TABLE photosvc_library (name TEXT, value TEXT AS (hex(zeroblob(40000000))));
            INSERT INTO photosvc_library (name) VALUES ('service_key')
            """,
        ),
    ],
)
def test_only_plain_tables_of_a_strange_database_are_read(backed_up, tmp_path, table, made):
    with_database(backed_up, f"DROP TABLE {table}; {made};")
    assert refused(backed_up, tmp_path).endswith(f"{table} is no table with values of its own.")


def test_a_strange_database_that_takes_too_long_to_check_is_refused(backed_up, tmp_path, monkeypatch):
    with_database(backed_up, COSTLY)
    monkeypatch.setattr(snapshot, "_LEAST_SECONDS", 0.5)
    monkeypatch.setattr(snapshot, "_BYTES_A_SECOND", 1e12)
    assert "takes too long to check" in refused(backed_up, tmp_path)  # without the limit it never ends


def test_a_folder_or_a_missing_file_is_told_in_a_sentence(tmp_path):
    for path, code, words in ((tmp_path, 1, "Is a directory"), (tmp_path / "none", 3, "There is no file")):
        done = svc("restore", str(path), instance=tmp_path / "new")
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr.startswith(f"Error: {words}")
