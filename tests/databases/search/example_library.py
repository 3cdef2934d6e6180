"""A library in which the documented example of each filter finds some files and not others."""

from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from photosvc.core.geo import cell_token
from photosvc.core.vocabulary import COLORS
from photosvc.models import Album, AlbumPhoto, Camera, File, Keyword, Lens, Marker, Photo, Place
from photosvc.search.rows.write import project

#: The UID and the moment of the documented examples.
UID, MOMENT = "pqbcf5j446s0futy", datetime(2024, 5, 26, 10, 30, tzinfo=UTC)
LAKE, DAWN, DAWN_RAW = "2023/Summer lakes/IMG_1.jpg", "2019/dawn.jpg", "2019/dawn.dng"
CLIP, MOVING, ALIVE, SONG = "2023/clip.mp4", "2023/moving.gif", "alive.heic", "song.mp3"
PAPER, LOGO, SECRET = "paper.pdf", "logo.svg", "secret.jpg"
#: Files that a search shows only if it asks for them.
HIDDEN, ARCHIVED, BROKEN = "hidden.jpg", "archived.jpg", "broken.jpg"
SHOWN = {LAKE, DAWN, DAWN_RAW, CLIP, MOVING, ALIVE, SONG, PAPER, LOGO, SECRET}

#: Make and model of cameras and lenses; label, city, state and country of places.
_CAMERAS = {LAKE: ("Canon", "EOS 5D"), DAWN: ("Canon", "PowerShot")}
_LENSES = {LAKE: ("Sigma", "24mm F1.4"), DAWN: ("Sigma", "50mm F1.4")}
_PLACES = {
    LAKE: ("Tübingen, Bavaria, Germany", "Tübingen", "Bavaria", "de"),
    CLIP: ("Tokyo, Japan", "Tokyo", "Tokyo", "jp"),
    MOVING: ("Lucca, Tuscany, Italy", "Lucca", "Lucca", "it"),
    ALIVE: ("New York City", "New York City", "New York", "us"),
}


def _dated(year: int, month: int, day: int, hour: int = 12) -> dict[str, object]:
    taken = datetime(year, month, day, hour, tzinfo=UTC)
    return {"taken_at": taken, "taken_at_local": taken, "year": year, "month": month, "day": day}


def _at(lat: float, lng: float, altitude: int = 0) -> dict[str, object]:
    return {"lat": lat, "lng": lng, "altitude": altitude, "cell_id": f"s2:{cell_token(lat, lng)}"}


#: Values of the photo of each file in which it differs from `_photo`.
_PHOTOS: dict[str, dict[str, object]] = {
    LAKE: {
        "uid": UID, "title": "Lake", "rating": 3, "favorite": True, "document_id": "xmp.did:4a8e12", "iso": 100,
        "focal_length": 24, "f_number": 1.8, "exposure": "1/250", "resolution": 12,
        "color": COLORS.index("red"), "created_at": MOMENT, **_dated(2023, 5, 1),
        **_at(48.56344084718813, 8.99689800237958, 300),
    },
    DAWN: {
        "type": "raw", "description": "Boats at sunset", "original_name": "DSC_1.NEF", "rating": 5, "panorama": True,
        "iso": 400, "focal_length": 70, "f_number": 2.8, "exposure": "1/60", "resolution": 8,
        "color": COLORS.index("orange"), "updated_at": MOMENT, **_dated(2019, 7, 24, 5), **_at(49.45, 8.45, 500),
    },
    CLIP: {
        "type": "video", "rating": 2, "iso": 401, "focal_length": 71, "f_number": 2.9, "resolution": 7,
        "edited_at": MOMENT, **_dated(2024, 1, 6), **_at(35.69, 139.692, 299),
    },
    MOVING: {"type": "animated"},
    ALIVE: {"type": "live", "title": "Flakes"},
    SONG: {"type": "audio", **_at(48.2, 16.44)},
    PAPER: {"type": "document", "scan": True, "quality": 2, **_at(48.5649, 8.9951)},
    LOGO: {"type": "vector", "stack": -1, "quality": 1, **_at(48.6, 8.9969)},
    SECRET: {"private": True},
    HIDDEN: {"quality": -1},
    ARCHIVED: {"archived_at": MOMENT},
    BROKEN: {},
}  # fmt: skip
#: Values of each file in which it differs from `_file`.
_FILES: dict[str, dict[str, object]] = {
    LAKE: {
        "width": 4000, "height": 3000, "size": 5_000_001, "chroma": 71, "hash": "2fd4e1".ljust(40, "0"),
        "look_1": 0, "look_2": 0, "look_3": 0, "look_4": 0,
    },
    DAWN: {"width": 3999, "height": 2000, "size": 5_000_000, "chroma": 70, "diff": 767,
           "look_1": 1023, "look_2": 0, "look_3": 0, "look_4": 0},
    DAWN_RAW: {"primary": False, "width": 3999, "height": 2001},
    CLIP: {"codec": "hvc1", "width": 1500, "height": 1000, "look_1": 2047, "look_2": 0, "look_3": 0, "look_4": 0},
    MOVING: {"width": 500, "height": 500, "diff": 766},
    ALIVE: {"codec": "heic", "width": 480, "height": 640},
    PAPER: {"chroma": 0},
    LOGO: {"width": 500, "height": 400},
    BROKEN: {"error": "undecodable"},
}  # fmt: skip
_KEYWORDS = {LAKE: ("beach", "sun", "cat"), DAWN: ("beach", "catalogue"), LOGO: ("dog",)}
_FACES = {LAKE: ("Jane Doe", "John Doe"), DAWN: ("Jane Smith", "John Roe"), CLIP: ("Jane Doe",)}
_ALBUMS = {"Summer 2023": (LAKE,), "Winter walks": (DAWN, LAKE), "Summer": (CLIP,), "Others": (MOVING,)}


def fill_example_library(session: Session) -> None:
    """Store the photos with their albums, places, people and keywords."""
    words = {word: Keyword(word=word, folded=word) for words in _KEYWORDS.values() for word in words}
    cameras = {name: Camera(make=make, model=model) for name, (make, model) in _CAMERAS.items()}
    lenses = {name: Lens(make=make, model=model) for name, (make, model) in _LENSES.items()}
    places = {
        name: Place(id=f"{country}:1", label=label, city=city, state=state, country=country)
        for name, (label, city, state, country) in _PLACES.items()
    }
    camera, lens, place = session.get_one(Camera, 1), session.get_one(Lens, 1), session.get_one(Place, "zz")
    photos = {
        name: _photo(
            number,
            name,
            camera=cameras.get(name, camera),
            lens=lenses.get(name, lens),
            place=places.get(name, place),
            keywords=[words[word] for word in _KEYWORDS.get(name, ())],
        )
        for number, name in enumerate(_PHOTOS)
    }
    photos[DAWN].files.append(_file(len(photos), DAWN_RAW))
    session.add_all(photos.values())
    session.flush()
    for number, (title, names) in enumerate(_ALBUMS.items(), 1):
        uid = f"a{number:015}"
        session.add(Album(id=number, uid=uid, title=title, created_at=MOMENT, updated_at=MOMENT))
        session.flush()
        session.add_all(AlbumPhoto(album_id=number, photo_id=photos[name].id, created_at=MOMENT) for name in names)
    session.flush()
    project(session, [photo.id for photo in photos.values()])
    session.commit()


def _photo(number: int, name: str, *, place: Place, **related: object) -> Photo:
    path, _, base = name.rpartition("/")
    before = MOMENT - timedelta(seconds=1)
    values = {
        "uid": f"p{number:015}", "path": path, "name": base.partition(".")[0], "quality": 3, "stack": 0,
        "year": -1, "month": -1, "day": -1, "place": place, "country": place.country, "color": COLORS.index("grey"),
        "created_at": before, "updated_at": before, "edited_at": before,
    }  # fmt: skip
    return Photo(**{**values, **_PHOTOS[name]}, **related, files=[_file(number, name)])


def _file(number: int, name: str) -> File:
    values = {
        "uid": f"f{number:015}", "name": name, "hash": f"{number:040x}", "size": 1000, "mtime_ns": 0, "primary": True,
        "codec": "jpeg", "width": 640, "height": 480, "chroma": 10, "diff": -1, "created_at": MOMENT,
        "updated_at": MOMENT,
    }  # fmt: skip
    markers = [
        Marker(uid=f"m{number:013}{at:02}", type="face", name=who, created_at=MOMENT)
        for at, who in enumerate(_FACES.get(name, ()))
    ]
    return File(**{**values, **_FILES.get(name, {})}, markers=markers)
