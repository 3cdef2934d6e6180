"""No name in an address leads out of the originals, and no route of pictures changes one of them."""

import hashlib
from contextlib import contextmanager

import pytest

from tests.app.pictures.picture_client import PictureClient, replace_workers
from tests.helpers.api_client import open_api
from tests.helpers.pictures import dng, encoded, jpeg, quarters, video

#: What leads out of a folder somewhere: plain, encoded once and twice, with NUL, backslashes, and Unicode.
PARTS = ("..", "%2e%2e", "%252e%252e", "..%00", "..;", ".. ", "\u2025", "\uff0e\uff0e", "%c0%ae%c0%ae", "....", "~", "")
SEPARATORS = ("/", "%2f", "%252f", "\\", "%5c", "%00", "\u2215", "\uff0f", "//")
UP = [separator.join([part] * depth + ["secret"]) for part in PARTS for separator in SEPARATORS for depth in (1, 4)]
ODD = (
    "%00", "%00" + "a" * 39, "a" * 39 + "%00", "a" * 5000, "\ud7ff" * 40, "%ff" * 40, "%0d%0aX-Evil:%201",
    "\u0661" * 40,
)  # fmt: skip
SECRET = b"not a picture"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with guarded_library(tmp_path_factory.mktemp("guarded")) as pictures:
        yield pictures


@contextmanager
def guarded_library(folder, **settings):
    """A library with one picture, and files beside its folder that no client may read."""
    with open_api(folder, settings=settings) as api:
        pictures = PictureClient(api)
        pictures.put("folder/photo.png", encoded(quarters(60, 40), "PNG"))
        for parent in list((pictures.library.originals / "folder").parents)[:4]:
            if parent.is_relative_to(folder):
                (parent / "secret").write_bytes(SECRET)
        yield pictures


def with_names(pictures):
    """The addresses of all routes of the API that have names, each with a place for one of them."""
    preview, download = pictures.tokens()
    valid = {
        "content_hash": pictures.hash_of("folder/photo.png"),
        "photo_uid": pictures.photo_uid("folder/photo.png"),
        "token": preview,
        "size": "tile_50",
        "video_format": "avc",
    }
    for rule in pictures.library.app.url_map.iter_rules():
        if rule.rule.startswith("/api/v1/") and "GET" in rule.methods:
            for argument in rule.arguments:
                address = rule.rule
                for other in rule.arguments - {argument}:
                    address = address.replace(f"<{other}>", valid.get(other, "x"))
                yield f"{address.replace(f'<{argument}>', '{}')}?t={download}"


def check_names(pictures, names, step=1):
    """Call each address with every `step`-th name."""
    token = pictures.library.token("*", role="admin")
    client = pictures.library.app.test_client()
    addresses = list(with_names(pictures))
    assert {address.split("/")[3] for address in addresses} >= {"albums", "dl", "files", "photos", "t", "videos", "zip"}
    for number, address in enumerate(addresses):
        for name in names[number % step :: step]:
            answer = client.get(address.format(name), headers={"X-Auth-Token": token}, buffered=True)
            assert answer.status_code in (308, 400, 403, 404), (address, name, answer.status_code)
            assert SECRET not in answer.data
            assert len(answer.data) < 700
            assert "X-Evil" not in answer.headers


def test_no_name_leads_out_of_the_originals(guarded):
    check_names(guarded, (*UP, *ODD), step=5)  # all names are tried, and all at each address at night


def state(folder):
    """Kind, bytes and times of every file below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        digest = hashlib.sha1(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[path] = (digest, status.st_mode, status.st_ino, status.st_nlink, status.st_size, status.st_mtime_ns)
    return found


def test_no_route_changes_an_original_or_leaves_something_beside_it(tmp_path, monkeypatch):
    with open_api(tmp_path / "keeping", settings={"PHOTOSVC_DELETE_ORIGINALS": "false"}) as api:
        pictures, library = PictureClient(api), api.library
        replace_workers(pictures, monkeypatch)
        library.put("a.jpg", jpeg(320, 240))
        library.put("c.dng", dng(tmp_path / "c.dng", 640, 480).read_bytes())
        library.put("d.mp4", video(tmp_path / "d.mp4", codec="libx264").read_bytes())
        library.put("e.jpg", jpeg(640, 480)[:4000])
        library.index()
        token = library.token("*", role="admin")
        preview, download = pictures.tokens(token)
        before, answered = state(library.originals), 0
        records = library.find(token=token, count=100, error="true") + library.find(token=token, count=100)
        filename = api.call("POST", "/zip", token, json={"q": "*"}).json["filename"]
        addresses = [f"/zip/{filename}?t={download}", "/photos/timeline", "/photos/sequence", "/photos/clusters"]
        addresses += ["/geo", "/config", "/photos/view"]
        for file, photo in ((record["Hash"], record["UID"]) for record in records):
            addresses += [f"/t/{file}/{preview}/tile_50", f"/t/{file}-0000001f41f4/{preview}/fit_720"]
            addresses += [f"/dl/{file}?t={download}", f"/videos/{file}/{preview}/avc", f"/files/{file}"]
            addresses += [f"/photos/{photo}", f"/photos/{photo}/dl?t={download}"]
        for address in addresses:
            for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"):
                if method in ("GET", "HEAD") or "/zip/" not in address:
                    answer = api.call(method, address, token, headers={"Range": "bytes=1-9"}, buffered=True)
                    assert answer.status_code < 500, (method, address)
                    answered += 1
        assert answered > 150
        assert state(library.originals) == before
