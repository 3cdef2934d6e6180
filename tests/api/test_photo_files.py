"""/photos/<uid>/files/<file uid>: choosing the file that shows a photo, and files that leave it."""

import pytest

from tests.library import copy_library, hashes, open_library
from tests.pictures import exif, jpeg

TAKEN = exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The library of which each test has a copy."""
    library = open_library(tmp_path_factory.mktemp("filled") / "instance")
    library.put("a/lake.jpg", jpeg(100, 80, exif=TAKEN))
    library.put("a/lake-edited.jpg", jpeg(64, 48, exif=TAKEN))
    library.index()
    library.close()
    return library


@pytest.fixture
def library(filled, tmp_path):
    library = copy_library(filled, tmp_path / "instance")
    yield library
    library.close()


@pytest.fixture
def send(library):
    uid = library.find()[0]["UID"]

    def send(method, path="", status=200, **options):
        headers = {"X-Auth-Token": library.token(role="admin")}
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


def test_a_removed_file_does_not_come_back_and_its_original_stays(library, send):
    before, file = hashes(library.originals), other(send("GET"))["UID"]
    assert len(send("DELETE", f"/files/{file}")["Files"]) == 1
    library.index()
    assert len(library.find()) == 1
    assert hashes(library.originals) == before
    last = send("GET")["Files"][0]["UID"]
    assert send("DELETE", f"/files/{last}", 409)["error"] == "the file is the only one of its photo"
    assert send("POST", f"/files/{last}/unstack", 409)["error"] == "the file is the only one of its photo"
    library.index(force=True)
    assert len(library.find()) == 2
