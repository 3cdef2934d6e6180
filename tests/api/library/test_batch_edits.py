"""POST /batch/photos/edit and …/undo: values of each photo that many photos change by, and taking an edit back."""

from itertools import count
from types import SimpleNamespace

import pytest

from photosvc.api.library import batch as batches
from photosvc.library.edits import flags, time_limit, undo
from tests.api.library.test_photo_batches import batch, filled, is_projected, sender, uids  # noqa: F401 - fixtures
from tests.factories.photos import add_photos
from tests.library import copy_library, open_library


@pytest.fixture
def library(filled, tmp_path):  # noqa: F811
    library = copy_library(filled, tmp_path / "instance")
    yield library
    library.close()


def photo(library, uid):
    headers = {"X-Auth-Token": library.token(role="admin")}
    return library.app.test_client().get(f"/api/v1/photos/{uid}", headers=headers).json


def keywords(library, uid):
    return set(filter(None, photo(library, uid)["Details"]["Keywords"].split(", ")))


def test_each_photo_gains_and_loses_keywords_and_keeps_its_others(library, batch):  # noqa: F811
    one, two, *_ = uids(library)
    batch("edit", photos=[one], values={"Details": {"Keywords": "lake, boat"}})
    answer = batch("edit", photos=[one, two], add_keywords="Swimming, LAKE", remove_keywords=["boat"])
    assert answer["photos"] == 2
    assert {word.casefold() for word in keywords(library, one)} == {"lake", "swimming"}
    assert {word.casefold() for word in keywords(library, two)} == {"lake", "swimming"}
    assert is_projected(library)


def test_times_are_moved_by_seconds_from_what_each_is(library, batch):  # noqa: F811
    chosen = uids(library)[:2]
    before = [photo(library, uid)["TakenAtLocal"] for uid in chosen]
    assert before == ["2020-01-01T03:04:05Z", "2020-01-02T03:04:05Z"]
    batch("edit", photos=chosen, shift=-4 * 3600)
    assert [photo(library, uid)["TakenAtLocal"] for uid in chosen] == ["2019-12-31T23:04:05Z", "2020-01-01T23:04:05Z"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"shift": 1.5}, "shift"),
        ({"shift": 10**30}, "shift"),
        ({"shift": -(10**11)}, "shift"),
        ({"add_keywords": 5}, "add_keywords"),
        ({"add_keywords": [f"word {number}" for number in range(257)]}, "add_keywords"),
        ({"values": {"Title": "x" * 201}}, "values.Title"),
    ],
)
def test_a_value_that_is_wrong_is_named(library, batch, body, field):  # noqa: F811
    answer = batch("edit", status=400, photos=uids(library)[:1], **body)
    assert [detail["field"] for detail in answer["details"]] == ([field])


def test_more_keywords_than_a_photo_has_are_refused_for_all(library, batch):  # noqa: F811
    one, two, *_ = uids(library)
    batch("edit", photos=[two], add_keywords=[f"a{number}" for number in range(200)])
    answer = batch("edit", status=400, photos=[one, two], add_keywords=[f"b{number}" for number in range(100)])
    assert answer["details"][0]["field"] == "add_keywords"
    assert keywords(library, one) == set()


def test_an_edit_is_taken_back_but_for_photos_that_changed_since(library, batch):  # noqa: F811
    one, two, three, *_ = chosen = uids(library)
    titles = [photo(library, uid)["Title"] for uid in chosen]
    edit = batch("edit", photos=[one, two, three], values={"Title": "Lake", "Rating": 4}, add_keywords="lake")
    batch("edit", photos=[two], values={"Title": "Another"})
    back = batch("undo", photos=chosen, change=edit["change"])
    assert (back["photos"], back["left"]) == (2, 1)
    assert photo(library, two)["Title"] == "Another"
    assert [photo(library, uid)["Title"] for uid in (one, three)] == [titles[0], titles[2]]
    assert keywords(library, one) == set()
    assert is_projected(library)
    again = batch("undo", photos=chosen, change=edit["change"])
    assert (again["photos"], again["left"]) == (0, 3)


@pytest.mark.parametrize("action", ["edit", "undo", "archive", "private"])
def test_a_batch_that_keeps_others_waiting_for_too_long_changes_nothing(library, batch, monkeypatch, action):  # noqa: F811
    chosen = uids(library)[:3]
    edit = batch("edit", photos=chosen, values={"Title": "Lake"})
    before = [photo(library, uid) for uid in chosen]
    moments = count(step=7)
    monkeypatch.setattr(time_limit, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    for module in (batches, flags, undo):
        monkeypatch.setattr(module, "_PORTION", 1)
    body = {"edit": {"values": {"Title": "Sea"}}, "undo": {"change": edit["change"]}}.get(action, {})
    answer = batch(action, status=503, photos=chosen, **body)
    assert answer["error"].startswith(
        "1 photo of 3 took 14 seconds, which keep others from writing: nothing was changed"
    )
    assert [photo(library, uid) for uid in chosen] == before


def test_an_edit_that_changes_nothing_has_no_number(library, batch):  # noqa: F811
    assert batch("edit", photos=uids(library)[:2], values={})["change"] is None


@pytest.mark.parametrize(("change", "status"), [(10**6, 404), (0, 400), ("1", 400), (None, 400), (2**63, 400)])
def test_a_number_of_no_own_edit_is_refused(library, batch, change, status):  # noqa: F811
    batch("undo", status=status, photos=uids(library)[:1], change=change)


def test_nobody_takes_back_the_edit_of_another(library, batch):  # noqa: F811
    chosen = uids(library)[:1]
    edit = batch("edit", photos=chosen, values={"Title": "Lake"})
    send = sender(library)
    send("undo", status=404, token=library.token("photos", role="user"), photos=chosen, change=edit["change"])
    assert photo(library, chosen[0])["Title"] == "Lake"


def test_an_edit_is_taken_back_on_both_databases(tmp_path, new_database):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    with library.session() as session:
        add_photos(session, 6, library.clock())
    send, chosen = sender(library), list(dict.fromkeys(uids(library)))
    before = [photo(library, uid) for uid in chosen]
    edit = send("edit", photos=chosen, add_keywords="quay", shift=90, values={"Title": "Lake"})
    assert edit["photos"] == len(chosen)
    assert all("quay" in keywords(library, uid) for uid in chosen)
    send("undo", status=404, photos=chosen, change=2**63 - 1)
    back = send("undo", photos=chosen, change=edit["change"])
    assert (back["photos"], back["left"]) == (len(chosen), 0)
    for uid, old in zip(chosen, before, strict=True):
        now = photo(library, uid)
        assert [now[name] for name in ("Title", "TakenAtLocal")] == [old[name] for name in ("Title", "TakenAtLocal")]
        assert keywords(library, uid) == set(filter(None, old["Details"]["Keywords"].split(", ")))
    library.close()
