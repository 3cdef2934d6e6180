"""Faults that may pass: files are tried again after pauses that grow, and nothing is hidden meanwhile."""

import logging

import pytest

from photosvc.core.problems import Problem, Reason, pause_after
from photosvc.index import run as job
from photosvc.index.store import Store
from photosvc.workers.process import WorkerTimeoutError
from tests.app.index import deadly_extract
from tests.app.index.indexing_requests import InlinePool
from tests.helpers.library import reasons
from tests.helpers.pictures import exif, jpeg

DATED = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: "2021:02:03 04:05:06"})
PROBLEM = [("endless.jpg", "The file took longer than 60 s to read.")]


@pytest.fixture
def stall(monkeypatch):
    """A function that lets the decoder of all files stall, or work."""
    works = job.extract
    monkeypatch.setattr(job, "WorkerPool", InlinePool)

    def stalled(path, *, max_bytes, decode=True):
        if decode:
            raise WorkerTimeoutError(Reason.TIMEOUT, "60")
        return works(path, max_bytes=max_bytes, decode=False)

    return lambda *, now=True: monkeypatch.setattr(job, "extract", stalled if now else works)


def tried(library, **options):
    """The files at whose reading a run failed, and those that it left out."""
    run = library.index(**options)
    return reasons(run.failed), reasons(run.skipped)


def test_a_file_whose_decoder_stalls_is_shown_and_tried_again_after_pauses_that_grow(library, stall):
    library.put("endless.jpg", jpeg(exif=DATED))
    stall()
    assert tried(library) == (PROBLEM, [])
    (shown,) = library.find()
    assert (shown["FileName"], shown["TakenAtLocal"], shown["CameraModel"], shown["Quality"] >= 0) == (
        "endless.jpg", "2021-02-03T04:05:06Z", "EOS R5", True,
    )  # fmt: skip
    assert tried(library) == ([], PROBLEM)
    for number in (1, 2):
        library.clock.present += pause_after(number)
        assert tried(library) == (PROBLEM, [])
        library.clock.present += pause_after(number)  # the next one is longer
        assert tried(library) == ([], PROBLEM)
    assert tried(library, force=True) == (PROBLEM, [])
    stall(now=False)
    library.clock.present += pause_after(4)
    assert library.index().updated == 1
    assert library.find()[0]["Width"] == 64
    assert library.index().unchanged == 1


def test_reading_again_what_was_read_before_loses_nothing_when_the_decoder_stalls(library, stall):
    library.put("endless.jpg", jpeg(exif=DATED))
    library.index()
    before = library.find()
    stall()
    assert tried(library, force=True) == (PROBLEM, [])
    assert library.find() == before
    library.put("endless.jpg", jpeg(200, 100, exif=DATED), age=60)  # other content: its metadata can be read
    assert tried(library) == (PROBLEM, [])
    (shown,) = library.find()
    assert (shown["UID"], shown["CameraModel"]) == (before[0]["UID"], "EOS R5")
    stall(now=False)
    library.clock.present += pause_after(1)
    assert library.index().updated == 1
    assert library.find()[0]["Width"] == 200


def test_content_of_which_only_the_pixels_tell_whether_it_is_an_edit_waits_until_they_are_read(library, stall):
    library.put("endless.jpg", jpeg())
    library.index()
    (before,) = library.find()
    stall()
    library.put("endless.jpg", jpeg(80, 80), age=60)
    assert tried(library) == (PROBLEM, [])
    assert [record["UID"] for record in library.find()] == [before["UID"]]
    stall(now=False)
    assert library.index(force=True).updated == 1
    (after,) = library.find()
    assert (after["UID"], after["Width"]) == (before["UID"], 80)


def test_a_file_that_cannot_be_opened_stays_as_it_was_and_is_read_by_each_run(library, monkeypatch):
    library.put("unreadable.jpg", jpeg(exif=DATED))
    library.index()
    before = library.find()
    monkeypatch.setattr(job, "extract", deadly_extract.extract)
    failed = [("unreadable.jpg", "the file cannot be read: input/output error")]
    assert tried(library, force=True) == (failed, [])
    assert library.find() == before
    assert tried(library) == (failed, [])
    monkeypatch.undo()
    assert library.index().updated == 1


def test_an_error_of_ours_stops_no_other_file_and_is_told_as_ours_and_tried_again(library, monkeypatch, caplog):
    works = Store.save

    def failing(self, found, extraction):
        done = works(self, found, extraction)
        if found.name == "b.jpg":
            raise TypeError("no such argument")
        return done

    for number, name in enumerate("abc"):
        library.put(f"{name}.jpg", jpeg(80 + number, 48))
    monkeypatch.setattr(Store, "save", failing)
    with caplog.at_level(logging.ERROR, logger="photosvc"):
        run = library.index()
    assert (run.indexed, run.failed) == (2, [("b.jpg", Problem.of(Reason.INTERNAL_ERROR, "TypeError"))])
    assert "please report it" in run.failed[0][1].sentence
    (logged,) = caplog.records
    assert logged.getMessage() == "b.jpg cannot be stored"
    assert logged.exc_info[1].args == ("no such argument",)
    monkeypatch.undo()
    assert library.names() == ["a.jpg", "c.jpg"]
    assert reasons(library.index().skipped) == reasons(run.failed)
    library.clock.present += pause_after(1)
    assert library.index().indexed == 1
