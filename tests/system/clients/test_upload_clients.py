"""Published clients that send files and start index runs, unchanged, against gunicorn."""

import asyncio
import subprocess
import sys
from io import BytesIO

import pytest
import requests
from aiophotoprism import Photoprism
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError

from tests.app.uploads.upload_client import originals, parts, picture, sha1
from tests.helpers.api_client import API, PASSWORD, open_api
from tests.helpers.clock import until
from tests.helpers.library import SURROUNDINGS
from tests.helpers.pictures import clouds, encoded
from tests.helpers.programs.server import serve
from tests.system.clients.photoprysm_import import import_photoprysm

photoprysm = import_photoprysm()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("clients")) as api:
        options = ["--config", "python:photosvc.serving"]
        with serve(api.library.instance, workers=2, threads=8, options=options) as address:
            yield api, address


@pytest.fixture(scope="module")
def headers(served):
    return {"Authorization": f"Bearer {served[0].app_password('alice', '*')}"}


def found(served, headers, data):
    address = f"{served[1]}{API}/photos?count=9&q=hash:{sha1(data)}"
    return requests.get(address, headers=headers, timeout=30).json()


def test_photoprysm_uploads_files_into_an_album_and_starts_an_index_run(served):
    api, address = served
    base = f"{address}{API}/"
    one, two = picture(1), picture(2)
    with photoprysm.user_session(photoprysm.User("alice", PASSWORD), base) as session:
        photo = photoprysm.photos.upload(session, base, BytesIO(one))
        assert photo.files[0]["Hash"] == sha1(one)
        album = photoprysm.create_album(session, base, "Sent")
        photos = photoprysm.photos.upload(session, base, [BytesIO(one), BytesIO(two)], albums=[album])
        assert photos[0].uid == photo.uid
        listed = session.get(f"{base}photos?count=9&s={album.uid}", timeout=30).json()
        assert {one["UID"] for one in listed} == {photo.uid for photo in photos}
        api.library.put("by hand/a.jpg", picture(3))
        photoprysm.start_index(session, base, path="by hand", rescan=False)
        until(lambda: session.get(f"{base}photos?count=9&q=path:%22by hand%22", timeout=30).json())
        assert len(session.get(f"{base}photos?count=9&q=path:%22by hand%22", timeout=30).json()) == 1


def test_photoprysm_imports_a_folder_into_an_album(served):
    api, address = served
    folder = api.library.instance / "import/card"
    folder.mkdir(parents=True)
    (folder / "a.jpg").write_bytes(picture(20))
    base = f"{address}{API}/"
    with photoprysm.user_session(photoprysm.User("ann", PASSWORD), base) as session:
        album = photoprysm.create_album(session, base, "Card")
        photoprysm.start_import(session, base, "card", True, album)
        until(lambda: session.get(f"{base}photos?count=9&s={album.uid}", timeout=30).json())
        (photo,) = session.get(f"{base}photos?count=9&s={album.uid}", timeout=30).json()
    assert photo["Hash"] == sha1(picture(20))
    assert list(folder.iterdir()) == []


_PHOTOPRISM_CLIENT = """
import sys
from photoprism import Photo, Session

session = Session.Session("ann", sys.argv[2], sys.argv[1])
session.create()
photos = Photo.Photo(session)
print(photos.start_import(path="upload", move=False), photos.start_import(path="none"), photos.stop_import())
"""


def test_photoprism_client_starts_and_stops_an_import(served, tmp_path):
    api, address = served
    folder = api.library.instance / "import/upload"
    folder.mkdir(parents=True, exist_ok=True)
    packages = installed("photoprism-client>=0.2,<1", tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", _PHOTOPRISM_CLIENT, address.removeprefix("http://"), PASSWORD],
        env={**SURROUNDINGS, "PYTHONPATH": str(packages)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert run.stdout.splitlines()[-1] == "True False True"


def installed(package, folder):
    """The folder of a published package that is no dependency of the tests: its module has the name of another's."""
    packages = folder / "packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*pip, "--target", packages, package], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip cannot install {package}: {done.stderr.strip().splitlines()[-1:]}")
    return packages


def test_aiophotoprism_starts_an_index_run(served, headers):
    api, address = served
    api.library.put("later/a.jpg", picture(4))

    async def index():
        async with Photoprism("alice", PASSWORD, url=address) as client:
            await client.index()

    asyncio.run(index())
    until(lambda: found(served, headers, picture(4)))
    assert len(found(served, headers, picture(4))) == 1


def test_tuspy_uploads_a_file_in_pieces_and_continues_after_an_interruption(served, headers):
    api, address = served
    data = encoded(clouds(5), "JPEG") + bytes(1_000_000)
    client = TusClient(f"{address}{API}/uploads", headers=headers)
    metadata = {"filename": "large.jpg"}
    first = client.uploader(file_stream=BytesIO(data), chunk_size=100_000, metadata=metadata)
    assert set(first.get_headers()) >= {"Tus-Resumable", "Authorization"}
    first.upload(stop_at=300_000)
    assert len(parts(api)) == 1
    second = client.uploader(file_stream=BytesIO(data), chunk_size=400_000, url=first.url)
    assert second.get_offset() == second.offset == 300_000
    second.upload()
    assert data in originals(api).values()
    until(lambda: found(served, headers, data))
    assert len(found(served, headers, data)) == 1
    assert parts(api) == []


def test_tuspy_is_told_when_its_file_is_no_picture(served, headers):
    client = TusClient(f"{served[1]}{API}/uploads", headers=headers)
    uploader = client.uploader(file_stream=BytesIO(b"no picture"), metadata={"filename": "a.jpg"}, retries=0)
    with pytest.raises(TusCommunicationError) as caught:
        uploader.upload()
    assert caught.value.status_code == 422
    assert parts(served[0]) == []
