"""A library of a few photos that people would describe in words; each has a name that tests list."""

from datetime import datetime

from sqlalchemy import select

from photosvc.media.metadata import Metadata, Region
from photosvc.models import Photo
from tests.helpers.factories.photos import edit_photos, new_extraction, store_extractions

AREZZO, TOKYO, SHIBUYA, MUNICH = (43.463, 11.881), (35.6762, 139.6503), (35.6595, 139.7005), (48.1374, 11.5755)


def _face(name=""):
    return Region(name=name, kind="face", x=0.5, y=0.5, w=0.1, h=0.1)


#: Name of the file, what its metadata say, what the picture is.
PHOTOS = (
    (
        "2019/IMG_3615.JPG",
        {
            "taken_local": datetime(2019, 7, 4, 12),  # noqa: DTZ001 - wall time
            "title": "Lake at dawn",
            "description": "Our family by the water 🎉",
            "keywords": ("flower", "cat"),
            "position": AREZZO,
            "altitude": 250,
            "iso": 100,
            "f_number": 1.8,
            "focal_length": 24,
            "camera": "Apple iPhone 12",
            "lens": "iPhone 12 back camera 4.15mm f/1.6",
            "rating": 5,
            "regions": (_face("Jane Doe"), _face()),
        },
        {"size": 5_200_000, "width": 4000, "height": 3000, "main_color": 6},
    ),
    (
        "2020/night.jpg",
        {
            "taken_local": datetime(2020, 12, 24, 23),  # noqa: DTZ001 - wall time
            "title": "Cities by night",
            "description": "",
            "keywords": ("cities", "stars"),
            "position": SHIBUYA,
            "altitude": -5,
            "iso": 800,
            "f_number": 2.8,
            "focal_length": 50,
            "camera": "Canon EOS 5D",
            "rating": 3,
            "regions": (_face(),),
        },
        {"size": 700_000, "width": 1000, "height": 800, "main_color": 0},
    ),
    (
        "2021/한강공원.png",
        {
            "taken_local": datetime(2021, 7, 1, 9),  # noqa: DTZ001 - wall time
            "title": "",
            "description": "A lake in summer with boats",
            "keywords": ("family", "summer", "boxes"),
            "position": MUNICH,
            "iso": 3200,
            "rating": -1,
        },
        {"size": 90_000, "width": 640, "height": 480, "file_type": "png", "mime": "image/png", "main_color": 13},
    ),
    (
        "clips/boats.mp4",
        {"title": "blue water", "description": "The film of the boats", "keywords": ("blue", "category")},
        {"size": 20_000_000, "width": 1920, "height": 1080, "file_type": "mp4", "media_type": "video", "main_color": 1},
    ),
)
#: Short names of them.
IMG, NIGHT, PARK, CLIP = (name for name, _, _ in PHOTOS)
EVERY = {IMG, NIGHT, PARK, CLIP}


def fill_typed_library(session, now):
    """Store the photos; a person has removed the title of the one that has none of its own."""
    store_extractions(session, [_extracted(number, *photo) for number, photo in enumerate(PHOTOS)], now)
    edit_photos(session, [session.scalars(select(Photo.id).where(Photo.path == "2021")).one()], title="")


def _extracted(number, name, facts, picture):
    facts = dict(facts)
    lat, lng = facts.pop("position", (None, None))
    make, _, model = facts.pop("camera", "").partition(" ")
    lens = facts.pop("lens", "")
    metadata = Metadata(lat=lat, lng=lng, camera_make=make, camera_model=model, lens_model=lens, **facts)
    return name, new_extraction(number, metadata=metadata, **picture)
