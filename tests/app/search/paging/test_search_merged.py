"""Merged pages: every photo once and whole, in every order, by offset and by cursor, whatever the client's habit."""

import pytest
from sqlalchemy import select

from photosvc.models import Photo
from photosvc.search.reading.request import ORDERS
from tests.app.search.paging import paging
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import edit_photos, new_extraction, store_extractions

#: Results of a page, and the orders in which the library is paged so.
PAGES = {1: ("added", "random"), 3: tuple(ORDERS), 8: ("name", "-size")}


@pytest.fixture(scope="module")
def stacked_library(new_library):
    library = new_library(12)
    with library.session() as session:
        shared = new_extraction(900).metadata
        stack = [
            ("a/stack.jpg", new_extraction(900)),
            ("a/stack.dng", new_extraction(901, file_type="dng", media_type="raw", metadata=shared)),
        ]
        store_extractions(
            session,
            [
                *stack,
                *((f"a/stack.{ending}", new_extraction(902 + n, metadata=shared)) for n, ending in enumerate(ENDINGS)),
            ],
            NOW,
        )
        edit_photos(
            session, list(session.scalars(select(Photo.id).order_by(Photo.id)))[3:7], edited_at=NOW, favorite=True
        )
    return library


ENDINGS = ("png", "tif", "webp")


def whole_of(library, order):
    """Photo UID -> UIDs of its files, as the unmerged search has them."""
    found = {}
    for record in library.find(order=order, count=1000, seed=7):
        found.setdefault(record["UID"], set()).add(record["FileUID"])
    return found


def by_count(library, order, count, step=None):
    """Pages as clients ask for them: `offset` raised by `step`, or by `X-Count`, until a page is empty."""
    found = []
    for answer in paging.by_offset(library, asked_for(order, count), step=step, to_empty=True):
        assert len(answer.json) <= int(answer.headers["X-Count"]) <= count
        found += answer.json
    return found


def by_cursor(library, order, count):
    return [record for answer in paging.by_cursor(library, asked_for(order, count)) for record in answer.json]


def asked_for(order, count):
    return {"order": order, "merged": "true", "count": count, "seed": 7}


def check_whole(library, order, found):
    files = {record["UID"]: [file["UID"] for file in record["Files"]] for record in found}
    assert len(files) == len(found), "a photo came twice"
    assert all(len(set(uids)) == len(uids) for uids in files.values()), "a file came twice"
    assert {uid: set(uids) for uid, uids in files.items()} == whole_of(library, order)


def test_every_photo_comes_once_and_whole(stacked_library):
    for count, orders in PAGES.items():
        for order in orders:
            check_whole(stacked_library, order, by_count(stacked_library, order, count))
            if count > 1:  # pages of one file are asked for alike
                check_whole(stacked_library, order, by_count(stacked_library, order, count, count))
            check_whole(stacked_library, order, by_cursor(stacked_library, order, count))


def test_a_merged_result_is_the_first_file_with_all_files(stacked_library):
    (record,) = stacked_library.find(merged="true", q='filename:"a/stack.*"')
    assert record["Merged"] is True
    assert len(record["Files"]) == 2 + len(ENDINGS)
    assert record["FileUID"] == record["Files"][0]["UID"]
    assert [file["Primary"] for file in record["Files"]] == [True, *[False] * (1 + len(ENDINGS))]
    assert {file["PhotoUID"] for file in record["Files"]} == {record["UID"]}


def test_without_merged_files_are_left_out(stacked_library):
    assert all(record["Files"] == [] and record["Merged"] is False for record in stacked_library.find())


def test_only_files_that_match_are_merged(stacked_library):
    (record,) = stacked_library.find(merged="true", q="filename:a/stack.dng")
    assert [file["Name"] for file in record["Files"]] == ["a/stack.dng"]


def test_merged_by_size_goes_by_the_largest_file_of_a_photo(stacked_library):
    sizes = {row["file_uid"]: row["photo_size"] for _, _, row in stacked_library.stored().values()}
    found = [sizes[record["FileUID"]] for record in stacked_library.find(merged="true", order="size", count=1000)]
    assert found == sorted(found, reverse=True)
