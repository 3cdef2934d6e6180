"""Albums of uploaded files wait for the index: whatever happens before, the photos get there or a report says why."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from photosvc.cli.index import other_jobs_of
from photosvc.jobs.lease import Lease
from photosvc.library import album_jobs
from photosvc.models import Job
from photosvc.web.indexer import Indexer
from photosvc.web.service import current_service
from tests.app.dav.dav_client import DavClient
from tests.app.index.indexing_requests import index_at_once
from tests.app.uploads.upload_client import originals, picture, post, put
from tests.helpers.pictures import xmp


@pytest.fixture
def api(own, monkeypatch):
    for module in ("web.uploads", "dav.blueprint"):
        monkeypatch.setattr(f"photosvc.{module}.wake_indexer", lambda _: Indexer.NONE)
    return own


@pytest.fixture
def token(api):
    return api.app_password("alice", "*")


def send(api, token, *files, albums=("Trip",)):
    """Upload files that no index run has seen yet; return their names."""
    assert post(api, token, "trip", *files).status_code == 200
    assert put(api, token, "trip", albums=list(albums)).json["indexed"] is False
    return [name for name in originals(api) if not name.endswith(".xmp")]


def index(api):
    with api.library.app.app_context():
        index_at_once(current_service())


def step(api):
    with api.library.app.app_context():
        return other_jobs_of(current_service()).often()


def in_album(api, token, title="Trip"):
    return len(api.call("GET", f"/photos?album={title}", token).json)


def jobs_of_albums(api):
    with api.library.session() as session:
        found = session.execute(select(Job.state, Job.report).where(Job.kind == "albums").order_by(Job.id))
        return [(state, report) for state, report in found]


def test_a_run_that_is_killed_loses_no_album(api, token):
    send(api, token, ("a.jpg", picture(1)), ("b.jpg", picture(2)))

    def killed(*arguments):
        add_photos(*arguments)
        raise SystemExit

    add_photos = album_jobs.add_photos
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(album_jobs, "add_photos", killed)
        patch.setattr(Lease, "end", lambda lease, _: lease._ended.set())  # a dead process gives nothing back
        with pytest.raises(SystemExit):
            index(api)
    assert (in_album(api, token), jobs_of_albums(api)) == (0, [("running", {})])
    assert not step(api)  # its lease has not ended
    api.library.clock.move(seconds=90)
    step(api)
    assert (in_album(api, token), jobs_of_albums(api)) == (2, [("done", {"added": 2, "lost": 0})])


def test_files_that_are_renamed_or_come_back_from_the_trash_before_they_are_indexed_get_to_their_album(
    api, token, caplog
):
    dav, admin = DavClient(api), api.app_password("ann", "*")
    renamed, trashed = send(api, token, ("a.jpg", picture(1)), ("b.jpg", picture(2)))
    moved = {"Destination": "/originals/renamed.jpg"}
    assert dav.call("MOVE", f"/{renamed}", headers=moved).status_code == 201
    assert dav.call("DELETE", f"/{trashed}").status_code == 204
    index(api)
    assert (in_album(api, token), [state for state, _ in jobs_of_albums(api)]) == (1, ["waiting"])
    assert api.call("POST", "/trash/restore", admin, json={"all": True}).json["files"] == [trashed]
    index(api)
    assert (in_album(api, token), jobs_of_albums(api)) == (2, [("done", {"added": 2, "lost": 0})])
    assert "albums:" not in caplog.text


def test_a_refused_file_a_deleted_one_and_a_deleted_album_end_their_jobs_with_a_report(api, token):
    dav = DavClient(api)
    refused, deleted, _ = send(api, token, *((f"{number}.jpg", picture(number)) for number in range(3)))
    (api.library.originals / refused).write_bytes(b"no picture")
    assert dav.call("DELETE", f"/{deleted}").status_code == 204
    index(api)
    assert (in_album(api, token), jobs_of_albums(api)) == (1, [("waiting", {"added": 1, "lost": 1})])
    api.library.clock.move(seconds=timedelta(days=3).total_seconds())
    step(api)
    message = album_jobs.NotInAlbumsError().message
    failed = [("failed", {"added": 1, "lost": 2, "message": message})]
    assert (in_album(api, token), jobs_of_albums(api)) == (1, failed)

    album = api.call("POST", "/albums", token, json={"Title": "Gone"}).json["UID"]
    send(api, token, ("4.jpg", picture(4)), albums=[album])
    assert api.call("DELETE", f"/albums/{album}", token).status_code == 200
    index(api)
    assert jobs_of_albums(api) == [*failed, ("failed", {"added": 0, "lost": 1, "message": message})]


def test_the_files_of_one_request_share_jobs_of_limited_size_without_sidecars(api, token, monkeypatch):
    monkeypatch.setattr(album_jobs, "MOST_FILES", 2)
    pictures = [(f"{number}.jpg", picture(number)) for number in range(3)]
    send(api, token, *pictures, ("0.jpg.xmp", xmp()))
    with api.library.session() as session:
        jobs = session.scalars(select(Job.arguments).where(Job.kind == "albums").order_by(Job.id)).all()
    assert [len(one["files"]) for one in jobs] == [2, 1]
    index(api)
    while step(api):
        pass
    assert in_album(api, token) == 3
    assert [state for state, _ in jobs_of_albums(api)] == ["done", "done"]


def test_files_that_wait_for_an_index_run_do_not_keep_an_indexer_alive(api, token):
    send(api, token, ("a.jpg", picture(1)))
    with api.library.app.app_context():
        other_jobs = other_jobs_of(current_service())
        assert (other_jobs.often(), other_jobs.waits(), other_jobs.is_asked()) == (False, False, False)
        assert api.library.index()
        assert (other_jobs.waits(), other_jobs.is_asked()) == (True, True)
        other_jobs.often()
        assert (other_jobs.waits(), other_jobs.is_asked()) == (False, False)
    assert in_album(api, token) == 1
