"""GET /photos/<uid>/history and undo: who changed what, and taking it back."""

import pytest

from tests.helpers.pictures import encoded, exif, jpeg, quarters

TAKEN = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: "2020:01:02 03:04:05"})


@pytest.fixture(scope="module")
def filled(fill):
    files = {}
    files["a/lake.jpg"] = jpeg(exif=TAKEN)
    return fill(files)


@pytest.fixture
def send(library):
    uid = library.find()[0]["UID"]

    def send(method="PUT", path="", *, token=None, status=200, **options):
        address = f"/api/v1/photos/{uid}{path}"
        headers = {"X-Auth-Token": token or library.token(role="admin")}
        answer = library.app.test_client().open(address, method=method, headers=headers, **options)
        assert answer.status_code == status, answer.text
        return answer.json

    return send


def test_the_history_has_actors_values_and_times(send):
    generated = send("GET")["Title"]
    send(json={"Title": "Mine"})
    send(json={"Details": {"Artist": "Ann"}, "Private": True})
    send(json={"Title": "Mine"})  # changes nothing
    last, first = send("GET", "/history")
    assert first["Before"] == {"Title": generated, "TitleSrc": ""}
    assert first["After"] == {"Title": "Mine", "TitleSrc": "manual"}
    assert (first["Action"], first["ActorName"], first["CreatedAt"]) == (
        "photos.update",
        "user1",
        "2026-03-01T12:00:00Z",
    )
    assert first["ActorUID"].startswith("u")
    assert last["Before"] == {"Artist": "", "ArtistSrc": "", "Private": False}
    assert last["After"] == {"Artist": "Ann", "ArtistSrc": "manual", "Private": True}
    assert [one["ID"] for one in send("GET", "/history?count=1")] == [last["ID"]]
    assert [one["ID"] for one in send("GET", f"/history?before={last['ID']}")] == [first["ID"]]
    assert send("GET", "/history?count=0", status=400)["details"][0]["field"] == "count"


def test_undoing_gives_the_record_from_before_and_can_be_undone(library, send):
    places = {"Lat": 48.1374, "Lng": 11.5755, "CameraMake": "Leica", "TimeZone": "Asia/Tokyo"}
    before = send("GET")
    changed = send(json={**places, "Favorite": True, "Details": {"Keywords": "sun"}, "Description": "x"})
    assert changed["PlaceCity"] == "Munich"
    (change,) = send("GET", "/history")
    undone = send("POST", f"/history/{change['ID']}/undo")["photo"]
    varying = {"EditedAt", "Quality"}  # the photo counts as edited
    assert {name for name in before if before[name] != undone[name]} <= varying
    assert library.find(q="city:Munich") == []
    undo = send("GET", "/history?count=1")[0]
    assert (undo["Action"], undo["Undoes"]) == ("photos.undo", change["ID"])
    again = send("POST", f"/history/{undo['ID']}/undo")["photo"]
    assert again == changed
    library.index(force=True)
    after = send("GET")
    assert {name for name in after if after[name] != changed[name]} <= {"CheckedAt", "UpdatedAt"}
    assert [record["UID"] for record in library.find(q="city:Munich keywords:sun favorite:true")] == [changed["UID"]]


def test_changes_of_different_values_are_undone_in_any_order(send):
    send(json={"Details": {"Artist": "Ann"}})
    send(json={"Details": {"Notes": "n"}, "Rating": 3})
    first = send("GET", "/history")[1]
    photo = send("POST", f"/history/{first['ID']}/undo")["photo"]
    details = photo["Details"]
    assert (details["Artist"], details["ArtistSrc"], details["NotesSrc"], photo["Rating"]) == ("", "", "manual", 3)


def test_undoing_is_refused_where_values_changed_since(send):
    send(json={"Title": "One", "Private": True})
    send(json={"Title": "Two"})
    first = send("GET", "/history")[1]
    refused = send("POST", f"/history/{first['ID']}/undo", status=409)
    assert refused["details"] == [{"field": "Title", "message": "changed since then: Title"}]
    assert (send("GET")["Title"], send("GET")["Private"]) == ("Two", True)


def test_a_change_that_does_not_exist_is_not_found(send):
    for number in (
        "0", "999", "-1", "x", "9" * 30, "٣",
    ):  # fmt: skip
        assert send("POST", f"/history/{number}/undo", status=404)["error"] == "the photo has no such change"


def test_changes_of_a_private_photo_stay_hidden_without_the_right_to_see_it(library, send):
    client = library.token("photos")
    send(json={"Title": "Before"})
    send(json={"Private": True, "Title": "Secret"})
    send(json={"Description": "Secret"})
    send("GET", "/history", token=client, status=404)
    send(json={"Private": False, "Title": "After", "Description": ""})
    assert send("GET", "/history", token=client) == []
    send(json={"Title": '"private":true'})
    (change,) = send("GET", "/history", token=client)
    assert change["After"]["Title"] == '"private":true'
    send(json={"Title": "Now"})
    every = [change["ID"] for change in send("GET", "/history")]
    assert [change["ID"] for change in send("GET", "/history?count=9", token=client)] == every[:2]
    for number in every[2:]:
        send("POST", f"/history/{number}/undo", token=client, status=404)
    send("POST", f"/history/{every[0]}/undo", token=client)


def test_viewers_see_no_history(library, send):
    send("GET", "/history", token=library.token(role="viewer"), status=403)
    send(json={"Private": True})
    send("GET", "/history", token=library.token("photos read"), status=404)


def test_a_photo_that_becomes_part_of_another_leaves_its_history_to_that(library, send):
    library.put("a/boat.png", encoded(quarters(), "PNG"))
    library.index()
    (uid,) = (record["UID"] for record in library.find(type="image", filename="a/boat.png"))
    answer = library.app.test_client().put(
        f"/api/v1/photos/{uid}",
        json={"Description": "of the boat"},
        headers={"X-Auth-Token": library.token(role="admin")},
    )
    assert answer.status_code == 200
    send(json={"Title": "Lake"})
    (library.originals / "a/boat.png").rename(library.originals / "a/lake.png")
    library.index()
    assert len({record["UID"] for record in library.find()}) == 1
    assert [change["After"] for change in send("GET", "/history")] == [
        {"Title": "Lake", "TitleSrc": "manual"},
        {"Description": "of the boat", "DescriptionSrc": "manual"},
    ]


def test_the_last_changes_of_a_photo_are_stored(library, send, monkeypatch):
    monkeypatch.setattr("photosvc.library.journal.MOST_OF_PHOTO", 3)
    for number in range(5):
        send(json={"Title": f"Title {number}"})
    kept = send("GET", "/history")
    assert [change["After"]["Title"] for change in kept] == ["Title 4", "Title 3", "Title 2"]
    library.put("a/hill.jpg", jpeg(80, 60))
    library.index()
    headers = {"X-Auth-Token": library.token(role="admin")}
    uids = {"photos": [record["UID"] for record in library.find()], "private": True}
    library.app.test_client().post("/api/v1/batch/photos/private", json=uids, headers=headers)
    kept = send("GET", "/history")
    assert [change["Action"] for change in kept] == ["photos.private", "photos.update", "photos.update"]
    send("POST", f"/history/{kept[1]['ID']}/undo")
    assert send("GET")["Title"] == "Title 3"


def test_keywords_of_an_edit_are_bounded_in_bytes(send):
    words = ["é" * 255 for _ in range(33)]
    answer = send(
        status=400, json={"Details": {"Keywords": [f"{number}{word}"[:255] for number, word in enumerate(words)]}}
    )
    assert "16384 bytes" in answer["error"]
    assert "Keywords" in answer["details"][0]["field"]
    assert send(json={"Details": {"Keywords": [f"{number}{word}"[:240] for number, word in enumerate(words)]}})["UID"]


def test_an_approval_is_in_the_history_and_taken_back_once(send):
    send("POST", "/approve")
    (change,) = send("GET", "/history")
    assert (change["Before"], change["After"]) == ({"Approved": False}, {"Approved": True})
    send("POST", f"/history/{change['ID']}/undo")
    assert send("GET", "/history?count=1")[0]["After"] == {"Approved": False}
    refused = send("POST", f"/history/{change['ID']}/undo", status=409)
    assert refused["details"] == [{"field": "Approved", "message": "changed since then: Approved"}]
