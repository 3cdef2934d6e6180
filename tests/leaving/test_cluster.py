"""GET /cluster, /cluster/nodes and /cluster/health, `svc cluster` and the page: machines, database, jobs, faults."""

import json
import signal
import time
from datetime import timedelta
from subprocess import DEVNULL, Popen

import pytest
from sqlalchemy import update

from photosvc import __version__
from photosvc.core.machine import host_name, machine_of
from photosvc.index.jobs import INDEX
from photosvc.index.lease import Lease
from photosvc.index.nodes import Heartbeat, Role
from photosvc.index.requested import wish
from photosvc.models import Node
from photosvc.models.engine import begin_write
from photosvc.web.current import current_service
from tests.helpers.browser import OWN, Browser, text_of
from tests.helpers.library import SVC, call_svc, open_library
from tests.helpers.pictures import jpeg
from tests.helpers.programs.forks import SURROUNDINGS
from tests.helpers.programs.server import serve


def beat(library, role, **changed):
    """Let this machine be seen in a role, with these values of its row changed afterwards."""
    with library.app.app_context():
        service = current_service()
        beats = Heartbeat(service.engine(), service.settings, service.clock, role, service.picture_cache)
        assert beats.beat()
    if changed:
        with library.session() as session:
            begin_write(session)
            session.execute(update(Node).where(Node.role == role.value).values(**changed))


def begin_job(library):
    """Begin an index run on this machine, and let another one wait."""
    with library.app.app_context():
        service = current_service()
        lease = Lease(service.engine(), service.clock, machine=machine_of(service.settings.cache))
        lease.begin(INDEX, "2024", {"force": False}, covers=lambda _: False)
        with service.writing() as session:
            wish(session, service.now(), "2025")
    return lease


@pytest.fixture(params=["sqlite", "postgresql"])
def any_library(request, tmp_path):
    """An empty library on each kind of database."""
    settings = {}
    if request.param == "postgresql":
        settings["PHOTOSVC_DATABASE_URI"] = request.getfixturevalue("new_postgres")()
    library = open_library(tmp_path / "instance", settings=settings)
    yield library
    library.close()


def test_the_cluster_tells_service_database_machines_and_jobs(any_library):
    beat(any_library, Role.WEB)
    lease = begin_job(any_library)
    found = any_library.call("GET", "/cluster", token=any_library.token("cluster"))
    backend = found["database"]["backend"]
    assert found["database"].pop("version")[0].isdigit()
    assert found == {
        "service": "photosvc",
        "version": __version__,
        "status": "ok" if backend == "sqlite" else "warning",  # the clock of tests stands still in the past
        "database": {"backend": backend, "role": {"sqlite": "embedded"}.get(backend, "primary"), "replica": None},
        "nodes": 1,
        "jobs": {"waiting": 1, "running": 1},
    }
    lease.end(None)
    assert any_library.call("GET", "/cluster")["jobs"] == {"waiting": 1, "running": 0}


def test_machines_are_listed_with_what_they_do(library):
    beat(library, Role.WATCH)
    beat(library, Role.WEB)
    lease = begin_job(library)
    watch, web = library.call("GET", "/cluster/nodes")
    assert watch == {
        "Node": machine_of(library.instance / "cache"),
        "Name": host_name(),
        "Role": "watch",
        "Version": __version__,
        "State": "active",
        "SeenAt": "2026-03-01T12:00:00Z",
        "ClockOffset": 0.0,
        "CacheBytes": 0,
        "CacheLimit": watch["CacheLimit"],
        "Jobs": [{"ID": lease.job_id, "Kind": "index"}],
        "Faults": [],
    }
    assert (web["Role"], web["Jobs"]) == ("web", [])
    lease.end(None)


def test_another_version_a_wrong_clock_and_silence_are_findings(library):
    beat(library, Role.WEB, version="0.0.9", clock_offset=-600_000, name="host7")
    beat(library, Role.WATCH, name="host8", seen_at=library.clock() - timedelta(minutes=2))
    found = library.call("GET", "/cluster/health")
    assert found["status"] == library.call("GET", "/cluster")["status"] == "warning"
    assert [(one["code"], one["name"]) for one in found["findings"]] == [
        ("other_version", "web on host7"),
        ("clock", "web on host7"),
        ("silent", "watch on host8"),
    ]
    assert found["findings"][1]["reason"] == "its clock differs from that of the database by 5 seconds or more"
    web, watch = library.call("GET", "/cluster/nodes")
    assert (web["ClockOffset"], watch["State"]) == (-600.0, "silent")
    assert [one["Code"] for one in web["Faults"]] == ["other_version", "clock"]


def test_a_cluster_without_findings_is_well(library):
    beat(library, Role.WEB)
    assert library.call("GET", "/cluster/health") == {"status": "ok", "findings": []}


def test_the_commands_tell_the_machines_and_fail_if_one_is_wrong(library):
    library.put("lake.jpg", jpeg(64, 48))
    library.index()
    beat(library, Role.WATCH, seen_at=library.clock() + timedelta(days=3650))  # commands have the clock of the system
    told = call_svc("cluster", "--json", instance=library.instance)
    assert told.returncode == 0
    assert [(one["role"], one["state"]) for one in json.loads(told.stdout)["nodes"]] == [("watch", "active")]
    assert call_svc("check", instance=library.instance).returncode == 0
    beat(library, Role.WEB, name="host7", version="0.0.9", seen_at=library.clock() + timedelta(days=3650))
    shown = call_svc("cluster", instance=library.instance)
    assert shown.returncode == 1
    assert "host7" in shown.stdout
    sentence = "other_version web on host7: it runs another version of photosvc than this machine\n"
    assert shown.stderr == sentence
    checked = call_svc("check", instance=library.instance)
    assert (checked.returncode, checked.stderr) == (1, sentence)
    record = json.loads(call_svc("check", "--json", instance=library.instance).stdout)
    assert (record["sound"], record["faults"], "replica" in record) == (False, {"other_version": 1}, False)


def test_the_page_shows_the_machines(api):
    ann = Browser(api)
    assert ann.sign_in("ann").status_code == 303
    empty = ann.open("/administration/machines", headers=OWN)
    assert "No machine has been seen yet." in text_of(empty)
    beat(api.library, Role.WEB, name="<b>host7", version="0.0.9", clock_offset=61_000)
    lease = begin_job(api.library)
    page = ann.open("/administration/machines", headers=OWN)
    assert page.status_code == 200
    assert "<b>host7" not in page.text
    shown = text_of(page)
    assert "Jobs: 1 running, 1 waiting." in shown
    assert "Version 0.0.9. Cache:" in shown
    assert "The clock is 61 s ahead." in shown
    assert "It runs another version of photosvc than this machine." in shown
    assert "SQLite 3." in shown
    lease.end(None)


@pytest.mark.slow
def test_servers_and_watchers_report_themselves_and_their_ends(library):
    library.close()

    def roles():
        told = json.loads(call_svc("cluster", "--json", instance=library.instance).stdout)
        return [one["role"] for one in told["nodes"]]

    def wait_for(expected):
        end = time.monotonic() + 300
        while (found := roles()) != expected:
            assert time.monotonic() < end, found
            time.sleep(0.2)

    with serve(library.instance, workers=2, options=["--worker-class", "photosvc.serving.Worker"]):
        wait_for(["web"])
        watcher = start_watch(library)
        wait_for(["watch", "web"])
        watcher.send_signal(signal.SIGTERM)
        assert watcher.wait(30) == 0
        wait_for(["web"])
    wait_for([])


def start_watch(library):
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance)}
    return Popen([SVC, "watch"], env=environ, stdout=DEVNULL, stderr=DEVNULL)
