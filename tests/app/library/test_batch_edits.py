"""POST /batch/photos/edit and …/undo: values of each photo that many photos change by, and taking an edit back."""

import re
import sqlite3
from contextlib import closing
from functools import partial

import pytest
from sqlalchemy import select

from photosvc.library import batches
from photosvc.models import PhotoChange
from photosvc.records.fields import ALBUM_UID
from tests.app.library.test_photo_batches import batch, filled, sender, uids  # noqa: F401 - fixtures


def photo(library, uid):
    headers = {"X-Auth-Token": library.token(role="admin")}
    return library.app.test_client().get(f"/api/v1/photos/{uid}", headers=headers).json


def keywords(library, uid):
    return set(filter(None, photo(library, uid)["Details"]["Keywords"].split(", ")))


def test_each_photo_gains_and_loses_keywords_and_keeps_its_other_ones(library, batch):  # noqa: F811
    one, two, *_ = uids(library)
    batch("edit", photos=[one], values={"Details": {"Keywords": "lake, boat"}})
    answer = batch("edit", photos=[one, two], add_keywords="Swimming, LAKE", remove_keywords=["boat"])
    assert answer["photos"] == 2
    assert {word.casefold() for word in keywords(library, one)} == {"lake", "swimming"}
    assert {word.casefold() for word in keywords(library, two)} == {"lake", "swimming"}


def test_the_time_of_each_photo_moves_by_seconds(library, batch):  # noqa: F811
    chosen = uids(library)[:2]
    before = [photo(library, uid)["TakenAtLocal"] for uid in chosen]
    assert before == ["2020-01-01T03:04:05Z", "2020-01-02T03:04:05Z"]
    batch("edit", photos=chosen, shift=-4 * 3600)
    assert [photo(library, uid)["TakenAtLocal"] for uid in chosen] == [
        "2019-12-31T23:04:05Z",
        "2020-01-01T23:04:05Z",
    ]


def test_a_value_that_is_wrong_or_that_no_batch_changes_is_named_and_nothing_changes(library, batch):  # noqa: F811
    one = uids(library)[0]
    before = photo(library, one)
    for body, field in (
        ({"shift": 1.5}, "shift"), ({"shift": 10**30}, "shift"), ({"shift": -(10**11)}, "shift"),
        ({"add_keywords": 5}, "add_keywords"),
        ({"add_keywords": [f"word {number}" for number in range(257)]}, "add_keywords"),
        ({"values": {"Title": "x" * 201}}, "values.Title"),
        ({"values": {"Title": {"action": "update"}}}, "values.Title"),
        ({"values": {"Labels": {"action": "update", "items": [{"value": "Lake", "action": "add"}]}}}, "values.Labels"),
        ({"values": {"Title": "New", "Albums": [ALBUM_UID]}}, "values.Albums"),
        ({"values": {"Details": {"Invented": "x"}}}, "values.Details.Invented"),
        ({"values": {"Title": "New"}, "albums": [ALBUM_UID]}, "albums"), ({"Title": "New"}, "Title"),
    ):  # fmt: skip
        answer = batch("edit", status=400, photos=[one], **body)
        assert [detail["field"] for detail in answer["details"]] == ([field])
        assert photo(library, one) == before


def test_texts_of_the_details_have_names_of_their_own_and_actions_and_empty_selections_do_nothing(
    library,
    batch,  # noqa: F811
):
    one = uids(library)[0]
    values = {
        "DetailsKeywords": {"action": "update", "value": "lake, boat"},
        "DetailsArtist": "Ann",
        "Details": {"Notes": "low"},
        "Labels": {"action": "none", "items": [], "mixed": False},
    }
    assert batch("edit", photos=[one], values=values, albums=[], all=False)["photos"] == 1
    details = photo(library, one)["Details"]
    assert (details["Artist"], details["Notes"]) == ("Ann", "low")
    assert keywords(library, one) == {"lake", "boat"}


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
    again = batch("undo", photos=chosen, change=edit["change"])
    assert (again["photos"], again["left"]) == (0, 3)


def test_two_edits_of_one_moment_are_taken_back_apart(library, batch):  # noqa: F811
    one, two, three, *_ = uids(library)  # the clock stands still
    first = batch("edit", photos=[one, two], values={"Rating": 2})
    second = batch("edit", photos=[two, three], values={"Title": "Lake"})
    with library.session() as session:
        entries = session.execute(select(PhotoChange.created_at, PhotoChange.batch)).all()
    assert (len(entries), len({entry.created_at for entry in entries}), len({entry.batch for entry in entries})) == (
        4, 1, 2,
    )  # fmt: skip
    assert batch("undo", photos=[one, two, three], change=first["change"])["photos"] == 2
    assert [photo(library, uid).get("Rating") for uid in (one, two)] == [None, None]
    assert [photo(library, uid)["Title"] for uid in (two, three)] == ["Lake", "Lake"]
    assert batch("undo", photos=[one, two, three], change=second["change"])["photos"] == 2


def pass_time(monkeypatch, library, **how):
    """Let the clock of a library go by itself until the end of the test, see `MovedClock`."""
    for name, value in how.items():
        monkeypatch.setattr(library.clock, name, value)


@pytest.fixture
def portions_of_one(monkeypatch):
    """Batches with a photo in each transaction."""
    for name in ("_PORTION", "_LEAST"):
        monkeypatch.setattr(batches, name, 1)


@pytest.mark.usefixtures("portions_of_one")
@pytest.mark.parametrize("action", ["edit", "undo", "archive", "private", "delete"])
def test_others_write_between_the_transactions_of_a_batch(library, batch, monkeypatch, action):  # noqa: F811
    chosen = uids(library)[:3]
    edit = batch("edit", photos=chosen, values={"Title": "Lake"})
    written = []

    def write():
        with closing(sqlite3.connect(library.instance / "photosvc.db", isolation_level=None, timeout=0)) as other:
            other.execute("BEGIN IMMEDIATE")  # raises at once where the batch holds the lock
            written.append(len(uids(library)))

    pass_time(monkeypatch, library, step=0.1, in_pause=write)
    body = {"edit": {"values": {"Title": "Sea"}}, "undo": {"change": edit["change"]}}.get(action, {})
    assert batch(action, photos=chosen, **body)["photos"] == 3
    assert len(written) == 2


@pytest.mark.usefixtures("portions_of_one")
def test_a_batch_that_takes_too_long_says_how_many_photos_it_changed(library, batch, monkeypatch):  # noqa: F811
    pass_time(monkeypatch, library, step=5)
    answer = batch("archive", status=503, photos=uids(library)[:5])
    pattern = r"2 of 5 photos took \d+ seconds: select the others again \(before that, 2 photos archived\)"
    assert re.fullmatch(pattern, answer["error"]), answer["error"]
    assert len(uids(library)) == 3


@pytest.mark.usefixtures("portions_of_one")
def test_a_batch_that_meets_a_photo_it_cannot_change_says_how_many_it_changed(library, batch):  # noqa: F811
    one, two, *_ = uids(library)
    batch("edit", photos=[two], add_keywords=[f"a{number}" for number in range(200)])
    answer = batch("edit", status=400, photos=[one, two], add_keywords=[f"b{number}" for number in range(100)])
    assert answer["error"].endswith(" (before that, 1 photo changed)")
    assert len(keywords(library, one)) == 100


def break_table(library, name, new_name):
    with closing(sqlite3.connect(library.instance / "photosvc.db", isolation_level=None)) as other:
        other.execute(f"ALTER TABLE {name} RENAME TO {new_name}")


@pytest.mark.usefixtures("portions_of_one")
@pytest.mark.parametrize("failure", ["photo", "time", "database"])
def test_the_error_of_an_edit_that_stops_has_the_number_that_takes_it_back(library, batch, monkeypatch, failure):  # noqa: F811
    one, two, three, *_ = chosen = uids(library)
    batch("edit", photos=[two], add_keywords=[f"a{number}" for number in range(200)])
    before = {uid: keywords(library, uid) for uid in chosen}
    added, status = ["lake"], 503
    if failure == "photo":
        added, status = [f"b{number}" for number in range(100)], 400
    elif failure == "time":
        pass_time(monkeypatch, library, step=10)
    else:
        breaks = partial(break_table, library, "photosvc_photo_changes", "away")
        pass_time(monkeypatch, library, step=0.1, in_pause=breaks)
    answer = batch("edit", status=status, photos=[one, two, three], add_keywords=added)
    monkeypatch.undo()
    if failure == "database":
        break_table(library, "away", "photosvc_photo_changes")
    assert answer["code"] == status
    assert answer["photos"] == sum(keywords(library, uid) != before[uid] for uid in chosen) > 0
    assert batch("undo", photos=chosen, change=answer["change"])["photos"] == answer["photos"]
    assert {uid: keywords(library, uid) for uid in chosen} == before


@pytest.mark.usefixtures("portions_of_one")
def test_an_account_has_one_large_batch_at_a_time(library, batch, monkeypatch):  # noqa: F811
    chosen, refused = uids(library), []

    def send_another():
        if not refused:
            client, headers = library.app.test_client(), {"X-Auth-Token": library.token(role="admin")}
            refused.append(client.post("/api/v1/batch/photos/archive", json={"photos": chosen[3:]}, headers=headers))
            assert batch("archive", photos=chosen[4:])["photos"] == 1  # a small one needs no slot
            assert batch("private", token=library.token("*", role="user"), photos=chosen[:2])["photos"] == 2

    pass_time(monkeypatch, library, step=0.1, in_pause=send_another)
    assert batch("archive", photos=chosen[:3])["photos"] == 3
    assert (refused[0].status_code, refused[0].headers["Retry-After"]) == (429, "5")
    assert batch("restore", photos=chosen)["photos"] == 4


def test_an_edit_that_changes_nothing_has_no_number(library, batch):  # noqa: F811
    assert batch("edit", photos=uids(library)[:2], values={})["change"] is None


def test_a_number_of_no_own_edit_is_refused(library, batch):  # noqa: F811
    for change, status in (
        (10**6, 404), (0, 400), ("1", 400), (None, 400), (2**63, 400),
    ):  # fmt: skip
        batch("undo", status=status, photos=uids(library)[:1], change=change)


def test_nobody_takes_back_the_edit_of_another(library, batch):  # noqa: F811
    chosen = uids(library)[:1]
    edit = batch("edit", photos=chosen, values={"Title": "Lake"})
    send = sender(library)
    send("undo", status=404, token=library.token("photos", role="user"), photos=chosen, change=edit["change"])
    assert photo(library, chosen[0])["Title"] == "Lake"
