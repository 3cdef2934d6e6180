"""Photos that are deleted with their objects in a bucket: the trash, and the way back; nothing is lost on the way."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing
from shutil import rmtree
from urllib.parse import quote

import pytest

from photosvc.library.trash import sweep
from photosvc.library.trash_bucket import Moves
from photosvc.models.engine import begin_write
from photosvc.web.current import current_service
from photosvc.web.indexer import Indexer
from tests.helpers.api_client import HASH, ApiClient
from tests.helpers.browser import OWN, Browser
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import open_library
from tests.helpers.pictures import exif, jpeg, xmp
from tests.leaving.storage.conftest import BUCKET, PREFIX, settings_of

pytestmark = pytest.mark.slow

LAKE, TOWN = jpeg(64, 48, exif=exif({0x9003: "2020:01:02 03:04:05"})), jpeg(70, 50)
ALL = {"2024/lake.jpg": LAKE, "town.jpg": TOWN}


@pytest.fixture
def filled(library, store, monkeypatch):
    """A library with two photos, without a process that indexes on its own."""
    monkeypatch.setattr("photosvc.dav.server.wake_indexer", lambda _: Indexer.NONE)
    monkeypatch.setattr("photosvc.storage.bucket._TRIES", 1)
    for name, data in ALL.items():
        store.put(name, data)
    assert library.index().indexed == 2
    return library


def request(library, method, path, status=200, *, role="admin", **options):
    headers = {"X-Auth-Token": library.token("*", role=role), **options.pop("headers", {})}
    answer = library.app.test_client().open(path, method=method, headers=headers, buffered=True, **options)
    assert answer.status_code == status, answer.text
    return answer


def delete(library, *names, status=200):
    photos = [uids(library)[name] for name in names]
    return request(library, "POST", "/api/v1/batch/photos/delete", status, json={"photos": photos}).json


def restore(library, status=200, **given):
    return request(library, "POST", "/api/v1/trash/restore", status, json=given).json


def listed(library):
    return request(library, "GET", "/api/v1/trash").json


def svc(library, *arguments, code=0):
    done = library.app.test_cli_runner().invoke(args=["svc", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def uids(library):
    return {record["FileName"]: record["UID"] for record in library.find()}


def contents(store):
    """Key -> content of all objects; those of deletions as `trash/` and their former name."""
    found = {}
    with closing(store.client()) as client:
        for one in client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
            key = one["Key"].removeprefix(f"{PREFIX}/")
            if key.startswith(".photosvc/trash/"):
                key = f"trash/{key.split('/', 3)[3]}"
            assert key not in found, "two deletions have it"
            found[key] = client.get_object(Bucket=BUCKET, Key=one["Key"])["Body"].read()
    return found


def placeholders(library):
    with library.app.app_context():
        root = current_service().settings.originals
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def before(store, act, *, method, part):
    """Call `act` with each request of this method whose address has this part, before it is carried out."""
    store.fault = lambda environ: (
        act(environ) if environ["REQUEST_METHOD"] == method and part in environ["PATH_INFO"] else None
    )


def refusing(code="AccessDenied", status="403 Forbidden"):
    return lambda _: (status, [], f"<Error><Code>{code}</Code></Error>".encode())


def away(environ):
    """Close the connection, as a store does that stops."""
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionError


def swept(library):
    with library.app.app_context():
        service = current_service()
        return sweep(service.writing, service.settings, service.now())


def test_a_deleted_photo_is_in_no_search_and_its_object_in_the_trash(filled, store):
    assert delete(filled, "2024/lake.jpg")["photos"] == 1
    assert filled.names() == ["town.jpg"]
    assert contents(store) == {"trash/2024/lake.jpg": LAKE, "town.jpg": TOWN}
    (one,) = listed(filled)
    assert (one["Name"], one["Size"]) == ("2024/lake.jpg", len(LAKE))
    run = filled.index()
    assert (filled.names(), run.indexed, run.skipped, run.failed) == (["town.jpg"], 0, [], [])
    found = request(filled, "PROPFIND", "/originals/", 207, headers={"Depth": "1"}).text
    assert ("town.jpg" in found, "2024" in found, ".photosvc" in found) == (True, False, False)


def test_a_restored_photo_has_all_that_people_entered_and_is_not_read_again(filled, store):
    uid = uids(filled)["2024/lake.jpg"]
    changed = {"Title": "Mine", "Favorite": True, "Details": {"Keywords": "boat, water"}}
    request(filled, "PUT", f"/api/v1/photos/{uid}", json=changed)
    (shown,) = filled.find(q="name:lake")
    details = request(filled, "GET", f"/api/v1/photos/{uid}").json["Details"]["Keywords"]
    delete(filled, "2024/lake.jpg")
    filled.index()
    done = restore(filled, photos=[uid])
    assert (done["files"], done["photos"], done["taken"]) == (["2024/lake.jpg"], [uid], [])
    assert contents(store) == ALL
    read = len(store.sent)
    run = filled.index()
    assert (run.unchanged, run.updated, run.indexed, len(store.sent)) == (2, 0, 0, read)
    (again,) = filled.find(q="name:lake")
    assert {name: again[name] for name in ("UID", "Title", "Favorite", "Hash", "TakenAt")} == {
        name: shown[name] for name in ("UID", "Title", "Favorite", "Hash", "TakenAt")
    }
    assert (again["Title"], again["Favorite"]) == ("Mine", True)
    assert request(filled, "GET", f"/api/v1/photos/{uid}").json["Details"]["Keywords"] == details
    assert request(filled, "GET", f"/api/v1/dl/{again['Hash']}").data == LAKE
    assert (listed(filled), placeholders(filled)) == ([], ["2024/lake.jpg", "town.jpg"])


def test_an_object_that_was_stored_in_parts_comes_back_to_its_photo(library, store):
    with closing(store.client()) as client:
        key = {"Bucket": BUCKET, "Key": f"{PREFIX}/parts.jpg"}
        upload = client.create_multipart_upload(**key)["UploadId"]
        tag = client.upload_part(**key, UploadId=upload, PartNumber=1, Body=LAKE)["ETag"]
        parts = {"Parts": [{"PartNumber": 1, "ETag": tag}]}
        assert client.complete_multipart_upload(**key, UploadId=upload, MultipartUpload=parts)["ETag"].endswith('-1"')
    library.index()
    uid = uids(library)["parts.jpg"]
    delete(library, "parts.jpg")
    restore(library, photos=[uid])
    (again,) = library.find()
    assert (again["UID"], again["FileName"]) == (uid, "parts.jpg")
    assert request(library, "GET", f"/api/v1/dl/{again['Hash']}").data == LAKE
    assert library.index().unchanged == 1


def test_sidecars_go_and_come_with_their_photo(filled, store):
    sidecar = xmp("<dc:title><rdf:Alt><rdf:li>Sea</rdf:li></rdf:Alt></dc:title>")
    store.put("2024/lake.xmp", sidecar)
    filled.index()
    uid = uids(filled)["2024/lake.jpg"]
    delete(filled, "2024/lake.jpg")
    assert sorted(contents(store)) == ["town.jpg", "trash/2024/lake.jpg", "trash/2024/lake.xmp"]
    restore(filled, photos=[uid])
    assert contents(store) == {**ALL, "2024/lake.xmp": sidecar}
    (again,) = filled.find(q="name:lake")
    assert (again["UID"], again["Title"]) == (uid, "Sea")
    assert filled.index().unchanged == 3


def test_one_file_of_a_photo_is_deleted_and_restored(filled, store):
    store.put("2024/lake.png", jpeg(60, 40))
    filled.index()
    (photo,) = filled.find(q="name:lake", merged="true")
    other = next(file for file in photo["Files"] if file["Name"] == "2024/lake.png")
    request(filled, "DELETE", f"/api/v1/photos/{photo['UID']}/files/{other['UID']}")
    assert contents(store) == {**ALL, "trash/2024/lake.png": jpeg(60, 40)}
    restore(filled, photos=[photo["UID"]])
    assert contents(store) == {**ALL, "2024/lake.png": jpeg(60, 40)}
    (again,) = filled.find(q="name:lake", merged="true")
    assert sorted(file["Name"] for file in again["Files"]) == ["2024/lake.jpg", "2024/lake.png"]


def test_a_file_that_may_not_be_deleted_is_not_copied_first(filled, store):
    photos = {record["FileName"]: (record["UID"], record["FileUID"]) for record in filled.find()}
    (lake, its_file), (town, other_file) = photos["2024/lake.jpg"], photos["town.jpg"]
    request(filled, "POST", "/api/v1/batch/photos/private", json={"photos": [town], "private": True})
    copied = []
    store.fault = lambda environ: copied.append(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "PUT" else None
    for photo, file, role, status in (
        (lake, its_file, "admin", 409),  # the only file of its photo
        (lake, other_file, "admin", 404),
        (town, other_file, "", 404),  # private, and the token belongs to no account
        (lake, "\0", "admin", 404),
    ):
        request(filled, "DELETE", f"/api/v1/photos/{photo}/files/{quote(file)}", status, role=role)
    assert copied == []


def test_a_name_that_another_object_has_by_now_stays_with_it(filled, store):
    uid = uids(filled)["town.jpg"]
    delete(filled, "town.jpg")
    store.put("town.jpg", b"mine")
    done = restore(filled, photos=[uid])
    assert (done["files"], done["taken"]) == ([], ["town.jpg"])
    assert contents(store) == {"2024/lake.jpg": LAKE, "town.jpg": b"mine", "trash/town.jpg": TOWN}
    store.delete("town.jpg")
    assert restore(filled, photos=[uid])["files"] == ["town.jpg"]
    assert contents(store) == ALL


def test_commands_list_restore_and_empty_the_trash(filled, store):
    delete(filled, "town.jpg", "2024/lake.jpg")
    rows = json.loads(svc(filled, "trash", "ls", "--json"))
    assert sorted(row["Name"] for row in rows) == ["2024/lake.jpg", "town.jpg"]
    svc(filled, "trash", "restore", "town.jpg")
    assert contents(store) == {"trash/2024/lake.jpg": LAKE, "town.jpg": TOWN}
    assert svc(filled, "trash", "empty", "--yes") == f"1 file with {len(LAKE)} bytes deleted permanently\n"
    assert (contents(store), placeholders(filled)) == ({"town.jpg": TOWN}, ["town.jpg"])
    filled.index()
    assert filled.names() == ["town.jpg"]


def test_the_same_picture_is_the_same_photo_after_the_trash_was_emptied(filled, store):
    uid = uids(filled)["town.jpg"]
    delete(filled, "town.jpg")
    assert request(filled, "DELETE", "/api/v1/trash", json={"expected": 1}).json["files"] == 1
    assert contents(store) == {"2024/lake.jpg": LAKE}
    store.put("again.jpg", TOWN)
    filled.index()
    assert uids(filled)["again.jpg"] == uid


def test_the_trash_is_swept_after_thirty_days(filled, store):
    delete(filled, "town.jpg")
    filled.clock.move(days=29, hours=23)
    assert swept(filled).files == 0
    assert contents(store) == {"2024/lake.jpg": LAKE, "trash/town.jpg": TOWN}
    filled.clock.move(hours=2)
    assert swept(filled).files == 1
    assert (contents(store), placeholders(filled)) == ({"2024/lake.jpg": LAKE}, ["2024/lake.jpg"])


@pytest.mark.parametrize(
    ("method", "code", "status", "message"),
    [
        ("DELETE", "AccessDenied", 403, "they need the right s3:DeleteObject"),
        ("PUT", "AccessDenied", 403, "they need the right s3:PutObject"),
        ("PUT", "QuotaExceeded", 507, "a quota of the bucket is used up"),
    ],
)
def test_a_refused_deletion_names_the_reason_and_changes_nothing(filled, store, method, code, status, message):
    found = filled.find()
    before(store, refusing(code), method=method, part="")
    answer = delete(filled, "town.jpg", "2024/lake.jpg", status=status)
    assert message in answer["error"], answer
    store.fault = lambda _: None
    assert (contents(store), filled.find(), listed(filled)) == (ALL, found, [])
    assert placeholders(filled) == ["2024/lake.jpg", "town.jpg"]
    assert filled.index().unchanged == 2


def test_a_right_that_holds_in_the_trash_alone_is_not_enough(filled, store):
    denied = refusing()

    def fault(environ):
        of_originals = environ["REQUEST_METHOD"] == "DELETE" and ".photosvc/" not in environ["PATH_INFO"]
        return denied(environ) if of_originals else None

    store.fault = fault
    assert "s3:DeleteObject" in delete(filled, "2024/lake.jpg", status=403)["error"]
    store.fault = lambda _: None
    assert (contents(store), filled.names()) == (ALL, ["2024/lake.jpg", "town.jpg"])


@pytest.mark.parametrize("fault", [away, refusing("SlowDown", "503 Slow Down")])
@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE"])
def test_a_store_that_fails_deletes_nothing(filled, store, fault, method):
    found = filled.find()
    before(store, fault, method=method, part="")
    assert delete(filled, "town.jpg", "2024/lake.jpg", status=503)["code"] == 503
    assert (filled.find(), listed(filled)) == (found, [])
    store.fault = lambda _: None
    svc(filled, "index", "--workers", "1")
    assert (contents(store), filled.find()) == (ALL, found)
    assert placeholders(filled) == ["2024/lake.jpg", "town.jpg"]


def test_a_store_that_stops_after_the_commit_is_asked_again_later(filled, store):
    before(store, away, method="DELETE", part="town.jpg")
    assert delete(filled, "town.jpg")["photos"] == 1
    assert contents(store) == {**ALL, "trash/town.jpg": TOWN}
    store.fault = lambda _: None
    run = filled.index()
    assert (filled.names(), run.indexed) == (["2024/lake.jpg"], 0), "the object is on its way"
    swept(filled)
    assert contents(store) == {"2024/lake.jpg": LAKE, "trash/town.jpg": TOWN}
    restore(filled, all=True)
    assert (contents(store), filled.names()) == (ALL, ["2024/lake.jpg", "town.jpg"])


def test_an_undo_while_a_deletion_is_unfinished_finishes_it_first(filled, store):
    uid = uids(filled)["town.jpg"]
    before(store, away, method="DELETE", part="town.jpg")
    delete(filled, "town.jpg")
    restore(filled, 503, photos=[uid])
    store.fault = lambda _: None
    assert restore(filled, photos=[uid])["files"] == ["town.jpg"]
    assert (contents(store), uids(filled)["town.jpg"]) == (ALL, uid)


def test_an_object_that_was_replaced_since_the_index_run_is_not_deleted(filled, store):
    store.put("town.jpg", b"mine")
    assert "was replaced or deleted meanwhile" in delete(filled, "town.jpg", status=409)["error"]
    assert contents(store) == {**ALL, "town.jpg": b"mine"}
    assert filled.names() == ["2024/lake.jpg", "town.jpg"]


def test_an_object_that_is_replaced_while_it_is_deleted_stays_with_its_former_content_in_the_trash(filled, store):
    def replace(_environ):
        store.fault = lambda _: None
        store.put("town.jpg", jpeg(71, 50))

    before(store, replace, method="DELETE", part="/town.jpg")
    delete(filled, "town.jpg")
    assert contents(store) == {"2024/lake.jpg": LAKE, "town.jpg": jpeg(71, 50), "trash/town.jpg": TOWN}
    filled.index()
    assert filled.names() == ["2024/lake.jpg", "town.jpg"]


def test_an_object_over_five_gib_is_refused_in_one_sentence(filled, store, monkeypatch):
    monkeypatch.setattr("photosvc.storage.objects.LARGEST", len(TOWN) - 1)
    answer = delete(filled, "town.jpg", status=413)
    assert answer["error"] == "The file is larger than a bucket stores or copies at once (5 GiB)."
    assert (contents(store), listed(filled)) == (ALL, [])


def test_others_change_the_library_while_an_object_is_copied_and_deleted(filled, store):
    uid = uids(filled)["2024/lake.jpg"]
    changes = []

    def change(environ):
        changes.append(environ["REQUEST_METHOD"])
        request(filled, "POST", f"/api/v1/photos/{uid}/like")

    store.fault = change
    delete(filled, "town.jpg")
    restore(filled, all=True)
    assert {"HEAD", "PUT", "DELETE"} <= {*changes}


def test_readonly_originals_stay(filled, store, tmp_path):
    filled.close()
    library = open_library(tmp_path / "other", settings=settings_of(store, PHOTOSVC_READONLY="true"))
    library.index()
    assert "PHOTOSVC_READONLY" in delete(library, "town.jpg", status=403)["error"]
    restore(library, 403, all=True)
    assert contents(store) == ALL
    library.close()


@pytest.mark.parametrize("name", ["town.jpg", "2024"])
def test_webdav_moves_a_file_or_folder_into_the_trash(filled, store, name):
    (file,) = (one for one in ALL if one.startswith(name))
    uid = uids(filled)[file]
    store.put_raw("2024/", b"")
    request(filled, "DELETE", f"/originals/{name}", 204)
    request(filled, "PROPFIND", f"/originals/{name}", 404, headers={"Depth": "0"})
    (left,) = ALL.keys() - {file}
    expected = {left: ALL[left], f"trash/{file}": ALL[file]} | ({"2024/": b""} if name == "town.jpg" else {})
    assert contents(store) == expected
    assert filled.names() == [left]
    filled.index()
    assert filled.names() == [left]
    restore(filled, photos=[uid])
    assert uids(filled)[file] == uid
    assert {key: data for key, data in contents(store).items() if data} == ALL


def test_webdav_deletes_what_the_library_does_not_know_and_restores_it(filled, store):
    store.put("notes.txt", b"text")
    store.put("empty.txt", b"")
    filled.index()
    request(filled, "DELETE", "/originals/notes.txt", 204)
    request(filled, "DELETE", "/originals/empty.txt", 204)
    assert contents(store) == {**ALL, "trash/notes.txt": b"text"}
    svc(filled, "trash", "restore", "notes.txt")
    assert contents(store) == {**ALL, "notes.txt": b"text"}


def test_webdav_deletes_no_content_for_an_empty_file_that_it_has_replaced(filled, store):
    store.put("new.jpg", b"")
    filled.index()
    store.put("new.jpg", b"content")
    request(filled, "DELETE", "/originals/new.jpg", 409)
    assert contents(store) == {**ALL, "new.jpg": b"content"}
    request(filled, "DELETE", "/originals/new.jpg", 204)
    assert contents(store) == {**ALL, "trash/new.jpg": b"content"}


def test_webdav_deletes_the_marks_of_a_folder_and_no_object_with_content(filled, store):
    for number in range(12):
        store.put_raw(f"2024/{number}/", b"")
    store.put_raw("2024/other/", b"content")
    filled.index()
    request(filled, "DELETE", "/originals/2024", 204)
    assert contents(store) == {"2024/other/": b"content", "town.jpg": TOWN, "trash/2024/lake.jpg": LAKE}


def test_webdav_deletes_no_more_at_a_time_than_may_send_files(filled, store, monkeypatch):
    monkeypatch.setattr("photosvc.dav.dav_request.PATIENCE", 0.1)
    with filled.app.app_context():
        service = current_service()
    taken = [service.receptions.take("others") for _ in range(service.settings.uploads)]
    request(filled, "DELETE", "/originals/town.jpg", 503)
    taken[0]()
    request(filled, "DELETE", "/originals/town.jpg", 204)
    assert contents(store) == {"2024/lake.jpg": LAKE, "trash/town.jpg": TOWN}


def test_webdav_deletes_nothing_if_a_condition_or_the_store_is_against_it(filled, store):
    request(filled, "DELETE", "/originals/town.jpg", 412, headers={"If-Match": '"other"'})
    request(filled, "DELETE", "/originals/none.jpg", 404)
    request(filled, "DELETE", "/originals/", 403)
    before(store, refusing(), method="DELETE", part="")
    request(filled, "DELETE", "/originals/2024", 403)
    store.fault = lambda _: None
    assert (contents(store), filled.names()) == (ALL, ["2024/lake.jpg", "town.jpg"])


KILLED = """
import os, signal, sys
from photosvc.app import create_app
from photosvc.library import {module}
def kill(*arguments, **options):
    {first}
    os.kill(os.getpid(), signal.SIGKILL)
{module}.{function} = kill
app = create_app(instance={instance!r}, settings={settings!r}, environ={{}})
answer = app.test_client().open({path!r}, method="POST", headers={{"X-Auth-Token": {token!r}}}, json={given!r})
sys.exit(answer.text)
"""


def killed(library, store, function, path, given, *, first="pass", module="trash_bucket"):
    """Send a request to a process that is killed where it would call a function of `photosvc.library`."""
    token = library.token("*", role="admin")
    program = KILLED.format(
        instance=str(library.instance), settings=settings_of(store), function=function, module=module, first=first,
        path=path, token=token, given=given,
    )  # fmt: skip
    environ = {name: value for name, value in os.environ.items() if name != "COVERAGE_PROCESS_START"}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with library.app.app_context():
        current_service().engine().dispose()


def test_a_process_that_is_killed_after_a_copy_leaves_no_duplicate_and_no_loss(filled, store):
    found = filled.find()
    photos = list(uids(filled).values())
    killed(
        filled, store, "copy", "/api/v1/batch/photos/delete", {"photos": photos},
        first="from photosvc.storage.objects import copy; copy(*arguments, **options)",
    )  # fmt: skip
    assert any(key.startswith("trash/") for key in contents(store))
    run = filled.index()
    assert (filled.find(), run.indexed, run.skipped) == (found, 0, [])
    svc(filled, "index", "--workers", "1")
    assert (contents(store), filled.find(), listed(filled)) == (ALL, found, [])


def test_a_process_that_is_killed_between_copy_and_deletion_has_deleted(filled, store):
    every = uids(filled)
    killed(filled, store, "delete", "/api/v1/batch/photos/delete", {"photos": list(every.values())})
    assert contents(store) == {**ALL, **{f"trash/{name}": data for name, data in ALL.items()}}
    run = filled.index()
    assert (filled.names(), run.indexed, run.skipped, run.failed) == ([], 0, [], [])
    svc(filled, "index", "--workers", "1")
    assert contents(store) == {f"trash/{name}": data for name, data in ALL.items()}
    svc(filled, "trash", "restore", "--all")
    filled.index()
    assert (contents(store), uids(filled)) == (ALL, every)


def test_a_process_that_is_killed_before_the_commit_has_deleted_nothing(filled, store):
    found = filled.find()
    every = list(uids(filled).values())
    killed(filled, store, "_wish", "/api/v1/batch/photos/delete", {"photos": every}, module="trash_deletion")
    svc(filled, "index", "--workers", "1")
    assert (contents(store), filled.find(), listed(filled)) == (ALL, found, [])


def test_a_process_that_is_killed_while_it_restores_leaves_the_photo_to_the_index(filled, store):
    every, uid = uids(filled), uids(filled)["town.jpg"]
    delete(filled, "town.jpg")
    killed(filled, store, "_follow", "/api/v1/trash/restore", {"photos": [uid]}, module="trash")
    assert contents(store) == {**ALL, "trash/town.jpg": TOWN}
    filled.index()
    assert uids(filled) == every
    filled.clock.move(days=2)
    swept(filled)
    assert (contents(store), listed(filled), uids(filled)) == (ALL, [], every)


def test_a_mirror_that_was_lost_is_made_again_with_its_trash(filled, store):
    uid = uids(filled)["town.jpg"]
    delete(filled, "town.jpg")
    with filled.app.app_context():
        rmtree(current_service().settings.originals)
    filled.index()
    assert [one["Name"] for one in listed(filled)] == ["town.jpg"]
    svc(filled, "purge", "--yes")
    assert restore(filled, photos=[uid])["photos"] == [uid]
    assert contents(store) == ALL
    assert filled.index().unchanged == 2


def is_list(environ):
    return "list-type=2" in environ["QUERY_STRING"]


def late(store, change, *, answers=is_list):
    """Let the store answer the next request of a kind only after this change, and so without it."""

    def answered(environ):
        if not answers(environ):
            return None
        store.fault = lambda _: None
        told = []
        body = b"".join(store.app(environ, lambda *answer: told.extend(answer)))
        change()
        return told[0], [(name, value) for name, value in told[1] if name.lower() != "content-length"], body

    store.fault = answered


def test_a_list_that_is_older_than_a_deletion_brings_nothing_back(filled, store):
    late(store, lambda: delete(filled, "town.jpg"))
    run = filled.index()
    assert (filled.names(), run.failed) == (["2024/lake.jpg"], [])
    assert contents(store) == {"2024/lake.jpg": LAKE, "trash/town.jpg": TOWN}


def test_a_list_that_is_older_than_a_restoration_loses_nothing(filled, store):
    uid = uids(filled)["town.jpg"]
    delete(filled, "town.jpg")
    late(store, lambda: restore(filled, photos=[uid]))
    filled.index()
    assert filled.names() == ["2024/lake.jpg", "town.jpg"]
    assert contents(store) == ALL


def test_a_list_that_is_older_than_a_restoration_brings_nothing_back_into_the_trash(filled, store):
    every = uids(filled)
    delete(filled, *every)
    late(store, lambda: restore(filled, photos=[every["town.jpg"]]))
    filled.index()
    assert [one["Name"] for one in listed(filled)] == ["2024/lake.jpg"]
    late(store, lambda: request(filled, "DELETE", "/api/v1/trash", json={"expected": 1}))
    filled.index()
    assert (listed(filled), contents(store)) == ([], {"town.jpg": TOWN})


def test_a_list_that_shows_a_restored_object_before_the_library_notes_it_does_not_take_its_name(filled, store):
    uid = uids(filled)["town.jpg"]
    delete(filled, "town.jpg")
    late(store, filled.index, answers=lambda environ: environ["REQUEST_METHOD"] == "PUT")
    done = restore(filled, photos=[uid])
    assert (done["files"], done["taken"]) == (["town.jpg"], [])
    for _ in range(2):
        assert (contents(store), uids(filled)["town.jpg"], listed(filled)) == (ALL, uid, [])
        filled.index()


def test_of_two_restorations_the_one_that_comes_too_late_takes_nothing_away(filled, store):
    uid = uids(filled)["town.jpg"]
    delete(filled, "town.jpg")
    with filled.app.app_context():
        bucket = current_service().settings.bucket
    (path,) = (one.key for one in bucket.objects(".photosvc/trash"))
    second, steps = Moves(bucket), []

    def at_the_same_moment(environ):
        for name in ("HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"):  # as a store that ignores conditions
            environ.pop(name, None)
        if environ["REQUEST_METHOD"] == "PUT" and not steps:
            steps.append("copied")
            second.copy({path: "town.jpg"}, lambda *_: True)
        elif environ["REQUEST_METHOD"] == "DELETE" and steps == ["copied"] and environ["PATH_INFO"].endswith(path):
            steps.append("taken back")
            second.take_back([path])

    store.fault = at_the_same_moment
    assert restore(filled, photos=[uid])["files"] == ["town.jpg"]
    assert (steps, contents(store), uids(filled)["town.jpg"]) == (["copied", "taken back"], ALL, uid)


def test_the_page_offers_to_delete_and_the_trash_to_restore(filled):
    with filled.session() as session:
        begin_write(session)
        add_user(session, "ann", "admin", password_hash=HASH)
    ann = Browser(ApiClient(filled))
    assert ann.sign_in("ann").status_code == 303
    grid = ann.open("/", headers=OWN).text
    assert {"delete", "untrash"} <= {*re.search(r'data-may="([\w ]*)"', grid)[1].split()}
    delete(filled, "town.jpg")
    page = ann.open("/administration/library/trash", headers=OWN).text
    item = re.search(r'name="item" value="([^"]*)"', page)[1]
    form = {"item": item}
    assert ann.open("/administration/library/trash/restore", method="POST", data=form, headers=OWN).status_code == 303
    assert filled.names() == ["2024/lake.jpg", "town.jpg"]
