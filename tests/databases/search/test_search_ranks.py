"""Pages by relevance of words that many photos have, or that may mean a filter: as if all were sorted."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, select, text
from sqlalchemy.orm import Session

from photosvc.models import Photo, SearchRow, SearchText
from photosvc.query.fold import other_forms
from photosvc.search.reading import candidates
from photosvc.search.reading.pages import find
from photosvc.search.reading.plan import Driver
from photosvc.search.reading.window import prepare
from photosvc.search.rows.write import project
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.parsing import parse_request

PHOTOS = 300
#: Where a photo has the word `family`, with the points it gets for that, and for how many photos of a hundred.
PLACES = {
    "title, whole": (36, 3),
    "title, plural": (36, 1),
    "title, begun": (3, 2),
    "keyword": (35, 60),
    "description, whole": (34, 25),
    "description, begun": (1, 5),
    "nowhere": (0, 5),
}


def describe(photo, place, draw):
    photo.quality = draw.randrange(1, 8)
    photo.title, photo.description = f"T{photo.id}", ""
    match place:
        case "title, whole":
            photo.title = f"Family {photo.id}"
        case "title, plural":
            photo.title = f"Families {photo.id}"
        case "title, begun":
            photo.title = f"Familiarity {photo.id}"
        case "description, whole":
            photo.description = "the family went on, " + draw.choice(["sun", "lake"])
        case "description, begun":
            photo.description = "familiar lake"


@pytest.fixture(scope="module")
def session(new_database):
    """A library where the word has every rank."""
    draw = random.Random(4)
    engine = create_engine(new_database())
    with Session(engine) as session:
        add_photos(session, PHOTOS, NOW)
        photos = session.scalars(select(Photo).order_by(Photo.id)).all()
        for photo in photos:
            place = draw.choices(list(PLACES), [share for _, share in PLACES.values()])[0]
            describe(photo, place, draw)
        project(session, [photo.id for photo in photos])
        with_keyword = [photo.id for photo in photos if photo.title == f"T{photo.id}" and not photo.description][:170]
        for found in session.scalars(select(SearchText).where(SearchText.photo_id.in_(with_keyword))):
            found.keywords = found.keywords.rstrip() + " , family lakes "
            found.words = found.words.rstrip() + " , family lakes "
        session.commit()
        session.execute(text("ANALYZE"))
        session.commit()
        yield session
    engine.dispose()


@pytest.fixture(scope="module", autouse=True)
def many_begin_early():
    """Words of more than ten photos count as frequent."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates.CandidateCounter, "limit", 10)
        yield


def uids(session, query, **parameters):
    request = parse_request({"q": query, "order": "relevance", "count": "1000", **parameters})
    page = find(session.connection(), request, sees_private=True)
    return [record["FileUID"] for records in page.results() for record in records], page.next


def driver(session, request):
    return prepare(session.connection(), request, sees_private=True).plan.driver


def sorted_by_python(session, first, second="", *, or_quality=9):
    """UIDs by the sum of the points of one or two words, then by the keys of the order.

    Photos of the quality `or_quality` are found without the words, too.
    """
    texts = {row.photo_id: row for row in session.scalars(select(SearchText))}

    def points(row, word):
        found = texts[row.photo_id]
        forms = other_forms(word, prefix=False)
        places = {section: getattr(found, section) for section in ("title", "keywords", "people", "words")}
        whole = [section for section, text in places.items() if any(f" {one} " in text for one in (word, *forms))]
        begun = [section for section, text in places.items() if f" {word}" in text]
        place = {"title": 3, "keywords": 2, "people": 2, "words": 1}
        return 33 + place[whole[0]] if whole else place[begun[0]] if begun else 0

    def rank(row):
        each = [points(row, word) for word in (first, second) if word]
        return sum(each) if all(each) or row.quality >= or_quality else 0

    rows = [row for row in session.scalars(select(SearchRow)) if rank(row) or row.quality >= or_quality]
    rows.sort(key=lambda row: (rank(row), row.quality, row.taken_at, row.newest_key), reverse=True)
    return [row.file_uid for row in rows]


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(40, 90), st.sampled_from(["famil", "family", "famil lake", "family|lake", "familia"]), st.booleans())
def test_pages_of_any_size_put_together_are_the_whole(session, size, query, by_cursor):
    whole, _ = uids(session, query)
    pages, cursor, offset = [], None, 0
    while True:
        place = {"cursor": str(cursor)} if cursor else {"offset": str(offset)} if offset else {}
        found, following = uids(session, query, count=str(size), **place)
        pages += found
        offset += size
        cursor = following if by_cursor else None
        if following is None:
            break
    assert pages == whole


def test_merged_pages_have_each_photo_once(session):
    files = sorted_by_python(session, "famil")
    photo_of = {row.file_uid: row.photo_uid for row in session.scalars(select(SearchRow))}
    found, following = uids(session, "famil", merged="true", count="37")
    rest, _ = uids(session, "famil", merged="true", cursor=str(following))
    assert [photo_of[uid] for uid in found + rest] == list(dict.fromkeys(photo_of[uid] for uid in files))


#: A query of words, or of photos of a quality, with its words.
MIXED = {
    "famil | quality:6-": ("famil",),
    "lake | quality:6-": ("lake",),
    "(famil | quality:6-) (lake | quality:6-)": ("famil", "lake"),
    "zebra | quality:6-": ("zebra",),
}


def test_photos_found_without_a_word_come_behind_those_with_it(session):
    for query, words in MIXED.items():
        whole = sorted_by_python(session, *words, or_quality=6)
        for reverse, wanted in (("false", whole), ("true", whole[::-1])):
            assert uids(session, query, reverse=reverse)[0] == wanted, query
            found, cursor = [], None
            while cursor or not found:
                place = {"cursor": str(cursor)} if cursor else {}
                page, cursor = uids(session, query, count="37", reverse=reverse, **place)
                found += page
            assert found == wanted, query
            assert uids(session, query, reverse=reverse, offset="45", count="50")[0] == wanted[45:95], query


def test_words_that_may_mean_a_filter_are_not_all_sorted(session):
    request = parse_request({"q": "lake | quality:6-", "order": "relevance"})
    assert driver(session, request) == Driver.WALK_RANKS


def test_photos_of_all_ranks_come_in_order_also_from_the_last_rank_on(session):
    for words in (("famil",), ("family",), ("famil", "lake")):
        whole = sorted_by_python(session, *words)[::-1]
        query = " ".join(words)
        assert len(whole) > 50, words
        assert uids(session, query)[0] == whole[::-1], words
        assert uids(session, query, reverse="true")[0] == whole, words
        first, following = uids(session, query, reverse="true", count="40")
        behind, _ = uids(session, query, reverse="true", cursor=str(following))
        assert first + behind == whole, words
        assert uids(session, query, reverse="true", offset="60")[0] == whole[60:], words
