"""`svc import takeout`: what people entered in Google Photos, from the unpacked parts of a Takeout."""

import json

import pytest

from tests.helpers.pictures import exif, jpeg

LONG = "a_very_long_name_of_a_picture_that_somebody_chose_once.jpg"


@pytest.fixture
def indexed(api):
    taken = exif({}, {0x9003: "2020:05:06 07:08:09"})
    for number, name in enumerate(("one", "two", "three", "four", "long", "edit", "plain")):
        api.library.put(f"mine/{name}.jpg", jpeg(64 + number, 48, exif=b"" if name == "three" else taken))
    api.library.index()
    return api


def picture(title, **values):
    return {"title": title, "photoTakenTime": {"timestamp": "1600000000"}, **values}


@pytest.fixture
def parts(tmp_path):
    """Two parts, unpacked apart: pictures and their JSON are split, and an album repeats pictures."""
    first, second = tmp_path / "one/Takeout/Google Fotos", tmp_path / "elsewhere/Takeout/Google Fotos"
    year, album = "Fotos von 2020", "Trip"
    write(first / year / "IMG_1.jpg", jpeg(64, 48, exif=exif({}, {0x9003: "2020:05:06 07:08:09"})))
    write(second / year / "IMG_1.jpg.json", picture(
        "IMG_1.jpg", description="Am See", favorited=True, people=[{"name": "Ada"}],
        geoData={"latitude": 46.9471, "longitude": 7.4442, "altitude": 540.0},
    ))  # fmt: skip
    write(first / album / "IMG_1.jpg", jpeg(64, 48, exif=exif({}, {0x9003: "2020:05:06 07:08:09"})))
    write(first / album / "IMG_2(1).jpg", jpeg(65, 48, exif=exif({}, {0x9003: "2020:05:06 07:08:09"})))
    write(first / album / "IMG_2.jpg(1).json", picture("IMG_2.jpg", archived=True))
    write(second / album / "Metadaten.json", {
        "title": "Trip", "description": "nach Bern", "date": {}, "access": "protected",
        "enrichments": [
            {"narrativeEnrichment": {"text": "Erster Tag"}},
            {"locationEnrichment": {"location": [{"name": "Bern"}]}}, {"mapEnrichment": {}}, 7,
        ],
        "sharedAlbumComments": [{"text": "!"}],
    })  # fmt: skip
    write(first / year / "IMG_3.jpg", jpeg(66, 48))
    write(first / year / "IMG_3.jpg.json", picture("IMG_3.jpg"))
    write(first / year / "IMG_4.jpg", jpeg(67, 48, exif=exif({}, {0x9003: "2020:05:06 07:08:09"})))
    write(first / year / "IMG_4.jpg.supplemental-metadata.json", picture("IMG_4.jpg", trashed=True))
    write(first / year / LONG[:51], jpeg(68, 48, exif=exif({}, {0x9003: "2020:05:06 07:08:09"})))
    write(second / year / f"{LONG[:46]}.json", picture(LONG, description="lang"))
    write(first / year / "IMG_5-bearbeitet.jpg", jpeg(69, 48, exif=exif({}, {0x9003: "2020:05:06 07:08:09"})))
    write(first / year / "IMG_5.jpg.json", picture("IMG_5.jpg", description="bearbeitet"))
    write(first / year / "IMG_9.jpg", jpeg(200, 48))
    write(first / year / "IMG_9.jpg.json", picture("IMG_9.jpg", favorited=True))
    write(first / year / "Metadaten.json", {"title": year, "access": "protected"})
    write(first / year / "broken.json", b"{")
    (first / year / "link.json").symlink_to("/etc/passwd")
    return [str(tmp_path / "one"), str(tmp_path / "elsewhere")]


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())


def run(api, *arguments):
    done = api.svc("import", "takeout", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def outcomes(report, outcome):
    return {row["value"]: row[outcome] for row in report["values"] if row[outcome]}


def test_parts_unpacked_apart_give_their_albums_and_all_that_people_entered(indexed, parts):
    report, admin = run(indexed, *parts), indexed.library.token(role="admin")
    shown = {record["FileName"][5:-4]: record for record in indexed.library.find(count=100)}
    archived = {record["FileName"][5:-4] for record in indexed.library.find(q="archived:true", token=admin)}
    one = shown["one"]
    assert (one["Description"], one["Favorite"], one["Lat"], one["Altitude"]) == ("Am See", True, 46.9471, 540)
    assert one["TakenAtLocal"] == "2020-05-06T07:08:09Z"  # the wall time of the camera, not the UTC of Takeout
    assert shown["three"]["TakenAt"] == "2020-09-13T12:26:40Z"
    assert (shown["long"]["Description"], shown["edit"]["Description"]) == ("lang", "bearbeitet")
    assert archived == {"two", "four"}
    assert [person["Name"] for person in indexed.library.call("GET", "/subjects?count=10")] == ["Ada"]
    [album] = indexed.library.call("GET", "/albums?count=10&type=album")
    assert (album["Title"], album["Description"], album["Location"], album["Notes"]) == (
        "Trip", "nach Bern", "Bern", "Erster Tag",
    )  # fmt: skip
    assert outcomes(report, "taken")["album photo"] == 2
    assert (outcomes(report, "no_home"), outcomes(report, "no_match")["photo"]) == ({"album comments": 1}, 1)
    assert [name["name"].rpartition("/")[2] for name in report["unreadable"]] == ["link.json", "broken.json"]


def test_a_second_run_changes_nothing_and_undo_restores_all(indexed, parts):
    before = indexed.library.find(count=100)
    assert outcomes(run(indexed, *parts, "--dry-run"), "taken")["description"] == 3
    assert [record["UpdatedAt"] for record in indexed.library.find(count=100)] == [
        record["UpdatedAt"] for record in before
    ]
    number = run(indexed, *parts)["run"]
    assert outcomes(run(indexed, *parts), "taken") == {}
    assert indexed.svc("import", "undo", str(number), "--yes").returncode == 0
    after = {record["FileName"]: (record["Description"], record["Favorite"]) for record in indexed.library.find()}
    assert set(after.values()) == {("", False)}
    assert indexed.library.call("GET", "/albums?count=10&type=album") == []


def test_what_is_no_takeout_is_refused_in_one_sentence(indexed, tmp_path):
    (tmp_path / "takeout.zip").write_bytes(b"PK")
    (tmp_path / "empty").mkdir()
    for name, code, sentence in (
        ("nothing", 3, "is no folder"), ("takeout.zip", 3, "unpack the archive first"),
        ("empty", 3, "there is no Takeout, with .json files beside pictures"),
    ):  # fmt: skip
        done = indexed.svc("import", "takeout", str(tmp_path / name))
        assert (done.returncode, done.stdout, sentence in done.stderr) == (code, "", True), done.stderr
