"""What an index run promises: what it makes of files, what the next run leaves alone, what comes and goes."""

import os
import subprocess
import sys

import pytest

from photosvc.core.errors import ConflictError, NotFoundError
from photosvc.models import File, LibraryState, Photo, RejectedFile, SearchDocument
from photosvc.search.projection.project import project
from tests.clock import NOW
from tests.library import SURROUNDINGS, hashes, svc
from tests.pictures import dng, encoded, exif, heic, jpeg, quarters, video


def counts(summary):
    found = (summary.indexed, summary.updated, summary.unchanged, summary.missing)
    return (*found, len(summary.skipped), len(summary.failed))


def changes(library):
    with library.session() as session:
        return session.get(LibraryState, "changes").value


def test_a_second_run_changes_nothing_and_opens_no_unchanged_file(library):
    first = library.put("2020/a.jpg", jpeg(exif=exif({0x010F: "Canon"})))
    library.put("b.png", encoded(quarters(), "PNG"))
    library.put("empty.jpg", b"")
    library.put("notes.pdf", b"%PDF")
    assert counts(library.index()) == (2, 0, 0, 0, 2, 0)
    before, count = library.stored(), changes(library)
    status = first.stat()
    first.write_bytes(b"\0" * status.st_size)  # whoever opened it would notice
    os.utime(first, ns=(status.st_atime_ns, status.st_mtime_ns))
    library.clock.move(days=1)
    assert counts(library.index()) == (0, 0, 2, 0, 2, 0)
    assert library.stored() == before
    assert changes(library) == count


def test_force_reads_again_and_leaves_records_as_they_were_but_for_the_time_of_the_check(library):
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


def test_force_notices_what_size_and_time_hide(library):
    path = library.put("a.jpg", jpeg())
    library.index()
    status = path.stat()
    path.write_bytes(b"\0" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert library.index(force=True).failed == []
    assert library.names() == []


def test_a_dry_run_counts_and_writes_nothing(library):
    library.put("a.jpg", jpeg())
    assert counts(library.index(dry_run=True)) == (1, 0, 0, 0, 0, 0)
    assert library.find() == []
    library.index()
    library.put("a.jpg", jpeg(80, 80), age=60)
    library.put("b.jpg", jpeg(90, 80))
    assert counts(library.index(dry_run=True)) == (1, 1, 0, 0, 0, 0)
    assert len(library.find()) == 1


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_number_of_workers_makes_no_difference(library, workers):
    for number in range(12):
        library.put(f"{number:02}.jpg", jpeg(64 + number, 48))
    assert counts(library.index(workers=workers)) == (12, 0, 0, 0, 0, 0)
    assert library.names(count=50) == [f"{number:02}.jpg" for number in range(12)]


def test_only_a_subfolder_is_looked_at_when_one_is_named(library):
    library.put("in/a.jpg", jpeg())
    library.put("in%/b.jpg", jpeg(70, 48))
    library.put("out/c.jpg", jpeg(80, 48))
    assert counts(library.index(subfolder="in")) == (1, 0, 0, 0, 0, 0)
    assert library.names() == ["in/a.jpg"]
    library.index()
    (library.originals / "out/c.jpg").unlink()
    (library.originals / "in%/b.jpg").unlink()
    assert counts(library.index(subfolder="in")) == (0, 0, 1, 0, 0, 0)
    assert library.names() == ["in%/b.jpg", "in/a.jpg", "out/c.jpg"]
    with pytest.raises(NotFoundError):
        library.index(subfolder="nowhere")


def test_a_raw_and_its_jpeg_are_one_photo_shown_by_the_jpeg(library):
    library.put("a/IMG_1.JPG", jpeg(640, 480))
    dng(library.put("a/IMG_1.dng", b""))
    library.put("b/IMG_1.jpg", jpeg(80, 48))
    assert counts(library.index()) == (3, 0, 0, 0, 0, 0)
    shown = {record["FileName"]: record for record in library.find()}
    pair = shown["a/IMG_1.JPG"], shown["a/IMG_1.dng"]
    assert pair[0]["UID"] == pair[1]["UID"] != shown["b/IMG_1.jpg"]["UID"]
    assert [(record["Type"], record["Stack"], record["CameraModel"]) for record in pair] == [("raw", 1, "M10")] * 2
    assert library.names(primary="true") == ["a/IMG_1.JPG", "b/IMG_1.jpg"]
    assert pair[0]["ID"].split("-")[0] == pair[1]["ID"].split("-")[0]


def test_a_still_and_a_short_video_are_a_live_photo(library):
    library.put("IMG_2.HEIC", heic())
    video(library.put("IMG_2.MOV", b""), codec="libx264")
    library.index()
    found = library.find()
    assert {(record["Type"], record["UID"]) for record in found} == {("live", found[0]["UID"])}
    assert library.names(primary="true") == ["IMG_2.HEIC"]
    assert {record["Duration"] for record in found} == {500_000_000}


def test_a_file_that_comes_later_joins_its_photo_and_takes_the_lead(library):
    library.put("x.png", encoded(quarters(), "PNG"))
    library.index()
    (before,) = library.find()
    library.put("x.jpg", jpeg())
    library.index()
    assert {record["UID"] for record in library.find()} == {before["UID"]}
    assert library.names(primary="true") == ["x.jpg"]


def test_a_renamed_file_keeps_its_uids_and_hash(library):
    path = library.put("old/a.jpg", jpeg())
    library.put("z.jpg", jpeg(80, 48))
    library.index()
    (before,) = (record for record in library.find() if record["Name"] == "a")
    (library.originals / "new").mkdir()
    path.rename(library.originals / "new/b.jpg")
    assert counts(library.index()) == (0, 1, 1, 0, 0, 0)
    (after,) = (record for record in library.find() if record["Name"] == "b")
    for name in ("UID", "FileUID", "Hash", "ID", "CreatedAt"):
        assert after[name] == before[name]
    assert (after["FileName"], after["Path"], after["Name"]) == ("new/b.jpg", "new", "b")


def test_the_same_content_twice_is_one_file_and_the_other_is_told_with_its_reason(library):
    library.put("a.jpg", jpeg())
    library.put("copies/a.jpg", jpeg())
    summary = library.index()
    assert summary.skipped == [("copies/a.jpg", "the same content as a.jpg")]
    assert library.names() == ["a.jpg"]
    assert library.index().skipped == [("copies/a.jpg", "the same content as a.jpg")]


def test_when_a_file_goes_its_copy_takes_over_with_the_same_uids(library):
    path = library.put("a.jpg", jpeg())
    library.put("copies/b.jpg", jpeg())
    library.index()
    (before,) = library.find()
    path.unlink()
    library.index()
    library.index()
    (after,) = library.find()
    assert (after["FileName"], after["UID"], after["FileUID"]) == ("copies/b.jpg", before["UID"], before["FileUID"])


@pytest.mark.parametrize(("model", "copy"), [("a.jpg", "b.jpg"), ("b.jpg", "a.jpg")])
def test_when_a_file_becomes_another_picture_its_copy_is_not_lost(library, model, copy):
    library.put(model, jpeg())
    library.index()
    library.put(copy, jpeg())
    assert library.index().skipped == [(copy, f"the same content as {model}")]
    library.put(model, jpeg(80, 80), age=60)
    library.index()
    assert library.names() == ["a.jpg", "b.jpg"]
    assert counts(library.index()) == (0, 0, 2, 0, 0, 0)


def test_a_copy_that_becomes_another_picture_is_one(library):
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg())
    library.index()
    library.put("b.jpg", jpeg(80, 80), age=60)
    assert counts(library.index()) == (1, 0, 1, 0, 0, 0)
    assert library.names() == ["a.jpg", "b.jpg"]


@pytest.mark.parametrize("copy", ["a/copy.jpg", "z/copy.jpg"])
def test_a_private_picture_stays_private_when_it_is_edited_beside_a_copy_of_its_old_bytes(library, copy):
    library.put("m/x.jpg", jpeg())
    library.index()
    with library.session() as session:
        photo = session.query(Photo).one()
        photo.private = photo.favorite = True
        uid = photo.uid
        project(session, [photo.id])
    viewer, admin = library.token(role="viewer"), library.token(role="admin")
    for number in range(110):  # the copy and the edit come in different batches
        library.put(f"n/{number:03}.jpg", jpeg(100 + number, 48))
    library.put(copy, jpeg())
    library.put("m/x.jpg", jpeg(80, 80), age=10)
    library.index()
    shown = {record["FileName"]: record for record in library.find(token=admin, path="a|m|z")}
    assert (shown["m/x.jpg"]["UID"], shown["m/x.jpg"]["Private"], shown["m/x.jpg"]["Favorite"]) == (uid, True, True)
    assert (shown["m/x.jpg"]["Width"], shown[copy]["UID"] != uid) == (80, True)
    assert library.names(token=viewer, path="m") == []
    again = library.index()
    assert (again.indexed, again.updated, again.unchanged) == (0, 0, 112)


def test_a_third_copy_of_what_was_edited_is_one_of_the_second(library):
    library.put("m.jpg", jpeg())
    library.index()
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg())
    library.put("m.jpg", jpeg(80, 80), age=10)
    assert library.index().skipped == [("b.jpg", "the same content as a.jpg")]
    assert library.names() == ["a.jpg", "m.jpg"]


def test_a_file_whose_old_name_became_a_link_to_it_has_moved(library):
    path = library.put("old/a.jpg", jpeg())
    library.index()
    (before,) = library.find()
    (library.originals / "old").rename(library.originals / "new")
    path.parent.mkdir()
    path.symlink_to(library.originals / "new/a.jpg")
    library.index()
    (after,) = library.find()
    assert (after["FileName"], after["UID"]) == ("new/a.jpg", before["UID"])
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to("new")
    assert counts(library.index())[:4] == (0, 0, 1, 0)
    assert [record["UID"] for record in library.find()] == [before["UID"]]


def test_a_file_that_comes_back_broken_is_missing_no_more(library):
    library.put("b.jpg", jpeg(80, 48))
    path = library.put("a.jpg", jpeg())
    library.index()
    path.unlink()
    assert library.index().missing == 1
    library.put("a.jpg", b"words", age=10)
    reason = [("a.jpg", "its content is not a picture")]
    assert library.index().skipped == library.index().skipped == reason
    with library.session() as session:
        file = session.query(File).filter_by(name="a.jpg").one()
        assert (file.missing, file.error) == (False, reason[0][1])
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
    assert counts(library.index()) == (0, 0, 0, 0, 0, 0)
    assert library.names() == ["a/a.jpg", "b.jpg"]


def test_a_broken_file_is_recorded_with_its_reason_and_stops_nothing(library):
    library.put("a.jpg", jpeg(640, 480)[:2000])
    library.put("b.jpg", jpeg())
    summary = library.index()
    assert (summary.indexed, summary.failed) == (1, [("a.jpg", "the picture is truncated")])
    again = library.index()
    assert (again.failed, again.skipped) == ([], [("a.jpg", "the picture is truncated")])
    assert library.names() == ["b.jpg"]
    library.put("a.jpg", jpeg(640, 480), age=60)
    assert counts(library.index()) == (0, 1, 1, 0, 0, 0)
    assert library.names() == ["a.jpg", "b.jpg"]


def test_a_picture_that_is_spoilt_leaves_the_search_until_it_is_mended(library):
    library.put("a.jpg", jpeg())
    library.index()
    (before,) = library.find()
    library.put("a.jpg", b"", age=60)
    assert library.index().skipped == [("a.jpg", "the file is empty")]
    assert library.find() == []
    library.put("a.jpg", jpeg(), age=30)
    assert counts(library.index()) == (0, 1, 0, 0, 0, 0)
    assert [record["UID"] for record in library.find()] == [before["UID"]]
    with library.session() as session:
        assert session.query(RejectedFile).count() == 0


def test_what_a_file_no_longer_says_is_forgotten(library):
    where = {1: "N", 2: [(48, 1), (51, 1), (0, 1)], 3: "E", 4: [(2, 1), (17, 1), (0, 1)], 6: [(35, 1)]}
    told = exif({0x010F: "Canon", 0x0110: "R5", 0x010E: "words"}, {0x9003: "2019:01:02 03:04:05"}, where)
    library.put("a.jpg", jpeg(exif=told))
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


def test_a_second_run_at_the_same_time_is_refused(library):
    import fcntl

    cache = library.instance / "cache"
    cache.mkdir(exist_ok=True)
    with (cache / "index.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ConflictError, match="Another index run is going on"):
            library.index()
    assert counts(library.index()) == (0, 0, 0, 0, 0, 0)


def test_indexing_changes_no_byte_mode_or_time_of_the_originals(library):
    library.put("a.jpg", jpeg()).chmod(0o400)
    library.put("b.jpg", jpeg(640, 480)[:900])
    library.put("c.txt", b"words")
    before = hashes(library.originals)
    library.index()
    library.index(force=True)
    assert hashes(library.originals) == before


def test_the_command_line_ends_with_1_for_a_new_broken_file_and_then_with_0(library):
    library.put("a.jpg", jpeg(640, 480)[:2000])
    library.put("b.jpg", jpeg())
    first = svc("index", instance=library.instance)
    assert (first.returncode, first.stderr) == (1, "failed a.jpg: the picture is truncated\n")
    assert first.stdout.startswith("1 indexed, 0 updated, 0 unchanged, 0 missing, 0 skipped, 1 failed in ")
    second = svc("index", instance=library.instance)
    assert (second.returncode, second.stderr) == (0, "skipped a.jpg: the picture is truncated\n")
    assert second.stdout.startswith("0 indexed, 0 updated, 1 unchanged, 0 missing, 1 skipped, 0 failed in ")


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(("pillow_heif", "rawpy", "av", "numpy")))
"""


def test_without_the_optional_decoders_jpeg_is_indexed_and_the_rest_says_what_it_needs(library, tmp_path):
    library.put("a.jpg", jpeg())
    library.put("b.heic", heic())
    dng(library.put("c.dng", b""))
    video(library.put("d.mp4", b""))
    blocker = tmp_path / "without"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text(WITHOUT)
    path = os.pathsep.join(filter(None, (str(blocker), SURROUNDINGS.get("PYTHONPATH"))))
    first = svc("index", instance=library.instance, environ={"PYTHONPATH": path})
    reason = "needs the extra \"{0}\": pip install 'photosvc[{0}]'"
    assert first.stderr.splitlines() == [
        f"skipped b.heic: {reason.format('heic')}",
        f"skipped c.dng: {reason.format('raw')}",
        f"skipped d.mp4: {reason.format('video')}",
    ]
    assert first.returncode == 0
    assert library.names() == ["a.jpg"]
    again = svc("index", instance=library.instance, environ={"PYTHONPATH": path})
    assert again.stdout.startswith("0 indexed, 0 updated, 1 unchanged, 0 missing, 3 skipped, 0 failed")
    assert counts(library.index())[:4] == (0, 3, 1, 0)
    assert library.names() == ["a.jpg", "b.heic", "c.dng", "d.mp4"]


def test_the_summary_as_json(library):
    import json

    library.put("a.jpg", jpeg())
    library.put("b.jpg", b"words")
    done = svc("index", "--json", "--workers", "1", instance=library.instance)
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads(done.stdout)
    assert record.pop("seconds") > 0
    assert record == {
        "indexed": 1, "updated": 0, "unchanged": 0, "missing": 0, "failed": [], "dry_run": False,
        "skipped": [{"name": "b.jpg", "reason": "its content is not a picture"}],
    }  # fmt: skip


def test_search_rows_made_anew_are_the_same_and_no_original_is_opened(library):
    path = library.put("a.jpg", jpeg())
    library.index()
    before = library.stored()
    path.write_bytes(b"spoilt")
    done = svc("index", "--rebuild-search", instance=library.instance)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 search rows made anew.\n")
    assert library.stored() == before


def test_search_rows_of_an_older_version_are_told_and_made_anew_by_the_next_run(library):
    library.put("a.jpg", jpeg())
    library.index()
    before = library.stored()
    with library.session() as session:
        session.get(LibraryState, "projection").value -= 1
        session.query(SearchDocument).one().result = '{"old": true}'
    told = svc("db", "upgrade", instance=library.instance)
    assert told.stderr.splitlines()[1:] == [
        "An older version made the search rows: the next `svc index` makes them anew."
    ]
    assert library.index(dry_run=True).rebuilt == 0
    done = svc("index", instance=library.instance)
    assert done.stderr == "An older version had made the search rows: 1 made anew.\n"
    assert library.stored() == before
    assert svc("index", instance=library.instance).stderr == ""
    assert len(svc("db", "upgrade", instance=library.instance).stderr.splitlines()) == 1


def test_a_library_made_anew_from_its_originals_says_the_same(library, tmp_path):
    from tests.library import open_library

    library.put("a.jpg", jpeg(exif=exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})))
    library.put("2019-05-06/b.jpg", jpeg(80, 48))
    library.index()
    other = open_library(tmp_path / "other", settings={"PHOTOSVC_ORIGINALS": library.originals})
    other.index()
    drawn = {"ID", "UID", "FileUID"}
    told = [
        [{name: value for name, value in record.items() if name not in drawn} for record in one.find(order="name")]
        for one in (library, other)
    ]
    assert told[0] == told[1]


def test_files_know_which_photo_they_show(library):
    library.put("a.jpg", jpeg())
    library.index()
    with library.session() as session:
        file = session.query(File).one()
        assert (file.primary, file.missing, file.created_at) == (True, False, NOW)


def test_a_run_needs_no_main_guard_in_the_calling_program(library):
    library.put("a.jpg", jpeg())
    program = f"""
from pathlib import Path
from photosvc.app import create_app
from photosvc.web.current import current_service
from photosvc.index.job import IndexOptions, run_index
app = create_app(instance={str(library.instance)!r}, environ={{}})
with app.app_context():
    service = current_service()
    print(run_index(service.session, service.settings, service.clock, IndexOptions(workers=2)).indexed)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=SURROUNDINGS, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr) == ("1\n", "")
