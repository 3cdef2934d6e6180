"""`svc import photoprism --url`: people, labels, albums and all else from the API of a running PhotoPrism."""

import hashlib
import json
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from urllib.parse import parse_qs, urlsplit

import pytest

from photosvc.exchange import library_import
from tests.app.exchange.conftest import stopping_at
from tests.app.exchange.test_photoprism_import import counts, shown, titles, write
from tests.helpers.pictures import exif, jpeg

TOKEN = "abcdefabcdefabcdefabcdefabcdef"
ANN, BOB = "jsabc12000000001", "jsabc12000000002"
FACE = {"Type": "face", "SubjSrc": "manual", "Name": "Ann", "SubjUID": ANN, "X": 0.25, "Y": 0.25, "W": 0.5, "H": 0.5}


class PhotoPrism:
    """A server that answers as PhotoPrism does, and fails as often as it is told."""

    def __init__(self, photos, **lists):
        self.photos = {photo["UID"]: photo for photo in photos}
        self.lists = {"subjects": [], "labels": [], "albums": [], **lists}
        self.members = {}
        self.failures = {}
        self.answers = {}
        self.asked = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.asked.append(self.path)
                status, body, headers = server.answer(self.path, self.headers["X-Auth-Token"])
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # the client hangs up
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, path, token):
        number = len(self.asked)
        if number in self.failures:
            status, headers = self.failures[number]
            return status, b"", headers
        if token != TOKEN:
            return 401, b"{}", {}
        parts = urlsplit(path)
        name = parts.path.removeprefix("/api/v1/")
        if name in self.answers:
            return 200, self.answers[name], {}
        given = {key: values[0] for key, values in parse_qs(parts.query).items()}
        found = self.page(name, given) if "/" not in name else self.photos.get(name.removeprefix("photos/"))
        return (404, b"{}", {}) if found is None else (200, json.dumps(found).encode(), {})

    def page(self, name, given):
        if "s" in given:
            rows = [{"UID": uid} for uid in self.members.get(given["s"], ())]
        elif name == "photos":
            rows = [
                {"UID": uid} for uid, one in self.photos.items() if bool(one.get("DeletedAt")) == ("archived" in given)
            ]
        else:
            rows = self.lists[name]
        return rows[int(given["offset"]) :][: int(given["count"])]


def photo(number, content=b"", **values):
    digest = hashlib.sha1(content).hexdigest() if content else f"{number:040x}"
    file = {"Hash": digest, "Root": "/", "Name": f"x/{number}.jpg", "Primary": True, "Size": len(content)}
    file |= values.pop("File", {})
    return {"UID": f"psabc12{number:09}", "Files": [file], **values}


@pytest.fixture
def pictures(api):
    contents = {}
    for number, name in enumerate(("faces", "labels", "turned", "moved", "secret")):
        contents[name] = jpeg(64 + number, 48, exif=exif(camera={0x9003: "2020:05:06 07:08:09"}))
        api.library.put(f"{name}.jpg", contents[name])
    api.library.index()
    return contents


@pytest.fixture
def prism(pictures):
    faces = [
        FACE, {**FACE, "Name": "Bob", "SubjUID": BOB, "X": 0.8, "W": 0.4}, {**FACE, "SubjSrc": "", "Name": "Guess"},
        {**FACE, "Invalid": True, "Name": "Wrong"}, {**FACE, "X": 0.26, "SubjSrc": "marker"},
        {**FACE, "Name": "?!", "SubjUID": ""},
    ]  # fmt: skip
    labels = [
        {"LabelSrc": "manual", "Uncertainty": 0, "Label": {"Name": "Kuchen"}},
        {"LabelSrc": "image", "Uncertainty": 9, "Label": {"Name": "dog"}},
        {"LabelSrc": "manual", "Uncertainty": 100, "Label": {"Name": "removed"}},
    ]
    size, drawn = len(pictures["moved"]), {**FACE, "SubjSrc": "", "Src": "manual"}
    server = PhotoPrism(
        [
            photo(1, pictures["faces"], Title="Am See", TitleSrc="manual", File={"Markers": faces}),
            photo(2, pictures["labels"], Labels=labels, Details={"Keywords": "berg", "KeywordsSrc": "manual"}),
            photo(3, pictures["turned"], File={"Orientation": 6, "OrientationSrc": "manual", "Markers": [drawn]}),
            photo(4, Favorite=True, TakenAtLocal="2020-05-06T07:08:09Z", File={"Size": size, "Name": "a/MOVED.jpg"}),
            photo(5, pictures["secret"], Private=True, DeletedAt="2024-05-05T05:05:05Z"),
            photo(6, Title="elsewhere", TitleSrc="manual", File={"Name": "../../etc/passwd"}),
        ],
        subjects=[
            {"UID": ANN, "Name": "Ann", "Favorite": True, "About": "x"},
            {"UID": BOB, "Name": "Bob Jr", "Hidden": True},
            {"UID": "jsabc12000000003", "Name": "Nobody", "Favorite": True},
        ],
        labels=[{"UID": "lsabc12000000001", "Name": "Kuchen", "Favorite": True}, {"UID": "lsabc12000000002"}],
        albums=[
            {"UID": "asabc12000000001", "Type": "album", "Title": "Sommer", "Category": "Ferien",
             "Thumb": hashlib.sha1(pictures["labels"]).hexdigest(), "ThumbSrc": "manual"},
        ],
    )  # fmt: skip
    server.members = {"asabc12000000001": [f"psabc12{number:09}" for number in (2, 1, 6)]}
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture
def run(api, prism, tmp_path):
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")

    def run(*arguments, code=0):
        done = api.svc("import", "photoprism", "--url", prism.url, "--token-file", str(token), *arguments, "--json")
        assert code is None or done.returncode == code, done.stderr
        return json.loads(done.stdout) if code == 0 else done.stderr

    return run


def file_of(api, name):
    return api.library.call("GET", f"/photos/{shown(api, name)['UID']}")["Files"][0]


def areas(api, name):
    markers = file_of(api, name)["Markers"]
    return sorted((area["Name"], area["X"], area["Y"], area["W"], area["H"]) for area in markers)


def subjects(api):
    listed = [one for hidden in ("", "&hidden=yes") for one in api.library.call("GET", f"/subjects?count=9{hidden}")]
    return {one["Name"]: (one["Favorite"], one["Hidden"]) for one in listed}


def test_people_labels_marks_turns_and_albums_are_taken_once(api, run):
    dry = run("--dry-run")
    report = run()
    assert dry["values"] == report["values"]
    assert areas(api, "faces") == [("Ann", 0.25, 0.25, 0.5, 0.5), ("Bob Jr", 0.8, 0.25, 0.2, 0.5)]
    assert subjects(api) == {"Ann": (True, False), "Bob Jr": (False, True)}
    assert [one["Name"] for one in api.library.call("GET", "/labels?count=9&all=true") if one["Favorite"]] == ["Kuchen"]
    details = api.library.call("GET", f"/photos/{shown(api, 'labels')['UID']}")["Details"]
    assert details["Keywords"] == "Kuchen, berg"
    assert areas(api, "turned") == [("Ann", 0.25, 0.25, 0.5, 0.5)]
    assert file_of(api, "turned")["Orientation"] == 6
    assert shown(api, "moved")["Favorite"]
    assert titles(api) == ["Sommer"]
    assert counts(report, "people") == {"taken": 3, "equal": 1, "no_home": 1}
    assert counts(report, "orientation") == counts(report, "photo by name") == {"taken": 1}
    assert counts(report, "recognised people") == counts(report, "person about") == {"no_home": 1}
    assert counts(report, "person favorite") == {"taken": 1, "no_match": 1}
    assert counts(report, "album cover") == {"taken": 1}
    assert report["by_name"] == ["a/MOVED: found by name, size and time alone"]
    again = run()
    assert (again["run"], {name for row in again["values"] for name, value in row.items() if value}) == (
        None, {"value", "equal", "no_home", "no_match"},
    )  # fmt: skip


def test_undo_takes_back_areas_turns_labels_and_marks(api, run):
    before = {name: areas(api, name) for name in ("faces", "turned")}
    run()
    undone = json.loads(api.svc("import", "undo", "1", "--yes", "--json").stdout)
    assert undone == {
        "photos": 5, "changed_since": 0, "albums": 1, "kept_albums": 0, "album_photos": 0, "marks": 3,
    }  # fmt: skip
    assert {name: areas(api, name) for name in before} == before
    assert file_of(api, "turned")["Orientation"] == 1
    assert (subjects(api), titles(api)) == ({}, [])
    assert counts(run(), "photo")["taken"] == 5


def test_what_a_person_took_away_or_chose_here_stays(api, run):
    box = {"FileUID": file_of(api, "faces")["UID"], "Name": "Carla", "X": 0.2, "Y": 0.2, "W": 0.5, "H": 0.5}
    api.library.call("POST", "/markers", json=box)
    assert counts(run(), "people") == {"taken": 2, "kept": 2, "no_home": 1}
    assert [name for name, *_ in areas(api, "faces")] == ["Bob Jr", "Carla"]
    bob = next(marker for marker in file_of(api, "faces")["Markers"] if marker["Name"] == "Bob Jr")
    api.library.call("PUT", f"/markers/{bob['UID']}", json={"Invalid": True})
    for uid in [one["UID"] for one in api.library.call("GET", "/subjects?count=9")]:
        api.library.call("DELETE", f"/subjects/{uid}/like")
    api.library.call("DELETE", f"/photos/{shown(api, 'labels')['UID']}/label/{label(api, 'Kuchen')['ID']}")
    report = run()
    assert (report["run"], [name for name, *_ in areas(api, "faces")]) == (None, ["Carla"])
    assert counts(report, "person favorite") == {"kept": 1, "no_match": 1}
    assert counts(report, "keywords") == {"kept": 1}


def label(api, name):
    return next(one for one in api.library.call("GET", "/labels?count=9&all=true") if one["Name"] == name)


def test_a_thousand_photos_come_in_pages_although_the_server_fails_in_between(api, prism, run):
    prism.photos |= {one["UID"]: one for one in (photo(number) for number in range(10, 1004))}
    again = ((429, {"Retry-After": "7"}), (500, {}), (503, {"Retry-After": "x"}))
    prism.failures = dict(zip((2, 3, 9, 40, 41, 42, 500), again * 3, strict=False))
    report = run()
    assert counts(report, "photo") == {"taken": 5, "no_match": 995}
    assert sum("/photos/" in path for path in prism.asked) >= 1000
    assert titles(api) == ["Sommer"]


HOSTILE = {
    "long": b'["' + b"x" * (17 << 20) + b'"]',
    "deep": b"[" * 100_000,
    "no JSON": b"<html>",
    "no list": b"{}",
    "no records": b"[1, null, {}, [[[]]]]",
    "wrong UIDs": b'[{"UID": "../../etc"}, {"UID": 5}, {"UID": ""}]',
    "the same page": json.dumps([{"UID": "psabc12000000001"}]).encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_end_in_a_sentence_or_are_listed(prism, run, name):
    prism.answers["photos"] = HOSTILE[name]
    if name in ("no records", "wrong UIDs"):
        assert len(run()["unreadable"]) in (12, 16)
    elif name == "the same page":
        assert counts(run(), "photo") == {"taken": 1}
    else:
        error = run(code=1)
        assert error.startswith("Error: 127.0.0.1/api/v1/photos ")
        assert TOKEN not in error


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (b'{"UID": "psabc12000000001", "Files": 5}', "no record of a photo"),
        (b'{"UID": "psabc12000000002"}', "no record of a photo"),
        (b"{}", "no record of a photo"),
        (b'{"UID": "psabc12000000001", "Files": [{"Markers": [{"X": "nan"}]}]}', None),
    ],
)
def test_a_hostile_photo_is_listed_and_the_others_are_taken(prism, run, record, sentence):
    prism.answers["photos/psabc12000000001"] = record
    report = run()
    listed = {"name": "photo psabc12000000001", "reason": sentence}
    assert report["unreadable"] == ([listed] if sentence else [])
    assert counts(report, "photo")["taken"] == 4


def test_wrong_tokens_and_redirects_get_a_sentence(prism, run, tmp_path):
    prism.failures = {1: (302, {"Location": "http://127.0.0.1:1/"})}
    assert "that is a redirect: name the address to which it leads" in run(code=1)
    (tmp_path / "token").write_text("wrong")
    assert "answers 401: the key is not valid" in run(code=1)
    (tmp_path / "token").write_text("")
    assert "has no key in its first line" in run(code=2)


@pytest.mark.parametrize("failing", range(1, 21, 3))
def test_a_run_that_was_killed_is_completed_by_the_next(api, prism, run, monkeypatch, failing):
    monkeypatch.setattr(library_import, "PORTION", 2)
    with stopping_at(failing):
        run(code=None)
    run()
    assert run()["run"] is None
    assert areas(api, "faces") == [("Ann", 0.25, 0.25, 0.5, 0.5), ("Bob Jr", 0.8, 0.25, 0.2, 0.5)]
    assert subjects(api) == {"Ann": (True, False), "Bob Jr": (False, True)}


#: Table -> the columns of PhotoPrism's database, and the values of `PhotoPrism` for each.
COLUMNS = {
    "photos": "id photo_uid photo_title title_src photo_favorite photo_private deleted_at taken_at_local",
    "details": "photo_id keywords keywords_src",
    "files": "file_uid photo_uid file_hash file_root file_name file_primary file_size file_orientation "
    "file_orientation_src",
    "markers": "marker_uid file_uid marker_type marker_src marker_name subj_uid subj_src x y w h marker_invalid "
    "embeddings_json",
    "subjects": "subj_uid subj_name subj_favorite subj_hidden subj_about",
    "labels": "id label_uid label_name label_favorite",
    "photos_labels": "photo_id label_id label_src uncertainty",
    "albums": "album_uid album_type album_title album_category thumb thumb_src album_notes",
    "photos_albums": "photo_uid album_uid order hidden",
    "cells": "id",
}


def rows_of(prism):
    """Yield table and values of each row of a database with what a server has."""
    for number, one in enumerate(prism.photos.values(), 1):
        uid, details = one["UID"], one.get("Details", {})
        yield "photos", [
            number, uid, one.get("Title"), one.get("TitleSrc"), int(one.get("Favorite", False)),
            int(one.get("Private", False)), one.get("DeletedAt"), one.get("TakenAtLocal"),
        ]  # fmt: skip
        yield "details", [number, details.get("Keywords"), details.get("KeywordsSrc")]
        file = one["Files"][0]
        names = ("Hash", "Root", "Name", "Primary", "Size", "Orientation", "OrientationSrc")
        yield "files", [f"f{number}", uid, *(file.get(name) for name in names)]
        for area in file.get("Markers", ()):
            names = ("Type", "Src", "Name", "SubjUID", "SubjSrc", "X", "Y", "W", "H")
            values = [area.get(name) for name in names]
            yield "markers", ["m", f"f{number}", *values, int(area.get("Invalid", False)), "[0.5]" * 50_000]
        for label_id, label in enumerate(one.get("Labels", ()), 1):
            yield "labels", [label_id, f"lsabc1200000000{label_id}", label["Label"]["Name"], int(label_id == 1)]
            yield "photos_labels", [number, label_id, label["LabelSrc"], label["Uncertainty"]]
    for one in prism.lists["subjects"]:
        marks = (int(one.get("Favorite", False)), int(one.get("Hidden", False)))
        yield "subjects", [one["UID"], one["Name"], *marks, one.get("About")]
    for one in prism.lists["albums"]:
        notes = "it's; (a)\n-- 'b' /* c"
        yield "albums", [*(one[name] for name in ("UID", "Type", "Title", "Category", "Thumb", "ThumbSrc")), notes]
    for number, uid in enumerate(prism.members["asabc12000000001"]):
        yield "photos_albums", [uid, "asabc12000000001", number, 0]
    yield "photos_albums", [next(iter(prism.photos)).replace("1", "4"), "asabc12000000001", 9, 1]
    yield "cells", ["s2:1"]


def sqlite_dump(prism):
    database = sqlite3.connect(":memory:")
    for table, columns in COLUMNS.items():
        database.execute(
            f'CREATE TABLE "{table}" ({", ".join(f"`{name}`" for name in columns.split())}, CHECK (1 = 1))'
        )
    for table, values in rows_of(prism):
        database.execute(f'INSERT INTO "{table}" VALUES ({", ".join("?" * len(values))})', values)
    return "PRAGMA foreign_keys=OFF;\n" + "\n".join(database.iterdump())


def mysql_dump(prism):
    def quoted(value):
        if value is None or isinstance(value, int | float):
            return "NULL" if value is None else str(value)
        escaped = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
        return f"_binary '{escaped}'" if len(value) == 40 else f"'{escaped}'"

    yield "-- MariaDB dump 10.19\n/*!40101 SET NAMES utf8mb4 */;\n"
    for table, columns in COLUMNS.items():
        names = ",\n".join(f"  `{name}` varbinary(42) DEFAULT 'a,)b'" for name in columns.split())
        yield f"DROP TABLE IF EXISTS `{table}`;\n"
        yield f"CREATE TABLE `{table}` (\n{names},\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB;\n"
    for table, rows in groupby(rows_of(prism), key=lambda row: row[0]):
        values = ",".join(f"({','.join(map(quoted, row))})" for _, row in rows)
        yield f"LOCK TABLES `{table}` WRITE;\nINSERT INTO `{table}` VALUES {values};\nUNLOCK TABLES;\n"


@pytest.mark.parametrize("dump", [sqlite_dump, mysql_dump])
def test_a_dump_of_the_database_says_as_much_as_the_api(api, prism, run, tmp_path, dump):
    file = tmp_path / "2026-01-01.sql"
    file.write_text("".join(dump(prism)))
    report = json.loads(api.svc("import", "photoprism", "--dump", str(file), "--json").stdout)
    assert (counts(report, "photo"), report["unreadable"]) == ({"taken": 5, "no_match": 1}, [])
    assert counts(report, "album photo") == {"taken": 2, "no_match": 1}
    album = api.library.call("GET", "/albums?count=1")[0]
    assert (album["Category"], album["Notes"]) == ("Ferien", "it's; (a)\n-- 'b' /* c")
    again = run()
    assert (again["run"], counts(again, "people")) == (None, {"equal": 4, "no_home": 1})


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "has no photos of PhotoPrism"),
        (b"\xff\x00\xfe" * 1000, "has no photos"),
        (b"PRAGMA x; CREATE TABLE photos (id, photo_uid); INSERT INTO photos VALUES (1,'psa", "is cut off"),
        (b"PRAGMA x; INSERT INTO photos VALUES (1);", "is no SQL dump"),
        (b"PRAGMA x; CREATE TABLE photos (id); INSERT INTO photos VALUES (1, 2);", "is no SQL dump"),
        (b"/*" + b"x" * (20 << 20), "is no SQL dump"),
        (b"INSERT INTO photos (a) VALUES (" + b"(" * 100_000, "is cut off"),
        (b"CREATE TABLE photos (id);" + b"INSERT INTO cells VALUES (1);" * 1000, "has no photos"),
    ],
)
def test_hostile_dumps_get_a_sentence(api, tmp_path, content, sentence):
    (tmp_path / "dump.sql").write_bytes(content)
    done = api.svc("import", "photoprism", "--dump", str(tmp_path / "dump.sql"))
    assert (done.returncode, sentence in done.stderr, done.stderr.count("\n")) == (2, True, 1)


def test_records_of_a_folder_add_what_a_server_lacks(api, prism, run, tmp_path):
    write(tmp_path / "storage/sidecar/moved.yml", {"UID": "psabc12000000099", "Title": "Mine", "TitleSrc": "manual"})
    write(tmp_path / "storage/sidecar/faces.yml", {"UID": "psabc12000000001", "Title": "Old", "TitleSrc": "manual"})
    del prism.photos["psabc12000000004"]
    report = run(str(tmp_path / "storage"))
    assert counts(report, "title") == {"taken": 2, "no_match": 1}
    assert (shown(api, "moved")["Title"], shown(api, "faces")["Title"]) == ("Mine", "Am See")
