"""Index runs on both databases, where their statements, locks and limits differ."""

import struct
from threading import Thread

import pytest
from sqlalchemy import select

from photosvc.core.errors import ConflictError
from photosvc.index.requests import IndexRequest, enqueue, waiting
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import INDEX
from photosvc.models import Job, copy_sidecars
from photosvc.models.engine import write_session
from tests.app.index.test_index_estimated_places import PARIS, VERSAILLES, places, put
from tests.app.index.test_index_identity import NAMES, live
from tests.app.index.test_index_sidecars import photos, put_copies, title_words_and_rating
from tests.helpers.clock import NOW, MovedClock
from tests.helpers.library import open_library, reasons
from tests.helpers.pictures import exif, jpeg, rational


@pytest.fixture
def library(new_database, tmp_path):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    yield library
    library.close()


def test_what_people_entered_stays_with_the_content_and_places_and_stacks_are_found(library):
    for numbers, partial in (((1, 2, 3, 4, 5), False), ((2, 3, 1, 6, 4), True), ((7, 2, 2, None, 6), False)):
        live(library, dict(zip(NAMES, numbers, strict=True)), partial=partial)
    put(library, "1.jpg", 0, PARIS)
    put(library, "y/1-edited.jpg", 0, PARIS)
    put(library, "2.jpg", 1)
    library.index()
    put(library, "3.jpg", 2, VERSAILLES)
    library.index()
    assert places(library)["2.jpg"] == ("estimate", 48.832, 2.207, "Sèvres")
    assert library.names(q="stack:yes") == ["1.jpg", "y/1-edited.jpg"]


def test_a_deleted_copy_leaves_no_link_to_its_sidecar_behind(library):
    put_copies(library)
    library.index()
    assert photos(library, title_words_and_rating) == {"a/p": ("Morning", ["boat", "fog", "lake"], 3)}
    (library.originals / "b/q.jpg").unlink()
    library.index()
    assert photos(library, title_words_and_rating) == {"a/p": ("Unknown", ["boat", "lake"], 3)}
    with library.session() as session:
        assert session.query(copy_sidecars).count() == 0


def vast_tiff():
    """A TIFF whose header promises 2^32-1 times 2^32-1 pixels."""
    most = 2**32 - 1
    tags = ((256, most), (257, most), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, most), (279, 4))
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + b"\0" * 68


def test_no_header_or_path_is_too_large_for_the_database(library):
    library.put("vast.tiff", vast_tiff())
    numbers = {0x8827: (4, 1, b"\xff\xff\xff\xff"), 0x920A: rational(2**32 - 1, 1), 0xA405: 65_535}
    library.put("numbers.jpg", jpeg(exif=exif({0x4746: 65_535}, numbers)))
    folder = "/".join("".join(map(chr, range(start, start + 60))) for start in range(0x4E00, 0x4E00 + 300, 60))
    library.put(f"{folder}/x.jpg", jpeg(80, 48))
    library.put(f"{folder}/{folder}/x.jpg", jpeg(90, 48))
    summary = library.index()
    assert summary.indexed == 2
    needs = "the picture takes 18446744065119 MB of memory to decode, more than PHOTOSVC_INDEX_MEMORY leaves"
    assert reasons(summary.failed) == [("vast.tiff", needs)]
    assert [sentence for _, sentence in reasons(summary.skipped)] == ["its path is longer than 1024 bytes"]
    assert library.names() == ["numbers.jpg", f"{folder}/x.jpg"]


def test_the_jobs_of_a_killed_indexer_are_taken_by_another_one_and_it_writes_no_more(engine):
    clock = MovedClock()

    def begin():
        lease = Lease(engine, clock)
        lease.begin(INDEX, "", {"force": False}, covers=IndexRequest("").covers)
        return lease

    with write_session(engine) as session:
        enqueue(session, NOW, "a")
        enqueue(session, NOW, "b")
    killed = begin()
    with pytest.raises(ConflictError, match="Another index run is active"):
        begin()
    clock.move(seconds=90)
    other = begin()
    with write_session(engine) as session:
        for write in (killed.check, killed.finish):
            with pytest.raises(ConflictError):
                write(session)
        other.check(session)
        enqueue(session, NOW, "b", force=True)  # it came meanwhile
    killed.end(OSError())
    with write_session(engine) as session:
        other.finish(session)
        assert [(one.folder, one.force) for one in waiting(session)] == [("b", True)]
        states = session.execute(select(Job.subject, Job.state, Job.attempts).order_by(Job.id)).all()
    assert states == [("b", "waiting", 0), ("", "interrupted", 1), ("", "done", 1)]


def test_writers_that_wish_for_one_folder_at_the_same_time_all_succeed(engine):
    def ask():
        for _ in range(10):
            with write_session(engine) as session:
                enqueue(session, NOW, "a")

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with write_session(engine) as session:
        assert [(one.folder, one.force) for one in waiting(session)] == [("a", False)]
