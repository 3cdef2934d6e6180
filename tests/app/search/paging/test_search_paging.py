"""Orders and pages of GET /photos, by offset and by cursor, on both databases."""

from itertools import pairwise
from urllib.parse import urlencode

import pytest
from sqlalchemy import select

from photosvc.media.metadata import Metadata
from photosvc.models import Album, AlbumPhoto, Photo
from photosvc.models.engine import begin_write
from photosvc.query.fold import fold
from photosvc.search.reading.request import ORDERS
from photosvc.search.rows.write import project
from tests.app.search.paging import paging
from tests.app.search.paging.paging import next_query
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos, edit_photos, new_extraction, store_extractions
from tests.helpers.library import open_library

PHOTOS, FILES = 40, 47
ALBUM = "a" + "0" * 15


@pytest.fixture(scope="module")
def paged_library(new_library):
    library = new_library(PHOTOS)
    with library.session() as session:
        photo_ids = list(session.scalars(select(Photo.id).order_by(Photo.id)))
        edit_photos(session, photo_ids[3:9], edited_at=NOW, favorite=True)
        session.add(Album(id=1, uid=ALBUM, title="Every second", created_at=NOW, updated_at=NOW))
        session.flush()
        session.add_all(AlbumPhoto(album_id=1, photo_id=one, created_at=NOW) for one in photo_ids[::2])
        project(session, photo_ids)
    return library


def test_the_longest_cursor_is_taken_back_and_fits_a_request_line(tmp_path):
    for letter in ('"', "\\", "\u65e5", "\U0001f600", "\ufdfa"):
        longest = 1020 // max(len(fold(letter).encode()), len(letter.encode()))
        assert len(fold(letter * longest).encode()) <= 1020
        with_title = Metadata(title=letter * 200)
        library = open_library(tmp_path / f"{ord(letter)}")
        with library.session() as session:
            store_extractions(session, [(f"{letter * longest}.{kind}", new_extraction(number, metadata=with_title))
                             for number, kind in enumerate(("jpg", "png"))], NOW)  # fmt: skip
        for order in ("name", "title"):
            answer = library.get({"order": order, "count": 1})
            cursor = answer.headers["X-Cursor"]
            query = urlencode({"order": order, "count": 1, "cursor": cursor})
            assert cursor in query
            assert len(cursor) <= 2800, (order, letter)
            after = library.get(query)
            assert (after.status_code, len(after.json)) == (200, 1), (order, letter)
            assert after.json[0]["FileUID"] != answer.json[0]["FileUID"], (order, letter)
        library.close()


def by_offset(library, order, size, **parameters):
    return records(paging.by_offset(library, {"order": order, "count": size, **parameters}))


def by_cursor(library, order, size, **parameters):
    return records(paging.by_cursor(library, {"order": order, "count": size, **parameters}))


def records(pages):
    return [record for answer in pages for record in answer.json]


def ids(records):
    return [record["ID"] for record in records]


def test_pages_by_offset_and_by_cursor_are_the_whole_without_repetition(paged_library):
    for order in ORDERS:
        seed = {"seed": 7} if order == "random" else {}
        whole = ids(paged_library.find(order=order, count=1000, **seed))
        assert len(set(whole)) == len(whole) == FILES, order
        assert ids(by_offset(paged_library, order, 10, **seed)) == whole
        assert ids(by_cursor(paged_library, order, 10, **seed)) == whole
        assert ids(by_cursor(paged_library, order, FILES, **seed)) == whole


def test_pages_of_an_album_are_those_of_the_library_that_are_in_it(paged_library):
    for order in ORDERS:
        for merged in ("true", "false"):
            asked = {"seed": 7} if order == "random" else {}
            asked["merged"] = merged
            members = {record["UID"] for record in paged_library.find(s=ALBUM, count=1000)}
            assert len(members) == PHOTOS / 2, order
            inside = [
                record["ID"]
                for record in paged_library.find(order=order, count=1000, **asked)
                if record["UID"] in members
            ]
            assert ids(paged_library.find(order=order, count=1000, s=ALBUM, **asked)) == inside
            assert ids(by_offset(paged_library, order, 15, s=ALBUM, **asked)) == inside
            total = paged_library.get({"s": ALBUM, "total": "true", "order": order, **asked}).headers["X-Total-Count"]
            assert int(total) == len(paged_library.find(s=ALBUM, count=1000)), order
            if merged == "false":
                assert ids(by_cursor(paged_library, order, 15, s=ALBUM, **asked)) == inside


def test_a_reversed_order_is_the_exact_reverse_on_pages_too(paged_library):
    for order in (*ORDERS, "manual"):
        asked = {"seed": 7} if order == "random" else {"s": ALBUM} if order == "manual" else {}
        backwards = ids(paged_library.find(order=order, count=1000, **asked))[::-1]
        assert ids(paged_library.find(order=order, count=1000, reverse="true", **asked)) == backwards
        assert ids(paged_library.find(order=f"-{order}", count=1000, **asked)) == backwards
        assert ids(paged_library.find(order=f"-{order}", count=1000, reverse="true", **asked)) == backwards[::-1]
        assert ids(by_offset(paged_library, order, 10, reverse="true", **asked)) == backwards
        assert ids(by_cursor(paged_library, order, 10, reverse="true", **asked)) == backwards
        cursor = paged_library.get({"order": order, "count": 10, "reverse": "true", **asked}).headers["X-Cursor"]
        for further in ({}, {"reverse": "true"}):
            assert ids(paged_library.find(cursor=cursor, count=10, **further, **asked)) == backwards[10:20], order
        assert paged_library.get({"cursor": cursor, "order": order, **asked}).status_code == 400


def test_the_primary_file_represents_a_photo_in_a_reversed_order(paged_library):
    for order in ("added", "archived", "size", "name"):
        shown = paged_library.find(order=order, count=1000, merged="true")
        reversed_ = paged_library.find(order=order, count=1000, merged="true", reverse="true")
        assert reversed_ == shown[::-1], order
        assert by_offset(paged_library, order, 7, merged="true", reverse="true") == reversed_


def test_a_page_of_one_file_never_loses_its_place(paged_library):
    for order in ("added", "similar", "name", "title", "random"):
        seed = {"seed": 7} if order == "random" else {}
        assert ids(by_cursor(paged_library, order, 1, **seed)) == ids(
            paged_library.find(order=order, count=1000, **seed)
        )


def number(record):
    return int(record["ID"].split("-")[0])


RANKS = {
    "added": lambda record: -number(record),
    "updated": lambda record: (descending(record["UpdatedAt"]), -number(record)),
    "edited": lambda record: (descending(record["EditedAt"]), -number(record)),
    "relevance": lambda record: (-record["Quality"], descending(record["TakenAt"])),
    "duration": lambda record: -record.get("Duration", 0),
    "newest": lambda record: descending(record["TakenAt"]),
    "oldest": lambda record: (record["TakenAt"], number(record)),
    "similar": lambda record: (record["Color"], record["CellID"]),
    "name": lambda record: (record["Path"], record["Name"]),
    "title": lambda record: (fold(record["Title"]), record["Name"]),
}


def descending(text):
    return [-ord(character) for character in text]


def test_the_order_is_what_its_name_says(paged_library):
    for order, rank in RANKS.items():
        ranks = [rank(record) for record in paged_library.find(order=order, count=1000)]
        assert all(first <= second for first, second in pairwise(ranks)), order
        assert ranks[0] != ranks[-1], order


def test_by_size_the_largest_comes_first(paged_library):
    rows = {row["file_uid"]: row for _, _, row in paged_library.stored().values()}
    sizes = [rows[record["FileUID"]]["photo_size"] for record in paged_library.find(order="size", count=1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (1004, 1000)


def test_added_is_the_order_when_none_is_asked_for(paged_library):
    assert ids(paged_library.find()) == ids(paged_library.find(order="added"))


def test_primary_gives_one_file_for_each_photo(paged_library):
    for order in ORDERS:
        found = paged_library.find(order=order, primary="true", count=1000, seed=3)
        assert len({record["UID"] for record in found}) == len(found) == PHOTOS, order
        assert not any(record["FileName"].endswith(".dng") for record in found), order


def test_a_seed_gives_the_same_shuffle_each_time_and_another_seed_another(paged_library):
    first, again, other = (ids(paged_library.find(order="random", seed=seed, count=1000)) for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert sorted(first) == sorted(other)


def test_random_without_a_seed_pages_without_overlap_by_its_links(paged_library):
    found = ids(by_cursor(paged_library, "random", 9))
    assert len(set(found)) == len(found) == FILES


def test_random_pages_by_offset_without_a_seed_repeat_nothing_and_begin_anew_each_time(paged_library):
    shuffles = []
    for _ in range(2):
        found, count = [], 7
        for start in range(0, FILES, count):
            paged_library.clock.move(seconds=59)
            found += ids(paged_library.find(order="random", count=count, offset=start))
        assert sorted(found) == sorted(ids(paged_library.find(count=1000)))
        shuffles.append(found)
    assert shuffles[0] != shuffles[1]
    other = ids(paged_library.find(order="random", count=7, q="type:image", offset=0))
    assert other != ids(paged_library.find(order="random", count=7, q="type:image", offset=0))
    more = ids(paged_library.find(order="random", count=7, offset=FILES - 7))
    assert more == shuffles[1][-7:]  # another search has a shuffle of its own


def test_random_pages_by_offset_repeat_nothing_although_files_are_added_between_them(new_library):
    library = new_library(12)
    before, found = ids(library.find(count=100)), []
    for number, start in enumerate(range(0, len(before), 4)):
        found += ids(library.find(order="random", count=4, offset=start))
        with library.session() as session:
            add_photos(session, 9, NOW, first=12 + number * 9)
    assert sorted(found) == sorted(before)
    assert set(ids(library.find(order="random", count=100))) > set(before)


def test_random_pages_by_offset_repeat_nothing_while_others_write(paged_library):
    token = paged_library.token()
    with paged_library.session() as session:
        begin_write(session)
        answers = [
            paged_library.get({"order": "random", "q": "type:image", "count": 9, "offset": start}, token=token)
            for start in range(0, FILES, 9)
        ]
    found = [record["ID"] for answer in answers for record in answer.json]
    assert len(set(found)) == len(found) > 9


def test_an_order_is_known_in_any_case_and_with_blanks_around(paged_library):
    assert ids(paged_library.find(order=" NEWEST ")) == ids(paged_library.find(order="newest"))


def test_a_cursor_brings_its_order_and_seed(paged_library):
    answer = paged_library.get({"order": "random", "seed": 11, "count": 10})
    rest = paged_library.find(cursor=next_query(answer)["cursor"], count=1000)
    assert ids(answer.json) + ids(rest) == ids(paged_library.find(order="random", seed=11, count=1000))


def test_an_answer_that_is_not_full_has_no_next_page(paged_library):
    assert "Link" not in paged_library.get({"count": FILES + 1}).headers
    assert "Link" not in paged_library.get({"offset": FILES}).headers


def test_a_link_keeps_what_was_asked_for(paged_library):
    answer = paged_library.get({"count": 5, "primary": "true", "order": "name", "shade": "ü&=;<>\r\n"})
    query = next_query(answer)
    assert query.pop("cursor")
    assert query == {"count": "5", "primary": "true", "order": "name", "shade": "ü&=;<>\r\n"}


def test_a_cursor_that_is_not_ours_is_refused(paged_library):
    for cursor in (
        "x", "!", "%", "é", "W10", "bnVsbA", "WzFd", "eyJhIjoxfQ", "A" * 9000,
        "WyJhZGRlZCIsMCwwXQ",  # ["added",0,0]
        "WyJhZGRlZCIsMCwwLCJ4Il0",  # ["added",0,0,"x"]
        "WyJhZGRlZCIsMCwwLHRydWVd",  # ["added",0,0,true]
        "WyJhZGRlZCIsMCwwLDEuNV0",  # ["added",0,0,1.5]
        "WyJhZGRlZCIsMCwwLDkyMjMzNzIwMzY4NTQ3NzU4MDhd",  # ["added",0,0,9223372036854775808]
        "WyJhZGRlZCIsLTEsMCwxXQ",  # ["added",-1,0,1]
        "WyJhZGRlZCIsMCwtMSwxXQ",  # ["added",0,-1,1]
        "WyJhZGRlZCIsMCw5MDA3MTk5MjU0NzQwOTkyLDFd",  # ["added",0,9007199254740992,1]
        "WyJhZGRlZCIsMCwiMCIsMV0",  # ["added",0,"0",1]
        "WyJub25lIiwwLDAsMV0",  # ["none",0,0,1]
        "W1siYWRkZWQiXSwwLDAsMV0",  # [["added"],0,0,1]
        "WyJuYW1lIiwwLDAsIlx1MDAwMCIsIlx1MDAwMCIsMV0",  # ["name",0,0,"\0","\0",1]
        "WyJuYW1lIiwwLDAsIlx1ZDgwMCIsIiIsMV0",  # a lone surrogate
        "WyJyYW5kb20iLDkwMDcxOTkyNTQ3NDA5OTEsMCwxLDFd",  # a seed of 2^53 - 1
    ):  # fmt: skip
        answer = paged_library.get({"cursor": cursor})
        assert answer.status_code == 400, cursor
        assert answer.json["details"][0]["field"] in {"cursor", "order"}, cursor


def test_a_forged_cursor_gives_no_more_than_a_search_does(paged_library):
    for values in ("1,9223372036854775807", "1,-9223372036854775808"):
        import base64

        forged = base64.urlsafe_b64encode(f'["newest",0,0,{values}]'.encode()).decode().rstrip("=")
        found = ids(paged_library.find(cursor=forged, count=1000))
        assert set(found) <= set(ids(paged_library.find(count=1000))), values


def test_a_cursor_of_another_order_or_seed_is_refused(paged_library):
    cursor = next_query(paged_library.get({"order": "random", "seed": 4, "count": 2}))["cursor"]
    for parameters in ({"order": "newest"}, {"seed": 5}, {"offset": 2}):
        assert paged_library.get({"cursor": cursor, **parameters}).status_code == 400


def test_a_cursor_is_not_shifted_by_what_is_added(new_library):
    for order in ("added", "newest", "name", "random"):
        library = new_library(20)
        before = ids(library.find(order=order, seed=1, count=1000))
        pages = paging.by_cursor(library, {"order": order, "seed": 1, "count": 7})
        first = next(pages)
        added = [(f"{letter}/n0-x{n}.jpg", new_extraction(500 + n)) for n, letter in enumerate("aAb0zZ")]
        with library.session() as session:
            store_extractions(session, added, NOW)
        found = ids(first.json) + ids(records(pages))
        assert len(set(found)) == len(found), order
        assert [one for one in found if one in set(before)] == before, order
