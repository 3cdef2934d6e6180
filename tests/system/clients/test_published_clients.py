"""Published clients of PyPI that change the library, unchanged, against a real server.

photoprism-client contains a package `photoprism`, as the client photoprism does: it is installed into a folder of its
own and runs in a process of its own.
"""

import asyncio
import hashlib
import json
import subprocess
import sys
import zipfile
from dataclasses import fields
from io import BytesIO

import pytest
import requests
from aiophotoprism import Photoprism
from photoprism import PhotoprismClient, PhotoprismSession
from photoprism.exceptions import PhotoprismNotFoundError
from photoprism.models import form

from photosvc.models import Photo
from photosvc.search.rows.check import differing
from tests.helpers.api_client import API, PASSWORD, open_api
from tests.helpers.library import SURROUNDINGS
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve
from tests.system.clients.photoprysm_import import import_photoprysm

photoprysm = import_photoprysm()


class Served:
    """A server with ten pictures, their UIDs by name, and the requests that check what a client did."""

    def __init__(self, api, address, uids, pictures):
        self.api = api
        self.address = address
        self.uids = uids
        self.pictures = pictures
        self.headers = {"X-Auth-Token": api.app_password("alice", "*")}

    @property
    def base(self):
        return f"{self.address}{API}/"

    def get(self, path, status=200):
        answer = requests.get(self.base + path, headers=self.headers, timeout=30)
        assert answer.status_code == status, answer.text
        return answer.json()

    def photo(self, name):
        return self.get(f"photos/{self.uids[name]}")

    def found(self, query):
        return {photo["Name"] for photo in self.get(f"photos?count=1000&q={query}")}


@pytest.fixture
def served(tmp_path):
    with open_api(tmp_path) as api:
        pictures = {}
        for number in range(10):
            # A picture of less than two megapixels that no camera dates is in review.
            taken = exif({}, {0x9003: f"2021:07:0{number or 1} 18:30:15"}) if number else b""
            pictures[f"p{number}"] = jpeg(320 + number, 240, exif=taken)
            api.library.put(f"trip/p{number}.jpg", pictures[f"p{number}"])
        api.library.index()
        with api.library.session() as session:
            uids = {photo.name: photo.uid for photo in session.query(Photo)}
        with serve(api.library.instance, workers=2) as address:
            yield Served(api, address, uids, pictures)
        with api.library.session() as session:
            assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()


def photoprism(served, use):
    """What `use` gives for a fresh client of photoprism 0.1.0."""

    async def run():
        session = PhotoprismSession(username="alice", password=PASSWORD, host=served.address.removeprefix("http://"))
        try:
            return await use(PhotoprismClient(session))
        finally:
            await session._session.close()  # the client has no way to close it

    return asyncio.run(run())


def test_photoprism_edits_archives_and_removes_photos(served):
    p = served.uids

    async def use(client):
        photos = client.photos
        found = await photos.search_full(count=100, order="oldest", query="path:trip")
        assert {photo.uid for photo in found} == set(p.values())
        changed = await photos.update(p["p1"], form.Photo(title="Pier", title_src="manual", private=True))
        assert (changed.title, changed.private, changed.uid) == ("Pier", True, p["p1"])
        await photos.set_favorite(p["p2"], favorite=True)
        await photos.set_favorite(p["p3"], favorite=True)
        await photos.set_favorite(p["p3"], favorite=False)
        await photos.approve(p["p0"])
        await photos.batch_approve(form.Selection(photos=[p["p9"]]))
        await photos.batch_archive(form.Selection(photos=[p["p4"], p["p5"], p["p6"]]))
        await photos.batch_restore(form.Selection(photos=[p["p5"]]))
        await photos.batch_toggle_private(form.Selection(photos=[p["p7"], p["p1"]]))
        await photos.batch_delete(form.Selection(photos=[p["p6"]]))
        assert await client.faces.search_full(form.SearchFaces(count=10)) == []

    photoprism(served, use)
    assert served.photo("p1")["Title"] == "Pier"
    assert served.found("favorite:true") == {"p2"}
    assert served.found("private:true") == {"p7"}
    assert served.found("archived:true") == {"p4"}
    served.get(f"photos/{p['p6']}", 404)

    async def change_missing(client):
        await client.photos.set_favorite(p["p6"], favorite=True)

    with pytest.raises(PhotoprismNotFoundError):
        photoprism(served, change_missing)


def test_photoprism_labels_photos(served, tmp_path):
    p = served.uids

    async def use(client):
        labelled = await client.photos.add_label(p["p1"], form.Label(name="Boat"))
        assert labelled.uid == p["p1"]
        await client.photos.add_label(p["p2"], form.Label(name="boat"))
        await client.photos.add_label(p["p2"], form.Label(name="Sea"))
        labels = {label["Name"]: label["UID"] for label in served.get("labels")}
        assert (await client.photos.update_label(p["p2"], labels["Sea"])).uid == p["p2"]
        renamed = await client.labels.update(labels["Boat"], "Ship")
        assert (renamed.name, renamed.photo_count) == ("Ship", 2)
        await client.labels.set_favorite(renamed.uid, favorite=True)
        await client.photos.remove_label(p["p1"], renamed.uid)
        await client.labels.batch_delete([labels["Sea"]])

    photoprism(served, use)
    found = [(label["Name"], label["PhotoCount"], label["Favorite"]) for label in served.get("labels")]
    assert found == [("Ship", 1, True)]
    assert served.found("label:ship") == {"p2"}

    async def download(client):
        (ship,) = served.get("labels")
        return await client.labels.download_cover_image(ship["UID"], "tile_100", tmp_path, "cover.jpg")

    assert photoprism(served, download).read_bytes()[:3] == b"\xff\xd8\xff"


def test_photoprism_fills_and_downloads_an_album(served, tmp_path):
    p = served.uids

    async def fill(client):
        lake = await client.albums.create("Lake")
        await client.albums.add_photos(lake.uid, photos=[p["p1"], p["p2"], p["p8"]])
        await client.albums.remove_photos(lake.uid, photos=[p["p8"]])
        assert await client.albums.get_links(lake.uid) == []
        copy = await client.albums.create("Copy")
        assert (await client.albums.clone([lake.uid], copy.uid)).title == "Copy"
        await client.albums.delete(lake.uid)
        assert [(album.title, album.photo_count) for album in await client.albums.filter(count=10)] == [("Copy", 2)]
        return copy.uid

    copy = photoprism(served, fill)
    assert {photo["Name"] for photo in served.get(f"photos?s={copy}")} == {"p1", "p2"}

    async def download(client):
        return await client.albums.download_to_zip(copy, tmp_path)

    with zipfile.ZipFile(photoprism(served, download)) as archive:
        assert {archive.read(name) for name in archive.namelist()} == {served.pictures["p1"], served.pictures["p2"]}

    async def publish(client):
        made = await client.albums.create_link(copy, "our-copy", max_views=5, expire_seconds=3600, password="sesame")
        changed = await client.albums.update_link(copy, made.uid, max_views=9)
        (listed,) = await client.albums.get_links(copy)
        await client.albums.delete_link(copy, made.uid)
        assert await client.albums.get_links(copy) == []
        return made, changed, listed

    made, changed, listed = photoprism(served, publish)
    assert (made.share_uid, made.slug, made.max_views, made.expires) == (copy, "our-copy", 5, 3600)
    assert (made.verify_password, len(made.token), changed.max_views, listed.token) == (True, 26, 9, "")


def test_photoprysm_edits_photos_and_keeps_albums(served):
    p, base = served.uids, served.base
    user = photoprysm.User("alice", PASSWORD)
    with photoprysm.user_session(user, base) as session:
        assert photoprysm.get_photo_by_uid(session, base, p["p1"]).path == "trip"
        # Its defaults are the tuple (None,) by mistake, so a caller has to give every value.
        nothing = {field.name: None for field in fields(photoprysm.PhotoProperties)}
        titled = photoprysm.PhotoProperties(**{**nothing, "title": "Pier", "title_src": "manual", "favorite": True})
        assert photoprysm.update_photo(session, base, p["p1"], titled).title == "Pier"
        photoprysm.unlike_photo(session, base, p["p1"])
        photoprysm.like_photo(session, base, p["p2"])
        photoprysm.approve_photo(session, base, p["p0"])
        photoprysm.archive_photo(session, base, p["p3"], p["p4"], p["p5"])
        photoprysm.restore_photo(session, base, p["p3"])
        photoprysm.clear_photo_from_archive(session, base, p["p5"])
        photoprysm.set_photo_as_private(session, base, p["p7"])
        photoprysm.delete_photo(session, base, p["p6"])
        found = photoprysm.get_photo_by_file(session, base, BytesIO(served.pictures["p8"]))
        assert found.uid == p["p8"]
        assert photoprysm.photos.download(session, base, p["p8"]) == served.pictures["p8"]
        lake = photoprysm.create_album(session, base, "Lake", favorite=True)
        assert (lake.title, lake.favorite) == ("Lake", True)
        assert photoprysm.get_album_by_name(session, base, "Lake").uid == lake.uid
        requests.post(
            f"{base}albums/{lake.uid}/photos", json={"photos": [p["p1"]]}, headers=served.headers, timeout=30
        ).raise_for_status()
        copy = photoprysm.create_album(session, base, "Copy")
        assert photoprysm.clone_album(session, base, copy, lake).uid == copy.uid
        renamed = photoprysm.update_album(session, base, copy, photoprysm.AlbumProperties(title="Sea", description="x"))
        assert (renamed.title, renamed.description) == ("Sea", "x")
        photoprysm.like_album(session, base, copy)
        assert photoprysm.get_album_share_links(session, base, copy) == []
        link = photoprysm.add_album_share_link(session, base, copy)
        assert (link.share_uid, link.slug, link.views, len(link.token)) == (copy.uid, "sea", 0, 26)
        photoprysm.delete_album(session, base, lake)
    assert [(album["Title"], album["PhotoCount"], album["Favorite"]) for album in served.get("albums")] == [
        ("Sea", 1, True)
    ]
    assert served.photo("p1")["Title"] == "Pier"
    assert served.found("favorite:true") == {"p2"}
    assert served.found("private:true") == {"p7"}
    assert served.found("archived:true") == {"p4"}
    for gone in ("p5", "p6"):
        served.get(f"photos/{p[gone]}", 404)


def test_aiophotoprism_finds_what_others_changed(served):
    body = {"photos": [served.uids["p1"]]}
    answer = requests.post(f"{served.base}batch/photos/archive", json=body, headers=served.headers, timeout=30)
    assert answer.json()["photos"] == 1

    async def use():
        async with Photoprism("alice", PASSWORD, url=served.address) as client:
            return await client.photos(count=100, q="path:trip"), await client.config()

    photos, config = asyncio.run(use())
    assert len(photos) == config["count"]["photos"] == 9


_PHOTOPRISM_CLIENT = """
import json, sys
from photoprism import Photo, Session

address, password, folder, uids = sys.argv[1], sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
session = Session.Session("alice", password, address)
session.create()
photos = Photo.Photo(session)
done = {"searched": sorted(photos.get_uid_list_of_search("path:trip", count=100))}
done["exists"] = photos.check_if_album_exists("Lake", create_if_not=True)
lake = photos.get_album_uid_by_name("Lake")
done["added"] = photos.add_photos_to_album(uids[:3], lake)
done["by query"] = photos.add_to_album_from_query("name:p9", "Lake")
done["removed"] = photos.remove_photos_from_album("Lake", uids[:1])
done["photos"] = photos.get_uid_list_of_search('album:"Lake"')
done["album"] = photos.get_album(lake)["Title"]
done["file"] = photos.download_file(photos.search("name:p9")[0]["Hash"], path=folder)
done["archive"] = photos.download_album(lake, path=folder, filename="lake")
done["deleted"] = photos.remove_album("Lake")["code"]
done["albums"] = photos.list_albums()
print(json.dumps(done))
"""


def test_photoprism_client_fills_and_downloads_an_album(served, tmp_path):
    packages, folder = tmp_path / "packages", tmp_path / "downloads"
    folder.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    installed = subprocess.run(
        [*pip, "--target", packages, "photoprism-client>=0.2,<1"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if installed.returncode:
        pytest.skip(f"pip cannot install photoprism-client: {installed.stderr.strip().splitlines()[-1:]}")
    p = served.uids
    order = [p["p1"], p["p2"], p["p3"]]
    host = served.address.removeprefix("http://")
    run = subprocess.run(
        [sys.executable, "-c", _PHOTOPRISM_CLIENT, host, PASSWORD, str(folder), json.dumps(order)],
        env={**SURROUNDINGS, "PYTHONPATH": str(packages)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    done = json.loads(run.stdout)
    assert done["searched"] == sorted(p.values())
    assert (done["exists"], done["added"], done["by query"], done["removed"]) == (False, True, True, True)
    assert set(done["photos"]) == {p["p2"], p["p3"], p["p9"]}
    assert (done["album"], done["file"], done["archive"], done["deleted"], done["albums"]) == (
        "Lake",
        True,
        True,
        200,
        [],
    )
    (picture,) = folder.glob("*.jpg")
    assert hashlib.sha1(picture.read_bytes()).digest() == hashlib.sha1(served.pictures["p9"]).digest()
    with zipfile.ZipFile(folder / "lake.zip") as archive:
        inside = {archive.read(name) for name in archive.namelist()}
    assert inside == {served.pictures[name] for name in ("p2", "p3", "p9")}
