"""The trash over HTTP: what lies there, restoring it, deleting it permanently."""

import json
import os

import pytest

from photosvc.index.scan import TRASH_FOLDER
from photosvc.library.failures import trash_use
from photosvc.library.trash.folder import Trash
from tests.helpers.api_client import ApiClient
from tests.helpers.pictures import exif, jpeg


@pytest.fixture(scope="module")
def filled(fill):
    files = {}
    files["a/lake.jpg"] = jpeg(100, 80, exif=exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"}))
    for number in range(3):
        files[f"b/{number}.jpg"] = jpeg(70 + number, 48)
    return fill(files)


def call(library, method, path, status=200, *, role="admin", **options):
    return library.call(method, path, status, token=library.token(role=role), **options)


def uids(library):
    return {record["FileName"]: record["UID"] for record in library.find()}


def delete(library, *names):
    known = uids(library)
    call(library, "POST", "/batch/photos/delete", json={"photos": [known[name] for name in names]})
    return [known[name] for name in names]


def names(listed):
    return [kept["Name"] for kept in listed]


def test_the_list_is_in_pages_and_as_that_of_the_command(library):
    delete(library, "b/0.jpg", "b/1.jpg")
    library.clock.move(days=1)
    delete(library, "b/2.jpg")
    listed = call(library, "GET", "/trash")
    assert names(listed) == ["b/2.jpg", "b/0.jpg", "b/1.jpg"]
    assert listed == json.loads(ApiClient(library).svc("trash", "ls", "--json").stdout)
    assert names(call(library, "GET", "/trash?count=1&offset=1")) == ["b/0.jpg"]
    assert names(call(library, "GET", "/trash?q=2.j")) == ["b/2.jpg"]
    call(library, "GET", "/trash?count=x", 400)


def test_a_deletion_an_item_or_all_is_restored(library):
    delete(library, "b/0.jpg", "b/1.jpg")
    delete(library, "b/2.jpg")
    last = next(kept for kept in call(library, "GET", "/trash") if kept["Name"] == "b/2.jpg")
    assert call(library, "POST", "/trash/restore", json={"items": [last["Item"], last["Item"]]})["files"] == ["b/2.jpg"]
    both = call(library, "GET", "/trash")[0]["Item"].partition("/")[0]
    assert call(library, "POST", "/trash/restore", json={"items": [both]})["files"] == ["b/0.jpg", "b/1.jpg"]
    delete(library, "b/0.jpg")
    assert call(library, "POST", "/trash/restore", json={"all": True})["files"] == ["b/0.jpg"]
    assert call(library, "POST", "/trash/restore", json={"all": True})["files"] == []


def own(library, role, query=""):
    return call(library, "GET", f"/trash/photos{query}", role=role)


def test_an_account_sees_what_it_deleted_last_and_ends_that_alone(library):
    known = uids(library)
    by_admin, by_user = [known["b/0.jpg"], known["b/1.jpg"]], [known["b/2.jpg"]]
    call(library, "POST", "/batch/photos/delete", json={"photos": by_admin})
    library.clock.move(days=28.5)
    call(library, "POST", "/batch/photos/delete", role="user", json={"photos": [by_admin[0], *by_user]})
    listed = own(library, "admin")
    assert [photo["uid"] for photo in listed["photos"]] == by_admin[::-1]
    assert listed["photos"][0] == {
        "uid": by_admin[1], "hash": listed["photos"][0]["hash"], "duration": 0, "favorite": False, "private": False,
        "width": 71, "height": 48, "turn": 1, "text": "", "days": 2,
    }  # fmt: skip
    assert (listed["total"], listed["ratio"], listed["type"], listed["next"]) == (2, [148, 146], "00", "")
    assert [(photo["uid"], photo["days"]) for photo in own(library, "user")["photos"]] == [(by_user[0], 30)]
    located = own(library, "admin", f"?locate={by_admin[0]}&n=1")
    assert (located["from"], len(located["photos"])) == (1, 1)
    call(library, "GET", f"/trash/photos?locate={by_user[0]}", 404)
    preview = call(library, "GET", "/session")["config"]["previewToken"]
    picture = f"/api/v1/trash/t/{listed['photos'][0]['hash']}/{preview}/fit_720"
    shown = library.app.test_client().get(picture, buffered=True)
    assert (shown.status_code, shown.mimetype) == (200, "image/jpeg")
    for wrong in ({}, {"photos": []}, {"photos": ["x"]}, {"photos": [7]}):
        call(library, "POST", "/trash/delete", 400, json=wrong)
    call(library, "POST", "/trash/delete", 404, json={"photos": [known["a/lake.jpg"], *by_user]})
    ended = call(library, "POST", "/trash/delete", json={"photos": [*by_admin, *by_user]})
    assert (ended["files"], ended["complete"]) == (2, True)
    assert names(call(library, "GET", "/trash")) == ["b/2.jpg"]
    assert own(library, "admin")["total"] == 0
    call(library, "POST", "/trash/restore", 404, json={"photos": by_admin})
    assert call(library, "POST", "/trash/restore", json={"photos": by_user})["photos"] == by_user
    assert own(library, "user")["total"] == 0


def test_an_unknown_item_is_looked_for_in_its_own_deletion_alone(library, monkeypatch):
    asked, find = [], Trash.find
    monkeypatch.setattr(Trash, "find", lambda trash, item: asked.append(item) or find(trash, item))
    for name in ("b/0.jpg", "b/1.jpg", "b/2.jpg"):
        delete(library, name)
    gone = [f"20260301T120000Z-0000000{number}/b/0.jpg" for number in range(4)]
    call(library, "POST", "/trash/restore", 404, json={"items": gone})
    assert asked == gone


def test_pages_look_at_their_own_files_and_the_use_is_counted_once_for_each_change(library, monkeypatch):
    looked, look_at = [], Trash._look_at
    monkeypatch.setattr(Trash, "_look_at", lambda *given: looked.append(given[2]) or look_at(*given))
    delete(library, "b/0.jpg", "b/1.jpg")
    delete(library, "b/2.jpg")
    assert names(call(library, "GET", "/trash?count=1&offset=1&q=b/")) == looked
    assert len(looked) == 1
    trash, use = Trash(library.originals), []
    for change in (None, None, "b/0.jpg"):
        if change:
            item = next(kept["Item"] for kept in call(library, "GET", "/trash") if kept["Name"] == change)
            call(library, "POST", "/trash/restore", json={"items": [item]})
        else:
            os.utime(library.originals / TRASH_FOLDER, (1, 1))
        looked.clear()
        use.append((trash_use(trash).files, len(looked)))
    assert use == [(3, 3), (3, 0), (2, 2)]


def test_an_unknown_former_name_opens_no_deletion(library, monkeypatch):
    opened = []
    monkeypatch.setattr("photosvc.library.trash.folder.open_inside", lambda _, name: opened.append(name))
    delete(library, "b/0.jpg")
    for name in ("b/9.jpg", "0.jpg", "b/0.jpg\udcff", "%FF%zz", "x" * 5000, "%FF\udcff"):
        assert ApiClient(library).svc("trash", "restore", name).returncode == 3, name
    assert opened == []


def test_a_request_restores_a_limited_number_of_files(library, monkeypatch):
    for module in ("api.trash", "library.trash.restoring"):
        monkeypatch.setattr(f"photosvc.{module}.MOST_RESTORED", 2)
    delete(library, "b/0.jpg", "b/1.jpg", "b/2.jpg")
    for files, complete in ((2, False), (1, True)):
        done = call(library, "POST", "/trash/restore", json={"all": True})
        assert (len(done["files"]), done["complete"]) == (files, complete)


def test_a_restoration_that_takes_too_long_leaves_the_rest(library, monkeypatch):
    monkeypatch.setattr("photosvc.library.trash.restoring._PATIENCE", -1)
    for module in ("web.changes", "library.trash.restoring"):
        monkeypatch.setattr(f"photosvc.{module}.PORTION", 1)
    delete(library, "b/0.jpg", "b/1.jpg")
    for complete in (False, True):
        done = call(library, "POST", "/trash/restore", json={"all": True})
        assert (len(done["files"]), done["complete"]) == (1, complete)


def test_unknown_items_cannot_be_restored(library):
    delete(library, "b/0.jpg")
    deletion = call(library, "GET", "/trash")[0]["Item"].partition("/")[0]
    for body, status in (
        ({}, 400), ({"items": []}, 400), ({"items": ["a/lake.jpg"]}, 400), ({"items": ["../../photosvc.db"]}, 400),
        ({"items": 5}, 400), ({"all": True, "items": ["20260301T120000Z-00000000"]}, 400),
        ({"items": ["x"] * 1001}, 400), ({"photos": ["pxxxxxxxxxxxxxxx"]}, 404),
        ({"items": ["20260301T120000Z-00000000"]}, 404), ({"items": ["DELETION/../../../../photosvc.db"]}, 404),
        ({"items": ["DELETION/b//0.jpg"]}, 404), ({"items": ["DELETION/./b/0.jpg"]}, 404),
        ({"items": ["DELETION/b/0.jpg\x00"]}, 404), ({"items": ["DELETION/b/0.jpg/"]}, 404),
        ({"items": ["DELETION//etc/passwd"]}, 404), ({"items": ["DELETION/" + "x" * 5000]}, 404),
    ):  # fmt: skip
        call(
            library,
            "POST",
            "/trash/restore",
            status,
            json=json.loads(json.dumps(body).replace("DELETION", deletion)),
        )
        assert names(call(library, "GET", "/trash")) == ["b/0.jpg"]


def test_the_trash_is_emptied_by_age_or_by_an_expected_number(library):
    delete(library, "b/0.jpg")
    library.clock.move(days=10)
    delete(library, "b/1.jpg", "b/2.jpg")
    call(library, "DELETE", "/trash", 403, json={"days": 5}, role="user")
    for body, status in (({}, 400), ({"days": -1}, 400), ({"days": "5"}, 400), ({"expected": 1}, 409)):
        call(library, "DELETE", "/trash", status, json=body)
    done = call(library, "DELETE", "/trash", json={"days": 5})
    assert (done["files"], done["bytes"], done["complete"]) == (1, len(jpeg(70, 48)), True)
    assert call(library, "DELETE", "/trash", json={"expected": 2})["files"] == 2
    assert call(library, "DELETE", "/trash", json={"expected": 0})["files"] == 0
    assert not list((library.originals / TRASH_FOLDER).rglob("*.jpg"))


def test_a_request_that_takes_too_long_leaves_the_rest(library, monkeypatch):
    monkeypatch.setattr("photosvc.library.trash.restoring._PATIENCE", -1)
    delete(library, "b/0.jpg")
    assert call(library, "DELETE", "/trash", json={"days": 0}) == {
        "code": 200, "message": "0 files deleted permanently", "files": 0, "bytes": 0, "complete": False,
    }  # fmt: skip


def test_a_read_only_service_shows_the_trash_and_changes_nothing(library, open_copy):
    delete(library, "b/0.jpg")
    fixed = open_copy(PHOTOSVC_READONLY="true")
    assert names(call(fixed, "GET", "/trash")) == ["b/0.jpg"]
    call(fixed, "POST", "/trash/restore", 403, json={"all": True})
    call(fixed, "DELETE", "/trash", 403, json={"days": 0})
    call(library, "GET", "/trash", 403, role="viewer")
