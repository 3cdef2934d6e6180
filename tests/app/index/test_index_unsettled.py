"""Files that may still be being written, and folders that have become empty."""

import os

import pytest

from tests.helpers.library import counts, reasons
from tests.helpers.pictures import jpeg

UNSETTLED = "it may still be being written; a later run reads it"


def test_a_file_that_was_just_written_waits_whatever_time_it_claims(library):
    library.put("a.jpg", jpeg(), age=3600)
    library.put("b.jpg", jpeg(80, 48), age=-(10**8))
    summary = library.index(settle=30)
    assert counts(summary) == (0, 0, 0, 0, 2, 0)
    assert reasons(summary.skipped) == [("a.jpg", UNSETTLED), ("b.jpg", UNSETTLED)]
    assert counts(library.index()) == (2, 0, 0, 0, 0, 0)


def test_a_file_of_the_library_that_is_being_replaced_keeps_its_record_until_it_has_settled(library):
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.index()
    library.put("a.jpg", jpeg(640, 480)[:1000], age=60)
    assert counts(library.index(settle=30)) == (0, 0, 1, 0, 1, 0)
    (record,) = library.find(q="name:a")
    assert record["Width"] == 64
    library.put("a.jpg", jpeg(640, 480), age=30)
    library.index()
    (record,) = library.find(q="name:a")
    assert record["Width"] == 640


def test_unchanged_files_do_not_wait(library):
    library.put("a.jpg", jpeg())
    library.index()
    os.chmod(library.originals / "a.jpg", 0o600)  # noqa: PTH101
    assert counts(library.index(settle=30)) == (0, 0, 1, 0, 0, 0)


def test_the_last_file_of_a_subfolder_is_missing_when_there_are_others_elsewhere(library):
    library.put("in/a.jpg", jpeg())
    library.put("out/b.jpg", jpeg(80, 48))
    library.index()
    (library.originals / "in/a.jpg").unlink()
    assert counts(library.index(subfolder="in")) == (0, 0, 0, 1, 0, 0)
    (library.originals / "out/b.jpg").unlink()
    assert counts(library.index(subfolder="out")) == (0, 0, 0, 0, 0, 0)
