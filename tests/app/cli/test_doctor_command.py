"""`svc doctor`: what is wrong with a library, and what to do."""

import json
import shutil
from types import SimpleNamespace

import pytest
from sqlalchemy import text

from photosvc import __version__
from photosvc.cli import doctor
from photosvc.core.problems import Reason
from photosvc.library import failures
from photosvc.models import RejectedFile
from tests.helpers.clock import NOW
from tests.helpers.library import DATABASE, call_svc
from tests.helpers.pictures import jpeg

NAMES = ["settings", "database", "schema", "key", "permissions", "originals", "disk", "clock", "proxy", "extras"]


@pytest.fixture
def filled(library):
    library.put("a.jpg", jpeg())
    library.index()
    library.find()  # by its first request, the database gets the key
    library.close()
    return library


def look(library, **environ):
    """The exit code, and finding and remedy of each check that found something wrong."""
    done = call_svc("doctor", "--json", instance=library.instance, environ=environ)
    rows = json.loads(done.stdout)
    assert done.stderr == ""
    assert {row["state"] for row in rows} <= {"ok", "wrong"}
    assert all(bool(row["todo"]) == (row["state"] == "wrong") and row["finding"] for row in rows)
    return done.returncode, {row["check"]: (row["finding"], row["todo"]) for row in rows if row["todo"]}


def test_a_sound_library_has_nothing_wrong(filled):
    assert look(filled) == (0, {})
    table = call_svc("doctor", instance=filled.instance)
    assert table.returncode == 0
    lines = [line.split()[:2] for line in table.stdout.splitlines() if line.strip()]
    assert lines[-len(NAMES) :] == [[name, "ok"] for name in NAMES]


def test_a_setting_that_stops_everything_is_a_finding(filled):
    code, wrong = look(filled, PHOTOSVC_PROXIES="x")
    assert (code, [*wrong]) == (1, ["settings"])
    assert wrong["settings"][0] == "PHOTOSVC_PROXIES (environment) is not valid"


def test_without_a_database_the_rest_is_looked_at_and_nothing_is_made(filled):
    (filled.instance / DATABASE).rename(filled.instance / "kept")
    code, wrong = look(filled)
    assert (code, [*wrong]) == (1, ["database", "schema"])
    assert "svc db upgrade" in wrong["database"][1]
    assert not (filled.instance / DATABASE).exists()
    (filled.instance / DATABASE).write_bytes(b"no database" * 500)
    code, wrong = look(filled)
    assert (code, "is damaged" in wrong["database"][0], "originals" in wrong) == (1, True, False)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ("UPDATE photosvc_schema SET version_num = '0000'", "The database is at schema 0000, this photosvc needs "),
        ("ALTER TABLE photosvc_albums ADD note TEXT", "1 difference from the tables of this version, such as "),
    ],
)
def test_tables_of_another_build_are_a_finding(filled, change, finding):
    with filled.session() as session:
        session.execute(text(change))
    filled.close()
    code, wrong = look(filled)
    assert (code, [*wrong]) == (1, ["schema"])
    assert wrong["schema"][0].startswith(finding)
    done = call_svc("db", "upgrade", instance=filled.instance)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "or begin anew: move the database away, or remove the library from it by `svc db drop`, then run" in done.stderr
    )


def test_another_key_missing_originals_and_open_files_are_findings(filled):
    (filled.instance / DATABASE).chmod(0o644)
    (filled.instance / "secret_key").write_text("x" * 64)
    shutil.rmtree(filled.originals)
    code, wrong = look(filled)
    assert (code, [*wrong]) == (1, ["key", "originals"])  # the app itself closes its files to others
    assert "svc keys rotate" in wrong["key"][1]
    assert wrong["originals"] == (f"There is no folder {filled.originals}", "mount its disk, or set PHOTOSVC_ORIGINALS")
    filled.originals.mkdir()
    assert look(filled)[1]["originals"][0] == f"{filled.originals} has none of the library's files"


def test_a_full_disk_a_late_clock_and_a_missing_decoder_are_findings(filled, monkeypatch):
    use = SimpleNamespace(total=1 << 40, free=900 << 20)
    monkeypatch.setattr(failures.shutil, "disk_usage", lambda _folder: use)
    monkeypatch.setattr(doctor, "has_extra", lambda name: name != "raw")
    with filled.session() as session:
        values = {"size": 1, "mtime_ns": 1, "created_at": NOW, "retry_at": None}
        session.add(RejectedFile(name="a.nef", reason=Reason.MISSING_EXTRA.value, detail="raw", **values))
        session.execute(text("UPDATE photosvc_library SET value = 4000000000 WHERE name = 'indexed_at'"))
    filled.close()
    code, wrong = look(filled)
    assert (code, [*wrong]) == (1, ["disk", "clock", "extras"])
    assert wrong["disk"][0] == "the disk of the instance has 900 MiB left"
    assert wrong["clock"][0].endswith(" and the library has an entry of 2096-10-02 07:06")
    assert wrong["extras"] == ("not shown: 1 file without raw", "pip install 'photosvc[raw]', then svc index")


def test_the_public_address_is_asked_for_its_version(filled, monkeypatch):
    code, wrong = look(filled, PHOTOSVC_PROXIES="1")
    assert (code, wrong["proxy"][0]) == (1, "PHOTOSVC_PROXIES is 1, and the public address is not set")
    code, wrong = look(filled, PHOTOSVC_BASE_URL="http://127.0.0.1:1")
    assert (code, wrong["proxy"][0]) == (1, "http://127.0.0.1:1 does not answer: [Errno 111] Connection refused")
    for version, said in (
        (__version__, None),
        ("0.0.9", f"http://h.test is served by photosvc 0.0.9, this is {__version__}"),
    ):
        body = json.dumps({"status": "alive", "version": version}).encode()
        answer = SimpleNamespace(read=lambda _most, body=body: body)
        monkeypatch.setattr(doctor, "build_opener", lambda *_, answer=answer: Opener(answer))
        assert look(filled, PHOTOSVC_BASE_URL="http://h.test")[1].get("proxy", (None,))[0] == said


class Opener:
    """Gives one answer to every request."""

    def __init__(self, answer):
        self.answer = answer

    def open(self, _address, timeout):
        return self

    def __enter__(self):
        return self.answer

    def __exit__(self, *_):
        pass
