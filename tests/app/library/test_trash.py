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
from photosvc.index.requests import waiting
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library.journal import Author
from photosvc.library.trash import deletion as deletions
from photosvc.library.trash.folder import Trash
from photosvc.library.trash.restoring import restore_files
from photosvc.models import Album, AlbumPhoto, Base, DistinctPhoto, Photo, Sidecar, UploadedFile, User
from photosvc.models.engine import begin_write
from photosvc.web.service import current_service
from tests.helpers.api_client import ApiClient
from tests.helpers.clock import NOW
from tests.helpers.library import counts, hashes
from tests.helpers.pictures import exif, jpeg, showing, xmp

TAKEN = exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})


@pytest.fixture(scope="module")
def filled(fill):
    """The library of which each test has a copy: a photo of two files, three of one, and a copy of one of these."""
    files = {}
    files["a/lake.jpg"] = jpeg(100, 80, exif=TAKEN)
    files["a/lake-edited.jpg"] = jpeg(64, 48, exif=TAKEN)
    for number in range(3):
        files[f"b/{number}.jpg"] = jpeg(70 + number, 48)
    files[b"c/\xff0.jpg"] = jpeg(90, 48)
    files["d/same.jpg"] = files["b/0.jpg"]
    return fill(files)


def call(library, method, path, status=200, **options):
    return library.call(method, path, status, token=library.token(role="admin"), **options)


def svc(library, *arguments, code=0):
    done = ApiClient(library).svc(*arguments)
    assert done.returncode == code, done.stderr
    return done


def listed(library):
    return json.loads(svc(library, "trash", "ls", "--json").stdout)


def uids(library):
    return {record["FileName"]: record["UID"] for record in library.find()}


def in_album(library, uid):
    album = call(library, "POST", "/albums", json={"Title": "Mine"})["UID"]
    call(library, "POST", f"/albums/{album}/photos", json={"photos": [uid]})
    return album


def test_a_photo_comes_back_from_the_trash_with_all_that_people_set(library):
    before, originals = uids(library), hashes(library.originals)
    uid = before["a/lake.jpg"]
    call(library, "PUT", f"/photos/{uid}", json={"Title": "Mine", "Favorite": True})
    album, found = in_album(library, uid), library.find()
    file = call(library, "GET", f"/photos/{uid}")["FileUID"]
    call(library, "PUT", f"/photos/{uid}/files/{file}/orientation", json={"Orientation": 6})
    found = library.find()
    assert call(library, "POST", "/batch/photos/delete", json={"photos": [uid]})["photos"] == 1
    assert not {"a/lake.jpg", "a/lake-edited.jpg"} & uids(library).keys()
    assert not list(library.originals.glob("a/*"))
    call(library, "GET", f"/photos/{uid}", 404)
    assert call(library, "GET", f"/albums/{album}")["PhotoCount"] == 0
    assert library.index().missing == 0
    library.index(force=True)
    assert uid not in uids(library).values()
    assert [(row["Name"], row["PhotoUID"]) for row in listed(library)] == [
        ("a/lake-edited.jpg", uid),
        ("a/lake.jpg", uid),
    ]
    done = json.loads(svc(library, "trash", "restore", uid, "--json").stdout)
    assert done == {"files": ["a/lake-edited.jpg", "a/lake.jpg"], "photos": [uid], "taken": [], "dry_run": False}
    assert hashes(library.originals) == originals
    after = library.find()
    changing = ("UpdatedAt", "CheckedAt")
    assert [{k: v for k, v in one.items() if k not in changing} for one in after] == [
        {k: v for k, v in one.items() if k not in changing} for one in found
    ]
    assert call(library, "GET", f"/albums/{album}")["PhotoCount"] == 1
    assert library.index().updated == 0
    assert listed(library) == []
    history = call(library, "GET", f"/photos/{uid}/history")
    assert [(change["Action"], change["ActorName"]) for change in history[:2]] == [
        ("photos.undelete", "svc trash"),
        ("photos.delete", "user1"),
    ]
    assert history[1]["Before"]["Files"] == history[0]["After"]["Files"] == ["a/lake-edited.jpg", "a/lake.jpg"]
    call(library, "POST", f"/photos/{uid}/history/{history[1]['ID']}/undo", 409)


#: Tables in which nothing that people entered is, and columns that say when or by whom rows were written.
DERIVED = re.compile(
    "photosvc_(search_.*|library|disks|audit.*|credentials|users|signing.*|index_.*|jobs|rejected_files|throttle.*)"
)
VOLATILE = {"updated_at", "checked_at", "changes"}


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
    assert library.index().updated == 0
    assert photo(library, uid)["Title"] == "First"


def photo(library, uid):
    return call(library, "GET", f"/photos/{uid}")


def test_the_files_of_a_photo_stay_together_when_they_come_back_one_by_one(library, monkeypatch):
    monkeypatch.setattr("photosvc.library.trash.restoring.PORTION", 1)
    before = uids(library)
    call(library, "POST", "/batch/photos/delete", json={"photos": sorted({*before.values()})})
    done = json.loads(svc(library, "trash", "restore", "--all", "--json").stdout)
    assert sorted(set(done["photos"])) == sorted({*before.values()})
    assert uids(library) == before
    library.index(force=True)
    assert uids(library) == before


def test_one_file_of_a_photo_comes_back_to_it(library):
    uid = uids(library)["a/lake.jpg"]
    first, second = call(library, "GET", f"/photos/{uid}")["Files"]
    call(library, "POST", f"/photos/{uid}/files/{second['UID']}/primary")
    assert [file["UID"] for file in call(library, "DELETE", f"/photos/{uid}/files/{second['UID']}")["Files"]] == [
        first["UID"]
    ]
    call(library, "DELETE", f"/photos/{uid}/files/{second['UID']}", 404)
    call(library, "DELETE", f"/photos/{uid}/files/{first['UID']}", 409)
    library.index(force=True)
    assert len(call(library, "GET", f"/photos/{uid}")["Files"]) == 1
    svc(library, "trash", "restore", second["Name"])
    files = call(library, "GET", f"/photos/{uid}")["Files"]
    assert {file["UID"] for file in files} == {first["UID"], second["UID"]}
    assert [file["UID"] for file in files if file["Primary"]] == [second["UID"]]


def test_the_original_of_a_strange_name_returns_under_it(library):
    before = hashes(library.originals)
    (name,) = [name for name in uids(library) if name.startswith("c/")]
    uid = uids(library)[name]
    call(library, "POST", "/batch/photos/delete", json={"photos": [uid]})
    assert [row["Name"] for row in listed(library)] == [name]
    for spelling in (name, "c/\udcff0.jpg"):
        svc(library, "trash", "restore", spelling)
        assert hashes(library.originals) == before
        assert uids(library)[name] == uid
        call(library, "POST", "/batch/photos/delete", json={"photos": [uid]})


def test_a_copy_of_a_deleted_photo_does_not_take_its_place(library):
    before = uids(library)
    call(library, "POST", "/batch/photos/delete", json={"photos": [before["b/0.jpg"]]})
    library.index()
    assert uids(library).keys() == before.keys() - {"b/0.jpg"}
    library.index(force=True)
    assert uids(library)["d/same.jpg"] == before["b/0.jpg"]


def test_the_same_picture_returns_with_its_photo_when_it_is_added_again(library):
    before, content = uids(library), (library.originals / "b/1.jpg").read_bytes()
    call(library, "POST", "/batch/photos/delete", json={"photos": [before["b/1.jpg"]]})
    library.put("e/again.jpg", content)
    library.index()
    assert uids(library)["e/again.jpg"] == before["b/1.jpg"]
    svc(library, "trash", "restore", "--all")
    run = library.index()
    assert [problem.reason.value for _, problem in run.skipped if _ == "b/1.jpg"] == ["duplicate"]
    assert "b/1.jpg" not in uids(library)


def test_a_name_that_another_file_has_by_now_stays_with_it(library):
    uid, other = uids(library)["b/1.jpg"], jpeg(200, 48)
    call(library, "POST", "/batch/photos/delete", json={"q": "path:b", "expected": 3})
    library.put("b/1.jpg", other)
    library.index()
    new = uids(library)["b/1.jpg"]
    assert new != uid
    (deletion,) = {row["Item"].partition("/")[0] for row in listed(library)}
    done = svc(library, "trash", "restore", deletion, code=1)
    assert "b/1.jpg stays in the trash" in done.stderr
    assert (library.originals / "b/1.jpg").read_bytes() == other
    assert sorted(name for name in uids(library) if name.startswith("b/")) == ["b/0.jpg", "b/1.jpg", "b/2.jpg"]
    (library.originals / "b/1.jpg").unlink()
    svc(library, "trash", "restore", f"{deletion}/b/1.jpg")
    assert uids(library)["b/1.jpg"] == uid
    assert new not in uids(library).values()


def test_a_file_returns_under_another_name_where_its_own_is_taken(library):
    uid, other = uids(library)["b/1.jpg"], jpeg(200, 48)
    album = in_album(library, uid)
    call(library, "PUT", f"/photos/{uid}", json={"Title": "Lake"})
    call(library, "POST", "/batch/photos/delete", json={"photos": [uid]})
    library.put("b/1.jpg", other)
    library.index()
    before = hashes(library.originals)
    for name, code in (
        ("b/2.jpg", 1), ("b/1.png", 2), ("b/1", 2), ("", 2), ("../1.jpg", 2), ("/b/3.jpg", 2), ("b//3.jpg", 2),
        (".b/3.jpg", 2), (".photosvc/3.jpg", 2), ("@eaDir/3.jpg", 2), ("b/\n.jpg", 2), ("b/2.jpg/3.jpg", 1),
        ("x" * 300 + ".jpg", 2),
    ):  # fmt: skip
        svc(library, "trash", "restore", uid, "--as", name, code=code)
        assert hashes(library.originals) == before, name
    svc(library, "trash", "restore", "--all", "--as", "b/3.jpg", code=2)
    assert "b/3.jpg" in svc(library, "trash", "restore", uid, "--as", "b/3.jpg", "--dry-run").stdout
    assert hashes(library.originals) == before
    done = json.loads(svc(library, "trash", "restore", uid, "--as", "new/Ü 3.JPG", "--json").stdout)
    assert (done["files"], done["photos"], listed(library)) == (["new/Ü 3.JPG"], [uid], [])
    assert counts(library.index())[:2] == (0, 0)
    assert (uids(library)["new/Ü 3.JPG"], (library.originals / "b/1.jpg").read_bytes()) == (uid, other)
    assert [(photo["UID"], photo["Title"]) for photo in library.find(s=album)] == [(uid, "Lake")]


def test_a_folder_whose_name_a_file_has_by_now_keeps_no_other_file_in_the_trash(library):
    call(library, "POST", "/batch/photos/delete", json={"q": "path:a|b", "expected": 4})
    (library.originals / "b").rmdir()
    library.put("b", b"a file")
    taken = sorted(row["Name"] for row in listed(library) if row["Name"].startswith("b/"))
    with library.app.app_context():
        service = current_service()
        files = list(Trash(library.originals).every_file())
        assert "rename" in svc(library, "trash", "restore", "--all", code=1).stderr
        again = restore_files(service.writing, service.settings, files, Author("", ""), NOW)
    assert (again.files, sorted(again.taken)) == ([], taken)
    assert {"a/lake.jpg", "a/lake-edited.jpg"} <= uids(library).keys()


def test_only_one_file_gets_another_name(library):
    photo = uids(library)["a/lake.jpg"]
    call(library, "POST", "/batch/photos/delete", json={"photos": [photo]})
    refused = svc(library, "trash", "restore", photo, "--as", "a/other.jpg", code=2)
    assert all(row["Item"] in refused.stderr for row in listed(library))


def test_commands_end_with_the_exit_code_of_their_error(library):
    call(library, "POST", "/batch/photos/delete", json={"photos": [uids(library)["b/2.jpg"]]})
    before = hashes(library.originals)
    for arguments, code in (
        (["restore"], 2), (["restore", "--all", "x"], 2), (["restore", "b/0.jpg"], 3),
        (["restore", "p" + "0" * 15], 3), (["restore", "20260301T120000Z-00000000"], 3),
        (["restore", "20260301T120000Z-00000000/../../../b/0.jpg"], 3), (["restore", "../b/0.jpg"], 3),
        (["restore", "/etc/passwd"], 3), (["restore", "\x00"], 3), (["empty", "--older-than", "soon"], 2),
        (["empty", "--older-than", "-1"], 2), (["empty", "--older-than", "99999999w"], 2), (["empty"], 2),
        (["empty", "--older-than", "999999y", "--dry-run"], 0), (["ls"], 0),
    ):  # fmt: skip
        svc(library, "trash", *arguments, code=code)
        assert hashes(library.originals) == before


def test_old_files_leave_the_trash(library):
    for name in ("b/1.jpg", "b/2.jpg"):
        call(library, "POST", "/batch/photos/delete", json={"photos": [uids(library)[name]]})
        library.clock.move(days=10)
    assert "Kept until" in svc(library, "trash", "ls").stdout
    sizes = {row["Name"]: row["Size"] for row in listed(library)}
    for row in listed(library):
        deleted, until = (datetime.fromisoformat(row[name]) for name in ("DeletedAt", "KeptUntil"))
        assert until - deleted == timedelta(days=30)
    would = json.loads(svc(library, "trash", "empty", "--older-than", "15", "--dry-run", "--json").stdout)
    assert would == {"files": 1, "bytes": sizes["b/1.jpg"], "dry_run": True}
    assert "1 file with" in svc(library, "trash", "empty", "--older-than", "15d", "--yes").stdout
    assert [row["Name"] for row in listed(library)] == ["b/2.jpg"]
    done = json.loads(svc(library, "trash", "empty", "--yes", "--json").stdout)
    assert done == {"files": 1, "bytes": sizes["b/2.jpg"], "dry_run": False}
    assert list((library.originals / TRASH_FOLDER).iterdir()) == []
    svc(library, "purge", "--hard", "--yes")
    assert len(uids(library)) == 4


def test_files_deleted_while_the_command_asks_stay_in_the_trash(library, monkeypatch):
    def delete(name):
        call(library, "POST", "/batch/photos/delete", json={"photos": [uids(library)[name]]})
        return True

    delete("b/1.jpg")
    monkeypatch.setattr(terminal, "has_terminal", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: delete("b/2.jpg"))
    assert "1 file with" in svc(library, "trash", "empty").stdout
    assert [row["Name"] for row in listed(library)] == ["b/2.jpg"]
    monkeypatch.setattr(click, "confirm", lambda *_, **__: svc(library, "trash", "restore", "b/2.jpg"))
    assert "0 files with" in svc(library, "trash", "empty").stdout
    assert "b/2.jpg" in uids(library)


def test_photos_whose_originals_are_in_the_trash_are_not_purged(library):
    uid = uids(library)["b/1.jpg"]
    call(library, "POST", "/batch/photos/delete", json={"photos": [uid]})
    svc(library, "purge", "--hard", "--yes")
    svc(library, "trash", "restore", uid)
    assert uids(library)["b/1.jpg"] == uid


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
def test_a_disk_that_refuses_leaves_everything_as_it_was(library, monkeypatch, owner, name, calls, code, status):
    before, found = hashes(library.originals), library.find()
    called, real = [], getattr(owner, name)

    def refuse(*arguments, **options):
        called.append(arguments)
        if len(called) == calls:
            raise OSError(code, os.strerror(code))
        return real(*arguments, **options)

    monkeypatch.setattr(owner, name, refuse)
    photos = [record["UID"] for record in found]
    assert call(library, "POST", "/batch/photos/delete", status, json={"photos": photos})["code"] == status
    monkeypatch.undo()
    assert (hashes(library.originals), library.find()) == (before, found)
    assert list((library.originals / TRASH_FOLDER).iterdir()) == []
    assert call(library, "GET", f"/photos/{photos[0]}/history") == []


def killed_deletion(library, photos, where):
    """Delete these photos in a process that is killed in a function of `library.trash.deletion`."""
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


@pytest.mark.parametrize("moved", [0, 1, 3])
def test_a_deletion_that_is_killed_before_its_commit_is_undone_by_the_next_run(library, moved):
    before, found = hashes(library.originals), library.find()
    photos = [record["UID"] for record in found]
    killed_deletion(library, photos, (os, "rename", moved))
    svc(library, "index", "--workers", "1")
    assert hashes(library.originals) == before
    assert [one["UID"] for one in library.find()] == photos
    assert listed(library) == []


def test_a_deletion_that_is_killed_after_its_commit_is_finished_by_the_next_run(library):
    before, every = hashes(library.originals), uids(library)
    killed_deletion(library, sorted({*every.values()}), (deletions, "_finish", 0))
    assert listed(library) == []
    svc(library, "index", "--workers", "1")
    assert uids(library) == {}
    assert len(listed(library)) == len(every)
    svc(library, "trash", "restore", "--all")
    assert hashes(library.originals) == before
    assert uids(library) == every


def test_a_deletion_under_way_is_left_alone(library):
    with library.app.app_context():
        from photosvc.library.trash.folder import Trash
        from photosvc.web.service import current_service

        service = current_service()
        trash = Trash(service.settings.originals)
        with deletions.deleting(trash, NOW) as deletion:
            assert list(deletion.take(["b/0.jpg", "b/none.jpg", "none/b.jpg"])) == ["b/0.jpg"]
            assert deletions.finish_deletions(service.writing, service.settings) == 0
            assert not (library.originals / "b/0.jpg").exists()
    assert [row["Name"] for row in listed(library)] == ["b/0.jpg"]


def test_files_in_the_trash_count_in_the_quota_of_their_account(open_copy):
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


def test_members_of_albums_survive_in_their_order(library):
    every = list(dict.fromkeys(uids(library).values()))
    album = call(library, "POST", "/albums", json={"Title": "Mine"})["UID"]
    call(library, "POST", f"/albums/{album}/photos", json={"photos": every})
    order = call(library, "GET", f"/albums/{album}/photos")["photos"]
    call(library, "POST", "/batch/photos/delete", json={"photos": every[1:3]})
    assert call(library, "GET", f"/albums/{album}/photos")["photos"] == [uid for uid in order if uid not in every[1:3]]
    svc(library, "trash", "restore", "--all")
    assert call(library, "GET", f"/albums/{album}/photos")["photos"] == order
    with library.session() as session:
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


def test_sidecars_move_to_the_trash_with_their_original_and_come_back_with_it(library):
    with_sidecars(library)
    originals, before = hashes(library.originals), library.find(q="name:hill")
    (record,) = before
    assert (record["Title"], record["Description"]) == ("Hill", "High")
    call(library, "POST", "/batch/photos/delete", json={"photos": [record["UID"]]})
    assert not list(library.originals.glob("f/*"))
    assert [row["Name"] for row in listed(library)] == ["f/hill.jpg", "f/hill.jpg.xmp", "f/hill.xmp"]
    library.index(force=True)
    done = call(library, "POST", "/trash/restore", json={"photos": [record["UID"]]})
    assert (done["files"], done["photos"]) == (["f/hill.jpg", "f/hill.jpg.xmp", "f/hill.xmp"], [record["UID"]])
    assert hashes(library.originals) == originals
    changing = {"UpdatedAt": "", "CheckedAt": ""}
    assert [{**one, **changing} for one in library.find(q="name:hill")] == [{**one, **changing} for one in before]
    assert (library.index().updated, library.index(force=True).failed) == (0, [])
    assert [{**one, **changing} for one in library.find(q="name:hill")] == [{**one, **changing} for one in before]


def test_a_sidecar_that_another_photo_uses_stays_with_that_one(library):
    with_sidecars(library)
    photo, file = next((one["UID"], one["FileUID"]) for one in library.find() if one["FileName"] == "e/sea.jpeg")
    call(library, "POST", f"/photos/{photo}/files/{file}/unstack")
    known = uids(library)
    assert known["e/sea.jpg"] != known["e/sea.jpeg"]
    call(library, "POST", "/batch/photos/delete", json={"photos": [known["e/sea.jpg"]]})
    assert {path.name for path in library.originals.glob("e/*")} == {"sea.jpeg", "sea.xmp"}
    assert [one["Title"] for one in library.find(q="title:sea")] == ["Sea"]
    call(library, "POST", "/batch/photos/delete", json={"photos": [known["e/sea.jpeg"]]})
    assert not list(library.originals.glob("e/*"))
    call(library, "POST", "/trash/restore", json={"all": True})
    assert [one["Title"] for one in library.find(q="title:sea")] == ["Sea", "Sea"]
    assert library.index().updated == 0


def test_the_rows_of_sidecars_go_when_the_trash_is_emptied(library):
    with_sidecars(library)
    call(library, "DELETE", f"/photos/{uids(library)['f/hill.jpg']}")
    with library.session() as session:
        assert session.query(Sidecar).count() == 3
    call(library, "DELETE", "/trash", json={"expected": 3})
    with library.session() as session:
        assert [row.name for row in session.query(Sidecar)] == ["e/sea.xmp"]
    assert library.index().missing == 0


def test_a_deletion_in_many_folders_asks_the_indexer_to_look_at_few(library):
    for number in range(12):
        library.put(f"year/{number:02}/photo.jpg", jpeg(120 + number, 48))
    library.index()
    chosen = [uid for name, uid in uids(library).items() if name.startswith("year/")]
    assert call(library, "POST", "/batch/photos/delete", json={"photos": chosen})["photos"] == 12
    with library.session() as session:
        assert [one.folder for one in waiting(session)] == ["year"]
