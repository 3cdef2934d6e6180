"""Eight processes that change the same photos at once: nothing is lost, nothing fails, no search row is stale."""

import pytest

from photosvc.models import File, Photo, PhotoChange
from photosvc.search.rows.check import differing
from tests.helpers.api_client import ApiClient
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import hashes, open_library
from tests.nightly.processes import at_once

PHOTOS = 24


@pytest.fixture
def address(new_database):
    return {"PHOTOSVC_DATABASE_URI": new_database()}


@pytest.fixture
def filled_library(tmp_path, address):
    library = open_library(tmp_path / "instance", settings=address)
    with library.session() as session:
        add_photos(session, PHOTOS, library.clock())
    library.token(role="admin")
    yield library
    library.close()


def send(library, method, path, **options):
    headers = {"X-Auth-Token": library.token(role="admin"), **options.pop("headers", {})}
    return library.app.test_client().open(f"/api/v1{path}", method=method, headers=headers, **options)


def uids_of(library):
    with library.session() as session:
        return [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]


def check(library):
    """No search row is stale, and each change in the journal begins with what the one before left."""
    with library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
        uids = {row[0] for row in session.query(PhotoChange.photo_uid)}
    for uid in uids:
        left = {}
        for change in reversed(send(library, "GET", f"/photos/{uid}/history?count=1000").json):
            assert {name: left[name] for name in change["Before"] if name in left} == {
                name: value for name, value in change["Before"].items() if name in left
            }, (uid, change)
            left |= change["After"]


def test_edits_with_if_match_are_never_lost(filled_library, address):
    uid, rounds = uids_of(filled_library)[0], 6
    send(filled_library, "PUT", f"/photos/{uid}", json={"Description": "0"})

    def count(_number, own, _random):
        done = refused = 0
        while done < rounds:
            seen = send(own, "GET", f"/photos/{uid}")
            more = {"Description": str(int(seen.json["Description"]) + 1)}
            answer = send(own, "PUT", f"/photos/{uid}", json=more, headers={"If-Match": seen.headers["ETag"]})
            assert answer.status_code in {200, 412}, answer.text
            done += answer.status_code == 200
            refused += answer.status_code == 412
        return refused

    refused = at_once(filled_library, count, settings=address)
    assert send(filled_library, "GET", f"/photos/{uid}").json["Description"] == str(8 * rounds)
    assert sum(refused) > 0
    check(filled_library)


def test_edits_of_different_fields_are_all_kept(filled_library, address):
    uid = uids_of(filled_library)[0]
    fields = ("Title", "Description", "Notes", "Artist", "Copyright", "License", "Subject", "Keywords")

    def edit(number, own, _random):
        for turn in range(6):
            value = f"{fields[number]} {turn}".lower()
            details = {"Details": {fields[number]: value}} if number > 1 else {fields[number]: value}
            answer = send(own, "PATCH", f"/photos/{uid}", json=details)
            assert answer.status_code == 200, answer.text

    at_once(filled_library, edit, settings=address)
    photo = send(filled_library, "GET", f"/photos/{uid}").json
    found = {**photo["Details"], "Title": photo["Title"], "Description": photo["Description"]}
    assert {name: found[name] for name in fields} == {name: f"{name} 5".lower() for name in fields}
    assert len(send(filled_library, "GET", f"/photos/{uid}/history?count=1000").json) == 48
    check(filled_library)


def test_batches_over_the_same_photos_edits_albums_and_undos_do_not_disturb_each_other(filled_library, address):
    uids = uids_of(filled_library)
    album = send(filled_library, "POST", "/albums", json={"Title": "All"}).json["UID"]

    def work(number, own, chance):
        statuses = []
        for turn in range(12):
            some, one = chance.sample(uids, 12), chance.choice(uids)
            batch = {"photos": some}
            words = ", ".join(f"word{chance.randrange(9)}" for _ in range(3))
            values = {"Details": {"Keywords": words}, "CameraMake": "Acme", "CameraModel": f"M{chance.randrange(5)}"}
            place = {"Lat": chance.randrange(-60, 60), "Lng": chance.randrange(-170, 170)}
            calls = [
                ("POST", "/batch/photos/edit", {**batch, "values": {**values, **place}}),
                ("POST", "/batch/photos/archive", batch),
                ("POST", "/batch/photos/restore", {"photos": uids}),
                ("POST", "/batch/photos/private", batch),
                ("POST", "/batch/photos/private", {"photos": uids, "private": False}),
                ("POST", f"/albums/{album}/photos", batch),
                ("PUT", f"/photos/{one}", {"Title": f"{number} {turn}", **values}),
                ("POST", f"/photos/{one}/like", None),
                ("UNDO", one, None),
                ("UNDO", one, None),
            ]
            method, path, body = chance.choice(calls)
            if method == "UNDO":
                history = send(own, "GET", f"/photos/{one}/history?count=1").json
                if not history:
                    continue
                method, path = "POST", f"/photos/{one}/history/{history[0]['ID']}/undo"
            answer = send(own, method, path, json=body)
            statuses.append(answer.status_code)
            assert answer.status_code in {200, 404, 409}, (method, path, answer.text)
        return statuses

    statuses = [status for done in at_once(filled_library, work, settings=address) for status in done]
    assert statuses.count(200) > 60
    check(filled_library)


def test_photos_that_are_removed_while_others_change_them_are_gone_and_nothing_fails(filled_library, address):
    uids = uids_of(filled_library)

    def work(number, own, chance):
        for _ in range(8):
            some, one = chance.sample(uids, 8), chance.choice(uids)
            if number < 2:
                answer = send(own, "POST", "/batch/photos/delete", json={"photos": some[:3]})
            elif number < 5:
                answer = send(own, "PUT", f"/photos/{one}", json={"Title": f"{number}"})
            else:
                answer = send(own, "POST", "/batch/photos/edit", json={"photos": some, "values": {"Title": "x"}})
            assert answer.status_code in {200, 404}, answer.text

    at_once(filled_library, work, settings=address)
    assert (
        len({record["UID"] for record in filled_library.find(token=filled_library.token(role="admin"), count=1000)})
        < PHOTOS
    )
    check(filled_library)


def test_originals_that_several_delete_at_once_lie_in_the_trash_once_and_all_come_back(filled_library, address):
    with filled_library.session() as session:
        for number, file in enumerate(session.query(File).filter_by(missing=False)):
            file.size = number
            path = filled_library.put(file.name, b"x" * number)
            file.mtime_ns = path.stat().st_mtime_ns
    before, every, deleting = (
        hashes(filled_library.originals),
        uids_of(filled_library),
        {**address, "PHOTOSVC_DELETE_ORIGINALS": "1"},
    )

    def delete(_number, own, chance):
        count = 0
        for _ in range(3):
            answer = send(own, "POST", "/batch/photos/delete", json={"photos": chance.sample(every, 5)})
            assert answer.status_code == 200, answer.text
            count += answer.json["photos"]
        return count

    counts = at_once(filled_library, delete, settings=deleting)
    left = {record["UID"] for record in filled_library.find(token=filled_library.token(role="admin"), count=1000)}
    assert sum(counts) == PHOTOS - len(left)
    assert sorted(hashes(filled_library.originals).values()) == sorted(before.values())
    assert ApiClient(filled_library).svc("trash", "restore", "--all").returncode == 0
    assert hashes(filled_library.originals) == before
    assert {
        record["UID"] for record in filled_library.find(token=filled_library.token(role="admin"), count=1000)
    } == set(every)
    check(filled_library)


def test_a_change_is_undone_once(filled_library, address):
    uid = uids_of(filled_library)[0]
    for title in ("One", "Two"):
        send(filled_library, "PUT", f"/photos/{uid}", json={"Title": title})
    last = send(filled_library, "GET", f"/photos/{uid}/history?count=1").json[0]["ID"]

    def undo(_number, own, _chance):
        return send(own, "POST", f"/photos/{uid}/history/{last}/undo").status_code

    assert sorted(at_once(filled_library, undo, settings=address)) == [200] + [409] * 7
    assert send(filled_library, "GET", f"/photos/{uid}").json["Title"] == "One"
    check(filled_library)
