"""Requests of clients that are generated from PhotoPrism's description of its API."""

import pyotp
import pytest

from tests.helpers.api_client import PASSWORD, check_error, open_api
from tests.helpers.pictures import exif, jpeg, xmp

MARKED = xmp(
    '<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType="Resource">'
    "<mwg-rs:Name>Ada</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>"
    '<mwg-rs:Area stArea:x="0.5" stArea:y="0.5" stArea:w="0.1" stArea:h="0.2" stArea:unit="normalized"/></rdf:li>'
    "</rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"
)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("generated")) as api:
        for day, name in enumerate(("open", "private"), 1):
            taken = exif({}, {0x9003: f"2021:07:0{day} 10:00:00"})
            api.library.put(f"{name}.jpg", jpeg(300 + day, 200, exif=taken, xmp=MARKED))
        api.library.index()
        admin = api.app_password("ann")
        api.photos = {photo["Name"]: photo for photo in api.call("GET", "/photos?count=9&merged=true", admin).json}
        api.call("PUT", f"/photos/{api.photos['private']['UID']}", admin, json={"Private": True})
        yield api


def features(api, token):
    return api.call("GET", "/settings", token).json["features"]


def test_the_features_are_those_that_the_role_may_use(filled):
    login = features(filled, filled.session_of("ann"))
    assert {name for name, on in login.items() if not on} == {"services", "settings", "share"}
    viewer = features(filled, filled.session_of("vera"))
    assert {name for name, on in viewer.items() if on} == {
        "account", "albums", "calendar", "download", "estimates", "files", "folders", "labels", "moments", "people",
        "places", "review", "search", "videos",
    }  # fmt: skip


def test_the_features_are_those_that_the_scope_covers(filled):
    editing = {"archive", "delete", "download", "edit", "favorites", "library", "ratings"}
    for scope, more in (("settings", set()), ("settings albums read", {"albums"}), ("settings photos", editing)):
        found = features(filled, filled.app_password("ann", scope))
        on = {name for name, enabled in found.items() if enabled}
        assert on - {"private", "review", "search", "videos"} == {"estimates", *more}, scope


def test_a_service_that_must_not_write_offers_no_uploads(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_READONLY": "true"}) as api:
        found = features(api, api.session_of("ann"))
        options = api.call("GET", "/config/options", api.session_of("ann")).json
    assert (found["upload"], found["import"], found["edit"]) == (False, False, True)
    assert options["ReadOnly"] is True


def test_what_makes_a_stack_is_named_as_it_is_set(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_STACK_BY": "names document"}) as api:
        stack = api.call("GET", "/settings", api.access_token()).json["stack"]
    assert stack == {"uuid": True, "meta": False, "name": True}


def test_the_options_are_those_in_force_and_no_secret(filled):
    answer = filled.call("GET", "/config/options", filled.app_password("ann"))
    settings = filled.library.app.extensions["photosvc"].settings
    assert answer.json == {
        "OriginalsPath": str(settings.originals),
        "OriginalsLimit": 1000,
        "ImportPath": str(settings.import_folder),
        "CachePath": str(settings.cache),
        "DatabaseDriver": "sqlite",
        "ReadOnly": False,
        "SiteUrl": settings.base_url,
        "SiteTitle": "photosvc",
        "SessionMaxAge": 1_209_600,
        "SessionTimeout": 604_800,
        "Workers": settings.index_workers,
    }
    assert settings.secret_key not in answer.text


def test_there_are_no_services(filled):
    assert filled.call("GET", "/services?count=100", filled.app_password("vera")).json == []


def test_a_client_activates_and_deactivates_the_second_factor(tmp_path):
    with open_api(tmp_path) as api:
        own, path = api.session_of(), api.user_path(rest="/passcode")
        check_error(api.call("POST", f"{path}/activate", own), 409)
        secret = api.call("POST", path, own, json={"password": PASSWORD}).json["secret"]
        check_error(api.call("POST", f"{path}/activate", own), 409)
        totp = pyotp.TOTP(secret)
        assert api.call("POST", f"{path}/confirm", own, json={"code": totp.at(api.clock())}).status_code == 200
        assert api.call("POST", f"{path}/activate", own, json={"password": PASSWORD}).status_code == 200
        check_error(api.log_in(), 401, code=32)
        api.clock.move(minutes=5)
        check_error(api.call("POST", f"{path}/deactivate", own, json={"password": PASSWORD}), 400)
        proof = {"password": PASSWORD, "code": totp.at(api.clock())}
        assert api.call("POST", f"{path}/deactivate", own, json=proof).status_code == 200
        check_error(api.call("POST", f"{path}/activate", own), 409)
        assert api.log_in().status_code == 200


def test_a_marked_area_is_shown_to_those_who_may_see_its_photo(filled):
    for name, role in (("open", "vera"), ("private", "ann")):
        (marker,) = filled.photos[name]["Files"][0]["Markers"]
        answer = filled.call("GET", f"/markers/{marker['UID']}", filled.app_password(role))
        assert (answer.status_code, marker["Name"], answer.json) == (200, "Ada", marker), (name, role)
    check_error(filled.call("GET", f"/markers/{marker['UID']}", filled.app_password("vera")), 404)
    for uid in ("m" + "1" * 15, "nothing", "m\0"):
        check_error(filled.call("GET", f"/markers/{uid}", filled.app_password("ann")), 404)


def test_a_client_marks_a_face_and_takes_it_back(filled):
    token, photo = filled.app_password("ann"), filled.photos["open"]
    form = {
        "FileUID": photo["FileUID"], "Type": "face", "SubjSrc": "manual", "Name": "Bob",
        "X": 0.25, "Y": 0.125, "W": 0.0625, "H": 0.5, "Invalid": False, "Review": False,
    }  # fmt: skip
    marker = filled.call("POST", "/markers", token, json=form)
    assert (marker.status_code, marker.json.keys()) == (200, photo["Files"][0]["Markers"][0].keys())
    assert {name: marker.json[name] for name in ("Type", "Src", "Name", *"XYWH")} == {
        "Type": "face", "Src": "manual", "Name": "Bob", "X": 0.25, "Y": 0.125, "W": 0.0625, "H": 0.5,
    }  # fmt: skip
    changed = {**marker.json, "Name": "Robert", "SubjSrc": "manual", "Invalid": False}
    path = f"/markers/{marker.json['UID']}"
    assert filled.call("PUT", path, token, json=changed).json["Name"] == "Robert"
    assert filled.call("PUT", path, token, json={**changed, "Invalid": True}).json["Invalid"] is True
    check_error(filled.call("GET", path, token), 404)


def test_there_are_no_groups_of_faces_and_no_pictures_of_accounts(filled):
    token = filled.session_of("ann")
    assert filled.call("GET", "/faces?count=100", token).json == []
    for path, methods in (
        ("/faces/TOSCDXCS4VI3PGIUTCNIQCNI6HSFXQVZ", ("GET", "PUT")),
        (f"/users/{filled.uids['ann']}/avatar", ("GET", "POST")),
    ):
        for method in methods:
            check_error(filled.call(method, path, token), 404)


def test_a_deleted_album_is_answered(filled):
    token = filled.app_password("ann")
    album = filled.call("POST", "/albums", token, json={"Title": "Gone"}).json
    deleted = filled.call("DELETE", f"/albums/{album['UID']}", token)
    assert (deleted.status_code, deleted.json["UID"], deleted.json["Title"]) == (200, album["UID"], "Gone")


def test_an_address_may_end_in_a_slash(filled):
    token = filled.session_of("ann")
    for path in ("/photos", "/albums", "/settings", "/config", "/config/options", "/services", "/labels"):
        plain, slashed = filled.call("GET", path, token), filled.call("GET", f"{path}/", token)
        assert (slashed.status_code, slashed.location) == (200, None), path
        assert (type(slashed.json), len(slashed.json)) == (type(plain.json), len(plain.json)), path
