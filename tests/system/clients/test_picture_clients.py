"""Clients that fetch pictures, against a real server: the published ones from PyPI, and the requests of others.

The requests of a client that cannot be installed beside these are sent as its source sends them.
"""

import asyncio
import hashlib
import json
from io import BytesIO

import pytest
import requests
from aiophotoprism import Photoprism
from photoprism import PhotoprismClient, PhotoprismSession
from photoprism.exceptions import PhotoprismNotFoundError
from photoprism.models import query
from PIL import Image

from tests.helpers.api_client import API, PASSWORD, open_api
from tests.helpers.pictures import encoded, exif, jpeg, quarters, video
from tests.helpers.programs.server import serve

GPS = {1: "N", 2: [(48, 1), (51, 1), (30, 1)], 3: "E", 4: [(2, 1), (17, 1), (40, 1)]}
LOCATED = exif({}, {0x9003: "2021:07:04 18:30:15"}, GPS)
PLAIN, LARGE = jpeg(320, 240, exif=LOCATED), encoded(quarters(2400, 1600), "JPEG", quality=80)


class Served:
    """A server with pictures, a user, and an app password of the user."""

    def __init__(self, address, app_password, clip):
        self.address = address
        self.host = address.removeprefix("http://")
        self.app_password = app_password
        self.clip = clip

    def call(self, path, *, method="GET", status=200, **options):
        """The answer to a request; the path is the API's, or begins at the server."""
        root = self.address if path.startswith(API) else self.address + API
        answer = requests.request(method, root + path, timeout=30, allow_redirects=False, **options)
        assert answer.status_code == status, answer.text
        return answer

    def log_in(self, **options):
        """The answer to a log-in whose body is JSON, with the headers that the client sends."""
        body = json.dumps({"username": "alice", "password": PASSWORD})
        return self.call("/session", method="POST", data=body, **options)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    with open_api(folder) as api:
        clip = video(folder / "clip.mp4", codec="libx264").read_bytes()
        api.library.put("2021/tower.jpg", PLAIN)
        api.library.put("2023/large.jpg", LARGE, age=1800)
        api.library.put("2023/clip.mp4", clip, age=600)
        api.library.index()
        password = api.app_password("alice", "*")
        with serve(api.library.instance, workers=1) as address:
            yield Served(address, password, clip)


def pixels(data):
    return Image.open(BytesIO(data)).size


def photoprism(served, use):
    """What `use` gives for a fresh client of photoprism 0.1.0; its session ends with each download."""

    async def run():
        session = PhotoprismSession(username="alice", password=PASSWORD, host=served.host)
        try:
            return await use(PhotoprismClient(session), session)
        finally:
            await session._session.close()  # the client has no way to close it

    return asyncio.run(run())


# Published clients


def test_photoprism_searches_and_reads_a_photo(served):
    async def use(client, _session):
        found = await client.photos.search_full(count=10, order="oldest", query="type:image")
        views = await client.photos.search_viewer(count=10, order="oldest")
        return found, views, [await client.photos.get_by_uid(photo.uid) for photo in found]

    found, views, entities = photoprism(served, use)
    assert [photo.file_name for photo in found] == ["2021/tower.jpg", "2023/large.jpg"]
    titles = [view.title for view in views]
    assert set(titles) >= {photo.title for photo in found}
    large = views[titles.index(found[1].title)]
    assert (large.width, large.thumbs.fit_1280.src.rpartition("/")[2]) == (2400, "fit_1280")
    tower = entities[0]
    assert (tower.uid, tower.place.city, tower.cell.place.country) == (found[0].uid, "Paris", "fr")
    assert (tower.camera.name, tower.lens.name, tower.details.keywords, tower.albums) == ("Unknown", "Unknown", "", [])
    assert tower.taken_at_local.isoformat() == "2021-07-04T18:30:15+00:00"


def test_photoprism_downloads_an_original_by_photo_and_by_hash(served, tmp_path):
    photo = served.call("/photos?q=name:large", headers={"X-Auth-Token": served.app_password}).json()[0]

    async def by_photo(client, _session):
        return await client.photos.download(photo["UID"], tmp_path)

    async def by_hash(client, _session):
        return await client.files.download(photo["Hash"], tmp_path, "named.jpg")

    assert photoprism(served, by_photo).read_bytes() == LARGE
    assert photoprism(served, by_hash).read_bytes() == LARGE


def test_photoprism_downloads_a_thumbnail_with_its_download_token(served, tmp_path):
    async def use(client, _session):
        return await client.files.download_thumbnail(hashlib.sha1(LARGE).hexdigest(), query.Size.Fit1280, tmp_path)

    path = photoprism(served, use)
    assert path.name == f"fit_1280-{hashlib.sha1(LARGE).hexdigest()[:8]}.jpg"
    assert pixels(path.read_bytes()) == (1280, 853)


def test_photoprism_downloads_a_video_with_its_download_token(served, tmp_path):
    content_hash = hashlib.sha1(served.clip).hexdigest()

    async def use(client, _session):
        return await client.files.download_video(content_hash, "avc", tmp_path)

    path = photoprism(served, use)
    assert (path.name, path.read_bytes()) == (f"avc-{content_hash[:8]}.mp4", served.clip)


def test_photoprism_reads_the_file_with_a_hash(served):
    async def use(client, _session):
        hashes = [hashlib.sha1(data).hexdigest() for data in (PLAIN, LARGE, served.clip)]
        return [await client.files.get_by_uid(content_hash) for content_hash in hashes]

    plain, large, clip = photoprism(served, use)
    assert (plain.name, large.name, clip.name) == ("2021/tower.jpg", "2023/large.jpg", "2023/clip.mp4")
    assert plain.taken_at.isoformat() == "2021-07-04T16:30:15+00:00"
    assert (large.width, large.height, large.size, large.video) == (2400, 1600, len(LARGE), False)
    assert (clip.video, clip.codec, clip.missing, clip.error) == (True, "avc1", False, "")


def test_photoprism_gets_its_error_for_what_does_not_exist(served):
    async def use(client, _session):
        return await client.photos.get_by_uid("ptouqe1kbhlaydg7")

    with pytest.raises(PhotoprismNotFoundError):
        photoprism(served, use)


def test_aiophotoprism_reads_photos_and_the_configuration(served):
    async def use():
        async with Photoprism("alice", PASSWORD, url=served.address) as client:
            return await client.photos(count=10, order="newest", q="type:image"), await client.config()

    found, config = asyncio.run(use())
    assert [photo["FileName"] for photo in found] == ["2023/large.jpg", "2021/tower.jpg"]
    assert (config["count"]["photos"], config["count"]["videos"], config["public"]) == (2, 1, False)
    assert config["years"] == sorted(config["years"], reverse=True)


# Requests of other clients


def test_the_android_gallery_shows_photos_videos_and_a_map(served):
    body = {"username": "alice", "password": PASSWORD, "code": None}
    session = served.call("/session", method="POST", json=body).json()
    headers = {"X-Session-ID": session["id"]}
    config = served.call("/config", headers=headers).json()
    assert (config["previewToken"], config["public"]) == (session["config"]["previewToken"], False)
    query = "merged=true&count=80&offset=0&order=newest&public=true&q=type:image|video|raw|live"
    photos = served.call(f"/photos?{query}", headers=headers).json()
    assert [photo["Type"] for photo in photos].count("video") == 1
    for photo in photos:
        needed = ("UID", "Hash", "Width", "Height", "TakenAtLocal", "Type", "Title", "Favorite", "Quality", "Lat")
        assert all(photo[name] is not None for name in needed)
        file = photo["Files"][0]
        thumb = served.call(f"/t/{file['Hash']}/{config['previewToken']}/tile_500")
        assert pixels(thumb.content)[0] == pixels(thumb.content)[1]
        assert thumb.headers["Content-Type"] == "image/jpeg"
        original = served.call(f"/dl/{file['Hash']}?t={config['downloadToken']}")
        assert hashlib.sha1(original.content).hexdigest() == file["Hash"]
        if photo["Type"] == "video":
            address = f"/videos/{file['Hash']}/{config['previewToken']}/avc"
            part = served.call(address, headers={"Range": "bytes=0-99"}, status=206)
            assert part.content == served.clip[:100]
    places = served.call("/geo?count=1000&public=true", headers=headers).json()
    assert [feature["properties"]["Title"] for feature in places["features"]] == ["Paris / France / 2021"]
    assert [round(degrees, 1) for degrees in places["features"][0]["geometry"]["coordinates"]] == [2.3, 48.9]


def test_home_assistant_shows_a_slideshow(served):
    headers = {"Authorization": f"Bearer {served.app_password}"}
    query = "count=1000&offset=0&order=newest&primary=true&public=false&merged=false"
    answer = served.call(f"/photos?{query}", headers=headers)
    sent = {name: value for name, value in answer.raw.headers.items()}  # noqa: C416 - a case-sensitive copy
    still = [photo for photo in answer.json() if photo["Type"] in {"image", "raw", "live", "animated"}]
    shown = [served.call(f"/t/{photo['Hash']}/{sent['X-Preview-Token']}/fit_1920") for photo in still]
    assert sorted(pixels(thumb.content) for thumb in shown) == [(320, 240), (1800, 1200)]


def test_the_go_client_reads_a_photo_and_downloads_it(served):
    content = {"Content-Type": "application/json; charset=utf-8"}
    login = served.log_in(headers=content)
    headers = {**content, "X-Session-ID": login.headers["X-Session-Id"]}
    query = "count=60&offset=0&album=&filter=&merged=true&country=&camera=0&order=oldest&q="
    photos = served.call(f"/photos?{query}", headers=headers).json()
    assert len(photos) == 3
    photo = served.call(f"/photos/{photos[0]['UID']}", headers=headers).json()
    assert (photo["Files"], photo["Camera"]["ID"], photo["Place"]["City"]) == (photos[0]["Files"], 1, "Paris")
    token = login.json()["config"]["downloadToken"]
    assert served.call(f"/photos/{photo['UID']}/dl?t={token}", headers=headers).content == PLAIN


def test_the_mobile_app_logs_in_with_text_and_opens_thumbnails_of_the_configuration(served):
    login = served.log_in(headers={"Content-Type": "text/plain; charset=utf-8", "X-Session-ID": ""})
    headers = {"X-Session-ID": login.headers["x-session-id"]}
    config = served.call("/config", headers=headers).json()
    (photo,) = served.call("/photos?count=1000&q=name:large", headers=headers).json()
    assert pixels(served.call(f"/t/{photo['Hash']}/{config['previewToken']}/tile_224").content) == (224, 224)
    assert served.call(f"/dl/{photo['Hash']}?t={config['downloadToken']}").content == LARGE
