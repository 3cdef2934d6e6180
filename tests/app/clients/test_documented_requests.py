"""Requests of clients that cannot run here, sent as their documentation gives them."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg, xmp

PARIS = {1: "N", 2: [(48, 1), (51, 1), (30, 1)], 3: "E", 4: [(2, 1), (17, 1), (40, 1)]}


def marked(name, word):
    """XMP with a marked face and a keyword."""
    return xmp(
        '<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType="Resource">'
        f"<mwg-rs:Name>{name}</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>"
        '<mwg-rs:Area stArea:x="0.5" stArea:y="0.5" stArea:w="0.1" stArea:h="0.2" stArea:unit="normalized"/></rdf:li>'
        f"</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions><dc:subject><rdf:Bag><rdf:li>{word}</rdf:li></rdf:Bag>"
        "</dc:subject>"
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("documented")) as api:
        for day, name in enumerate(("old", "new", "private"), 1):
            taken = exif({}, {0x9003: f"2021:07:0{day} 10:00:00"}, PARIS)
            api.library.put(f"trip/{name}.jpg", jpeg(300 + day, 200, exif=taken, xmp=marked("Ada", "lake")))
        api.library.index()
        admin = api.app_password("ann")
        for photo in api.call("GET", "/photos?count=10", admin).json:
            api.hashes = {**getattr(api, "hashes", {}), photo["Name"]: photo["Hash"]}
            api.photos = {**getattr(api, "photos", {}), photo["Name"]: photo["UID"]}
        api.call("PUT", f"/photos/{api.photos['private']}", admin, json={"Private": True})
        yield api


# Two galleries for Android


def test_lists_have_the_hash_of_the_cover_that_the_caller_may_see(filled):
    for name, cover in (("ann", "private"), ("vera", "new")):
        token = filled.app_password(name)
        for path in (
            "/albums?count=100&offset=0&type=folder&order=name",
            "/albums?count=100&offset=0&type=month&order=newest",
            "/albums?count=100&offset=0&type=state&order=name",
            "/moments/time",
            "/labels?count=100&offset=0",
            "/subjects?count=100&offset=0&type=person",
        ):
            listed = [one["Thumb"] for one in filled.call("GET", path, token).json]
            assert listed == [filled.hashes[cover]], (name, path)


def test_folders_have_the_cover_of_the_photos_in_and_below_them(filled):
    answer = filled.call("GET", "/folders/originals?recursive=true", filled.app_password("vera")).json
    assert [(folder["Path"], folder["Thumb"]) for folder in answer["folders"]] == [("trip", filled.hashes["new"])]


def test_albums_have_a_cover_that_is_never_null(filled):
    token = filled.app_password("ann")
    plain = filled.call("POST", "/albums", token, json={"Title": "Plain"}).json
    smart = filled.call("POST", "/albums", token, json={"Title": "Smart", "Filter": "name:old"}).json
    assert (plain["Thumb"], smart["Thumb"]) == ("", filled.hashes["old"])
    path = f"/albums/{plain['UID']}"
    added = filled.call("POST", f"{path}/photos", token, json={"photos": [filled.photos["old"]]}).json
    assert added["album"]["Thumb"] == filled.hashes["old"]
    assert filled.call("GET", path, token).json["Thumb"] == filled.hashes["old"]
    listed = filled.call("GET", "/albums?count=100&type=album", token).json
    assert [(album["Title"], album["Thumb"]) for album in listed] == [
        ("Plain", filled.hashes["old"]),
        ("Smart", filled.hashes["old"]),
    ]
    for album in listed:
        assert filled.call("DELETE", f"/albums/{album['UID']}", token).status_code == 200


def test_people_and_labels_keep_their_cover_when_they_become_favourites(filled):
    token = filled.app_password("ann")
    (person,) = filled.call("GET", "/subjects?count=10", token).json
    (label,) = filled.call("GET", "/labels?count=10", token).json
    for path in (f"/subjects/{person['UID']}/like", f"/labels/{label['UID']}/like"):
        for method in ("POST", "DELETE"):
            assert filled.call(method, path, token).json["Thumb"] == filled.hashes["private"]


def test_a_batch_edit_takes_values_with_actions(filled):
    token, uid = filled.app_password("ann"), filled.photos["old"]
    values = {
        "Favorite": {"action": "update", "mixed": False, "value": True},
        "Title": {"action": "none", "mixed": True, "value": ""},
    }
    answer = filled.call("POST", "/batch/photos/edit", token, json={"photos": [uid], "values": values})
    assert (answer.status_code, answer.json["photos"]) == (200, 1)
    photo = filled.call("GET", f"/photos/{uid}", token).json
    assert (photo["Favorite"], bool(photo["Title"])) == (True, True)
    filled.call("DELETE", f"/photos/{uid}/like", token)


def test_a_batch_edit_with_another_action_changes_nothing(filled):
    values = {"Favorite": {"action": "add", "value": True}}
    body = {"photos": [filled.photos["old"]], "values": values}
    answer = filled.call("POST", "/batch/photos/edit", filled.app_password("ann"), json=body)
    assert (answer.status_code, answer.json["error"]) == (
        400,
        "values.Favorite: action is update, with a value, or none",
    )


def test_the_query_overrides_parameters(filled):
    token, shared = filled.app_password("ann"), {"new", "old"}
    for parameters, names in (
        ("public=true", shared),
        ("public=true&q=public:false", {*shared, "private"}),
        ("public=true&q=public:", {*shared, "private"}),
        ("public=true&q=public:true", shared),
        ("public=true&q=lake+public:false", {*shared, "private"}),
        ("public=true&q=(public:false)", shared),
        ("public=true&q=-public:false", shared),
        ("quality=7", set()),
        ("quality=7&q=quality:0", {*shared, "private"}),
        ("quality=7&q=public:false", set()),
    ):
        answer = filled.call("GET", f"/photos?count=10&{parameters}", token)
        assert {photo["Name"] for photo in answer.json} == names, parameters


def test_selections_have_keys_in_any_case(filled):
    token, photo = filled.app_password("ann"), filled.photos["old"]
    for key in ("photos", "Photos", "PHOTOS"):
        album = filled.call("POST", "/albums", token, json={"Title": "Cased"}).json["UID"]
        added = filled.call("POST", f"/albums/{album}/photos", token, json={key: [photo]})
        assert [one["PhotoUID"] for one in added.json["added"]] == [photo], key
        archived = filled.call("POST", "/batch/photos/archive", token, json={key: [photo]})
        restored = filled.call("POST", "/batch/photos/restore", token, json={key.upper(): [photo]})
        assert (archived.json["photos"], restored.json["photos"]) == (1, 1), key
        deleted = filled.call("POST", "/batch/albums/delete", token, json={"Albums": [album]})
        assert deleted.json["albums"] == [album], key


# A widget of a dashboard

COUNTS = {
    "all": 2, "photos": 2, "live": 0, "videos": 0, "favorites": 0, "private": 0, "files": 2, "albums": 0, "people": 1,
    "review": 0, "hidden": 0, "archived": 0, "labels": 1, "cameras": 0, "countries": 1, "states": 1, "places": 1,
    "folders": 1, "months": 1,
}  # fmt: skip


def test_a_dashboard_logs_in_with_an_app_password_and_reads_the_counts(filled):
    secret = filled.app_password("vera", "*")
    answer = filled.call("POST", "/session", secret, json={"authToken": secret})
    assert (answer.status_code, answer.json["provider"]) == (200, "application")
    assert answer.json["user"]["Name"] == "vera"
    assert answer.json["config"]["count"] == COUNTS
    assert filled.call("GET", "/config", answer.json["access_token"]).json["count"] == COUNTS


def test_either_place_of_the_app_password_suffices(filled):
    secret = filled.app_password("vera", "*")
    for token, body in ((secret, {}), (None, {"authToken": secret, "username": "", "password": ""})):
        answer = filled.call("POST", "/session", token, json=body)
        assert (answer.status_code, answer.json["provider"]) == (200, "application"), body


def test_other_tokens_open_no_session(filled):
    for token, status in ((filled.access_token(), 403), (filled.client_token(), 403), ("a" * 48, 401), ("abc", 401)):
        assert filled.call("POST", "/session", json={"authToken": token}).status_code == status
        assert filled.call("POST", "/session", token, json={}).status_code == status
    answer = filled.call("POST", "/session", json={"authToken": filled.app_password("vera", "photos")})
    assert answer.status_code == 403
    assert filled.call("POST", "/session", json={"authToken": 5}).status_code == 400


# A picture frame


def test_a_frame_reads_the_media_type_and_the_caption_in_results_and_views(filled):
    token, uid = filled.app_password("ann"), filled.photos["new"]
    changed = filled.call("PUT", f"/photos/{uid}", token, json={"Caption": "At the lake"}).json
    assert (changed["Caption"], changed["Description"], changed["CaptionSrc"]) == ("At the lake",) * 2 + ("manual",)
    for path in (f"/photos?q=uid:{uid}", f"/photos/view?q=uid:{uid}", f"/photos?merged=true&q=uid:{uid}"):
        (found,) = filled.call("GET", path, token).json
        assert (found["Caption"], found["Description"], found["Mime"]) == ("At the lake",) * 2 + ("image/jpeg",)
    assert [photo["UID"] for photo in filled.call("GET", '/photos?q=caption:"the+lake"', token).json] == [uid]
    filled.call("PUT", f"/photos/{uid}", token, json={"Caption": ""})


def test_of_a_record_that_is_sent_back_the_changed_text_counts(filled):
    token, path = filled.app_password("ann"), f"/photos/{filled.photos['new']}"
    for stored, sent, description in (
        ("old", {"Description": "new", "Caption": "old"}, "new"),
        ("old", {"Description": "old", "Caption": "new"}, "new"),
        ("old", {"Description": "new", "Caption": "newer"}, "newer"),
        ("old", {"Description": "old", "Caption": "old"}, "old"),
        ("", {"Caption": None}, ""),
        ("old", {"Description": "new"}, "new"),
    ):
        filled.call("PUT", path, token, json={"Description": stored})
        assert filled.call("PUT", path, token, json=sent).json["Description"] == description, sent
    filled.call("PUT", path, token, json={"Description": ""})


def test_a_batch_edit_writes_the_caption(filled):
    token, uid = filled.app_password("ann"), filled.photos["new"]
    body = {"photos": [uid], "values": {"Caption": {"action": "update", "value": "Boat"}}}
    assert filled.call("POST", "/batch/photos/edit", token, json=body).json["photos"] == 1
    assert filled.call("GET", f"/photos/{uid}", token).json["Description"] == "Boat"
    filled.call("PUT", f"/photos/{uid}", token, json={"Caption": ""})
