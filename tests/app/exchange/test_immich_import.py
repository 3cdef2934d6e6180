"""`svc import immich`: what people entered in Immich, and its originals, from the API of a server."""

import json
import os
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread

import pytest

from photosvc.exchange import immich_api, import_runs, library_import
from photosvc.library.staging import Part
from photosvc.library.storage_errors import StorageFullError
from tests.app.exchange.conftest import stopping_at
from tests.helpers.library import hashes
from tests.helpers.pictures import exif, jpeg

TAKEN = exif(camera={0x9003: "2020:05:06 07:08:09"})
FACE = {
    "imageWidth": 200,
    "imageHeight": 100,
    "boundingBoxX1": 20,
    "boundingBoxY1": 10,
    "boundingBoxX2": 60,
    "boundingBoxY2": 50,
}
#: Photo -> what Immich says beside the names of its file; each has another kind of value.
ASSETS = {
    "text": {"exifInfo": {"description": "Zwei\nZeilen"}},
    "stars": {"exifInfo": {"rating": 4}, "isFavorite": True},
    "gone": {"exifInfo": {"rating": -1}, "visibility": "archive"},
    "zone": {
        "localDateTime": "2019-07-02T10:30:00.123Z",
        "exifInfo": {"dateTimeOriginal": "2019-07-02T08:30:00.123Z", "timeZone": "Europe/Zurich"},
    },
    "offset": {
        "localDateTime": "2019-07-02T10:30:00.000Z",
        "exifInfo": {"dateTimeOriginal": "2019-07-02T08:30:00.000Z", "timeZone": "UTC+2"},
    },
    "undated": {
        "localDateTime": "2024-07-02T10:30:00.000Z", "fileModifiedAt": "2024-07-02T10:30:00.400Z",
        "exifInfo": {"dateTimeOriginal": "2024-07-02T10:30:00.400+00:00", "timeZone": "UTC"},
    },
    "place": {"exifInfo": {"latitude": 46.9471, "longitude": 7.4442}},
    "tags": {"tags": [{"id": "t1", "value": "Orte/Bern"}, {"id": "t2", "value": "See"}]},
    "people": {
        "people": [
            {"id": "p1", "name": "Ann", "faces": [FACE]}, {"id": "p2", "name": "Ben"}, {"id": "p3", "name": ""},
        ],
    },
    "first": {}, "second": {"exifInfo": {"rating": 2}}, "plain": {},
}  # fmt: skip
KEY = "readkey123"


def picture(number):
    return jpeg(64 + number, 48, exif=TAKEN)


def asset(number, name, said):
    content = picture(number)
    return {
        "id": f"a{number}", "type": "IMAGE", "checksum": b64encode(sha1(content).digest()).decode(),
        "originalFileName": f"{name}.jpg", "originalPath": f"/data/library/admin/2020/{name}.jpg",
        "localDateTime": "2020-05-06T07:08:09.000Z", "fileModifiedAt": "2021-01-01T00:00:00.000Z", "isFavorite": False,
        "visibility": "timeline", "livePhotoVideoId": None, "libraryId": None, "people": [], "tags": [], **said,
        "exifInfo": {
            "dateTimeOriginal": "2020-05-06T05:08:09.000Z", "fileSizeInByte": len(content), **said.get("exifInfo", {}),
        },
    }  # fmt: skip


@dataclass
class Immich:
    """A server that answers like Immich."""

    assets: dict[str, dict] = field(default_factory=dict)
    """By name; `bytes` has another content than the picture of its number."""
    albums: list[dict] = field(default_factory=list)
    people: list[dict] = field(default_factory=list)
    stacks: list[dict] = field(default_factory=list)
    answers: dict[str, object] = field(default_factory=dict)
    """Path -> a status, or the bytes of another answer."""
    contents: dict[str, bytes] = field(default_factory=dict)
    faults: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """Statuses and headers of the next answers."""
    asked: list[str] = field(default_factory=list)
    address: str = ""
    connections: int = 0

    def answer(self, path, query, body):
        """The JSON or bytes of an answer."""
        if path == "/search/metadata":
            chosen = [one for one in self.assets.values() if one["visibility"] == body["visibility"]]
            begin, size = (body["page"] - 1) * body["size"], body["size"]
            following = str(body["page"] + 1) if begin + size < len(chosen) else None
            return {"assets": {"items": chosen[begin : begin + size], "nextPage": following}}
        by_id = {one["id"]: one for one in self.assets.values()}
        if path == "/faces":
            return [
                {**FACE, "id": "f", "person": None},
                {**FACE, "boundingBoxX2": 40, "person": {"id": "p2", "name": "Ben"}},
            ]
        if path.startswith("/assets/"):
            one = path.split("/")[2]
            return self.contents[one] if path.endswith("/original") else by_id[one]
        if path == "/people":
            return {"people": self.people, "hasNextPage": False}
        lists = {"/albums": self.albums, "/tags": [{"id": "t1", "value": "Orte/Bern"}], "/stacks": self.stacks}
        if path == "/albums" and "shared" in query:
            return self.albums[:1]
        if path in lists:
            return lists[path]
        return next(album for album in self.albums if path == f"/albums/{album['id']}")


@pytest.fixture
def immich():
    state = Immich({name: asset(number, name, said) for number, (name, said) in enumerate(ASSETS.items())})
    state.contents = {one["id"]: picture(number) for number, one in enumerate(state.assets.values())}
    ids = {name: {"id": one["id"]} for name, one in state.assets.items()}
    state.stacks = [{"id": "s1", "primaryAssetId": ids["second"]["id"], "assets": [ids["first"], ids["second"]]}]
    state.people = [{"id": "p1", "name": "Ann", "isFavorite": True}, {"id": "p2", "name": "Ben"}]
    state.albums = [
        {
            "id": "l1", "albumName": "Sommer", "description": "Am See", "order": "asc",
            "albumThumbnailAssetId": ids["place"]["id"],
            "assets": [ids["zone"], ids["place"], ids["first"], {"id": "x"}],
        },
        {"id": "l2", "albumName": "Leer", "description": "", "order": "desc", "assets": []},
    ]  # fmt: skip

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")
            path, _, query = self.path.removeprefix("/api").partition("?")
            state.asked.append(path)
            status, headers = state.faults.pop(0) if state.faults else (200, {})
            status = 401 if self.headers["x-api-key"] != KEY else status
            given = state.answers.get(path)
            if isinstance(given, int):
                status = given
            content = b"<html>" if status != 200 else given
            if content is None:
                content = state.answer(path, query, body)
            if not isinstance(content, bytes):
                content = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 - its name in the library

        def setup(self):
            state.connections += 1
            super().setup()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.handle_error = True, lambda *_: None  # clients may go away
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def key(tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    return file


@pytest.fixture
def run(api, immich, key):
    def run(*arguments, code=0):
        done = api.svc("import", "immich", immich.address, "--key-file", str(key), *arguments, "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout) if not code else done.stderr

    return run


@pytest.fixture
def indexed(api):
    for number, name in enumerate(ASSETS):
        api.library.put(f"{name}.jpg", picture(number))
    api.library.index()
    return api


def records(api):
    return {record["FileName"][:-4]: record for record in api.library.find(count=100, merged=True)}


def counts(report, name):
    row = next((row for row in report["values"] if row["value"] == name), {})
    return {key: value for key, value in row.items() if value and key != "value"}


def comparable(found):
    """Records without their times of change, by file."""
    ignored = {"UpdatedAt", "EditedAt", "CheckedAt", "Quality"}
    return {record["FileUID"]: {name: record[name] for name in sorted(record.keys() - ignored)} for record in found}


def test_what_people_entered_in_immich_is_here(indexed, immich, run):
    report = run()
    assert indexed.clock.pauses == []
    assert immich.connections == 1
    found = records(indexed)
    assert found["text"]["Description"] == "Zwei\nZeilen"
    assert found["stars"]["Favorite"]
    assert indexed.library.call("GET", f"/photos/{found['stars']['UID']}")["Rating"] == 4
    zone, offset = found["zone"], found["offset"]
    assert (zone["TakenAt"], zone["TimeZone"]) == ("2019-07-02T08:30:00Z", "Europe/Zurich")
    assert (offset["TakenAt"], offset["TimeZone"]) == ("2019-07-02T08:30:00Z", "Etc/GMT-2")
    assert found["undated"]["TakenAtLocal"] == "2020-05-06T07:08:09Z"
    assert (found["place"]["Lat"], found["place"]["Country"]) == (46.9471, "ch")
    assert [
        record["FileName"]
        for record in indexed.library.find(archived="true", token=indexed.library.token(role="admin"))
    ] == ["gone.jpg"]
    words = indexed.library.call("GET", f"/photos/{found['tags']['UID']}")["Details"]["Keywords"]
    assert words == "Bern, Orte, Orte/Bern, See"
    people = indexed.library.call("GET", f"/photos/{found['people']['UID']}")
    areas = {marker["Name"]: (marker["X"], marker["W"]) for file in people["Files"] for marker in file["Markers"]}
    assert areas == {"Ann": (0.1, 0.2), "Ben": (0.1, 0.1)}
    album = next(one for one in indexed.library.call("GET", "/albums?count=9") if one["Title"] == "Sommer")
    assert (album["Description"], album["PhotoCount"], album["Order"]) == ("Am See", 3, "oldest")
    assert counts(report, "album photo") == {"taken": 3, "no_match": 1}
    assert "first" not in found
    assert len(found["second"]["Files"]) == 2
    assert counts(report, "stack") == {"taken": 1}


def test_a_second_run_changes_nothing_and_undo_everything_back(indexed, run, monkeypatch):
    monkeypatch.setattr(import_runs, "_PORTION", 1)
    before = indexed.library.find(count=100)
    assert counts(run("--dry-run"), "stack") == {"taken": 1}
    assert indexed.library.find(count=100) == before
    run()
    again = run()
    assert again["run"] is None
    assert not [row for row in again["values"] if row["taken"]]
    assert counts(again, "stack") == {"equal": 1}
    undone = json.loads(indexed.svc("import", "undo", "1", "--yes", "--json").stdout)
    assert undone["changed_since"] == 0
    indexed.library.index(force=True)
    after = comparable(indexed.library.find(count=100))
    for uid, record in comparable(before).items():
        assert {name: (value, after[uid][name]) for name, value in record.items() if after[uid][name] != value} == {}


def test_missing_originals_are_downloaded_once_and_nothing_is_overwritten(api, immich, run):
    for number, name in list(enumerate(ASSETS))[:3]:
        api.library.put(f"{name}.jpg", picture(number))
    api.library.index()
    before = hashes(api.library.originals)
    object.__setattr__(api.library.app.extensions["photosvc"].settings, "max_file_size", 1)
    immich.contents["a5"], small = bytes(2 << 20), immich.contents["a5"]
    immich.assets["zone"]["originalFileName"] = "..\\../../evil\x1b[2J/..jpg"
    report = run("--download", "--dry-run")
    assert counts(report, "original") == {"equal": 3, "taken": 9}
    assert hashes(api.library.originals) == before
    immich.contents["a4"], whole = immich.contents["a4"][:-9], immich.contents["a4"]
    report = run("--download")
    assert counts(report, "original") == {"equal": 3, "taken": 7}
    assert [record["name"] for record in report["unreadable"]] == ["offset.jpg", "undated.jpg"]
    immich.contents |= {"a4": whole, "a5": small}
    assert counts(run("--download"), "original") == {"equal": 10, "taken": 2}
    asked = immich.asked.count("/assets/a5/original")
    again = run("--download")
    assert (again["run"], counts(again, "original"), immich.asked.count("/assets/a5/original")) == (
        None,
        {"equal": 12},
        asked,
    )
    after = hashes(api.library.originals)
    assert before.items() <= after.items()
    assert len(after) == 12
    assert not any(b".." in name or b"\x1b" in name for name in map(os.fsencode, after))


def test_live_videos_come_with_their_pictures_and_external_files_by_name(api, immich, run):
    video, still = immich.assets["text"], immich.assets["stars"]
    video |= {"visibility": "hidden"}
    immich.contents[video["id"]] = content = picture(40)
    video["checksum"] = b64encode(sha1(content).digest()).decode()
    still["livePhotoVideoId"] = video["id"]
    outside = immich.assets["plain"]
    outside |= {
        "libraryId": "lib",
        "checksum": b64encode(b"x" * 20).decode(),
        "originalPath": "/mnt/photos/x/plain.jpg",
    }
    assert counts(run("--download"), "original") == {"taken": 12}
    asked = len([path for path in immich.asked if path.endswith("/original")])
    assert counts(run("--download"), "original") == {"equal": 11}
    assert len([path for path in immich.asked if path.endswith("/original")]) == asked


def test_external_libraries_are_found_by_mapped_paths(indexed, immich, run):
    immich.assets["text"] |= {"libraryId": "lib", "originalPath": "/mnt/photos/text.jpg", "originalFileName": "IMG.jpg"}
    assert counts(run("--dry-run"), "description") == {"no_match": 1}
    assert counts(run("--map", "/mnt/photos="), "description") == {"taken": 1}


@pytest.mark.parametrize("failing", range(1, 21))
def test_a_run_that_was_killed_is_completed_by_the_next(indexed, immich, run, key, monkeypatch, failing):
    monkeypatch.setattr(library_import, "PORTION", 2)
    monkeypatch.setattr(immich_api, "PAGE", 5)
    with stopping_at(failing):
        indexed.svc("import", "immich", immich.address, "--key-file", str(key))
    run()
    again = run()
    assert not [row for row in again["values"] if row["taken"]]
    found = records(indexed)
    assert [found[name]["Description"] for name in ("text",)] == ["Zwei\nZeilen"]
    assert len(found["second"]["Files"]) == 2
    albums = {one["Title"]: one["PhotoCount"] for one in indexed.library.call("GET", "/albums?count=9")}
    assert albums == {"Leer": 0, "Sommer": 3}


def test_a_server_that_is_busy_now_and_then_is_asked_again(indexed, immich, run):
    date = "Mon, 01 Jan 2035 00:00:00 GMT"
    immich.faults = [(429, {"Retry-After": "7"}), (500, {}), (503, {"Retry-After": date})]
    run()
    assert indexed.clock.pauses[:3] == [7.0, 2.0, 60.0]
    immich.faults = [(502, {})] * 6
    assert "answers 502, 6 times: try again later" in run(code=1)


REFUSED = {
    "/tags": "tags: not taken, as without the permission tag.read",
    "/stacks": "stacks: not taken, as without the permission stack.read",
    "/people": "people: not taken, as without the permission person.read",
    "/albums": "albums: not taken, as without the permission album.read",
}


def test_a_key_without_permissions_is_a_sentence_for_each(indexed, immich, run, key):
    immich.answers = dict.fromkeys(REFUSED, 403)
    done = indexed.svc("import", "immich", immich.address, "--key-file", str(key))
    assert done.returncode == 0
    for sentence in REFUSED.values():
        assert sentence in done.stderr
    immich.answers = {"/search/metadata": 403}
    assert "answers 403: the key has no permission for it" in run(code=1)
    immich.answers = {}
    key.write_text("another\n")
    assert "answers 401: the key is not valid" in run(code=1)
    for content, sentence in (("", "has no key in its first line"), ("a b\n", "has no key in its first line")):
        key.write_text(content)
        assert sentence in run(code=2)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/search/metadata", b"<html>"), ("/search/metadata", b"[" * 100_000), ("/search/metadata", b"{}"),
        ("/search/metadata", b'{"assets":{"items":7}}'), ("/tags", b'{"a":1}'), ("/search/metadata", b"\xff"),
        ("/search/metadata", b" " * (17 << 20)), ("/stacks", b"NaN"), ("/albums", b'"x"'), ("/search/metadata", 302),
    ],
)  # fmt: skip
def test_an_answer_that_is_not_that_of_immich_is_a_sentence(indexed, immich, run, path, content):
    immich.answers = {path: content}
    error = run(code=1)
    assert error.startswith("Error: 127.0.0.1/api")
    assert error.count("\n") == 1


def test_hostile_records_are_listed_and_harm_nothing(indexed, immich, run):
    hostile = [
        {"id": "../../etc"}, {"id": 7}, {"id": "a\n"}, "text", None, [], {"id": "h1", "people": [{"id": {}}]},
        {"id": "h2", "exifInfo": {"rating": "5"}}, {"id": "h3", "livePhotoVideoId": "../x"},
    ]  # fmt: skip
    strange = {
        "exifInfo": {
            "description": "\x00\ud800\x1b" + "x" * 100_000, "rating": 1e300, "latitude": 1e308, "longitude": 5,
            "dateTimeOriginal": "x", "timeZone": "../../etc/passwd", "fileSizeInByte": (1 << 64) - 1,
        },
        "localDateTime": "9999-99-99", "tags": [{"value": "/" * 9999}], "checksum": "x" * 99, "originalPath": "../../x",
    }  # fmt: skip
    values = list(immich.assets.values())
    values[0] |= strange
    vast = {"id": "h4", "tags": [], "originalFileName": "a.jpg", "localDateTime": "2020-01-01T00:00:00Z"}
    hostile.append(vast | {"exifInfo": {"fileSizeInByte": (1 << 64) - 1}})
    items = [*hostile, *values]
    immich.answer, answer = (
        (
            lambda path, query, body: (
                {"assets": {"items": items, "nextPage": "1"}}
                if path == "/search/metadata"
                else answer(path, query, body)
            )
        ),
        immich.answer,
    )
    immich.albums += [{"id": "../x", "albumName": "A"}, {"id": "l9", "albumName": ""}, 5]
    immich.stacks += [{"id": "s2"}, {"primaryAssetId": "a1", "assets": [{"id": 3}]}]
    immich.stacks.append({"primaryAssetId": "a1", "assets": [{"id": "a1"}, {"id": "a2\0"}]})
    report = run()
    assert counts(report, "photo") == {"taken": 8, "equal": 3, "no_match": 2}
    assert counts(run("--download", "--dry-run"), "original")["taken"] == 2
    assert {record["name"] for record in report["unreadable"]} == {"a photo", "a stack", "an album", "A", ""} - {
        "",
        "A",
    }


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("ftp://x", "is no address of a server"), ("http://", "is no address of a server"),
        ("http://u:p@x", "is no address of a server"), ("http://x:99999", "is no address of a server"),
        ("http://x\n", "is no address of a server"), ("x", "is no address of a server"),
    ],
)  # fmt: skip
def test_a_wrong_address_is_a_sentence(api, key, url, sentence):
    done = api.svc("import", "immich", url, "--key-file", str(key))
    assert done.returncode == 2
    assert sentence in done.stderr


def test_a_server_that_never_answered_is_given_up_soon(api, key):
    done = api.svc("import", "immich", "http://127.0.0.1:9", "--key-file", str(key))
    assert done.stderr == "Error: 127.0.0.1 refuses connections, 2 times: try again later\n"
    assert api.clock.pauses == []


@pytest.mark.parametrize("written", [0, 3])
def test_a_full_disk_is_a_sentence_and_the_next_run_goes_on(api, immich, run, monkeypatch, written):
    numbers, write = count(), Part.write

    def full(self, data):
        if next(numbers) >= written:
            raise StorageFullError
        write(self, data)

    with monkeypatch.context() as patch:
        patch.setattr(Part, "write", full)
        assert run("--download", code=1).endswith("Error: There is no space left for the file.\n")
    assert hashes(api.library.originals) == {}
    assert counts(run("--download"), "original") == {"taken": 12}
