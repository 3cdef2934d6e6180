"""Which files are one photo, and what moved, copied and edited files become."""

from hashlib import sha1
from itertools import permutations

import pytest

from photosvc.models import File, Photo
from photosvc.search.rows.write import project
from tests.helpers.library import counts, open_library, reasons
from tests.helpers.pictures import apple_note, clouds, dng, encoded, exif, heic, jpeg, quarters, video, xmp


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_longer_video_beside_a_picture_is_found_as_a_video_and_the_picture_as_a_picture(library):
    library.put("IMG_3.jpg", jpeg())
    video(library.put("IMG_3.MOV", b""), frames=24 * 4)
    library.index()
    assert [(record["FileName"], record["Type"]) for record in library.find(order="name")] == [
        ("IMG_3.MOV", "video"),
        ("IMG_3.jpg", "image"),
    ]
    assert library.names(q="live:yes") == []
    assert library.names(q="video:yes") == ["IMG_3.MOV"]


DOCUMENT = "<xmpMM:OriginalDocumentID>xmp.did:7</xmpMM:OriginalDocumentID>"


@pytest.mark.slow
def test_pictures_made_from_one_document_are_one_photo_only_where_they_look_alike(library):
    for number in range(4):
        library.put(f"{number}.jpg", encoded(clouds(number), "JPEG", xmp=xmp(DOCUMENT)))
    library.put("small.jpg", encoded(clouds(2, 160, 120), "JPEG", xmp=xmp(DOCUMENT)))
    library.index()
    assert library.names(primary="true") == ["0.jpg", "1.jpg", "2.jpg", "3.jpg"]
    stacked = {record["FileName"]: record["UID"] for record in library.find(stack="yes")}
    assert sorted(stacked) == ["2.jpg", "small.jpg"]
    assert len(set(stacked.values())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("frames", [12, 24 * 4])
@pytest.mark.parametrize("names", [("MVI_1.THM", "MVI_1.AVI"), ("MVI_1.AVI", "MVI_1.THM")])
def test_the_preview_that_a_camera_writes_beside_a_video_completes_it_and_is_no_photo(library, names, frames):
    made = {"MVI_1.THM": jpeg(160, 120, exif=exif({0x010F: "Canon", 0x0110: "Canon PowerShot S40"}))}
    for name in names:
        path = library.put(name, made.get(name, b""))
        if name not in made:
            video(path, frames=frames)
        library.index()
    (record,) = library.find()
    assert (record["FileName"], record["Type"], record["CameraModel"]) == ("MVI_1.AVI", "video", "PowerShot S40")
    assert library.names(merged="true") == ["MVI_1.AVI"]
    (library.originals / "MVI_1.AVI").unlink()
    library.index()
    assert [(record["FileName"], record["Type"]) for record in library.find()] == [("MVI_1.THM", "image")]


@pytest.mark.slow
@pytest.mark.parametrize("frames", [12, 24 * 4])
@pytest.mark.parametrize("order", [0, 1])
def test_the_video_of_a_pixel_belongs_to_its_picture_however_long_it_is(library, frames, order):
    still, moving = "PXL_20240101_120000000.MP.jpg", "PXL_20240101_120000000.MP"
    for name in (still, moving)[:: -1 if order else 1]:
        path = library.put(name, jpeg())
        if name == moving:
            video(path.with_suffix(".mp4"), frames=frames).rename(path)
        library.index()
    found = library.find()
    assert sorted((record["FileName"], record["Type"]) for record in found) == [(moving, "live"), (still, "live")]
    assert {record["UID"] for record in found} == {found[0]["UID"]}
    assert library.names(primary="true") == [still]


@pytest.mark.slow
def test_the_identifier_of_a_live_photo_joins_a_longer_video_of_another_name_that_comes_later(library):
    note = apple_note(content_id="7B1A-1")
    library.put("a/still.jpg", jpeg(exif=exif({0x010F: "Apple", 0x0110: "iPhone"}, {0x927C: note})))
    library.index()
    (before,) = library.find()
    tags = {"com.apple.quicktime.content.identifier": "7B1A-1"}
    video(library.put("b/moving.mov", b""), frames=24 * 4, tags=tags)
    library.index()
    found = library.find(q="live:yes stack:yes")
    assert sorted((record["FileName"], record["UID"], record["Stack"]) for record in found) == [
        ("a/still.jpg", before["UID"], 1),
        ("b/moving.mov", before["UID"], 1),
    ]
    assert library.names(primary="true") == ["a/still.jpg"]


@pytest.mark.slow
def test_the_setting_names_what_is_stacked_and_a_change_of_it_stacks_unchanged_files_again(tmp_path):
    for kinds, count in (("none", 2), ("edited", 1), ("live, names", 2)):
        library = open_library(tmp_path, settings={"PHOTOSVC_STACK_BY": kinds}, upgrade=count == 2 and kinds == "none")
        if kinds == "none":
            library.put("IMG_1234.jpg", jpeg())
            library.put("IMG_E1234.jpg", jpeg(80, 48))
        assert library.index().failed == []
        assert len({record["UID"] for record in library.find()}) == count
        library.close()


def test_a_file_that_comes_later_joins_its_photo_and_takes_the_lead(library):
    library.put("x.png", encoded(quarters(), "PNG"))
    library.index()
    (before,) = library.find()
    library.put("x.jpg", jpeg())
    library.index()
    assert {record["UID"] for record in library.find()} == {before["UID"]}
    assert library.names(primary="true") == ["x.jpg"]


POSITION = {1: "N", 2: [(52, 1), (30, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]}


def pictured(seed, minute, second=0, model="XZ1", kind="JPEG"):
    """A picture of clouds that a camera took."""
    taken = {0x9003: f"2020:01:01 10:{minute:02}:{second:02}"}
    return encoded(clouds(seed, 64, 48), kind, exif=exif({0x010F: "Sony", 0x0110: model}, taken, POSITION))


def folders(number):
    """Files that come in three steps, and the photos that they are; each number gives other contents."""
    one, other, third, fourth = range(4 * number, 4 * number + 4)
    edited = pictured(fourth, number, 40)
    drawings = (("jpeg", one), ("png", other), ("webp", one))
    return [
        # Two cameras, seconds apart.
        ({"a.jpg": pictured(one, number), "a.png": pictured(other, number, 9, "D80", "PNG"),
          "a.webp": pictured(one, number, kind="WEBP")}, [["a.jpg", "a.webp"], ["a.png"]]),
        # Pictures without a time, of which two look alike.
        ({f"a.{kind}": encoded(clouds(seed), kind) for kind, seed in drawings}, [["a.jpeg", "a.webp"], ["a.png"]]),
        # Unlike pictures of one second, position and camera.
        ({f"{seed}.jpg": pictured(seed, number, 20) for seed in (other, third, fourth)},
         [[f"{other}.jpg"], [f"{third}.jpg"], [f"{fourth}.jpg"]]),
        # An edited copy beside a duplicate.
        ({"z/a.jpg": pictured(third, number, 40), "b/a.jpg": pictured(third, number, 40), "b/a-edited.jpg": edited},
         [["b/a-edited.jpg", "b/a.jpg", "z/a.jpg"]]),
    ]  # fmt: skip


@pytest.mark.slow
def test_every_order_in_which_files_come_gives_the_stacks_of_a_fresh_index(library, tmp_path):
    fresh = open_library(tmp_path)
    expected, contents = set(), {}
    for number in range(6):
        for case, (files, photos) in enumerate(folders(number)):
            expected |= {tuple(f"{number}{case}/{name}" for name in photo) for photo in photos}
            contents |= {f"{number}{case}/{name}": data for name, data in files.items()}
    for step in range(3):
        for number, order in enumerate(permutations(range(3))):
            for case, (files, _) in enumerate(folders(number)):
                name = f"{number}{case}/{list(files)[order[step]]}"
                library.put(name, contents[name])
                fresh.put(name, contents[name])
        library.index()
    fresh.index()
    for indexed in (library, fresh):
        with indexed.session() as session:
            photo_of = {file.hash: file.photo_id for file in session.query(File)}
        found = {}
        for name, data in sorted(contents.items()):
            found.setdefault(photo_of[sha1(data).hexdigest()], []).append(name)
        assert set(map(tuple, found.values())) == expected
    fresh.close()


@pytest.mark.slow
def test_an_edited_copy_leaves_the_stack_when_the_duplicate_beside_it_goes(library):
    for name, seed in (("z/a.jpg", 1), ("b/a.jpg", 1), ("b/a-edited.jpg", 2)):
        library.put(name, pictured(seed, 0))
    library.index()
    library.put("z/a.png", pictured(1, 0, kind="PNG"))
    library.index()
    assert len({record["UID"] for record in library.find()}) == 1
    (library.originals / "b/a.jpg").unlink()
    library.index()
    (left, *others), alone = ([one["UID"] for one in library.find(path=path)] for path in ("z", "b"))
    assert (others, len(alone), left in alone) == ([left], 1, False)


@pytest.mark.slow
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


def test_the_same_content_twice_is_one_file_and_the_other_is_reported_with_its_reason(library):
    library.put("a.jpg", jpeg())
    library.put("copies/a.jpg", jpeg())
    summary = library.index()
    assert reasons(summary.skipped) == [("copies/a.jpg", "the same content as a.jpg")]
    assert library.names() == ["a.jpg"]
    assert reasons(library.index().skipped) == [("copies/a.jpg", "the same content as a.jpg")]


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(("model", "copy"), [("a.jpg", "b.jpg"), ("b.jpg", "a.jpg")])
def test_when_a_file_becomes_another_picture_its_copy_is_not_lost(library, model, copy):
    library.put(model, jpeg())
    library.index()
    library.put(copy, jpeg())
    assert reasons(library.index().skipped) == [(copy, f"the same content as {model}")]
    library.put(model, jpeg(80, 80), age=60)
    library.index()
    assert library.names() == ["a.jpg", "b.jpg"]
    assert counts(library.index()) == (0, 0, 2, 0, 0, 0)


@pytest.mark.slow
def test_a_copy_that_becomes_another_picture_is_one(library):
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg())
    library.index()
    library.put("b.jpg", jpeg(80, 80), age=60)
    assert counts(library.index()) == (1, 0, 1, 0, 0, 0)
    assert library.names() == ["a.jpg", "b.jpg"]


@pytest.mark.slow
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
    assert (shown[copy]["UID"], shown[copy]["Private"], shown[copy]["Favorite"]) == (uid, True, True)
    assert (shown["m/x.jpg"]["Width"], shown["m/x.jpg"]["Private"], shown["m/x.jpg"]["Favorite"]) == (80, True, False)
    assert library.names(token=viewer, path="a|m|z") == []
    again = library.index()
    assert (again.indexed, again.updated, again.unchanged) == (0, 0, 112)


@pytest.mark.slow
def test_a_third_copy_of_what_was_edited_is_one_of_the_second(library):
    library.put("m.jpg", jpeg())
    library.index()
    library.put("a.jpg", jpeg())
    library.put("b.jpg", jpeg())
    library.put("m.jpg", jpeg(80, 80), age=10)
    assert reasons(library.index().skipped) == [("b.jpg", "the same content as a.jpg")]
    assert library.names() == ["a.jpg", "m.jpg"]


@pytest.mark.slow
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
