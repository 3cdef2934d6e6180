"""Figures for Prometheus: of the library, its upkeep, disks and processes."""

import sqlite3
from datetime import timedelta
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from werkzeug.exceptions import TooManyRequests

from photosvc.cli import svc
from photosvc.core.errors import NotFoundError
from photosvc.jobs import queue
from photosvc.models import Album, Photo
from photosvc.models.engine import begin_write
from photosvc.search.rows.write import project
from photosvc.web.admission_gate import NotAdmittedError
from photosvc.web.protector import principal
from photosvc.web.refusals import Refusals
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.pictures import jpeg


def samples(text):
    """Value by name and sorted labels."""
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(library):
    answer = library.get(path="/api/v1/metrics", token=library.token("metrics"))
    assert answer.status_code == 200
    return samples(answer.text)


def test_metrics_count_photos_by_type_and_files_that_are_gone_or_broken(library):
    library.put("one.jpg", jpeg())
    gone = library.put("gone.jpg", jpeg(80, 48))
    library.put("broken.jpg", jpeg(90, 48)[:400])
    library.index()
    gone.unlink()
    library.index()
    answer = library.get(path="/api/v1/metrics", token=library.token("metrics"))
    assert answer.status_code == 200
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    found = samples(answer.text)
    assert found["photosvc_photos", ("type", "image")] == 1
    assert found["photosvc_files",] == 1
    assert found["photosvc_files_missing",] == 1
    assert found["photosvc_files_broken",] == 1
    assert "# TYPE photosvc_photos gauge" in answer.text.splitlines()


def test_private_photos_and_albums_are_counted_for_principals_who_may_see_them(library):
    library.put("one.jpg", jpeg())
    library.put("two.jpg", jpeg(80, 48))
    library.index()
    with library.session() as session:
        begin_write(session)
        photo = session.scalars(select(Photo)).first()
        photo.private = True
        project(session, [photo.id])
        session.add(Album(uid="a" + "2" * 15, title="x", private=True, created_at=NOW, updated_at=NOW))
        session.commit()

    def counts(role):
        found = samples(library.get(path="/api/v1/metrics", token=library.token("metrics", role=role)).text)
        return [found["photosvc_photos", ("type", "image")], found["photosvc_files",], found["photosvc_albums",]]

    assert counts("admin") == [2, 2, 1]
    assert counts("") == [1, 1, 0]


def test_a_token_for_photos_reads_no_metrics(library):
    assert library.get(path="/api/v1/metrics", token=library.token("photos")).status_code == 403


def test_upkeep_is_shown_once_it_has_happened(library):
    never = {name for name, *_ in scrape(library)}
    times = {f"photosvc_{name}_timestamp_seconds" for name in ("index_run", "index_whole_run", "backup")}
    assert never & times == set()
    library.put("one.jpg", jpeg())
    library.put("broken.jpg", jpeg(90, 48)[:400])
    library.index()
    library.clock.move(seconds=100)
    done = library.app.test_cli_runner().invoke(
        svc, ["backup", str(library.instance / "x.zip")], obj=lambda: library.app
    )
    assert done.exit_code == 0, done.output
    found = scrape(library)
    assert found["photosvc_index_run_timestamp_seconds",] == NOW.timestamp()
    assert found["photosvc_index_whole_run_timestamp_seconds",] == NOW.timestamp()
    assert found["photosvc_backup_timestamp_seconds",] == NOW.timestamp() + 100
    assert found["photosvc_index_failures",] == 1


def test_a_backup_of_a_database_that_others_write_to_is_made_without_its_time(library):
    with sqlite3.connect(library.instance / "photosvc.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        done = library.app.test_cli_runner().invoke(
            svc, ["backup", str(library.instance / "x.zip")], obj=lambda: library.app
        )
        other.execute("ROLLBACK")
    other.close()
    assert done.exit_code == 0, done.output
    assert ("photosvc_backup_timestamp_seconds",) not in scrape(library)


def test_disks_cache_trash_and_processes_are_measured(library):
    library.put("one.jpg", jpeg())
    library.index()
    (uid,) = (record["UID"] for record in library.find())
    library.call("DELETE", f"/photos/{uid}", token=library.token(role="admin"))
    found = scrape(library)
    assert found["photosvc_trash_files",] == 1
    assert found["photosvc_trash_bytes",] == len(jpeg())
    assert found["photosvc_cache_limit_bytes",] == 20480 << 20
    for folder in ("originals", "cache", "instance"):
        size = found["photosvc_disk_size_bytes", ("folder", folder)]
        assert 0 < found["photosvc_disk_free_bytes", ("folder", folder)] <= size
    assert found["photosvc_processes",] >= 1
    assert found["photosvc_process_memory_bytes",] > 10 << 20
    assert found["photosvc_process_open_files",] > 3


def test_the_oldest_job_and_the_last_look_of_the_watcher_are_shown(library):
    assert scrape(library)["photosvc_job_age_seconds",] == 0
    with library.session() as session:
        begin_write(session)
        for subject, seconds in (("late", 500), ("a", 0), ("b", -60)):
            queue.add(session, queue.INDEX, subject, NOW, {"force": False}, not_before=NOW + timedelta(seconds=seconds))
    library.clock.move(seconds=90)
    found = scrape(library)
    assert found["photosvc_job_age_seconds",] == 90
    assert ("photosvc_watch_timestamp_seconds",) not in found


def refused(library, status, limit):
    return scrape(library)["photosvc_refused_requests_total", ("limit", limit), ("status", str(status))]


def test_refusals_are_counted_by_status_and_limit(library):
    before = refused(library, 429, "requests"), refused(library, 503, "writes"), refused(library, 429, "failures")
    with library.app.test_request_context("/api/v1/photos", headers={"X-Auth-Token": library.token()}):
        owner, gate = principal().owner_uid, current_service().gate
    held = [gate.enter(owner) for _ in range(8)]
    library.clock.step = 0.5  # a request waits for a second
    assert library.get().status_code == 429
    library.clock.step = 0
    for free in held:
        free()
    assert before == (refused(library, 429, "requests") - 1, refused(library, 503, "writes"), before[2])


def test_processes_of_a_server_count_together_and_an_unknown_limit_is_another_one():
    counts = Refusals()
    for row in (0, 1, 65):
        counts.use_row(row)
        counts.count(503, NotAdmittedError())
        counts.count(429, TooManyRequests())  # of an extension of a host
        counts.count(404, NotFoundError())
    counts.count(503, OperationalError("", None, Exception()))
    assert {(status, limit, number) for status, limit, number in counts.totals() if number} == {
        (429, "other", 3),
        (503, "other", 3),
        (503, "database", 1),
    }


def test_while_the_database_is_away_the_process_says_so_to_anybody_and_no_more(library):
    assert scrape(library)["photosvc_database_up",] == 1
    library.close()
    database = library.instance / "photosvc.db"
    database.rename(library.instance / "kept")
    database.mkdir()
    assert library.app.test_client().get("/api/v1/metrics").status_code == 401
    answer = library.app.test_client().get("/api/v1/metrics", headers={"X-Auth-Token": "0" * 48})
    found = samples(answer.text)
    assert (answer.status_code, found["photosvc_database_up",]) == (200, 0)
    names = {name for name, *_ in found}
    assert names <= {"photosvc_database_up", "photosvc_database_connections", "photosvc_refused_requests_total"}


def test_the_guide_names_every_metric(library):
    guide = (Path(__file__).parents[3] / "docs/oauth.md").read_text()
    text = library.get(path="/api/v1/metrics", token=library.token("metrics")).text
    families = {(family.name, family.type) for family in text_string_to_metric_families(text)}
    assert len(families) == 26
    for name, kind in families:
        (row,) = [line for line in guide.splitlines() if line.startswith("|") and f"`{name}" in line]
        assert row.split(" | ")[1] == kind
