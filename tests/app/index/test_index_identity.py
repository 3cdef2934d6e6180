"""Files that are renamed, edited and copied between two runs: what people entered stays with the content."""

import hashlib
import os
import pickle
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from photosvc.index import batches, changes, identity, run
from photosvc.index.extract import content_hash
from photosvc.models import Album, AlbumPhoto, File, Photo, SearchDocument, SearchRow
from photosvc.search.rows.write import project
from photosvc.workers.pool import WorkerPool
from tests.helpers.clock import NOW
from tests.helpers.examples import examples
from tests.helpers.library import call_svc, counts, open_library, reasons
from tests.helpers.pictures import clouds, encoded, exif, jpeg, quarters, xmp

_PICTURE = jpeg()


def picture(number):
    """One of many pictures of the same size in bytes, so that sizes tell nothing."""
    return _PICTURE + f"{number:06}".encode()


def put(library, name, number, data=b""):
    """Write a picture, whose time tells it from others as in a real folder."""
    library.put(name, data or picture(number), age=3600 + number)


def rename(library, *names):
    """Give each file the next name at once, the last one that of the first unless it is free."""
    for number, (old, _) in enumerate(names):
        (library.originals / old).rename(library.originals / f"{number}.renamed")
    for number, (_, new) in enumerate(names):
        (library.originals / new).parent.mkdir(parents=True, exist_ok=True)
        (library.originals / f"{number}.renamed").rename(library.originals / new)


def enter(library, *secret):
    """Give each photo without a title one, and an album; those of the named files become private."""
    with library.session() as session:
        query = select(Photo, File.name).join(File).where(Photo.title_src != "manual", File.primary)
        for photo, name in session.execute(query).all():
            photo.title, photo.title_src, photo.private = f"Title of {name}", "manual", name in secret
            album = Album(uid=f"as{photo.id:014}", title=name, created_at=NOW, updated_at=NOW)
            session.add(album)
            session.flush()
            session.add(AlbumPhoto(album_id=album.id, photo_id=photo.id, position=1, created_at=NOW))
            project(session, [photo.id])


def shown(library):
    """Name of each file in the search -> title, and whether it is private; each with its own content."""
    with library.session() as session:
        query = select(File, Photo).join(Photo).join(SearchRow, SearchRow.file_id == File.id)
        found = {}
        for file, photo in session.execute(query):
            document = session.get_one(SearchDocument, file.id)
            assert f'"Hash":"{file.hash}"' in document.file
            (albums,) = session.execute(
                select(Album.title).join(AlbumPhoto).where(AlbumPhoto.photo_id == photo.id)
            ).all() or [("",)]
            assert albums[0] in ("", photo.title.removeprefix("Title of "))
            found[file.name] = (photo.title.removeprefix("Title of ") if photo.title_src else "", photo.private)
        return found


def content_of(library, name):
    return content_hash(library.originals / name)


def shown_contents(library):
    """Hash of each file in the search -> title of its photo, and whether it is private."""
    titles = shown(library)
    with library.session() as session:
        return {file.hash: titles[file.name] for file in session.query(File) if file.name in titles}


def uids(library):
    with library.session() as session:
        return dict(session.execute(select(File.name, Photo.uid).join(Photo).where(File.missing.is_(False))).all())


@pytest.fixture
def camera(library):
    """Three pictures of a camera, of which the first one is private."""
    for number in (1, 2, 3):
        put(library, f"{number}.jpg", number)
    library.index()
    enter(library, "1.jpg")
    return library


@pytest.mark.slow
@pytest.mark.parametrize(
    "moves",
    [
        {"1.jpg": "2.jpg", "2.jpg": "3.jpg", "3.jpg": "4.jpg"},
        {"1.jpg": "0.jpg", "2.jpg": "1.jpg", "3.jpg": "2.jpg"},
        {"1.jpg": "2.jpg", "2.jpg": "3.jpg", "3.jpg": "1.jpg"},
        {"1.jpg": "3.jpg", "3.jpg": "1.jpg"},
        {"1.jpg": "1.JPG", "2.jpg": "x/2.jpg"},
    ],
    ids=["up", "down", "rotation", "swap", "letter case and folder"],
)
def test_titles_albums_and_private_flags_follow_renamed_pictures(camera, moves, monkeypatch):
    monkeypatch.setattr(batches, "_FIRST_SIZE", 1)  # the property below has larger batches
    monkeypatch.setattr(batches, "_MOST", 1)
    before = uids(camera)
    rename(camera, *moves.items())
    left = {moves.get(name, name): name for name in before}
    run = camera.index()
    assert (run.updated, run.missing, run.indexed) == (len(moves), 0, 0)
    assert shown(camera) == {new: (old, old == "1.jpg") for new, old in left.items()}
    assert uids(camera) == {new: before[old] for new, old in left.items()}
    assert counts(camera.index()) == (0, 0, 3, 0, 0, 0)


@pytest.fixture
def compared(monkeypatch):
    """The files that worker processes read to compare their contents; this process reads none."""
    read, run_all = [], WorkerPool.run

    def run(pool, items):
        reads = pickle.loads(pool._function) is content_hash
        return run_all(pool, (read.append(item.name) or item for item in items) if reads else items)

    monkeypatch.setattr(WorkerPool, "run", run)
    monkeypatch.setattr(hashlib, "file_digest", None)
    monkeypatch.setattr(batches, "_FIRST_SIZE", 1)
    return read


@pytest.mark.slow
def test_pictures_that_are_renamed_are_read_once(camera, compared):
    rename(camera, ("1.jpg", "2.jpg"), ("2.jpg", "3.jpg"), ("3.jpg", "4.jpg"))
    put(camera, "5.jpg", 5)
    camera.index()
    assert (compared, shown(camera)["2.jpg"]) == ([], ("1.jpg", True))


def test_no_content_is_compared_because_a_picture_of_the_same_size_is_gone(camera, compared):
    (camera.originals / "1.jpg").unlink()
    for number in (4, 5, 6):
        put(camera, f"{number}.jpg", number)
    assert (camera.index().indexed, compared) == (3, [])


def test_contents_are_compared_in_worker_processes_and_the_run_pauses_meanwhile(camera, compared, monkeypatch):
    paused = []
    monkeypatch.setattr(run._Pauses, "__call__", lambda _: paused.append(len(compared)))
    rename(camera, ("2.jpg", "4.jpg"))
    put(camera, "2.jpg", 20)
    for number in (5, 6):
        put(camera, f"{number}.jpg", number)
    camera.index()
    assert sorted(compared) == ["4.jpg", "5.jpg", "6.jpg"]
    assert {1, 2} & set(paused)
    assert shown(camera)["4.jpg"] == ("2.jpg", False)


@pytest.mark.slow
def test_an_edit_in_place_keeps_what_people_entered_beside_renamed_pictures(camera):
    before = uids(camera)
    rename(camera, ("1.jpg", "2.jpg"), ("2.jpg", "1.jpg"))
    put(camera, "3.jpg", 30)
    camera.index()
    assert shown(camera) == {"1.jpg": ("2.jpg", False), "2.jpg": ("1.jpg", True), "3.jpg": ("3.jpg", False)}
    assert uids(camera) == {"1.jpg": before["2.jpg"], "2.jpg": before["1.jpg"], "3.jpg": before["3.jpg"]}
    with camera.session() as session:
        assert session.query(File).filter_by(name="3.jpg").one().hash == content_of(camera, "3.jpg")


@pytest.mark.slow
def test_a_new_picture_under_the_name_of_a_moved_one_is_a_photo_of_its_own_and_as_private(camera):
    rename(camera, ("1.jpg", "4.jpg"), ("2.jpg", "5.jpg"))
    put(camera, "1.jpg", 10)
    put(camera, "2.jpg", 20)
    camera.index()
    assert shown(camera) == {
        "1.jpg": ("", True),
        "2.jpg": ("", False),
        "3.jpg": ("3.jpg", False),
        "4.jpg": ("1.jpg", True),
        "5.jpg": ("2.jpg", False),
    }


@pytest.mark.slow
@pytest.mark.parametrize("copy", ["0.jpg", "9.jpg"])
def test_the_copy_of_an_edited_private_picture_is_a_duplicate_of_it(camera, copy, monkeypatch):
    monkeypatch.setattr(changes, "_NEW", 0.5)  # workers may read the copy earlier than the picture
    monkeypatch.setattr(batches, "_FIRST_SIZE", 1)
    put(camera, "1.jpg", 10)
    put(camera, copy, 10)
    assert reasons(camera.index().skipped) == [(copy, "the same content as 1.jpg")]
    assert shown(camera)["1.jpg"] == ("1.jpg", True)
    camera.index()
    assert counts(camera.index()) == (0, 0, 3, 0, 1, 0)


@pytest.mark.slow
def test_edits_of_many_pictures_of_one_size_compare_few_contents(tmp_path, compared):
    library = open_library(tmp_path / "instance")
    count, base = 120, jpeg(16, 16)

    def write(salt, moment):
        for number in range(count):
            path = library.put(f"{number}.jpg", base + salt + number.to_bytes(2, "big"))
            os.utime(path, (moment, moment))

    write(b"former", 1_700_000_000)
    library.index()
    write(b"edited", 1_700_000_060)
    library.index()
    assert len(library.names(count=999)) == count
    assert len(compared) == len(set(compared)) <= count


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 100])
def test_one_edit_under_two_names_stays_with_the_photo_whose_former_content_is_gone(camera, batch, monkeypatch):
    monkeypatch.setattr(batches, "_FIRST_SIZE", batch)
    monkeypatch.setattr(batches, "_MOST", batch)
    before = uids(camera)
    rename(camera, ("1.jpg", "4.jpg"))
    put(camera, "1.jpg", 10)
    put(camera, "2.jpg", 10)
    assert reasons(camera.index().skipped) == [("1.jpg", "the same content as 2.jpg")]
    assert uids(camera) == {"2.jpg": before["2.jpg"], "3.jpg": before["3.jpg"], "4.jpg": before["1.jpg"]}
    assert shown(camera) == {"2.jpg": ("2.jpg", False), "3.jpg": ("3.jpg", False), "4.jpg": ("1.jpg", True)}
    assert counts(camera.index()) == (0, 0, 3, 0, 1, 0)


def taken(seed, day="", document="", turn=0):
    """A picture of clouds, taken on this day, or of unknown time."""
    made = clouds(seed, 64, 48).rotate(turn, expand=True)
    identifier = xmp(f"<xmpMM:DocumentID>{document}</xmpMM:DocumentID>") if document else b""
    return encoded(made, "JPEG", exif=exif({}, {0x9003: f"{day} 10:00:01"} if day else {}), xmp=identifier)


FIRST, LATER = "2020:01:01", "2024:08:08"


@pytest.mark.parametrize(
    ("former", "new", "edited"),
    [
        (taken(1, FIRST), taken(2, LATER), False),
        (taken(1, FIRST), taken(2), False),
        (taken(1), taken(2), False),
        (taken(1, FIRST), taken(2, FIRST), True),
        (taken(1, FIRST), taken(1, LATER), True),
        (taken(1), taken(1, LATER), True),
        (taken(1), taken(1, turn=90), True),
        (taken(1, document="xmp.did:1"), taken(2, document="xmp.did:1"), True),
    ],
    ids=["other times", "one time", "other looks", "same time", "corrected time", "same look", "turned", "document"],
)
@pytest.mark.parametrize("deleted", [True, False])
def test_unknown_content_under_a_known_name_is_a_new_photo_unless_it_agrees_with_the_former(
    library, former, new, edited, deleted
):
    library.put("z.jpg", jpeg())
    path = library.put("DSC_9378.JPG", former)
    library.index()
    (uid,) = (record["UID"] for record in library.find(name="DSC_9378"))
    values = {"Title": "Funeral", "TitleSrc": "manual", "Lat": 10.5, "Lng": 20.5, "PlaceSrc": "manual"}
    library.call("PUT", f"/photos/{uid}", json={**values, "Favorite": True})
    library.call("POST", "/batch/photos/archive", json={"photos": [uid]})
    if deleted:
        path.unlink()
        assert library.index().missing == 1
    library.put("DSC_9378.JPG", new, age=60)
    run = library.index()
    assert (run.indexed, run.updated) == ((0, 1) if edited else (1, 0))
    shown = {record["FileName"]: record for record in library.find()}
    (kept,) = library.find(archived="true", token=library.token(role="admin")) if edited else [shown["DSC_9378.JPG"]]
    assert (kept["UID"] == uid, kept["Title"] == "Funeral", kept["Favorite"], kept["Lat"]) == (
        (True, True, True, 10.5) if edited else (False, False, False, 0)
    )
    if edited:
        return
    assert kept["TakenAtLocal"][:10] == ("2024-08-08" if new == taken(2, LATER) else "2026-03-01")
    library.put("back.jpg", former)
    library.index()
    (back,) = library.find(archived="true", token=library.token(role="admin"))
    assert (back["FileName"], back["UID"], back["Title"], back["Lat"]) == ("back.jpg", uid, "Funeral", 10.5)
    assert {record["FileName"] for record in library.find()} == {"z.jpg", "DSC_9378.JPG"}
    assert counts(library.index()) == (0, 0, 3, 0, 0, 0)


@pytest.mark.slow
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


@pytest.mark.parametrize(("day", "private"), [(LATER, False), ("", True)])
@pytest.mark.parametrize("moves", [True, False])
def test_a_new_picture_is_as_private_as_the_former_one_unless_it_was_taken_at_another_time(
    library, day, private, moves
):
    path = library.put("1.jpg", taken(1, FIRST))
    library.index()
    enter(library, "1.jpg")
    if moves:
        path.rename(library.originals / "2.jpg")
    library.put("1.jpg", taken(2, day), age=60)
    library.index()
    assert shown(library) == {"1.jpg": ("", private)} | ({"2.jpg": ("1.jpg", True)} if moves else {})


def test_private_pictures_that_are_edited_while_they_exchange_names_stay_private(library):
    first, second = taken(1, FIRST), taken(2, LATER)
    library.put("1.jpg", first)
    library.put("2.jpg", second)
    library.index()
    enter(library, "1.jpg", "2.jpg")
    library.put("1.jpg", second, age=60)
    library.put("2.jpg", resaved(first), age=60)
    library.index()
    assert {name: private for name, (_, private) in shown(library).items()} == {"1.jpg": True, "2.jpg": True}


def resaved(picture):
    """The same picture with other bytes."""
    return picture.replace(b"\xff\xd9", b"") + b"\xff\xd9 "


@pytest.mark.slow
def test_content_that_was_edited_and_renamed_is_new_and_the_former_photo_waits_for_its_content(camera):
    rename(camera, ("1.jpg", "2.jpg"), ("2.jpg", "1.jpg"))
    put(camera, "2.jpg", 10)
    camera.index()
    assert shown(camera) == {"1.jpg": ("2.jpg", False), "2.jpg": ("", False), "3.jpg": ("3.jpg", False)}
    put(camera, "back.jpg", 1)
    camera.index()
    assert shown(camera)["back.jpg"] == ("1.jpg", True)


@pytest.mark.slow
def test_a_picture_that_is_overwritten_by_a_copy_of_another_one_is_a_duplicate_of_it(camera):
    put(camera, "2.jpg", 1)
    os.utime(camera.originals / "2.jpg", (1_600_000_000, 1_600_000_000))
    assert reasons(camera.index().skipped) == [("2.jpg", "the same content as 1.jpg")]
    assert shown(camera) == {"1.jpg": ("1.jpg", True), "3.jpg": ("3.jpg", False)}
    put(camera, "2.jpg", 2)
    camera.index()
    assert shown(camera)["2.jpg"] == ("2.jpg", False)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["", "x", "y"])
def test_a_run_over_one_folder_looks_for_the_content_of_an_edited_file_in_the_others(library, folder):
    put(library, "x/1.jpg", 1)
    put(library, "y/2.jpg", 2)
    library.index()
    enter(library, "x/1.jpg")
    rename(library, ("x/1.jpg", "y/1.jpg"))
    put(library, "x/1.jpg", 3)
    put(library, "x/4.jpg", 4)
    library.index(subfolder=folder)
    assert shown(library)["y/1.jpg"] == ("x/1.jpg", True)
    library.index()
    assert shown(library) == {
        "x/1.jpg": ("", True),
        "x/4.jpg": ("", False),
        "y/1.jpg": ("x/1.jpg", True),
        "y/2.jpg": ("y/2.jpg", False),
    }


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["x", "y"])
def test_pictures_that_exchange_folders_keep_their_photos_in_runs_over_one_of_them(library, folder):
    put(library, "x/1.jpg", 1)
    put(library, "y/1.jpg", 2)
    library.index()
    enter(library, "x/1.jpg")
    rename(library, ("x/1.jpg", "y/1.jpg"), ("y/1.jpg", "x/1.jpg"))
    library.index(subfolder=folder)
    between = shown(library)
    library.index(subfolder="y" if folder == "x" else "x")
    whole = {"x/1.jpg": ("y/1.jpg", False), "y/1.jpg": ("x/1.jpg", True)}
    assert between == {name: whole[name] for name in whole if name.startswith(folder)}
    assert shown(library) == whole


def interrupted(library, monkeypatch, after):
    """An index run of one file a batch that ends like a killed one, after so many batches; whether it did."""
    left = iter(range(after, -1, -1))

    def store(self, batch):
        if next(left) <= 0:
            raise KeyboardInterrupt
        return whole(self, batch)

    whole = batches.BatchWriter.store
    with monkeypatch.context() as patch:
        patch.setattr(batches, "_FIRST_SIZE", 1)
        patch.setattr(batches, "_MOST", 1)
        patch.setattr(batches.BatchWriter, "store", store)
        with suppress(KeyboardInterrupt):
            library.index()
            return False
    return True


@pytest.mark.slow  # each of its index runs ends like a killed one, and the next one starts workers
def test_a_run_that_is_killed_between_batches_shows_no_content_with_the_values_of_another(library, monkeypatch):
    for number in range(1, 7):
        put(library, f"{number}.jpg", number)
    put(library, "copy.jpg", 5)
    library.index()
    enter(library, "1.jpg", "4.jpg", "5.jpg")
    rename(library, ("1.jpg", "2.jpg"), ("2.jpg", "3.jpg"), ("3.jpg", "1.jpg"), ("4.jpg", "7.jpg"))
    put(library, "4.jpg", 40)
    put(library, "5.jpg", 50)
    put(library, "6.jpg", 60)
    final = {
        "1.jpg": ("3.jpg", False),
        "2.jpg": ("1.jpg", True),
        "3.jpg": ("2.jpg", False),
        "4.jpg": ("", True),
        "5.jpg": ("", True),
        "6.jpg": ("6.jpg", False),
        "7.jpg": ("4.jpg", True),
        "copy.jpg": ("5.jpg", True),
    }
    before = shown_contents(library)
    killed = 0
    while goes_on := interrupted(library, monkeypatch, 1):
        killed += goes_on
        for content, (title, private) in shown_contents(library).items():
            former = before.get(content)
            assert former in (None, (title, private)) or title == ""
            assert private or former is None or not former[1]
    assert killed > 5
    assert shown(library) == final


@pytest.mark.slow  # each of its index runs ends like a killed one, and the next one starts workers
def test_stacks_and_sidecars_that_are_renamed_together_stay_together_at_any_moment(library, monkeypatch):
    still, raw = jpeg(80, 48), encoded(quarters(40, 24), "PNG")
    for number in (1, 2):
        put(library, f"{number}.jpg", number, still + bytes([number]))
        put(library, f"{number}.png", number, raw + bytes([number]))
        put(library, f"{number}.xmp", number, xmp(attributes=f'xmp:Rating="{number}"'))
    library.index()
    before = uids(library)
    assert before["1.jpg"] == before["1.png"] != before["2.jpg"] == before["2.png"]
    enter(library, "1.jpg", "1.png")
    moves = [(f"{number}.{kind}", f"{number + 1}.{kind}") for number in (1, 2) for kind in ("jpg", "png", "xmp")]
    rename(library, *moves)
    for _ in range(30):
        goes_on = interrupted(library, monkeypatch, 1)
        with library.session() as session:
            for photo in session.query(Photo).join(SearchRow, SearchRow.photo_id == Photo.id).distinct():
                (number,) = {number for number in "12" if photo.uid == before[f"{number}.jpg"]}
                assert (photo.private, photo.rating) in {(number == "1", int(number)), (number == "1", 0)}
        if not goes_on:
            break
    assert uids(library) == {new: before[old] for old, new in moves if old in before}
    with library.session() as session:
        assert {photo.name: (photo.private, photo.rating) for photo in session.query(Photo)} == {
            "2": (True, 1),
            "3": (False, 2),
        }


@pytest.mark.slow
def test_a_picture_whose_name_a_broken_file_has_by_now_is_found_where_it_is(camera):
    rename(camera, ("1.jpg", "2.jpg"), ("2.jpg", "4.jpg"))
    put(camera, "1.jpg", 10, b"words")
    put(camera, "3.jpg", 30, b"words")
    put(camera, "5.jpg", 3)
    camera.index()
    assert {name: shown(camera)[name] for name in ("2.jpg", "4.jpg", "5.jpg")} == {
        "2.jpg": ("1.jpg", True),
        "4.jpg": ("2.jpg", False),
        "5.jpg": ("3.jpg", False),
    }
    put(camera, "1.jpg", 11)
    camera.index()
    assert shown(camera)["1.jpg"] == ("", True)


@pytest.mark.slow
def test_a_purge_removes_no_photo_whose_content_has_another_known_name(camera):
    rename(camera, ("1.jpg", "2.jpg"), ("2.jpg", "3.jpg"), ("3.jpg", "4.jpg"))
    done = call_svc("purge", "--hard", "--yes", instance=camera.instance)
    assert done.returncode == 0, done.stderr
    camera.index()
    assert shown(camera) == {"2.jpg": ("1.jpg", True), "3.jpg": ("2.jpg", False), "4.jpg": ("3.jpg", False)}


def test_a_name_in_another_letter_case_is_no_copy_where_the_disk_ignores_it(camera, monkeypatch):
    plain = os.lstat
    rename(camera, ("1.jpg", "1.JPG"))
    names = {name.lower(): name for name in map(os.path.basename, camera.originals.iterdir())}

    def lstat(path, **given):
        folder, _, name = os.fspath(path).rpartition("/") if isinstance(path, str) else ("", "", "")
        return plain(f"{folder}/{names.get(name.lower(), name)}" if folder else path, **given)

    monkeypatch.setattr(identity.os, "lstat", lstat)
    camera.index()
    assert shown(camera)["1.JPG"] == ("1.jpg", True)


NAMES = ["a.jpg", "A.jpg", "b.jpg", "x/c.jpg", "x/d.jpg"]
DISKS = st.fixed_dictionaries({name: st.one_of(st.none(), st.integers(1, 7)) for name in NAMES})


def write_disk(library, disk):
    (library.originals / "x").mkdir(exist_ok=True)
    for name, number in disk.items():
        (library.originals / name).unlink(missing_ok=True)
        if number is not None:
            put(library, name, number)
    put(library, "other.jpg", 999)


def known_rows(library):
    """Rows of all photos, and what was entered: (name, hash, missing, UID, title, private)."""
    with library.session() as session:
        columns = (File.name, File.hash, File.missing, Photo.uid, Photo.title, Photo.private)
        return session.execute(select(*columns).join(Photo).where(File.hash != "")).all()


def live(library, disk, *, partial):
    """Let the originals become like this, index them, and compare each photo with what belongs to its content."""
    before = known_rows(library)
    write_disk(library, disk)
    if partial:
        library.index(subfolder="x")
    library.index()
    on_disk = {name: content_of(library, name) for name in (*NAMES, "other.jpg") if disk.get(name, 999)}
    after = {row.hash: row for row in known_rows(library) if not row.missing}
    assert set(after) == set(on_disk.values())
    known = {row.hash: row for row in before}
    for content, row in after.items():
        names = {name for name, other in on_disk.items() if other == content}
        assert row.name in names
        entered = (row.uid, row.title, row.private)
        left = [one for one in before if one.name in names]
        edited = [one[3:] for one in left if one.hash not in on_disk.values()]
        if content in known:
            assert entered == known[content][3:]
        elif edited and entered in edited:
            continue
        else:  # the run over one folder takes the copy of what was edited in another one for a new picture
            assert not edited or (partial and any(name.startswith("x/") for name in names))
            assert row.uid not in {one.uid for one in before}
            assert not row.private or any(one.private for one in left)
    assert shown(library).keys() == {row.name for row in after.values()}
    enter(library, *(row.name for row in after.values() if int(row.hash, 16) % 2))


@pytest.mark.slow
@given(disks=st.lists(st.tuples(DISKS, st.booleans()), min_size=2, max_size=3))
@examples(100, 4)
def test_what_people_entered_stays_with_the_content_whatever_happens_to_the_names(tmp_path_factory, disks):
    library = open_library(tmp_path_factory.mktemp("library"))
    for disk, partial in disks:
        live(library, disk, partial=partial)
    library.close()


@pytest.mark.slow
def test_an_edited_photo_is_preferred_to_the_name_that_a_private_photo_left(tmp_path):
    library = open_library(tmp_path)
    for number, name in enumerate(("a.jpg", "b.jpg"), 1):
        put(library, name, number)
    library.index()
    enter(library, "a.jpg", "b.jpg")
    former = uids(library)["b.jpg"]
    rename(library, ("a.jpg", "x/moved.jpg"))
    put(library, "a.jpg", 3)
    put(library, "b.jpg", 3)
    library.index(subfolder="x")
    library.index()
    assert uids(library)["b.jpg"] == former
    assert shown(library) == {"x/moved.jpg": ("a.jpg", True), "b.jpg": ("b.jpg", True)}
    library.close()


@pytest.mark.slow
def test_what_people_entered_stays_with_the_content_on_postgresql(tmp_path, new_postgres):
    library = open_library(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()})
    live(library, dict(zip(NAMES, (1, 2, 3, 4, 5), strict=True)), partial=False)
    live(library, dict(zip(NAMES, (2, 3, 1, 6, 4), strict=True)), partial=True)
    live(library, dict(zip(NAMES, (7, 2, 2, None, 6), strict=True)), partial=False)
    library.close()
