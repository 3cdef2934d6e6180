"""Labels over HTTP: those of one photo, and renaming, liking and deleting one in all photos that have it."""

import re

import pytest
import yaml

from photosvc.library import batches
from photosvc.models import Photo, photo_keywords
from tests.helpers.factories.photos import edit_photos
from tests.helpers.pictures import exif, jpeg, xmp

KEYWORDS = {"a/one.jpg": ("lake", "Sun"), "a/two.jpg": ("lake", "Éte"), "b/three.jpg": ("snow",)}


@pytest.fixture(scope="module")
def filled(fill):
    files = {}
    for number, (name, keywords) in enumerate(KEYWORDS.items()):
        words = "".join(f"<rdf:li>{word}</rdf:li>" for word in keywords)
        packet = xmp(f"<dc:subject><rdf:Bag>{words}</rdf:Bag></dc:subject>")
        files[name] = jpeg(64 + number, 48, exif=exif({}, {0x9003: f"202{number}:01:02 03:04:05"}), xmp=packet)
    return fill(files)


@pytest.fixture
def uid(library):
    return lambda name: library.find(q=f"name:{name}", archived="")[0]["UID"]


@pytest.fixture
def label(call):
    return lambda name: next(label for label in call("GET", "/labels") if label["Name"] == name)


def counts(labels):
    return {label["Name"]: label["PhotoCount"] for label in labels}


def test_a_label_added_to_a_photo_is_found_and_outlives_index_runs(library, call, uid):
    one = uid("one")
    photo = call("POST", f"/photos/{one}/label", json={"Name": " Boat ", "Uncertainty": 0, "Priority": 10})
    assert photo["Details"]["Keywords"] == "Boat, Sun, lake"
    assert [(label["Label"]["Name"], label["LabelSrc"]) for label in photo["Labels"]] == [
        ("Boat", "manual"),
        ("Sun", "manual"),
        ("lake", "manual"),
    ]
    library.index(force=True)
    assert library.names(q="label:boat") == ["a/one.jpg"]
    assert counts(call("GET", "/labels")) == {"Boat": 1, "lake": 2, "snow": 1, "Sun": 1, "Éte": 1}


@pytest.mark.parametrize("key", ["LabelID", "UID"])
def test_a_label_taken_from_a_photo_stays_away_and_can_be_undone(library, call, uid, key):
    one = uid("one")
    first = call("GET", f"/photos/{one}")["Labels"][0]
    assert first["Label"]["Name"] == "Sun"
    path = f"/photos/{one}/label/{first['LabelID'] if key == 'LabelID' else first['Label']['UID']}"
    assert call("DELETE", path)["Details"]["Keywords"] == "lake"
    call("DELETE", path, 404)
    library.index(force=True)
    assert library.names(q="label:sun") == []
    (change,) = call("GET", f"/photos/{one}/history")
    assert change["Action"] == "photos.label"
    call("POST", f"/photos/{one}/history/{change['ID']}/undo")
    assert library.names(q="label:sun") == ["a/one.jpg"]


def test_a_confirmed_label_stays_when_the_file_loses_it(library, call, uid):
    three = uid("three")
    (snow,) = call("GET", f"/photos/{three}")["Labels"]
    assert call("PUT", f"/photos/{three}/label/{snow['LabelID']}")["Labels"][0]["LabelSrc"] == "manual"
    library.put("b/three.jpg", jpeg(66, 48, exif=exif({}, {0x9003: "2022:01:02 03:04:05"})), age=60)
    library.index()
    assert library.names(q="label:snow") == ["b/three.jpg"]
    call("PUT", f"/photos/{three}/label/{snow['LabelID']}", json={"Uncertainty": 100})
    assert library.names(q="label:snow") == []


def test_a_wrong_name_of_a_label_is_refused(call, uid, label):
    for body in (
        {}, {"Name": None}, {"Name": ""}, {"Name": "\u0301"}, {"Name": "a,b"}, {"Name": 5}, {"Name": "x" * 256},
    ):  # fmt: skip
        for method, path in (("POST", f"/photos/{uid('one')}/label"), ("PUT", f"/labels/{label('lake')['UID']}")):
            assert call(method, path, 400, json=body)["details"][0]["field"] == "Name"


def test_a_photo_has_at_most_256_labels(call, uid):
    one = uid("one")
    call("PUT", f"/photos/{one}", json={"Details": {"Keywords": [f"k{number}" for number in range(256)]}})
    assert call("POST", f"/photos/{one}/label", 409, json={"Name": "more"})["details"][0]["field"] == "Name"
    call("POST", f"/photos/{one}/label", json={"Name": "K5"})


def test_renaming_a_label_changes_all_of_its_photos_and_outlives_index_runs(library, call, label):
    renamed = call("PUT", f"/labels/{label('lake')['UID']}", json={"Name": "Water"})
    assert (renamed["Name"], renamed["PhotoCount"]) == ("Water", 2)
    library.index(force=True)
    assert counts(call("GET", "/labels")) == {"snow": 1, "Sun": 1, "Water": 2, "Éte": 1}
    assert library.names(q="keywords:water") == ["a/one.jpg", "a/two.jpg"]


def test_the_name_of_another_label_makes_one_of_both_and_it_stays_a_favourite(call, label):
    call("POST", f"/labels/{label('lake')['UID']}/like")
    merged = call("PUT", f"/labels/{label('lake')['UID']}", json={"Name": "sun"})
    assert (merged["Name"], merged["PhotoCount"], merged["Favorite"]) == ("Sun", 2, True)


@pytest.mark.parametrize("action", ["rename", "delete"])
def test_a_label_of_too_many_photos_is_changed_by_the_same_request_again(library, call, label, monkeypatch, action):
    uid = label("lake")["UID"]
    request = {
        "rename": ("PUT", f"/labels/{uid}", {"Name": "Water"}),
        "delete": ("POST", "/batch/labels/delete", {"labels": [uid]}),
    }[action]
    stopped = stop_after_one(library, call, monkeypatch, request)
    assert (stopped["photos"], re.sub(r"\d+ seconds", "N seconds", stopped["error"])) == (
        1,
        "1 of 2 photos took N seconds: send the same request again for the others (before that, 1 photo changed)",
    )
    assert counts(call("GET", "/labels"))["lake"] == 1
    call(request[0], request[1], json=request[2])
    assert "lake" not in counts(call("GET", "/labels"))
    assert library.names(q="keywords:water") == (["a/one.jpg", "a/two.jpg"] if action == "rename" else [])


def stop_after_one(library, call, monkeypatch, request):
    """Send a request that changes a photo in each transaction, and that the first one takes too long for."""
    with monkeypatch.context() as patched:
        for name in ("_PORTION", "_LEAST"):
            patched.setattr(batches, name, 1)
        patched.setattr(library.clock, "step", 20)
        return call(request[0], request[1], 503, json=request[2])


def test_another_spelling_of_a_label_is_taken_over(library, call, label):
    before = label("lake")
    renamed = call("PUT", f"/labels/{before['UID']}", json={"Name": "LAKE"})
    assert (renamed["UID"], renamed["Name"], renamed["PhotoCount"]) == (before["UID"], "LAKE", 2)
    library.index(force=True)
    assert label("LAKE")["PhotoCount"] == 2


def test_labels_and_people_become_favourites(call, label):
    for name in (
        "like",
        "favorite",
    ):
        path = f"/labels/{label('snow')['UID']}/{name}"
        assert call("POST", path)["Favorite"] is True
        assert counts(call("GET", "/labels?favorite=true")) == {"snow": 1}
        assert call("GET", "/labels?order=favorites")[0]["Name"] == "snow"
        assert call("DELETE", path)["Favorite"] is False
        assert call("GET", "/labels?favorite=yes") == []
        call("GET", "/labels?favorite=maybe", 400)


def test_deleted_labels_leave_all_photos_archived_ones_too(library, call, uid, label):
    call("POST", "/batch/photos/archive", json={"photos": [uid("two")]})
    user = library.token(role="user")
    uids = [label("lake")["UID"], label("snow")["UID"], "lxxxxxxxxxxxxxxx"]
    answer = call("POST", "/batch/labels/delete", json={"labels": uids, "photos": None}, token=user)
    assert (set(answer["labels"]), answer["photos"]) == (set(uids[:2]), 3)
    library.index(force=True)
    call("POST", "/batch/photos/restore", json={"q": "archived:true", "expected": 1}, token=user)
    assert counts(call("GET", "/labels")) == {"Sun": 1, "Éte": 1}
    call("POST", "/batch/labels/delete", 400, json={"labels": []})
    call("POST", "/batch/labels/delete", 400, json={"labels": ["l"] * 1001})


def test_a_renaming_without_the_right_to_private_photos_keeps_their_label(library, call, label):
    lake = label("lake")["UID"]
    with library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter(Photo.name == "two").scalar()], private=True)
    assert call("PUT", f"/labels/{lake}", json={"Name": "Water"})["PhotoCount"] == 1
    assert counts(call("GET", "/labels", token=library.token(role="user"))) == {
        "lake": 1, "snow": 1, "Sun": 1, "Water": 1, "Éte": 1,
    }  # fmt: skip
    call("PUT", f"/labels/{lake}", 404, json={"Name": "Water"})
    call("PUT", f"/labels/{lake}", 403, json={"Name": "Water"}, token=library.token(role="viewer"))


def test_a_photo_is_removed_by_its_address(library, call, uid):
    one = uid("one")
    assert call("DELETE", f"/photos/{one}")["photos"] == 1
    assert library.names() == ["a/two.jpg", "b/three.jpg"]
    with library.session() as session:
        assert session.query(photo_keywords).count() == 5  # those of the deleted photo wait for it to be restored
    for gone in (one, "p" * 16, "x"):
        call("DELETE", f"/photos/{gone}", 404)
    call("DELETE", f"/photos/{uid('two')}", 403, token=library.token(role="viewer"))


def test_the_record_of_a_photo_is_sent_as_yaml(call, uid):
    one = uid("one")
    texts = {"Title": "No: 1 # 'x' \"y\" \u2028 \x85 😀", "Description": "- a\n- b: c\tyes"}
    photo = call("PUT", f"/photos/{one}", json={**texts, "Details": {"Notes": "2020-01-01"}})
    text = call("GET", f"/photos/{one}/yaml")
    assert yaml.safe_load(text) == call("GET", f"/photos/{one}")
    assert yaml.safe_load(text)["Title"] == photo["Title"]
    assert 'Title: "No: 1' in text
    call("GET", "/photos/pxxxxxxxxxxxxxxx/yaml", 404)
