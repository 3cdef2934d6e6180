"""Reading files and folders over WebDAV, the names that exist for clients, and the address of the folder."""

import os
from pathlib import Path

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from photosvc.extension import PhotoService
from tests.app.dav.dav_client import LOCKINFO, DavClient
from tests.helpers import shared
from tests.helpers.api_client import HASH, ApiClient, open_api
from tests.helpers.clock import MovedClock
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import Library, migrated_database

LAKE = "/trip/lake%20view.jpg"


@pytest.fixture(scope="module")
def dav(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("dav")) as api:
        library = api.library
        library.put("trip/lake view.jpg", bytes(range(256)) * 4)
        library.put("trip/a?b;c#d.jpg", b"odd")
        library.put(b"trip/caf\xe9.jpg", b"latin")
        library.put("trip/.hidden", b"dot")
        library.put(".photosvc/part", b"half")
        outside = tmp_path_factory.mktemp("outside")
        (outside / "secret.txt").write_text("confidential")
        (library.originals / "link.txt").symlink_to(outside / "secret.txt")
        (library.originals / "linked").symlink_to(outside)
        (library.originals / "loop").symlink_to(library.originals)
        os.mkfifo(library.originals / "pipe")
        yield DavClient(api)


LATEST = "Fri, 11 Apr 2262 23:47:16 GMT"


def test_a_file_of_any_time_is_sent_with_the_nearest_that_64_bits_of_nanoseconds_hold():
    with shared.new_folder() as folder, open_api(Path(folder)) as api:  # in memory, where files keep any time
        path, dav = api.library.put("far.jpg", b"far"), DavClient(api)
        for moment, shown in ((10**10, LATEST), (2**40, LATEST), (-(2**40), "Tue, 21 Sep 1677 00:12:43 GMT")):
            os.utime(path, (moment, moment))
            if path.stat().st_mtime != moment:
                pytest.skip("the file system keeps no such times")
            answer = dav.call("GET", "/far.jpg")
            assert (answer.status_code, answer.data, answer.headers["Last-Modified"]) == (200, b"far", shown)
            assert dav.call("PROPFIND", "/", headers={"Depth": "1"}).status_code == 207


def test_a_file_is_sent_whole_and_in_ranges_and_not_again_when_it_is_cached(dav):
    whole = dav.call("GET", LAKE)
    assert (whole.status_code, whole.data) == (200, bytes(range(256)) * 4)
    assert (whole.content_type, whole.headers["Accept-Ranges"]) == ("image/jpeg", "bytes")
    assert whole.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    part = dav.call("GET", LAKE, headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.data) == (206, bytes(range(10, 20)))
    none = dav.call("GET", LAKE, headers={"Range": "bytes=9999-"})
    assert (none.status_code, none.headers["Content-Range"]) == (416, "bytes */1024")
    head = dav.call("HEAD", LAKE)
    assert (head.status_code, head.headers["Content-Length"], head.data) == (200, "1024", b"")
    tag, changed = whole.headers["ETag"], whole.headers["Last-Modified"]
    assert tag.startswith('"')
    for headers, status in (({"If-None-Match": tag}, 304), ({"If-Modified-Since": changed}, 304),
                            ({"If-Match": '"other"'}, 412)):  # fmt: skip
        assert dav.call("GET", LAKE, headers=headers).status_code == status, headers


def test_two_contents_of_one_size_and_time_have_different_tags(dav):
    dav.api.library.put("same.jpg", b"one")
    first = dav.call("HEAD", "/same.jpg").headers["ETag"]
    dav.api.library.put("same.jpg", b"two")
    assert dav.call("HEAD", "/same.jpg").headers["ETag"] != first


def test_a_folder_is_an_empty_answer_and_lists_what_exists_and_nothing_else(dav):
    for path in ("", "/", "/trip", "/trip/"):
        for method in ("GET", "HEAD"):
            answer = dav.call(method, path)
            assert (answer.status_code, answer.data) == (200, b""), path
    top = dav.call("PROPFIND", "/", headers={"Depth": "1"}).text
    for name in ("photosvc", "link", "loop", "pipe"):
        assert name not in top
    trip = dav.call("PROPFIND", "/trip", headers={"Depth": "1"}).text
    for name in ("lake%20view.jpg", "a%3Fb%3Bc%23d.jpg", "%25FFcaf%25E9.jpg", ".hidden"):
        assert f">/originals/trip/{name}<" in trip


def test_what_is_no_file_of_the_tree_does_not_exist_and_errors_name_no_path_on_disk(dav):
    for path in (
        "/none.jpg", f"{LAKE}/", f"{LAKE}/x", "/.photosvc/", "/.photosvc/part", "/trip/caf%E9.jpg", "/link.txt",
        "/linked", "/linked/secret.txt", f"/loop{LAKE}", "/pipe", "/" + "n" * 256, "/" + "n/" * 2100, "/%FF2E%2E/x",
        "/a%0Ab",
    ):  # fmt: skip
        for method in ("GET", "HEAD", "PROPFIND"):
            answer = dav.call(method, path)
            assert answer.status_code == 404, (method, path)
            said = answer.text + str(answer.headers)
            assert not any(word in said for word in ("confidential", str(dav.api.library.instance))), (method, path)
    for path in ("/../x", "/trip/..", "/..%2f..%2fetc/passwd", "/trip/%2e%2e/x", "/a%00b"):
        answer = dav.call("GET", path)
        assert (answer.status_code, answer.json["error"]) == (400, "No file or folder can have this address."), path


def test_names_are_those_of_the_library(dav):
    assert dav.call("GET", "/trip/a%3Fb%3Bc%23d.jpg").data == b"odd"
    assert dav.call("GET", "/trip/%25FFcaf%25E9.jpg").data == b"latin"  # the name in searches: %FFcaf%E9.jpg
    assert dav.call("GET", "/trip/.hidden").data == b"dot"


def test_no_other_address_is_the_folder_and_no_other_method_is_served(dav):
    for path in ("/ORIGINALS/trip", "/Originals/", "/originalsa.jpg", "/originals.jpg", "/trip"):
        for method in ("GET", "PROPFIND"):
            assert dav.call(method, path, prefix="").status_code == 404, (method, path)
    assert dav.call("OPTIONS", "/", environ_overrides={"PATH_INFO": "*"}, token=None).status_code == 404
    answer = dav.call("POST", LAKE)
    assert (answer.status_code, "PROPFIND" in answer.headers["Allow"]) == (405, True)


def test_below_the_prefix_of_a_host_all_addresses_have_it(tmp_path):
    app = Flask("host", instance_path=str(tmp_path))
    app.config.update(
        SQLALCHEMY_DATABASE_URI=f"sqlite:///{tmp_path / 'host.db'}", PHOTOSVC_ORIGINALS=tmp_path / "originals"
    )
    PhotoService(app, db=SQLAlchemy(app), url_prefix="/Media", clock=MovedClock())
    library, prefix = Library(app, MovedClock(), tmp_path), "/Media/originals"
    library.put("a.jpg", b"a")
    (tmp_path / "host.db").write_bytes(migrated_database())
    with library.session() as session:
        add_user(session, "alice", "user", password_hash=HASH)
    hosted = DavClient(ApiClient(library))
    found = hosted.call("PROPFIND", "/", prefix=prefix, headers={"Depth": "1"})
    assert (found.status_code, f">{prefix}/a.jpg<" in found.text) == (207, True)
    moved = {"Destination": f"http://localhost{prefix}/b.jpg"}
    assert hosted.call("MOVE", "/a.jpg", prefix=prefix, headers=moved).status_code == 201
    outside = {"Destination": "http://localhost/originals/c.jpg"}
    assert hosted.call("MOVE", "/b.jpg", prefix=prefix, headers=outside).status_code == 502
    assert hosted.call("GET", "/b.jpg", prefix=prefix).data == b"a"
    assert hosted.call("GET", "/b.jpg").status_code == 404
    library.close()


def test_below_the_prefix_of_a_server_all_addresses_have_it(dav):
    server = {"environ_overrides": {"SCRIPT_NAME": "/app"}}
    found = dav.call("PROPFIND", LAKE, headers={"Depth": "0"}, **server)
    assert f">/app/originals{LAKE}<" in found.text
    copied = {"Destination": "/app/originals/copied.jpg"}
    assert dav.call("COPY", LAKE, headers=copied, **server).status_code == 201
    lost = {"Destination": "/originals/lost.jpg"}
    assert dav.call("COPY", LAKE, headers=lost, **server).status_code == 502
    locked = dav.call("LOCK", "/copied.jpg", LOCKINFO, **server)
    assert ">/app/originals/copied.jpg<" in locked.text
    refused = dav.call("DELETE", "/copied.jpg", **server)
    assert (refused.status_code, ">/app/originals/copied.jpg<" in refused.text) == (423, True)
