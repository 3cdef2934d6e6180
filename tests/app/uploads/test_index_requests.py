"""POST and DELETE /index: wishes, and runs that stop."""

import pytest
from sqlalchemy.orm import Session

from photosvc.index.jobs import RunCancelledError
from photosvc.index.requested import waiting
from photosvc.index.run import run_index
from photosvc.index.run_log import IndexOptions
from photosvc.web.current import current_service
from photosvc.web.indexer import Indexer
from tests.helpers.api_client import check_error, open_api
from tests.helpers.factories.indexing_requests import InlinePool
from tests.helpers.pictures import clouds, encoded


@pytest.fixture
def api(tmp_path, monkeypatch):
    monkeypatch.setattr("photosvc.index.run.WorkerPool", InlinePool)
    monkeypatch.setattr("photosvc.api.index_runs.wake_indexer", lambda _: Indexer.STARTED)
    with open_api(tmp_path) as api:
        yield api


def wished(api):
    with api.library.session() as session:
        return {(wish.folder, wish.force) for wish in waiting(session)}


def test_an_index_run_is_a_wish_that_an_indexer_takes(api):
    token = api.app_password("alice", "photos")
    answer = api.call("POST", "/index", token, json={"path": "/2024/", "rescan": False, "cleanup": True})
    assert answer.json == {"code": 200, "message": "An indexer was started for it.", "indexer": "started"}
    api.call("POST", "/index", token, json={"path": "2024", "rescan": True})
    api.call("POST", "/index", token)
    assert wished(api) == {("2024", True), ("", False)}
    for body in ({"path": "../x"}, {"path": "a\0"}, {"path": 7}, {"rescan": "x"}, {"path": "日" * 1024}, []):
        error = check_error(api.call("POST", "/index", token, json=body), 400)
        assert not body or error["details"][0]["field"] in body


def test_stopping_withdraws_large_wishes_and_keeps_those_for_folders(api):
    token = api.app_password("alice", "photos")
    api.call("POST", "/index", token, json={"path": "2024"})
    assert api.call("DELETE", "/index", token).json["stopped"] is False
    api.call("POST", "/index", token, json={"rescan": True})
    answer = api.call("DELETE", "/index", token)
    assert answer.json == {"code": 200, "message": "The index run is stopping.", "stopped": True}
    assert wished(api) == {("2024", False)}


def test_a_run_that_goes_on_stops_before_its_next_batch_and_the_next_run_continues(api):
    for number in range(40):
        api.library.put(f"{number}.jpg", encoded(clouds(number, 16, 12), "JPEG"))
    token = api.app_password("alice", "photos")
    stopped = []

    def progress(done, _total):
        if done == 30:
            stopped.append(api.call("DELETE", "/index", token).json["stopped"])

    with api.library.app.app_context():
        service = current_service()
        with Session(service.engine()) as session, pytest.raises(RunCancelledError):
            run_index(session, service.settings, service.clock, IndexOptions(), progress)
    assert stopped == [True]
    assert 0 < len(api.library.names(count=99)) < 40
    assert api.call("DELETE", "/index", token).json["stopped"] is False
    assert api.library.index().failed == []
    assert len(api.library.names(count=99)) == 40


def test_runs_are_listed_with_what_waits_and_whether_one_goes_on(api):
    api.library.put("1.jpg", encoded(clouds(1, 16, 12), "JPEG"))
    api.library.index()
    token = api.app_password("alice", "photos")
    api.call("POST", "/index", token, json={"path": "2024", "rescan": True})
    listed = api.call("GET", "/index", token).json
    assert (listed["running"], listed["waiting"]) == (False, [{"Path": "2024", "Rescan": True}])
    (run,) = listed["runs"]
    now = f"{api.library.clock():%Y-%m-%dT%H:%M:%SZ}"
    assert run == {
        "ID": 1, "Path": "", "Rescan": False, "State": "done", "Message": "", "Total": 1, "Done": 1, "Indexed": 1,
        "Updated": 0, "Unchanged": 0, "Missing": 0, "Skipped": 0, "Failed": 0, "StartedAt": now, "EndedAt": now,
    }  # fmt: skip
