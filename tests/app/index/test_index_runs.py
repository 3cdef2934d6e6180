"""Promises of an index run: what it makes of files, what the next run leaves alone, what it reads again."""

import json
import os
from datetime import UTC, datetime, timedelta

import pytest

from photosvc.core.errors import NotFoundError
from photosvc.index.extract import READER_VERSION
from photosvc.library.failures import count_failed
from photosvc.models import File, LibraryState, RejectedFile, SearchDocument
from tests.helpers.clock import NOW
from tests.helpers.library import call_svc, changes, counts, hashes, reasons
from tests.helpers.pictures import encoded, exif, jpeg, quarters, raf, video

UNSETTLED = "it may still be being written; a later run reads it"


def overwrite(path):
    """Give a file other content, of the same size and time."""
    status = path.stat()
    path.write_bytes(b"\0" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_second_run_changes_nothing_and_opens_no_unchanged_file_and_force_reads_it(library):
    first = library.put("2020/a.jpg", jpeg(exif=exif({0x010F: "Canon"})))
    library.put("b.png", encoded(quarters(), "PNG"))
    library.put("empty.jpg", b"")
    library.put("notes.pdf", b"%PDF")
    assert counts(library.index()) == (2, 0, 0, 0, 2, 0)
    before, count = library.stored(), changes(library)
    overwrite(first)
    library.clock.move(days=1)
    assert counts(library.index()) == (0, 0, 2, 0, 2, 0)
    assert library.stored() == before
    assert changes(library) == count
    assert library.index(force=True).failed == []
    assert library.names() == ["b.png"]


def test_force_leaves_records_as_they_were_but_for_the_time_of_the_check(library):
    library.put("a.jpg", jpeg(exif=exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})))
    library.put("b.jpg", jpeg(100, 100))
    library.index()
    before = library.find()
    library.clock.move(hours=1)
    assert counts(library.index(force=True)) == (0, 2, 0, 0, 0, 0)
    after = library.find()
    assert {record.pop("CheckedAt") for record in before} == {"2026-03-01T12:00:00Z"}
    assert {record.pop("CheckedAt") for record in after} == {"2026-03-01T13:00:00Z"}
    assert after == before


def test_a_dry_run_counts_and_writes_nothing(library):
    library.put("a.jpg", jpeg())
    assert counts(library.index(dry_run=True)) == (1, 0, 0, 0, 0, 0)
    assert library.find() == []
    library.index()
    library.put("a.jpg", jpeg(80, 80), age=60)
    library.put("b.jpg", jpeg(90, 80))
    assert counts(library.index(dry_run=True)) == (1, 1, 0, 0, 0, 0)
    assert len(library.find()) == 1


def test_only_a_subfolder_is_looked_at_when_one_is_named(library):
    names = ["trip/a.jpg", "trip%/b.jpg", "Trip/c.jpg", "trip-2/d.jpg", "trip0/e.jpg", "trip_/f.jpg", "out/g.jpg"]
    for width, name in enumerate(names, start=60):
        library.put(name, jpeg(width, 48))
    assert counts(library.index(subfolder="trip")) == (1, 0, 0, 0, 0, 0)
    assert library.names() == ["trip/a.jpg"]
    library.index()
    for name in ("trip/a.jpg", "trip%/b.jpg", "out/g.jpg"):
        (library.originals / name).unlink()
    assert counts(library.index(subfolder="trip")) == (0, 0, 0, 1, 0, 0)
    assert library.names() == sorted(set(names) - {"trip/a.jpg"})
    assert call_svc("check", "Trip", instance=library.instance).stdout.startswith("1 ")
    with pytest.raises(NotFoundError):
        library.index(subfolder="nowhere")


def test_indexing_changes_no_byte_mode_or_time_of_the_originals(library):
    library.put("a.jpg", jpeg()).chmod(0o400)
    library.put("b.jpg", jpeg(640, 480)[:900])
    library.put("c.txt", b"words")
    library.put("a.jpg.json", b'{"title": "a.jpg", "photoTakenTime": {"timestamp": "1580472000"}}')
    before = hashes(library.originals)
    library.index()
    library.index(force=True)
    assert hashes(library.originals) == before


def test_the_command_prints_a_line_for_each_problem_or_of_json_for_each_file_and_ends_with_1_for_new_ones(library):
    library.put("a.jpg", jpeg())
    library.put("b.jpg", b"words")
    library.put("c.jpg", jpeg(640, 480)[:2000])

    def index():
        done = call_svc("index", "--json", "--workers", "1", instance=library.instance)
        *files, counts = map(json.loads, done.stdout.splitlines())
        assert (done.stderr, counts.pop("seconds") > 0) == ("", True)
        return done.returncode, sorted(files, key=lambda file: file["name"]), counts

    b = {"name": "b.jpg", "status": "skipped", "code": "wrong_content", "reason": "its content is not a picture"}
    c = {"name": "c.jpg", "status": "failed", "code": "truncated", "reason": "the picture is truncated"}
    assert index() == (
        1,
        [{"name": "a.jpg", "status": "indexed"}, b, c],
        {"indexed": 1, "updated": 0, "unchanged": 0, "missing": 0, "skipped": 1, "failed": 1, "dry_run": False},
    )
    done = call_svc("index", instance=library.instance)
    assert (done.returncode, sorted(done.stderr.splitlines())) == (
        0,
        ["skipped b.jpg: its content is not a picture", "skipped c.jpg: the picture is truncated"],
    )
    assert done.stdout.startswith("0 indexed, 0 updated, 1 unchanged, 0 missing, 2 skipped, 0 failed in ")
    (library.originals / "c.jpg").unlink()
    assert index() == (
        0,
        [{"name": "a.jpg", "status": "unchanged"}, b, {"name": "c.jpg", "status": "missing"}],
        {"indexed": 0, "updated": 0, "unchanged": 1, "missing": 1, "skipped": 1, "failed": 0, "dry_run": False},
    )


def test_search_rows_rendered_again_are_the_same_and_no_original_is_opened(library):
    path = library.put("a.jpg", jpeg())
    library.index()
    before = library.stored()
    overwrite(path)
    done = call_svc("index", "--rebuild-search", instance=library.instance)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 search row rendered again.\n")
    assert library.stored() == before
    with library.session() as session:
        session.get(LibraryState, "projection").value -= 1
        session.query(SearchDocument).one().result_head = '{"old": true'
    upgraded = call_svc("db", "upgrade", instance=library.instance)
    assert upgraded.stderr.splitlines()[1:] == [
        "The search rows are of an older version: the next `svc index` renders them again."
    ]
    assert library.index(dry_run=True).rebuilt == 0
    done = call_svc("index", instance=library.instance)
    assert done.stderr == "1 search row of an older version rendered again.\n"
    assert library.stored() == before
    assert call_svc("index", instance=library.instance).stderr == ""
    assert len(call_svc("db", "upgrade", instance=library.instance).stderr.splitlines()) == 1


@pytest.fixture
def outdated(library):
    """Two pictures and a rejected file that an older version read."""
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.put("c.jpg", b"words")
    library.index()
    set_versions(library, 0)
    return library


def set_versions(library, version):
    with library.session() as session:
        for table in (File, RejectedFile):
            for row in session.query(table):
                row.reader_version = version


def versions(library):
    with library.session() as session:
        return [version for table in (File, RejectedFile) for (version,) in session.query(table.reader_version)]


def test_files_of_an_older_reader_are_read_again_once_and_those_of_a_newer_one_are_not(outdated):
    with outdated.session() as session:
        file = session.query(File).filter_by(name="a.jpg").one()
        file.codec, file.details = "", '{"title":"old"}'
    outdated.clock.move(seconds=60)
    summary = outdated.index()
    assert (counts(summary), summary.read_again) == ((0, 2, 0, 0, 1, 0), 3)
    assert versions(outdated) == [READER_VERSION] * 3
    with outdated.session() as session:
        files = session.query(File).order_by(File.name)
        assert [(file.codec, file.details) for file in files] == [("jpeg", "{}")] * 2
        assert [file.updated_at for file in files] == [NOW + timedelta(seconds=60), NOW]
    summary = outdated.index()
    assert (counts(summary), summary.read_again) == ((0, 0, 2, 0, 1, 0), 0)
    set_versions(outdated, READER_VERSION + 1)
    assert counts(outdated.index()) == (0, 0, 2, 0, 1, 0)
    assert versions(outdated) == [READER_VERSION + 1] * 3


def test_files_that_an_interrupted_run_read_and_missing_ones_are_not_read_again(outdated):
    with outdated.session() as session:
        session.query(File).filter_by(name="a.jpg").one().reader_version = READER_VERSION
    summary = outdated.index()
    assert (counts(summary), summary.read_again) == ((0, 1, 1, 0, 1, 0), 2)
    (outdated.originals / "a.jpg").unlink()
    (outdated.originals / "c.jpg").unlink()
    outdated.index()
    set_versions(outdated, 0)
    assert (counts(outdated.index()), versions(outdated)) == ((0, 1, 0, 0, 0, 0), [0, READER_VERSION])


def test_the_command_reports_how_many_files_it_reads_again(outdated):
    words = "unchanged files {} again: this version reads more than the one before."
    dry = call_svc("index", "--dry-run", instance=outdated.instance)
    assert "3 " + words.format("would be read") in dry.stderr.splitlines()
    done = call_svc("index", "--json", instance=outdated.instance)
    assert "3 " + words.format("read") in done.stderr.splitlines()
    assert json.loads(done.stdout.splitlines()[-1])["read_again"] == 3
    again = call_svc("index", "--json", instance=outdated.instance)
    assert "read_again" not in json.loads(again.stdout.splitlines()[-1])


def test_a_file_that_was_just_written_waits_and_the_record_of_a_replaced_one_stays_until_it_has_settled(library):
    library.put("a.jpg", jpeg(), age=3600)
    path = library.put("b.jpg", jpeg(80, 48), age=-(10**8))  # whatever time it claims
    library.clock.present = datetime.fromtimestamp(path.stat().st_ctime, UTC)
    summary = library.index(settle=30)
    assert counts(summary) == (0, 0, 0, 0, 2, 0)
    assert reasons(summary.skipped) == [("a.jpg", UNSETTLED), ("b.jpg", UNSETTLED)]
    assert counts(library.index()) == (2, 0, 0, 0, 0, 0)
    library.put("a.jpg", jpeg(640, 480)[:1000], age=60)
    (library.originals / "b.jpg").chmod(0o600)  # it is unchanged, and does not wait
    assert counts(library.index(settle=30)) == (0, 0, 1, 0, 1, 0)
    assert library.find(q="name:a")[0]["Width"] == 64
    library.put("a.jpg", jpeg(640, 480), age=30)
    library.index()
    assert library.find(q="name:a")[0]["Width"] == 640


def test_files_without_an_extension_of_dv_and_of_action_cameras_are_indexed_by_their_content(library, tmp_path):
    library.put("f0001", jpeg(61, 48))
    library.put("recovered/f0002", encoded(quarters(62, 48), "WEBP"))
    library.put("f0003", video(tmp_path / "a.mp4").read_bytes())
    library.put("f0004", raf(jpeg(640, 480)))
    library.put("README", b"Pictures of a card that was formatted.\n")
    library.put("lock", b"")
    library.put("pano.insp", jpeg(64, 32))
    library.put("tape.dv", video(tmp_path / "a.dv", codec="dvvideo").read_bytes())
    reason = "it has no extension, and its content is not a picture or video"
    skipped = [("README", reason), ("lock", reason)]
    for expected in ((6, 0, 0), (0, 0, 6)):
        run = library.index()
        assert ((run.indexed, run.updated, run.unchanged), sorted(reasons(run.skipped))) == (expected, skipped)
    with library.session() as session:
        found = {file.name: (file.file_type, file.width, file.height) for file in session.query(File)}
        assert count_failed(session) == 0
    assert found.pop("f0004")[0] == "raw"
    assert found == {
        "f0001": ("jpg", 61, 48), "recovered/f0002": ("webp", 62, 48), "f0003": ("mp4", 64, 48),
        "pano.insp": ("jpg", 64, 32), "tape.dv": ("dv", 768, 576),
    }  # fmt: skip
