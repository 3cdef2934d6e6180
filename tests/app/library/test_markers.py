"""/markers: naming who is on a marked area, adding areas, and that both outlive index runs, turning and renaming."""

from functools import partial

import pytest

from photosvc.models import Photo
from tests.helpers.factories.photos import edit_photos
from tests.helpers.pictures import exif, jpeg, showing


@pytest.fixture(scope="module")
def filled(fill):
    files = {}
    for number, names in enumerate((("Ada", "Bob"), ("Ada", ""))):
        taken = exif({}, {0x9003: f"202{number}:01:02 03:04:05"})
        files[f"{number}.jpg"] = jpeg(64 + number, 48, exif=taken, xmp=showing(*names))
    return fill(files)


@pytest.fixture
def call(library):
    """Return a function that sends a request of a user and returns the body of an answer with the expected status."""
    return partial(library.call, token=library.token(role="user"))


def markers(library, name):
    (photo,) = library.find(merged="true", q=f"name:{name}", token=library.token(role="user"))
    return photo["Files"][0]["Markers"]


def names(library, name):
    return [marker["Name"] for marker in markers(library, name)]


def test_a_chosen_name_is_found_and_outlives_index_runs(library, call):
    ada = markers(library, "0")[0]
    named = call("PUT", f"/markers/{ada['UID']}", json={"Name": " Zoe ", "SubjSrc": "manual"})
    assert (named["UID"], named["Name"], named["X"]) == (ada["UID"], "Zoe", ada["X"])
    for _ in range(2):
        assert names(library, "0") == ["Zoe", "Bob"]
        assert library.names(q="people:zoe") == ["0.jpg"]
        assert library.find(q="people:zoe")[0]["Title"] == "Zoe & Bob / 2020"
        assert {person["Name"] for person in call("GET", "/subjects")} == {"Ada", "Bob", "Zoe"}
        library.index(force=True)
    assert markers(library, "0")[0]["UID"] == ada["UID"]


def test_an_area_loses_its_name_and_gets_back_that_of_the_file(library, call):
    bob = markers(library, "0")[1]["UID"]
    assert call("DELETE", f"/markers/{bob}/subject")["Name"] == ""
    library.index(force=True)
    assert (names(library, "0"), library.names(q="people:bob")) == (["Ada", ""], [])
    assert call("PUT", f"/markers/{bob}", json={"Name": None})["Name"] == "Bob"
    assert names(library, "0") == ["Ada", "Bob"]


def test_the_name_turns_with_the_picture(library, call):
    (photo,) = library.find(merged="true", q="name:0")
    call("PUT", f"/markers/{markers(library, '0')[0]['UID']}", json={"Name": "Zoe"})
    call("PUT", f"/photos/{photo['UID']}/files/{photo['FileUID']}/orientation", json={"Orientation": 6})
    assert names(library, "0") == ["Zoe", "Bob"]
    call("PUT", f"/markers/{markers(library, '0')[1]['UID']}", json={"Name": "Rob"})
    call("PUT", f"/photos/{photo['UID']}/files/{photo['FileUID']}/orientation", json={"Orientation": None})
    library.index(force=True)
    assert names(library, "0") == ["Zoe", "Rob"]


def test_a_chosen_name_is_in_the_history_and_is_undone_there(library, call):
    (photo,) = library.find(q="name:0")
    call("PUT", f"/markers/{markers(library, '0')[0]['UID']}", json={"Name": "Zoe"})
    (change,) = call("GET", f"/photos/{photo['UID']}/history")
    assert (change["Action"], change["Before"]["Names"]) == ("people.marker", {})
    call("POST", f"/photos/{photo['UID']}/history/{change['ID']}/undo")
    assert names(library, "0") == ["Ada", "Bob"]


def test_renaming_a_person_reaches_chosen_names_too(library, call):
    call("PUT", f"/markers/{markers(library, '1')[1]['UID']}", json={"Name": "Bob"})
    bob = next(person["UID"] for person in call("GET", "/subjects") if person["Name"] == "Bob")
    call("PUT", f"/subjects/{bob}", json={"Name": "Robert"})
    library.index(force=True)
    assert (names(library, "0"), names(library, "1")) == (["Ada", "Robert"], ["Ada", "Robert"])


def test_wrong_names_and_areas_are_refused(library, call):
    for uid, body, status in (
        ("UID", {}, 400), ("UID", {"Name": "!"}, 400), ("UID", {"Name": 5}, 400), ("UID", {"Name": "x" * 161}, 400),
        ("mxxxxxxxxxxxxxxx", {"Name": "Zoe"}, 404), ("%00", {"Name": "Zoe"}, 404),
    ):  # fmt: skip
        call("PUT", f"/markers/{uid.replace('UID', markers(library, '0')[0]['UID'])}", status, json=body)


def test_naming_areas_of_private_photos_needs_the_right_to_see_them(library, call):
    uid = markers(library, "0")[0]["UID"]
    with library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter(Photo.name == "0").scalar()], private=True)
    call("PUT", f"/markers/{uid}", 404, json={"Name": "Zoe"}, token=library.token())
    call("DELETE", f"/markers/{uid}/subject", 404, token=library.token())
    call("PUT", f"/markers/{uid}", 403, json={"Name": "Zoe"}, token=library.token(role="viewer"))
    call("PUT", f"/markers/{uid}", json={"Name": "Zoe"})


BOX = {"X": 0.7, "Y": 0.1, "W": 0.2, "H": 0.25}


@pytest.fixture
def add(library, call):
    """A function that adds an area to the file of a photo."""

    def post(name="0", status=200, token=None, **given):
        (photo,) = library.find(q=f"name:{name}", token=library.token(role="user"))
        body = {"FileUID": photo["FileUID"], "Type": "face", "Name": "Zoe", **BOX, **given}
        return call("POST", "/markers", status, json=body, **({"token": token} if token else {}))

    return post


def boxes(library, name):
    return [[marker[side] for side in "XYWH"] for marker in markers(library, name)]


def test_an_added_area_is_found_and_outlives_index_runs(library, call, add):
    before = markers(library, "0")
    added = add()
    assert {name: added[name] for name in ("Name", "Type", "Src", *BOX)} == {
        "Name": "Zoe", "Type": "face", "Src": "manual", **BOX,
    }  # fmt: skip
    for _ in range(2):
        assert markers(library, "0") == [*before, added]
        assert library.names(q="people:zoe") == ["0.jpg"]
        assert library.names(q="faces:3") == ["0.jpg"]
        assert library.find(q="people:zoe")[0]["Title"] == "Ada, Bob & Zoe / 2020"
        assert {person["Name"] for person in call("GET", "/subjects")} == {"Ada", "Bob", "Zoe"}
        assert call("GET", f"/markers/{added['UID']}") == added
        library.index(force=True)


def test_an_added_area_outlives_other_areas_in_the_file(library, add):
    added = add()
    taken = exif({}, {0x9003: "2020:01:02 03:04:05"})
    library.put("0.jpg", jpeg(64, 48, exif=taken, xmp=showing("Cleo", "Bob", "Dora")))
    library.index()
    assert names(library, "0") == ["Zoe", "Cleo", "Bob", "Dora"]
    assert markers(library, "0")[0] == added


def test_an_added_area_turns_with_the_picture(library, call, add):
    (photo,) = library.find(q="name:0")
    path = f"/photos/{photo['UID']}/files/{photo['FileUID']}/orientation"
    add()
    call("PUT", path, json={"Orientation": 6})
    assert boxes(library, "0")[-1] == [0.65, 0.7, 0.25, 0.2]
    drawn = add(Name="", X=0.1, Y=0.2, W=0.3, H=0.4)
    assert [drawn[side] for side in "XYWH"] == [0.1, 0.2, 0.3, 0.4]
    call("PUT", f"/markers/{drawn['UID']}", json={"Name": "Yan"})
    call("PUT", path, json={"Orientation": None})
    assert boxes(library, "0")[-2:] == [[0.7, 0.1, 0.2, 0.25], [0.2, 0.6, 0.4, 0.3]]
    assert names(library, "0") == ["Ada", "Bob", "Zoe", "Yan"]


def test_the_name_of_an_added_area_can_be_set_changed_and_removed(library, call, add):
    uid = add(Name="")["UID"]
    for body, name in (({"Name": "Yan"}, "Yan"), ({"Name": None}, ""), ({"Name": "Xu"}, "Xu")):
        assert call("PUT", f"/markers/{uid}", json=body)["Name"] == name
        assert names(library, "0") == ["Ada", "Bob", name]
    assert call("DELETE", f"/markers/{uid}/subject")["Name"] == ""
    assert markers(library, "0")[2]["UID"] == uid


def test_an_added_area_is_removed_and_comes_back_by_undo(library, call, add):
    (photo,) = library.find(q="name:0")
    added, other = add(), add(Name="Yan", X=0.05)
    removed = call("PUT", f"/markers/{added['UID']}", json={"Invalid": True})
    assert (removed["UID"], removed["Invalid"]) == (added["UID"], True)
    assert names(library, "0") == ["Ada", "Bob", "Yan"]
    assert markers(library, "0")[2] == other
    call("GET", f"/markers/{added['UID']}", 404)
    taken, *_, drawn = call("GET", f"/photos/{photo['UID']}/history")
    assert (taken["Action"], drawn["Before"]["Areas"]) == ("people.marker", {})
    call("POST", f"/photos/{photo['UID']}/history/{taken['ID']}/undo")
    assert set(names(library, "0")) == {"Ada", "Bob", "Yan", "Zoe"}
    library.index(force=True)
    assert len(names(library, "0")) == 4


def test_an_area_of_a_file_cannot_be_removed(library, call):
    call("PUT", f"/markers/{markers(library, '0')[0]['UID']}", 409, json={"Invalid": True})
    assert names(library, "0") == ["Ada", "Bob"]


@pytest.mark.parametrize("role", ["user", "client"])
def test_renaming_a_person_reaches_added_areas(library, call, add, role):
    add(name="1", Name="Bob")
    bob = next(person["UID"] for person in call("GET", "/subjects") if person["Name"] == "Bob")
    token = library.token() if role == "client" else library.token(role="user")
    call("PUT", f"/subjects/{bob}", json={"Name": "Robert"}, token=token)
    library.index(force=True)
    assert (names(library, "0"), names(library, "1")) == (["Ada", "Robert"], ["Ada", "", "Robert"])


def test_a_part_outside_of_the_picture_is_left_out(add):
    added = add(X=0.9, Y=0.95, W=1, H=0.333333333)
    assert [added[side] for side in "XYWH"] == [0.9, 0.95, 0.1, 0.05]


def test_the_same_area_is_not_added_twice(library, add):
    add()
    add(status=409, Name="Yan")
    assert names(library, "0") == ["Ada", "Bob", "Zoe"]


def test_a_file_has_a_limit_of_added_areas(library, add, monkeypatch):
    monkeypatch.setattr("photosvc.index.file_columns.MAX_REGIONS", 2)
    for number in range(3):
        add(status=409 if number == 2 else 200, X=number / 10)
    assert len(markers(library, "0")) == 4


def test_wrong_new_areas_are_refused(library, add):
    for given, status in (
        ({"FileUID": "fxxxxxxxxxxxxxxx"}, 404), ({"FileUID": "\0"}, 404), ({"FileUID": 5}, 400), ({"X": None}, 400),
        ({"X": "NaN"}, 400), ({"X": 1}, 400), ({"Y": -0.1}, 400), ({"W": 0}, 400), ({"H": 1.1}, 400),
        ({"Name": "!"}, 400), ({"Name": "x" * 161}, 400), ({"Type": "label"}, 400),
    ):  # fmt: skip
        add(status=status, **given)
        assert names(library, "0") == ["Ada", "Bob"]


def test_adding_areas_to_private_photos_needs_the_right_to_see_them(library, add):
    with library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter(Photo.name == "0").scalar()], private=True)
    add(status=404, token=library.token())
    add(status=403, token=library.token(role="viewer"))
    add()
