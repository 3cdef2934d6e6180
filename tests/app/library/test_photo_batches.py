"""POST /batch/photos/…: many photos in one transaction."""

import pytest

from tests.helpers.library import changes, copy_library, counts, hashes
from tests.helpers.pictures import exif, jpeg

COUNT = 5


@pytest.fixture(scope="module")
def filled(fill):
    files = {}
    for number in range(COUNT):
        taken = exif({0x010F: "Canon"}, {0x9003: f"2020:01:0{number + 1} 03:04:05"})
        files[f"a/{number}.jpg"] = jpeg(64 + number, 48, exif=taken)
    files["b/0 copy.dng"] = b"not a picture"
    return fill(files)


@pytest.fixture(scope="module")
def unchanged(filled, tmp_path_factory):
    """A copy of the library that tests of refusals share."""
    library = copy_library(filled, tmp_path_factory.mktemp("unchanged") / "instance")
    before = changes(library)
    yield library
    assert changes(library) == before
    library.close()


@pytest.fixture
def batch(library):
    return sender(library)


def sender(library):
    def batch(action, status=200, token=None, **body):
        headers = {"X-Auth-Token": token or library.token(role="admin")}
        answer = library.app.test_client().post(f"/api/v1/batch/photos/{action}", json=body, headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json

    return batch


def uids(library, **parameters):
    token = parameters.pop("token", None) or library.token(role="admin")
    return [record["UID"] for record in library.find(token=token, order="oldest", **parameters)]


def test_photos_are_archived_and_restored_by_uids(library, batch):
    first, second, third, *_ = every = uids(library)
    answer = batch("archive", photos=[first, second, first, "p" + "z" * 15])
    assert answer == {"code": 200, "message": "2 photos archived", "photos": 2}
    assert batch("archive", photos=[second, third])["photos"] == 1
    assert (uids(library), uids(library, q="archived:true")) == (every[3:], [first, second, third])
    library.index(force=True)
    assert uids(library, q="archived:true") == [first, second, third]
    assert batch("restore", q="archived:true", expected=3)["photos"] == 3
    library.index(force=True)
    assert uids(library) == every


def test_a_query_must_find_the_expected_number(library, batch, monkeypatch):
    before = changes(library)
    assert batch("archive", 409, q="iso:0", expected=42)["error"] == "the query finds 5 photos, not 42"
    assert batch("archive", 400, q="iso:0")["details"][0]["field"] == "expected"
    assert batch("archive", 400, q="nonsense:1", expected=5)["code"] == 400
    monkeypatch.setattr("photosvc.library.batches.MAX_COUNT", 5)
    capped = batch("archive", 400, q="iso:0", expected=42)
    assert capped["error"] == "the query finds 5 files or more; narrow it, and change the photos in parts"
    monkeypatch.undo()
    assert changes(library) == before
    assert batch("archive", q="iso:0", expected=5)["photos"] == 5
    assert uids(library) == []


def test_a_selection_that_is_not_valid_is_refused_by_its_field(unchanged):
    batch = sender(unchanged)
    for action in (
        "archive", "restore", "approve", "private", "edit", "delete",
    ):  # fmt: skip
        for body, field in (
            ({}, "photos"), ({"photos": []}, "photos"), ({"photos": None, "q": " "}, "photos"),
            ({"photos": ["x\x00"]}, "photos"), ({"photos": "p"}, "photos"),
            ({"photos": ["p" + "0" * 15] * 2, "q": "x"}, "q"), ({"q": "x", "expected": -1}, "expected"),
            ({"q": "x", "expected": "5"}, "expected"),
        ):  # fmt: skip
            assert batch(action, 400, **{"values": {}, **body})["details"][0]["field"] == field
            if field == "photos" and not body.get("photos"):
                assert batch(action, 400, **{"values": {}, **body})["error"] == "No items selected"


def test_private_photos_need_the_right_to_see_them(library, batch):
    first, second, *others = uids(library)
    reader = library.token("photos")
    assert batch("private", photos=[first, second])["photos"] == 2
    assert uids(library, token=reader) == others
    assert batch("archive", token=reader, photos=[first, others[0]])["photos"] == 1
    assert batch("private", photos=[first, others[1]], private=True)["photos"] == 1
    assert uids(library, token=reader) == others[2:]
    assert batch("private", photos=[first, second])["photos"] == 2  # the opposite of what they are
    assert uids(library, token=reader) == [first, second, *others[2:]]


def test_approving_takes_photos_out_of_review(library, batch):
    batch("edit", photos=uids(library)[:1], values={"Title": "x"})
    reviewed = uids(library, q="review:true")
    assert len(reviewed) == COUNT - 1
    assert batch("approve", photos=reviewed)["photos"] == len(reviewed)
    assert uids(library, q="review:true") == []
    assert len(uids(library, q="edited:2026-03-01")) == COUNT
    library.index(force=True)
    assert uids(library, q="review:true") == []


def test_the_same_values_are_written_into_many_photos(library, batch):
    every = uids(library)
    values = {"Description": "At the lake", "Details": {"Keywords": "sun"}, "Favorite": True}
    assert batch("edit", photos=every, values=values)["photos"] == COUNT
    assert batch("edit", photos=every, values=values)["photos"] == 0
    library.index(force=True)
    assert uids(library, q="lake keywords:sun favorite:true") == every
    assert (
        batch("edit", 400, photos=every, values={"Title": 5, "Description": "x"})["details"][0]["field"]
        == "values.Title"
    )
    assert (
        batch("edit", 400, photos=every, values={"Description": "x", "CameraID": 99})["details"][0]["field"]
        == "CameraID"
    )
    assert uids(library, q="lake") == every


def test_a_batch_is_in_the_history_of_each_photo_and_can_be_undone(library, batch):
    first, second, *_ = every = uids(library)
    for action in ("archive", "private", "approve"):
        batch(action, photos=[first, second])
    headers = {"X-Auth-Token": library.token(role="admin")}
    client = library.app.test_client()
    history = client.get(f"/api/v1/photos/{first}/history", headers=headers).json
    assert [change["Action"] for change in history] == ["photos.approve", "photos.private", "photos.archive"]
    assert history[1]["Before"] == {"Private": False}
    assert history[2]["After"] == {"DeletedAt": "2026-03-01T12:00:00+00:00", "DeletedSrc": "manual"}
    for change in history:
        undone = client.post(f"/api/v1/photos/{first}/history/{change['ID']}/undo", headers=headers)
        assert undone.status_code == 200, undone.text
    assert uids(library, q="archived:true") == [second]
    assert uids(library, token=library.token("photos")) == [first, *every[2:]]


def test_removed_photos_do_not_come_back_and_their_originals_stay(library, batch):
    library.put("c/same.jpg", (library.originals / "a/0.jpg").read_bytes())
    library.index()
    before, every = hashes(library.originals), uids(library)
    object.__setattr__(library.app.extensions["photosvc"].settings, "delete_originals", False)
    batch("archive", photos=every[:1])
    assert batch("delete", photos=every[:2]) == {"code": 200, "message": "2 photos deleted", "photos": 2}
    removed = (library.originals / "a/1.jpg").read_bytes()
    for age in (60, 3600):  # its file gets another time, and its own one again
        library.put("a/1.jpg", removed, age=age)
        assert counts(library.index())[:4] == (0, 0, COUNT - 2, 0)
    assert uids(library) == every[2:]
    assert uids(library, q="archived:true") == []
    assert hashes(library.originals) == before
    library.index(force=True)
    assert uids(library, q="archived:true") + uids(library) == every
    assert hashes(library.originals) == before
