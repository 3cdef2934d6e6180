"""POST and DELETE of /import and /index: requests that an indexer fulfils, and runs that stop."""

import os
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy.orm import Session

from photosvc.cli.index import other_jobs_of
from photosvc.index import requests
from photosvc.index.run import run_index
from photosvc.index.run_log import IndexOptions
from photosvc.jobs.lease import Lease
from photosvc.jobs.queue import IMPORT, KINDS, RunCancelledError
from photosvc.jobs.queue import requested as requested_jobs
from photosvc.library.import_jobs import import_in_portions
from photosvc.library.job_runner import HANDLERS
from photosvc.models import Job
from photosvc.web.indexer import Indexer
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import InlinePool, index_at_once
from tests.app.uploads.upload_client import changed, originals, parts, picture, sha1
from tests.helpers.api_client import check_error, open_api
from tests.helpers.factories.accounts import add_user
from tests.helpers.pictures import clouds, encoded


@pytest.fixture
def api(tmp_path, monkeypatch):
    for name in ("photosvc.library.content", "photosvc.index.run"):
        monkeypatch.setattr(f"{name}.WorkerPool", InlinePool)
    monkeypatch.setattr("photosvc.web.job_answers.wake_indexer", lambda _: Indexer.STARTED)
    with open_api(tmp_path) as api, changed(api, watch_settle=0):
        (api.library.instance / "import").mkdir()
        yield api


@pytest.fixture
def token(api):
    return api.app_password("ann", "*")


def put(api, name, data):
    path = api.library.instance / "import" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def left(api):
    root = api.library.instance / "import"
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def import_all(api):
    """Run the indexer until nothing waits."""
    with api.library.app.app_context():
        service = current_service()
        other_jobs = other_jobs_of(service)
        while other_jobs.often() or other_jobs.waits():
            pass
        index_at_once(service)


@contextmanager
def killed_indexer(api):
    """An indexer that has imported the first two files, and is killed at the end of the block."""
    imports = []

    def handle(*job):
        imports.append(import_in_portions(*job))
        return imports[-1]

    with api.library.app.app_context(), pytest.MonkeyPatch.context() as patch:
        patch.setattr("photosvc.library.job_runner._STEP", 0)
        patch.setattr("photosvc.library.imports._MOST_FILES", 2)
        patch.setattr(Lease, "keep", lambda _: None)  # the thread that renews the lease dies with its process
        patch.setitem(HANDLERS, IMPORT, handle)
        other_jobs = other_jobs_of(current_service())
        assert other_jobs.often()
        yield other_jobs
    imports[0].close()  # the system takes its lock


def waiting_requests(api):
    with api.library.session() as session:
        return {
            one.subject: (one.arguments["moves"], " ".join(one.arguments["albums"]))
            for one in requested_jobs(session, IMPORT)
        }


def named(data):
    return f"2024/05/20240501_120000_{sha1(data)[:8].upper()}.jpg"


def test_files_are_copied_and_their_photos_found(api, token):
    data, other = picture(1), picture(4)
    put(api, "camera/a.jpg", data)
    put(api, "Häuser/a b/1.jpg", other)
    put(api, "other.jpg", picture(5))
    answer = api.call("POST", "/import", token, json={"path": "/camera/", "move": False, "albums": []})
    assert answer.json == {"code": 200, "message": "An indexer was started for it.", "indexer": "started"}
    assert api.call("POST", "/import/H%C3%A4user/a%20b", token).status_code == 200
    assert waiting_requests(api) == {"camera": (False, ""), "Häuser/a b": (False, "")}
    import_all(api)
    assert waiting_requests(api) == {}
    assert originals(api) == {named(data): data, named(other): other}
    assert (left(api), parts(api)) == (["Häuser/a b/1.jpg", "camera/a.jpg", "other.jpg"], [])
    (photo,) = api.call("GET", f"/photos?q=hash:{sha1(data)}", token).json
    assert photo["FileName"] == named(data)


def test_files_are_moved_into_albums_duplicates_included(api, token):
    one, two = picture(2), picture(3)
    api.library.put("trip/b.jpg", two)
    api.library.index()
    put(api, "a.jpg", one)
    put(api, "b.jpg", two)
    album = api.call("POST", "/albums", token, json={"Title": "Old"}).json["UID"]
    assert api.call("POST", "/import/", token, json={"move": True, "albums": [album, "New"]}).status_code == 200
    import_all(api)
    assert left(api) == []
    assert originals(api) == {named(one): one, "trip/b.jpg": two}
    assert len(api.call("GET", f"/photos?s={album}", token).json) == 2
    assert len(api.call("GET", "/photos?album=New", token).json) == 2


def test_stopping_withdraws_imports_that_wait_or_go_on(api, token):
    assert api.call("DELETE", "/import", token).json == {
        "code": 200,
        "message": "No import is running.",
        "stopped": False,
    }
    for number in range(5):
        put(api, f"{number}.jpg", picture(100 + number))
    api.call("POST", "/import", token)
    with killed_indexer(api) as other_jobs:
        assert len(originals(api)) == 2
        answer = api.call("DELETE", "/import", token)
        assert answer.json == {"code": 200, "message": "The import is stopping.", "stopped": True}
        assert not other_jobs.often()
        assert not other_jobs.waits()
    assert (len(originals(api)), parts(api)) == (2, [])


def test_a_killed_indexer_leaves_its_request_to_the_next(api, token):
    for number in range(5):
        put(api, f"{number}.jpg", picture(200 + number))
    api.call("POST", "/import", token, json={"move": True})
    with killed_indexer(api):
        pass
    api.library.clock.move(seconds=89)
    import_all(api)
    assert (waiting_requests(api), len(originals(api))) == ({"": (True, "")}, 2), "its lease has not ended"
    api.library.clock.move(seconds=1)
    import_all(api)
    assert (waiting_requests(api), left(api), len(originals(api))) == ({}, [], 5)


def test_an_import_exceeds_no_quota(api, token, caplog):
    put(api, "a.jpg", picture(7) + bytes(700_000))
    put(api, "b.jpg", picture(8) + bytes(700_000))
    with changed(api, upload_quota=1):
        api.call("POST", "/import", token, json={"move": True})
        import_all(api)
        assert "PHOTOSVC_UPLOAD_QUOTA" in caplog.text
        assert len(originals(api)) == 1
    client = api.client_token("files", role="admin")
    api.call("POST", "/import", client, json={"move": True})
    import_all(api)
    assert (left(api), len(originals(api))) == ([], 2)


def test_only_folders_of_the_folder_of_imports_are_accepted(api, token):
    put(api, "file.jpg", b"x")
    (api.library.instance / "import" / "link").symlink_to("/etc")
    for path, status in (
        ("..", 400), ("a/../../b", 400), ("%FF%2E%2E", 400), ("%FF%2Fetc", 400), ("a\0b", 400), ("none", 404),
        ("file.jpg", 404), ("link", 404), ("x" * 300, 404), ("x" * 2000, 400), ("a/" * 500, 404), ("//etc", 404),
        (7, 400), ([], 400),
    ):  # fmt: skip
        answer = api.call("POST", "/import", token, json={"path": path})
        assert answer.status_code == status, path
        error = check_error(answer, status)
        assert (error["details"][0]["field"], "instance" in error["error"]) == ("path", False), path
    for path, status in {
        "..%2f..": 400,
        "%2e%2e/%2e%2e": 400,
        "%00": 400,
        "%ff": 404,
        "a%0a": 404,
        "\\..\\..": 404,
    }.items():
        assert api.call("POST", f"/import/{path}", token).status_code == status, path
    for body in ([], {"move": "x"}, {"albums": "x"}, {"albums": [1]}, {"albums": [""]}):
        assert api.call("POST", "/import", token, json=body).status_code == 400, body
    assert waiting_requests(api) == {}


def test_a_folder_of_imports_that_is_missing_or_holds_the_originals_is_refused(api, token):
    os.rmdir(api.library.instance / "import")  # noqa: PTH106
    error = check_error(api.call("POST", "/import", token), 404)
    assert "PHOTOSVC_IMPORT_FOLDER" in error["error"]
    for folder in (api.library.originals, api.library.instance):
        with changed(api, import_folder=folder):
            check_error(api.call("POST", "/import", token), 400)
    with changed(api, readonly=True):
        check_error(api.call("POST", "/import", token), 403)


def test_an_album_that_is_none_is_named(api, token):
    check_error(api.call("POST", "/import", token, json={"albums": ["atb7yo0000000000"]}), 404)
    check_error(api.call("POST", "/import", api.app_password("ann", "files"), json={"albums": ["New"]}), 403)
    assert waiting_requests(api) == {}


def test_the_number_of_waiting_folders_is_limited(api, token, monkeypatch):
    monkeypatch.setattr("photosvc.api.index_runs.IMPORT", replace(IMPORT, most_waiting=3))
    statuses = []
    for folder in ("0", "1", "2", "3", "0"):
        (api.library.instance / "import" / folder).mkdir(exist_ok=True)
        statuses.append(api.call("POST", "/import", token, json={"path": folder}).status_code)
    assert statuses == [200, 200, 200, 429, 200]


def test_an_import_and_its_job_are_listed_while_it_waits_and_afterwards_with_failures(api, token):
    for name, data in {"a.jpg": picture(1), "a.xmp": b"<x:xmpmeta", "c.txt": b"words"}.items():
        put(api, f"camera/{name}", data)
    api.call("POST", "/import", token, json={"path": "camera"})
    at = "2026-03-01T12:00:00Z"
    waits = {
        "ID": 1, "Kind": "import", "State": "waiting", "Outcome": "", "Attempts": 0, "Message": "", "Counts": {},
        "CreatedAt": at, "NotBefore": at, "StartedAt": None, "EndedAt": None,
    }  # fmt: skip
    assert api.call("GET", "/jobs/1", token).json == waits
    waiting = [{"Path": "camera", "Move": False, "WishedAt": at}]
    assert api.call("GET", "/import/", token).json == {"waiting": waiting, "imports": []}
    import_all(api)
    counts = {"imported": 1, "duplicate": 0, "skipped": 1, "failed": 1}
    done = {"State": "done", "Outcome": "done", "Attempts": 1, "Counts": counts, "StartedAt": at, "EndedAt": at}
    assert api.call("GET", "/jobs/1", token).json == {**waits, **done}
    listed = api.call("GET", "/import", token).json
    (report,) = listed["imports"]
    assert listed["waiting"] == []
    failure = {"Name": "camera/a.xmp", "Code": "bad_sidecar", "Error": "the sidecar cannot be read"}
    ended = {
        "Path": "camera", "State": "done", "Message": "", "Imported": 1, "Skipped": 1, "Failed": 1,
        "Failures": [failure], "EndedAt": at,
    }  # fmt: skip
    assert {name: report[name] for name in ended} == ended
    (error,) = api.call("GET", "/errors", token).json
    assert (error["Source"], error["Level"], error["Message"]) == (
        "import", "error", "camera/a.xmp: the sidecar cannot be read",
    )  # fmt: skip
    assert api.call("GET", "/errors?q=A.JPEG", token).json == []
    assert len(api.call("GET", "/errors?q=CAMERA%2FA%00", token).json) == 1
    assert api.call("DELETE", "/errors", token).json["files"] == 1
    assert api.call("GET", "/errors", token).json == []


def test_an_account_sees_its_own_jobs(api, token):
    api.call("POST", "/import", token)
    with api.library.session() as session:
        bob = add_user(session, name="bob", role="user")
        session.get(Job, 1).user_id = bob.id
    assert api.call("GET", "/jobs/1", api.app_password("bob", "photos")).json["ID"] == 1
    check_error(api.call("GET", "/jobs/1", api.client_token("photos")), 404)
    for number in ("99", str(2**63), "x", "-1"):
        check_error(api.call("GET", f"/jobs/{number}", token), 404)


def test_an_import_that_failed_or_was_stopped_says_so(api, token, caplog):
    put(api, "a.jpg", picture(6))
    for body in ({}, {"move": True}):  # the later one replaces the earlier
        assert api.call("POST", "/import", token, json=body).status_code == 200
    assert waiting_requests(api) == {"": (True, "")}
    with changed(api, readonly=True):
        import_all(api)
    assert (waiting_requests(api), "read-only" in caplog.text) == ({}, True)
    for number in range(3):
        put(api, f"{number}.jpg", picture(300 + number))
    api.library.clock.move(minutes=1)
    api.call("POST", "/import", token, json={"move": True})
    with killed_indexer(api):
        states = [one["State"] for one in api.call("GET", "/import", token).json["imports"]]
        assert states == ["running", "failed"]
    api.call("DELETE", "/import", token)
    stopped, failed = api.call("GET", "/import", token).json["imports"]
    assert (stopped["State"], stopped["Imported"], failed["Message"]) == (
        "stopped", 2, "The originals of this service are read-only (PHOTOSVC_READONLY).",
    )  # fmt: skip


def test_a_limited_number_of_imports_and_failures_is_stored(api, token):
    for number in range(4):
        put(api, f"{number}.jpg", picture(number))
        put(api, f"{number}.xmp", b"<x:xmpmeta")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KINDS, "import", replace(IMPORT, most_ended=2))
        patch.setattr("photosvc.library.import_jobs.MOST_FAILURES", 3)
        for _ in range(4):
            api.library.clock.move(minutes=1)
            api.call("POST", "/import", token)
            import_all(api)
    reports = api.call("GET", "/import", token).json["imports"]
    assert [(one["StartedAt"][14:16], one["Failed"], len(one["Failures"])) for one in reports] == [
        ("04", 4, 3), ("03", 4, 3),
    ]  # fmt: skip


def test_failed_files_of_index_runs_are_listed_until_they_can_be_read(api, token):
    api.library.put("bad.jpg", picture(1)[:300])
    api.library.put("empty.jpg", b"")
    api.library.put("copy.jpg", picture(2))
    api.library.put("copy2.jpg", picture(2))
    api.library.index()
    listed = api.call("GET", "/errors?count=1", token)
    assert (len(listed.json), listed.headers["X-Count"], listed.headers["X-Limit"]) == (1, "1", "1")
    every = api.call("GET", "/errors", token).json
    assert {(one["Name"], one["Level"], one["Code"]) for one in every} == {
        ("bad.jpg", "error", "truncated"), ("empty.jpg", "warning", "empty"),
    }  # fmt: skip
    assert len({one["ID"] for one in every}) == 2
    api.library.put("bad.jpg", picture(3), age=60)
    api.library.index()
    assert [one["Name"] for one in api.call("GET", "/errors", token).json] == ["empty.jpg"]


def wished_runs(api):
    with api.library.session() as session:
        return {(one.folder, one.force) for one in requests.waiting(session)}


def test_a_requested_index_run_is_done_by_an_indexer(api, token):
    answer = api.call("POST", "/index", token, json={"path": "/2024/", "rescan": False, "cleanup": True})
    assert answer.json == {"code": 200, "message": "An indexer was started for it.", "indexer": "started"}
    api.call("POST", "/index", token, json={"path": "2024", "rescan": True})
    api.call("POST", "/index", token)
    assert wished_runs(api) == {("2024", True), ("", False)}
    for body in ({"path": "../x"}, {"path": "a\0"}, {"path": 7}, {"rescan": "x"}, {"path": "日" * 1024}, []):
        error = check_error(api.call("POST", "/index", token, json=body), 400)
        assert not body or error["details"][0]["field"] in body


def test_stopping_withdraws_large_requests_and_keeps_requests_for_folders(api, token):
    api.call("POST", "/index", token, json={"path": "2024"})
    assert api.call("DELETE", "/index", token).json["stopped"] is False
    api.call("POST", "/index", token, json={"rescan": True})
    answer = api.call("DELETE", "/index", token)
    assert answer.json == {"code": 200, "message": "The index run is stopping.", "stopped": True}
    assert wished_runs(api) == {("2024", False)}


def test_a_run_that_goes_on_stops_before_its_next_batch_and_the_next_run_continues(api, token):
    for number in range(40):
        api.library.put(f"{number}.jpg", encoded(clouds(number, 16, 12), "JPEG"))
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


def test_runs_are_listed_with_waiting_folders_and_the_current_run(api, token):
    api.library.put("1.jpg", encoded(clouds(1, 16, 12), "JPEG"))
    api.library.index()
    api.call("POST", "/index", token, json={"path": "2024", "rescan": True})
    listed = api.call("GET", "/index", token).json
    assert (listed["running"], listed["waiting"]) == (False, [{"Path": "2024", "Rescan": True}])
    (run,) = listed["runs"]
    now = f"{api.library.clock():%Y-%m-%dT%H:%M:%SZ}"
    assert run == {
        "ID": 1, "Path": "", "Rescan": False, "State": "done", "Message": "", "Total": 1, "Done": 1, "Indexed": 1,
        "Updated": 0, "Unchanged": 0, "Missing": 0, "Skipped": 0, "Failed": 0, "StartedAt": now, "EndedAt": now,
    }  # fmt: skip
