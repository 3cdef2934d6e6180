"""What `svc check` finds in a library, one fault at a time, and what it leaves alone."""

import json
import os
import sqlite3

import pytest
from click.testing import CliRunner

from photosvc.cli import svc as commands
from photosvc.index.check import Check, CheckOptions
from photosvc.models import Album, AlbumPhoto, LibraryState, Photo
from photosvc.models.engine import UnitOfWork
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos, edit_photos, new_extraction, store_extractions
from tests.helpers.library import call_svc, copy_library, hashes, open_library
from tests.helpers.pictures import jpeg


def check(library, **options):
    """The findings as pairs of code and name, and the report."""
    findings = []
    with library.app.app_context():
        service = current_service()
        with UnitOfWork(service.engine()) as session:
            cache = service.picture_cache
            report = Check(session, service.settings, cache, CheckOptions(**options), findings.append).run()
    return [(finding.fault.value, finding.name or finding.number) for finding in findings], report


def alter(library, *statements):
    with sqlite3.connect(library.instance / "photosvc.db") as database:
        for statement in statements:
            assert database.execute(statement).rowcount > 0
    database.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("check"))
    library.put("a/a.jpg", jpeg(900, 600))
    library.put("a/b.jpg", jpeg(80, 120))
    library.put("c.jpg", jpeg(96, 48))
    library.index(thumbnails=True)
    with library.session() as session:
        photo = session.query(Photo).filter_by(name="b").one()
        session.add(Album(id=1, uid="a" * 16, title="Some", created_at=NOW, updated_at=NOW))
        session.flush()
        session.add(AlbumPhoto(album_id=1, photo_id=photo.id, created_at=NOW))
        edit_photos(session, [photo.id], favorite=True)
    library.close()
    return library


@pytest.fixture
def sound(made, tmp_path):
    """A library without faults."""
    library = copy_library(made, tmp_path / "instance")
    yield library
    library.close()


def test_a_sound_library_has_no_findings_and_is_not_changed(sound):
    before = hashes(sound.instance)
    findings, report = check(sound)
    assert (findings, report.is_sound) == ([], True)
    assert (report.files, report.photos, report.hidden) == (3, {"image": 3}, 0)
    assert report.thumbnails == len(list((sound.instance / "cache/pictures").rglob("*.jpg"))) > 9
    assert report.bytes == sum(path.stat().st_size for path in sound.originals.rglob("*.jpg"))
    assert {path for path in hashes(sound.instance) if b"photosvc.db" not in path} == {
        path for path in before if b"photosvc.db" not in path
    }


def test_every_made_up_photo_of_a_varied_library_has_the_rows_of_a_new_projection(library):
    with library.session() as session:
        add_photos(session, 40, NOW)
    (library.originals / "x").mkdir()
    findings, report = check(library)
    assert report.photos.total() + report.hidden == 40
    assert {code for code, _ in findings} == {"gone"}


def test_bit_rot_a_change_and_a_missing_file_are_told_apart(sound):
    sound.put("a/b.jpg", jpeg(80, 120) + b"more")
    findings, report = check(sound)
    assert (findings, report.is_sound) == ([("changed", "a/b.jpg")], True)  # it needs an index run and is not wrong
    rotten = sound.originals / "a/a.jpg"
    status = rotten.stat()
    data = bytearray(rotten.read_bytes())
    data[-100] ^= 1
    rotten.write_bytes(data)
    os.utime(rotten, ns=(status.st_atime_ns, status.st_mtime_ns))
    (sound.originals / "c.jpg").unlink()
    findings, report = check(sound)
    assert findings == [("damaged", "a/a.jpg"), ("changed", "a/b.jpg"), ("gone", "c.jpg")]
    assert not report.is_sound
    assert check(sound, subfolder="a")[0] == findings[:2]


def test_search_rows_of_another_version_are_not_compared(sound):
    alter(sound, "UPDATE photosvc_library SET value = 0 WHERE name = 'projection'")
    alter(sound, "UPDATE photosvc_photos SET title = 'other'")
    findings, report = check(sound)
    assert (findings, report.is_sound, report.photos) == ([("search_version", 1)], True, {})


def test_broken_and_strange_thumbnails_are_named(sound):
    cache = sound.instance / "cache/pictures"
    tiles = sorted(cache.rglob("*_tile_100.jpg"), key=lambda path: path.stat().st_size)
    (large,) = cache.rglob("*_fit_720.jpg") if len(list(cache.rglob("*_fit_720.jpg"))) == 1 else [tiles[2]]
    tiles[0].write_bytes(tiles[0].read_bytes()[:-300])
    tiles[1].write_bytes(jpeg(99, 100))
    large.write_bytes(b"")
    orphan = cache / "0/0/0" / ("0" * 40 + "_tile_100.jpg")
    orphan.parent.mkdir(parents=True, exist_ok=True)
    orphan.write_bytes(jpeg())
    findings, report = check(sound)
    assert sorted(code for code, _ in findings) == ["thumbnail", "thumbnail", "thumbnail_orphans"]
    assert all("tile_100.jpg" in name for _, name in findings)
    assert not report.is_sound


def test_samples_take_every_file_in_turn(library):
    found = [(f"{number:02}.jpg", new_extraction(0, hash=f"{number * 23 % 256:02x}" * 20)) for number in range(30)]
    with library.session() as session:
        store_extractions(session, found, NOW)
    library.put("new.jpg", jpeg())  # the disk is there
    seen = []
    for _ in range(3):
        findings, report = check(library, sample=10)
        assert report.files == 10
        seen += [name for code, name in findings if code == "gone"]
    assert sorted(seen) == [f"{number:02}.jpg" for number in range(30)]
    assert check(library, percent=34)[1].files == 11
    assert check(library, sample=500)[1].files == 30
    with library.session() as session:
        assert session.get(LibraryState, "checked") is not None


def test_the_command_reports_and_ends_with_1_when_something_is_wrong(library):
    path = library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.index()
    status = path.stat()
    path.write_bytes(b"\0" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    done = call_svc("check", "--sample", "100%", instance=library.instance)
    assert (done.returncode, done.stderr) == (
        1,
        "damaged a.jpg: its content has changed although its size and time have not\n",
    )
    assert done.stdout.startswith("2 files, 2 photos, 0 thumbnails checked in ")
    assert done.stdout.endswith(" s: 1 damaged\n")
    done = call_svc("check", "--json", instance=library.instance)
    record = json.loads(done.stdout)
    assert (done.returncode, done.stderr, record["sound"], record["faults"]) == (1, "", False, {"damaged": 1})
    assert [finding["name"] for finding in record["findings"]] == ["a.jpg"]


def test_originals_that_are_away_are_one_sentence(sound):
    sound.originals.rename(sound.instance / "unmounted")
    sound.originals.mkdir()
    done = call_svc("check", instance=sound.instance)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: None of the library's files is in the folder of originals: is the disk mounted?\n"


def test_search_rows_that_are_not_what_the_library_says_are_named(sound):
    database = sound.instance / "photosvc.db"
    whole = database.read_bytes()
    for statement, names in (
        ("UPDATE photosvc_photos SET title = 'other' WHERE name = 'b'", ["a/b"]),
        ("UPDATE photosvc_files SET codec = 'other' WHERE name = 'c.jpg'", ["c"]),
        ("DELETE FROM photosvc_search_documents", ["a/a", "a/b", "c"]),
        ("UPDATE photosvc_search_rows SET listed = 0 WHERE file_id = 1", ["a/a"]),
        ("DELETE FROM photosvc_search_albums", ["a/b"]),
        ("UPDATE photosvc_search_texts SET words = words || ' more' WHERE photo_id = 3", ["c"]),
        ("INSERT INTO photosvc_album_photos VALUES (1, 3, 0, 0, '2026-01-01')", ["c"]),
    ):
        alter(sound, statement)
        findings, report = check(sound)
        assert (sorted(findings), report.is_sound) == ([("search", name) for name in names], False), statement
        sound.close()
        database.write_bytes(whole)
    alter(sound, "UPDATE photosvc_files SET missing = 1 WHERE name = 'c.jpg'")
    assert check(sound)[0][:2] == [("search", "c"), ("search_orphans", 2)]


def test_a_sample_is_a_number_or_a_share(library):
    for sample in ("0", "-5", "101%", "0%", "x", "5.5"):
        done = CliRunner().invoke(commands, ["check", "--sample", sample], obj=lambda: library.app)
        assert (done.exit_code, done.stdout) == (2, ""), sample
        assert "is neither a number of files such as 500 nor a share such as 5%" in done.stderr, sample
