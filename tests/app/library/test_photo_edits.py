"""PUT and PATCH /photos/<uid>: what people say about a photo, and that it outlives index runs."""

import struct

import pytest

from photosvc.records.edits import DetailsEditSchema, PhotoEditSchema
from tests.helpers.pictures import exif, jpeg, xmp

TAKEN = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: "2020:01:02 03:04:05"})


@pytest.fixture(scope="module")
def filled(fill):
    files = {}
    files["a/lake.jpg"] = jpeg(exif=TAKEN, xmp=xmp("<dc:title><rdf:Alt><rdf:li>Old</rdf:li></rdf:Alt></dc:title>"))
    files["a/hill.jpg"] = jpeg(80, 60, exif=exif({0x010F: "Canon"}, {0x9003: "2021:01:02 03:04:05"}))
    return fill(files)


@pytest.fixture
def send(library):
    uid = library.find(q="name:lake")[0]["UID"]

    def send(method="PUT", path="", **options):
        headers = {"X-Auth-Token": library.token(), **options.pop("headers", {})}
        return library.app.test_client().open(f"/api/v1/photos/{uid}{path}", method=method, headers=headers, **options)

    send.uid = uid
    return send


def test_a_value_of_a_person_is_found_and_outlives_an_index_run(library, send):
    answer = send(json={"Title": " My lake ", "DescriptionSrc": "manual", "Description": "At dawn"})
    assert (answer.status_code, answer.json["Title"], answer.json["TitleSrc"]) == (200, "My lake", "manual")
    assert answer.json["EditedAt"] == "2026-03-01T12:00:00Z"
    library.index(force=True)
    assert [record["FileName"] for record in library.find(q="dawn title:'My lake'".replace("'", '"'))] == ["a/lake.jpg"]
    assert [record["Title"] for record in library.find(q="edited:2026-03-01")] == ["My lake"]


def test_a_body_that_gives_a_name_twice_changes_nothing_and_the_error_names_it(library, send):
    before = send("GET").json
    for body, name in (
        ('{"Title": "One", "Title": "Two"}', "Title"),
        ('{"Title": "One", "Details": {"Notes": "", "Artist": "A", "Notes": ""}}', "Notes"),
        ('{"Iso": 1, "\\u0049so": 2}', "Iso"),
    ):
        answer = send(data=body, content_type="application/json")
        details = [{"field": name, "message": "is given twice"}]
        assert (answer.status_code, answer.json["details"]) == (400, details), body
    assert send("GET").json == before


def test_a_value_given_back_that_the_files_had_set_is_no_edit(library, send):
    before = send("GET").json
    answer = send(json={"Title": None, "TakenAt": None, "Details": {"Keywords": None}})
    assert {**answer.json, "CheckedAt": ""} == {**before, "CheckedAt": ""}
    assert send("GET", "/history").json == []
    assert library.find(q="edited:2026-03-01") == []


def test_texts_without_a_source_of_their_own_outlive_an_index_run_too(library, send):
    answer = send(json={"Details": {"Keywords": "sun, Lake", "Artist": "Ann"}, "Iso": 200, "Scan": True, "Rating": 4})
    details = answer.json["Details"]
    assert (details["Keywords"], details["Artist"]) == ("Lake, sun", "Ann")
    library.index(force=True)
    found = library.find(q="keywords:sun iso:200 scan:true")
    assert [record["FileName"] for record in found] == ["a/lake.jpg"]


def test_the_whole_record_sent_back_changes_nothing(library, send):
    """Not even where records show less than is stored, and as a client sends it that knows some fields only."""
    exact = exif({0x010F: "Canon ", 0x0110: "EOS  R5"}, {0x9003: "2020:01:02 03:04:05", 0x9291: "123456"})
    library.put(
        "a/lake.jpg", jpeg(exif=exact, xmp=xmp("<dc:title><rdf:Alt><rdf:li> Old\t</rdf:li></rdf:Alt></dc:title>"))
    )
    library.index()
    before = send("GET").json
    assert send(json=before).json == before
    times = {name: before[name] for name in ("TakenAt", "TakenAtLocal", "TimeZone", "Year", "Month", "Day")}
    assert send(json=times).json == before
    assert send("GET", "/history").json == []


def told(send):
    """Return the record without the times and the score that follow from any edit."""
    record = send("GET").json
    return {
        name: value for name, value in record.items() if name not in {"EditedAt", "UpdatedAt", "CheckedAt", "Quality"}
    }


def test_null_restores_every_value_that_the_files_have(library, send):
    other = library.find(q="name:hill")[0]
    edits = {
        "Title": "Mine", "Description": "At dawn", "Caption": "At dawn", "TakenAt": "2001-02-03T04:05:06Z",
        "TakenAtLocal": "2001-02-03T04:05:06Z", "TimeZone": "Asia/Tokyo", "Year": -1, "Month": -1, "Day": -1,
        "Lat": 35.6895, "Lng": 139.6917, "Altitude": 2000, "Country": "jp", "CameraID": other["CameraID"],
        "CameraMake": "Leica", "CameraModel": "Q2", "LensID": 1, "LensMake": "Leica", "LensModel": "Summilux",
        "Iso": 6400, "FocalLength": 28, "FNumber": 1.7, "Exposure": "1/8", "Type": "raw", "Rating": 5, "Stack": -1,
        "OriginalName": "x.jpg", "Favorite": True, "Scan": True, "Panorama": True,
    }  # fmt: skip
    texts = dict.fromkeys(("Keywords", "Notes", "Subject", "Artist", "Copyright", "License"), "mine")
    schema = PhotoEditSchema().fields
    assert {*edits, "Private", "Details"} == {*schema}
    assert {*texts} == {*DetailsEditSchema().fields}
    before = told(send)
    for body in [{name: value} for name, value in edits.items()] + [{"Details": {name: "mine"}} for name in texts]:
        assert send(json=body).status_code == 200, body
        send(json=dict.fromkeys(body))
        assert told(send) == before, body
    assert (
        send(json={**edits, "Caption": "At dawn", "Year": 2001, "Month": 2, "Day": 3, "Details": texts}).status_code
        == 200
    )
    send(json={**dict.fromkeys(edits), "Details": None})
    assert told(send) == before


def test_null_leaves_the_other_values_of_the_same_source_as_a_person_set_them(send):
    for edit, restored, expected in (
        (
            {"TakenAtLocal": "2001-02-03T04:05:06Z", "TimeZone": "Asia/Tokyo"},
            "TimeZone",
            {"TakenAtLocal": "2001-02-03T04:05:06Z", "TakenAt": "2001-02-03T04:05:06Z", "TimeZone": "", "Day": 3},
        ),
        (
            {"TakenAtLocal": "2001-02-03T04:05:06Z", "TimeZone": "Asia/Tokyo"},
            "TakenAt",
            {"TakenAtLocal": "2020-01-02T03:04:05Z", "TakenAt": "2020-01-01T18:04:05Z", "TimeZone": "Asia/Tokyo"},
        ),
        (
            {"TakenAtLocal": "2001-02-03T04:05:06Z", "Month": -1},
            "Day",
            {"TakenAtLocal": "2001-02-03T04:05:06Z", "Year": 2001, "Month": -1, "Day": -1},
        ),
        (
            {"TakenAtLocal": "2001-02-03T04:05:06Z", "Day": -1},
            "Day",
            {"TakenAtLocal": "2001-02-03T04:05:06Z", "Year": 2001, "Month": 2, "Day": 3},
        ),
        ({"Lat": 35.6895, "Lng": 139.6917, "Altitude": 40}, "Altitude", {"Lat": 35.6895, "Country": "jp"}),
        ({"Lat": 0, "Lng": 0, "Country": "jp", "Altitude": 40}, "Country", {"Country": "zz", "Altitude": 40}),
        ({"CameraMake": "Leica", "LensModel": "Q"}, "CameraMake", {"CameraMake": "Canon", "LensModel": "Q"}),
        ({"CameraMake": "Leica", "LensModel": "Q"}, "LensModel", {"CameraMake": "Leica", "LensModel": "Unknown"}),
    ):
        send(json=edit)
        record = send(json={restored: None}).json
        assert {name: record[name] for name in expected} == expected
        send(json=dict.fromkeys(edit))


def test_a_private_photo_is_not_made_public_by_null(library, send):
    admin = {"X-Auth-Token": library.token(role="admin")}
    send(json={"Private": True})
    answer = send(json={"Private": None}, headers=admin)
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "Private")
    assert send("GET", headers=admin).json["Private"] is True


def test_a_record_that_a_client_read_in_single_precision_changes_nothing(send):
    before = send("PATCH", json={"Lat": 48.8583777, "Lng": 2.2944911, "FNumber": 1.8, "Title": "Tower"}).json
    rounded = {name: float(f"{single(before[name]):.8g}") for name in ("Lat", "Lng", "FNumber")}
    assert rounded["Lat"] != before["Lat"]
    assert send(json={**before, **rounded, "Altitude": 0, "LensMake": "", "CameraType": ""}).json == before


def single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def test_an_object_inside_a_json_text_and_a_body_without_its_type_are_read(send):
    assert send(json='{"Title": "Quoted"}').json["Title"] == "Quoted"
    assert send(json="Quoted").status_code == 400
    assert send(json='"Quoted"').status_code == 400
    assert send(data='"Untyped"').status_code == 400
    assert send("GET").json["Title"] == "Quoted"
    assert send(data=r'"{\"Title\": \"Untyped\"}"').json["Title"] == "Untyped"


def test_names_of_fields_count_in_any_case_and_with_underscores(send):
    sent = {"title": "Pier", "taken_at_local": "2021-07-04T18:30:15Z", "details": {"notes": "low", "Notes": "exact"}}
    changed = send(json=sent).json
    assert (changed["Title"], changed["TakenAtLocal"]) == ("Pier", "2021-07-04T18:30:15Z")
    assert changed["Details"]["Notes"] == "exact"
    for details in (5, "x", ["x"]):
        answer = send(json={"details": details})
        assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "Details")


def test_the_record_names_the_values_that_a_person_set(send):
    details = send(json={"Details": {"Artist": "Ann", "Keywords": "sun"}}).json["Details"]
    sources = {name: value for name, value in details.items() if name.endswith("Src")}
    assert sources.pop("ArtistSrc") == sources.pop("KeywordsSrc") == "manual"
    assert set(sources.values()) == {""}
    assert send(json={"Rating": 4}).json["Rating"] == 4
    assert send("PATCH", json={"Details": {"Artist": None}}).json["Details"]["ArtistSrc"] == ""


def test_a_zone_moves_the_utc_time_and_a_wall_time_both(send):
    answer = send(json={"TimeZone": "Asia/Tokyo"}).json
    assert (answer["TakenAt"], answer["TakenAtLocal"]) == ("2020-01-01T18:04:05Z", "2020-01-02T03:04:05Z")
    answer = send(json={"TakenAtLocal": "2019-07-08T09:10:11Z"}).json
    assert (answer["TakenAt"], answer["Year"], answer["Month"], answer["Day"]) == ("2019-07-08T00:10:11Z", 2019, 7, 8)
    assert answer["TakenSrc"] == "manual"


def test_a_position_names_its_place(library, send):
    answer = send(json={"Lat": 48.1374, "Lng": 11.5755}).json
    assert (answer["PlaceCity"], answer["Country"], answer["PlaceSrc"]) == ("Munich", "de", "manual")
    assert [record["FileName"] for record in library.find(q="city:Munich")] == ["a/lake.jpg"]


def test_a_partly_known_date_stays_so_until_a_whole_one_is_set(send):
    def date(answer):
        return answer["Year"], answer["Month"], answer["Day"]

    assert date(send(json={"Day": -1}).json) == (2020, 1, -1)
    assert date(send(json={"TimeZone": "Europe/Vienna"}).json) == (2020, 1, -1)
    assert date(send(json={"TakenAtLocal": "2021-05-06T00:00:00Z", "Day": -1}).json) == (2021, 5, -1)
    assert date(send(json={"TakenAtLocal": "2021-06-07T00:00:00Z"}).json) == (2021, 6, 7)
    assert date(send(json={"Month": -1}).json) == (2021, -1, -1)
    assert date(send(json={"Month": 6, "TimeZone": "Asia/Tokyo"}).json) == (2021, 6, -1)


def test_a_position_has_the_zone_of_its_place_unless_a_person_chose_one(send):
    first = send("GET").json
    answer = send(json={"Lat": 35.6895, "Lng": 139.6917}).json
    assert (answer["TimeZone"], answer["TakenAtLocal"]) == ("Asia/Tokyo", first["TakenAtLocal"])
    assert answer["TakenAt"] == "2020-01-01T18:04:05Z"
    answer = send(json={"Lat": None, "Lng": None}).json
    assert [answer[name] for name in ("TimeZone", "TakenAt")] == [first[name] for name in ("TimeZone", "TakenAt")]
    assert send(json={"TimeZone": "Europe/Vienna"}).json["TakenAt"] == "2020-01-02T02:04:05Z"
    answer = send(json={"Lat": 35.6895, "Lng": 139.6917}).json
    assert (answer["TimeZone"], answer["TakenAt"]) == ("Europe/Vienna", "2020-01-02T02:04:05Z")


def test_a_wrong_value_is_refused_by_its_name_and_changes_nothing(send):
    before = send("GET").json
    for body, field in (
        ({"Title": 5}, "Title"), ({"Title": "x" * 201}, "Title"), ({"TakenAt": "yesterday"}, "TakenAt"),
        ({"TimeZone": "Mars/Olympus"}, "TimeZone"), ({"TimeZone": "localtime"}, "TimeZone"), ({"Lat": 91}, "Lat"),
        ({"Lat": "NaN"}, "Lat"), ({"CameraID": 999}, "CameraID"), ({"Month": 5}, "Month"), ({"Type": "poem"}, "Type"),
        ({"Favorite": "maybe"}, "Favorite"), ({"Details": {"Keywords": 5}}, "Details.Keywords"),
    ):  # fmt: skip
        answer = send(json={"Description": "new", **body})
        assert answer.status_code == 400
        assert answer.json["details"][0]["field"] == field
        assert send("GET").json == before


def test_if_match_refuses_a_photo_that_changed_meanwhile(send):
    etag = send("GET").headers["ETag"]
    first = send(json={"Title": "First"}, headers={"If-Match": etag})
    second = send(json={"Title": "Second"}, headers={"If-Match": etag})
    third = send(json={"Title": "Third"}, headers={"If-Match": first.headers["ETag"]})
    assert (first.status_code, second.status_code, third.status_code) == (200, 412, 200)
    assert send("GET").json["Title"] == "Third"


def test_a_header_if_match_that_names_no_state_of_the_photo_changes_nothing(send):
    for header in (
        "", ",", '"', '"a" "b"', 'W/"x"', '*, "x"', "\xff",
    ):  # fmt: skip
        assert send(json={"Title": "x"}, headers={"If-Match": header}).status_code == 412
        assert send("GET").json["Title"] == "Old"


def test_any_photo_that_exists_matches_the_asterisk(library, send):
    assert send(json={"Title": "x"}, headers={"If-Match": "*"}).status_code == 200
    headers = {"X-Auth-Token": library.token(), "If-Match": "*"}
    for uid in ("pzzzzzzzzzzzzzzz", "%00", "p" * 4000):
        assert library.app.test_client().put(f"/api/v1/photos/{uid}", json={}, headers=headers).status_code == 404
        assert library.app.test_client().get(f"/api/v1/photos/{uid}/history", headers=headers).status_code == 404


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
@pytest.mark.parametrize("zone", ["", "Pacific/Kiritimati", "America/Los_Angeles"])
def test_the_first_and_the_last_time_are_ordinary_ones(library, send, moment, zone):
    answer = send(json={"TakenAt": moment, "TimeZone": zone, "Lat": 47.5, "Lng": 9.5})
    assert (answer.status_code, answer.json["TakenAt"]) == (200, moment)
    assert send(json={"Lat": None}).status_code == 200  # between located photos, its place would be estimated
    library.index(force=True)
    assert send("GET").json["TakenAt"] == moment
    assert send("GET", path="/history").json[-1]["After"]["TakenAt"].startswith(moment[:10])


def test_liking_and_approving_wrap_the_photo(library, send):
    assert send("POST", "/like").json["photo"]["Favorite"] is True
    assert [record["UID"] for record in library.find(q="favorite:true")] == [send.uid]
    assert send("DELETE", "/like").json["photo"]["Favorite"] is False
    assert send("POST", "/approve").json["photo"]["Quality"] >= 3


def test_a_viewer_may_not_change_and_a_client_not_see_a_private_photo(library, send):
    viewer = {"X-Auth-Token": library.token(role="viewer")}
    assert send(json={"Title": "x"}, headers=viewer).status_code == 403
    assert send(json={"Private": True}).json["Private"] is True
    reader = {"X-Auth-Token": library.token("photos read")}
    assert send(json={"Title": "x"}, headers=reader).status_code == 403
