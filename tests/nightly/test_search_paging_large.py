"""Paging through a hundred thousand files: each comes once, in a quiet library and in one that changes meanwhile."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, count, product
from random import Random
from threading import Event
from urllib.parse import parse_qsl, urlsplit

import pytest
from sqlalchemy import delete, select

from photosvc.models import File, Photo
from photosvc.models.engine import begin_write
from photosvc.search.reading.request import ORDERS
from photosvc.search.rows.write import project
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction, store_extractions
from tests.helpers.library import open_library

pytestmark = pytest.mark.timeout(7200)

MANY, FEWER = 100_000, 20_000

#: What tells a result, and in a merged one the photo and its files. They are picked out of the text: to parse it all
#: takes longer than to search.
RESULT, PHOTO_OR_FILE = re.compile(rb'"FileUID":"(\w+)"'), re.compile(rb'"UID":"([pf]\w+)"')


@pytest.fixture(scope="module")
def large_library(new_database, tmp_path_factory):
    from bench.library import make_library

    uri = new_database()
    library = open_library(tmp_path_factory.mktemp("large"), settings={"PHOTOSVC_DATABASE_URI": uri})
    make_library(library.app, MANY if uri.startswith("sqlite") else FEWER)
    yield library
    library.close()


def test_every_file_comes_once_and_in_the_same_place_however_a_client_pages(large_library):
    for order in ORDERS:
        asked = {"order": order, "seed": 7}
        files = files_of(by_cursor(large_library, **asked, count=5000))
        assert sorted(files) == sorted(visible(large_library)), order
        assert files_of(by_what_came(large_library, **asked, count=4999)) == files, order
        assert files_of(by_what_was_asked(large_library, **asked, count=4001)) == files, order


def test_every_photo_comes_once_and_whole_however_a_client_pages(large_library):
    for order in ORDERS:
        asked = {"order": order, "seed": 7, "merged": "true"}
        photos = photos_of(by_cursor(large_library, **asked, count=5000))
        owners = {file: photo for photo, files in photos for file in files}
        assert owners == visible(large_library), order
        assert sum(len(files) for _, files in photos) == len(owners), order
        assert len(dict(photos)) == len(photos), order
        assert photos_of(by_what_came(large_library, **asked, count=4999)) == photos, order
        assert photos_of(by_what_was_asked(large_library, **asked, count=4001)) == photos, order


def test_by_cursor_nothing_that_stays_is_lost_or_repeated_while_others_come_and_go(large_library):
    for order, merged in product(ORDERS, ({}, {"merged": "true"})):
        case = f"{order} {merged}"
        before, draw = visible(large_library), Random(case)
        photos = sorted(set(before.values()))
        draw.shuffle(photos)
        going, staying = photos[:2000], photos[2000:]
        with changing(large_library, draw, list(going), staying) as rounds:
            pages = list(by_cursor(large_library, order=order, seed=7, count=len(before) // 100, **merged))
        assert len(rounds) > 2, case
        found = list(chain.from_iterable(files for _, files in photos_of(pages))) if merged else files_of(pages)
        assert len(set(found)) == len(found), case
        assert {file for file, photo in before.items() if photo not in set(going)} <= set(found), case


def visible(library):
    """File UID -> photo UID, of all that a client may see."""
    query = select(File.uid, Photo.uid).join(Photo).where(Photo.private.is_(False))
    with library.session() as session:
        return dict(session.execute(query).all())


def page(library, asked):
    """A page; makes sure of what its headers promise."""
    answer = library.get(asked)
    assert answer.status_code == 200, answer.text
    results = len(RESULT.findall(answer.data))
    given, limit = (int(answer.headers[name]) for name in ("X-Count", "X-Limit"))
    assert limit == int(asked["count"])
    assert results <= given <= limit if "merged" in asked else results == given <= limit
    assert ("Link" in answer.headers) == (given == limit)
    return answer


def by_what_came(library, **asked):
    """The pages of a client that goes on by `X-Count` until a page is not full."""
    offset = 0
    while True:
        answer = page(library, {**asked, "offset": offset})
        yield answer.data
        offset += int(answer.headers["X-Count"])
        if answer.headers["X-Count"] != answer.headers["X-Limit"]:
            return


def by_what_was_asked(library, **asked):
    """The pages of a client that goes on by `count` until nothing comes."""
    for offset in count(step=asked["count"]):
        answer = page(library, {**asked, "offset": offset})
        yield answer.data
        if answer.headers["X-Count"] == "0":
            return


def by_cursor(library, **asked):
    """The pages of a client that follows the links."""
    so_far = 0
    while asked:
        answer = page(library, asked)
        yield answer.data
        assert answer.headers["X-Offset"] == str(so_far)
        so_far += int(answer.headers["X-Count"])
        link = answer.headers.get("Link", "")
        asked = dict(parse_qsl(urlsplit(link.partition(">")[0][1:]).query))


def files_of(pages):
    return [uid.decode() for text in pages for uid in RESULT.findall(text)]


def photos_of(pages):
    """Each merged result as the UID of its photo and those of its files."""
    found = []
    for uid in (uid.decode() for text in pages for uid in PHOTO_OR_FILE.findall(text)):
        if uid.startswith("p"):
            found.append((uid, []))
        else:
            found[-1][1].append(uid)
    return found


@contextmanager
def changing(library, draw, going, staying) -> Iterator[list[int]]:
    """Add photos, delete some and project the rest again in rounds; return the number of rounds."""
    stop, rounds = Event(), []

    def change() -> None:
        while not stop.is_set():
            gone, same = [going.pop() for _ in range(min(10, len(going)))], draw.sample(staying, 10)
            added = [(new_name(draw), new_extraction(draw.getrandbits(60))) for _ in range(5)]
            with library.session() as session:
                begin_write(session)
                store_extractions(session, added, NOW)
                begin_write(session)
                gone, same = (
                    session.scalars(select(Photo.id).where(Photo.uid.in_(uids))).all() for uids in (gone, same)
                )
                session.execute(delete(File).where(File.photo_id.in_(gone)))
                session.execute(delete(Photo).where(Photo.id.in_(gone)))
                project(session, [*gone, *same])
            rounds.append(len(rounds))

    with ThreadPoolExecutor(1) as pool:
        changes = pool.submit(change)
        try:
            yield rounds
        finally:
            stop.set()
        changes.result()


def new_name(draw):
    """A name that lies anywhere among those of the library."""
    return f"20{draw.randrange(1, 26):02}/{draw.randrange(1, 13):02}/new-{draw.getrandbits(64):016x}.jpg"
