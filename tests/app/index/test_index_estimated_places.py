"""Places of photos without a position, estimated between located photos of the same camera."""

from datetime import datetime, timedelta

import pytest
from click.testing import CliRunner

from photosvc.cli import svc
from photosvc.models import Photo
from tests.helpers.library import open_library
from tests.helpers.pictures import exif, jpeg, video, xmp

NOON = datetime(2020, 5, 1, 12)  # noqa: DTZ001 - wall time
PARIS, VERSAILLES, LYON = (48.8584, 2.2945), (48.8049, 2.1204), (45.7640, 4.8357)
KYOTO, TOKYO = (35.0116, 135.7681), (35.6896, 139.6917)


def put(library, name, hours, position=None, *, model="M1", serial="7"):
    """A picture of a camera at noon plus these hours; equal arguments give equal bytes."""
    local = (NOON + timedelta(hours=hours)).strftime("%Y:%m:%d %H:%M:%S")
    gps = {}
    if position:
        lat, lng = ([(round(value * 10**6), 10**6), (0, 1), (0, 1)] for value in position)
        gps = {1: "N", 2: lat, 3: "E", 4: lng}
    block = exif({0x010F: "Maker", 0x0110: model}, {0x9003: local, 0xA431: serial}, gps)
    library.put(name, jpeg(64 + sum(name.encode()) % 97, 48, exif=block))


def places(library):
    return {
        record["FileName"]: (record["PlaceSrc"], round(record["Lat"], 3), round(record["Lng"], 3), record["PlaceCity"])
        for record in library.find()
    }


def estimated(library):
    """Name -> position and city of the photos whose place is an estimate."""
    return {name: place[1:] for name, place in places(library).items() if place[0] == "estimate"}


@pytest.fixture
def trip(library):
    put(library, "a.jpg", 0, PARIS)
    put(library, "b.jpg", 1)
    put(library, "c.jpg", 2, VERSAILLES)
    library.index()
    return library


def test_a_photo_between_two_located_ones_gets_a_position_marked_as_an_estimate(trip):
    assert estimated(trip) == {"b.jpg": (48.832, 2.207, "Sèvres")}
    (record,) = trip.find(q="name:b")
    assert (record["Country"], record["TimeZone"], record["TakenAt"]) == ("fr", "Europe/Paris", "2020-05-01T11:00:00Z")
    assert record["TakenAtLocal"] == "2020-05-01T13:00:00Z"
    assert record["Title"] == "Sèvres / France / 2020"
    (located,) = trip.find(q="name:a")
    assert record["Quality"] == located["Quality"] - 1
    assert trip.index().updated == 0
    assert estimated(trip) == {"b.jpg": (48.832, 2.207, "Sèvres")}


def test_a_photo_that_gets_a_position_of_its_own_keeps_it_and_one_of_a_person_is_never_replaced(trip):
    put(trip, "b.jpg", 1, LYON)
    trip.index()
    assert places(trip)["b.jpg"] == ("meta", 45.764, 4.836, "Lyon")
    put(trip, "e.jpg", 1.2)
    trip.index()
    with trip.session() as session:
        photo = session.query(Photo).filter(Photo.name == "e").one()
        photo.place_src, photo.lat, photo.lng = "manual", 10.0, 20.0
    put(trip, "a.jpg", 0.1, LYON)
    trip.index()
    with trip.session() as session:
        photo = session.query(Photo).filter(Photo.name == "e").one()
        assert (photo.place_src, photo.lat, photo.lng) == ("manual", 10.0, 20.0)


def test_a_photo_gets_the_place_of_neighbours_of_its_camera_and_days_and_in_any_order_of_the_files(tmp_path):
    files = [
        ("a", 0, PARIS, {}), ("b", 1, None, {}), ("c", 2, VERSAILLES, {}), ("d", 5, None, {}), ("e", 30, LYON, {}),
        ("f", 60, None, {}), ("g", 67, None, {}), ("h", 1, None, {"serial": "8"}), ("i", 1, None, {"model": "M2"}),
    ]  # fmt: skip
    for copy, order in enumerate((files, files[::-1], [files[i] for i in (3, 0, 5, 8, 2, 6, 4, 1, 7)])):
        library = open_library(tmp_path / str(copy))
        for number, (name, hours, position, camera) in enumerate(order):
            put(library, f"{name}.jpg", hours, position, **camera)
            if number % 3 == 2:
                library.index()
        assert estimated(library) == {
            "b.jpg": (48.832, 2.207, "Sèvres"), "d.jpg": (0.0, 0.0, "Versailles"), "f.jpg": (0.0, 0.0, "Lyon"),
        }, order  # fmt: skip
        library.close()
    (record,) = library.find(q="name:d")
    assert (record["CellID"], record["Country"], record["TimeZone"]) == ("zz", "fr", "")


def test_an_estimate_follows_its_neighbours_and_goes_with_them(trip):
    put(trip, "d.jpg", 1.5, PARIS)
    trip.index()
    assert estimated(trip) == {"b.jpg": (48.858, 2.295, "Paris")}
    (trip.originals / "d.jpg").unlink()
    trip.index()
    assert estimated(trip) == {"b.jpg": (48.832, 2.207, "Sèvres")}
    (trip.originals / "a.jpg").unlink()
    done = CliRunner().invoke(svc, ["purge", "--hard", "--yes"], obj=lambda: trip.app)
    assert done.stdout == "2 files, 2 photos and 0 thumbnails removed\n"
    trip.index()
    assert estimated(trip) == {"b.jpg": (0.0, 0.0, "Versailles")}
    (trip.originals / "c.jpg").unlink()
    trip.index()
    assert estimated(trip) == {}
    (record,) = trip.find(q="name:b")
    assert (record["PlaceSrc"], record["Country"], record["TimeZone"]) == ("", "zz", "")
    assert record["TakenAt"] == record["TakenAtLocal"] == "2020-05-01T13:00:00Z"


def test_the_setting_switches_estimates_off_and_on_again_and_a_video_is_compared_by_utc(tmp_path):
    for switch in ("true", "false", "true"):
        settings = {"PHOTOSVC_ESTIMATE_PLACES": switch, "PHOTOSVC_TIMEZONE": "America/Los_Angeles"}
        library = open_library(tmp_path, settings=settings, upgrade=not any(tmp_path.iterdir()))
        if not library.names():
            put(library, "a.jpg", -8, KYOTO, serial="")
            put(library, "b.jpg", 0, TOKYO, serial="")
            tags = {"com.apple.quicktime.make": "Maker", "com.apple.quicktime.model": "M1"}
            video(library.originals / "c.mov", tags={**tags, "creation_time": "2020-05-01T03:30:00Z"})
        library.index()
        assert estimated(library) == ({"c.mov": (0.0, 0.0, "Tokyo")} if switch == "true" else {})
        library.close()
    (library.originals / "b.jpg").unlink()
    library.index()
    assert estimated(library) == {"c.mov": (0.0, 0.0, "Kyoto")}


def test_the_position_of_a_receiver_without_a_fix_is_shown_and_marked(library):
    lat, lng = ([(round(value * 10**6), 10**6), (0, 1), (0, 1)] for value in PARIS)
    block = exif({0x010F: "Maker"}, {0x9003: "2020:05:01 12:00:00"}, {1: "N", 2: lat, 3: "E", 4: lng, 9: "V"})
    library.put("a.jpg", jpeg(exif=block))
    library.put("b.jpg", jpeg(80, exif=block))
    library.put("b.xmp", xmp(attributes='exif:GPSLatitude="45.764" exif:GPSLongitude="4.8357"'))
    library.index()
    assert places(library) == {
        "a.jpg": ("location", 48.858, 2.295, "Paris"),
        "b.jpg": ("xmp", 45.764, 4.836, "Lyon"),
    }
