"""Files that vanish, break, come back or change their metadata between two runs."""

import json
import shutil

import pytest

from photosvc.core.errors import NotFoundError
from photosvc.models import File, Photo, RejectedFile
from tests.library import call_svc, counts, reasons
from tests.pictures import encoded, exif, jpeg, quarters


def test_a_file_that_comes_back_broken_is_missing_no_more(library):
    library.put("b.jpg", jpeg(80, 48))
    path = library.put("a.jpg", jpeg())
    library.index()
    path.unlink()
    assert library.index().missing == 1
    library.put("a.jpg", b"words", age=10)
    reason = [("a.jpg", "its content is not a picture")]
    assert reasons(library.index().skipped) == reasons(library.index().skipped) == reason
    with library.session() as session:
        file = session.query(File).filter_by(name="a.jpg").one()
        assert (file.missing, file.problem.sentence) == (False, reason[0][1])
    path.unlink()
    assert library.index().missing == 1


def test_a_deleted_file_leaves_the_search_and_comes_back_as_itself(library):
    path = library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.index()
    before = {record["Name"]: record for record in library.find()}
    path.rename(library.instance / "aside.jpg")
    assert counts(library.index()) == (0, 0, 1, 1, 0, 0)
    assert library.names() == ["b.jpg"]
    assert library.index().missing == 0
    (library.instance / "aside.jpg").rename(path)
    assert counts(library.index()) == (0, 1, 1, 0, 0, 0)
    after = {record["Name"]: record for record in library.find()}
    for name in ("UID", "FileUID", "ID", "Quality"):
        assert after["a"][name] == before["a"][name]


def test_one_file_of_a_photo_goes_and_the_other_leads(library):
    path = library.put("a.jpg", jpeg())
    library.put("a.png", encoded(quarters(), "PNG"))
    library.index()
    path.unlink()
    library.index()
    assert library.names(primary="true") == library.names() == ["a.png"]


def test_originals_that_are_not_mounted_mark_nothing_missing(library):
    library.put("a/a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.index()
    library.originals.rename(library.instance / "unmounted")
    with pytest.raises(NotFoundError):
        library.index()
    library.originals.mkdir()
    run = library.index()
    assert (counts(run), run.kept) == ((0, 0, 0, 0, 0, 0), 2)
    assert library.names() == ["a/a.jpg", "b.jpg"]
    sentence = (
        "There is no picture or video in the originals, and 2 in the library: nothing was marked as missing. "
        "Is the disk mounted?\n"
    )
    done = call_svc("index", instance=library.instance)
    assert (done.returncode, done.stderr) == (1, sentence)
    assert json.loads(call_svc("index", "--json", instance=library.instance).stdout)["kept"] == 2


def test_files_of_a_disk_that_is_not_mounted_are_not_marked_as_missing(library):
    for width, name in enumerate(("disk/a.jpg", "disk2/b.jpg", "c.jpg"), start=60):
        library.put(name, jpeg(width, 48))
    library.index()
    for name in ("disk", "disk2"):
        shutil.rmtree(library.originals / name)
    assert library.index(unmounted=frozenset({"disk"})).missing == 1
    assert library.names() == ["c.jpg", "disk/a.jpg"]
    assert library.index().missing == 1
    assert library.names() == ["c.jpg"]


def test_a_broken_file_is_recorded_with_its_reason_and_stops_nothing(library):
    library.put("a.jpg", jpeg(640, 480)[:2000])
    library.put("b.jpg", jpeg())
    summary = library.index()
    assert (summary.indexed, reasons(summary.failed)) == (1, [("a.jpg", "the picture is truncated")])
    again = library.index()
    assert (again.failed, reasons(again.skipped)) == ([], [("a.jpg", "the picture is truncated")])
    assert library.names() == ["b.jpg"]
    library.put("a.jpg", jpeg(640, 480), age=60)
    assert counts(library.index()) == (0, 1, 1, 0, 0, 0)
    assert library.names() == ["a.jpg", "b.jpg"]


def test_a_picture_that_is_spoilt_leaves_the_search_until_it_is_mended(library):
    library.put("a.jpg", jpeg())
    library.index()
    (before,) = library.find()
    library.put("a.jpg", b"", age=60)
    assert reasons(library.index().skipped) == [("a.jpg", "the file is empty")]
    assert library.find() == []
    library.put("a.jpg", jpeg(), age=30)
    assert counts(library.index()) == (0, 1, 0, 0, 0, 0)
    assert [record["UID"] for record in library.find()] == [before["UID"]]
    with library.session() as session:
        assert session.query(RejectedFile).count() == 0


def test_what_a_file_no_longer_says_is_forgotten(library):
    where = {1: "N", 2: [(48, 1), (51, 1), (0, 1)], 3: "E", 4: [(2, 1), (17, 1), (0, 1)], 6: [(35, 1)]}
    tags = exif({0x010F: "Canon", 0x0110: "R5", 0x010E: "words"}, {0x9003: "2019:01:02 03:04:05"}, where)
    library.put("a.jpg", jpeg(exif=tags))
    library.index()
    assert library.find()[0]["Country"] == "fr"
    library.put("a.jpg", jpeg(80, 80), age=7200)
    library.index()
    (after,) = library.find()
    forgotten = {
        "Lat": 0, "Lng": 0, "CellID": "zz", "PlaceID": "zz", "Country": "zz", "PlaceSrc": "", "CameraID": 1,
        "Description": "", "TakenSrc": "", "TakenAt": "2026-03-01T10:00:00Z", "Title": "Unknown",
    }  # fmt: skip
    assert {name: after[name] for name in forgotten} == forgotten
    assert "Altitude" not in after


def test_what_people_said_stays_whatever_the_file_says(library):
    library.put("a.jpg", jpeg(exif=exif({0x010E: "the camera's"})))
    library.index()
    with library.session() as session:
        photo = session.query(Photo).one()
        photo.title, photo.title_src = "Mine", "manual"
        photo.description, photo.description_src = "Mine too", "manual"
        photo.lat, photo.lng, photo.place_src, photo.favorite = 1.5, 2.5, "manual", True
    library.index(force=True)
    (after,) = library.find()
    assert (after["Title"], after["Description"]) == ("Mine", "Mine too")
    assert (after["Lat"], after["Lng"], after["Favorite"]) == (1.5, 2.5, True)
