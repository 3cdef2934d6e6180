"""The commands of docs/albums-and-edits.md and docs/uploads.md run as they are written, against a real server."""

import os
import re
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from tests.helpers.api_client import ApiClient, open_api
from tests.helpers.clock import until
from tests.helpers.library import SURROUNDINGS, SVC
from tests.helpers.pictures import exif, heic, jpeg
from tests.helpers.programs.server import serve
from tests.unit.media.video.videos import film

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = [pytest.mark.needs("curl")]


def blocks(guide, language):
    return re.findall(rf"^```{language}\n(.*?)\n```$", (DOCS / guide).read_text(), re.DOTALL | re.MULTILINE)


def commands(guide):
    return [line for block in blocks(guide, "sh") for line in block.splitlines()]


@pytest.fixture
def api(tmp_path):
    with open_api(tmp_path) as api:
        yield api


class Shell:
    """Runs commands of a guide, with what it presupposes in the environment."""

    def __init__(self, api: ApiClient, folder: Path, **given: str) -> None:
        settings = {"PHOTOSVC_INSTANCE": str(api.library.instance), "PHOTOSVC_WATCH_SETTLE": "0"}
        path = f"{SVC.parent}{os.pathsep}{os.environ['PATH']}"
        self.environ = {**SURROUNDINGS, **settings, "PATH": path, **given}
        self.folder = folder

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.environ, cwd=self.folder, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout


def test_the_commands_of_the_guide_to_albums_and_edits(api, tmp_path):
    library = api.library
    for number, name in enumerate(("lake", "hill")):
        library.put(f"{name}.jpg", jpeg(64 + number, 48, exif=exif({}, {0x9003: "2024:05:01 12:00:00"})))
    library.index()
    uids = {record["FileName"]: record["UID"] for record in library.find()}
    with serve(library.instance, workers=2) as url:
        shell = Shell(api, tmp_path, URL=url, TOKEN=api.app_password("alice", "*"))
        shell.environ |= {"PHOTO": uids["lake.jpg"], "OTHER": uids["hill.jpg"]}
        answers = []
        for command in commands("albums-and-edits.md"):
            answers.append(orjson.loads(shell.run("bash", "-c", command)))
            if isinstance(answers[-1], dict) and answers[-1].get("Title") == "Summer":
                shell.environ["ALBUM"] = answers[-1]["UID"]
    found, edited, liked, labelled, history, *rest = answers
    summer, added, arranged, in_album, boats, archived, restored, removed, trash, back = rest
    assert [record["UID"] for record in found] == [uids["lake.jpg"]]
    assert (edited["Title"], liked["photo"]["Favorite"]) == ("At the lake", True)
    assert labelled["Details"]["Keywords"] == "boat, lake, swimming"
    assert [change["Action"] for change in history] == ["photos.label", "photos.like", "photos.update"]
    assert (added["album"]["UID"], arranged["photos"][0]) == (summer["UID"], uids["hill.jpg"])
    assert [record["UID"] for record in in_album] == [uids["hill.jpg"], uids["lake.jpg"]]
    assert boats["PhotoCount"] == 1
    assert [done["photos"] for done in (archived, restored, removed)] == [1, 1, 1]
    assert [kept["PhotoUID"] for kept in trash] == back["photos"] == [uids["hill.jpg"]]


def test_the_commands_of_the_guide_to_uploads(api, tmp_path):
    card, folder = tmp_path / "card", api.library.instance / "import/phone"
    for path, data in (
        (tmp_path / "IMG_1.HEIC", heic(64, 48)),
        (card / "1.jpg", jpeg(70, 50)),
        (folder / "2.jpg", jpeg(71, 50)),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    film(tmp_path / "IMG_1.MOV")
    film(tmp_path / "VID_1.mp4", size=(96, 48)).rename(tmp_path / "VID_1.MP4")
    with serve(api.library.instance, workers=2, environ={"PHOTOSVC_WATCH_SETTLE": "0"}) as url:
        shell = Shell(api, tmp_path, URL=url, TOKEN=api.app_password("ann", "*"), ME=api.uids["ann"])
        upload, add, *card_commands, start, listed, runs = commands("uploads.md")
        sent, added = (orjson.loads(shell.run("bash", "-c", command)) for command in (upload, add))
        assert (sent["code"], added["message"], added["indexed"]) == (200, "2 files added", True)
        (script,) = blocks("uploads.md", "python")
        shell.run(sys.executable, "-c", script)
        for command in card_commands:
            assert command.startswith("svc import")
            shell.run("bash", "-c", command.replace("/media/card", str(card)))
        assert orjson.loads(shell.run("bash", "-c", start))["code"] == 200
        until(lambda: not orjson.loads(shell.run("bash", "-c", listed))["waiting"])
        report = orjson.loads(shell.run("bash", "-c", listed))
        assert [(one["Path"], one["State"], one["Imported"]) for one in report["imports"]] == [("phone", "done", 1)]
        assert {"running", "waiting", "runs"} <= orjson.loads(shell.run("bash", "-c", runs)).keys()
        names = {"IMG_1.HEIC", "IMG_1.MOV"}
        assert {file["name"] for file in added["files"]} == names
    assert not list(card.iterdir())
    assert not list(folder.parent.rglob("*.jpg"))
