"""Labels and people of many photos, which a job changes, also when its first run is killed."""

import pytest

from photosvc.jobs import queue
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import NAMES
from photosvc.library import renames
from photosvc.models import Job, Photo
from photosvc.search.rows.check import differing
from photosvc.web.indexer import Indexer
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import index_at_once
from tests.helpers.factories.photos import edit_photos
from tests.helpers.library import open_library
from tests.helpers.pictures import exif, jpeg, showing

PICTURES = {
    "a/one.jpg": showing("Ada", keywords=["lake"]),
    "a/two.jpg": showing("Ada", "Bob", keywords=["lake", "Sun"]),
    "b/three.jpg": showing("Ada", keywords=["lake"]),
}


@pytest.fixture
def jobs_library(tmp_path, new_database, monkeypatch):
    """A library on each database, in which one photo is many, and jobs change one in a transaction."""
    monkeypatch.setattr("photosvc.library.renames.MOST_AT_ONCE", 1)
    monkeypatch.setattr("photosvc.web.job_answers.wake_indexer", lambda _: Indexer.RUNNING)
    for name in ("_FIRST", "_MOST"):
        monkeypatch.setattr(renames, name, 1)
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    for number, (name, packet) in enumerate(PICTURES.items()):
        library.put(name, jpeg(64 + number, 48, exif=exif({}, {0x9003: f"202{number}:01:02 03:04:05"}), xmp=packet))
    library.index()
    yield library
    with library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
    library.close()


@pytest.fixture
def call(jobs_library):
    return jobs_library.call


@pytest.fixture
def uid_of(call):
    def uid_of(kind, name):
        return next(one["UID"] for one in call("GET", f"/{kind}") if one["Name"] == name)

    return uid_of


def do_jobs(library):
    with library.app.app_context():
        index_at_once(current_service())


def names_of(call, kind, **options):
    return {one["Name"]: one["PhotoCount"] for one in call("GET", f"/{kind}", **options)}


def request_for(uid_of, action):
    lake = f"/labels/{uid_of('labels', 'lake')}"
    return {
        "rename": ("PUT", lake, {"Name": "Water", "Favorite": True}),
        "merge": ("PUT", lake, {"Name": "sun"}),
        "delete": ("POST", "/batch/labels/delete", {"labels": [lake.rpartition("/")[2]]}),
        "respell": ("PUT", lake, {"Name": "LAKE"}),
        "person": ("PUT", f"/subjects/{uid_of('subjects', 'Ada')}", {"Name": "Zed", "Favorite": True}),
    }[action]


#: What is changed -> labels, people, photos that are edited, and the action in the history of each.
ENDS = {
    "rename": ({"Water": 3, "Sun": 1}, {"Ada": 3, "Bob": 1}, 3, ["labels.rename"]),
    "merge": ({"Sun": 3}, {"Ada": 3, "Bob": 1}, 3, ["labels.rename"]),
    "delete": ({"Sun": 1}, {"Ada": 3, "Bob": 1}, 3, ["labels.delete"]),
    "respell": ({"LAKE": 3, "Sun": 1}, {"Ada": 3, "Bob": 1}, 0, []),
    "person": ({"lake": 3, "Sun": 1}, {"Zed": 3, "Bob": 1}, 3, []),
}


@pytest.mark.parametrize("action", ENDS)
def test_one_request_changes_many_photos_also_when_the_indexer_is_killed(jobs_library, call, uid_of, action):
    method, path, body = request_for(uid_of, action)
    user = jobs_library.token(role="user")
    headers = {"X-Auth-Token": user}
    answer = jobs_library.app.test_client().open(f"/api/v1{path}", method=method, headers=headers, json=body)
    assert (answer.status_code, answer.json["indexer"]) == (202, "running")
    job = answer.json["job"]
    assert answer.headers["Location"] == f"/api/v1/jobs/{job}"
    waits = call("GET", f"/jobs/{job}", token=user)
    assert (waits["Kind"], waits["State"], waits["Counts"]) == ("names", "waiting", {})
    with jobs_library.session() as session:
        engine = session.get_bind()
    killed = Lease(engine, jobs_library.clock)
    settings = jobs_library.app.extensions["photosvc"].settings
    portions = renames.change_by_job(killed, settings, killed.claim(NAMES))
    assert next(portions)
    assert killed.report()["percent"] == 33
    jobs_library.clock.move(seconds=90)
    do_jobs(jobs_library)
    done = call("GET", f"/jobs/{job}", token=user)
    labels, people, edited, history = ENDS[action]
    assert (done["State"], done["Counts"]["percent"]) == ("done", 100)
    assert done["Counts"]["photos"] == max(0, edited - 1)  # by the second run
    assert (names_of(call, "labels"), names_of(call, "subjects")) == (labels, people)
    kind, name = ("subjects", "Zed") if action == "person" else ("labels", body.get("Name"))
    if body.get("Favorite"):
        assert [one["Name"] for one in call("GET", f"/{kind}?favorite=true")] == [name]
    for photo in jobs_library.find():
        changes = call("GET", f"/photos/{photo['UID']}/history")
        assert [(one["Action"], one["ActorName"]) for one in changes] == [(one, "user1") for one in history]
    with jobs_library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()


def test_who_sees_no_private_photos_has_a_person_renamed_on_the_others_alone(jobs_library, call, uid_of):
    with jobs_library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter(Photo.name == "three").scalar()], private=True)
    ada = f"/subjects/{uid_of('subjects', 'Ada')}"
    job = call("PUT", ada, 202, json={"Name": "Zed", "Favorite": True})["job"]
    assert names_of(call, "subjects") == {"Ada": 2, "Bob": 1}
    do_jobs(jobs_library)
    assert call("GET", f"/jobs/{job}")["Counts"] == {"photos": 2, "percent": 100}
    assert names_of(call, "subjects?favorite=true") == {"Zed": 2}
    everything = jobs_library.token(role="user")
    assert names_of(call, "subjects", token=everything) == {"Ada": 1, "Bob": 1, "Zed": 2}
    call("GET", f"/jobs/{job}", 404, token=everything)


def test_the_last_of_several_requests_for_a_label_counts_and_they_are_limited(jobs_library, call, uid_of, monkeypatch):
    lake = f"/labels/{uid_of('labels', 'lake')}"
    first = call("PUT", lake, 202, json={"Name": "Water"})
    assert call("PUT", lake, 202, json={"Name": "Sea"})["job"] == first["job"]
    monkeypatch.setattr("photosvc.library.renames.NAMES", queue.JobKind("names", most_waiting=1, most_ended=1))
    call("PUT", f"/subjects/{uid_of('subjects', 'Ada')}", 429, json={"Name": "Zed"})
    call("PUT", lake, 429, json={"Name": "LAKE"})
    do_jobs(jobs_library)
    assert (names_of(call, "labels"), names_of(call, "subjects")) == ({"Sea": 3, "Sun": 1}, {"Ada": 3, "Bob": 1})
    with jobs_library.session() as session:
        assert [(row.kind, row.large) for row in session.query(Job).filter(Job.kind == "names")] == [("names", False)]


def test_each_client_without_an_account_has_places_of_its_own_for_requests_that_wait(
    jobs_library, call, uid_of, monkeypatch
):
    lake, ada = f"/labels/{uid_of('labels', 'lake')}", f"/subjects/{uid_of('subjects', 'Ada')}"
    monkeypatch.setattr("photosvc.library.renames.NAMES", queue.JobKind("names", most_waiting=1, most_ended=1))
    call("PUT", lake, 202, json={"Name": "Water"})
    call("PUT", ada, 429, json={"Name": "Zed"})
    other = jobs_library.token("labels people")
    call("PUT", ada, 202, token=other, json={"Name": "Zed"})
    call("PUT", lake, 429, token=other, json={"Name": "Sea"})
    do_jobs(jobs_library)
    assert names_of(call, "labels") == {"Water": 3, "Sun": 1}
