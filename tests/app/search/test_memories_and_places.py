"""Memories of earlier years, and towns by name, over HTTP. The day of the library is 1 March 2026."""

import pytest

from photosvc.models import Photo
from tests.helpers.api_client import open_api
from tests.helpers.factories.photos import edit_photos
from tests.helpers.pictures import exif, jpeg

HOME, LISBON = (49.41, 8.69), (38.72, -9.14)


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("memories")) as api:
        days = [(f"{year}:03:01", HOME, 3) for year in (2022, 2024, 2025)]
        days += [(f"{year}:02:{day}", HOME, 1) for year in (2022, 2024, 2025) for day in (20, 26)]
        days += [(f"2024:03:{day:02}", LISBON, 3) for day in (5, 6, 7)] + [("2026:03:01", HOME, 2)]
        number = 0
        for day, (lat, lng), count in days:
            for _ in range(count):
                number += 1
                gps = {1: "N", 2: degrees(lat), 3: "W" if lng < 0 else "E", 4: degrees(lng)}
                taken = exif({}, {0x9003: f"{day} 10:{number:02}:00"}, gps)
                api.library.put(f"{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        yield api


def degrees(number):
    return [(round(abs(number) * 100), 100), (0, 1), (0, 1)]


def memories(api, role="admin"):
    found = api.call("GET", "/memories", api.library.token("*", role=role)).json
    return {(one["kind"], one["first"], one["last"], one["place"], one["count"]): one for one in found}


def test_memories_are_this_day_trips_and_the_best_of_the_month_and_their_queries_find_them(api):
    march = [photo["UID"] for photo in api.library.find(q="taken:2025-03", count=9)]
    with api.library.session() as session:
        edit_photos(session, ids_of(session, march), favorite=True)
    found = memories(api)
    assert list(found) == [
        ("day", "2022-03-01", "2025-03-01", "", 9),
        ("years", "2025-03-01", "2025-03-01", "Heidelberg", 3),
        ("years", "2024-03-01", "2024-03-01", "Heidelberg", 3),
        ("trip", "2024-03-05", "2024-03-07", "Lisbon", 9),
        ("month", "2025-03-01", "2025-03-01", "", 3),
    ]
    for (*_, count), memory in found.items():
        photos = api.library.find(q=memory["query"], count=50)
        assert len(photos) == count, memory["query"]
        assert memory["hash"] in {photo["Hash"] for photo in photos}


def test_private_photos_are_memories_only_of_who_sees_them(api):
    with api.library.session() as session:
        trip = [photo["UID"] for photo in api.library.find(q="taken:2024-03-06", count=9)]
        edit_photos(session, ids_of(session, trip), private=True)
    counts = {name: next(key[-1] for key in memories(api, name) if key[0] == "trip") for name in ("admin", "viewer")}
    assert counts == {"admin": 9, "viewer": 6}


def ids_of(session, uids):
    return [row[0] for row in session.query(Photo.id).filter(Photo.uid.in_(uids))]


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("q=bellag", ["Bellagio, Lombardy, Italy", "Bellaghy, Northern Ireland, United Kingdom"]),
        ("q=lisbonne", ["Lisbon, Portugal"]),
        ("q=san jose, costa rica", ["San José, Costa Rica"]),
        ("near=49.41,8.69", ["Heidelberg, Baden-Wurttemberg, Germany"]),
        ("q=%20", []), ("q=\"';%", []), ("near=0,-150", []),
    ],
)  # fmt: skip
def test_towns_are_found_by_a_name_in_any_language_or_near_a_position(api, query, labels):
    found = api.call("GET", f"/places/named?{query}", api.access_token()).json
    assert [town["label"] for town in found][: len(labels) or 9] == labels


@pytest.mark.parametrize("query", ["near=91,0", "near=1", "near=a,b", "near=nan,1", "q=" + "x" * 101])
def test_a_bad_position_or_too_long_a_name_is_refused(api, query):
    answer = api.call("GET", f"/places/named?{query}", api.access_token())
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, query.partition("=")[0])
