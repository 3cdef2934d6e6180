"""`svc import photoprism`, stacks by hand, and their undo on both databases."""

import json

import yaml
from click.testing import CliRunner

from photosvc.cli import svc
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library


def test_stacks_and_their_undo_on_both_databases(tmp_path, new_database):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    with library.session() as session:
        add_photos(session, 3, library.clock())
    headers, uids = {"X-Auth-Token": library.token(role="admin")}, sorted({one["UID"] for one in library.find(count=9)})

    def send(path, **body):
        answer = library.app.test_client().post(f"/api/v1/batch/photos/{path}", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json

    done = send("stack", photos=uids)
    assert [one["UID"] for one in library.find(merged=True)] == uids[:1]
    assert send("undo", photos=uids[:1], change=done["change"])["photos"] == 1
    assert sorted({one["UID"] for one in library.find(count=9)}) == uids
    library.close()


def test_an_import_and_its_undo_on_both_databases(tmp_path, new_database):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    with library.session() as session:
        add_photos(session, 3, library.clock())
    stored = {record["FileName"]: record["Title"] for record in library.find(count=9)}
    records = {f"sidecar/{name.rpartition('.')[0]}": {"Title": "Lake", "TitleSrc": "manual"} for name in stored}
    members = [{"UID": f"ps{number}"} for number, _ in enumerate(records)]
    albums = {"albums/a": {"UID": "as1", "Type": "album", "Title": "Lake", "Photos": members}}
    for number, (name, record) in enumerate((records | albums).items()):
        path = tmp_path / f"storage/{name}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump({"UID": f"ps{number}", **record}))

    def call(*arguments):
        done = CliRunner().invoke(svc, ["import", *arguments, "--json"], obj=lambda: library.app)
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    dry, first, second = (
        call("photoprism", str(tmp_path / "storage"), *more) for more in (["--dry-run"], [], ["--prefer", "theirs"])
    )
    assert (dry["values"], dry["run"], first["run"], second["run"]) == (first["values"], None, 1, None)
    assert {record["Title"] for record in library.find(count=9)} == {"Lake"}
    undone = call("undo", "1", "--yes")
    assert (undone["photos"], undone["albums"]) == (len(records), 1)
    assert {record["FileName"]: record["Title"] for record in library.find(count=9)} == stored
    library.close()
