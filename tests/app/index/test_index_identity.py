"""Files that are renamed, edited and copied between two runs: what people entered stays with the content."""

import hashlib
import os
import pickle
import shutil
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select

from photosvc.index import batches, identity, run, worklist
from photosvc.index.extract import content_hash
from photosvc.models import Album, AlbumPhoto, File, Photo, SearchDocument, SearchRow
from photosvc.search.rows.write import project
from photosvc.workers.pool import WorkerPool
from tests.app.index.indexing_requests import InlinePool
from tests.helpers.clock import NOW
from tests.helpers.examples import examples
from tests.helpers.library import call_svc, open_library
from tests.helpers.pictures import encoded, jpeg, quarters, xmp

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


@pytest.fixture
def small_batches(monkeypatch):
    for name in ("_FIRST_SIZE", "_MOST"):
        monkeypatch.setattr(batches, name, 1)


#: Contents of the names after a change of pictures 1, 2 and 3, and name -> the picture whose title is shown there; a
#: private one ends with "!", as picture 1. Other numbers are new contents, 0 is a broken file.
CHANGES = {
    "renamed up": ({"2": 1, "3": 2, "4": 3}, {"2": "1!", "3": "2", "4": "3"}),
    "renamed down": ({"0": 1, "1": 2, "2": 3}, {"0": "1!", "1": "2", "2": "3"}),
    "rotated": ({"1": 3, "2": 1, "3": 2}, {"1": "3", "2": "1!", "3": "2"}),
    "exchanged": ({"1": 3, "2": 2, "3": 1}, {"1": "3", "2": "2", "3": "1!"}),
    "moved": ({"x/1": 1, "2": 2, "3": 3}, {"x/1": "1!", "2": "2", "3": "3"}),
    "edited beside exchanged ones": ({"1": 2, "2": 1, "3": 30}, {"1": "2", "2": "1!", "3": "3"}),
    "new under names of moved ones": (
        {"1": 10, "2": 20, "3": 3, "4": 1, "5": 2},
        {"1": "!", "2": "", "3": "3", "4": "1!", "5": "2"},
    ),
    "edited, and a copy before it": ({"0": 10, "1": 10, "2": 2, "3": 3}, {"1": "1!", "2": "2", "3": "3"}),
    "edited, and a copy after it": ({"1": 10, "2": 2, "3": 3, "9": 10}, {"1": "1!", "2": "2", "3": "3"}),
    "one edit under two names": ({"1": 10, "2": 10, "3": 3, "4": 1}, {"2": "2", "3": "3", "4": "1!"}),
    "edited and renamed": ({"1": 2, "2": 10, "3": 3}, {"1": "2", "2": "", "3": "3"}),
    "edited, and copies of the former": (
        {"0": 1, "1": 10, "2": 2, "3": 3, "9": 1},
        {"0": "1!", "1": "!", "2": "2", "3": "3"},
    ),
    "edited, and a copy of the former after it": (
        {"1": 10, "2": 2, "3": 3, "9": 1},
        {"1": "!", "2": "2", "3": "3", "9": "1!"},
    ),
    "overwritten by a copy": ({"1": 1, "2": 1, "3": 3}, {"1": "1!", "3": "3"}),
    "broken under names of moved ones": ({"1": 0, "2": 1, "3": 0, "4": 2, "5": 3}, {"2": "1!", "4": "2", "5": "3"}),
}


def write(library, case, names):
    """Let the pictures of a case have these names; no other case has their contents."""
    first = 100 * list(CHANGES).index(case)
    shutil.rmtree(library.originals / case, ignore_errors=True)
    for name, content in names.items():
        put(library, f"{case}/{name}.jpg", first + content, b"" if content else b"words")


def test_what_people_entered_stays_with_the_content_that_changed_its_name(library, monkeypatch):
    monkeypatch.setattr(worklist, "_NEW", 0.5)  # workers may read a copy earlier than the picture
    for name in ("_FIRST_SIZE", "_MOST"):
        monkeypatch.setattr(batches, name, 2)  # the property below has larger ones
    for case in CHANGES:
        write(library, case, {"1": 1, "2": 2, "3": 3})
    library.index()
    enter(library, *(f"{case}/1.jpg" for case in CHANGES))
    former = uids(library)
    for case, (contents, _) in CHANGES.items():
        write(library, case, contents)
    library.index()
    found, present = shown(library), uids(library)
    for case, (contents, expected) in CHANGES.items():
        of_case = {name: found.get(f"{case}/{name}.jpg") for name, content in contents.items() if content}
        titles = {name: (title.strip("!"), "!" in title) for name, title in expected.items()}
        assert {name: title and (title[0][-5:-4], title[1]) for name, title in of_case.items()} == {
            name: titles.get(name) for name in of_case
        }, case
        for name, (title, _) in titles.items():
            uid, uid_of_title = present[f"{case}/{name}.jpg"], former.get(f"{case}/{title}.jpg")
            assert uid == uid_of_title if title else uid not in former.values(), (case, name)
    library.index()
    idle = library.index()
    assert (idle.updated, idle.missing, idle.indexed) == (0, 0, 0)
    lost = {}
    for case, (contents, expected) in CHANGES.items():
        back = {1, 2, 3} - set(contents.values())
        waiting = back - {int(title[0]) for title in expected.values() if title[:1].isdigit()}
        lost |= {f"{case}/{n}.jpg": (f"{case}/{n}.jpg", n == 1) if n in waiting else ("", False) for n in back}
        write(library, case, contents | {f"back {number}": number for number in back})
    library.index()
    assert lost == {name.replace("back ", ""): title for name, title in shown(library).items() if "back " in name}
    assert len([title for title, _ in lost.values() if title]) == 2


@pytest.fixture
def compared(monkeypatch):
    """The files that worker processes read to compare their contents; this process reads none."""
    read, run_all = [], WorkerPool.run

    def run(pool, items):
        for item, result in run_all(pool, items):
            if pickle.loads(pool._function) is content_hash:
                read.append(item.name)
            yield item, result

    monkeypatch.setattr(WorkerPool, "run", run)
    monkeypatch.setattr(hashlib, "file_digest", None)
    monkeypatch.setattr(batches, "_FIRST_SIZE", 1)
    return read


def test_only_contents_that_sizes_and_times_do_not_tell_apart_are_compared(camera, compared):
    rename(camera, ("1.jpg", "2.jpg"), ("2.jpg", "3.jpg"), ("3.jpg", "4.jpg"))
    put(camera, "5.jpg", 5)
    camera.index()
    assert (compared, shown(camera)["2.jpg"]) == ([], ("1.jpg", True))
    (camera.originals / "2.jpg").unlink()
    for number in (6, 7, 8):
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
    assert {1, 2, 3} <= set(paused)
    assert shown(camera)["4.jpg"] == ("2.jpg", False)


def test_a_run_over_one_folder_looks_for_the_content_of_an_edited_file_in_the_others(library):
    for number, case in enumerate("abc"):
        put(library, f"{case}/x/1.jpg", 10 * number + 1)
        put(library, f"{case}/y/2.jpg", 10 * number + 2)
    library.index()
    enter(library, *(f"{case}/x/1.jpg" for case in "abc"))
    for number, (case, folder) in enumerate(zip("abc", ("a/x", "b/y", ""), strict=True)):
        rename(library, (f"{case}/x/1.jpg", f"{case}/y/1.jpg"))
        put(library, f"{case}/x/1.jpg", 10 * number + 3)
        put(library, f"{case}/x/4.jpg", 10 * number + 4)
        library.index(subfolder=folder)
        assert shown(library)[f"{case}/y/1.jpg"] == (f"{case}/x/1.jpg", True), folder
    expected = {"x/1.jpg": ("", True), "x/4.jpg": ("", False), "y/1.jpg": ("x/1.jpg", True)}
    assert shown(library) == {
        f"{case}/{name}": (title and f"{case}/{title}", private)
        for case in "abc"
        for name, (title, private) in (expected | {"y/2.jpg": ("y/2.jpg", False)}).items()
    }


@pytest.fixture
def interrupted(monkeypatch, library):
    """A function that lets an index run of one file a batch end like a killed one after a batch; whether it did."""
    monkeypatch.setattr(run, "WorkerPool", InlinePool)
    whole = batches.BatchWriter.store

    def interrupt():
        left = iter((1, 0))

        def store(self, batch):
            if next(left) <= 0:
                raise KeyboardInterrupt
            return whole(self, batch)

        with monkeypatch.context() as patch:
            patch.setattr(batches.BatchWriter, "store", store)
            with suppress(KeyboardInterrupt):
                library.index()
                return False
        return True

    return interrupt


@pytest.mark.usefixtures("small_batches")
def test_a_run_that_is_killed_between_batches_shows_no_content_with_the_values_of_another(library, interrupted):
    for number in range(1, 7):
        put(library, f"{number}.jpg", number)
    put(library, "copy.jpg", 5)
    library.index()
    enter(library, "1.jpg", "4.jpg", "5.jpg")
    rename(library, ("1.jpg", "2.jpg"), ("2.jpg", "3.jpg"), ("3.jpg", "1.jpg"), ("4.jpg", "7.jpg"))
    for number in (4, 5, 6):
        put(library, f"{number}.jpg", 10 * number)
    before = shown_contents(library)
    killed = 0
    while interrupted():
        killed += 1
        for content, (title, private) in shown_contents(library).items():
            former = before.get(content)
            assert former in (None, (title, private)) or title == ""
            assert private or former is None or not former[1]
    assert killed > 5
    assert shown(library) == {
        "1.jpg": ("3.jpg", False),
        "2.jpg": ("1.jpg", True),
        "3.jpg": ("2.jpg", False),
        "4.jpg": ("", True),
        "5.jpg": ("", True),
        "6.jpg": ("6.jpg", False),
        "7.jpg": ("4.jpg", True),
        "copy.jpg": ("5.jpg", True),
    }


@pytest.mark.usefixtures("small_batches")
def test_stacks_and_sidecars_that_are_renamed_together_stay_together_at_any_moment(library, interrupted):
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
    goes_on, killed = True, 0
    while goes_on:
        goes_on = interrupted()
        killed += goes_on
        with library.session() as session:
            for photo in session.query(Photo).join(SearchRow, SearchRow.photo_id == Photo.id).distinct():
                (number,) = {number for number in "12" if photo.uid == before[f"{number}.jpg"]}
                assert (photo.private, photo.rating) in {(number == "1", int(number)), (number == "1", 0)}
    assert killed > 3
    assert uids(library) == {new: before[old] for old, new in moves if old in before}
    with library.session() as session:
        found = {photo.name: (photo.private, photo.rating) for photo in session.query(Photo)}
    assert found == {"2": (True, 1), "3": (False, 2)}


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
    before, contents = known_rows(library), shown_contents(library)
    write_disk(library, disk)
    if partial:
        library.index(subfolder="x")
        for content, title in shown_contents(library).items():
            assert title == contents.get(content, title) or not title[0]
    library.index()
    on_disk = {name: content_hash(library.originals / name) for name in (*NAMES, "other.jpg") if disk.get(name, 999)}
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


def disks_of(*numbers):
    return [(dict(zip(NAMES, some, strict=True)), partial) for *some, partial in numbers]


@given(disks=st.lists(st.tuples(DISKS, st.booleans()), min_size=2, max_size=3))
@example(disks_of((1, None, None, 2, None, False), (2, None, None, 1, None, True)))  # exchanged over folders
@example(disks_of((1, None, 2, None, None, False), (3, None, 3, 1, None, True)))  # an edit and the name of a moved one
@examples(100, 4)
def test_what_people_entered_stays_with_the_content_whatever_happens_to_the_names(tmp_path_factory, disks):
    library = open_library(tmp_path_factory.mktemp("library"))
    for disk, partial in disks:
        live(library, disk, partial=partial)
    library.close()
