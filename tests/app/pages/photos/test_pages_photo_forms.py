"""Forms of photos, without scripts: values, names of people, conflicts, and the actions on one photo or ticked ones."""

import re
from html import unescape

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.browser import OWN, Browser, text_of
from tests.helpers.pictures import exif, jpeg, showing

HOSTILE = '"><img src=x onerror=alert(1)>\u202e{{7*7}}'


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("filled")) as api:
        taken = exif({}, {0x9003: "2023:05:01 10:00:00"})
        api.library.put("lake.jpg", jpeg(64, 48, exif=taken, xmp=showing("Ada", "Bob")))
        for number in range(2):
            api.library.put(f"{number}.jpg", jpeg(80 + number, 60, exif=exif({}, {0x9003: "2022:01:02 03:04:05"})))
        api.library.index()
    return api


@pytest.fixture
def api(filled, tmp_path):
    with open_api(tmp_path, like=filled) as api:
        yield api


@pytest.fixture
def photo(api):
    """A photo's record, read again with each call."""
    token = api.app_password("alice")
    (uid,) = (one["UID"] for one in api.library.find(token=token, q="name:lake", merged="true"))
    return lambda: api.call("GET", f"/photos/{uid}", token).json


def change(api, uid, values, name="alice"):
    answer = api.call("PUT", f"/photos/{uid}", api.app_password(name), json=values)
    assert answer.status_code == 200, answer.text


def opened(alice, uid):
    """The fields of the form as a browser has them."""
    page = alice.open(f"/photos/{uid}/edit", headers=OWN).text
    form = page[page.index('<form class="card"') :]
    found = dict(re.findall(r'<(?:input|textarea) [^>]*?name="([^"]+)"[^>]*? value="([^"]*)"', form))
    found |= dict(re.findall(r'<textarea id="[^"]+" name="([^"]+)"[^>]*>\n?([^<]*)</textarea>', form))
    for name, body in re.findall(r'(?s)<select id="[^"]+" name="([^"]+)"[^>]*>(.*?)</select>', form):
        found[name] = re.search(r'value="([^"]*)" selected', body)[1]
    return {name: unescape(value) for name, value in found.items()}


def send(alice, uid, form):
    return alice.send(f"/photos/{uid}/edit", form)


def test_a_form_that_is_sent_as_it_was_opened_changes_nothing(api, alice, photo):
    before = photo()
    form = opened(alice, before["UID"])
    assert form["TakenAtLocal"] == "2023-05-01T10:00:00"
    # Browsers send times without seconds that are zero, and lines that end in CR LF.
    answer = send(alice, before["UID"], {**form, "TakenAtLocal": "2023-05-01T10:00"})
    assert answer.headers["Location"] == f"/photos/{before['UID']}?done=saved"
    assert photo() == before


def test_what_is_typed_is_saved_and_shown(alice, photo):
    uid = photo()["UID"]
    form = opened(alice, uid) | {
        "Title": HOSTILE,
        "Description": "one\r\ntwo",
        "Rating": "4",
        "TakenAtLocal": "2021-02-03T04:05",
        "Keywords": "lake, boat",
        "Position": "47.5, 9.25",
        "Altitude": "395",
        "Artist": "Ann",
        "FNumber": "2,8",
        "Scan": "true",
    }
    answer = send(alice, uid, form)
    assert answer.status_code == 303
    assert "Photo saved." in text_of(alice.open(answer.headers["Location"], headers=OWN))
    record = photo()
    assert (record["Title"], record["Description"], record["Rating"]) == (HOSTILE, "one\ntwo", 4)
    assert (record["TakenAtLocal"], record["Scan"]) == ("2021-02-03T04:05:00Z", True)
    assert record["Details"]["Keywords"] == "boat, lake"
    assert (record["Lat"], record["Lng"], record["Altitude"], record["FNumber"]) == (47.5, 9.25, 395, 2.8)
    assert record["Details"]["Artist"] == "Ann"
    page = alice.open(f"/photos/{uid}", headers=OWN).text
    assert "<img src=x" not in page
    assert text_of(alice.open(f"/photos/{uid}", headers=OWN)).count(HOSTILE) >= 1


def test_an_emptied_time_position_or_number_is_that_of_the_file_again(alice, photo):
    before = photo()
    uid = before["UID"]
    send(alice, uid, opened(alice, uid) | {"TakenAtLocal": "2021-02-03T04:05", "Position": "47.5 9.25"})
    assert photo()["TakenAtLocal"] == "2021-02-03T04:05:00Z"
    send(alice, uid, opened(alice, uid) | {"TakenAtLocal": "", "Position": ""})
    assert (photo()["TakenAtLocal"], photo()["Lat"]) == (before["TakenAtLocal"], 0)


def test_people_on_marked_areas_get_names_and_lose_them(alice, photo):
    uid = photo()["UID"]
    form = opened(alice, uid)
    ada, bob = (name for name in form if name.startswith("Person-"))
    assert (form[ada], form[bob]) == ("Ada", "Bob")
    assert send(alice, uid, form | {ada: "Zoe", bob: ""}).status_code == 303
    assert [marker["Name"] for marker in photo()["Files"][0]["Markers"]] == ["Zoe", ""]


#: Beginnings of fields, values typed there, and the errors shown beside the fields.
WRONG = [
    ("Title", "x" * 201, "At most 200 characters."),
    ("FNumber", "wide", "Type a number."),
    ("FNumber", "nan", "Type a number."),
    ("Rating", "9", "Must be greater than or equal to -1 and less than or equal to 5."),
    ("Rating", "much", "Type a number."),
    ("Position", "47.5", "Type latitude and longitude, such as 47.56903, 9.37510."),
    ("Position", "95, 9", "Latitudes are from -90 to 90, longitudes from -180 to 180."),
    ("Country", "Spain", "Use the two letters of a country, such as ch."),
    ("TakenAtLocal", "yesterday", "Use a time such as 2023-05-01T10:00:00Z."),
    ("TimeZone", "Mars/North", "'Mars/North' is not the name of a time zone"),
    ("Type", "hologram", "Must be one of: image, raw, live, video, animated."),
    ("Person", "!?", "Type a name with letters or digits."),
    ("Person", "x" * 161, "At most 160 characters."),
]


def test_an_error_is_told_beside_its_field_and_nothing_is_lost(alice, photo):
    before = photo()
    form = opened(alice, before["UID"])
    for start, typed, message in WRONG:
        field = next(name for name in form if name.startswith(start))
        answer = send(alice, before["UID"], form | {field: typed, "Notes": "kept"})
        assert answer.status_code == 400, (field, typed)
        assert f'id="wrong-{field}">{message}' in unescape(answer.text), (field, typed)
        assert "kept</textarea>" in answer.text, (field, typed)
    assert photo() == before


def test_values_that_two_people_changed_are_both_shown_and_the_second_may_overwrite(api, alice, photo):
    uid = photo()["UID"]
    form = opened(alice, uid)
    change(api, uid, {"Title": "Sea", "Description": "of another"}, "ann")
    answer = send(alice, uid, form | {"Title": "Lake", "Rating": "3"})
    assert answer.status_code == 409
    assert "somebody else changed this photo" in text_of(answer)
    assert 'value="Lake"' in answer.text
    assert re.findall(r"Saved meanwhile: <q[^>]*>([^<]*)<", answer.text) == ["Sea"]
    assert photo()["Title"] == "Sea"
    version = re.search(r'name="version" value="([^"]+)"', answer.text)[1]
    again = form | {"Title": "Lake", "Rating": "3", "Description": "of another", "version": unescape(version)}
    assert send(alice, uid, again).status_code == 303
    record = photo()
    assert (record["Title"], record["Description"], record["Rating"]) == ("Lake", "of another", 3)


def test_what_others_changed_elsewhere_in_the_photo_stays(api, alice, photo):
    uid = photo()["UID"]
    form = opened(alice, uid)
    change(api, uid, {"Description": "of another", "Favorite": True}, "ann")
    assert send(alice, uid, form | {"Title": "Lake"}).status_code == 303
    record = photo()
    assert (record["Title"], record["Description"], record["Favorite"]) == ("Lake", "of another", True)


def test_a_form_with_a_damaged_version_overwrites_nothing_unseen(alice, photo):
    before = photo()
    form = opened(alice, before["UID"]) | {"Title": "Lake"}
    for version in ("", "x", "Title: :: Title:0", "Title:" + "0" * 12):
        answer = send(alice, before["UID"], form | {"version": version})
        assert answer.status_code == 409, version
        assert f"Saved meanwhile: {before['Title']}" in text_of(answer), version
    assert photo() == before


def test_viewers_see_no_form(api, photo):
    vera = Browser(api)
    assert vera.sign_in("vera").status_code == 303
    page = vera.open(f"/photos/{photo()['UID']}", headers=OWN).text
    assert "/edit" not in page
    assert "/marks" not in page
    assert 'name="photo"' not in vera.open("/?order=title", headers=OWN).text


def test_the_form_and_its_page_stay_within_the_search(alice, photo):
    uid = photo()["UID"]
    assert f'href="/photos/{uid}/edit?q=lake"' in alice.open(f"/photos/{uid}?q=lake", headers=OWN).text
    page = alice.open(f"/photos/{uid}/edit?q=lake", headers=OWN).text
    assert f'action="/photos/{uid}/edit?q=lake"' in page
    answer = alice.send(f"/photos/{uid}/edit?q=lake", opened(alice, uid))
    assert answer.headers["Location"] == f"/photos/{uid}?q=lake&done=saved"


def test_a_photo_that_is_not_there_has_no_form(alice):
    assert alice.open("/photos/ptouqe1kbhlaydg7/edit", headers=OWN).status_code == 404
    assert alice.send("/photos/ptouqe1kbhlaydg7/edit", {"Title": "x"}).status_code == 404


def mark(alice, act, photos, back="/"):
    return alice.send("/marks", {"act": act, "photo": photos, "next": back})


FLAGS = [
    ("favorite", "Favorite", True, "added to the favorites", "plain"),
    ("archive", "DeletedAt", None, "archived", "restore"),
    ("private", "Private", True, "made private", "public"),
]


@pytest.mark.parametrize(("act", "flag", "value", "words", "undo"), FLAGS)
def test_an_action_on_a_photo_says_what_it_did_and_is_undone(alice, photo, act, flag, value, words, undo):
    before = photo()
    page = f"/photos/{before['UID']}"
    assert f'name="act" value="{act}"' in alice.open(page, headers=OWN).text
    answer = mark(alice, act, [before["UID"]], page)
    assert answer.headers["Location"] == f"{page}?done={act}&photo={before['UID']}"
    shown = alice.open(answer.headers["Location"], headers=OWN)
    assert f"Photo {words}." in text_of(shown)
    assert f'name="act" value="{undo}">Undo' in shown.text
    assert f'name="act" value="{act}"' not in shown.text
    assert photo()[flag] == value if value is not None else photo()[flag]
    mark(alice, undo, [before["UID"]], page)
    assert photo()[flag] == before[flag]


def test_ticked_photos_are_changed_together_and_undo_takes_back_only_what_changed(api, alice, photo):
    uid = photo()["UID"]
    change(api, uid, {"Favorite": True})
    every = [one["UID"] for one in api.library.find(token=api.app_password("alice"), merged="true")]
    page = alice.open("/?order=title", headers=OWN).text
    assert sorted(re.findall(r'form="marks" name="photo" value="(\w+)"', page)) == sorted(every)
    answer = mark(alice, "favorite", every, "/?order=title")
    assert answer.headers["Location"].startswith("/?order=title&done=favorite&photo=")
    shown = alice.open(answer.headers["Location"], headers=OWN)
    assert "2 photos added to the favorites." in text_of(shown)
    undone = re.findall(r'<input type="hidden" name="photo" value="(\w+)">', shown.text)
    assert sorted(undone) == sorted(set(every) - {uid})
    mark(alice, "plain", undone)
    assert [one["UID"] for one in api.library.find(token=api.app_password("alice"), q="favorite:true")] == [uid]


def test_photos_in_review_are_approved(api, alice, photo):
    found = api.library.find(token=api.app_password("alice"), review="true", merged="true")
    assert found
    uid = found[0]["UID"]
    assert 'value="approve"' in alice.open(f"/photos/{uid}", headers=OWN).text
    assert mark(alice, "approve", [uid]).headers["Location"] == f"/?done=approve&photo={uid}"
    assert uid not in [one["UID"] for one in api.library.find(token=api.app_password("alice"), review="true")]
    assert 'value="approve"' not in alice.open(f"/photos/{uid}", headers=OWN).text


@pytest.mark.parametrize(
    ("act", "photos", "message"),
    [("archive", [], "Select photos first."), ("archive", ["x", "p\0"], "Select photos first."),
     ("explode", ["ptouqe1kbhlaydg7"], "Select photos first."),
     ("archive", ["ptouqe1kbhlaydg7"], "Nothing changed: that was done before.")],
)  # fmt: skip
def test_an_action_without_photos_says_so(alice, photo, act, photos, message):
    answer = mark(alice, act, photos)
    assert message in text_of(alice.open(answer.headers["Location"], headers=OWN))


def test_an_action_leads_to_no_other_site(alice, photo):
    answer = mark(alice, "favorite", [photo()["UID"]], "https://example.com/")
    assert answer.headers["Location"].startswith("/?done=favorite")


def test_the_outcome_in_an_address_is_read_with_care(alice, photo):
    page = alice.open("/", headers=OWN, query_string={"done": "archive", "photo": ["x", '"><b>', "ptouqe1kbhlaydg7"]})
    assert "Photo archived." in text_of(page)
    assert "<b>" not in page.text
    assert "archived" not in text_of(alice.open("/?done=explode", headers=OWN))


def test_private_photos_are_out_of_reach_of_users_who_may_not_see_them(api, alice, photo):
    uid = photo()["UID"]
    change(api, uid, {"Private": True})
    narrow = Browser(api)
    assert narrow.sign_in("vera").status_code == 303
    assert narrow.open(f"/photos/{uid}/edit", headers=OWN).status_code == 403
    assert mark(narrow, "archive", [uid]).status_code == 403
