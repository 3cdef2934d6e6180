"""Reading files and folders over WebDAV, and the names that exist for clients."""

import os
from pathlib import Path

import pytest

from tests.helpers import shared
from tests.helpers.api_client import open_api
from tests.helpers.dav_client import DavClient

ADDRESS = "/originals"


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


@pytest.mark.parametrize(
    ("moment", "shown"), [(10**10, LATEST), (2**40, LATEST), (-(2**40), "Tue, 21 Sep 1677 00:12:43 GMT")]
)
def test_a_file_of_any_time_is_sent_with_the_nearest_that_64_bits_of_nanoseconds_hold(moment, shown):
    with shared.new_folder() as folder, open_api(Path(folder)) as api:  # in memory, where files keep any time
        path = api.library.put("far.jpg", b"far")
        os.utime(path, (moment, moment))
        if path.stat().st_mtime != moment:
            pytest.skip("the file system keeps no such times")
        answer = DavClient(api).call("GET", "/far.jpg")
        assert (answer.status_code, answer.data) == (200, b"far")
        assert answer.headers["Last-Modified"] == shown
        assert DavClient(api).call("PROPFIND", "/", headers={"Depth": "1"}).status_code == 207


def test_a_file_is_sent_whole_and_in_ranges(dav):
    whole = dav.call("GET", "/trip/lake%20view.jpg")
    assert (whole.status_code, whole.data) == (200, bytes(range(256)) * 4)
    assert (whole.content_type, whole.headers["Accept-Ranges"]) == ("image/jpeg", "bytes")
    assert whole.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    part = dav.call("GET", "/trip/lake%20view.jpg", headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.data) == (206, bytes(range(10, 20)))
    none = dav.call("GET", "/trip/lake%20view.jpg", headers={"Range": "bytes=9999-"})
    assert (none.status_code, none.headers["Content-Range"]) == (416, "bytes */1024")
    head = dav.call("HEAD", "/trip/lake%20view.jpg")
    assert (head.status_code, head.headers["Content-Length"], head.data) == (200, "1024", b"")


def test_a_cached_file_is_not_sent_again(dav):
    answer = dav.call("GET", "/trip/lake%20view.jpg")
    tag, changed = answer.headers["ETag"], answer.headers["Last-Modified"]
    assert tag.startswith('"')
    assert dav.call("GET", "/trip/lake%20view.jpg", headers={"If-None-Match": tag}).status_code == 304
    assert dav.call("GET", "/trip/lake%20view.jpg", headers={"If-Modified-Since": changed}).status_code == 304
    assert dav.call("GET", "/trip/lake%20view.jpg", headers={"If-Match": '"other"'}).status_code == 412


def test_two_contents_of_one_size_and_time_have_different_tags(dav):
    library = dav.api.library
    library.put("same.jpg", b"one")
    first = dav.call("HEAD", "/same.jpg").headers["ETag"]
    library.put("same.jpg", b"two")
    assert dav.call("HEAD", "/same.jpg").headers["ETag"] != first


@pytest.mark.parametrize("path", ["", "/", "/trip", "/trip/"])
def test_a_folder_is_an_empty_answer(dav, path):
    for method in ("GET", "HEAD"):
        answer = dav.call(method, path)
        assert (answer.status_code, answer.data) == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/none.jpg",
        "/trip/lake%20view.jpg/",
        "/trip/lake%20view.jpg/x",
        "/.photosvc/",
        "/.photosvc/part",
        "/trip/caf%E9.jpg",
        "/link.txt",
        "/linked",
        "/linked/secret.txt",
        "/loop/trip/lake%20view.jpg",
        "/pipe",
        "/" + "n" * 256,
        "/" + "n/" * 2100,
        "/%FF2E%2E/x",
        "/a%0Ab",
    ],
)
def test_what_is_no_file_of_the_tree_does_not_exist(dav, path):
    for method in ("GET", "HEAD", "PROPFIND"):
        answer = dav.call(method, path)
        assert answer.status_code == 404, method
        assert "confidential" not in answer.text


@pytest.mark.parametrize("path", ["/../x", "/trip/..", "/..%2f..%2fetc/passwd", "/trip/%2e%2e/x", "/a%00b"])
def test_addresses_that_climb_are_refused(dav, path):
    answer = dav.call("GET", path)
    assert (answer.status_code, answer.json["error"]) == (400, "No file or folder can have this address.")


def test_names_are_those_of_the_library(dav):
    assert dav.call("GET", "/trip/a%3Fb%3Bc%23d.jpg").data == b"odd"
    assert dav.call("GET", "/trip/%25FFcaf%25E9.jpg").data == b"latin"  # the name in searches: %FFcaf%E9.jpg
    assert dav.call("GET", "/trip/.hidden").data == b"dot"


def test_a_folder_lists_what_exists_and_nothing_else(dav):
    top = dav.call("PROPFIND", "/", headers={"Depth": "1"}).text
    for name in ("photosvc", "link", "loop", "pipe"):
        assert name not in top
    trip = dav.call("PROPFIND", "/trip", headers={"Depth": "1"}).text
    for name in ("lake%20view.jpg", "a%3Fb%3Bc%23d.jpg", "%25FFcaf%25E9.jpg", ".hidden"):
        assert f">{ADDRESS}/trip/{name}<" in trip


def test_errors_name_no_path_on_disk_and_no_version(dav):
    library = dav.api.library
    for method, path in [("GET", "/none"), ("PROPFIND", "/none"), ("GET", "/linked/x"), ("GET", "/../x")]:
        answer = dav.call(method, path)
        for word in (str(library.instance), "WsgiDAV", "wsgidav", "4.4", "Traceback"):
            assert word not in answer.text + str(answer.headers)
