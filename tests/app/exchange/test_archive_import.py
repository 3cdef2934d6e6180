"""`svc import archive`: what `svc export archive` wrote, brought into another library."""

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing, suppress

import pytest

from photosvc.exchange.archive_export import MANIFEST
from tests.app.exchange.conftest import stopping_at
from tests.helpers.api_client import open_api
from tests.helpers.library import DATABASE
from tests.helpers.pictures import jpeg


def export(api, folder, *arguments):
    done = api.svc("export", "archive", str(folder), *arguments)
    assert done.returncode == 0, (done.stdout, done.stderr)


def bring(api, folder, *arguments, code=0):
    done = api.svc("import", "archive", str(folder), *arguments, "--json")
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


def outcomes(report, outcome="taken"):
    return {row["value"]: row[outcome] for row in report["values"] if row[outcome]}


def content(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def state(api):
    """All rows of the database, and the originals."""
    with closing(sqlite3.connect(api.library.instance / DATABASE)) as connection:
        return {*connection.iterdump()}, content(api.library.originals)


@pytest.fixture
def archive(every_value, tmp_path):
    export(every_value, tmp_path / "archive")
    return tmp_path / "archive"


@pytest.fixture
def fresh(tmp_path):
    with open_api(tmp_path / "fresh") as api:
        api.svc("status")  # the first command makes a key
        yield api


def test_an_archive_gives_a_fresh_library_all_values_and_the_same_archive(archive, fresh, tmp_path):
    report = bring(fresh, archive)
    assert (report["unreadable"], report["unmatched"]) == ([], [])
    assert outcomes(report)["photo"] == len((archive / "photos.jsonl").read_text().splitlines())
    export(fresh, tmp_path / "again")
    for name in ("photos.jsonl", "history.jsonl", "albums.json", "people.json", "labels.json", "trash.json"):
        assert (tmp_path / "again" / name).read_text().splitlines() == (archive / name).read_text().splitlines(), name
    assert content(tmp_path / "again") == content(archive)
    assert outcomes(bring(fresh, archive)) == {}
    by_name = {record["FileName"]: record for record in fresh.library.find(count=100)}
    stacked = fresh.library.call("GET", f"/photos/{by_name['exposure.jpg']['UID']}")["Files"]
    former = next(file["UID"] for file in stacked if file["Name"] == "camera.jpg")
    fresh.library.call("POST", f"/photos/{by_name['exposure.jpg']['UID']}/files/{former}/unstack")
    [camera] = fresh.library.find(q="name:camera")
    assert (camera["CameraModel"], camera["UID"] in (archive / "photos.jsonl").read_text()) == ("Box", True)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    """An archive of one photo, an album and a change."""
    folder = tmp_path_factory.mktemp("small")
    with open_api(folder) as api:
        api.library.put("a/one.jpg", jpeg())
        api.library.index()
        [record] = api.library.find()
        api.library.call("PUT", f"/photos/{record['UID']}", json={"Title": "Eins"})
        album = api.library.call("POST", "/albums", json={"Title": "Trip"})["UID"]
        api.library.call("POST", f"/albums/{album}/photos", json={"photos": [record["UID"]]})
        export(api, folder / "archive")
    return folder / "archive"


@pytest.fixture
def small(made_once, tmp_path):
    return shutil.copytree(made_once, tmp_path / "small")


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("unchanged")) as api:
        api.svc("status")
        yield api


def sign(folder):
    """Write the manifest of a folder as an attacker would."""
    lines = [f"{digest}  {name}\n" for name, digest in sorted(content(folder).items()) if name != MANIFEST]
    (folder / MANIFEST).write_text("".join(lines))


def edited(name, **values):
    """Change fields of the first record of a list of lines."""

    def change(folder):
        first, *rest = (folder / name).read_text().splitlines()
        record = json.loads(first)
        for path, value in values.items():
            *outer, last = path.split("__")
            place = record
            for key in outer:
                place = place[int(key)] if key.isdigit() else place[key]
            place[last] = value
        (folder / name).write_text("\n".join([json.dumps(record), *rest, ""]))

    return change


def written(name, text):
    return lambda folder: (folder / name).write_text(text)


def linked(folder):
    shutil.move(folder / "photos.jsonl", folder / "else")
    (folder / "photos.jsonl").symlink_to(folder / "else")


def repeated(folder):
    (folder / "photos.jsonl").write_text((folder / "photos.jsonl").read_text() * 2)


def shared(folder):
    line = (folder / "photos.jsonl").read_text()
    record = json.loads(line)
    other = record["UID"][:-1] + ("0" if record["UID"][-1] != "0" else "1")
    (folder / "photos.jsonl").write_text(line + line.replace(record["UID"], other))


REFUSED = {
    "a newer format": (written("FORMAT.txt", "photosvc archive, version 2\n"), "a newer one may read", True),
    "another folder": (lambda folder: (folder / "FORMAT.txt").unlink(), "is no archive of photosvc", False),
    "unfinished": (lambda folder: (folder / MANIFEST).unlink(), "unfinished: export it again", False),
    "changed records": (edited("photos.jsonl", Title="else"), "photos.jsonl: it is damaged", False),
    "a missing list": (lambda folder: (folder / "albums.json").unlink(), "albums.json: manifest", True),
    "a link": (linked, "photos.jsonl: it is missing, or a link leads to it", False),
    "a cut line": (written("photos.jsonl", '{"UID": "p'), "photos.jsonl, line 1: Input data was truncated", True),
    "bad UTF-8": (lambda folder: (folder / "history.jsonl").write_bytes(b'{"Action": "\xff"}'), "history.jsonl", True),
    "no object": (written("history.jsonl", "[]\n"), "history.jsonl, line 1: Expected `object`", True),
    "a deep list": (written("albums.json", "[" * 100_000), "albums.json:", True),
    "a long line": (written("photos.jsonl", "x" * (9 << 20)), "line 1: it has more than 8 MiB", True),
    "a long name in the manifest": (written(MANIFEST, "x" * 20_000), "a line has more than 16384 bytes", False),
    "a way out": (edited("photos.jsonl", Files__0__Name="../../x.jpg"), "is no name of a file", True),
    "an absolute name": (edited("photos.jsonl", Files__0__Name="/etc/x.jpg"), "is no name of a file", True),
    "an escaped way out": (edited("photos.jsonl", Files__0__Name="%FF%2E%2E/x.jpg"), "is no name of a file", True),
    "a hidden name": (edited("photos.jsonl", Files__0__Name=".photosvc/x.jpg"), "is no name of a file", True),
    "a NUL": (edited("photos.jsonl", Title="a\0b"), "at `$.Title`", True),
    "a number for a text": (edited("photos.jsonl", Title=5), "Expected `str`, got `int` - at `$.Title`", True),
    "an unknown source": (edited("photos.jsonl", TitleSrc="root"), "at `$.TitleSrc`", True),
    "a huge number": (edited("photos.jsonl", Rating=1 << 70), "at `$.Rating`", True),
    "a zone": (edited("photos.jsonl", TimeZone="../etc"), "its time zone is unknown", True),
    "one UID twice": (repeated, "two photos have it as UID", True),
    "a value that nobody changes": (edited("history.jsonl", Before__UserID=1), "unknown field `UserID`", True),
    "one file twice": (shared, "another photo has the file 'a/one.jpg', too", True),
    "an undone future": (edited("history.jsonl", Undoes=1), "which is no earlier one", True),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_archive_that_is_damaged_or_hostile_is_refused_in_one_sentence_and_changes_nothing(small, unchanged, case):
    damage, sentence, signs = REFUSED[case]
    damage(small)
    if signs:
        sign(small)
    before = state(unchanged)
    done = unchanged.svc("import", "archive", str(small))
    assert (done.returncode in {2, 3}, done.stdout, done.stderr.count("\n")) == (True, "", 1), done.stderr
    assert (sentence in done.stderr, len(done.stderr) < 600) == (True, True), done.stderr
    after = state(unchanged)
    assert (after[0] ^ before[0], after[1]) == (set(), before[1])


def swapped(folder):
    data = (folder / "originals/a/one.jpg").read_bytes()
    (folder / "originals/a/one.jpg").write_bytes(data[:-1] + b"x")


def outside(folder):
    (folder / "originals/a/one.jpg").unlink()
    (folder / "originals/a/one.jpg").symlink_to("/etc/passwd")


def html(folder):
    data = b"<html>" * 9
    (folder / "originals/a/one.jpg").write_bytes(data)
    edited("photos.jsonl", Files__0__SHA1=hashlib.sha1(data).hexdigest(), Files__0__Size=len(data))(folder)
    sign(folder)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (swapped, "it is damaged: its content is another one"),
        (outside, "it is missing, or a link leads to it"),
        (html, "its content is not a picture or video"),
    ],
)
def test_a_damaged_original_is_named_and_all_else_is_imported(small, fresh, damage, reason):
    damage(small)
    report = bring(fresh, small, code=1)
    assert report["unreadable"] == [{"name": "originals/a/one.jpg", "reason": reason}]
    assert list(content(fresh.library.originals)) == []
    assert (outcomes(report)["photo"], outcomes(report)["album"]) == (1, 1)


def test_an_original_never_replaces_another_file(small, fresh):
    mine = fresh.library.put("a/one.jpg", jpeg(70))
    fresh.library.index()
    bring(fresh, small)
    assert mine.read_bytes() == jpeg(70)
    titles = {record["FileName"]: record["Title"] for record in fresh.library.find()}
    assert (len(titles), titles["a/one_" + hashlib.sha1(jpeg()).hexdigest()[:8].upper() + ".jpg"]) == (2, "Eins")


def test_a_dry_run_counts_and_writes_nothing(archive, fresh):
    before = state(fresh)
    report = bring(fresh, archive, "--dry-run")
    assert outcomes(report)["photo"] == len((archive / "photos.jsonl").read_text().splitlines())
    assert {"file", "file in the trash", "album", "album photo", "person", "history"} <= outcomes(report).keys()
    after = state(fresh)
    assert (after[0] ^ before[0], after[1]) == (set(), before[1])


def test_a_run_that_was_killed_is_completed_by_the_next(archive, fresh, tmp_path, monkeypatch):
    for number in range(1, 21):
        with suppress(KeyboardInterrupt), stopping_at(number):
            fresh.svc("import", "archive", str(archive))
    bring(fresh, archive)
    export(fresh, tmp_path / "again")
    assert content(tmp_path / "again") == content(archive)


def test_photos_that_are_here_take_over_what_people_entered_and_keep_what_they_set_here(archive, fresh, every_value):
    shutil.copytree(every_value.library.originals, fresh.library.originals, dirs_exist_ok=True)
    shutil.rmtree(fresh.library.originals / ".photosvc")
    (fresh.library.originals / "times.jpg").unlink()
    (fresh.library.originals / "times.jpg").write_bytes(jpeg(333))
    fresh.library.index()
    uids = {record["FileName"]: record["UID"] for record in fresh.library.find(count=100)}
    fresh.library.call("PUT", f"/photos/{uids['texts.jpg']}", json={"Title": "mine"})
    own = fresh.library.call("POST", "/albums", json={"Title": "TRIP"})["UID"]
    report = bring(fresh, archive)
    shown = {record["FileName"]: record for record in fresh.library.find(count=100)}
    assert shown["texts.jpg"]["Title"] == "mine"
    assert shown["texts.jpg"]["Description"] == "Zwei\nZeilen <&> \U0001f600"
    known = {name: record["UID"] for name, record in shown.items() if name in uids}
    assert (known.items() <= uids.items(), uids.keys() - known) == (True, {"archived.jpg", "flags.jpg"})
    assert outcomes(report, "kept")["title"] == 1
    copied = next(record for name, record in shown.items() if name.startswith("times_"))
    assert (copied["TimeZone"], shown["times.jpg"]["TimeZone"]) == ("America/New_York", "")
    members = fresh.library.find(s=own, count=10)
    assert {record["Title"] for record in members} >= {"mine"}
    assert outcomes(bring(fresh, archive)) == {}
