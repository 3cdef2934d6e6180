"""GET /photos/<uid> and /files/<hash>: every field, and only for those who may see the photo."""

import pytest

from photosvc.models import Album, File, Photo
from photosvc.records.fields import rfc3339
from photosvc.search.rows.write import project
from tests.app.index.test_record_fields import EXTRA, FILE_EXTRA, RESULT, check
from tests.app.index.test_record_fields import FILE as RESULT_FILE
from tests.databases.search.varied_library import START, fill_varied_library, visible_to_all
from tests.helpers.api_client import check_error, open_api
from tests.helpers.pictures import exif, jpeg, video, xmp

SOURCED = ("Keywords", "Notes", "Subject", "Artist", "Copyright", "License", "Software")
DETAILS = {name + end: str for name in SOURCED for end in ("", "Src")}
GEAR = {"ID": int, "Slug": str, "Name": str, "Make": str, "Model": str, "Type": str}
PLACE = {
    "PlaceID": str, "Label": str, "District": str, "City": str, "State": str, "Country": str, "Keywords": str,
    "Favorite": bool, "PhotoCount": int, "CreatedAt": str, "UpdatedAt": str,
}  # fmt: skip
CELL = {
    "ID": str, "Name": str, "Street": str, "Postcode": str, "Category": str, "Place": dict, "CreatedAt": str,
    "UpdatedAt": str,
}  # fmt: skip
ALBUM = {
    "ID": int, "UID": str, "Slug": str, "Type": str, "Title": str, "Description": str, "Filter": str, "Order": str,
    "Year": int, "Month": int, "Day": int, "Favorite": bool, "Private": bool, "CreatedAt": str, "UpdatedAt": str,
    "DeletedAt": type(None),
}  # fmt: skip
LABEL = {"PhotoID": int, "LabelID": int, "LabelSrc": str, "Uncertainty": int, "Label": dict}
FILE = {
    "TakenAt": str, "MediaUTC": int, "TimeIndex": str, "MediaID": str, "InstanceID": str, "OriginalName": str,
    "Sidecar": bool, "Missing": bool, "Portrait": bool, "Video": bool, "Duration": int, "FPS": float, "Frames": int,
    "OrientationSrc": str, "Projection": str, "ColorProfile": str, "MainColor": str, "HDR": bool, "Watermark": bool,
    "Software": str, "Error": str, "ModTime": str, "CreatedIn": int, "UpdatedIn": int, "PublishedAt": str,
    "DeletedAt": str,
}  # fmt: skip
NESTED = ("Details", "Camera", "Lens", "Cell", "Place", "Albums", "Labels")
UNKNOWN, UNKNOWN_HASH = "ptouqe1kbhlaydg7", "f" * 40


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("records")) as api:
        with api.library.session() as session:
            fill_varied_library(session)
        yield api


@pytest.fixture(scope="module")
def admin(api):
    return api.library.token("*", role="admin")


@pytest.fixture(scope="module")
def viewer(api):
    return api.library.token("*", role="viewer")


def photos(api, **columns):
    """UID, hashes of the files and whether everybody may see the photo, of all photos with these values."""
    with api.library.session() as session:
        seen = visible_to_all(session.query(Photo).all())
        return [
            (photo.uid, [file.hash for file in photo.files], any(file.uid in seen for file in photo.files))
            for photo in session.query(Photo).filter_by(**columns)
        ]


def types(record):
    return {name: type(value) for name, value in record.items()}


def read(api, path, token):
    answer = api.call("GET", path, token)
    assert answer.status_code == 200, answer.text
    assert answer.content_type == "application/json; charset=utf-8"
    return answer.json


def test_a_photo_has_every_field_of_its_merged_search_result(api, viewer):
    results = {record["UID"]: record for record in api.library.find(token=viewer, merged="true", count=1000)}
    assert len(results) > 10
    for photo_uid, result in results.items():
        record = read(api, f"/photos/{photo_uid}", viewer)
        assert {name: record[name] for name in result} == result
        assert set(record) - set(result) - {"Rating"} == {
            "TitleSrc", "DescriptionSrc", "CaptionSrc", "DeletedAt", *NESTED,
        }  # fmt: skip


def test_every_field_has_its_documented_type(api, admin):
    checked = 0
    for photo_uid, _, _ in photos(api):
        answer = api.call("GET", f"/photos/{photo_uid}", admin)
        if answer.status_code == 404:  # all of its files are missing
            continue
        record = answer.json
        nested = {name: record.pop(name) for name in NESTED}
        assert record.pop("DeletedAt") in {None, rfc3339(START)}
        assert nested["Place"]["PlaceID"] == record["PlaceID"]
        check(
            record | {"PlaceID": "zz"},
            {**RESULT, "TitleSrc": "string", "DescriptionSrc": "string", "CaptionSrc": "string"},
            EXTRA,
        )
        assert len(record["Files"]) >= 1
        for file in record["Files"]:
            check(file, RESULT_FILE, FILE_EXTRA)
            assert file["PhotoUID"] == photo_uid
        assert types(nested["Details"]) == DETAILS
        assert types(nested["Camera"]) == types(nested["Lens"]) == GEAR
        assert types(nested["Cell"]) == CELL
        assert types(nested["Place"]) == PLACE
        assert nested["Cell"]["Place"] == nested["Place"]
        assert all(types(album) == ALBUM for album in nested["Albums"])
        assert all(types(label) == LABEL for label in nested["Labels"])
        checked += 1
    assert checked > 30


def test_a_photo_refers_to_the_records_of_its_fields(api, admin):
    unknown = 0
    for photo_uid, _, seen in photos(api):
        if seen:
            record = read(api, f"/photos/{photo_uid}", admin)
            assert (record["Camera"]["ID"], record["Camera"]["Model"]) == (record["CameraID"], record["CameraModel"])
            assert (record["Lens"]["ID"], record["Lens"]["Model"]) == (record["LensID"], record["LensModel"])
            assert (record["Cell"]["ID"], record["Place"]["PlaceID"]) == (record["CellID"], record["PlaceID"])
            assert record["Place"]["Label"] == record["PlaceLabel"]
            unknown += (record["CameraID"], record["Camera"]["Slug"], record["Camera"]["Name"]) == (
                1,
                "unknown",
                "Unknown",
            )
    assert unknown


def test_all_metadata_of_a_real_file_is_in_its_record(tmp_path):
    with open_api(tmp_path) as api:
        data = jpeg(
            exif=exif(
                {0x010F: "Canon", 0x0110: "Canon EOS R5", 0x013B: "Ansel", 0x8298: "(c) Ansel", 0x0131: "Darkroom 1"},
                {0x9003: "2021:07:04 18:30:15", 0xA433: "Canon", 0xA434: "RF50mm F1.8 STM"},
                {1: "N", 2: [(48, 1), (51, 1), (30, 1)], 3: "E", 4: [(2, 1), (17, 1), (40, 1)]},
            ),
            xmp=xmp("<dc:subject><rdf:Bag><rdf:li>tower</rdf:li><rdf:li>river</rdf:li></rdf:Bag></dc:subject>"),
        )
        api.library.put("2021/tour eiffel.jpg", data)
        api.library.index()
        token = api.library.token("*", role="admin")
        (result,) = api.library.find(token=token)
        record = read(api, f"/photos/{result['UID']}", token)
        assert record["Details"] == {
            **dict.fromkeys(DETAILS, ""), "Keywords": "river, tower", "Artist": "Ansel", "Copyright": "(c) Ansel",
            "Software": "Darkroom 1",
        }  # fmt: skip
        assert record["Camera"] == {
            "ID": result["CameraID"], "Slug": "canon-eos-r5", "Name": "Canon EOS R5", "Make": "Canon",
            "Model": "EOS R5", "Type": "body",
        }  # fmt: skip
        assert record["Lens"]["Name"] == "Canon RF50mm F1.8 STM"
        assert record["Place"]["City"] == result["PlaceCity"] == "Paris"
        assert record["Files"][0]["Name"] == "2021/tour eiffel.jpg"
        assert record["DeletedAt"] is None


def test_an_archived_photo_is_shown_with_its_time_to_accounts_that_may_see_it(api, admin, viewer):
    archived = [found for found in photos(api) if not found[2]]
    times = {}
    for photo_uid, _, _ in archived:
        check_error(api.call("GET", f"/photos/{photo_uid}", viewer), 404)
        answer = api.call("GET", f"/photos/{photo_uid}", admin)
        if answer.status_code == 200 and answer.json["DeletedAt"]:
            times[photo_uid] = answer.json["DeletedAt"]
    with api.library.session() as session:
        assert set(times) == {photo.uid for photo in session.query(Photo).filter_by(archived_at=START)}


def test_a_photo_that_may_not_be_seen_is_404_like_an_unknown_one(api, admin, viewer):
    client = api.client_token("*")
    unseen = [found for found in photos(api) if not found[2]]
    assert len(unseen) > 5
    expected = api.call("GET", f"/photos/{UNKNOWN}", viewer).data
    for photo_uid, hashes, _ in unseen:
        for token in (viewer, client):
            answer = api.call("GET", f"/photos/{photo_uid}", token)
            check_error(answer, 404)
            assert answer.data == expected
            for content_hash in hashes:
                check_error(api.call("GET", f"/files/{content_hash}", token), 404)
    with api.library.session() as session:
        missing = [file.hash for file in session.query(File).filter_by(missing=True)]
    assert missing == [f"{number:040x}" for number in (60, 170, 280, 390)]
    for content_hash in missing:
        check_error(api.call("GET", f"/files/{content_hash}", admin), 404)


def test_a_viewer_sees_of_a_photo_only_the_files_it_may_see(api, viewer):
    with api.library.session() as session:
        every = session.query(Photo).all()
        seen = visible_to_all(every)
        partly = {photo.uid: {file.uid for file in photo.files} & seen for photo in every if len(photo.files) > 1}
    assert any(len(files) == 1 for files in partly.values())
    for photo_uid, files in partly.items():
        if files:
            assert {file["UID"] for file in read(api, f"/photos/{photo_uid}", viewer)["Files"]} == files


def test_a_photo_has_the_albums_that_the_account_may_see_and_no_smart_albums(api, admin, viewer):
    with api.library.session() as session:
        names = {album.uid: album.title for album in session.query(Album)}
    for token, titles in ((admin, {"Summer 2020", "Lake trips", "Secret"}), (viewer, {"Summer 2020", "Lake trips"})):
        records = [read(api, f"/photos/{photo_uid}", token) for photo_uid, _, seen in photos(api) if seen]
        assert {names[album["UID"]] for record in records for album in record["Albums"]} == titles


def test_a_file_is_the_record_that_merged_results_have_and_more(api, viewer):
    results = api.library.find(token=viewer, merged="true", count=1000)
    assert results
    for result in results:
        for file in result["Files"]:
            record = read(api, f"/files/{file['Hash']}", viewer)
            # A published client refuses a number there, and others refuse the text in results.
            assert {name: record[name] for name in file} == {**file, "ModTime": str(file["ModTime"])}
            assert types({name: record[name] for name in FILE}) == FILE
            assert set(record) == {*RESULT_FILE, *FILE}
            assert read(api, f"/files/{file['Hash'].upper()}", viewer) == record
            assert (record["PhotoUID"], record["TakenAt"]) == (result["UID"], result["TakenAt"])


def test_all_that_is_known_of_a_file_is_in_its_record(tmp_path):
    with open_api(tmp_path) as api:
        taken = exif({0x0131: "Darkroom 1"}, {0x9003: "2021:07:04 18:30:15"})
        api.library.put("IMG_0001.jpg", jpeg(40, 80, exif=taken))
        api.library.put("clip.mp4", video(tmp_path / "clip.mp4", codec="libx264", frames=48).read_bytes())
        api.library.put("half.jpg", jpeg(40, 80)[:400])
        api.library.index()
        token = api.library.token("*", role="admin")
        with api.library.session() as session:
            files = {file.name: (file.hash, file.mtime_ns) for file in session.query(File)}
        records = {name: read(api, f"/files/{content_hash}", token) for name, (content_hash, _) in files.items()}
        picture = records["IMG_0001.jpg"]
        assert {name: picture[name] for name in FILE} == {
            "TakenAt": "2021-07-04T18:30:15Z", "MediaUTC": 1625423415000, "TimeIndex": "", "MediaID": "",
            "InstanceID": "", "OriginalName": "", "Sidecar": False, "Missing": False, "Portrait": True,
            "Video": False, "Duration": 0, "FPS": 0.0, "Frames": 0, "OrientationSrc": "", "Projection": "",
            "ColorProfile": "", "MainColor": "white", "HDR": False, "Watermark": False, "Software": "Darkroom 1",
            "Error": "", "ModTime": str(files["IMG_0001.jpg"][1] // 10**9), "CreatedIn": 0, "UpdatedIn": 0,
            "PublishedAt": "0001-01-01T00:00:00Z", "DeletedAt": "0001-01-01T00:00:00Z",
        }  # fmt: skip
        moving = records["clip.mp4"]
        names = ("Video", "Duration", "FPS", "Frames")
        assert [moving[name] for name in names] == [True, 2 * 10**9, 24.0, 48]
        found = {one["FileName"]: one["Files"] for one in api.library.find(token=token, merged="true")}
        assert [file[name] for file in found["clip.mp4"] if file["FileType"] == "mp4" for name in names] == [
            True, 2 * 10**9, 24.0, 48,
        ]  # fmt: skip
        assert [set(file) & {"Sidecar", *names} for file in found["IMG_0001.jpg"]] == [set()]
        assert records["half.jpg"]["Error"] == "the picture is truncated"


def test_a_uid_or_hash_that_names_nothing_is_404_and_names_the_field(api, admin):
    names = (UNKNOWN, "x", "p%00aaaaaaaaaaaaaa", "%ff%fe", "%ed%a0%80", "a" * 5000, "%F0%9F%93%B7", "'--", "*")
    for path, field in (
        *((f"/photos/{name}", "uid") for name in names),
        *((f"/files/{name}", "hash") for name in (*names, UNKNOWN_HASH)),
    ):
        answer = api.call("GET", path, admin, headers={"If-None-Match": "*"})
        check_error(answer, 404)
        assert [detail["field"] for detail in answer.json["details"]] == [field], path


def test_records_are_answered_304_until_the_library_changes(tmp_path):
    with open_api(tmp_path) as api:
        with api.library.session() as session:
            fill_varied_library(session, photos=6)
        admin, viewer = (api.library.token("*", role=role) for role in ("admin", "viewer"))
        photo_uid, (content_hash, *_), _ = next(found for found in photos(api) if found[2])
        for path in (f"/photos/{photo_uid}", f"/files/{content_hash}"):
            first = api.call("GET", path, admin)
            tag = {"If-None-Match": first.headers["ETag"]}
            again = api.call("GET", path, admin, headers=tag)
            assert (again.status_code, again.data) == (304, b"")
            assert again.headers["ETag"] == first.headers["ETag"]
            assert again.headers["Cache-Control"] == "private, no-cache"
            assert api.call("GET", path, viewer, headers=tag).status_code == 200
            head = api.call("HEAD", path, admin)
            assert (head.status_code, head.data, head.headers["ETag"]) == (200, b"", first.headers["ETag"])
            assert head.headers["Content-Length"] == str(len(first.data))
            with api.library.session() as session:
                photo = session.query(Photo).filter_by(uid=photo_uid).one()
                photo.title = f"changed by {path}"
                session.flush()
                project(session, [photo.id])
            assert api.call("GET", path, admin, headers=tag).status_code == 200
        assert read(api, f"/photos/{photo_uid}", admin)["Title"].startswith("changed by /files")
