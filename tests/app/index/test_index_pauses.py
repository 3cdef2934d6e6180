"""Small jobs during a large index run: what was uploaded is found before the run ends."""

import pytest

from photosvc.cli.index import other_jobs_of
from photosvc.index import run as module
from photosvc.index.requests import enqueue, waiting
from photosvc.models import Job
from photosvc.web.indexer import Indexer
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import InlinePool
from tests.helpers.library import open_library
from tests.helpers.pictures import jpeg, showing


@pytest.fixture
def inline_library(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WorkerPool", InlinePool)
    for name in ("_BATCH_SECONDS", "_PAUSE_SECONDS"):
        monkeypatch.setattr(module, name, 0)
    library = open_library(tmp_path)
    yield library
    library.close()


def ask(library, folder):
    with library.session() as session:
        enqueue(session, library.clock(), folder)


def run(library, at):
    """Index everything; after so many files each of these is called."""
    with library.app.app_context():
        service = current_service()
        with module.UnitOfWork(service.engine()) as session:
            return module.run_index(
                session,
                service.settings,
                library.clock,
                module.IndexOptions(),
                lambda done, _: at[done]() if done in at else None,
                small_jobs=other_jobs_of(service).in_pauses,
            )


def test_the_folder_of_an_upload_is_indexed_in_a_pause_of_a_run_over_everything(inline_library):
    for number in range(8):
        inline_library.put(f"old/{number:02}.jpg", jpeg(20 + number, 16))
    inline_library.put("gone/1.jpg", jpeg(500, 16))
    inline_library.index(subfolder="gone")
    (inline_library.originals / "gone/1.jpg").unlink()
    seen = {}

    def upload():
        inline_library.put("new/1.jpg", jpeg(400, 16))
        inline_library.put("gone/1.jpg", jpeg(500, 16))
        ask(inline_library, "new")
        ask(inline_library, "gone")

    def look():
        seen["found"] = inline_library.names(path="new|gone")
        seen["all"] = len(inline_library.names(count=99))
        with inline_library.session() as session:
            seen["jobs"] = session.query(Job.subject, Job.state).order_by(Job.id).all()

    summary = run(inline_library, {2: upload, 6: look})
    assert seen["found"] == ["gone/1.jpg", "new/1.jpg"]
    assert 2 < seen["all"] < 8
    assert seen["jobs"][1:] == [("", "running")]
    # What had gone when the run began is back.
    assert (summary.indexed, summary.missing) == (8, 0)
    assert len(inline_library.names(count=99)) == 10
    with inline_library.session() as session:
        assert list(waiting(session)) == []


def test_a_label_of_many_photos_is_renamed_in_the_pauses_of_a_run_over_everything(inline_library, monkeypatch):
    monkeypatch.setattr("photosvc.library.renames.MOST_AT_ONCE", 1)
    monkeypatch.setattr("photosvc.web.job_answers.wake_indexer", lambda _: Indexer.RUNNING)
    for number in range(3):
        inline_library.put(f"lakes/{number}.jpg", jpeg(400 + number, 16, xmp=showing(keywords=["lake"])))
    inline_library.index()
    for number in range(8):
        inline_library.put(f"new/{number:02}.jpg", jpeg(20 + number, 16))
    client, headers, seen = inline_library.app.test_client(), {"X-Auth-Token": inline_library.token(role="user")}, {}

    def ask_for(method, path, **body):
        return client.open(f"/api/v1{path}", method=method, headers=headers, **body)

    def labels():
        return [(one["Name"], one["PhotoCount"], one["UID"]) for one in ask_for("GET", "/labels").json]

    (_, _, lake), = labels()  # fmt: skip

    def rename():
        answer = ask_for("PUT", f"/labels/{lake}", json={"Name": "Water"})
        assert answer.status_code == 202, answer.text
        seen["job"] = answer.json["job"]

    def look():
        job = ask_for("GET", f"/jobs/{seen['job']}").json
        seen["done"] = job["State"], job["Counts"], [label[:2] for label in labels()]
        with inline_library.session() as session:
            seen["run"] = session.query(Job.state).filter(Job.kind == "index").order_by(Job.id.desc()).first()[0]

    assert run(inline_library, {2: rename, 6: look}).indexed == 8
    assert seen["done"] == ("done", {"photos": 3, "percent": 100}, [("Water", 3)])
    assert seen["run"] == "running"


def test_a_folder_with_much_to_read_waits_for_the_rest_and_its_newest_file_comes_first(inline_library, monkeypatch):
    monkeypatch.setattr(module, "_SMALL_SECONDS", 0)
    for number in range(8):
        inline_library.put(f"a/{number:02}.jpg", jpeg(20 + number, 16))
    for number in range(8):
        inline_library.put(f"z/{number:02}.jpg", jpeg(100 + number, 16))
    seen = []

    def upload():
        inline_library.put("z/99 new.jpg", jpeg(400, 16))
        ask(inline_library, "z")

    def look():
        seen.extend(name for name in inline_library.names(count=99) if name.startswith("z/"))
        with inline_library.session() as session:
            assert [one.folder for one in waiting(session)] == ["z"]

    run(inline_library, {2: upload, 6: look})
    assert "z/99 new.jpg" in seen
    assert len(seen) < 8
    inline_library.clock.move(minutes=1)
    inline_library.index()
    assert len(inline_library.names(count=999)) == 17
    with inline_library.session() as session:
        assert list(waiting(session)) == []
