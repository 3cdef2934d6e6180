"""Albums and the journal on both databases, and eight callers that fill one album at once."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from photosvc.library import album_photos
from photosvc.models import File, Photo
from photosvc.search.rows.check import differing


@pytest.fixture
def filled_library(new_library):
    return new_library(24)


@pytest.fixture
def call(filled_library):
    client, headers = filled_library.app.test_client(), {"X-Auth-Token": filled_library.token()}

    def call(method, path, status=200, **options):
        answer = client.open(f"/api/v1{path}", method=method, headers=headers, **options)
        assert answer.status_code == status, answer.text
        return answer.json

    return call


def test_albums_are_the_same_on_both_databases(filled_library, call):
    with filled_library.session() as session:
        uids = [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]
    lake = call("POST", "/albums", json={"Title": "Lake"})["UID"]
    call("POST", f"/albums/{lake}/photos", json={"photos": uids[:6]})
    call("DELETE", f"/albums/{lake}/photos", json={"photos": uids[:1]})
    moved = call("PUT", f"/albums/{lake}/photos", json={"photos": [uids[5], uids[4]], "before": uids[2]})
    assert moved["photos"] == [uids[5], uids[4]]
    assert call("GET", f"/albums/{lake}/photos")["photos"] == [uids[1], uids[5], uids[4], uids[2], uids[3]]
    smart = call("POST", "/albums", json={"Title": "Smart", "Filter": "path:b"})["UID"]
    inside = {record["UID"] for record in filled_library.find(s=smart)}
    gone = min(inside)
    for _ in range(2):
        call("DELETE", f"/albums/{smart}/photos", json={"photos": [gone]})
    assert {record["UID"] for record in filled_library.find(s=smart)} == inside - {gone}
    listed = {album["Title"]: album["PhotoCount"] for album in call("GET", "/albums?order=count")}
    assert listed == {"Smart": len(inside) - 1, "Lake": 5}
    for kind in ("folder", "month", "state"):
        for album in call("GET", f"/albums?type={kind}"):
            found = {record["UID"] for record in filled_library.find(s=album["UID"])}
            assert len(found) == album["PhotoCount"] > 0
            assert {record["UID"] for record in filled_library.find(q=f"album:{album['UID']}")} == found
            others = {record["UID"] for record in filled_library.find(q=f"album:!{album['UID']}", count=1000)}
            assert others == set(uids) - found
    call("DELETE", f"/albums/{lake}")
    with filled_library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()


def test_people_are_renamed_and_merged_on_both_databases(filled_library, call):
    with filled_library.session() as session:
        uids = session.scalars(select(File.uid).order_by(File.id).limit(4)).all()
    for uid, name in zip(uids, ("Ada", "Bob", "Ada", "Zoë"), strict=True):
        area = {"FileUID": uid, "Type": "face", "Name": name, "X": 0.2, "Y": 0.4, "W": 0.1, "H": 0.2}
        call("POST", "/markers", json=area)

    def people():
        return {person["Name"]: (person["UID"], person["PhotoCount"]) for person in call("GET", "/subjects")}

    before = people()
    for old, new in (("Ada", "Ada L."), ("Bob", "zoe")):
        call("PUT", f"/subjects/{before[old][0]}", json={"Name": new})
    assert people() == {"Ada L.": (before["Ada"][0], 2), "zoe": (before["Zoë"][0], 2)}
    assert len({record["UID"] for record in filled_library.find(subject=before["Zoë"][0])}) == 2
    with filled_library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()


def test_an_album_shows_its_photos_in_the_order_by_hand(filled_library, call):
    def shown(**parameters):
        return [record["UID"] for record in filled_library.find(count=1000, merged="true", **parameters)]

    with filled_library.session() as session:
        uids = [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]
    lake = call("POST", "/albums", json={"Title": "Lake", "Order": "manual"})["UID"]
    call("POST", f"/albums/{lake}/photos", json={"photos": uids[:12]})
    moves = [
        ([uids[7], uids[3]], None),
        ([uids[0]], uids[9]),
        ([uids[11], uids[1]], uids[9]),
        ([uids[2], uids[4], uids[7]], uids[11]),
    ]
    for photos, before in moves:
        call("PUT", f"/albums/{lake}/photos", json={"photos": photos, "before": before})
    order = call("GET", f"/albums/{lake}/photos")["photos"]
    expected = [uids[number] for number in (3, 5, 6, 8, 0, 2, 4, 7, 11, 1, 9, 10)]
    assert order == expected
    assert shown(s=lake) == shown(q=f"album:{lake}") == shown(q="album:Lake") == expected
    assert shown(s=lake, order="manual") == expected
    assert shown(s=lake, order="oldest") != expected
    in_folder = {record["UID"] for record in filled_library.find(q="path:b", count=1000)}
    assert shown(s=lake, q="path:b") == [uid for uid in expected if uid in in_folder]
    assert shown(s=lake, q=f"uid:{uids[9]}|{uids[3]}|{uids[20]}") == [uids[3], uids[9]]
    files = [record["ID"] for record in filled_library.find(s=lake, count=1000)]
    assert len(files) > len(expected)
    by_offset = [
        record["ID"] for start in range(0, 40, 5) for record in filled_library.find(s=lake, count=5, offset=start)
    ]
    assert by_offset == files
    for merged, whole in (("false", files), ("true", expected)):
        found, answer = [], filled_library.get({"s": lake, "count": 5, "merged": merged})
        while True:
            found += [record["ID" if merged == "false" else "UID"] for record in answer.json]
            if "Link" not in answer.headers:
                break
            link = answer.headers["Link"]
            answer = filled_library.get(link[link.index("?") + 1 : link.index(">")])
        assert found == whole
    other = call("POST", "/albums", json={"Title": "Copy", "Order": "manual"})["UID"]
    call("POST", f"/albums/{other}/clone", json={"albums": [lake]})
    assert shown(s=other) == expected


def test_moves_into_narrow_gaps_keep_the_order(filled_library, call, monkeypatch):
    for name, value in (("_STEP", 2), ("_WINDOW", 3)):
        monkeypatch.setattr(album_photos, name, value)
    with filled_library.session() as session:
        order = [row[0] for row in session.query(Photo.uid).order_by(Photo.id)][:20]
    lake = call("POST", "/albums", json={"Title": "Lake", "Order": "manual"})["UID"]
    call("POST", f"/albums/{lake}/photos", json={"photos": order})
    draw = random.Random(47)
    for _ in range(40):
        moved = draw.sample(order, draw.randint(1, 4))
        rest = [uid for uid in order if uid not in moved]
        place = draw.randint(0, len(rest))
        order = [*rest[:place], *moved, *rest[place:]]
        where = {"before": rest[place]} if place < len(rest) else {"last": True}
        assert call("PUT", f"/albums/{lake}/photos", json={"photos": moved, **where}) == {"photos": moved}
        assert call("GET", f"/albums/{lake}/photos") == {"photos": order}
    call("PUT", f"/albums/{lake}/photos", json={"photos": order[::-1], "last": True})
    assert call("GET", f"/albums/{lake}/photos") == {"photos": order[::-1]}


def test_the_order_by_hand_is_refused_without_one_album_of_chosen_photos(filled_library, call):
    smart = call("POST", "/albums", json={"Title": "Smart", "Filter": "path:b"})["UID"]
    month = call("GET", "/albums?type=month")[0]["UID"]
    for query in ({}, {"q": "unsorted:true"}, {"s": smart}, {"s": month}):
        answer = filled_library.get({**query, "order": "manual"})
        assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "order")
    refused = call("PUT", f"/albums/{smart}", 400, json={"Order": "manual"})
    assert refused["details"][0]["field"] == "Order"


def test_album_changes_and_edits_of_the_same_photos_do_not_block_each_other(filled_library, call):
    filled_library.app.extensions["photosvc"].gate.let_serve(32)
    headers = {"X-Auth-Token": filled_library.token()}
    with filled_library.session() as session:
        uids = [row[0] for row in session.query(Photo.uid).order_by(Photo.id)]
    made = call("POST", "/albums", json={"Title": "Crowd"})["UID"]

    def change(number):
        client, found = filled_library.app.test_client(), []
        for turn in range(3):
            path, body = f"/api/v1/albums/{made}/photos", {"photos": uids[turn : turn + 8]}
            match number % 4:
                case 0:
                    answer = client.post(path, json=body, headers=headers)
                case 1:
                    answer = client.delete(path, json=body, headers=headers)
                case 2:
                    body = {"photos": uids, "values": {"Description": f"{number} {turn}"}}
                    answer = client.post("/api/v1/batch/photos/edit", json=body, headers=headers)
                case _:
                    answer = client.put(path, json={"photos": []}, headers=headers)
            found.append((number % 4, answer.status_code))
        return found

    with ThreadPoolExecutor(8) as pool:
        answers = {answer for part in pool.map(change, range(8)) for answer in part}
    assert answers <= {(0, 200), (1, 200), (2, 200), (3, 200)}
    with filled_library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
