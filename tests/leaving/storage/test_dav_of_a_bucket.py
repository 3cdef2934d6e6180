"""Storing, moving and copying originals in a bucket over WebDAV: objects, library and mirror afterwards."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from io import BytesIO

import pytest

from photosvc.dav.dav_request import Request
from photosvc.library.relocation import Relocation
from photosvc.storage import groups
from photosvc.storage.bucket import BucketError
from photosvc.storage.remote import stamp
from photosvc.web.current import current_service
from tests.helpers.api_client import open_api
from tests.helpers.dav_client import DavClient
from tests.helpers.pictures import jpeg
from tests.leaving.storage.conftest import BUCKET, PREFIX, settings_of

pytestmark = pytest.mark.slow

LOCK = b"""<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>"""
ONE, TWO = jpeg(64, 48), jpeg(80, 48)


@pytest.fixture(autouse=True)
def without_indexer(monkeypatch):
    monkeypatch.setattr("photosvc.dav.server.wake_indexer", lambda _service: None)


@pytest.fixture
def dav(store, tmp_path):
    """A client of a library whose bucket has one indexed picture."""
    with open_api(tmp_path, settings=settings_of(store)) as api:
        store.put("2024/a.jpg", ONE)
        assert api.library.index().indexed == 1
        yield DavClient(api)


def keys(dav, folder=""):
    with dav.api.library.app.app_context():
        return sorted(one.key for one in current_service().settings.bucket.objects(folder))


def visible(dav):
    return [key for key in keys(dav) if not key.startswith(".photosvc/")]


def trashed(dav):
    return [key.split("/", 3)[3] for key in keys(dav, ".photosvc/trash")]


def content(store, key):
    client = store.client()
    try:
        return client.get_object(Bucket=BUCKET, Key=f"{PREFIX}/{key}")["Body"].read()
    finally:
        client.close()


def put(dav, path, data=ONE, **headers):
    return dav.call("PUT", path, data, headers={name.replace("_", "-"): value for name, value in headers.items()})


def to(dav, method, source, target, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return dav.call(method, source, headers={"Destination": f"/originals{target}", **headers})


def lock(dav, path, depth="0"):
    answer = dav.call("LOCK", path, LOCK, headers={"Depth": depth})
    return answer, answer.headers.get("Lock-Token", "")


def photo(dav, name):
    return next(one for one in dav.api.library.find(merged="true") if one["FileName"] == name)


def refuse(method, status, code, holds=lambda _environ: True):
    body = f"<Error><Code>{code}</Code></Error>".encode()
    return lambda environ: (status, [], body) if environ["REQUEST_METHOD"] == method and holds(environ) else None


# PUT


def test_a_new_file_is_stored_listed_read_and_indexed(dav, store):
    made = put(dav, "/2024/b.jpg", TWO)
    assert made.status_code == 201
    assert content(store, "2024/b.jpg") == TWO
    got = dav.call("GET", "/2024/b.jpg")
    assert (got.data, got.headers["ETag"]) == (TWO, made.headers["ETag"])
    assert dav.api.library.index().indexed == 1
    assert dav.api.library.names() == ["2024/a.jpg", "2024/b.jpg"]
    assert dav.call("HEAD", "/2024/b.jpg").headers["ETag"] == made.headers["ETag"]


def test_a_replaced_photo_keeps_its_identity_and_its_old_content_is_in_the_trash(dav, store):
    before = photo(dav, "2024/a.jpg")
    assert put(dav, "/2024/a.jpg", TWO).status_code == 204
    assert content(store, "2024/a.jpg") == TWO
    assert trashed(dav) == ["2024/a.jpg"]
    assert content(store, keys(dav, ".photosvc/trash")[0]) == ONE
    dav.api.library.index()
    after = photo(dav, "2024/a.jpg")
    assert (after["UID"], after["Width"]) == (before["UID"], 80)
    assert dav.api.library.names() == ["2024/a.jpg"]


def test_a_file_that_the_library_does_not_know_moves_into_the_trash_too(dav, store):
    assert put(dav, "/2024/n.txt", b"one").status_code == 201
    assert put(dav, "/2024/n.txt", b"two").status_code == 204
    assert (content(store, "2024/n.txt"), trashed(dav)) == (b"two", ["2024/n.txt"])


def test_an_empty_file_is_stored_first_and_then_its_content(dav, store):
    assert put(dav, "/2024/b.jpg", b"").status_code == 201
    assert dav.api.library.index().indexed == 0
    assert put(dav, "/2024/b.jpg", TWO).status_code == 204
    assert (content(store, "2024/b.jpg"), trashed(dav)) == (TWO, [])
    assert dav.api.library.index().indexed == 1


def test_conditions_hold_as_on_disk(dav, store):
    tag = dav.call("HEAD", "/2024/a.jpg").headers["ETag"]
    assert put(dav, "/2024/a.jpg", TWO, If_Match='"other"').status_code == 412
    assert put(dav, "/2024/a.jpg", TWO, If_None_Match="*").status_code == 412
    assert put(dav, "/2024/b.jpg", TWO, If_Match="*").status_code == 412
    assert (content(store, "2024/a.jpg"), visible(dav)) == (ONE, ["2024/a.jpg"])
    made = put(dav, "/2024/a.jpg", TWO, If_Match=tag)
    assert made.status_code == 204
    assert put(dav, "/2024/a.jpg", ONE, If_Match=tag).status_code == 412
    assert put(dav, "/2024/b.jpg", TWO, If_None_Match="*").status_code == 201


def test_a_file_that_another_program_has_replaced_is_compared_as_it_is_now(dav, store):
    tag = dav.call("HEAD", "/2024/a.jpg").headers["ETag"]
    store.put("2024/a.jpg", TWO)
    store.put("2024/b.jpg", TWO)
    assert put(dav, "/2024/a.jpg", b"mine", If_Match=tag).status_code == 412
    assert put(dav, "/2024/b.jpg", b"mine", If_None_Match="*").status_code == 412
    assert content(store, "2024/a.jpg") == content(store, "2024/b.jpg") == TWO


def test_of_several_requests_for_a_new_name_exactly_one_stores_it(dav, store):
    bodies = [b"%d" % number for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda data: put(dav, "/2024/b.txt", data, If_None_Match="*").status_code, bodies))
    assert sorted(answers) == [201, 412, 412, 412]
    assert content(store, "2024/b.txt") == bodies[answers.index(201)]


def test_a_lock_keeps_others_from_storing(dav, store):
    answer, token = lock(dav, "/2024/a.jpg")
    assert answer.status_code == 200
    assert put(dav, "/2024/a.jpg", TWO).status_code == 423
    assert content(store, "2024/a.jpg") == ONE
    assert put(dav, "/2024/a.jpg", TWO, If=f"({token})").status_code == 204


def test_a_lock_that_is_granted_while_the_file_is_stored_brings_the_old_file_back(dav, store):
    def granted_at_last(environ):
        if environ["REQUEST_METHOD"] == "PUT" and "HTTP_X_AMZ_COPY_SOURCE" not in environ:
            store.fault = lambda _: None
            thread = threading.Thread(target=lock, args=(dav, "/2024/a.jpg"))
            thread.start()
            thread.join()

    store.fault = granted_at_last
    assert put(dav, "/2024/a.jpg", TWO).status_code == 423
    assert (content(store, "2024/a.jpg"), trashed(dav)) == (ONE, [])
    assert dav.call("GET", "/2024/a.jpg").data == ONE


def test_a_file_over_five_gib_is_refused_before_its_body(dav):
    length = {"CONTENT_LENGTH": str((5 << 30) + 1)}
    answer = dav.call("PUT", "/big.mp4", input_stream=BytesIO(b"x"), environ_overrides=length)
    assert answer.status_code == 413
    assert keys(dav) == ["2024/a.jpg"]


def test_the_time_of_a_file_is_that_of_its_object(dav):
    answer = put(dav, "/b.txt", b"x", X_OC_Mtime="1000000000")
    assert (answer.status_code, answer.headers.get("X-OC-Mtime")) == (201, None)
    assert dav.call("GET", "/b.txt").data == b"x"


@pytest.mark.parametrize(
    ("kind", "status", "sentence"),
    [("AccessDenied", 403, "s3:PutObject"), ("QuotaExceeded", 507, "quota"), ("SlowDown", 503, "error")],
)
@pytest.mark.parametrize("path", ["/2024/a.jpg", "/2024/b.jpg"])
def test_what_the_store_refuses_changes_nothing(dav, store, path, kind, status, sentence):
    code = {403: "403 Forbidden", 507: "403 Forbidden", 503: "503 Slow Down"}[status]
    store.fault = refuse("PUT", code, kind, lambda environ: "HTTP_X_AMZ_COPY_SOURCE" not in environ)
    answer = put(dav, path, TWO)
    store.fault = lambda _: None
    assert answer.status_code == status, answer.text
    assert sentence in answer.json["error"]
    assert (keys(dav), content(store, "2024/a.jpg")) == (["2024/a.jpg"], ONE)
    assert dav.call("GET", path).status_code == (200 if path == "/2024/a.jpg" else 404)


def test_a_store_that_is_away_is_unavailable(dav, store):
    store.fault = lambda _: ("500 Internal Server Error", [], b"")
    answers = [
        put(dav, "/2024/b.jpg"),
        dav.call("MKCOL", "/new"),
        to(dav, "MOVE", "/2024/a.jpg", "/b.jpg"),
        to(dav, "COPY", "/2024", "/2025"),
        lock(dav, "/new.txt")[0],
    ]
    assert [answer.status_code for answer in answers] == [503] * 5
    store.fault = lambda _: None
    assert keys(dav) == ["2024/a.jpg"]
    assert dav.call("GET", "/2024/a.jpg").data == ONE


def test_a_database_that_fails_brings_everything_back(dav, store, monkeypatch):
    def fail(*_arguments, **_options):
        raise BucketError

    monkeypatch.setattr(Relocation, "changed", fail)
    put(dav, "/2024/n.txt", b"new")
    assert put(dav, "/2024/b.jpg", TWO).status_code == 503
    assert put(dav, "/2024/a.jpg", TWO).status_code == 503
    assert to(dav, "MOVE", "/2024/a.jpg", "/2024/c.jpg").status_code == 503
    assert to(dav, "MOVE", "/2024", "/2025").status_code == 503
    assert to(dav, "COPY", "/2024", "/2025").status_code == 503
    assert (keys(dav), content(store, "2024/a.jpg")) == (["2024/a.jpg"], ONE)
    assert dav.call("GET", "/2024/a.jpg").data == ONE
    assert dav.call("PROPFIND", "/2025", headers={"Depth": "0"}).status_code == 404


def test_the_quota_counts_what_is_stored(store, tmp_path):
    with open_api(tmp_path, settings=settings_of(store, PHOTOSVC_UPLOAD_QUOTA="1")) as api:
        api.library.index()
        dav = DavClient(api)
        assert put(dav, "/a.bin", b"x" * 600_000).status_code == 201
        assert put(dav, "/b.bin", b"y" * 600_000).status_code == 507
        assert to(dav, "COPY", "/a.bin", "/c.bin").status_code == 507
        assert keys(dav) == ["a.bin"]
        asked = b'<propfind xmlns="DAV:"><prop><quota-available-bytes/></prop></propfind>'
        assert f">{(1 << 20) - 600_000}<" in dav.call("PROPFIND", "/", asked, headers={"Depth": "0"}).text


# Folders


def test_an_empty_folder_is_an_object_and_stays(dav, store):
    assert dav.call("MKCOL", "/trips").status_code == 201
    assert keys(dav) == ["2024/a.jpg", "trips/"]
    run = dav.api.library.index()
    assert (run.indexed, run.skipped, run.failed) == (0, [], [])
    assert dav.call("PROPFIND", "/trips", headers={"Depth": "0"}).status_code == 207
    assert dav.call("MKCOL", "/trips").status_code == 405
    assert put(dav, "/trips/b.jpg", TWO).status_code == 201
    assert dav.call("MKCOL", "/none/inner").status_code == 409


def test_a_folder_that_another_program_has_made_exists(dav, store):
    store.put_raw("other/", b"")
    assert dav.call("MKCOL", "/other").status_code == 405
    dav.api.library.index()
    assert dav.call("PROPFIND", "/other", headers={"Depth": "0"}).status_code == 207
    store.delete("other/")
    dav.api.library.index()
    assert dav.call("PROPFIND", "/other", headers={"Depth": "0"}).status_code == 404


def test_a_folder_that_only_the_mirror_has_is_made(dav):
    (dav.api.library.app.extensions["photosvc"].settings.originals / "ghost/inner").mkdir(parents=True)
    assert dav.call("MKCOL", "/ghost").status_code == 201
    assert keys(dav) == ["2024/a.jpg", "ghost/"]
    assert dav.call("MKCOL", "/2024").status_code == 405
    assert dav.call("MKCOL", "/2024/a.jpg/").status_code == 405
    assert keys(dav) == ["2024/a.jpg", "ghost/"]


def late(store, change):
    """Let the store answer the next list only after this change, and so without it."""

    def answered(environ):
        if "list-type=2" not in environ["QUERY_STRING"]:
            return None
        headers = []
        store.fault = lambda _: None
        answer = b"".join(store.app(environ, lambda *told: headers.extend(told)))
        change()
        return headers[0], [one for one in headers[1] if one[0] != "Content-Length"], answer

    store.fault = answered


def test_what_is_stored_while_the_list_is_read_stays_visible(dav, store):
    def change():
        assert put(dav, "/2024/late.jpg", TWO).status_code == 201
        assert put(dav, "/2024/a.jpg", TWO).status_code == 204
        assert dav.call("MKCOL", "/late").status_code == 201

    late(store, change)
    dav.api.library.index()
    assert dav.call("GET", "/2024/late.jpg").data == dav.call("GET", "/2024/a.jpg").data == TWO
    assert dav.call("PROPFIND", "/late", headers={"Depth": "0"}).status_code == 207


def test_a_photo_that_is_stored_again_as_it_is_while_the_list_is_read_stays_visible(dav, store, monkeypatch):
    for module in ("bucket", "remote"):  # all times are of one second
        monkeypatch.setattr(f"photosvc.storage.{module}.stamp", lambda _, etag: stamp(1_700_000_000, etag))
    dav.api.library.index()
    late(store, lambda: put(dav, "/2024/a.jpg", ONE))
    dav.api.library.index()
    assert dav.call("PROPFIND", "/2024/a.jpg", headers={"Depth": "0"}).status_code == 207
    assert (dav.api.library.names(), trashed(dav)) == (["2024/a.jpg"], ["2024/a.jpg"])


def test_what_is_moved_or_deleted_while_the_list_is_read_does_not_come_back(dav, store):
    for folder in ("/empty", "/2024/deep"):
        assert dav.call("MKCOL", folder).status_code == 201
    for number, path in enumerate(("/2024/b.jpg", "/2024/deep/c.jpg", "/gone.jpg")):
        assert put(dav, path, jpeg(90 + number, 48)).status_code == 201

    def change():
        assert to(dav, "MOVE", "/2024", "/2025").status_code == 201
        assert dav.call("DELETE", "/gone.jpg").status_code == 204
        assert dav.call("DELETE", "/empty").status_code == 204

    late(store, change)
    dav.api.library.index()
    for path in ("/2024", "/2024/a.jpg", "/2024/deep", "/gone.jpg", "/empty"):
        assert (path, dav.call("GET", path).status_code) == (path, 404)
    assert visible(dav) == ["2025/a.jpg", "2025/b.jpg", "2025/deep/", "2025/deep/c.jpg"]
    assert dav.call("MKCOL", "/2024").status_code == dav.call("MKCOL", "/empty").status_code == 201
    dav.api.library.index()
    assert dav.api.library.names() == ["2025/a.jpg", "2025/b.jpg", "2025/deep/c.jpg"]


def test_hidden_files_stay_and_are_not_indexed(dav):
    assert put(dav, "/2024/._a.jpg", b"fork").status_code == 201
    assert put(dav, "/2024/.DS_Store", b"view").status_code == 201
    assert dav.api.library.index().indexed == 0
    assert dav.call("GET", "/2024/._a.jpg").data == b"fork"


def test_nothing_in_the_staging_folder_comes_from_the_bucket(dav, store):
    store.put_raw(".photosvc/evil.part", b"x")
    store.put_raw("a/.PhotoSVC/evil.part", b"x")
    dav.api.library.index()
    mirror = dav.api.library.instance / "bucket"
    assert list(mirror.rglob("evil.part")) == []


# MOVE


def test_a_moved_photo_keeps_its_identity_and_is_not_read_again(dav, store):
    before = photo(dav, "2024/a.jpg")
    admin = dav.api.library.token("*", role="admin")
    dav.api.library.call("PUT", f"/photos/{before['UID']}", json={"Title": "Lake"}, token=admin)
    dav.api.library.call("POST", f"/photos/{before['UID']}/like", token=admin)
    assert to(dav, "MOVE", "/2024/a.jpg", "/b.jpg").status_code == 201
    assert (visible(dav), content(store, "b.jpg")) == (["b.jpg"], ONE)
    after = photo(dav, "b.jpg")
    assert (after["UID"], after["Title"], after["Favorite"]) == (before["UID"], "Lake", True)
    sent = len(store.sent)
    run = dav.api.library.index()
    assert (run.indexed, run.updated, run.missing, len(store.sent) - sent) == (0, 0, 0, 0)
    assert dav.api.library.names() == ["b.jpg"]
    assert dav.call("GET", "/b.jpg").data == ONE


def test_a_file_that_apps_store_under_a_temporary_name_replaces_a_photo(dav, store):
    before = photo(dav, "2024/a.jpg")
    assert put(dav, "/2024/a.jpg.tmp", TWO).status_code == 201
    assert to(dav, "MOVE", "/2024/a.jpg.tmp", "/2024/a.jpg").status_code == 204
    assert (visible(dav), content(store, "2024/a.jpg"), trashed(dav)) == (["2024/a.jpg"], TWO, ["2024/a.jpg"])
    dav.api.library.index()
    after = photo(dav, "2024/a.jpg")
    assert (after["UID"], after["Width"]) == (before["UID"], 80)


def test_a_photo_that_replaces_another_one_stays_itself(dav, store):
    store.put("b.jpg", TWO)
    dav.api.library.index()
    before = photo(dav, "b.jpg")["UID"]
    assert to(dav, "MOVE", "/b.jpg", "/2024/a.jpg", Overwrite="F").status_code == 412
    assert to(dav, "MOVE", "/b.jpg", "/2024/a.jpg").status_code == 204
    assert (visible(dav), content(store, "2024/a.jpg"), trashed(dav)) == (["2024/a.jpg"], TWO, ["2024/a.jpg"])
    dav.api.library.index()
    assert dav.api.library.names() == ["2024/a.jpg"]
    assert photo(dav, "2024/a.jpg")["UID"] == before


def test_a_folder_moves_with_everything_in_it(dav, store):
    before = photo(dav, "2024/a.jpg")["UID"]
    for path, data in (("/2024/n.txt", b"note"), ("/2024/._a.jpg", b"fork")):
        put(dav, path, data)
    dav.call("MKCOL", "/2024/empty")
    assert to(dav, "MOVE", "/2024", "/trips").status_code == 201
    assert visible(dav) == ["trips/._a.jpg", "trips/a.jpg", "trips/empty/", "trips/n.txt"]
    assert photo(dav, "trips/a.jpg")["UID"] == before
    sent = len(store.sent)
    run = dav.api.library.index()
    assert (run.indexed, run.updated, run.missing, len(store.sent) - sent) == (0, 0, 0, 0)
    assert dav.call("PROPFIND", "/2024", headers={"Depth": "0"}).status_code == 404
    assert dav.call("PROPFIND", "/trips/empty", headers={"Depth": "0"}).status_code == 207
    assert dav.call("GET", "/trips/n.txt").data == b"note"


def test_a_folder_replaces_a_folder_which_is_in_the_trash(dav, store):
    store.put("new/b.jpg", TWO)
    dav.api.library.index()
    assert to(dav, "MOVE", "/new", "/2024").status_code == 204
    assert (visible(dav), trashed(dav)) == (["2024/b.jpg"], ["2024/a.jpg"])
    dav.api.library.index()
    assert dav.api.library.names() == ["2024/b.jpg"]
    assert dav.call("GET", "/2024/b.jpg").data == TWO


def test_a_file_replaces_an_empty_folder_and_a_folder_a_file(dav, store):
    dav.call("MKCOL", "/empty")
    assert to(dav, "MOVE", "/2024/a.jpg", "/empty").status_code == 204
    assert content(store, "empty") == ONE
    put(dav, "/n.txt", b"note")
    dav.call("MKCOL", "/folder")
    assert to(dav, "MOVE", "/folder", "/n.txt").status_code == 204
    assert dav.call("PROPFIND", "/n.txt", headers={"Depth": "0"}).status_code == 207
    assert [key for key in visible(dav) if key.startswith("n.txt")] == ["n.txt/"]


def test_too_many_objects_are_refused_before_any_is_copied(dav, store, monkeypatch):
    monkeypatch.setattr(groups, "MOST", 2)
    monkeypatch.setattr(groups.listed, "__defaults__", (2,))
    for name in ("b.txt", "c.txt"):
        put(dav, f"/2024/{name}", b"x")
    for method in ("MOVE", "COPY"):
        answer = to(dav, method, "/2024", "/trips")
        assert answer.status_code == 403
        assert "at most 1000 objects" in answer.json["error"]
    assert visible(dav) == ["2024/a.jpg", "2024/b.txt", "2024/c.txt"]


def test_a_store_that_takes_too_long_leaves_everything_as_it_was(dav, monkeypatch):
    monkeypatch.setattr(groups, "SECONDS", -1.0)
    answer = to(dav, "MOVE", "/2024", "/trips")
    assert answer.status_code == 503
    assert keys(dav) == ["2024/a.jpg"]
    assert photo(dav, "2024/a.jpg")


def test_a_folder_of_which_one_object_cannot_be_copied_stays(dav, store):
    for number in range(3):
        put(dav, f"/2024/{number}.txt", b"x")
    store.fault = refuse("PUT", "403 Forbidden", "AccessDenied", lambda environ: environ["PATH_INFO"].endswith("1.txt"))
    answer = to(dav, "MOVE", "/2024", "/trips")
    store.fault = lambda _: None
    assert (answer.status_code, "s3:PutObject" in answer.json["error"]) == (403, True)
    assert visible(dav) == ["2024/0.txt", "2024/1.txt", "2024/2.txt", "2024/a.jpg"]
    assert dav.call("PROPFIND", "/trips", headers={"Depth": "0"}).status_code == 404


def test_without_the_right_to_delete_nothing_is_moved(dav, store):
    store.fault = refuse("DELETE", "403 Forbidden", "AccessDenied")
    answer = to(dav, "MOVE", "/2024/a.jpg", "/b.jpg")
    assert (answer.status_code, "s3:DeleteObject" in answer.json["error"]) == (403, True)
    assert keys(dav) == ["2024/a.jpg"]
    assert put(dav, "/2024/b.jpg", TWO).status_code == 201
    assert to(dav, "COPY", "/2024/b.jpg", "/c.jpg").status_code == 201


def test_former_objects_that_stay_are_named(dav, store):
    put(dav, "/2024/ä b.txt", b"x")
    put(dav, "/2024/c.txt", b"y")
    store.fault = refuse(
        "DELETE", "403 Forbidden", "AccessDenied", lambda environ: environ["PATH_INFO"].endswith("b.txt")
    )
    answer = to(dav, "MOVE", "/2024", "/trips")
    store.fault = lambda _: None
    assert answer.status_code == 207
    assert re.findall("href>([^<]+)</", answer.text) == ["/originals/2024/%C3%A4%20b.txt"]
    assert re.findall("status>([^<]+)</", answer.text) == ["HTTP/1.1 403 Forbidden"]
    assert visible(dav) == ["2024/ä b.txt", "trips/a.jpg", "trips/c.txt", "trips/ä b.txt"]
    assert dav.call("GET", "/2024/%C3%A4%20b.txt").data == b"x"
    assert dav.api.library.names() == ["trips/a.jpg"]


def test_a_killed_move_loses_nothing(dav, store, monkeypatch):
    def killed(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("photosvc.dav.bucket_methods._delete_sources", killed)
    with pytest.raises(KeyboardInterrupt):
        to(dav, "MOVE", "/2024/a.jpg", "/b.jpg")
    before = photo(dav, "b.jpg")["UID"]
    dav.api.library.index()
    assert dav.api.library.names() == ["b.jpg"]
    assert photo(dav, "b.jpg")["UID"] == before
    assert visible(dav) == ["2024/a.jpg", "b.jpg"]


def test_the_store_is_not_asked_while_a_transaction_is_open(dav, store, monkeypatch):
    open_ones, asked = [], []
    writing = Request.writing

    @contextmanager
    def watched(self):
        with writing(self) as session:
            open_ones.append(1)
            try:
                yield session
            finally:
                open_ones.pop()

    monkeypatch.setattr(Request, "writing", watched)
    store.fault = lambda _: asked.append(len(open_ones))
    dav.call("MKCOL", "/new")
    put(dav, "/new/b.jpg", TWO)
    put(dav, "/2024/a.jpg", TWO)
    lock(dav, "/new/empty.txt")
    to(dav, "COPY", "/new", "/copy")
    to(dav, "MOVE", "/copy", "/new")
    to(dav, "MOVE", "/new/b.jpg", "/2024/a.jpg")
    assert len(asked) > 40
    assert set(asked) == {0}


# COPY


def test_a_copy_is_a_file_of_its_own(dav, store):
    assert to(dav, "COPY", "/2024/a.jpg", "/b.jpg").status_code == 201
    assert visible(dav) == ["2024/a.jpg", "b.jpg"]
    dav.api.library.index()
    assert dav.api.library.names() == ["2024/a.jpg"]
    assert to(dav, "COPY", "/b.jpg", "/2024/a.jpg", Overwrite="F").status_code == 412
    put(dav, "/n.txt", b"note")
    assert to(dav, "COPY", "/n.txt", "/2024/a.jpg").status_code == 204
    assert (content(store, "2024/a.jpg"), trashed(dav)) == (b"note", ["2024/a.jpg"])


def test_a_folder_is_copied_with_or_without_its_content(dav, store):
    dav.call("MKCOL", "/2024/empty")
    assert to(dav, "COPY", "/2024", "/all").status_code == 201
    assert to(dav, "COPY", "/2024", "/bare", Depth="0").status_code == 201
    assert visible(dav) == ["2024/a.jpg", "2024/empty/", "all/a.jpg", "all/empty/", "bare/"]
    assert dav.call("GET", "/all/a.jpg").data == ONE
    assert to(dav, "COPY", "/bare", "/all").status_code == 204
    assert trashed(dav) == ["all/a.jpg"]
    assert [key for key in visible(dav) if key.startswith("all")] == ["all/"]


def test_a_folder_of_which_one_object_cannot_be_copied_leaves_no_copies(dav, store):
    put(dav, "/2024/b.txt", b"x")
    store.fault = refuse("PUT", "403 Forbidden", "AccessDenied", lambda environ: environ["PATH_INFO"].endswith("b.txt"))
    answer = to(dav, "COPY", "/2024", "/trips")
    store.fault = lambda _: None
    assert answer.status_code == 403
    assert visible(dav) == ["2024/a.jpg", "2024/b.txt"]


def test_copies_that_cannot_be_taken_back_are_told(dav, store):
    put(dav, "/2024/b.txt", b"x")
    store.fault = lambda environ: (
        refuse("PUT", "403 Forbidden", "AccessDenied", lambda one: one["PATH_INFO"].endswith("b.txt"))(environ)
        or refuse("DELETE", "403 Forbidden", "AccessDenied")(environ)
    )
    answer = to(dav, "COPY", "/2024", "/trips")
    store.fault = lambda _: None
    copied = "trips/a.jpg" in visible(dav)
    assert answer.status_code == (207 if copied else 403)
    if copied:  # copies are made at the same time: the refused one may come first
        assert re.findall("href>([^<]+)</", answer.text) == ["/originals/2024"]


# Locks and properties


def test_a_lock_on_a_new_name_makes_an_empty_file(dav, store):
    answer, token = lock(dav, "/2024/new.jpg")
    assert answer.status_code == 201
    assert content(store, "2024/new.jpg") == b""
    assert put(dav, "/2024/new.jpg", TWO).status_code == 423
    assert put(dav, "/2024/new.jpg", TWO, If=f"({token})").status_code == 204
    assert lock(dav, "/none/new.jpg")[0].status_code == 409
    assert visible(dav) == ["2024/a.jpg", "2024/new.jpg"]


def test_a_refused_lock_makes_no_file(dav):
    assert dav.call("MKCOL", "/2024/in").status_code == 201
    assert lock(dav, "/2024/in", depth="infinity")[0].status_code == 200
    assert lock(dav, "/2024/in/new.jpg")[0].status_code == 423
    assert visible(dav) == ["2024/a.jpg", "2024/in/"]


def test_properties_move_along_and_the_time_of_a_file_cannot_be_set(dav):
    change = '<propertyupdate xmlns="DAV:"><set><prop>{}</prop></set></propertyupdate>'
    colour = '<c xmlns="urn:x">green</c>'
    assert "200 OK" in dav.call("PROPPATCH", "/2024/a.jpg", change.format(colour).encode()).text
    moment = "Fri, 01 Jan 2021 00:00:00 GMT"
    windows = f'<Win32LastModifiedTime xmlns="urn:schemas-microsoft-com:">{moment}</Win32LastModifiedTime>'
    assert "200 OK" in dav.call("PROPPATCH", "/2024/a.jpg", change.format(windows).encode()).text
    time = "<lastmodified>1000000000</lastmodified>"
    assert "403" in dav.call("PROPPATCH", "/2024/a.jpg", change.format(time).encode()).text
    assert dav.call("GET", "/2024/a.jpg").data == ONE
    to(dav, "MOVE", "/2024/a.jpg", "/b.jpg")
    assert (
        "green"
        in dav.call(
            "PROPFIND", "/b.jpg", headers={"Depth": "0"}, data=b'<propfind xmlns="DAV:"><allprop/></propfind>'
        ).text
    )


def test_read_only_originals_are_not_changed(store, tmp_path):
    with open_api(tmp_path, settings=settings_of(store, PHOTOSVC_READONLY="true")) as api:
        store.put("a.jpg", ONE)
        api.library.index()
        dav = DavClient(api)
        answers = [put(dav, "/b.jpg"), dav.call("MKCOL", "/new"), to(dav, "MOVE", "/a.jpg", "/b.jpg")]
        assert [answer.status_code for answer in answers] == [403, 403, 403]
        assert keys(dav) == ["a.jpg"]
