"""/markers/<uid>: naming who is on a marked area, and that it outlives index runs, turning and renaming."""

from functools import partial

import pytest

from photosvc.models import Photo
from tests.support.factories.photos import edit_photos
from tests.support.library import open_library
from tests.support.pictures import exif, jpeg, xmp

pytestmark = pytest.mark.usefixtures("right_search_rows")


def showing(*names):
    """XMP with a marked face for each name."""
    faces = "".join(
        f'<rdf:li rdf:parseType="Resource"><mwg-rs:Name>{name}</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>'
        f'<mwg-rs:Area stArea:x="0.{number}" stArea:y="0.4" stArea:w="0.1" stArea:h="0.2" stArea:unit="normalized"/>'
        "</rdf:li>"
        for number, name in enumerate(names, 2)
    )
    return xmp(
        f'<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag>{faces}</rdf:Bag>'
        "</mwg-rs:RegionList></mwg-rs:Regions>"
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The library of which each test has a copy."""
    library = open_library(tmp_path_factory.mktemp("filled") / "instance")
    for number, names in enumerate((("Ada", "Bob"), ("Ada", ""))):
        taken = exif({}, {0x9003: f"202{number}:01:02 03:04:05"})
        library.put(f"{number}.jpg", jpeg(64 + number, 48, exif=taken, xmp=showing(*names)))
    library.index()
    library.close()
    return library


@pytest.fixture
def call(copied_library):
    """A function that sends a request of a user and gives the body of an answer with this status."""
    return partial(copied_library.call, token=copied_library.token(role="user"))


def markers(library, name):
    (photo,) = library.find(merged="true", q=f"name:{name}", token=library.token(role="user"))
    return photo["Files"][0]["Markers"]


def names(library, name):
    return [marker["Name"] for marker in markers(library, name)]


def test_a_chosen_name_is_found_and_outlives_index_runs(copied_library, call):
    ada = markers(copied_library, "0")[0]
    named = call("PUT", f"/markers/{ada['UID']}", json={"Name": " Zoe ", "SubjSrc": "manual"})
    assert (named["UID"], named["Name"], named["X"]) == (ada["UID"], "Zoe", ada["X"])
    for _ in range(2):
        assert names(copied_library, "0") == ["Zoe", "Bob"]
        assert copied_library.names(q="people:zoe") == ["0.jpg"]
        assert copied_library.find(q="people:zoe")[0]["Title"] == "Zoe & Bob / 2020"
        assert {person["Name"] for person in call("GET", "/subjects")} == {"Ada", "Bob", "Zoe"}
        copied_library.index(force=True)
    assert markers(copied_library, "0")[0]["UID"] == ada["UID"]


@pytest.mark.slow
def test_an_area_loses_its_name_and_gets_back_that_of_the_file(copied_library, call):
    bob = markers(copied_library, "0")[1]["UID"]
    assert call("DELETE", f"/markers/{bob}/subject")["Name"] == ""
    copied_library.index(force=True)
    assert (names(copied_library, "0"), copied_library.names(q="people:bob")) == (["Ada", ""], [])
    assert call("PUT", f"/markers/{bob}", json={"Name": None})["Name"] == "Bob"
    assert names(copied_library, "0") == ["Ada", "Bob"]


def test_an_area_without_a_name_gets_one(copied_library, call):
    marker = markers(copied_library, "1")[1]["UID"]
    call("PUT", f"/markers/{marker}", json={"Name": "Cleo"})
    copied_library.index(force=True)
    assert names(copied_library, "1") == ["Ada", "Cleo"]


def test_the_name_turns_with_the_picture(copied_library, call):
    (photo,) = copied_library.find(merged="true", q="name:0")
    call("PUT", f"/markers/{markers(copied_library, '0')[0]['UID']}", json={"Name": "Zoe"})
    call("PUT", f"/photos/{photo['UID']}/files/{photo['FileUID']}/orientation", json={"Orientation": 6})
    assert names(copied_library, "0") == ["Zoe", "Bob"]
    call("PUT", f"/markers/{markers(copied_library, '0')[1]['UID']}", json={"Name": "Rob"})
    call("PUT", f"/photos/{photo['UID']}/files/{photo['FileUID']}/orientation", json={"Orientation": None})
    copied_library.index(force=True)
    assert names(copied_library, "0") == ["Zoe", "Rob"]


def test_a_chosen_name_is_in_the_history_and_is_undone_there(copied_library, call):
    (photo,) = copied_library.find(q="name:0")
    call("PUT", f"/markers/{markers(copied_library, '0')[0]['UID']}", json={"Name": "Zoe"})
    (change,) = call("GET", f"/photos/{photo['UID']}/history")
    assert (change["Action"], change["Before"]["Names"]) == ("people.marker", {})
    call("POST", f"/photos/{photo['UID']}/history/{change['ID']}/undo")
    assert names(copied_library, "0") == ["Ada", "Bob"]


def test_renaming_a_person_reaches_chosen_names_too(copied_library, call):
    call("PUT", f"/markers/{markers(copied_library, '1')[1]['UID']}", json={"Name": "Bob"})
    bob = next(person["UID"] for person in call("GET", "/subjects") if person["Name"] == "Bob")
    call("PUT", f"/subjects/{bob}", json={"Name": "Robert"})
    copied_library.index(force=True)
    assert (names(copied_library, "0"), names(copied_library, "1")) == (["Ada", "Robert"], ["Ada", "Robert"])


@pytest.mark.parametrize(
    ("uid", "body", "status"),
    [
        ("UID", {}, 400),
        ("UID", {"Name": "!"}, 400),
        ("UID", {"Name": 5}, 400),
        ("UID", {"Name": "x" * 161}, 400),
        ("mxxxxxxxxxxxxxxx", {"Name": "Zoe"}, 404),
        ("%00", {"Name": "Zoe"}, 404),
    ],
)
def test_wrong_names_and_areas_are_refused(copied_library, call, uid, body, status):
    call("PUT", f"/markers/{uid.replace('UID', markers(copied_library, '0')[0]['UID'])}", status, json=body)


def test_areas_of_private_photos_are_named_only_by_who_sees_private(copied_library, call):
    uid = markers(copied_library, "0")[0]["UID"]
    with copied_library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter(Photo.name == "0").scalar()], private=True)
    call("PUT", f"/markers/{uid}", 404, json={"Name": "Zoe"}, token=copied_library.token())
    call("DELETE", f"/markers/{uid}/subject", 404, token=copied_library.token())
    call("PUT", f"/markers/{uid}", 403, json={"Name": "Zoe"}, token=copied_library.token(role="viewer"))
    call("PUT", f"/markers/{uid}", json={"Name": "Zoe"})
