"""`svc purge`: what it counts, asks, removes and leaves alone."""

import json
import sqlite3
import tracemalloc
from contextlib import closing

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from photosvc.cli import svc
from photosvc.index.mounts import absent_disks, remember_disks
from photosvc.index.purge import survey
from photosvc.index.scan import is_gone
from photosvc.media.metadata import Metadata
from photosvc.models import Album, AlbumPhoto, Base, File, Photo, SearchRow
from photosvc.pictures.cache import PictureCache
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import edit_photos, new_extraction, store_extractions
from tests.helpers.library import counts, hashes
from tests.helpers.pictures import jpeg
from tests.system.terminal import type_at


def test_a_survey_of_many_gone_files_keeps_their_ids_alone(library):
    with library.session() as session:
        store_extractions(
            session, [("/".join([*["x" * 200] * 4, "a.jpg"]), new_extraction(1, metadata=Metadata()))], NOW
        )
    library.put("other.jpg", jpeg())
    library.index()
    with closing(sqlite3.connect(library.instance / "photosvc.db")) as database, database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(photosvc_files)")]
        values = {"id": "value + 100", "uid": "'f' || value", "name": "name || value", "hash": "value"}
        copied = ", ".join(values.get(column, f'"{column}"') for column in columns)
        numbers = "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 6000)"
        database.execute(f"INSERT INTO photosvc_files {numbers} SELECT {copied} FROM photosvc_files, n WHERE id = 1")
    with library.session() as session:
        settings = current_service().settings
        tracemalloc.start()
        surveyed = survey(session, settings)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert len(surveyed.files) == 6001
    assert peak < 4_000_000


@pytest.fixture
def purged(library):
    """Five photos; of three the files are gone: one was edited, one is in an album, one has another file."""
    names = [f"2020/{name}" for name in ("a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg", "c.png")]
    with library.session() as session:
        found = [(name, new_extraction(number, metadata=Metadata())) for number, name in enumerate(names)]
        store_extractions(session, found, NOW)
        ids = {photo.name: photo.id for photo in session.query(Photo)}
        session.add(Album(id=1, uid="a" * 16, title="Some", created_at=NOW, updated_at=NOW))
        session.flush()
        session.add(AlbumPhoto(album_id=1, photo_id=ids["b"], created_at=NOW))
        edit_photos(session, [ids["a"]], title="Edited", title_src="manual", edited_at=NOW, favorite=True)
        edit_photos(session, [ids["b"]], notes="of the album")
    cache = PictureCache(library.instance / "cache", 1 << 30)
    for name, extraction in found:
        cache.write(extraction.hash, "tile_100.jpg", b"small")
        cache.write(extraction.hash, "fit_720.jpg", b"large")
        if name not in GONE:
            library.put(name, b"data")
    return library


def run(library, *arguments, answers=""):
    return CliRunner().invoke(svc, ["purge", *arguments], obj=lambda: library.app, input=answers)


def purge(library, *arguments):
    done = run(library, *arguments, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def cached(library):
    return {path.name.partition("_")[0] for path in (library.instance / "cache/pictures").rglob("*_*.jpg")}


def dump(library):
    """Everything in the database, but which service key the first process found."""
    with sqlite3.connect(library.instance / "photosvc.db") as database:
        found = "\n".join(line for line in database.iterdump() if "'service_key'" not in line)
    database.close()
    return found


GONE = ("2020/a.jpg", "2020/b.jpg", "2020/c.jpg")
FOUND = {
    "missing": 3,
    "marked": 3,
    "photos": 2,
    "edited": 1,
    "favorites": 1,
    "in_albums": 1,
    "examples": list(GONE),
    "removed": {"files": 0, "photos": 0, "thumbnails": 0},
    "dry_run": False,
}


def test_a_dry_run_counts_and_changes_nothing(purged):
    before = dump(purged)
    assert purge(purged, "--dry-run") == purge(purged, "--hard", "--dry-run") == {**FOUND, "dry_run": True}
    done = run(purged, "--hard", "--dry-run")
    assert done.stdout == (
        "3 files and 2 photos would be removed. Of these photos 1 was edited, 1 is a favorite, 1 is in albums.\n"
    )
    assert dump(purged) == before


def test_without_hard_missing_files_are_hidden(purged):
    assert purge(purged) == FOUND
    assert purged.names() == ["2020/c.png", "2020/d.jpg", "2020/e.jpg"]
    assert purge(purged) == {**FOUND, "marked": 0}
    assert run(purged).stdout == "3 missing, 0 newly marked; 2 photos without files\n"


def test_hard_removes_rows_words_albums_and_thumbnails_but_no_original(purged):
    originals, thumbnails = hashes(purged.originals), cached(purged)
    removed = purge(purged, "--hard", "--yes")["removed"]
    assert (removed["files"], removed["photos"]) == (3, 2)
    assert removed["thumbnails"] == 3 * 2
    assert hashes(purged.originals) == originals
    assert len(thumbnails) == 6
    assert len(cached(purged)) == 3
    assert purged.names() == ["2020/c.png", "2020/d.jpg", "2020/e.jpg"]
    assert purged.find(q="edited") == []
    with purged.session() as session:
        assert session.query(File).count() == session.query(Photo).count() == 3
        assert session.query(AlbumPhoto).count() == 0
    assert purge(purged, "--hard", "--yes")["removed"] == {"files": 0, "photos": 0, "thumbnails": 0}


def test_hard_leaves_no_row_of_removed_files(purged):
    purge(purged, "--hard", "--yes")
    with purged.session() as session:
        ids = {model.__table__: set(session.scalars(select(model.id))) for model in (File, Photo)}
        ids[SearchRow.__table__] = ids[File.__table__]
        for table in Base.metadata.sorted_tables:
            for key in table.foreign_keys:
                known = ids.get(key.column.table)
                assert known is None or set(session.scalars(select(key.parent))) <= known, key.parent


def test_the_question_names_the_losses_and_a_no_prevents_them(purged, monkeypatch):
    code, out, err, _ = type_at(purged.instance, ["purge", "--hard"], [("[y/N]", "n\n")])
    assert (code, out) == (0, "")
    assert "3 files are gone from the originals:\n  2020/a.jpg\n  2020/b.jpg\n  2020/c.jpg\n" in err
    assert "2 photos have no other file. Of these photos 1 was edited, 1 is a favorite, 1 is in albums.\n" in err
    assert err.endswith("Nothing was changed.\n")
    with purged.session() as session:
        assert session.query(File).count() == 6
    monkeypatch.setattr("photosvc.cli.terminal.has_terminal", lambda: True)
    done = run(purged, "--hard", answers="y\n")
    assert (done.exit_code, done.stdout) == (0, "3 files, 2 photos and 6 thumbnails removed\n")


def test_without_a_terminal_hard_needs_yes(purged):
    before = dump(purged)
    done = run(purged, "--hard")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "pass --yes" in done.stderr
    assert dump(purged) == before


@pytest.mark.parametrize("arguments", [[], ["--hard", "--yes"]])
def test_originals_that_look_unmounted_are_refused(purged, arguments):
    before = dump(purged)
    purged.originals.rename(purged.instance / "unmounted")
    assert run(purged, *arguments).exit_code == 3
    purged.originals.mkdir()
    done = run(purged, *arguments)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "is the disk mounted?" in done.stderr
    assert dump(purged) == before


def test_a_file_that_is_marked_but_came_back_stays(purged):
    purge(purged)
    purged.put("2020/a.jpg", b"data")
    assert purge(purged, "--hard", "--yes")["removed"] == {"files": 2, "photos": 1, "thumbnails": 4}
    with purged.session() as session:
        assert session.scalars(select(Photo.title).where(Photo.favorite)).all() == ["Edited"]


@pytest.mark.parametrize("marked", [True, False])
def test_a_duplicate_of_a_missing_file_keeps_the_edits(library, marked):
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.index()
    library.put("copy.jpg", jpeg())
    assert counts(library.index()) == (0, 0, 2, 0, 1, 0)
    with library.session() as session:
        session.query(File).filter_by(name="a.jpg").update({"missing": marked})
        photo = session.query(Photo).join(File).filter_by(name="a.jpg").one()
        uid, photo.title, photo.title_src = photo.uid, "Edited", "manual"
    (library.originals / "a.jpg").unlink()
    found = purge(library, "--hard", "--yes")
    assert (found["missing"], found["moved"], found["removed"]["files"]) == (0, 1, 0)
    assert counts(library.index()) == (0, 1, 1, 0, 0, 0)
    (record,) = library.find(filename="copy.jpg")
    assert (record["UID"], record["Title"]) == (uid, "Edited")
    assert library.names() == ["b.jpg", "copy.jpg"]


@pytest.mark.parametrize("is_renamed", [True, False])
@pytest.mark.parametrize("marked", [True, False])
def test_edits_stay_while_any_file_has_the_content(library, marked, is_renamed):
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.index()
    if is_renamed:  # the duplicate repeats a name that no file has any more
        library.put("copy.jpg", jpeg(), age=7200)
        library.index()
        (library.originals / "a.jpg").rename(library.originals / "c.jpg")
        library.index()
    else:  # the copy is newer than the last index run
        library.put("copy.jpg", jpeg(), age=7200)
    name = "c.jpg" if is_renamed else "a.jpg"
    with library.session() as session:
        session.query(File).filter_by(name=name).update({"missing": marked})
        photo = session.query(Photo).join(File).filter_by(name=name).one()
        uid, photo.title, photo.title_src = photo.uid, "Edited", "manual"
    (library.originals / name).unlink()
    found = purge(library, "--hard", "--yes")
    assert (found["missing"], found["moved"], found["removed"]["files"]) == (0, 1, 0)
    library.index()
    (record,) = library.find(filename="copy.jpg")
    assert (record["UID"], record["Title"]) == (uid, "Edited")


def test_a_file_that_is_gone_like_its_duplicates_is_removed(library):
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.put("copy.jpg", jpeg())
    library.index()
    (library.originals / "a.jpg").unlink()
    (library.originals / "copy.jpg").unlink()
    assert purge(library, "--hard", "--yes")["removed"]["files"] == 1
    assert counts(library.index()) == (0, 0, 1, 0, 0, 0)
    library.put("copy.jpg", jpeg())
    assert counts(library.index()) == (1, 0, 1, 0, 0, 0)


@pytest.mark.parametrize("arguments", [(), ("--hard", "--yes")])
def test_files_that_were_moved_and_not_indexed_since_are_left_alone(library, arguments):
    library.put("2020/a.jpg", jpeg())
    library.put("2020/b.jpg", jpeg(80))
    library.index()
    (uid,) = (record["UID"] for record in library.find(filename="2020/a.jpg"))
    (library.originals / "2020/a.jpg").rename(library.originals / "moved.jpg")
    done = run(library, *arguments)
    assert (done.exit_code, done.stderr) == (0, "1 file seems to have been moved and is left alone: run svc index.\n")
    assert counts(library.index()) == (0, 1, 1, 0, 0, 0)
    assert [record["UID"] for record in library.find(filename="moved.jpg")] == [uid]


def when_called(monkeypatch, number, act):
    """Let something happen just before the n-th look for a file."""
    calls = iter(range(1, 1000))

    def is_gone_by_now(*arguments):
        if next(calls) == number:
            act()
        return is_gone(*arguments)

    monkeypatch.setattr("photosvc.index.purge.is_gone", is_gone_by_now)


@pytest.mark.parametrize(("number", "is_marked"), [(6, False), (8, False), (11, True)])
def test_a_disk_that_goes_while_a_purge_looks_takes_nothing_with_it(purged, monkeypatch, number, is_marked):
    def unmount():
        purged.originals.rename(purged.instance / "unmounted")
        purged.originals.mkdir()

    when_called(monkeypatch, number, unmount)
    done = run(purged, "--hard", "--yes")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "A disk of the originals was mounted or unmounted meanwhile" in done.stderr
    with purged.session() as session:
        assert session.query(File).count() == 6
        missing = set(session.scalars(select(File.name).where(File.missing)))
    assert missing == (set(GONE) if is_marked else set())


@pytest.mark.parametrize("number", [5, 7])
def test_a_disk_below_the_originals_that_goes_during_a_purge_is_still_remembered(purged, monkeypatch, number):
    mounted = {f"{purged.originals}/2020": "7"}
    monkeypatch.setattr("photosvc.index.mounts.mounts_below", lambda _: dict(mounted))
    with purged.session() as session:
        remember_disks(session, purged.originals)
    when_called(monkeypatch, number, mounted.clear)
    done = run(purged)
    assert (done.exit_code, done.stdout) == (1, "")
    with purged.session() as session:
        assert absent_disks(session, purged.originals) == {"2020"}
        assert not session.scalars(select(File.name).where(File.missing)).all()
