"""Files that vanish, break, come back or change their metadata between two runs."""

import json
import shutil

import pytest

from photosvc.core.errors import NotFoundError
from photosvc.index import mounts as disks
from photosvc.index import worklist
from photosvc.index.scan import scan as scan_folder
from photosvc.models import File, RejectedFile
from tests.helpers.library import call_svc, counts, reasons
from tests.helpers.pictures import encoded, exif, jpeg, quarters


def test_deleted_broken_and_spoilt_files_leave_the_search_and_come_back_as_themselves(library):
    path = library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg(80, 48))
    library.put("b.png", encoded(quarters(), "PNG"))
    truncated = library.put("c.jpg", jpeg(640, 480)[:2000])
    run = library.index()
    assert (run.indexed, reasons(run.failed)) == (3, [("c.jpg", "the picture is truncated")])
    run = library.index()
    assert (run.failed, reasons(run.skipped)) == ([], [("c.jpg", "the picture is truncated")])
    before = {record["FileName"]: record for record in library.find()}
    path.rename(library.instance / "aside.jpg")
    (library.originals / "b.jpg").unlink()
    assert counts(library.index()) == (0, 0, 1, 2, 1, 0)
    assert library.names() == library.names(primary="true") == ["b.png"]
    assert library.index().missing == 0
    reason = [("a.jpg", "its content is not a picture"), ("c.jpg", "the picture is truncated")]
    library.put("a.jpg", b"words", age=10)
    for _ in range(2):
        assert sorted(reasons(library.index().skipped)) == reason
    with library.session() as session:
        file = session.query(File).filter_by(name="a.jpg").one()
        assert (file.missing, file.problem.sentence) == (False, reason[0][1])
    path.unlink()
    assert library.index().missing == 1
    library.put("a.jpg", b"", age=60)
    assert ("a.jpg", "the file is empty") in reasons(library.index().skipped)
    (library.instance / "aside.jpg").rename(path)
    library.put(truncated.name, jpeg(640, 480), age=60)
    assert counts(library.index()) == (0, 2, 1, 0, 0, 0)
    after = {record["FileName"]: record for record in library.find()}
    assert sorted(after) == ["a.jpg", "b.png", "c.jpg"]
    names = ("UID", "FileUID", "ID", "Quality")
    assert [after["a.jpg"][name] for name in names] == [before["a.jpg"][name] for name in names]
    with library.session() as session:
        assert session.query(RejectedFile).count() == 0


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
    assert done.returncode == 1
    assert done.stderr.endswith(sentence)
    assert json.loads(call_svc("index", "--json", instance=library.instance).stdout)["kept"] == 2
    library.put("NOT-MOUNTED", b"The disk is not mounted.\n")  # is no sign of pictures
    for _ in range(2):
        assert library.index().missing == 0
    assert library.names() == ["a/a.jpg", "b.jpg"]


@pytest.fixture
def mounts(library, monkeypatch):
    """The folders on which disks are mounted, below the originals of the library; the system would need its root."""
    found = set()
    root = library.originals.resolve()
    monkeypatch.setattr(disks, "mounts_below", lambda _: {f"{root}/{name}": "1" for name in found})
    return found


def with_two_disks(library, mounts):
    for width, name in enumerate(("disk/in/a.jpg", "disk2/b.jpg", "c.jpg"), start=60):
        library.put(name, jpeg(width, 48))
    mounts.update({"disk", ".snapshots"})
    library.index()
    mounts.clear()
    for name in ("disk", "disk2"):
        shutil.rmtree(library.originals / name)
        (library.originals / name).mkdir()


def test_files_of_a_disk_that_was_mounted_are_not_marked_as_missing_without_it(library, mounts):
    with_two_disks(library, mounts)
    sentence = "No disk is mounted on disk any more: its files (1) were not marked as missing. Run `svc purge` if it"
    for folder, missing in (("disk", 0), ("", 1), ("", 0)):
        run = library.index(subfolder=folder)
        assert (run.missing, run.left, run.unmounted) == (missing, 1, {"disk": 1})
        assert run.warning.startswith(sentence)
    assert library.index(subfolder="disk2").warning == ""
    assert library.names() == ["c.jpg", "disk/in/a.jpg"]
    done = call_svc("index", "--json", "disk", instance=library.instance)
    assert (done.returncode, json.loads(done.stdout)["kept"]) == (1, 1)
    mounts.add("disk")
    assert (library.index().missing, library.names()) == (1, ["c.jpg"])


def test_a_disk_that_goes_or_comes_back_in_the_middle_of_a_scan_takes_no_file_along(library, mounts, monkeypatch):
    with_two_disks(library, mounts)
    mounts.add("disk2")
    library.put("disk2/b.jpg", jpeg(61, 48))
    library.index()
    shutil.rmtree(library.originals / "disk2")
    root = library.originals.resolve()
    for former, later, expected in (
        ({"disk2": "1"}, {}, {"disk": 1, "disk2": 1}),
        ({}, {"disk": "2"}, {"disk": 1, "disk2": 1}),
        ({"disk": "1"}, {"disk": "2"}, {"disk": 1, "disk2": 1}),
    ):
        mounted = dict(former)

        def scan(*given, mounted=mounted, later=later):
            found = list(scan_folder(*given))
            mounted.clear()
            mounted.update(later)
            return iter(found)

        monkeypatch.setattr(
            disks, "mounts_below", lambda _, mounted=mounted: {f"{root}/{name}": one for name, one in mounted.items()}
        )
        monkeypatch.setattr(worklist, "scan", scan)
        assert library.index().unmounted == expected, (former, later)


def test_a_purge_marks_the_files_of_a_disk_that_went_and_forgets_it(library, mounts):
    with_two_disks(library, mounts)
    dry = call_svc("purge", "--dry-run", instance=library.instance)
    assert dry.stderr == "No disk is mounted on disk any more: its files count as gone.\n"
    assert library.index().left == 1
    done = call_svc("purge", instance=library.instance)
    assert done.stdout == "2 missing, 1 newly marked; 2 photos without files\n"
    assert (library.index().warning, library.names()) == ("", ["c.jpg"])


def test_a_folder_that_has_the_name_of_a_disk_with_more_behind_it_is_no_part_of_the_disk(library, mounts):
    for width, name in enumerate(("d/a.jpg", "d0/b.jpg", "d-/c.jpg", "d.jpg"), start=60):
        library.put(name, jpeg(width, 48))
    mounts.add("d")
    library.index()
    mounts.clear()
    for name in ("d/a.jpg", "d0/b.jpg", "d-/c.jpg"):
        (library.originals / name).unlink()
    run = library.index()
    assert (run.missing, run.unmounted) == (2, {"d": 1})


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


def test_the_last_file_of_a_subfolder_is_missing_when_there_are_others_elsewhere(library):
    library.put("in/a.jpg", jpeg())
    library.put("out/b.jpg", jpeg(80, 48))
    library.index()
    (library.originals / "in/a.jpg").unlink()
    assert counts(library.index(subfolder="in")) == (0, 0, 0, 1, 0, 0)
    (library.originals / "out/b.jpg").unlink()
    assert counts(library.index(subfolder="out")) == (0, 0, 0, 0, 0, 0)
