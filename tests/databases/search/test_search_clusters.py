"""The numbers of photos by town agree with what the same query finds."""

from collections import Counter

import orjson
import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from photosvc.models import Photo, Place
from photosvc.search.reading.clusters import find_towns
from photosvc.search.reading.pages import find
from photosvc.search.rows.write import project
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.parsing import parse_request, photo_query

#: A town with the name of another one, in another state.
SAME_NAME = {"id": "de:2", "label": "MÜNCHEN, Other, Germany", "city": "MÜNCHEN", "state": "Other", "country": "de"}


@pytest.fixture(scope="module")
def session(new_database):
    engine = create_engine(new_database())
    with Session(engine) as session:
        fill_varied_library(session, photos=80)
        place = Place(**SAME_NAME)
        session.add(place)
        moved = session.scalars(select(Photo).where(Photo.place_id == "de:1").order_by(Photo.id).limit(5)).all()
        for photo in moved:
            photo.place = place
        session.flush()
        project(session, [photo.id for photo in moved])
        session.commit()
        yield session
    engine.dispose()


def test_towns_have_as_many_photos_as_the_query_finds(session):
    for sees_private in (True, False):
        for query in (
            "",
            "lake",
            "-snow",
            "favorite:true",
            "-color:blue",
            "type:image",
            "archived:true",
            "codec:heic | lake",
            "iso:>0",
        ):
            request = parse_request({"q": query, "count": "1000", "merged": "true"})
            records = orjson.loads(find(session.connection(), request, sees_private=sees_private).body)
            expected = Counter(
                (one["Country"], one["PlaceCity"].casefold()) for one in records if one["Country"] != "zz"
            )
            found = find_towns(session.connection(), photo_query(query, sees_private=sees_private))
            assert {(town.country, town.name.casefold()): town.count for town in found} == expected, sees_private
            assert [town.count for town in found] == sorted(expected.values(), reverse=True), sees_private
            session.rollback()


def test_a_town_in_two_states_is_one_town(session):
    towns = find_towns(session.connection(), photo_query())
    counted = Counter(town.name.casefold() for town in towns)
    assert counted["münchen"] == 1
