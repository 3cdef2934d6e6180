"""/photos/<uid>/files/<file uid>: choosing the file that shows a photo, and files that leave it."""

import pytest

from tests.helpers.library import hashes
from tests.helpers.pictures import exif, jpeg

TAKEN = exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})


@pytest.fixture(scope="module")
def filled(fill):
    files = {}
    files["a/lake.jpg"] = jpeg(100, 80, exif=TAKEN)
    files["a/lake-edited.jpg"] = jpeg(64, 48, exif=TAKEN)
    return fill(files)


@pytest.fixture
def send(library):
    uid = library.find()[0]["UID"]

    def send(method, path="", status=200, **options):
        headers = {"X-Auth-Token": library.token(role="admin"), **options.pop("headers", {})}
        address = f"/api/v1/photos/{uid}{path}"
        answer = library.app.test_client().open(address, method=method, headers=headers, **options)
        assert answer.status_code == status, answer.text
        return answer.json

    return send


def other(photo):
    return next(file for file in photo["Files"] if not file["Primary"])


def test_the_chosen_file_shows_the_photo_after_index_runs_too(library, send):
    chosen = other(send("GET"))["UID"]
    assert send("POST", f"/files/{chosen}/primary")["FileUID"] == chosen
    library.index(force=True)
    assert [file["UID"] for file in send("GET")["Files"] if file["Primary"]] == [chosen]
    assert library.find(primary=True)[0]["FileUID"] == chosen
    (change,) = send("GET", "/history")
    assert send("POST", f"/history/{change['ID']}/undo")["photo"]["FileUID"] != chosen


def test_an_unstacked_file_is_a_photo_with_the_values_of_a_person(library, send):
    send("PUT", json={"Details": {"Artist": "Ann", "Keywords": "sun"}, "Rating": 4})
    file = other(send("GET"))["UID"]
    assert len(send("POST", f"/files/{file}/unstack")["Files"]) == 1
    library.index(force=True)
    assert len({record["UID"] for record in library.find(q="keywords:sun")}) == 2
    send("POST", f"/files/{file}/unstack", 404)


@pytest.mark.parametrize("moves", [True, False])
def test_a_deleted_file_waits_in_the_trash_or_where_it_is(library, send, moves):
    object.__setattr__(library.app.extensions["photosvc"].settings, "delete_originals", moves)
    before, file = hashes(library.originals), other(send("GET"))["UID"]
    assert len(send("DELETE", f"/files/{file}")["Files"]) == 1
    library.index()
    assert len(library.find()) == 1
    assert (hashes(library.originals) == before) is not moves
    last = send("GET")["Files"][0]["UID"]
    assert send("DELETE", f"/files/{last}", 409)["error"] == "the file is the only one of its photo"
    assert send("POST", f"/files/{last}/unstack", 409)["error"] == "the file is the only one of its photo"
    assert send("DELETE", f"/files/{file}", 404)["code"] == 404
    if moves:
        library.index(force=True)
        assert len(library.find()) == 1
        photo = library.find()[0]["UID"]
        answer = library.app.test_client().post(
            "/api/v1/trash/restore",
            json={"photos": [photo]},
            headers={"X-Auth-Token": library.token(role="admin")},
        )
        assert answer.status_code == 200
    else:
        library.index(force=True)
    assert hashes(library.originals) == before
    assert sorted(one["UID"] for one in send("GET")["Files"]) == sorted([last, file])


def test_files_that_leave_a_photo_are_in_the_history_of_both_photos(library, send):
    file = other(send("GET"))
    send("POST", f"/files/{file['UID']}/unstack")
    (change,) = send("GET", "/history")
    assert (change["Action"], change["Before"]["Files"]) == ("photos.unstack", ["a/lake-edited.jpg", "a/lake.jpg"])
    assert len(change["After"]["Files"]) == 1
    uid = next(record["UID"] for record in library.find() if record["FileName"] == file["Name"])
    answer = library.get(path=f"/api/v1/photos/{uid}/history", token=library.token(role="admin"))
    assert [entry["After"] for entry in answer.json] == [{"Files": [file["Name"]]}]
    assert send("POST", f"/history/{change['ID']}/undo", 409)["code"] == 409


def test_a_removed_file_is_in_the_history_and_if_match_is_observed(send):
    file = other(send("GET"))
    refused = {"headers": {"If-Match": '"another"'}}
    for method, path in (("DELETE", ""), ("POST", "/unstack"), ("POST", "/primary")):
        send(method, f"/files/{file['UID']}{path}", 412, **refused)
    send("PUT", f"/files/{file['UID']}/orientation", 412, json={"Orientation": 6}, **refused)
    send("DELETE", f"/files/{file['UID']}")
    (change,) = send("GET", "/history")
    assert (change["Action"], len(change["Before"]["Files"]), len(change["After"]["Files"])) == ("photos.delete", 2, 1)


def test_administrators_see_the_history_of_a_deleted_photo(library, send):
    send("PUT", json={"Title": "Gone"})
    uid = library.find()[0]["UID"]
    client = library.app.test_client()
    given = {"json": {"photos": [uid]}, "headers": {"X-Auth-Token": library.token(role="admin")}}
    assert client.post("/api/v1/batch/photos/delete", **given).json["photos"] == 1
    deletion, edit = send("GET", "/history")
    assert (deletion["Action"], deletion["Before"]["Title"]) == ("photos.delete", "Gone")
    assert deletion["Before"]["Files"] == ["a/lake-edited.jpg", "a/lake.jpg"]
    assert deletion["ActorName"] == edit["ActorName"]
    assert library.get(path=f"/api/v1/photos/{uid}/history", token=library.token(role="user")).status_code == 404
    send("POST", f"/history/{edit['ID']}/undo", 404)
