"""The table of typed words and the photos that they find, on both databases."""

from datetime import datetime, timedelta

import pytest

from photosvc.media.metadata import Metadata, Region
from photosvc.models import Album, AlbumPhoto, Photo
from photosvc.search.rows.write import project
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import edit_photos, new_extraction, store_extractions

TODAY = NOW.date()
LAST_WEEK = TODAY - timedelta(days=TODAY.weekday() + 7 - 2)  # its Wednesday
LAST_SUMMER = TODAY.year - (TODAY.month < 9)
MUNICH, BARCELONA, ROME = (48.144, 11.595), (41.389, 2.159), (41.895, 12.482)
BERLIN, SYDNEY = (52.52, 13.405), (-33.87, 151.21)


def at(year, month=1, day=1, hour=12):
    return datetime(year, month, day, hour)  # noqa: DTZ001 - wall time


def on(day):
    return at(day.year, day.month, day.day)


def face(name):
    return {"regions": (Region(name=name, kind="face", x=0.5, y=0.5, w=0.1, h=0.1),)}


def camera(make, model, **more):
    return {"camera_make": make, "camera_model": model, **more}


#: Name, moment, position, metadata, facts of the picture.
PHOTOS = (
    ("june.jpg", at(2019, 6, 14, 9), None, {"title": "Dog in snow", "iso": 1600, "f_number": 1.8}, {}),
    ("july.jpg", at(2019, 7, 6, 15), None, {"keywords": ("dog",), "focal_length": 85, "exposure": "1/250"}, {}),
    ("night.jpg", at(2020, 2, 12, 23), BERLIN,
     {"title": "Snow", "rating": 5, "lens_model": "EF85mm f/1.4 USM"}, {}),
    ("beach.jpg", at(2020, 1, 3, 14), SYDNEY, {"keywords": ("strand",)}, {}),
    ("christmas.jpg", at(2021, 12, 25, 18), None, {"title": "Tree"}, {"width": 300, "height": 400}),
    ("fifties.jpg", at(1955, 3, 1, 12), None, {"title": "Grandparents"}, {"chroma": 0}),
    ("anna.jpg", at(2012, 5, 5, 12), None, face("Anna Smith"), {}),
    ("unnamed.jpg", at(2012, 5, 7, 12), None, face(""), {}),
    ("selfie.jpg", at(2017, 10, 10, 6), None,
     camera("Apple", "iPhone 11", lens_model="iPhone 11 front camera 2.71mm f/2.2"), {}),
    ("alpha.jpg", at(2017, 10, 11, 12), None, camera("SONY", "ILCE-7M3"), {}),
    ("galaxy.jpg", at(2017, 10, 12, 12), None, camera("samsung", "SM-G991B"), {}),
    ("DJI_0001.jpg", at(2017, 10, 13, 12), None, camera("DJI", "FC7203"), {}),
    ("IMG-20180502-WA0001.jpg", at(2018, 5, 2, 12), None, {}, {}),
    ("IMG_0101.jpg", at(2018, 5, 3, 12), None, {"keywords": ("b* or kuh",)}, {}),
    ("colosseum.jpg", at(2018, 4, 4, 12), ROME, {"title": "Colosseum at sunset"}, {}),
    ("ramblas.jpg", at(2018, 4, 5, 12), BARCELONA, {}, {}),
    ("marienplatz.jpg", at(2018, 4, 6, 12), MUNICH, {}, {}),
    ("ete.jpg", at(2016, 11, 9), None, {"title": "Souvenirs d'\u00e9t\u00e9, M\u00fccken"}, {}),
    ("yesterday.jpg", on(TODAY - timedelta(days=1)), None, {}, {}),
    ("ago.jpg", on(TODAY - timedelta(days=3)), None, {}, {}),
    ("week.jpg", on(LAST_WEEK), None, {}, {}),
    ("summer.jpg", at(LAST_SUMMER, 7, 15), None, {}, {}),
)  # fmt: skip
EVERY = [photo[0] for photo in PHOTOS]
(JUNE, JULY, NIGHT, BEACH, CHRISTMAS, FIFTIES, ANNA, UNNAMED, SELFIE, ALPHA, GALAXY, DRONE, WHATSAPP, NUMBERED,
 COLOSSEUM, RAMBLAS, MARIENPLATZ, ETE, YESTERDAY, AGO, WEEK, SUMMER) = EVERY  # fmt: skip
#: Photos of days that the present day decides; queries in the table leave them out or are about them.
MOVING = {YESTERDAY: TODAY - timedelta(days=1), AGO: TODAY - timedelta(days=3), WEEK: LAST_WEEK}
WEDDING = "Wedding Lisa & Tom"


@pytest.fixture(scope="module")
def library(new_library):
    library = new_library()
    with library.session() as session:
        store_extractions(session, [_extracted(number, *photo) for number, photo in enumerate(PHOTOS)], NOW)
        photos = {photo.name: photo.id for photo in session.query(Photo)}
        for number, (title, name) in enumerate([(WEDDING, "july"), ("Wedding day", "beach")]):
            album = Album(uid=f"a00000000000000{number}", title=title, created_at=NOW, updated_at=NOW)
            session.add(album)
            session.flush()
            session.add(AlbumPhoto(album_id=album.id, photo_id=photos[name], created_at=NOW))
        session.flush()
        project(session, [photos["july"], photos["beach"]])
        edit_photos(session, [photos["june"]], favorite=True)
    return library


def _extracted(number, name, local, position, facts, picture):
    lat, lng = position or (None, None)
    size = {"width": 400, "height": 300, "chroma": 50, "main_color": 9, **picture}
    return name, new_extraction(number, metadata=Metadata(taken_local=local, lat=lat, lng=lng, **facts), **size)


def answer(library, query):
    return library.get({"q": query}, token=library.token(role="admin"))


def found(library, query):
    return sorted(record["FileName"] for record in answer(library, query).json)


def test_what_people_type_finds_what_they_mean(library):
    for typed, names in (
        ("june 2019", [JUNE]),
        ("14 june 2019", [JUNE]),
        ("summer 2019", [JUNE, JULY, BEACH]),
        ("winter 2019", [NIGHT]),
        ("2019", [JUNE, JULY]),
        ("2019-2020", [JUNE, JULY, NIGHT, BEACH]),
        ("since 2021 until 2021", [CHRISTMAS]),
        ("1950s", [FIFTIES]),
        ("christmas 2021", [CHRISTMAS]),
        ("mai", [ANNA, UNNAMED, WHATSAPP, NUMBERED]),
        ("march 1955", [FIFTIES]),
        ("in the morning", [JUNE, SELFIE]),
        ("2019 morning", [JUNE]),
        ("2017 morning", [SELFIE]),
        ("2019 saturday", [JULY]),
        ("2019 weekends", [JULY]),
        ("weekends 2019-2020", [JULY]),
        ("weekday:fri hour:14", [BEACH]),
        ("85mm", [JULY, NIGHT]),
        ("lens:85mm", [NIGHT]),
        ("shutter:1/*", [JULY]),
        ("photos of 2019", [JUNE, JULY]),
        ("selfies", [SELFIE]),
        ("drone", [DRONE]),
        ("from whatsapp", [WHATSAPP]),
        ("photos from whatsapp", [WHATSAPP]),
        ("snow not dog", [NIGHT]),
        ("2019 without snow", [JULY]),
        ("dog no snow", [JULY]),
        ("strand no snow", [BEACH]),
        ("before 2021 without snow not landscape:true", []),
        ("camera:iphone11", [SELFIE]),
        ("a7iii", [ALPHA]),
        ("galaxy s21", [GALAXY]),
        ("in album wedding", [JULY, BEACH]),
        (f'album:"{WEDDING}"', [JULY]),
        ("album:wedding", [JULY, BEACH]),
        ("album:wedding-l", [JULY]),
        ('album:"wedding"', []),
        ('keywords:"b* or kuh"', [NUMBERED]),
        ("person:anna", [ANNA]),
        ('person:"anna"', []),
        ('person:"anna smith"', [ANNA]),
        ("name:IMG_0101.jpg", [NUMBERED]),
        ("faces:new", [UNNAMED]),
        ("faces:!new", [name for name in EVERY if name != UNNAMED]),
        ("l'\u00e9t\u00e9", [ETE]),
        ("m\u00fccken", [ETE]),
        ('"june 2019"', []),
        ('"Dog in', [JUNE]),
        ('title:"Dog in snow', [JUNE]),
        ("near rom", [COLOSSEUM]),
        ("near Sydney", [BEACH]),
        ("barcelona", [RAMBLAS]),
        ("dogs", [JUNE, JULY]),
    ):
        assert found(library, typed) == sorted(names), typed


def test_days_before_the_present_one(library):
    for typed, first, last in (
        ("yesterday", TODAY - timedelta(days=1), TODAY - timedelta(days=1)),
        ("3 days ago", TODAY - timedelta(days=3), TODAY - timedelta(days=3)),
        ("last week", LAST_WEEK - timedelta(days=2), LAST_WEEK + timedelta(days=4)),
    ):
        assert found(library, typed) == sorted(name for name, day in MOVING.items() if first <= day <= last)


def test_recurring_days_find_those_of_every_year(library):
    for typed, name in (("last summer", SUMMER), ("december", CHRISTMAS), ("14 june", JUNE)):
        assert name in found(library, typed)
        assert NIGHT not in found(library, typed)


def test_slips_are_told(library):
    for typed, meant in (("bercelona", "barcelona"), ("sunst", "sunset"), ("colloseum", "colosseum"), ("anan", "anna")):
        got = answer(library, typed)
        assert got.json == [], typed
        assert f"did you mean {meant}?" in got.headers["X-Search-Hint"], typed
