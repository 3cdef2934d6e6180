"""Files that are one photo, and what moved, copied and edited files become."""

from itertools import permutations

from tests.helpers.library import counts, open_library, reasons
from tests.helpers.pictures import apple_note, clouds, dng, encoded, exif, heic, jpeg, video, xmp

POSITION = {1: "N", 2: [(52, 1), (30, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]}
LONG = 24 * 4
DOCUMENT = xmp("<xmpMM:OriginalDocumentID>xmp.did:7</xmpMM:OriginalDocumentID>")


def write(library, name, content):
    """Write a file of bytes, or one that a function writes."""
    path = library.put(name, content if isinstance(content, bytes) else b"")
    if not isinstance(content, bytes):
        content(path)


def film(frames, **options):
    def write_film(path):
        made = path.with_suffix(".mp4") if path.suffix in (".MP", ".LRV") else path
        video(made, frames=frames, **options).rename(path)

    return write_film


def stacks(library):
    """Folder -> its files by photos: the type, the primary file and the other ones."""
    found = {}
    for record in library.find(order="name", count=999):
        found.setdefault(record["UID"], []).append(record)
    primary = set(library.names(primary="true", count=999))
    photos = {}
    for records in found.values():
        names = sorted((record["FileName"] not in primary, record["FileName"].split("/")[-1]) for record in records)
        (kind,) = {record["Type"] for record in records}
        folder = records[0]["FileName"].partition("/")[0]
        photos.setdefault(folder, []).append((kind, *(name for _, name in names)))
    return {folder: sorted(stacked) for folder, stacked in photos.items()}


def test_files_that_belong_together_are_one_photo_with_its_type_and_primary_file_in_any_order(tmp_path):
    camera = exif({0x010F: "Canon", 0x0110: "Canon PowerShot S40"})
    note = apple_note(content_id="7B1A-1")
    tags = {"com.apple.quicktime.content.identifier": "7B1A-1"}
    pairs = {
        "raw": {"1.JPG": jpeg(640, 480), "1.dng": dng},
        "live": {"2.HEIC": heic(), "2.MOV": film(12, codec="libx264")},
        "long": {"3.jpg": jpeg(80, 48), "3.MOV": film(LONG)},
        "preview": {"M.THM": jpeg(160, 120, exif=camera), "M.AVI": film(12)},
        "long preview": {"M.THM": jpeg(168, 120, exif=camera), "M.AVI": film(LONG + 1)},
        "pixel": {"PXL_1.MP.jpg": jpeg(90, 48), "PXL_1.MP": film(13)},
        "long pixel": {"PXL_1.MP.jpg": jpeg(100, 48), "PXL_1.MP": film(LONG + 2)},
        "named": {
            "still.jpg": jpeg(exif=exif({0x010F: "Apple", 0x0110: "iPhone"}, {0x927C: note})),
            "moving.mov": film(LONG + 3, tags=tags),
        },
        "later": {"x.png": encoded(clouds(9), "PNG"), "x.jpg": encoded(clouds(9), "JPEG")},
        "document": {
            "0.jpg": encoded(clouds(10), "JPEG", xmp=DOCUMENT),
            "1.jpg": encoded(clouds(11), "JPEG", xmp=DOCUMENT),
        },
        "gopro": {"GX010123.MP4": film(LONG + 4), "GL010123.LRV": film(LONG + 5)},
        "small copy": {"GL010123.LRV": film(LONG + 6)},
        "conflict": {
            "c.jpg": encoded(clouds(12), "JPEG"),
            "c (conflicted copy).jpg": encoded(clouds(12, 640, 480), "JPEG"),
        },
        "small": {"1s.jpg": encoded(clouds(11, 160, 120), "JPEG", xmp=DOCUMENT)},
    }
    expected = {
        "raw": [("raw", "1.JPG", "1.dng")],
        "live": [("live", "2.HEIC", "2.MOV")],
        "long": [("image", "3.jpg"), ("video", "3.MOV")],
        "preview": [("video", "M.AVI")],
        "long preview": [("video", "M.AVI")],
        "pixel": [("live", "PXL_1.MP.jpg", "PXL_1.MP")],
        "long pixel": [("live", "PXL_1.MP.jpg", "PXL_1.MP")],
        "named": [("live", "still.jpg", "moving.mov")],
        "later": [("image", "x.jpg", "x.png")],
        "gopro": [("video", "GX010123.MP4")],
        "small copy": [("video", "GL010123.LRV")],
        "conflict": [("image", "c.jpg", "c (conflicted copy).jpg")],
        "document": [("image", "0.jpg"), ("image", "1.jpg", "1s.jpg")],
    }
    for order in (1, -1):
        library = open_library(tmp_path / str(order))
        for step in (0, 1):
            for folder, files in pairs.items():
                for name, content in list(files.items())[::order][step : step + 1]:
                    write(library, f"{folder}/{name}", content)
            library.index()
        assert stacks(library) == expected, order
        library.close()
    assert {record["CameraModel"] for record in library.find(path="preview|long preview")} == {"PowerShot S40"}
    assert {record["Duration"] for record in library.find(path="live")} == {500_000_000}
    (library.originals / "preview/M.AVI").unlink()
    library.index()
    assert stacks(library)["preview"] == [("image", "M.THM")]


def test_the_setting_names_what_is_stacked_and_a_change_of_it_stacks_unchanged_files_again(tmp_path):
    for kinds, count in (("none", 2), ("edited", 1), ("live, names", 2)):
        library = open_library(tmp_path, settings={"PHOTOSVC_STACK_BY": kinds}, upgrade=kinds == "none")
        if kinds == "none":
            library.put("IMG_1234.jpg", jpeg())
            library.put("IMG_E1234.jpg", jpeg(80, 48))
        assert library.index().failed == []
        assert len({record["UID"] for record in library.find()}) == count, kinds
        library.close()


def pictured(seed, minute, kind="JPEG"):
    """A picture of clouds that a camera took."""
    taken = {0x9003: f"2020:01:01 10:{minute:02}:00"}
    return encoded(clouds(seed, 64, 48), kind, exif=exif({0x010F: "Sony", 0x0110: "XZ1"}, taken, POSITION))


def test_an_edited_copy_joins_the_duplicate_beside_it_in_any_order_and_leaves_when_that_goes(library):
    seeds = {"z/a.jpg": 1, "b/a.jpg": 1, "b/a-edited.jpg": 2}
    orders = dict(enumerate(permutations(seeds)))
    for step in range(3):
        for number, order in orders.items():
            library.put(f"{number}/{order[step]}", pictured(10 * number + seeds[order[step]], number))
        library.index()
    for number, order in orders.items():
        assert len({one["UID"] for one in library.find(path=f"{number}/*")}) == 1, order
        library.put(f"{number}/z/a.png", pictured(10 * number + 1, number, kind="PNG"))
    library.index()
    for number, order in orders.items():
        assert len({one["UID"] for one in library.find(path=f"{number}/*")}) == 1, order
        (library.originals / f"{number}/b/a.jpg").unlink()
    library.index()
    for number, order in orders.items():
        (left, *others), alone = ([one["UID"] for one in library.find(path=f"{number}/{path}")] for path in "zb")
        assert (others, len(alone), left in alone) == ([left], 1, False), order


def test_a_renamed_file_keeps_its_uids_and_a_link_to_it_under_its_old_name_changes_nothing(library):
    path = library.put("old/a.jpg", jpeg())
    library.put("z.jpg", jpeg(80, 48))
    library.index()
    (before,) = library.find(q="name:a")
    (library.originals / "old").rename(library.originals / "new")
    path.parent.mkdir()
    path.symlink_to(library.originals / "new/a.jpg")
    assert counts(library.index())[:4] == (0, 1, 1, 0)
    (after,) = library.find(q="name:a")
    names = ("UID", "FileUID", "Hash", "ID", "CreatedAt")
    assert [after[name] for name in names] == [before[name] for name in names]
    assert (after["FileName"], after["Path"], after["Name"]) == ("new/a.jpg", "new", "a")
    path.unlink()
    path.parent.rmdir()
    path.parent.symlink_to("new")
    assert counts(library.index())[:4] == (0, 0, 2, 0)


def test_a_copy_is_reported_and_takes_over_when_its_file_goes_or_becomes_another_picture(library):
    pictures = {case: jpeg(100 + number) for number, case in enumerate(("gone", "edited", "before", "copy edited"))}
    for case, content in pictures.items():
        library.put(f"{case}/b.jpg", content)
    library.index()
    for case, content in pictures.items():
        library.put(f"{case}/{'a' if case == 'before' else 'c'}.jpg", content)
    before = {record["Path"]: record for record in library.find()}
    copies = [
        (f"{case}/{'a' if case == 'before' else 'c'}.jpg", f"the same content as {case}/b.jpg") for case in pictures
    ]
    for _ in range(2):
        assert sorted(reasons(library.index().skipped)) == sorted(copies)
        assert library.names() == sorted(f"{case}/b.jpg" for case in pictures)
    (library.originals / "gone/b.jpg").unlink()
    library.put("edited/b.jpg", jpeg(80, 81), age=60)
    library.put("before/b.jpg", jpeg(80, 82), age=60)
    library.put("copy edited/c.jpg", jpeg(80, 83), age=60)
    library.index()
    library.index()
    names = ["before/a.jpg", "before/b.jpg", "copy edited/b.jpg", "copy edited/c.jpg", "edited/b.jpg", "edited/c.jpg"]
    assert library.names() == [*names, "gone/c.jpg"]
    (after,) = library.find(path="gone")
    assert (after["UID"], after["FileUID"]) == (before["gone"]["UID"], before["gone"]["FileUID"])
    assert counts(library.index()) == (0, 0, 7, 0, 0, 0)
