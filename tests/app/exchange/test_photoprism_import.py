"""`svc import photoprism`: what people entered in PhotoPrism, from the YAML files of its storage folder."""

import json
import os
import re

import pytest
import yaml
from sqlalchemy import delete

from photosvc.exchange import library_import
from photosvc.models import Album
from tests.app.exchange.conftest import stopping_at
from tests.helpers.clock import NOW
from tests.helpers.pictures import exif, jpeg

#: Photo -> its record, in the form of PhotoPrism; each has another kind of value.
RECORDS = {
    "2019/texts": {"Title": "Am See", "TitleSrc": "manual", "Caption": "Zwei\nZeilen", "CaptionSrc": "batch"},
    "2019/old": {"Description": "Früher", "DescriptionSrc": "manual"},
    "2019/derived": {
        "Title": "Bern / 2019", "TitleSrc": "location", "Lat": 1, "Lng": 2, "PlaceSrc": "estimate", "TakenSrc": "meta",
        "TakenAt": "2019-07-02T08:30:00Z", "TakenAtLocal": "2019-07-02T10:30:00Z",
        "Details": {"Keywords": "auto", "KeywordsSrc": "keyword"},
    },
    "time": {
        "TakenSrc": "manual", "TakenAt": "2019-07-02T08:30:00Z", "TakenAtLocal": "2019-07-02T10:30:00Z",
        "TimeZone": "Europe/Zurich", "Year": 2019, "Month": 7, "Day": 2,
    },
    "year": {
        "TakenSrc": "manual", "TakenAt": "1954-03-04T00:00:00Z", "TakenAtLocal": "1954-03-04T00:00:00Z",
        "Year": 1954, "Month": -1, "Day": -1,
    },
    "place": {"Lat": 46.9471, "Lng": 7.4442, "Altitude": 540, "PlaceSrc": "manual"},
    "details": {
        "Details": {
            "Keywords": "berg, see", "KeywordsSrc": "manual", "Notes": "n\nm", "NotesSrc": "manual", "Artist": "Ann",
            "ArtistSrc": "manual", "Copyright": "(c) Ann", "CopyrightSrc": "manual", "License": "CC BY",
            "LicenseSrc": "manual", "Subject": "swans", "SubjectSrc": "manual",
        }
    },
    "flags": {"Favorite": True},
    "secret": {"Private": True},
    "kind": {"Type": "animated", "TypeSrc": "manual"},
    "drawing": {"Type": "vector", "TypeSrc": "manual", "Stack": -1},
    "archived": {"DeletedAt": "2024-05-05T05:05:05Z"},
    "there": {"DeletedAt": "0001-01-01T00:00:00Z"},
}  # fmt: skip
#: What the library shows of them.
SHOWN = {
    "2019/texts": {"Title": "Am See", "Description": "Zwei\nZeilen"},
    "2019/old": {"Description": "Früher"},
    "2019/derived": {"TakenAtLocal": "2020-05-06T07:08:09Z", "Lat": 0, "PlaceSrc": ""},
    "time": {"TakenAt": "2019-07-02T08:30:00Z", "TakenAtLocal": "2019-07-02T10:30:00Z", "TimeZone": "Europe/Zurich"},
    "year": {"Year": 1954, "Month": -1, "Day": -1, "TakenSrc": "manual"},
    "place": {"Lat": 46.9471, "Lng": 7.4442, "Altitude": 540, "Country": "ch", "PlaceSrc": "manual"},
    "flags": {"Favorite": True},
    "kind": {"Type": "animated"},
}
DETAILS = {
    "Keywords": "berg, see", "Notes": "n\nm", "Artist": "Ann", "Copyright": "(c) Ann", "License": "CC BY",
    "Subject": "swans",
}  # fmt: skip
UIDS = {name: f"psabc12{number:09}" for number, name in enumerate(RECORDS)}
ALBUM = {
    "UID": "asabc120000000001", "Type": "album", "Title": "Sommer", "Description": "Am See", "Category": "Ferien",
    "Location": "Bern", "Notes": "privat", "Order": "name", "Favorite": True, "ThumbSrc": "manual",
}  # fmt: skip


@pytest.fixture
def indexed(api):
    for number, name in enumerate((*RECORDS, "plain")):
        api.library.put(f"{name}.jpg", jpeg(64 + number, 48, exif=exif(camera={0x9003: "2020:05:06 07:08:09"})))
    api.library.index()
    return api


@pytest.fixture
def storage(tmp_path, indexed):
    folder = tmp_path / "storage"
    for name, record in RECORDS.items():
        write(folder / f"sidecar/{name}.yml", {"UID": UIDS[name], **record})
    members = [
        {"UID": UIDS["time"], "CreatedAt": "2024-01-02T00:00:00Z"},
        {"UID": UIDS["place"], "CreatedAt": "2024-01-01T00:00:00Z"},
        {"UID": UIDS["year"], "Hidden": True},
        {"UID": "psabc12999999999"},
    ]
    cover = next(record["Hash"] for record in records(indexed) if record["FileName"] == "place.jpg")
    write(folder / "backup/albums/album/as1.yml", {**ALBUM, "Thumb": cover, "Photos": members})
    write(folder / "backup/albums/album/as2.yml", {
        "UID": "asabc120000000002", "Type": "album", "Title": "Sommer", "Photos": [{"UID": UIDS["flags"]}],
    })  # fmt: skip
    write(folder / "backup/albums/album/as3.yml", {
        "UID": "asabc120000000003", "Type": "album", "Title": "Klug", "Filter": "favorite:true",
    })  # fmt: skip
    write(folder / "backup/albums/month/as4.yml", {"UID": "asabc120000000004", "Type": "month", "Title": "Juli"})
    return folder


def write(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(record, allow_unicode=True))


def records(api):
    return api.library.find(count=100)


def shown(api, name):
    return next(record for record in records(api) if record["FileName"] == f"{name}.jpg")


def run(api, *arguments, code=0):
    done = api.svc("import", "photoprism", *map(str, arguments), "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def counts(report, name):
    row = next((row for row in report["values"] if row["value"] == name), {})
    return {key: value for key, value in row.items() if value and key != "value"}


def titles(api):
    albums = json.loads(api.svc("albums", "ls", "--json").stdout)
    return sorted(album["Title"] for album in albums)


def rows(api):
    with api.library.session() as session:
        driver = session.connection().connection.driver_connection
        return [line for line in driver.iterdump() if "import_runs" not in line and "search_text_index" not in line]


def test_each_kind_of_value_is_taken_and_nothing_that_photoprism_derived(indexed, storage):
    report = run(indexed, storage)
    for name, values in SHOWN.items():
        record = shown(indexed, name)
        assert {key: record.get(key) for key in values} == values, name
    assert {"secret.jpg", "archived.jpg"}.isdisjoint(record["FileName"] for record in records(indexed))
    details = indexed.library.call("GET", f"/photos/{shown(indexed, 'details')['UID']}")["Details"]
    assert {key: details[key] for key in DETAILS} == DETAILS
    assert (report["run"], report["unmatched"], report["unreadable"]) == (1, [], [])
    assert counts(report, "photo") == {"taken": 11, "equal": 2}
    assert counts(report, "title") == {"taken": 1}
    assert counts(report, "type") == {"taken": 1, "no_home": 1}
    assert counts(report, "stack") == {"taken": 1}
    assert counts(report, "album") == {"taken": 3}
    assert counts(report, "album photo") == {"taken": 3, "no_match": 1}
    assert counts(report, "album cover") == {"taken": 1}
    history = indexed.library.call("GET", f"/photos/{shown(indexed, 'flags')['UID']}/history")
    assert "import: photoprism" in json.dumps(history)


def test_albums_have_their_texts_order_of_photos_and_cover(indexed, storage):
    run(indexed, storage)
    albums = {one["Title"]: one for one in indexed.library.call("GET", "/albums?count=10")}
    summers = [one for one in indexed.library.call("GET", "/albums?count=10") if one["Title"] == "Sommer"]
    assert sorted(one["PhotoCount"] for one in summers) == [1, 2]
    summer = next(one for one in summers if one["PhotoCount"] == 2)
    same = ("Description", "Category", "Location", "Notes", "Order", "Favorite", "ThumbSrc")
    assert {key: summer[key] for key in same} == {key: ALBUM[key] for key in same}
    assert summer["Thumb"] == shown(indexed, "place")["Hash"]
    assert albums["Klug"]["Filter"] == "favorite:true"
    found = indexed.library.find(count=9, s=summer["UID"], order="manual")
    assert [record["FileName"] for record in found] == ["place.jpg", "time.jpg"]


def test_a_second_run_changes_nothing(indexed, storage):
    run(indexed, storage)
    before = rows(indexed)
    report = run(indexed, storage)
    assert (report["run"], rows(indexed)) == (None, before)
    assert {key for row in report["values"] for key, value in row.items() if value} == {
        "value", "equal", "no_home", "no_match",
    }  # fmt: skip


def test_a_dry_run_reports_the_same_and_writes_nothing(indexed, storage):
    before = rows(indexed)
    cover = {"UID": "asabc120000000009", "Type": "album", "Title": "x", "Thumb": "0" * 40, "ThumbSrc": "manual"}
    write(storage / "backup/albums/album/as9.yml", {**cover, "Photos": [{"UID": UIDS["time"]}]})
    write(storage / "backup/albums/album/as10.yml", {
        "UID": "asabc120000000010", "Type": "album", "Title": "bad", "Filter": "lat:(",
    })  # fmt: skip
    dry = run(indexed, storage, "--dry-run")
    assert (counts(dry, "album")["no_home"], counts(dry, "album cover")["no_match"]) == (1, 1)
    assert (dry["run"], dry["dry_run"], rows(indexed)) == (None, True, before)
    assert dry["values"] == run(indexed, storage)["values"]


def test_undo_restores_the_photos_and_deletes_the_albums(indexed, storage):
    before = {record["FileName"]: record for record in records(indexed)}
    run(indexed, storage)
    done = indexed.svc("import", "undo", "1", "--yes", "--json")
    assert json.loads(done.stdout) == {
        "photos": 11, "changed_since": 0, "albums": 3, "kept_albums": 0, "album_photos": 0, "marks": 0,
    }  # fmt: skip
    after = {record["FileName"]: record for record in records(indexed)}
    changing = {"EditedAt", "UpdatedAt", "Files", "Quality"}
    for name, record in before.items():
        assert {key: after[name].get(key) for key in record.keys() - changing} == {
            key: value for key, value in record.items() if key not in changing
        }
    assert titles(indexed) == []
    assert indexed.svc("import", "undo", "1", "--yes").returncode == 1
    assert counts(run(indexed, storage), "photo") == {"taken": 11, "equal": 2}


def test_undo_keeps_what_a_person_changed_since(indexed, storage):
    run(indexed, storage)
    indexed.library.call("PUT", f"/photos/{shown(indexed, '2019/texts')['UID']}", json={"Title": "Later"})
    summer = next(one for one in indexed.library.call("GET", "/albums?count=9") if one["PhotoCount"] == 2)
    indexed.clock.move(seconds=5)
    indexed.library.call("PUT", f"/albums/{summer['UID']}", json={"Title": "Mein Sommer"})
    undone = json.loads(indexed.svc("import", "undo", "1", "--yes", "--json").stdout)
    assert (undone["photos"], undone["changed_since"], undone["albums"], undone["kept_albums"]) == (10, 1, 2, 1)
    assert shown(indexed, "2019/texts")["Title"] == "Later"
    assert titles(indexed) == ["Mein Sommer"]


@pytest.mark.parametrize(
    ("prefer", "edited", "title"),
    [
        ("ours", "2099-01-01T00:00:00Z", "Mine"),
        ("theirs", "2001-01-01T00:00:00Z", "Am See"),
        ("newest", "2001-01-01T00:00:00Z", "Mine"),
        ("newest", "2099-01-01T00:00:00Z", "Mine"),
        ("newest", f"{NOW.year}-12-31T00:00:00Z", "Am See"),
    ],
)
def test_a_value_of_a_person_here_stays_unless_the_other_is_preferred(indexed, storage, prefer, edited, title):
    uid = shown(indexed, "2019/texts")["UID"]
    indexed.library.call("PUT", f"/photos/{uid}", json={"Title": "Mine", "Details": {"Keywords": "mine"}})
    record = {"UID": UIDS["2019/texts"], **RECORDS["2019/texts"], "EditedAt": edited}
    write(storage / "sidecar/2019/texts.yml", {**record, "Details": {"Keywords": "theirs", "KeywordsSrc": "manual"}})
    report = run(indexed, storage, "--prefer", prefer)
    assert shown(indexed, "2019/texts")["Title"] == title
    assert counts(report, "title") == {"kept" if title == "Mine" else "taken": 1}
    details = indexed.library.call("GET", f"/photos/{uid}")["Details"]
    assert details["Keywords"] == "mine, theirs"


def test_photos_go_into_the_album_of_this_title_and_undo_takes_them_out(indexed, storage):
    made = indexed.library.call("POST", "/albums", json={"Title": "sommer"})["UID"]
    uid = shown(indexed, "plain")["UID"]
    indexed.library.call("POST", f"/albums/{made}/photos", json={"photos": [uid]})
    (storage / "backup/albums/album/as2.yml").unlink()
    indexed.clock.move(seconds=5)
    report = run(indexed, storage)
    assert counts(report, "album") == {"taken": 1, "equal": 1}
    assert counts(report, "album cover") == {"kept": 1}
    assert indexed.library.call("GET", f"/albums/{made}")["PhotoCount"] == 3
    undone = json.loads(indexed.svc("import", "undo", "1", "--yes", "--json").stdout)
    assert (undone["albums"], undone["album_photos"]) == (1, 2)
    assert [record["UID"] for record in indexed.library.find(count=9, s=made)] == [uid]


@pytest.mark.parametrize("failing", range(1, 11))
def test_a_run_that_was_killed_is_completed_by_the_next(indexed, storage, monkeypatch, failing):
    monkeypatch.setattr(library_import, "PORTION", 4)
    with stopping_at(failing):
        assert indexed.svc("import", "photoprism", str(storage)).returncode == 1
    run(indexed, storage)
    assert counts(run(indexed, storage), "photo") == {"equal": 13}
    assert titles(indexed) == ["Klug", "Sommer", "Sommer"]
    summers = [one for one in indexed.library.call("GET", "/albums?count=9") if one["Title"] == "Sommer"]
    assert sorted((one["PhotoCount"], one["ThumbSrc"]) for one in summers) == [(1, ""), (2, "manual")]


def test_photos_are_found_in_mapped_folders_and_after_they_moved(indexed, storage):
    (storage / "sidecar/2019").rename(storage / "sidecar/there")
    report = run(indexed, storage)
    assert report["unmatched"][0] == "there/derived: no photo has this path"
    assert counts(report, "title") == {"no_match": 1}
    assert counts(run(indexed, storage, "--map", "there=2019"), "title") == {"taken": 1}
    os.renames(indexed.library.originals / "2019", indexed.library.originals / "family/2019")
    indexed.library.index()
    assert counts(run(indexed, storage), "title") == {"equal": 1}
    assert run(indexed, storage, "--map", "/mnt/photos=family")["run"] is None


HOSTILE = {
    "bomb": "UID: psabc12900000001\na: &a [x]\nb: &b [*a,*a]\nTitle: *b\n",
    "nested": "[" * 5000,
    "text": "just text",
    "none": "UID: ../../etc\nTitle: x\nTitleSrc: manual\n",
    "binary": "\x00\x01",
}


def test_hostile_records_are_listed_and_harm_nothing(indexed, storage, tmp_path):
    for name, content in HOSTILE.items():
        (storage / f"sidecar/{name}.yml").write_text(content)
        (storage / f"backup/albums/album/{name}.yml").write_text(content)
    with (storage / "sidecar/huge.yml").open("wb") as file:
        file.truncate(100_000_000)
    (storage / "sidecar/link.yml").symlink_to("/etc/passwd")
    (storage / "sidecar/up").symlink_to("/")
    os.mkfifo(storage / "sidecar/pipe.yml")
    report = run(indexed, storage)
    names = {record["name"] for record in report["unreadable"]}
    photos = {f"sidecar/{name}.yml" for name in (*HOSTILE, "huge", "link", "pipe")}
    assert names == photos | {f"albums/album/{name}.yml" for name in HOSTILE}
    assert counts(report, "photo") == {"taken": 11, "equal": 2}


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["photoprism", "/nonexistent"], 3, "/nonexistent has no folder sidecar, albums or backup/albums"),
        (["photoprism", "/tmp", "--map", "x"], 2, "is no THEIRS=OURS"),
        (["photoprism", "/tmp", "--map", "x=../y"], 2, "is no THEIRS=OURS"),
        (["photoprism"], 2, "Name the storage folder of PhotoPrism, its address by --url, or a dump by --dump."),
        (["photoprism", "--dump", "/nonexistent"], 3, "There is no file /nonexistent."),
        (["photoprism", "--dump", "/tmp"], 3, "There is no file /tmp."),
        (["photoprism", "--url", "http://x"], 2, "--url and --token-file belong together."),
        (["photoprism", "--url", "x", "--token-file", "/dev/null"], 2, "has no key in its first line"),
        (["photoprism", "--url", "http://x", "--token-file", "x", "--dump", "x"], 2, "Name either --url or --dump."),
        (["undo", "7", "--yes"], 3, "there is no import 7: nothing has been imported from another program"),
        (["undo", "x", "--yes"], 2, "is not a valid integer"),
        (["./undo"], 3, "There is no folder"),
    ],
)
def test_wrong_calls_get_a_sentence(api, arguments, code, sentence):
    done = api.svc("import", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr


def test_people_see_a_table_and_how_to_take_it_back(indexed, storage):
    done = indexed.svc("import", "photoprism", str(storage))
    assert re.search(r"^ photo +11 +2 +0 +0 +0", done.stdout, re.MULTILINE)
    assert done.stderr.endswith("This was import 1: `svc import undo 1` takes it back.\n")


def test_undo_of_all_runs_deletes_an_album_unless_a_person_changed_it_in_between(indexed, storage):
    def grow(member):
        indexed.clock.move(seconds=5)
        record = yaml.safe_load((storage / "backup/albums/album/as2.yml").read_text())
        record["Photos"].append({"UID": UIDS[member]})
        write(storage / "backup/albums/album/as2.yml", record)
        indexed.clock.move(seconds=5)
        assert counts(run(indexed, storage), "album photo")["taken"] == 1

    def undo(number):
        indexed.clock.move(seconds=5)
        done = json.loads(indexed.svc("import", "undo", str(number), "--yes", "--json").stdout)
        return done["albums"], done["kept_albums"], done["album_photos"]

    run(indexed, storage)
    grow("kind")
    assert (undo(2), undo(1), titles(indexed)) == ((0, 0, 1), (3, 0, 0), [])
    run(indexed, storage)
    small = next(one for one in indexed.library.call("GET", "/albums?count=9") if one["PhotoCount"] == 2)
    assert small["Title"] == "Sommer"
    indexed.clock.move(seconds=5)
    for album in indexed.library.call("GET", "/albums?count=9"):
        indexed.library.call("PUT", f"/albums/{album['UID']}", json={"Notes": "mine"})
    grow("time")
    assert (undo(4), undo(3)) == ((0, 0, 1), (0, 3, 0))


def test_what_a_person_took_out_or_deleted_does_not_come_back(indexed, storage):
    run(indexed, storage)
    albums = indexed.library.call("GET", "/albums?count=9")
    summer = next(one for one in albums if one["PhotoCount"] == 2)
    taken_out = shown(indexed, "place")["UID"]
    indexed.library.call("DELETE", f"/albums/{summer['UID']}/photos", json={"photos": [taken_out]})
    smart = next(one for one in albums if one["Title"] == "Klug")
    indexed.library.call("DELETE", f"/albums/{smart['UID']}")
    report = run(indexed, storage)
    assert (report["run"], counts(report, "album")) == (None, {"equal": 2, "kept": 1})
    assert titles(indexed) == ["Sommer", "Sommer"]
    with indexed.library.session() as session:
        session.execute(delete(Album).where(Album.uid == smart["UID"]))
    assert run(indexed, storage)["run"] is None
