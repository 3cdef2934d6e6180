"""Edits update columns of search rows: the rows are those that a rebuild would write."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import Event

import pytest
from sqlalchemy import select

from photosvc.models import CHANGES, LibraryState, SearchAlbum, SearchText
from photosvc.models.counters import in_index_run, record_change, settle
from photosvc.search.reading.library import CachedValue, library_state
from photosvc.search.rows.check import rebuild
from tests.helpers.clock import MovedClock
from tests.helpers.library import open_library
from tests.helpers.pictures import exif, jpeg, xmp

KEYWORDS = "<dc:subject><rdf:Bag><rdf:li>Zoo</rdf:li><rdf:li>apple</rdf:li></rdf:Bag></dc:subject>"
FACE = """<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType="Resource">
<mwg-rs:Name>Ada</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>
<mwg-rs:Area stArea:x="0.3" stArea:y="0.5" stArea:w="0.1" stArea:h="0.2" stArea:unit="normalized"/>
</rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"""
EDITS = {
    "title": {"Title": "Sunrise over the lake"},
    "favourite": {"Favorite": True},
    "time": {"TakenAtLocal": "2011-12-13T14:15:16Z"},
    "place": {"Lat": 48.1374, "Lng": 11.5755},
    "keywords": {"Details": {"Keywords": "Zebra, ape, Éclair"}},
    "camera": {"CameraMake": "Leica", "CameraModel": "M6"},
    "another camera": {"CameraMake": "Leica", "CameraModel": "M7"},
    "back to the files": {"Title": None, "Lat": None, "Details": {"Keywords": None}},
}


@pytest.fixture(scope="module")
def indexed_library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("update") / "instance")
    taken = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: "2020:01:02 03:04:05"})
    library.put("a/lake.jpg", jpeg(100, 80, exif=taken, xmp=xmp(FACE + KEYWORDS)))
    library.put("a/lake-edited.jpg", jpeg(64, 48, exif=taken))
    library.put("a/hill.jpg", jpeg(80, 60))
    library.index()
    yield library
    library.close()


@pytest.fixture(scope="module")
def client(indexed_library):
    client = indexed_library.app.test_client()
    client.environ_base["HTTP_X_AUTH_TOKEN"] = indexed_library.token(role="admin")
    album = client.post("/api/v1/albums", json={"Title": "Summer"}).json["UID"]
    for record in indexed_library.find(merged=True):
        client.post(f"/api/v1/albums/{album}/photos", json={"photos": [record["UID"]]})
    (ada,) = client.get("/api/v1/subjects").json
    client.put(f"/api/v1/subjects/{ada['UID']}", json={"Name": "Ada Lovelace"})
    return client


def everything(library):
    with library.session() as session:
        texts = {
            text.photo_id: {**vars(text), "_sa_instance_state": None} for text in session.scalars(select(SearchText))
        }
        members = {(one.album_id, one.file_id): (one.taken_at, one.oldest_at, one.newest_key, one.oldest_key)
                   for one in session.scalars(select(SearchAlbum))}  # fmt: skip
    return library.stored(), texts, members


def test_the_rows_of_an_edited_photo_are_those_of_a_rebuild(indexed_library, client):
    for body in EDITS.values():
        uid = indexed_library.find(q="filename:a/lake*", merged=True)[0]["UID"]
        assert client.put(f"/api/v1/photos/{uid}", json=body).status_code == 200
        stored = everything(indexed_library)
        assert len(stored[2]) == 3, body
        with indexed_library.session() as session:
            rebuild(session)
        assert everything(indexed_library) == stored, body


def test_the_words_of_an_edited_photo_are_found_and_its_former_ones_are_not(indexed_library, client):
    uid = indexed_library.find(q="name:hill", merged=True)[0]["UID"]
    client.put(f"/api/v1/photos/{uid}", json={"Title": "Meadow"})
    client.put(f"/api/v1/photos/{uid}", json={"Title": "Pasture"})
    assert (indexed_library.find(q="meadow"), len(indexed_library.find(q="pasture"))) == ([], 1)


def test_a_second_camera_is_journalled_and_shown(indexed_library, client):
    uid = indexed_library.find(q="name:hill", merged=True)[0]["UID"]
    models = [
        client.put(f"/api/v1/photos/{uid}", json={"CameraMake": "Nikon", "CameraModel": model}).json["CameraModel"]
        for model in ("F3", "F4")
    ]
    assert models == ["F3", "F4"]
    assert [record["CameraModel"] for record in indexed_library.find(q="name:hill")] == ["F4"]
    last, first = client.get(f"/api/v1/photos/{uid}/history").json[:2]
    assert last["Before"]["CameraID"] == first["After"]["CameraID"]


def test_an_edit_counts_as_one_change_of_the_library_and_none_when_it_changes_nothing(indexed_library, client):
    uid = indexed_library.find(q="name:hill", merged=True)[0]["UID"]
    counts = []
    for title in ("Once", "Twice", "Twice"):
        client.put(f"/api/v1/photos/{uid}", json={"Title": title})
        with indexed_library.session() as session:
            counts.append(session.get(LibraryState, CHANGES).value)
    assert counts == [counts[0], counts[0] + 1, counts[0] + 1]


def test_a_value_of_the_library_outlives_the_batches_of_an_index_run_for_some_seconds_but_no_other_change(
    indexed_library,
):
    clock, reads = MovedClock(), []
    cached = CachedValue(lambda *_, **__: reads.append(1) or len(reads), clock)

    def value(change=lambda _: None, *, run=True, passed=0.0):
        clock.seconds += passed
        with indexed_library.session() as session:
            with in_index_run(session) if run else nullcontext():
                change(session)
            session.commit()
            return cached.read(session.connection(), sees_private=True)

    assert [value(), value(record_change), value(record_change, passed=4.0)] == [1, 1, 1]
    assert [value(record_change, passed=1.5), value(record_change, run=False), value(record_change)] == [2, 3, 3]
    assert [value(settle), value(), value(settle)] == [4, 4, 4]
    tags = []
    for change in (record_change, settle, settle):
        value(change)
        with indexed_library.session() as session:
            tags.append(library_state(session.connection()))
    assert tags[0] != tags[1] == tags[2]  # an answer of the run is not taken for one after it


def test_threads_wait_for_the_one_that_reads_a_value_of_the_library(indexed_library):
    begun, going_on, reads = Event(), Event(), []

    def read(*_, **__):
        reads.append(1)
        begun.set()
        assert going_on.wait(10)
        return len(reads)

    cached = CachedValue(read)

    def value():
        with indexed_library.session() as session:
            return cached.read(session.connection(), sees_private=False)

    with ThreadPoolExecutor(3) as threads:
        values = [threads.submit(value)]
        assert begun.wait(10)
        values += [threads.submit(value), threads.submit(value)]
        going_on.set()
        assert [one.result() for one in values] == [1, 1, 1]
