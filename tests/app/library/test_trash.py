"""Photos and files that are removed with their originals: the trash, and the way back."""

import errno
import json
import os
import re
from datetime import datetime, timedelta

import click
import pytest
from sqlalchemy import select

from photosvc.cli import terminal
from photosvc.index.requested import waiting
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library import trash_deletion as deletions
from photosvc.models import Album, AlbumPhoto, Base, DistinctPhoto, Photo, Sidecar, UploadedFile, User
from photosvc.models.engine import begin_write
from photosvc.search.rows.renew import differing
from tests.app.library.test_markers import showing
from tests.helpers.api_client import ApiClient
from tests.helpers.clock import NOW
from tests.helpers.library import hashes, open_library
from tests.helpers.pictures import exif, jpeg, xmp

TAKEN = exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The library of which each test has a copy: a photo of two files, three of one, and a copy of one of these."""
    library = open_library(tmp_path_factory.mktemp("filled") / "instance")
    library.put("a/lake.jpg", jpeg(100, 80, exif=TAKEN))
    library.put("a/lake-edited.jpg", jpeg(64, 48, exif=TAKEN))
    for number in range(3):
        library.put(f"b/{number}.jpg", jpeg(70 + number, 48))
    library.put(b"c/\xff0.jpg", jpeg(90, 48))
    library.put("d/same.jpg", (library.originals / "b/0.jpg").read_bytes())
    library.index()
    library.close()
    return library


def call(library, method, path, status=200, **options):
    headers = {"X-Auth-Token": library.token(role="admin")}
    answer = library.app.test_client().open(f"/api/v1{path}", method=method, headers=headers, **options)
    assert answer.status_code == status, answer.text
    return answer.json


def svc(library, *arguments, code=0):
    done = ApiClient(library).svc(*arguments)
    assert done.returncode == code, done.stderr
    return done


def listed(library):
    return json.loads(svc(library, "trash", "ls", "--json").stdout)


def uids(library):
    return {record["FileName"]: record["UID"] for record in library.find()}


def is_projected(library):
    with library.session() as session:
        return differing(session, [row[0] for row in session.query(Photo.id)]) == set()


def in_album(library, uid):
    album = call(library, "POST", "/albums", json={"Title": "Mine"})["UID"]
    call(library, "POST", f"/albums/{album}/photos", json={"photos": [uid]})
    return album


@pytest.mark.slow
def test_a_photo_comes_back_from_the_trash_with_all_that_people_set(copied_library):
    before, originals = uids(copied_library), hashes(copied_library.originals)
    uid = before["a/lake.jpg"]
    call(copied_library, "PUT", f"/photos/{uid}", json={"Title": "Mine", "Favorite": True})
    album, found = in_album(copied_library, uid), copied_library.find()
    file = call(copied_library, "GET", f"/photos/{uid}")["FileUID"]
    call(copied_library, "PUT", f"/photos/{uid}/files/{file}/orientation", json={"Orientation": 6})
    found = copied_library.find()
    assert call(copied_library, "POST", "/batch/photos/delete", json={"photos": [uid]})["photos"] == 1
    assert not {"a/lake.jpg", "a/lake-edited.jpg"} & uids(copied_library).keys()
    assert not list(copied_library.originals.glob("a/*"))
    call(copied_library, "GET", f"/photos/{uid}", 404)
    assert call(copied_library, "GET", f"/albums/{album}")["PhotoCount"] == 0
    assert copied_library.index().missing == 0
    copied_library.index(force=True)
    assert uid not in uids(copied_library).values()
    assert [(row["Name"], row["PhotoUID"]) for row in listed(copied_library)] == [
        ("a/lake-edited.jpg", uid),
        ("a/lake.jpg", uid),
    ]
    done = json.loads(svc(copied_library, "trash", "restore", uid, "--json").stdout)
    assert done == {"files": ["a/lake-edited.jpg", "a/lake.jpg"], "photos": [uid], "taken": [], "dry_run": False}
    assert hashes(copied_library.originals) == originals
    after = copied_library.find()
    changing = ("UpdatedAt", "CheckedAt")
    assert [{k: v for k, v in one.items() if k not in changing} for one in after] == [
        {k: v for k, v in one.items() if k not in changing} for one in found
    ]
    assert call(copied_library, "GET", f"/albums/{album}")["PhotoCount"] == 1
    assert is_projected(copied_library)
    assert copied_library.index().updated == 0
    assert listed(copied_library) == []
    history = call(copied_library, "GET", f"/photos/{uid}/history")
    assert [(change["Action"], change["ActorName"]) for change in history[:2]] == [
        ("photos.undelete", "svc trash"),
        ("photos.delete", "user1"),
    ]
    assert history[1]["Before"]["Files"] == history[0]["After"]["Files"] == ["a/lake-edited.jpg", "a/lake.jpg"]
    call(copied_library, "POST", f"/photos/{uid}/history/{history[1]['ID']}/undo", 409)


#: Tables in which nothing that people entered is, and columns that say when or by whom rows were written.
DERIVED = re.compile(
    "photosvc_(search_.*|library|disks|audit.*|credentials|users|signing.*|index_.*|jobs|rejected_files|throttle.*)"
)
VOLATILE = {"updated_at", "checked_at"}


def entered(library):
    """Table -> its rows, of all tables that contain something which people enter."""
    with library.session() as session:
        return {
            table.name: sorted(
                str([value for column, value in row.items() if column not in VOLATILE])
                for row in session.execute(select(table)).mappings()
            )
            for table in Base.metadata.sorted_tables
            if not DERIVED.fullmatch(table.name)
        }


@pytest.mark.slow
@pytest.mark.parametrize("moves", ["true", "false"])
def test_everything_that_people_entered_comes_back_with_a_deleted_photo(open_copy, moves):
    library = open_copy(PHOTOSVC_DELETE_ORIGINALS=moves)
    library.put("g/face.jpg", jpeg(60, 50, xmp=showing("Ada", "")))
    library.index()
    every = list(dict.fromkeys(uids(library).values()))
    uid, before = uids(library)["g/face.jpg"], hashes(library.originals)
    album = call(library, "POST", "/albums", json={"Title": "Mine", "Order": "manual"})["UID"]
    call(library, "POST", f"/albums/{album}/photos", json={"photos": every[::-1]})
    texts = {"Title": "First", "Description": "High", "Private": True, "Rating": 4, "Details": {"Notes": "n"}}
    call(library, "PUT", f"/photos/{uid}", json=texts)
    call(library, "PUT", f"/photos/{uid}", json={"Title": "Second", "Details": {"Keywords": "snow, hill"}})
    call(library, "POST", f"/photos/{uid}/like")
    call(library, "POST", "/batch/photos/archive", json={"photos": [uid]})
    named = {marker["UID"]: marker["Name"] for marker in photo(library, uid)["Files"][0]["Markers"]}
    unnamed = next(marker for marker, name in named.items() if not name)
    call(library, "PUT", f"/markers/{unnamed}", json={"Name": "Zoe", "SubjSrc": "manual"})
    (file,) = photo(library, uid)["Files"]
    area = {"FileUID": file["UID"], "Name": "Yan", "X": 0.1, "Y": 0.1, "W": 0.1, "H": 0.1}
    call(library, "POST", "/markers", json=area)
    with library.session() as session:
        begin_write(session)
        ids = dict(session.execute(select(Photo.uid, Photo.id)).all())
        session.add_all(DistinctPhoto(number=7, photo_id=ids[one]) for one in set(every[:2]) | {uid})
    rows = entered(library)
    assert len(rows["photosvc_distinct_photos"]) >= 2
    assert call(library, "DELETE", f"/photos/{uid}")["photos"] == 1
    assert (hashes(library.originals) == before) is (moves == "false")
    library.index()
    call(library, "GET", f"/photos/{uid}", 404)
    assert call(library, "POST", "/trash/restore", json={"photos": [uid]})["files"] == ["g/face.jpg"]
    assert hashes(library.originals) == before
    after = entered(library)
    assert len(after["photosvc_photo_changes"]) == len(rows["photosvc_photo_changes"]) + 2
    assert set(rows.pop("photosvc_photo_changes")) < set(after.pop("photosvc_photo_changes"))
    assert after == rows
    history = call(library, "GET", f"/photos/{uid}/history")
    titled = next(change for change in history if change["After"].get("Title") == "Second")
    call(library, "POST", f"/photos/{uid}/history/{titled['ID']}/undo")
    assert photo(library, uid)["Title"] == "First"
    assert is_projected(library)
    assert library.index().updated == 0
    assert photo(library, uid)["Title"] == "First"


def photo(library, uid):
    return call(library, "GET", f"/photos/{uid}")


@pytest.mark.slow
def test_the_files_of_a_photo_stay_together_when_they_come_back_one_by_one(copied_library, monkeypatch):
    monkeypatch.setattr("photosvc.library.trash.PORTION", 1)
    before = uids(copied_library)
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": sorted({*before.values()})})
    done = json.loads(svc(copied_library, "trash", "restore", "--all", "--json").stdout)
    assert sorted(set(done["photos"])) == sorted({*before.values()})
    assert uids(copied_library) == before
    copied_library.index(force=True)
    assert uids(copied_library) == before
    assert is_projected(copied_library)


@pytest.mark.slow
def test_one_file_of_a_photo_comes_back_to_it(copied_library):
    uid = uids(copied_library)["a/lake.jpg"]
    first, second = call(copied_library, "GET", f"/photos/{uid}")["Files"]
    call(copied_library, "POST", f"/photos/{uid}/files/{second['UID']}/primary")
    assert [
        file["UID"] for file in call(copied_library, "DELETE", f"/photos/{uid}/files/{second['UID']}")["Files"]
    ] == [first["UID"]]
    assert is_projected(copied_library)
    call(copied_library, "DELETE", f"/photos/{uid}/files/{second['UID']}", 404)
    call(copied_library, "DELETE", f"/photos/{uid}/files/{first['UID']}", 409)
    copied_library.index(force=True)
    assert len(call(copied_library, "GET", f"/photos/{uid}")["Files"]) == 1
    svc(copied_library, "trash", "restore", second["Name"])
    files = call(copied_library, "GET", f"/photos/{uid}")["Files"]
    assert {file["UID"] for file in files} == {first["UID"], second["UID"]}
    assert [file["UID"] for file in files if file["Primary"]] == [second["UID"]]
    assert is_projected(copied_library)


def test_the_original_of_a_strange_name_returns_under_it(copied_library):
    before = hashes(copied_library.originals)
    (name,) = [name for name in uids(copied_library) if name.startswith("c/")]
    uid = uids(copied_library)[name]
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": [uid]})
    assert [row["Name"] for row in listed(copied_library)] == [name]
    svc(copied_library, "trash", "restore", name)
    assert hashes(copied_library.originals) == before
    assert uids(copied_library)[name] == uid


@pytest.mark.slow
def test_a_copy_of_a_deleted_photo_does_not_take_its_place(copied_library):
    before = uids(copied_library)
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": [before["b/0.jpg"]]})
    copied_library.index()
    assert uids(copied_library).keys() == before.keys() - {"b/0.jpg"}
    copied_library.index(force=True)
    assert uids(copied_library)["d/same.jpg"] == before["b/0.jpg"]


def test_the_same_picture_returns_with_its_photo_when_it_is_added_again(copied_library):
    before, content = uids(copied_library), (copied_library.originals / "b/1.jpg").read_bytes()
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": [before["b/1.jpg"]]})
    copied_library.put("e/again.jpg", content)
    copied_library.index()
    assert uids(copied_library)["e/again.jpg"] == before["b/1.jpg"]
    svc(copied_library, "trash", "restore", "--all")
    run = copied_library.index()
    assert [problem.reason.value for _, problem in run.skipped if _ == "b/1.jpg"] == ["duplicate"]
    assert "b/1.jpg" not in uids(copied_library)


@pytest.mark.slow
def test_a_name_that_another_file_has_by_now_stays_with_it(copied_library):
    uid, other = uids(copied_library)["b/1.jpg"], jpeg(200, 48)
    call(copied_library, "POST", "/batch/photos/delete", json={"q": "path:b", "expected": 3})
    copied_library.put("b/1.jpg", other)
    copied_library.index()
    new = uids(copied_library)["b/1.jpg"]
    assert new != uid
    (deletion,) = {row["Item"].partition("/")[0] for row in listed(copied_library)}
    done = svc(copied_library, "trash", "restore", deletion, code=1)
    assert "b/1.jpg stays in the trash" in done.stderr
    assert (copied_library.originals / "b/1.jpg").read_bytes() == other
    assert sorted(name for name in uids(copied_library) if name.startswith("b/")) == ["b/0.jpg", "b/1.jpg", "b/2.jpg"]
    (copied_library.originals / "b/1.jpg").unlink()
    svc(copied_library, "trash", "restore", f"{deletion}/b/1.jpg")
    assert uids(copied_library)["b/1.jpg"] == uid
    assert is_projected(copied_library)
    assert new not in uids(copied_library).values()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["restore"], 2),
        (["restore", "--all", "x"], 2),
        (["restore", "b/0.jpg"], 3),
        (["restore", "p" + "0" * 15], 3),
        (["restore", "20260301T120000Z-00000000"], 3),
        (["restore", "20260301T120000Z-00000000/../../../b/0.jpg"], 3),
        (["restore", "../b/0.jpg"], 3),
        (["restore", "/etc/passwd"], 3),
        (["restore", "\x00"], 3),
        (["empty", "--older-than", "soon"], 2),
        (["empty", "--older-than", "-1"], 2),
        (["empty", "--older-than", "99999999w"], 2),
        (["empty"], 2),
        (["ls"], 0),
    ],
)
def test_commands_end_with_the_exit_code_of_their_error(copied_library, arguments, code):
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": [uids(copied_library)["b/2.jpg"]]})
    before = hashes(copied_library.originals)
    svc(copied_library, "trash", *arguments, code=code)
    assert hashes(copied_library.originals) == before


@pytest.mark.slow
def test_the_trash_is_emptied_of_what_is_old(copied_library):
    for name in ("b/1.jpg", "b/2.jpg"):
        call(copied_library, "POST", "/batch/photos/delete", json={"photos": [uids(copied_library)[name]]})
        copied_library.clock.move(days=10)
    sizes = {row["Name"]: row["Size"] for row in listed(copied_library)}
    for row in listed(copied_library):
        deleted, until = (datetime.fromisoformat(row[name]) for name in ("DeletedAt", "KeptUntil"))
        assert until - deleted == timedelta(days=30)
    would = json.loads(svc(copied_library, "trash", "empty", "--older-than", "15", "--dry-run", "--json").stdout)
    assert would == {"files": 1, "bytes": sizes["b/1.jpg"], "dry_run": True}
    assert "1 file with" in svc(copied_library, "trash", "empty", "--older-than", "15d", "--yes").stdout
    assert [row["Name"] for row in listed(copied_library)] == ["b/2.jpg"]
    done = json.loads(svc(copied_library, "trash", "empty", "--yes", "--json").stdout)
    assert done == {"files": 1, "bytes": sizes["b/2.jpg"], "dry_run": False}
    assert list((copied_library.originals / TRASH_FOLDER).iterdir()) == []
    svc(copied_library, "purge", "--hard", "--yes")
    assert is_projected(copied_library)
    assert len(uids(copied_library)) == 4


def test_what_comes_into_the_trash_while_the_command_asks_stays_in_it(copied_library, monkeypatch):
    def delete(name):
        call(copied_library, "POST", "/batch/photos/delete", json={"photos": [uids(copied_library)[name]]})
        return True

    delete("b/1.jpg")
    monkeypatch.setattr(terminal, "has_terminal", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: delete("b/2.jpg"))
    assert "1 file with" in svc(copied_library, "trash", "empty").stdout
    assert [row["Name"] for row in listed(copied_library)] == ["b/2.jpg"]


def test_photos_whose_originals_are_in_the_trash_are_not_purged(copied_library):
    uid = uids(copied_library)["b/1.jpg"]
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": [uid]})
    svc(copied_library, "purge", "--hard", "--yes")
    svc(copied_library, "trash", "restore", uid)
    assert uids(copied_library)["b/1.jpg"] == uid


def test_originals_stay_without_the_setting_and_none_is_deleted_where_they_are_read_only(open_copy):
    library = open_copy(PHOTOSVC_READONLY="true")
    before, (uid, file) = hashes(library.originals), (library.find()[0][name] for name in ("UID", "FileUID"))
    for method, path, body in (
        ("POST", "/batch/photos/delete", {"photos": [uid]}),
        ("DELETE", f"/photos/{uid}/files/{file}", None),
    ):
        assert "read-only" in call(library, method, path, 403, json=body)["error"]
    assert len(uids(library)) == 6
    svc(library, "trash", "restore", "--all", code=1)
    svc(library, "trash", "empty", "--yes", code=1)
    library.close()
    library = open_copy(PHOTOSVC_READONLY="true", PHOTOSVC_DELETE_ORIGINALS="false")
    assert call(library, "POST", "/batch/photos/delete", json={"photos": [uid]})["photos"] == 1
    assert hashes(library.originals) == before


@pytest.mark.parametrize(
    ("owner", "name", "calls", "code", "status"),
    [(os, "rename", 3, errno.ENOSPC, 507), (deletions, "open_folder", 4, errno.EIO, 503)],
    ids=["full", "away"],
)
def test_a_disk_that_refuses_leaves_everything_as_it_was(copied_library, monkeypatch, owner, name, calls, code, status):
    before, found = hashes(copied_library.originals), copied_library.find()
    called, real = [], getattr(owner, name)

    def refuse(*arguments, **options):
        called.append(arguments)
        if len(called) == calls:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, refuse)
    photos = [record["UID"] for record in found]
    assert call(copied_library, "POST", "/batch/photos/delete", status, json={"photos": photos})["code"] == status
    monkeypatch.undo()
    assert (hashes(copied_library.originals), copied_library.find()) == (before, found)
    assert list((copied_library.originals / TRASH_FOLDER).iterdir()) == []
    assert call(copied_library, "GET", f"/photos/{photos[0]}/history") == []


def killed_deletion(library, photos, where):
    """Delete these photos in a process that is killed in a function of `library.trash_deletion`."""
    library.token(role="admin")
    library.close()
    process = os.fork()
    if process == 0:
        try:
            owner, name, calls = where
            left, real = [None] * calls, getattr(owner, name)

            def kill(*arguments, **options):
                if not left:
                    os._exit(9)
                left.pop()
                return real(*arguments, **options)

            setattr(owner, name, kill)
            call(library, "POST", "/batch/photos/delete", json={"photos": photos})
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9


@pytest.mark.slow
@pytest.mark.parametrize("moved", [0, 1, 3])
def test_a_deletion_that_is_killed_before_its_commit_is_undone_by_the_next_run(copied_library, moved):
    before, found = hashes(copied_library.originals), copied_library.find()
    photos = [record["UID"] for record in found]
    killed_deletion(copied_library, photos, (os, "rename", moved))
    svc(copied_library, "index", "--workers", "1")
    assert hashes(copied_library.originals) == before
    assert [one["UID"] for one in copied_library.find()] == photos
    assert listed(copied_library) == []
    assert is_projected(copied_library)


@pytest.mark.slow
def test_a_deletion_that_is_killed_after_its_commit_is_finished_by_the_next_run(copied_library):
    before, every = hashes(copied_library.originals), uids(copied_library)
    killed_deletion(copied_library, sorted({*every.values()}), (deletions, "_finish", 0))
    assert listed(copied_library) == []
    svc(copied_library, "index", "--workers", "1")
    assert uids(copied_library) == {}
    assert len(listed(copied_library)) == len(every)
    svc(copied_library, "trash", "restore", "--all")
    assert hashes(copied_library.originals) == before
    assert uids(copied_library) == every


@pytest.mark.slow
def test_a_deletion_under_way_is_left_alone(copied_library):
    with copied_library.app.app_context():
        from photosvc.library.trash_folder import Trash
        from photosvc.web.current import current_service

        service = current_service()
        trash = Trash(service.settings.originals)
        with deletions.deleting(trash, NOW) as deletion:
            assert list(deletion.take(["b/0.jpg", "b/none.jpg", "none/b.jpg"])) == ["b/0.jpg"]
            assert deletions.finish_deletions(service.writing, service.settings) == 0
            assert not (copied_library.originals / "b/0.jpg").exists()
    assert [row["Name"] for row in listed(copied_library)] == ["b/0.jpg"]


def test_what_lies_in_the_trash_counts_in_the_quota_of_its_account(open_copy):
    library = open_copy(PHOTOSVC_UPLOAD_QUOTA="1")
    content = (library.originals / "b/1.jpg").read_bytes()
    uid = uids(library)["b/1.jpg"]
    library.token(role="admin")

    def counted():
        with library.session() as session:
            return [(row.name.rpartition("Z-")[2][9:] or row.name, row.size) for row in session.query(UploadedFile)]

    with library.session() as session:
        user = session.query(User).first()
        file = {"user_id": user.id, "name": "b/1.jpg", "size": len(content), "original_name": "", "created_at": NOW}
        session.add(UploadedFile(hash=next(r["Hash"] for r in library.find() if r["UID"] == uid), **file))
    call(library, "POST", "/batch/photos/delete", json={"photos": [uid]})
    assert counted() == [("b/1.jpg", len(content))]
    svc(library, "trash", "restore", uid)
    assert counted() == [("b/1.jpg", len(content))]
    with library.session() as session:
        assert len(session.query(UploadedFile).one().hash) == 40
    call(library, "POST", "/batch/photos/delete", json={"photos": [uid]})
    svc(library, "trash", "empty", "--yes")
    assert counted() == []


def test_members_of_albums_survive_in_their_order(copied_library):
    every = list(dict.fromkeys(uids(copied_library).values()))
    album = call(copied_library, "POST", "/albums", json={"Title": "Mine"})["UID"]
    call(copied_library, "POST", f"/albums/{album}/photos", json={"photos": every})
    order = call(copied_library, "GET", f"/albums/{album}/photos")["photos"]
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": every[1:3]})
    assert call(copied_library, "GET", f"/albums/{album}/photos")["photos"] == [
        uid for uid in order if uid not in every[1:3]
    ]
    svc(copied_library, "trash", "restore", "--all")
    assert call(copied_library, "GET", f"/albums/{album}/photos")["photos"] == order
    with copied_library.session() as session:
        assert session.query(AlbumPhoto).join(Album).filter(Album.uid == album).count() == len(order)


def with_sidecars(library):
    """A photo with two sidecars, and one of two files that share a third."""
    library.put("e/sea.jpg", jpeg(50, 40))
    library.put("e/sea.jpeg", jpeg(40, 50))
    titled = xmp("<dc:title><rdf:Alt><rdf:li>Sea</rdf:li></rdf:Alt></dc:title>")
    library.put("e/sea.xmp", titled)
    library.put("f/hill.jpg", jpeg(51, 40))
    library.put("f/hill.jpg.xmp", xmp("<dc:title><rdf:Alt><rdf:li>Hill</rdf:li></rdf:Alt></dc:title>"))
    library.put("f/hill.xmp", xmp("<dc:description><rdf:Alt><rdf:li>High</rdf:li></rdf:Alt></dc:description>"))
    library.index()


@pytest.mark.slow
def test_sidecars_move_to_the_trash_with_their_original_and_come_back_with_it(copied_library):
    with_sidecars(copied_library)
    originals, before = hashes(copied_library.originals), copied_library.find(q="name:hill")
    (record,) = before
    assert (record["Title"], record["Description"]) == ("Hill", "High")
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": [record["UID"]]})
    assert not list(copied_library.originals.glob("f/*"))
    assert [row["Name"] for row in listed(copied_library)] == ["f/hill.jpg", "f/hill.jpg.xmp", "f/hill.xmp"]
    copied_library.index(force=True)
    done = call(copied_library, "POST", "/trash/restore", json={"photos": [record["UID"]]})
    assert (done["files"], done["photos"]) == (["f/hill.jpg", "f/hill.jpg.xmp", "f/hill.xmp"], [record["UID"]])
    assert hashes(copied_library.originals) == originals
    changing = {"UpdatedAt": "", "CheckedAt": ""}
    assert [{**one, **changing} for one in copied_library.find(q="name:hill")] == [
        {**one, **changing} for one in before
    ]
    assert (copied_library.index().updated, copied_library.index(force=True).failed) == (0, [])
    assert [{**one, **changing} for one in copied_library.find(q="name:hill")] == [
        {**one, **changing} for one in before
    ]
    assert is_projected(copied_library)


@pytest.mark.slow
def test_a_sidecar_that_another_photo_uses_stays_with_that_one(copied_library):
    with_sidecars(copied_library)
    photo, file = next((one["UID"], one["FileUID"]) for one in copied_library.find() if one["FileName"] == "e/sea.jpeg")
    call(copied_library, "POST", f"/photos/{photo}/files/{file}/unstack")
    known = uids(copied_library)
    assert known["e/sea.jpg"] != known["e/sea.jpeg"]
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": [known["e/sea.jpg"]]})
    assert {path.name for path in copied_library.originals.glob("e/*")} == {"sea.jpeg", "sea.xmp"}
    assert [one["Title"] for one in copied_library.find(q="title:sea")] == ["Sea"]
    call(copied_library, "POST", "/batch/photos/delete", json={"photos": [known["e/sea.jpeg"]]})
    assert not list(copied_library.originals.glob("e/*"))
    call(copied_library, "POST", "/trash/restore", json={"all": True})
    assert [one["Title"] for one in copied_library.find(q="title:sea")] == ["Sea", "Sea"]
    assert copied_library.index().updated == 0


def test_the_rows_of_sidecars_go_when_the_trash_is_emptied(copied_library):
    with_sidecars(copied_library)
    call(copied_library, "DELETE", f"/photos/{uids(copied_library)['f/hill.jpg']}")
    with copied_library.session() as session:
        assert session.query(Sidecar).count() == 3
    call(copied_library, "DELETE", "/trash", json={"expected": 3})
    with copied_library.session() as session:
        assert [row.name for row in session.query(Sidecar)] == ["e/sea.xmp"]
    assert copied_library.index().missing == 0


def test_a_deletion_in_many_folders_asks_the_indexer_to_look_at_few(copied_library):
    for number in range(12):
        copied_library.put(f"year/{number:02}/photo.jpg", jpeg(120 + number, 48))
    copied_library.index()
    chosen = [uid for name, uid in uids(copied_library).items() if name.startswith("year/")]
    assert call(copied_library, "POST", "/batch/photos/delete", json={"photos": chosen})["photos"] == 12
    with copied_library.session() as session:
        assert [wish.folder for wish in waiting(session)] == ["year"]
