"""A small library of varied photos: every filter matches some of them and not others."""

import random
from datetime import UTC, datetime, timedelta

from photosvc.core.geo import cell_token
from photosvc.models import Album, AlbumPhoto, Camera, File, Keyword, Lens, Marker, Photo, Place
from photosvc.search.rows.write import project

START = datetime(2019, 12, 31, 22, tzinfo=UTC)
TITLES = ("Lake at dawn", "The old LAKE", "Straße im Schnee", "100% snow_white", "Élan", "", "東京 tower", "and or not")
KEYWORDS = ("beach", "sun-set", "Bär", "new york", "lake", "x")
PEOPLE = ("Jane Doe", "John O'Hara", "Zoë", "Jane")
POINTS = ((48.1, 11.5), (48.11, 11.52), (0.0, 0.0), (-17.8, 179.99), (-17.8, -179.99), (89.99, 10.0), (51.5, -0.1))
PLACES = (("de:1", "München, Bavaria, Germany", "München", "Bavaria", "de"), ("fj:1", "Suva", "Suva", "Central", "fj"))
COLUMNS = ("id", "label", "city", "state", "country")


def fill_varied_library(session, photos=40, seed=2):
    """Store varied photos of one or two files; return them, and pairs of an album and its photos' ids."""
    draw = random.Random(seed)
    places = [Place(**dict(zip(COLUMNS, place, strict=True))) for place in PLACES]
    cameras = [Camera(make="Canon", model="EOS 5D"), Camera(make="NIKON", model="D-750"), session.get(Camera, 1)]
    lenses = [Lens(make="Sigma", model="50mm F1.4"), Lens(make="", model="Élmar 35"), session.get(Lens, 1)]
    keywords = [Keyword(word=word, folded=word.lower()) for word in KEYWORDS]
    nowhere = session.get(Place, "zz")
    session.add_all([*places, *cameras, *lenses, *keywords])
    made = [_photo(draw, number, places, nowhere, cameras, lenses, keywords) for number in range(photos)]
    session.add_all(made)
    session.flush()
    albums = _albums(session, draw, made)
    session.flush()
    project(session, [photo.id for photo in made])
    session.commit()
    return made, albums


def visible_to_all(photos):
    """The UIDs of the files that every caller with the right to search sees."""
    return {
        file.uid
        for photo in photos
        for file in photo.files
        if not (photo.private or photo.archived_at or photo.quality < 0 or file.error or file.missing or file.sidecar)
    }


def uid(prefix, number):
    return f"{prefix}{number:015}"


def _photo(draw, number, places, nowhere, cameras, lenses, keywords):
    one_in = lambda count: draw.randrange(count) == 0  # noqa: E731
    local = START + timedelta(hours=7 * number)
    dated, point = not one_in(8), None if one_in(4) else draw.choice(POINTS)
    place = nowhere if point is None else draw.choice([*places, nowhere])
    camera, lens = draw.choice(cameras), draw.choice(lenses)
    name = draw.choice(("IMG_%04d", "img 50%% %d", "lake-%d", "Übung%d")) % number
    folder = draw.choice(("2020/Lake", "2020/lake trip", "", "misc/Bär"))
    photo = Photo(
        uid=uid("p", number),
        type=draw.choice(("image", "image", "raw", "live", "video", "animated")),
        taken_at=local,
        taken_at_local=local,
        path=folder,
        name=name,
        original_name=draw.choice(("", f"DSC{number}", "Lake.orig")),
        title=draw.choice(TITLES),
        description=draw.choice(("", "A sunset over the lake", "back\\slash and 100%", "Jane, at dawn")),
        year=local.year if dated else -1,
        month=local.month if dated else -1,
        day=local.day if dated else -1,
        country=place.country,
        stack=draw.choice((-1, 0, 1)),
        favorite=one_in(3),
        private=one_in(5),
        scan=one_in(6),
        panorama=one_in(6),
        rating=number % 7 - 1,
        iso=draw.choice((0, 100, 400)),
        focal_length=draw.choice((0, 24, 50)),
        f_number=draw.choice((0.0, 1.8, 2.8)),
        exposure=("", "1/250", "2")[number % 3],
        camera=camera,
        lens=lens,
        lat=point[0] if point else 0.0,
        lng=point[1] if point else 0.0,
        altitude=draw.choice((-10, 0, 519)) if point else 0,
        cell_id=f"s2:{cell_token(*point)}" if point else "zz",
        place=place,
        quality=draw.choice((-1, 1, 3, 4, 5)),
        resolution=draw.choice((2, 12, 24)),
        color=draw.randrange(16),
        document_id=draw.choice(("", f"xmp.did:{number}")),
        notes=draw.choice(("", "a note about snow")),
        created_at=START + timedelta(days=number),
        updated_at=START + timedelta(days=number + 1),
        edited_at=START + timedelta(days=number) if one_in(3) else None,
        archived_at=START if one_in(9) else None,
        keywords=draw.sample(keywords, draw.randrange(4)),
    )
    extensions = ["jpg", "dng"] if one_in(4) else ["jpg"]
    stem = f"{folder}/{name}" if folder else name
    photo.files = [
        _file(draw, number * 10 + rank, f"{stem}.{extension}", rank) for rank, extension in enumerate(extensions)
    ]
    return photo


def _file(draw, number, name, rank):
    one_in = lambda count: draw.randrange(count) == 0  # noqa: E731
    width, height = draw.choice(((400, 300), (300, 400), (300, 300), (500, 400), (505, 400)))
    people = [who for who in PEOPLE if one_in(5)]
    return File(
        uid=uid("f", number),
        name=name,
        hash=f"{number:040x}",
        size=1000 + draw.randrange(5),
        mtime_ns=0,
        primary=rank == 0,
        sidecar=one_in(12) and rank > 0,
        missing=number % 110 == 60,
        error="undecodable" if one_in(12) else "",
        codec=draw.choice(("jpeg", "heic", "")),
        width=width,
        height=height,
        chroma=draw.choice((-1, 0, 5, 40)),
        diff=draw.choice((-1, 600, 767)),
        **_look(number),
        instance_id=draw.choice(("", f"XMP.iid:{number}")),
        created_at=START,
        updated_at=START,
        markers=[
            Marker(uid=uid("m", number * 10 + at), type="face", name=who, created_at=START)
            for at, who in enumerate(people)
        ],
    )


def _look(number):
    """No look for some files; five looks and their neighbours, up to 13 bits apart, for the others."""
    if number % 7 == 0:
        return {}
    look = 0x9E3779B97F4A7C15 * (number // 10 % 5 + 1) & (1 << 64) - 1
    for bit in range(number % 14):
        look ^= 1 << (bit * 29 + number) % 64
    return {f"look_{part}": look >> 64 - 16 * part & 0xFFFF for part in (1, 2, 3, 4)}


#: Title, whether private, when deleted, filter. The last one contains itself, the one before it nothing.
ALBUMS = (
    ("Summer 2020", False, None, ""),
    ("Lake trips", False, None, ""),
    ("Secret", True, None, ""),
    ("Gone", False, START, ""),
    ("Winter", False, None, "snow | favorite:true archived:true"),
    ("Winter lakes", False, None, "albums:winter (albums:trips | lake -people:zoe)"),
    ("Secret lakes", True, None, "lake"),
    ("Broken", False, None, "nosuch:1"),
    ("Loop", False, None, "-album:loop type:image | albums:loop"),
)


def _albums(session, draw, photos):
    """Albums with the ids of the photos put into them or, of those with a filter, taken out of them."""
    albums = []
    for number, (title, private, deleted, filter_) in enumerate(ALBUMS):
        album = Album(
            id=number + 1, uid=uid("a", number), title=title, private=private, deleted_at=deleted, filter=filter_,
            created_at=START, updated_at=START,
        )  # fmt: skip
        chosen = {photo.id for photo in photos if draw.randrange(4) == 0}
        session.add(album)
        session.flush()
        hidden = bool(filter_)
        session.add_all(AlbumPhoto(album_id=album.id, photo_id=one, hidden=hidden, created_at=START) for one in chosen)
        albums.append((album, chosen))
    return albums
