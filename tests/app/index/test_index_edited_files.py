"""Unknown content under a known name: an edit of the photo that has the name, or another picture."""

from tests.app.index.test_index_identity import enter, rename, shown, uids
from tests.helpers.library import counts, open_library, reasons
from tests.helpers.pictures import clouds, encoded, exif, jpeg, xmp


def taken(seed, day="", document="", turn=0):
    """A picture of clouds, taken on this day, or of unknown time."""
    made = clouds(seed, 64, 48).rotate(turn, expand=True)
    identifier = xmp(f"<xmpMM:DocumentID>{document}</xmpMM:DocumentID>") if document else b""
    return encoded(made, "JPEG", exif=exif({}, {0x9003: f"{day} 10:00:01"} if day else {}), xmp=identifier)


FIRST, LATER = "2020:01:01", "2024:08:08"
#: The former and the new content under one name, of seeds of their own, and whether the new one is an edit.
CONTENTS = {
    "other times": lambda one, other: (taken(one, FIRST), taken(other, LATER), False),
    "one time": lambda one, other: (taken(one, FIRST), taken(other), False),
    "other looks": lambda one, other: (taken(one), taken(other), False),
    "same time": lambda one, other: (taken(one, FIRST), taken(other, FIRST), True),
    "corrected time": lambda one, _: (taken(one, FIRST), taken(one, LATER), True),
    "same look": lambda one, _: (taken(one), taken(one, LATER), True),
    "turned": lambda one, _: (taken(one), taken(one, turn=90), True),
    "document": lambda one, other: (taken(one, document=f"did:{one}"), taken(other, document=f"did:{one}"), True),
}


def test_unknown_content_under_a_known_name_is_a_new_photo_unless_it_agrees_with_the_former(library):
    cases = {}
    for name, contents in CONTENTS.items():
        for deleted in ("", " deleted"):
            cases[name + deleted] = contents(2 * len(cases) + 1, 2 * len(cases) + 2)
    library.put("z.jpg", jpeg())
    paths = {name: library.put(f"{name}/DSC_9378.JPG", former) for name, (former, _, _) in cases.items()}
    library.index()
    former_uids = {record["Path"]: record["UID"] for record in library.find(name="DSC_9378")}
    values = {"Title": "Funeral", "TitleSrc": "manual", "Lat": 10.5, "Lng": 20.5, "PlaceSrc": "manual"}
    for uid in former_uids.values():
        library.call("PUT", f"/photos/{uid}", json={**values, "Favorite": True})
    library.call("POST", "/batch/photos/archive", json={"photos": list(former_uids.values())})
    for name in cases:
        if "deleted" in name:
            paths[name].unlink()
    assert library.index().missing == len(CONTENTS)
    for name, (_, new, _) in cases.items():
        library.put(f"{name}/DSC_9378.JPG", new, age=60)
    run = library.index()
    assert (run.indexed, run.updated) == (6, 10)
    admin = library.token(role="admin")
    archived = {record["Path"]: record for record in library.find(archived="true", token=admin)}
    new_photos = {record["Path"]: record for record in library.find()}
    for name, (former, _, edited) in cases.items():
        record = (archived if edited else new_photos)[name]
        found = record["UID"] == former_uids[name], record["Title"] == "Funeral", record["Favorite"], record["Lat"]
        assert found == ((True, True, True, 10.5) if edited else (False, False, False, 0)), name
        if not edited:
            day = "2024-08-08" if "other times" in name else "2026-03-01"
            assert record["TakenAtLocal"][:10] == day, name
            library.put(f"{name}/back.jpg", former)
    library.index()
    back = {record["Path"]: record for record in library.find(archived="true", token=admin)}
    for name in cases:
        end = "DSC_9378.JPG" if cases[name][2] else "back.jpg"
        record = back[name]
        found = record["FileName"], record["UID"], record["Title"], record["Lat"]
        assert found == (f"{name}/{end}", former_uids[name], "Funeral", 10.5), name
    assert library.names() == sorted(["z.jpg", *(f"{name}/DSC_9378.JPG" for name in cases if not cases[name][2])])
    assert counts(library.index()) == (0, 0, 23, 0, 0, 0)


def test_a_new_picture_under_the_name_of_a_removed_one_whose_original_stayed_is_found(tmp_path):
    library = open_library(tmp_path, settings={"PHOTOSVC_DELETE_ORIGINALS": "false"})
    library.put("1.jpg", taken(1, FIRST))
    library.index()
    uid = uids(library)["1.jpg"]
    library.call("POST", "/batch/photos/delete", json={"photos": [uid]})
    assert counts(library.index()) == (0, 0, 0, 0, 1, 0)
    library.put("1.jpg", taken(1, FIRST), age=60)
    assert reasons(library.index().skipped) == [("1.jpg", "removed from the library; svc index --force adds it again")]
    assert counts(library.index()) == (0, 0, 0, 0, 1, 0)
    library.put("1.jpg", taken(2, LATER), age=30)
    assert library.index().indexed == 1
    assert library.names() == ["1.jpg"]
    library.put("back.jpg", taken(1, FIRST))
    library.index()
    assert uids(library)["back.jpg"] == uid != uids(library)["1.jpg"]
    library.close()


def test_a_new_picture_is_as_private_as_the_former_one_unless_it_was_taken_at_another_time(library):
    days, expected = {"other time": (LATER, False), "no time": ("", True)}, {}
    folders = [f"{time}/{former}" for time in days for former in ("moves", "is gone")]
    for number, folder in enumerate(folders):
        library.put(f"{folder}/1.jpg", taken(2 * number, FIRST))
    library.index()
    enter(library, *(f"{folder}/1.jpg" for folder in folders))
    for number, folder in enumerate(folders):
        day, private = days[folder.partition("/")[0]]
        expected[f"{folder}/1.jpg"] = ("", private)
        if folder.endswith("moves"):
            rename(library, (f"{folder}/1.jpg", f"{folder}/2.jpg"))
            expected[f"{folder}/2.jpg"] = (f"{folder}/1.jpg", True)
        library.put(f"{folder}/1.jpg", taken(2 * number + 1, day), age=60)
    library.index()
    assert shown(library) == expected


def test_private_pictures_that_are_edited_while_they_exchange_names_stay_private(library):
    first, second = taken(1, FIRST), taken(2, LATER)
    library.put("1.jpg", first)
    library.put("2.jpg", second)
    library.index()
    enter(library, "1.jpg", "2.jpg")
    library.put("1.jpg", second, age=60)
    library.put("2.jpg", first.replace(b"\xff\xd9", b"") + b"\xff\xd9 ", age=60)  # the same picture with other bytes
    library.index()
    assert {name: private for name, (_, private) in shown(library).items()} == {"1.jpg": True, "2.jpg": True}
