"""Originals in a bucket as people use them: pictures, downloads, archives, WebDAV, commands; and nothing is changed."""

import json
import os
import pickle
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from flask import g, has_request_context
from flask import request as flask_request
from tests.app.index.watch.test_index_watcher import Watched

from photosvc.library.thumbnails import original_of
from photosvc.pictures.originals import OriginalUnreadableError, open_original
from photosvc.search.reading.shared import files_with_hash
from photosvc.settings import load_settings
from photosvc.storage.bucket import Bucket
from photosvc.storage.remote import RemoteFile, RemoteReader
from photosvc.web.current import current_service
from photosvc.web.indexer import Indexer, wake_indexer
from tests.helpers.library import call_svc, open_library
from tests.helpers.pictures import clouds, encoded, jpeg
from tests.helpers.programs.ports import free_port
from tests.leaving.storage.conftest import settings_of

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(library, store):
    """A library with a picture of over 1 MiB."""
    store.put("2024/clouds.bmp", PICTURE)
    store.put("lake.jpg", jpeg(640, 480))
    assert library.index().indexed == 2
    return library


PICTURE = encoded(clouds(1, 800, 600), "BMP")


def request(library, method, path, *, scope="*", role="admin", **options):
    headers = {"X-Auth-Token": library.token(scope, role=role), **options.pop("headers", {})}
    return library.app.test_client().open(path, method=method, headers=headers, buffered=True, **options)


def hash_of(library, name):
    return next(one["Hash"] for one in library.find() if one["FileName"] == name)


def test_an_original_is_sent_whole_and_in_ranges(filled, store):
    path = f"/api/v1/dl/{hash_of(filled, '2024/clouds.bmp')}"
    whole = request(filled, "GET", path)
    assert (whole.status_code, whole.headers["Content-Length"]) == (200, str(len(PICTURE)))
    assert whole.data == PICTURE
    sent = store.bytes_sent
    part = request(filled, "GET", path, headers={"Range": "bytes=1000000-1000009"})
    assert (part.status_code, part.headers["Content-Range"]) == (206, f"bytes 1000000-1000009/{len(PICTURE)}")
    assert part.data == PICTURE[1000000:1000010]
    assert store.bytes_sent - sent <= 128 << 10
    several = request(filled, "GET", path, headers={"Range": "bytes=0-1,-2"})
    assert several.status_code == 206
    assert PICTURE[-2:] in several.data
    assert request(filled, "HEAD", path).status_code == 200
    etag = whole.headers["ETag"]
    assert request(filled, "GET", path, headers={"If-None-Match": etag}).status_code == 304
    assert request(filled, "GET", path, headers={"Range": f"bytes={len(PICTURE)}-"}).status_code == 416


def test_no_server_in_front_is_told_to_send_a_placeholder(store, tmp_path):
    changed = {"PHOTOSVC_SENDFILE_HEADER": "X-Accel-Redirect"}
    library = open_library(tmp_path / "instance", settings=settings_of(store, **changed))
    store.put("lake.jpg", jpeg())
    library.index()
    answer = request(library, "GET", f"/api/v1/dl/{hash_of(library, 'lake.jpg')}")
    assert "X-Accel-Redirect" not in answer.headers
    assert answer.data == jpeg()
    library.close()


def original(library, name):
    content = hash_of(library, name)
    with library.app.app_context():
        service = current_service()
        with service.reading() as connection:
            (found,) = files_with_hash(connection, content, sees_private=True)
        return original_of(service.settings, found)


def test_thumbnails_are_made_of_an_object_and_kept(filled, store):
    token = filled.call("GET", "/config", token=filled.token(role="admin"))["previewToken"]
    path = f"/api/v1/t/{hash_of(filled, 'lake.jpg')}/{token}/fit_720"
    made = filled.app.test_client().get(path, buffered=True)
    assert (made.status_code, made.mimetype) == (200, "image/jpeg")
    sent = len(store.sent)
    assert filled.app.test_client().get(path, buffered=True).data == made.data
    assert len(store.sent) == sent, "a thumbnail in the cache needs no original"


def test_a_command_makes_all_thumbnails(filled):
    made = filled.app.test_cli_runner().invoke(args=["svc", "thumbs", "--workers", "1"])
    assert made.exit_code == 0, made.output
    assert "0 failed" in made.output


def test_workers_get_a_link_and_no_bucket(filled):
    sent = pickle.loads(pickle.dumps(original(filled, "lake.jpg")))
    assert isinstance(sent.store, RemoteFile)
    assert "X-Amz-Signature=" in sent.store.link
    assert "X-Amz" not in repr(sent)
    with open_original(sent) as file:
        assert file.read() == jpeg(640, 480)


def test_an_archive_has_the_objects(filled):
    uids = [one["UID"] for one in filled.find(order="name")]
    selected = filled.call("POST", "/zip", json={"photos": uids}, token=filled.token(role="admin"))
    answer = request(filled, "GET", f"/api/v1/zip/{selected['filename']}")
    with ZipFile(BytesIO(answer.data)) as archive:
        assert sorted(len(archive.read(name)) for name in archive.namelist()) == sorted(
            [len(PICTURE), len(jpeg(640, 480))]
        )


def test_a_changed_object_is_gone_until_it_is_indexed(filled, store):
    path = f"/api/v1/dl/{hash_of(filled, 'lake.jpg')}"
    store.put("lake.jpg", jpeg(641, 480))
    assert request(filled, "GET", path).status_code == 410
    store.delete("lake.jpg")
    assert request(filled, "GET", path).status_code == 410


def test_a_store_that_is_away_is_a_passing_error(filled, store):
    path = f"/api/v1/dl/{hash_of(filled, 'lake.jpg')}"
    store.fault = lambda _: ("503 Service Unavailable", [], b"")
    answer = request(filled, "GET", path)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert filled.names() == ["2024/clouds.bmp", "lake.jpg"]
    assert request(filled, "GET", "/api/v1/readyz").status_code == 200
    store.fault = lambda _: ("403 Forbidden", [], b"")
    assert request(filled, "GET", path).status_code == 503


def test_an_answer_ends_early_when_the_store_fails_within_it(filled, store):
    path = f"/api/v1/dl/{hash_of(filled, '2024/clouds.bmp')}"
    store.fault = lambda environ: (
        None if environ.get("HTTP_RANGE", "").startswith("bytes=0-") else ("500 Internal Server Error", [], b"")
    )
    answer = request(filled, "GET", path)
    assert (answer.status_code, answer.headers["Content-Length"]) == (200, str(len(PICTURE)))
    assert answer.data == PICTURE[: 64 << 10]


def test_the_store_is_asked_without_an_open_transaction(filled, store, monkeypatch):
    asked = []

    def watched(kind, name):
        act = getattr(kind, name)

        def watch(*given, **named):
            if has_request_context():
                asked.append((flask_request.path.rpartition("/")[2], "photosvc_open" in g))
            return act(*given, **named)

        monkeypatch.setattr(kind, name, watch)

    watched(Bucket, "call")
    watched(RemoteReader, "_fetch")
    one = next(photo["UID"] for photo in filled.find() if photo["FileName"] == "lake.jpg")
    body = {"json": {"photos": [one]}}
    for method, path, options in (
        ("GET", f"/api/v1/photos/{one}/dl", {}), ("POST", "/api/v1/batch/photos/delete", body),
        ("POST", "/api/v1/trash/restore", body), ("DELETE", "/originals/lake.jpg", {}),
        ("DELETE", "/api/v1/trash", {"json": {"expected": 1}}),
    ):  # fmt: skip
        answer = request(filled, method, path, **options)
        assert answer.status_code < 300, (path, answer.text)
    assert [one for one in asked if one[1]] == []
    assert {name for name, _ in asked} == {"dl", "delete", "restore", "lake.jpg", "trash"}


def test_webdav_reads_the_bucket(filled):
    answer = request(filled, "PROPFIND", "/originals/", headers={"Depth": "1"})
    assert answer.status_code == 207
    assert "lake.jpg" in answer.text
    assert ".photosvc" not in answer.text
    found = request(filled, "GET", "/originals/lake.jpg")
    assert (found.status_code, found.data) == (200, jpeg(640, 480))
    part = request(filled, "GET", "/originals/2024/clouds.bmp", headers={"Range": "bytes=5-9"})
    assert (part.status_code, part.data) == (206, PICTURE[5:10])
    quota = b'<propfind xmlns="DAV:"><prop><quota-available-bytes/></prop></propfind>'
    answer = request(filled, "PROPFIND", "/originals/", headers={"Depth": "0"}, data=quota)
    assert ">0<" not in answer.text


def test_an_indexer_that_the_server_starts_has_the_bucket_and_its_mirror(filled, monkeypatch):
    started = []
    monkeypatch.setattr("photosvc.web.indexer._launch", started.append)
    with filled.app.app_context():
        service = current_service()
        monkeypatch.setattr(service.indexers, "start", lambda launch: launch())
        assert wake_indexer(service) is Indexer.STARTED
        settings, (environ,) = service.settings, started
    instance = Path(environ["PHOTOSVC_INSTANCE"])
    again = load_settings(instance, environ=environ)
    assert (again.bucket, again.originals) == (settings.bucket, settings.originals)


def filled_objects(library):
    with library.app.app_context():
        return list(current_service().settings.bucket.objects())


def test_commands_tell_what_is_wrong_in_one_sentence(store, tmp_path, monkeypatch):
    environ = settings_of(store)
    instance = tmp_path / "instance"
    assert call_svc("db", "upgrade", instance=instance, environ=environ).returncode == 0
    store.put("lake.jpg", jpeg())
    done = call_svc("index", "--workers", "1", instance=instance, environ=environ)
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(call_svc("status", "--json", instance=instance, environ=environ).stdout)
    assert (shown["originals"], shown["files"]) == ("s3://photos/family", 1)
    assert "s3://photos/family" in call_svc("show", "config", instance=instance, environ=environ).stdout
    done = call_svc("check", instance=instance, environ=environ)
    assert (done.returncode, "nothing wrong" in done.stdout) == (0, True)

    store.put("lake.jpg", jpeg(65, 48))
    done = call_svc("check", instance=instance, environ=environ)
    assert (done.returncode, "1 changed" in done.stdout) == (0, True), "an index run is due"
    store.delete("lake.jpg")
    done = call_svc("check", instance=instance, environ=environ)
    assert (done.returncode, "1 missing" in done.stdout) == (1, True)

    wrong = {**environ, "PHOTOSVC_ORIGINALS": "s3://elsewhere"}
    done = call_svc("index", instance=instance, environ=wrong)
    assert (done.returncode, done.stderr) == (3, f"Error: There is no bucket 'elsewhere' at {store.address}.\n")
    away = {**environ, "PHOTOSVC_S3_ENDPOINT": "http://127.0.0.1:9"}
    done = call_svc("index", instance=instance, environ=away)
    assert (done.returncode, done.stderr) == (1, "Error: The store of s3://photos/family cannot be reached.\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    unknown = {**environ, "PHOTOSVC_S3_ENDPOINT": store.address.replace("127.0.0.1", "localhost")}
    done = call_svc("index", instance=instance, environ=unknown)
    assert (done.returncode, done.stderr) == (
        2,
        "Error: There are no credentials for s3://photos/family: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.\n",
    )
    shown = json.loads(call_svc("status", "--json", instance=instance, environ=environ).stdout)
    assert (shown["files"], shown["missing"]) == (1, 0)


def test_commands_that_need_a_folder_refuse(store, tmp_path):
    environ, instance = settings_of(store), tmp_path / "instance"
    call_svc("db", "upgrade", instance=instance, environ=environ)
    done = call_svc("deploy", "show", "kubernetes", instance=instance, environ=environ)
    assert (done.returncode, done.stderr) == (
        2, "Error: The files for kubernetes mount a folder of originals, and s3://photos/family is none.\n",
    )  # fmt: skip
    done = call_svc("deploy", "show", "systemd", instance=instance, environ=environ)
    assert "PHOTOSVC_ORIGINALS=s3://photos/family" in done.stdout
    done = call_svc("index", "--scheduler", "tcp://127.0.0.1:9", instance=instance, environ=environ)
    assert done.returncode == 2
    assert "--scheduler needs a folder that all machines have; the originals are in a bucket" in done.stderr


def test_svc_run_serves_the_bucket(store, tmp_path, monkeypatch):
    begun = {}
    monkeypatch.setattr("os.execv", lambda *_: begun.update(os.environ))
    monkeypatch.setattr("photosvc.cli.run._start_indexer", lambda _: None)
    monkeypatch.setenv("PHOTOSVC_INSTANCE", str(tmp_path / "instance"))
    for name, value in settings_of(store).items():
        monkeypatch.setenv(name, str(value))
    environ = settings_of(store)
    done = call_svc("run", "--port", str(free_port()), instance=tmp_path / "instance", environ=environ)
    assert done.returncode == 0, done.stderr
    assert begun["PHOTOSVC_ORIGINALS"] == "s3://photos/family"
    done = call_svc("run", "--photos", str(tmp_path), instance=tmp_path / "instance", environ=environ)
    assert done.returncode == 2
    assert "s3://photos/family: leave out --photos" in done.stderr


def test_purge_follows_the_last_list(filled, store):
    store.delete("lake.jpg")
    runner = filled.app.test_cli_runner()
    filled.index()
    done = runner.invoke(args=["svc", "purge", "--yes"])
    assert done.exit_code == 0, done.output
    assert filled.names() == ["2024/clouds.bmp"]


def test_the_watcher_reads_the_list_regularly(library, store, monkeypatch):
    watched = Watched(library, monkeypatch)
    store.put("a.jpg", jpeg())
    polls = []

    def later():
        polls.append(library.names())
        store.put("b.jpg", jpeg(70, 48))
        monkeypatch.setattr("photosvc.index.watcher.Watcher._rescan_seconds", lambda _: -1)

    monkeypatch.setattr("photosvc.index.watcher.Watcher._rescan_seconds", lambda _: 0)
    watched.run(4, later)
    assert polls == [["a.jpg"]]
    assert library.names() == ["a.jpg", "b.jpg"]
    assert watched.said == []


def test_the_watcher_goes_on_when_the_store_is_away(library, store, monkeypatch):
    watched = Watched(library, monkeypatch)
    store.put("a.jpg", jpeg())
    store.fault = lambda _: ("503 Slow Down", [], b"<Error><Code>SlowDown</Code></Error>")

    def back():
        store.fault = lambda _: None

    watched.run(3, back)
    assert watched.said == ["The store of s3://photos/family answers with an error (SlowDown). (trying again)"]
    assert library.names() == ["a.jpg"]


def test_an_original_without_a_link_is_unreadable(filled):
    without = replace(original(filled, "lake.jpg"), store=RemoteFile("", "lake.jpg", 1, 1))
    with pytest.raises(OriginalUnreadableError), open_original(without):
        pass
