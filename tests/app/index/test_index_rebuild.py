"""Search rows and whole libraries that are built again are the same."""

import pytest

from photosvc.models import File, LibraryState, SearchDocument
from tests.helpers.clock import NOW
from tests.helpers.library import call_svc
from tests.helpers.pictures import exif, jpeg


def test_search_rows_rendered_again_are_the_same_and_no_original_is_opened(library):
    path = library.put("a.jpg", jpeg())
    library.index()
    before = library.stored()
    path.write_bytes(b"spoilt")
    done = call_svc("index", "--rebuild-search", instance=library.instance)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 search row rendered again.\n")
    assert library.stored() == before


def test_search_rows_of_an_older_version_are_reported_and_rendered_by_the_next_run(library):
    library.put("a.jpg", jpeg())
    library.index()
    before = library.stored()
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


def test_a_second_library_of_the_same_originals_has_the_same_records(library, tmp_path):
    from tests.helpers.library import open_library

    library.put("a.jpg", jpeg(exif=exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})))
    library.put("2019-05-06/b.jpg", jpeg(80, 48))
    library.index()
    other = open_library(tmp_path / "other", settings={"PHOTOSVC_ORIGINALS": library.originals})
    other.index()
    drawn = {"ID", "UID", "FileUID"}
    records = [
        [{name: value for name, value in record.items() if name not in drawn} for record in one.find(order="name")]
        for one in (library, other)
    ]
    assert records[0] == records[1]


def test_files_know_which_photo_they_show(library):
    library.put("a.jpg", jpeg())
    library.index()
    with library.session() as session:
        file = session.query(File).one()
        assert (file.primary, file.missing, file.created_at) == (True, False, NOW)
