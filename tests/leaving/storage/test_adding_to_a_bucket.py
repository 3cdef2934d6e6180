"""Files that are added to a bucket by uploads, resumable uploads and imports; nothing in it is replaced or lost."""

import time
from base64 import b64encode
from contextlib import closing
from io import BytesIO

import pytest

from photosvc.library.staging_part import StorageFailedError
from photosvc.storage.adding import OtherTagsError, add
from photosvc.storage.objects import ObjectTakenError
from photosvc.storage.remote import content_key
from photosvc.web.current import current_service
from photosvc.web.indexer import Indexer
from tests.helpers.library import open_library
from tests.helpers.pictures import jpeg
from tests.leaving.storage.conftest import BUCKET, PREFIX, settings_of

pytestmark = pytest.mark.slow


@pytest.fixture
def ready(library, monkeypatch):
    """A library that has listed its empty bucket, without a process that indexes on its own."""
    monkeypatch.setattr("photosvc.web.incoming.wake_indexer", lambda _: Indexer.NONE)
    monkeypatch.setattr("photosvc.api.resumable.wake_indexer", lambda _: Indexer.NONE)
    library.index()
    return library


def request(library, method, path, **options):
    headers = {"X-Auth-Token": library.token("*", role="admin"), **options.pop("headers", {})}
    return library.app.test_client().open(path, method=method, headers=headers, buffered=True, **options)


def uploader(library):
    """A client, its headers and the address of an upload, which has the UID of its account."""
    uid = library.call("GET", "/session", token=(token := library.token("*", role="admin")))["user"]["UID"]
    return library.app.test_client(), {"X-Auth-Token": token}, f"/api/v1/users/{uid}/upload/abc"


def upload(library, data, name="lake.jpg"):
    """Send a file in a form and add it."""
    client, headers, path = uploader(library)
    if data is not None:
        sent = client.post(path, headers=headers, data={"files": (BytesIO(data), name)})
        assert sent.status_code == 200, sent.text
    return client.put(path, headers=headers, json={})


def send_resumable(library, data, name=b"lake.jpg"):
    metadata = f"filename {b64encode(name).decode()}"
    made = request(
        library, "POST", "/api/v1/uploads",
        headers={"Tus-Resumable": "1.0.0", "Upload-Length": str(len(data)), "Upload-Metadata": metadata},
    )  # fmt: skip
    assert made.status_code == 201, made.text
    path = made.headers["Location"]
    for begin, piece in ((0, data[:100]), (100, data[100:])):
        headers = {"Tus-Resumable": "1.0.0", "Upload-Offset": str(begin)}
        headers["Content-Type"] = "application/offset+octet-stream"
        answer = request(library, "PATCH", path, headers=headers, data=piece)
    return path, answer


def objects(library):
    with library.app.app_context():
        return [one.key for one in current_service().settings.bucket.objects()]


def content(store, key):
    with closing(store.client()) as client:
        return client.get_object(Bucket=BUCKET, Key=f"{PREFIX}/{key}")["Body"].read()


def waiting(library):
    with library.app.app_context():
        folder = current_service().settings.originals / ".photosvc"
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []


def refusing(code, status="403 Forbidden"):
    body = f"<Error><Code>{code}</Code></Error>".encode()
    return lambda environ: (status, [], body) if environ["REQUEST_METHOD"] == "PUT" else None


def test_an_uploaded_file_is_an_object_and_is_indexed_as_such(ready, store):
    answer = upload(ready, jpeg())
    assert answer.status_code == 200, answer.text
    (one,) = answer.json["files"]
    assert one["status"] == "added"
    (name,) = objects(ready)
    assert (one["FileName"], content(store, name)) == (name, jpeg())
    assert waiting(ready) == []
    run = ready.index()
    (photo,) = ready.find()
    assert (photo["FileName"], photo["Hash"], run.failed) == (name, one["hash"], [])
    assert request(ready, "GET", f"/api/v1/dl/{one['hash']}").data == jpeg()
    assert (ready.index().unchanged, ready.names()) == (1, [name])


def test_a_file_that_the_bucket_has_is_a_duplicate(ready, store):
    store.put("mine.jpg", jpeg())
    ready.index()
    (one,) = upload(ready, jpeg()).json["files"]
    assert (one["status"], objects(ready)) == ("duplicate", ["mine.jpg"])


def test_a_resumable_upload_is_an_object(ready, store):
    _, answer = send_resumable(ready, jpeg())
    assert answer.status_code == 204, answer.text
    (name,) = objects(ready)
    assert content(store, name) == jpeg()


def test_an_import_copies_into_the_bucket(ready, store, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "lake.jpg").write_bytes(jpeg())
    done = ready.app.test_cli_runner().invoke(args=["svc", "import", "--move", str(tmp_path / "in")])
    assert done.exit_code == 0, done.output
    (name,) = objects(ready)
    assert content(store, name) == jpeg()
    assert not (tmp_path / "in" / "lake.jpg").exists()


@pytest.mark.parametrize(
    ("code", "line", "status", "message"),
    [
        ("AccessDenied", "403 Forbidden", 403, "they need the right s3:PutObject"),
        ("QuotaExceeded", "403 Forbidden", 507, "a quota of the bucket is used up"),
        ("SlowDown", "503 Slow Down", 503, "answers with an error (SlowDown)"),
        ("InternalError", "500 Internal Server Error", 503, "answers with an error (InternalError)"),
    ],
)
def test_a_refused_file_waits_and_can_be_added_later(ready, store, code, line, status, message):
    store.fault = refusing(code, line)
    answer = upload(ready, jpeg())
    assert (answer.status_code, message in answer.text) == (status, True), answer.text
    assert objects(ready) == []
    ready.index()
    assert len(waiting(ready)) == 1, "an index run leaves it alone"
    store.fault = lambda _: None
    (one,) = upload(ready, None).json["files"]
    assert (one["status"], len(objects(ready)), waiting(ready)) == ("added", 1, [])


def test_an_object_that_a_lost_answer_left_is_found_again(ready, store):
    lost = []

    def fault(environ):
        if environ["REQUEST_METHOD"] != "PUT":
            return None
        lost.append(1)
        told = []
        for _ in store.app(environ, lambda *answer: told.extend(answer)):
            pass
        return "500 Internal Server Error", [], b"<Error><Code>InternalError</Code></Error>"

    store.fault = fault
    answer = upload(ready, jpeg())
    assert (bool(lost), len(objects(ready))) == (True, 1)
    store.fault = lambda _: None
    again = upload(ready, None)
    assert answer.status_code in {200, 503}
    assert (again.status_code, len(objects(ready)), waiting(ready)) == (200, 1, [])


def fail(*_):
    raise StorageFailedError


def during_a_request(store, method, act):
    """Call `act` once, when the store gets a request of this method, before it is carried out."""

    def fault(environ):
        if environ["REQUEST_METHOD"] == method:
            store.fault = lambda _: None
            act()

    store.fault = fault


def test_others_change_the_library_while_a_file_is_sent_to_the_store(ready, store):
    store.put("mine.jpg", jpeg(65, 48))
    ready.index()
    (photo,) = ready.find()
    changes = []
    during_a_request(store, "PUT", lambda: changes.append(ready.call("POST", f"/photos/{photo['UID']}/like")))
    (one,) = upload(ready, jpeg()).json["files"]
    assert (one["status"], len(changes), ready.find()[0]["Favorite"]) == ("added", 1, True)


def test_two_uploads_of_one_content_at_the_same_time_are_one_object(ready, store):
    others = []
    during_a_request(store, "PUT", lambda: others.append(send_resumable(ready, jpeg())[1].status_code))
    (one,) = upload(ready, jpeg()).json["files"]
    (name,) = objects(ready)
    assert (others, one["status"], content(store, name)) == ([204], "duplicate", jpeg())
    assert waiting(ready) == []


def test_a_file_that_the_library_cannot_note_leaves_no_object_and_waits(ready, store, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("photosvc.library.uploads.wish", fail)
        assert upload(ready, jpeg()).status_code == 503
    assert (objects(ready), len(waiting(ready))) == ([], 1)
    (one,) = upload(ready, None).json["files"]
    assert (one["status"], len(objects(ready)), waiting(ready)) == ("added", 1, [])


def test_an_object_that_an_index_run_has_found_meanwhile_stays(ready, store, monkeypatch):
    seen = []

    def fault(environ):
        seen.append(environ["REQUEST_METHOD"])
        if seen[-2:] == ["PUT", "HEAD"]:  # it is stored
            store.fault = lambda _: None
            ready.index()

    store.fault = fault
    with monkeypatch.context() as patch:
        patch.setattr("photosvc.library.uploads.Admission._wish_albums", fail)
        assert upload(ready, jpeg()).status_code == 503
    (name,) = objects(ready)
    assert ready.names() == [name]
    (one,) = upload(ready, None).json["files"]
    assert (one["status"], one["FileName"], waiting(ready)) == ("duplicate", name, [])


def test_a_store_that_goes_away_leaves_the_file_waiting(ready, store, monkeypatch):
    def go(_environ):
        raise ConnectionError

    during_a_request(store, "PUT", lambda: setattr(store, "fault", go))
    monkeypatch.setattr("photosvc.storage.bucket._TRIES", 1)
    answer = upload(ready, jpeg())
    assert (answer.status_code, len(waiting(ready))) == (503, 1), answer.text
    store.fault = lambda _: None
    (one,) = upload(ready, None).json["files"]
    assert (one["status"] in {"added", "duplicate"}, len(objects(ready)), waiting(ready)) == (True, 1, [])


def test_a_store_that_takes_too_long_for_all_files_leaves_the_others_waiting(ready, store, monkeypatch):
    slow = [0.5]
    store.fault = lambda environ: time.sleep(slow[0]) if environ["REQUEST_METHOD"] == "PUT" else None
    monkeypatch.setattr("photosvc.web.incoming.SECONDS", 0.2)
    files = [(BytesIO(jpeg(64 + number, 48)), f"{number}.jpg") for number in range(3)]
    client, headers, path = uploader(ready)
    client.post(path, headers=headers, data={"files": files})
    answer = client.put(path, headers=headers, json={})
    assert (answer.status_code, "too slow for so many files" in answer.text) == (503, True), answer.text
    assert (len(objects(ready)), len(waiting(ready))) == (1, 3)
    slow[0] = 0
    monkeypatch.setattr("photosvc.web.incoming.SECONDS", 60)
    again = client.put(path, headers=headers, json={}).json["files"]
    assert [one["status"] for one in again] == ["duplicate", "added", "added"]
    assert (len(objects(ready)), waiting(ready)) == (3, [])


def test_of_two_writers_of_one_name_the_second_replaces_nothing(ready, store, tmp_path):
    (file := tmp_path / "new.jpg").write_bytes(jpeg(65, 48))
    with ready.app.app_context():
        bucket = current_service().settings.bucket

    def other(environ):
        if environ["REQUEST_METHOD"] == "PUT":  # between the check and the request
            store.fault = lambda _: None
            store.put("a.jpg", jpeg())

    store.fault = other
    with file.open("rb") as opened, pytest.raises(ObjectTakenError):
        add(bucket, "a.jpg", opened)
    assert content(store, "a.jpg") == jpeg()


def test_an_object_that_another_program_stores_in_its_place_stays(ready, store, tmp_path):
    data, other = b"one", b"two"
    (file := tmp_path / "new.txt").write_bytes(data)
    with ready.app.app_context():
        bucket = current_service().settings.bucket
    seen = []

    def fault(environ):
        seen.append(environ["REQUEST_METHOD"])
        if seen[-2:] == ["PUT", "HEAD"]:  # the file is stored
            store.fault = lambda _: None
            store.put("a.txt", other)

    store.fault = fault
    with file.open("rb") as opened, pytest.raises(OtherTagsError) as raised:
        add(bucket, "a.txt", opened)
    assert (raised.value.stored, content(store, "a.txt")) == (None, other)


def test_an_added_object_has_the_hash_that_its_entity_tag_gives(ready, store, tmp_path):
    (file := tmp_path / "new.jpg").write_bytes(b"abc")
    with ready.app.app_context():
        bucket = current_service().settings.bucket
    with file.open("rb") as opened:
        listed = add(bucket, "a.txt", opened)
    assert [listed] == list(bucket.objects())
    assert content_key("900150983cd24fb0d6963f7d28e17f72", 3) == "6e8e44c9df658c1a926316054a3d8ad3e5c74b0e"


def test_a_bucket_that_is_read_only_takes_nothing(store, tmp_path):
    library = open_library(tmp_path / "instance", settings=settings_of(store, PHOTOSVC_READONLY="true"))
    library.index()
    made = request(library, "POST", "/api/v1/uploads", headers={"Tus-Resumable": "1.0.0", "Upload-Length": "3"})
    assert (made.status_code, "PHOTOSVC_READONLY" in made.text) == (403, True)
    library.close()
