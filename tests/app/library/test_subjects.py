"""People, labels and faces over HTTP: lists, renaming and merging, and that names outlive index runs."""

import pytest

from photosvc.models import Photo
from tests.app.library.test_labels import stop_after_one
from tests.helpers.factories.photos import edit_photos
from tests.helpers.pictures import exif, jpeg, showing

PICTURES = {
    "a/one.jpg": showing("Ada", keywords=["lake", "Sun"]),
    "a/two.jpg": showing("Ada", "Bob", keywords=["lake"]),
    "b/three.jpg": showing("Bobby"),
}


@pytest.fixture(scope="module")
def filled(fill):
    files = {}
    for number, (name, packet) in enumerate(PICTURES.items()):
        files[name] = jpeg(64 + number, 48, exif=exif({}, {0x9003: f"202{number}:01:02 03:04:05"}), xmp=packet)
    return fill(files)


@pytest.fixture
def uid_of(call):
    return lambda name: next(person["UID"] for person in call("GET", "/subjects") if person["Name"] == name)


def people(answer):
    return {person["Name"]: person["PhotoCount"] for person in answer}


def titles(library):
    return {record["FileName"]: record["Title"] for record in library.find()}


def test_people_are_listed_with_the_number_of_their_photos(call):
    found = call("GET", "/subjects?count=1000&type=person")
    assert people(found) == {"Ada": 2, "Bob": 1, "Bobby": 1}
    assert all(person["Type"] == "person" and len(person["UID"]) == 16 for person in found)
    assert call("GET", f"/subjects/{found[0]['UID']}") == found[0]
    assert people(call("GET", "/subjects?q=BOB&count=1")) == {"Bob": 1}
    assert next(iter(people(call("GET", "/subjects?order=count")))) == "Ada"
    names = list(people(call("GET", "/subjects?order=added")))
    assert names == ["Bobby", "Bob", "Ada"]
    assert call("GET", "/subjects?type=pet") == []


def test_a_new_name_reaches_searches_and_titles_and_outlives_index_runs(library, call, uid_of):
    ada = uid_of("Ada")
    renamed = call("PUT", f"/subjects/{ada}", json={"Name": " Ada Lovelace "})
    assert (renamed["UID"], renamed["Name"], renamed["PhotoCount"]) == (ada, "Ada Lovelace", 2)
    for _ in range(2):
        assert library.names(q="people:lovelace") == ["a/one.jpg", "a/two.jpg"]
        assert library.names(q='subject:"Ada Lovelace"') == ["a/one.jpg", "a/two.jpg"]
        assert library.names(q="subject:ada") == ["a/one.jpg", "a/two.jpg"]
        assert library.names(q='subject:"ada"') == []  # quotes ask for the whole name
        assert titles(library)["a/one.jpg"] == "Ada Lovelace / 2020"
        assert titles(library)["a/two.jpg"] == "Ada Lovelace & Bob / 2021"
        assert uid_of("Ada Lovelace") == ada
        library.index(force=True)


def test_a_person_renamed_twice_and_merged_keeps_all_photos(library, call, uid_of):
    for old, new in (("Bob", "Robert"), ("Robert", "Rob"), ("Bobby", "Rob")):
        call("PUT", f"/subjects/{uid_of(old)}", json={"Name": new})
    library.index(force=True)
    assert people(call("GET", "/subjects")) == {"Ada": 2, "Rob": 2}
    library.put("c/late.jpg", jpeg(90, 60, xmp=showing("BOB", "Robert")))
    library.index()
    assert people(call("GET", "/subjects")) == {"Ada": 2, "Rob": 3}


def test_a_name_that_became_free_stands_for_the_person_who_took_it(library, call, uid_of):
    call("PUT", f"/subjects/{uid_of('Bob')}", json={"Name": "Robert"})
    call("PUT", f"/subjects/{uid_of('Ada')}", json={"Name": "Bob"})
    for _ in range(2):
        assert people(call("GET", "/subjects")) == {"Bob": 2, "Bobby": 1, "Robert": 1}
        assert library.names(q="subject:robert") == ["a/two.jpg"]
        library.index(force=True)


def test_a_person_is_searched_by_uid_as_by_name(library, call, uid_of):
    bob = uid_of("Bob")
    for _ in range(2):
        assert library.names(subject=bob) == library.names(q=f"subject:{bob}") == ["a/two.jpg"]
        assert library.names(q=f"subject:{bob}|{uid_of('Bobby')}") == ["a/two.jpg", "b/three.jpg"]
        call("PUT", f"/subjects/{bob}", json={"Name": "Robert"})
    assert library.names(subject="jxxxxxxxxxxxxxxx") == []


def test_another_spelling_of_the_same_name_is_taken_over(library, call, uid_of):
    ada = uid_of("Ada")
    assert call("PUT", f"/subjects/{ada}", json={"Name": "ADA"})["UID"] == ada
    library.index(force=True)
    assert people(call("GET", "/subjects"))["ADA"] == 2


def test_a_wrong_name_is_refused(call, uid_of):
    for body in (
        {}, {"Name": ""}, {"Name": " "}, {"Name": "!"}, {"Name": 5}, {"Name": "x" * 161},
    ):  # fmt: skip
        answer = call("PUT", f"/subjects/{uid_of('Ada')}", 400, json=body)
        assert answer["details"][0]["field"] == "Name"


def test_people_of_private_photos_need_the_right_to_see_these(library, call, uid_of):
    bobby = uid_of("Bobby")
    with library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter(Photo.name == "three").scalar()], private=True)
    assert people(call("GET", "/subjects")) == {"Ada": 2, "Bob": 1}
    assert people(call("GET", "/subjects", token=library.token(role="user")))["Bobby"] == 1
    call("GET", f"/subjects/{bobby}", 404)
    call("PUT", f"/subjects/{bobby}", 404, json={"Name": "X"})
    call("PUT", f"/subjects/{bobby}", 403, json={"Name": "X"}, token=library.token(role="viewer"))


@pytest.mark.parametrize("name", ["Zoe", "BOB", "Ada"])
def test_without_the_right_to_private_photos_people_are_renamed_on_the_others(library, call, uid_of, name):
    library.put("c/four.jpg", jpeg(90, 48, xmp=showing("Bob")))
    library.index()
    with library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter(Photo.name == "four").scalar()], private=True)
    renamed = call("PUT", f"/subjects/{uid_of('Bob')}", json={"Name": name})
    assert renamed["Name"] == name
    for _ in range(2):
        assert people(call("GET", "/subjects")) == {"Ada": 2, "Bobby": 1} | {name: 2 if name == "Ada" else 1}
        everything = {"token": library.token(role="user")}
        (private,) = library.find(q="filename:c/four.jpg", merged="true", **everything)
        assert [marker["Name"] for marker in private["Files"][0]["Markers"]] == ["Bob"]
        library.index(force=True)
    (seen,) = library.find(q="filename:a/two.jpg", merged="true")
    assert sorted(marker["Name"] for marker in seen["Files"][0]["Markers"]) == sorted(["Ada", name])


def test_without_the_right_to_private_photos_labels_are_removed_from_the_others(library, call):
    with library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter(Photo.name == "two").scalar()], private=True)
    lake = next(label["UID"] for label in call("GET", "/labels") if label["Name"] == "lake")
    assert call("PUT", f"/labels/{lake}", json={"Name": "sea"})["Name"] == "sea"
    everything = {"token": library.token(role="user")}
    assert library.names(q="keywords:lake", **everything) == ["a/two.jpg"]
    assert library.names(q="keywords:sea", **everything) == ["a/one.jpg"]


def test_labels_are_the_keywords_with_their_counts_and_faces_are_none(call):
    found = call("GET", "/labels?count=1000")
    assert people(found) == {"lake": 2, "Sun": 1}
    assert people(call("GET", "/labels?q=SU")) == {"Sun": 1}
    assert found[0]["Slug"] == "lake"
    assert call("GET", "/faces") == []
    call("GET", "/labels?order=x", 400)


def test_markers_name_the_people_that_the_list_has(library, call, uid_of):
    def named(answer):
        return {(marker["Name"], marker["SubjUID"]) for file in answer["Files"] for marker in file["Markers"]}

    bob = uid_of("Bob")
    for old, new in (("Ada", "Ada"), ("Ada", "Ada L."), ("Bobby", "Ada L."), ("Ada L.", "Zoe")):
        call("PUT", f"/subjects/{uid_of(old)}", json={"Name": new})
        (two,) = library.find(merged="true", q="name:two")
        assert named(two) == named(call("GET", f"/photos/{two['UID']}")) == {("Bob", bob), (new, uid_of(new))}
        (file,) = two["Files"]
        markers = call("GET", f"/files/{file['Hash']}")["Markers"]
        assert {(marker["Name"], marker["SubjUID"]) for marker in markers} == named(two)
        call("PUT", f"/photos/{two['UID']}", json={"Title": new, "Favorite": True})
        assert library.find(merged="true", q="name:two")[0]["Files"][0]["Markers"] == two["Files"][0]["Markers"]
        library.index(force=True)
        assert library.find(merged="true", q="name:two")[0]["Files"][0]["Markers"] == two["Files"][0]["Markers"]


def test_a_renaming_that_was_interrupted_is_finished_by_the_next(library, call, uid_of, monkeypatch):
    def stop(*_):
        raise OSError

    ada = uid_of("Ada")
    with monkeypatch.context() as patched:
        patched.setattr("photosvc.library.people.rename_photos", stop)
        call("PUT", f"/subjects/{ada}", 500, json={"Name": "Zed"})
    assert library.names(q="people:zed") == []
    assert call("PUT", f"/subjects/{ada}", json={"Name": "Abe"})["UID"] == ada
    assert people(call("GET", "/subjects")) == {"Abe": 2, "Bob": 1, "Bobby": 1}
    assert library.names(q="people:abe") == ["a/one.jpg", "a/two.jpg"]


def test_a_person_on_too_many_photos_is_renamed_by_the_same_request_again(library, call, uid_of, monkeypatch):
    ada = uid_of("Ada")
    stopped = stop_after_one(library, call, monkeypatch, ("PUT", f"/subjects/{ada}", {"Name": "Zed"}))
    assert stopped["photos"] == 1
    assert len(library.names(q="people:zed")) == 1
    assert call("PUT", f"/subjects/{ada}", json={"Name": "Zed"})["UID"] == ada
    assert library.names(q="people:zed") == ["a/one.jpg", "a/two.jpg"]


def test_a_hidden_person_is_left_out_of_lists_facets_and_suggestions_until_shown_again(call, uid_of):
    uid = uid_of("Bob")

    def seen():
        facet = [value["label"] for value in call("GET", "/photos/facets?by=person")["person"]]
        suggested = [one["label"] for one in call("GET", "/suggest?q=subject:bo&at=10")["suggestions"]]
        return (
            people(call("GET", "/subjects")),
            sorted(facet),
            sorted(suggested),
            call("GET", "/config")["count"]["people"],
        )

    before = seen()
    assert call("PUT", f"/subjects/{uid}", json={"Hidden": True})["Hidden"] is True
    assert seen() == ({"Ada": 2, "Bobby": 1}, ["Ada", "Bobby"], ["Bobby"], 2)
    assert people(call("GET", "/subjects?hidden=true")) == {"Bob": 1}
    assert people(call("GET", "/subjects?hidden=true&q=ada")) == {}
    assert call("GET", f"/subjects/{uid}")["Hidden"] is True
    assert len(call("GET", "/photos?q=subject:Bob&count=9")) == 1
    assert call("PUT", f"/subjects/{uid}", json={"Hidden": False, "Name": "Bob"})["Hidden"] is False
    assert seen() == before
    assert call("GET", "/subjects?hidden=true") == []


def test_a_renamed_person_stays_hidden_and_one_who_becomes_another_is_shown_as_that_one_was(call, uid_of):
    uid = uid_of("Bob")
    call("PUT", f"/subjects/{uid}", json={"Hidden": True})
    assert call("PUT", f"/subjects/{uid}", json={"Name": "Robert", "Favorite": True})["Hidden"] is True
    assert people(call("GET", "/subjects?hidden=true")) == {"Robert": 1}
    assert call("PUT", f"/subjects/{uid_of('Bobby')}", json={"Name": "Robert"})["Hidden"] is False
    assert people(call("GET", "/subjects")) == {"Ada": 2, "Robert": 2}


def test_a_birth_date_stays_with_the_person_until_it_is_removed(call, uid_of):
    uid = uid_of("Bob")
    assert call("GET", f"/subjects/{uid}")["BirthDate"] == ""
    assert call("PUT", f"/subjects/{uid}", json={"BirthDate": "1950-12-31"})["BirthDate"] == "1950-12-31"
    assert call("PUT", f"/subjects/{uid}", json={"Name": "Robert"})["BirthDate"] == "1950-12-31"
    for wrong in ("19501231", "1950-13-01", "yesterday", 5, None, "0000-01-01"):
        answer = call("PUT", f"/subjects/{uid}", json={"BirthDate": wrong}, status=400)
        assert answer["error"].startswith("BirthDate: "), wrong
    call("PUT", f"/subjects/{uid_of('Bobby')}", json={"Name": "Robert"})
    assert call("GET", f"/subjects/{uid_of('Robert')}")["BirthDate"] == "1950-12-31"
    assert call("PUT", f"/subjects/{uid_of('Robert')}", json={"BirthDate": ""})["BirthDate"] == ""


def test_a_person_is_hidden_only_by_a_boolean_and_without_a_new_name(call, uid_of):
    for values in (
        {"Hidden": "yes"},
        {"Hidden": True, "Name": "Bert"},
    ):
        answer = call("PUT", f"/subjects/{uid_of('Bob')}", 400, json=values)
        assert "Hidden" in answer["error"]
        assert call("GET", "/subjects?hidden=true") == []
