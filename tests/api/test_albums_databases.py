"""Albums on both databases, and eight callers that fill one album at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from photosvc.models import File, Marker, Photo
from photosvc.models.database import begin_write
from photosvc.search.projection.project import project
from photosvc.search.projection.verify import differing
from tests.factories.photos import add_photos
from tests.library import open_library


@pytest.fixture
def library(tmp_path, new_database):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    with library.session() as session:
        add_photos(session, 24, library.clock())
    yield library
    library.close()


def test_albums_are_the_same_on_both_databases(library):
    client, headers = library.app.test_client(), {"X-Auth-Token": library.token()}

    def call(method, path, **options):
        answer = client.open(f"/api/v1{path}", method=method, headers=headers, **options)
        assert answer.status_code == 200, answer.text
        return answer.json

    with library.session() as session:
        uids = [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]
    lake = call("POST", "/albums", json={"Title": "Lake"})["UID"]
    call("POST", f"/albums/{lake}/photos", json={"photos": uids[:6]})
    call("DELETE", f"/albums/{lake}/photos", json={"photos": uids[:1]})
    moved = call("PUT", f"/albums/{lake}/photos", json={"photos": [uids[5], uids[4]], "before": uids[2]})
    assert moved["photos"] == [uids[1], uids[5], uids[4], uids[2], uids[3]]
    smart = call("POST", "/albums", json={"Title": "Smart", "Filter": "path:b"})["UID"]
    inside = {record["UID"] for record in library.find(s=smart)}
    gone = min(inside)
    for _ in range(2):
        call("DELETE", f"/albums/{smart}/photos", json={"photos": [gone]})
    assert {record["UID"] for record in library.find(s=smart)} == inside - {gone}
    listed = {album["Title"]: album["PhotoCount"] for album in call("GET", "/albums?order=count")}
    assert listed == {"Smart": len(inside) - 1, "Lake": 5}
    for kind in ("folder", "month", "state"):
        for album in call("GET", f"/albums?type={kind}"):
            found = {record["UID"] for record in library.find(s=album["UID"])}
            assert len(found) == album["PhotoCount"] > 0
    call("DELETE", f"/albums/{lake}")
    with library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()


def test_people_are_renamed_and_merged_on_both_databases(library):
    client, headers = library.app.test_client(), {"X-Auth-Token": library.token()}
    with library.session() as session:
        begin_write(session)
        files = session.query(File).order_by(File.id).limit(4).all()
        for number, (file, name) in enumerate(zip(files, ("Ada", "Bob", "Ada", "Zoë"), strict=True)):
            uid, now = f"mt{number:014}", library.clock()
            session.add(Marker(uid=uid, file_id=file.id, type="face", src="manual", name=name, created_at=now))
        session.flush()
        project(session, [file.photo_id for file in files])

    def people():
        found = client.get("/api/v1/subjects", headers=headers).json
        return {person["Name"]: (person["UID"], person["PhotoCount"]) for person in found}

    before = people()
    for old, new in (("Ada", "Ada L."), ("Bob", "zoe")):
        answer = client.put(f"/api/v1/subjects/{before[old][0]}", json={"Name": new}, headers=headers)
        assert answer.status_code == 200, answer.text
    assert people() == {"Ada L.": (before["Ada"][0], 2), "zoe": (before["Zoë"][0], 2)}
    assert len({record["UID"] for record in library.find(subject=before["Zoë"][0])}) == 2
    with library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()


def test_eight_callers_fill_one_album_and_nothing_is_lost(library):
    headers = {"X-Auth-Token": library.token()}
    with library.session() as session:
        uids = [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]
    made = library.app.test_client().post("/api/v1/albums", json={"Title": "Crowd"}, headers=headers).json["UID"]

    def add(number):
        body = {"photos": [*uids[number:], *uids[:number]]}
        path = f"/api/v1/albums/{made}/photos"
        return library.app.test_client().post(path, json=body, headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(add, range(8))) == {200}
    assert {record["UID"] for record in library.find(s=made, count=1000)} == set(uids)
    with library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
