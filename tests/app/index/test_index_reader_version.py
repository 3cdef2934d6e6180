"""Files that a reader of an older version read are read again, once, although they are unchanged."""

import json
from datetime import timedelta

import pytest

from photosvc.index.extract import READER_VERSION
from photosvc.models import File, RejectedFile
from tests.helpers.clock import NOW
from tests.helpers.library import call_svc, counts
from tests.helpers.pictures import jpeg


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


def test_files_of_an_older_reader_are_read_again_once(outdated):
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


def test_an_interrupted_run_continues_with_the_files_that_are_left(outdated):
    with outdated.session() as session:
        session.query(File).filter_by(name="a.jpg").one().reader_version = READER_VERSION
    summary = outdated.index()
    assert (counts(summary), summary.read_again) == ((0, 1, 1, 0, 1, 0), 2)


def test_files_of_a_newer_reader_are_left_alone(outdated):
    set_versions(outdated, READER_VERSION + 1)
    assert counts(outdated.index()) == (0, 0, 2, 0, 1, 0)
    assert versions(outdated) == [READER_VERSION + 1] * 3


def test_missing_files_are_not_read_again(outdated):
    (outdated.originals / "a.jpg").unlink()
    (outdated.originals / "c.jpg").unlink()
    set_versions(outdated, READER_VERSION)
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
