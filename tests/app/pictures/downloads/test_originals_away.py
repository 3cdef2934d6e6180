"""Originals on a disk that is away are unavailable (503) and not deleted, and no answer about them is cached."""

from contextlib import contextmanager

import pytest

from photosvc.index import mounts
from tests.app.dav.dav_client import DavClient
from tests.app.pictures.picture_client import PictureClient, replace_workers
from tests.helpers.api_client import check_error, open_api
from tests.helpers.pictures import jpeg


@pytest.fixture
def away(tmp_path, monkeypatch):
    """A library with a picture on its own disk and one on a disk mounted below it."""
    monkeypatch.setattr("photosvc.dav.blueprint.wake_indexer", lambda _service: None)
    with open_api(tmp_path) as api:
        pictures = PictureClient(api)
        replace_workers(pictures, monkeypatch)
        pictures.put("own.jpg", jpeg())
        pictures.put("nas/far.jpg", jpeg(80, 48))
        yield pictures


@contextmanager
def unmounted(pictures):
    """Take the originals away, and leave the empty folder of their disk."""
    originals = pictures.library.originals
    originals.rename(originals.with_name("unmounted"))
    originals.mkdir()
    (originals / "NOT MOUNTED.txt").write_bytes(b"")
    yield
    (originals / "NOT MOUNTED.txt").unlink()
    originals.rmdir()
    originals.with_name("unmounted").rename(originals)


def answers_for(pictures, name):
    """The answers of all addresses for the original of this name."""
    content_hash = pictures.hash_of(name)
    preview, download = pictures.tokens()
    dav = DavClient(pictures.api)
    call = pictures.api.call
    return [
        call("GET", f"/dl/{content_hash}?t={download}", buffered=True),
        call("GET", f"/photos/{pictures.photo_uid(name)}/dl?t={download}", buffered=True),
        pictures.thumbnail(content_hash, "fit_1280", preview),
        call("GET", f"/videos/{content_hash}/{preview}/avc", buffered=True),
        dav.call("GET", f"/{name}"),
        dav.call("HEAD", f"/{name}"),
        dav.call("PROPFIND", f"/{name}", headers={"Depth": "0"}),
        dav.call("PROPFIND", f"/{name}".rpartition("/")[0] + "/", headers={"Depth": "1"}),
        dav.call("DELETE", f"/{name}"),
        dav.call("PUT", f"/{name}", b"other"),
        dav.call("MOVE", f"/{name}", headers={"Destination": "http://localhost/originals/else.jpg"}),
    ]


def test_while_the_originals_are_away_nothing_is_gone_and_readiness_tells(away):
    records = away.library.find()
    token = away.library.token("photos", role="admin")
    selected = away.api.call("POST", "/zip", token, json={"photos": [away.photo_uid("own.jpg")]}).json
    download = away.tokens()[1]
    with unmounted(away):
        for name in ("own.jpg", "nas/far.jpg"):
            for answer in answers_for(away, name):
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30"), answer.request
        archive = away.api.call("GET", f"/zip/{selected['filename']}?t={download}", buffered=True)
        assert (archive.status_code, archive.headers["Retry-After"]) == (503, "30")
        assert "is its disk mounted?" in check_error(away.api.call("GET", "/readyz"), 503)["error"]
        assert away.api.call("GET", "/status").status_code == 200
        assert available(away) == 0
        assert away.library.find() == records
        assert away.library.index().missing == 0
    assert away.api.call("GET", "/readyz").status_code == 200
    assert available(away) == 1
    assert [answer.status_code for answer in answers_for(away, "own.jpg")[:3]] == [200, 200, 200]


def test_while_a_disk_below_the_originals_is_away_only_its_files_are_unavailable(away, monkeypatch):
    originals = away.library.originals
    with monkeypatch.context() as mounted:
        mounted.setattr(mounts, "mounts_below", lambda root: {f"{root}/nas": "1"})
        away.library.index()
    (originals / "nas/far.jpg").rename(originals.with_name("far.jpg"))
    for answer in answers_for(away, "nas/far.jpg"):
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30"), answer.request
    dav = DavClient(away.api)
    assert dav.call("PROPFIND", "/", headers={"Depth": "1"}).status_code == 207
    assert dav.call("PROPFIND", "/", headers={"Depth": "infinity"}).status_code == 503
    assert dav.call("MOVE", "/own.jpg", headers={"Destination": "/originals/nas/own.jpg"}).status_code == 503
    assert available(away) == 0
    assert away.api.call("GET", "/readyz").status_code == 200
    assert [answer.status_code for answer in answers_for(away, "own.jpg")[:3]] == [200, 200, 200]


def test_a_file_that_was_deleted_while_its_disk_is_there_is_gone(away):
    (away.library.originals / "own.jpg").unlink()
    codes = [answer.status_code for answer in answers_for(away, "own.jpg")[:7]]
    assert codes == [410, 410, 410, 410, 404, 404, 404]
    assert available(away) == 1


def available(pictures):
    answer = pictures.library.get(path="/api/v1/metrics", token=pictures.library.token("metrics"))
    line = next(line for line in answer.text.splitlines() if line.startswith("photosvc_originals_available "))
    return float(line.split()[1])
