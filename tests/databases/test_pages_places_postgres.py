"""Places as pages on PostgreSQL."""

from tests.helpers.api_client import open_api
from tests.helpers.browser import Browser, text_of
from tests.helpers.pictures import exif, jpeg

SPOTS = {"a.jpg": (49, 24, 8, 41), "b.jpg": (49, 25, 8, 42), "c.jpg": (48, 51, 2, 21)}


def at(lat, lat_minutes, lng, lng_minutes):
    """The tags of a position north of the equator and east of Greenwich."""
    return {1: "N", 2: [(lat, 1), (lat_minutes, 1), (0, 1)], 3: "E", 4: [(lng, 1), (lng_minutes, 1), (0, 1)]}


def put_spots(library):
    for number, (name, place) in enumerate(SPOTS.items()):
        taken = exif({0x010F: "Canon"}, {0x9003: f"2023:05:0{number + 1} 10:00:00"}, gps=at(*place))
        library.put(name, jpeg(80, 60, exif=taken) + bytes([number]))
    library.put("nowhere.jpg", jpeg(80, 60) + b"n")
    library.index()


def test_on_postgresql_places_are_the_same_with_hostile_texts_too(tmp_path, new_postgres):
    with open_api(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()}) as api:
        put_spots(api.library)
        alice = Browser(api)
        alice.sign_in()
        text = text_of(alice.open("/places"))
        assert "Germany 2 photos" in text
        assert "France 1 photo Paris 1" in text
        assert "Germany 1 photo" in text_of(alice.open("/places?q=taken:2023-05-03+|+taken:2023-05-01"))
        for name in ("q", "s", "order"):
            for value in ("%00", "%ff", "%ED%A0%80", "'", "%25", "9" * 300, "\u202e"):
                assert alice.open(f"/places?{name}={value}").status_code in {200, 400, 404}, (name, value)
