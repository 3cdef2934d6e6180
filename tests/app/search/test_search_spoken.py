"""Dates, numbers and kinds in words: what people type, and the photos that it finds."""

from datetime import datetime, timedelta

import pytest

from photosvc.media.metadata import Metadata, Region
from photosvc.models import Album, AlbumPhoto, Photo
from photosvc.models.search import record_change
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction, store_extractions
from tests.helpers.library import open_library

SMART = "a000000000000009"
#: Paths, parameters, and the number of photos of yesterday in the answer.
DOORS = (
    ("/photos", {"q": "yesterday"}, len),
    ("/photos", {"s": SMART}, len),
    ("/albums", {}, lambda albums: albums[0]["PhotoCount"]),
    (f"/albums/{SMART}", {}, lambda album: album["PhotoCount"]),
    ("/photos/facets", {"q": "yesterday", "by": "year"}, lambda facets: facets["year"][0]["count"]),
    ("/photos/facets", {"s": SMART, "by": "year"}, lambda facets: facets["year"][0]["count"]),
    ("/photos/timeline", {"q": "yesterday"}, lambda timeline: timeline["total"]),
    ("/photos/sequence", {"s": SMART, "total": "true"}, lambda sequence: sequence["total"]),
)
BERLIN, SYDNEY = (52.52, 13.405), (-33.87, 151.21)


def taken(*when):
    return datetime(*when)  # noqa: DTZ001 - wall time


#: A Saturday in February.
YESTERDAY = NOW.date() - timedelta(days=1)
PHOTOS = (
    ("garden.jpg", taken(2019, 7, 6, 9), BERLIN, {"title": "Rose", "iso": 1600, "f_number": 1.8, "exposure": "1/250"},
     {}),
    ("beach.jpg", taken(2020, 1, 3, 14), SYDNEY, {"keywords": ("strand", "dog"), "focal_length": 85, "rating": 5}, {}),
    ("snow.jpg", taken(2020, 2, 12, 23), BERLIN, {"keywords": ("snow",), "lens_model": "EF85mm f/1.8 USM"}, {}),
    ("tree.jpg", taken(2021, 12, 25, 18), None, {"title": "Weihnachtsbaum", "camera_make": "Apple",
     "camera_model": "iPhone 11", "lens_model": "iPhone 11 front camera 2.71mm f/2.2"}, {"width": 300, "height": 400}),
    ("IMG-20120505-WA0001.jpg", taken(2012, 5, 5, 12), None, {"title": "May day"}, {"chroma": 0}),
    ("DJI_0001.jpg", taken(1955, 6, 1, 12), None, {"camera_make": "DJI", "camera_model": "FC7203"}, {}),
    ("kuh.jpg", taken(2022, 3, 3, 6), None, {"title": "M\u00fcnchen im Fr\u00fchling", "camera_make": "SONY",
     "camera_model": "ILCE-7M3", "keywords": ("b* or kuh",)}, {}),
    ("ete.jpg", taken(2016, 11, 9, 12), None, {"title": "Souvenirs d'\u00e9t\u00e9", "camera_make": "samsung",
     "camera_model": "SM-G991B"}, {}),
    ("new.jpg", datetime.combine(YESTERDAY, datetime.min.time().replace(hour=12)), None,
     {"regions": (Region(name="Anna Smith", kind="face", x=0.5, y=0.5, w=0.1, h=0.1),)}, {}),
    ("face.jpg", taken(2017, 10, 11, 12), None,
     {"regions": (Region(name="", kind="face", x=0.5, y=0.5, w=0.1, h=0.1),)}, {}),
)  # fmt: skip
GARDEN, BEACH, SNOW, TREE, MAY, DRONE, KUH, ETE, NEW, FACE = EVERY = [photo[0] for photo in PHOTOS]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("spoken"))
    with library.session() as session:
        store_extractions(session, [_extracted(number, *photo) for number, photo in enumerate(PHOTOS)], NOW)
        photos = {photo.name: photo.id for photo in session.query(Photo)}
        for number, (title, name) in enumerate([("Wedding Lisa & Tom", "garden"), ("Wedding day", "beach")]):
            album = Album(uid=f"a00000000000000{number}", title=title, created_at=NOW, updated_at=NOW)
            session.add(album)
            session.flush()
            session.add(AlbumPhoto(album_id=album.id, photo_id=photos[name], created_at=NOW))
    yield library
    library.close()


def _extracted(number, name, local, position, facts, picture):
    lat, lng = position or (None, None)
    size = {"width": 400, "height": 300, "chroma": 50, "main_color": 9, **picture}
    return name, new_extraction(number, metadata=Metadata(taken_local=local, lat=lat, lng=lng, **facts), **size)


def found(library, query):
    return [record["FileName"] for record in library.find(token=library.token(role="admin"), q=query, order="name")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("july 2019", [GARDEN]),
        ("Juli 2019", [GARDEN]),
        ("6 july", [GARDEN]),
        ("06.07.2019", [GARDEN]),
        ("2019-07-06", [GARDEN]),
        ("2019/07", [GARDEN]),
        ("summer 2019", [GARDEN, BEACH]),
        ("winter 2019", [SNOW]),
        ("yesterday", [NEW]),
        ("1 day ago", [NEW]),
        ("december", [TREE]),
        ("saturday", [GARDEN, TREE, MAY, NEW]),
        ("weekends 2019-2020", [GARDEN]),
        ("2019-2020", [GARDEN, BEACH, SNOW]),
        ("2019", [GARDEN]),
        ("before 2013", [MAY, DRONE]),
        ("1950s", [DRONE]),
        ("christmas 2021", [TREE]),
        ("in the morning", [GARDEN, KUH]),
        ("at night", [SNOW]),
        ("may", [MAY]),
        ("march", [KUH]),
        ("iso 1600", [GARDEN]),
        ("f1.8", [GARDEN]),
        ("85mm", [BEACH, SNOW]),
        ("lens:85mm", [SNOW]),
        ("1/250", [GARDEN]),
        ("5 stars", [BEACH]),
        ("portrait", [TREE]),
        ("black and white", [MAY]),
        ("selfies", [TREE]),
        ("drone", [DRONE]),
        ("photos from whatsapp", [MAY]),
        ("snow not dog", [SNOW]),
        ("before 2021 without snow not landscape", []),
        ("strand no snow", [BEACH]),
        ("iphone11", [TREE]),
        ("camera:iphone11", [TREE]),
        ("a7iii", [KUH]),
        ("galaxy s21", [ETE]),
        ("l'\u00e9t\u00e9", [ETE]),
        ("muenchen", [KUH]),
        ("m\u00fcnchen", [KUH]),
        ("near Berlin", [GARDEN, SNOW]),
        ("near Sydney", [BEACH]),
        ("in album wedding", [GARDEN, BEACH]),
        ("album:wedding", [GARDEN, BEACH]),
        ("album:wedding-l", [GARDEN]),
        ('album:"wedding"', []),
        ('album:"Wedding Lisa & Tom"', [GARDEN]),
        ('keywords:"b* or kuh"', [KUH]),
        ("person:anna", [NEW]),
        ('person:"anna"', []),
        ('person:"anna smith"', [NEW]),
        ("name:kuh.jpg", [KUH]),
        ("faces:new", [FACE]),
        ("faces:!new", [one for one in EVERY if one != FACE]),
        ("weekday:fri hour:14", [BEACH]),
        ("shutter:1/*", [GARDEN]),
        ('"july 2019"', []),
        ('"May day', [MAY]),
    ],
)
def test_words_find_what_people_mean(library, query, names):
    assert found(library, query) == sorted(names)


@pytest.mark.parametrize(
    ("zone", "hours", "before"),
    [("Pacific/Auckland", 11 + 12, 2), ("America/St_Johns", 15.5, 1), ("UTC", 12, 1)],
)
def test_a_new_day_begins_at_midnight_in_the_zone_of_the_service(tmp_path, zone, hours, before):
    library = open_library(tmp_path, settings={"PHOTOSVC_TIMEZONE": zone})
    # One of the 28th of February, two of the first of March, three of the second.
    days = [taken(2026, 2, 28, 12), *[taken(2026, 3, 1, 12)] * 2, *[taken(2026, 3, 2, 12)] * 3]
    with library.session() as session:
        extracted = [_extracted(number, f"{number}.jpg", day, None, {}, {}) for number, day in enumerate(days)]
        store_extractions(session, extracted, NOW)
        session.add(Album(uid=SMART, title="New", filter="yesterday", created_at=NOW, updated_at=NOW))
        record_change(session)

    def ask(known=None):
        """The numbers of photos in the answers of all doors, or their statuses, and their tags."""
        numbers, tags = [], []
        for path, parameters, number in DOORS:
            headers = {"X-Auth-Token": library.token(), "If-None-Match": known and known[len(tags)]}
            answer = library.app.test_client().get(f"/api/v1{path}", query_string=parameters, headers=headers)
            numbers.append(number(answer.json) if answer.status_code == 200 else answer.status_code)
            tags.append(answer.headers["ETag"])
        return numbers, tags

    numbers, tags = ask()
    assert numbers == [before] * len(DOORS)
    library.clock.move(hours=hours, seconds=-1)
    assert ask(tags) == ([304] * len(DOORS), tags)
    library.clock.move(seconds=1)
    assert ask(tags)[0] == [before + 1] * len(DOORS)
    library.close()
