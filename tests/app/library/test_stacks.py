"""Photos that a person puts together into one stack, and takes apart."""

import pytest

from tests.helpers.library import svc as call_svc
from tests.helpers.pictures import exif, jpeg

NAMES = ("lake", "boat", "town")


@pytest.fixture(scope="module")
def filled(fill):
    return fill({
        f"a/{name}.jpg": jpeg(100 + day, 80, exif=exif({0x010F: "Canon"}, {0x9003: f"2020:01:0{day} 03:04:05"}))
        for day, name in enumerate(NAMES, 1)
    })  # fmt: skip


@pytest.fixture
def send(library):
    def send(method, path, status=200, body=None):
        headers = {"X-Auth-Token": library.token(role="admin")}
        answer = library.app.test_client().open(f"/api/v1{path}", method=method, headers=headers, json=body)
        assert answer.status_code == status, answer.text
        return answer.json

    return send


@pytest.fixture
def uids(library):
    by_name = {record["FileName"]: record["UID"] for record in library.find()}
    return [by_name[f"a/{name}.jpg"] for name in NAMES]


def stacks(library):
    """Return the names of the files of each photo, the file that shows it first."""
    files = [
        [file["Name"][2:-4] for file in sorted(record["Files"], key=lambda file: (not file["Primary"], file["Name"]))]
        for record in library.find(merged=True, token=library.token(role="admin"))
    ]
    return sorted(files)


def test_stacked_photos_are_one_until_somebody_takes_them_apart(library, send, uids):
    lake, boat, town = uids
    send("PUT", f"/photos/{boat}", body={"Title": "Boat", "Favorite": True})
    album = send("POST", "/albums", body={"Title": "Sea"})["UID"]
    send("POST", f"/albums/{album}/photos", body={"photos": [boat]})
    done = send("POST", "/batch/photos/stack", body={"photos": [town, lake, boat]})
    assert (done["photos"], done["message"]) == (3, "3 photos stacked")
    library.index(force=True)
    assert stacks(library) == [["town", "boat", "lake"]]
    assert [(one["UID"], one["Title"], one["Favorite"], one["Stack"]) for one in library.find(primary=True)] == [
        (town, "Boat", True, 1)
    ]
    assert [one["UID"] for one in library.find(q=f"album:{album}", primary=True)] == [town]
    assert call_svc("purge", "--hard", "--yes", instance=library.instance).returncode == 0
    undone = send("POST", "/batch/photos/undo", body={"photos": [town], "change": done["change"]})
    assert (undone["photos"], undone["left"]) == (1, 0)
    library.index(force=True)
    assert stacks(library) == [["boat"], ["lake"], ["town"]]
    found = {one["UID"]: (one["Title"], one["Favorite"], one["Stack"]) for one in library.find()}
    assert sorted(found) == sorted(uids)
    assert found[boat] == ("Boat", True, 0)
    assert found[town][1:] == (False, 0)


def test_a_file_goes_back_to_its_photo_and_the_rest_stays_stacked(library, send, uids):
    lake, boat, town = uids
    send("PUT", f"/photos/{boat}", body={"Rating": 4})
    send("POST", "/batch/photos/stack", body={"photos": [lake, boat]})
    inner = send("POST", "/batch/photos/stack", body={"photos": [town, lake]})
    assert stacks(library) == [["town", "boat", "lake"]]
    send("POST", f"/photos/{town}/history/{inner['change']}/undo")
    library.index(force=True)
    assert stacks(library) == [["lake", "boat"], ["town"]]
    (file,) = (file for file in send("GET", f"/photos/{lake}")["Files"] if "boat" in file["Name"])
    send("PUT", f"/photos/{lake}", body={"Private": True})
    send("POST", f"/photos/{lake}/files/{file['UID']}/unstack")
    library.index(force=True)
    assert stacks(library) == [["boat"], ["lake"], ["town"]]
    assert {one["UID"]: (one["Private"], one["Stack"]) for one in library.find(token=library.token(role="admin"))} == {
        lake: (True, 0), boat: (True, 0), town: (False, 0),
    }  # fmt: skip
    assert send("GET", f"/photos/{boat}")["Rating"] == 4
    (change,) = [entry for entry in send("GET", f"/photos/{lake}/history") if entry["After"].get("Stacked")]
    assert "stack changed since" in send("POST", f"/photos/{lake}/history/{change['ID']}/undo", 409)["error"]


def test_the_first_photo_leaves_the_others_as_a_stack(library, send, uids):
    lake, boat, _ = uids
    send("POST", "/batch/photos/stack", body={"photos": uids})
    (own,) = (file["UID"] for file in send("GET", f"/photos/{lake}")["Files"] if "lake" in file["Name"])
    assert [file["UID"] for file in send("POST", f"/photos/{lake}/files/{own}/unstack")["Files"]] == [own]
    library.index(force=True)
    assert stacks(library) == [["boat", "town"], ["lake"]]
    assert {one["UID"]: one["Stack"] for one in library.find(primary=True)} == {lake: 0, boat: 1}
    (other,) = (file["UID"] for file in send("GET", f"/photos/{boat}")["Files"] if "town" in file["Name"])
    send("POST", f"/photos/{boat}/files/{other}/unstack")
    library.index(force=True)
    assert sorted(one["UID"] for one in library.find()) == sorted(uids)


@pytest.mark.parametrize(
    ("photos", "status", "error"),
    [
        ([], 400, "No items selected"),
        ([0], 400, "select at least two photos"),
        ([0, 0], 400, "select at least two photos"),
        ([0, "ps6sg6be2lvl0y00"], 404, "one of these photos does not exist"),
        ([0, "x"], 400, "an item of photos is not a photo UID"),
    ],
)
def test_other_selections_are_no_stack(library, send, uids, photos, status, error):
    body = {"photos": [uids[one] if isinstance(one, int) else one for one in photos]}
    assert send("POST", "/batch/photos/stack", status, body)["error"] == error
    assert len(stacks(library)) == 3
