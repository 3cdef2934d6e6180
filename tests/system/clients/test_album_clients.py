"""Albums by published clients, and by eight processes at once, against a real server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from aiophotoprism import Photoprism
from photoprism import PhotoprismClient, PhotoprismSession
from photoprism.models import form

from photosvc.models import Photo
from photosvc.search.rows.check import differing
from tests.helpers.api_client import API, PASSWORD, open_api
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library
from tests.helpers.programs.server import serve

PHOTOS = 64


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("albums")) as api:
        with api.library.session() as session:
            add_photos(session, PHOTOS, api.library.clock())
            api.photo_uids = [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]
        token = api.app_password("alice", "*")
        with serve(api.library.instance, workers=2) as address:
            yield api, address, token


def test_photoprism_uses_albums_unchanged(served):
    api, address, _ = served

    async def use():
        session = PhotoprismSession(username="alice", password=PASSWORD, host=address.removeprefix("http://"))
        try:
            albums = PhotoprismClient(session).albums
            made = await albums.create("Lake", favorite=True)
            assert (made.title, made.favorite, made.type) == ("Lake", True, "album")
            changed = await albums.update(made.uid, form.Album(title="Sea"))
            assert (changed.title, changed.favorite) == ("Sea", True)
            added = await albums.add_photos(made.uid, photos=api.photo_uids[:3])
            assert added.uid == made.uid
            assert (await albums.remove_photos(made.uid, photos=api.photo_uids[:1])).uid == made.uid
            await albums.set_favorite(made.uid, favorite=False)
            listed = await albums.filter(count=10)
            assert [(album.uid, album.photo_count, album.favorite) for album in listed] == [(made.uid, 2, False)]
            other = await albums.create("Other")
            assert (await albums.clone([made.uid], other.uid)).uid == other.uid
            assert [album.photo_count for album in await albums.filter(count=10, q="other")] == [2]
            await albums.delete(made.uid)
            await albums.batch_delete([other.uid])
            assert await albums.filter(count=10) == []
        finally:
            await session._session.close()  # the client has no way to close it

    asyncio.run(use())


def test_photoprism_lists_labels(served):
    _, address, _ = served

    async def use():
        session = PhotoprismSession(username="alice", password=PASSWORD, host=address.removeprefix("http://"))
        try:
            return await PhotoprismClient(session).labels.search(form.SearchLabels(count=3, q="tree"))
        finally:
            await session._session.close()  # the client has no way to close it

    assert [(label.name, label.photo_count) for label in asyncio.run(use())] == [("tree", PHOTOS)]


def test_aiophotoprism_finds_the_photos_of_an_album(served):
    api, address, token = served
    headers = {"X-Auth-Token": token}
    uid = requests.post(address + API + "/albums", json={"Title": "Frame"}, headers=headers, timeout=30).json()["UID"]
    body = {"photos": api.photo_uids[:4]}
    requests.post(f"{address}{API}/albums/{uid}/photos", json=body, headers=headers, timeout=30).raise_for_status()

    async def use():
        async with Photoprism("alice", PASSWORD, url=address) as client:
            return await client.photos(count=100, s=uid)

    assert {photo["UID"] for photo in asyncio.run(use())} == set(api.photo_uids[:4])
    requests.delete(f"{address}{API}/albums/{uid}", headers=headers, timeout=30).raise_for_status()


def test_a_client_that_sends_no_content_type_fills_an_album(served):
    api, address, token = served
    headers = {"X-Session-ID": token}
    made = requests.post(f"{address}{API}/albums", data=b'{"Title": "Plain"}', headers=headers, timeout=30)
    uid = made.json()["UID"]
    body = f'{{"photos": ["{api.photo_uids[0]}"]}}'.encode()
    for method in ("POST", "DELETE"):
        answer = requests.request(method, f"{address}{API}/albums/{uid}/photos", data=body, headers=headers, timeout=30)
        assert answer.status_code == 200, answer.text
    requests.delete(f"{address}{API}/albums/{uid}", headers=headers, timeout=30).raise_for_status()


@pytest.fixture
def eight_processes(tmp_path, new_database):
    """A server of eight processes on either database, the UIDs of its photos, and a token."""
    uri = new_database()
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": uri})
    with library.session() as session:
        add_photos(session, PHOTOS, library.clock())
        uids = [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]
    token = library.token()
    with serve(library.instance, workers=8, environ={"PHOTOSVC_DATABASE_URI": uri}) as address:
        yield library, address, uids, {"X-Auth-Token": token}
    library.close()


def test_eight_processes_fill_and_order_one_album_and_nothing_is_lost(eight_processes):
    library, address, uids, headers = eight_processes
    body = {"Title": "Crowd", "Order": "manual"}
    made = requests.post(f"{address}{API}/albums", json=body, headers=headers, timeout=30).json()["UID"]
    path = f"{address}{API}/albums/{made}/photos"

    def send(method, url, body):
        return requests.request(method, url, json=body, headers=headers, timeout=100).status_code

    def fill(number):
        own, found = uids[number::8], []
        for turn, photo in enumerate(own):
            found.append(send("POST", path, {"photos": [photo, uids[0]]}))
            found.append(send("PUT", path, {"photos": own[: turn + 1], "before": None}))
            found.append(send("PUT", f"{address}{API}/photos/{photo}", {"Title": f"{number} {turn}"}))
            found.append(send("DELETE", path, {"photos": [photo]}))
            found.append(send("POST", path, {"photos": own[turn : turn + 2]}))
        return [*found, send("PUT", path, {"photos": own})]

    with ThreadPoolExecutor(8) as pool:
        statuses = [status for part in pool.map(fill, range(8)) for status in part]
    assert set(statuses) == {200}
    listed = requests.get(path, headers=headers, timeout=30).json()["photos"]
    assert sorted(listed) == sorted(uids)
    for number in range(8):
        own = uids[number::8]
        places = [listed.index(uid) for uid in own]
        assert places == list(range(places[0], places[0] + len(own)))
    shown = requests.get(f"{address}{API}/photos?s={made}&count=1000&merged=true", headers=headers, timeout=30).json()
    assert [photo["UID"] for photo in shown] == listed
    with library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
