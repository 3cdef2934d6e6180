"""Create a library of N files without originals: `python -m bench.library N FOLDER`.

Rows are drawn like those of a family that has taken photos for twenty-five years: few cameras take most photos, few
towns see most of them, words follow Zipf's law. The service's own projection writes the search rows.
"""

import random
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from photosvc.app import create_app
from photosvc.auth.credentials import issue
from photosvc.auth.scopes import parse_scope
from photosvc.core.geo import cell_token
from photosvc.core.ids import BASE36
from photosvc.index.file_columns import dump_metadata
from photosvc.media.metadata import Metadata
from photosvc.models import (
    Album,
    AlbumPhoto,
    Base,
    Camera,
    Cell,
    File,
    Keyword,
    Lens,
    Photo,
    Place,
    photo_keywords,
    schema,
)
from photosvc.models.engine import begin_write
from photosvc.models.statements import insert_into
from photosvc.search.rows.write import project
from photosvc.web.auditing import operation_in
from photosvc.web.service import current_service

#: A word of every eleventh photo, two of every fifth and every thirtieth, and one of a handful.
COMMON_WORD, FREQUENT_WORD, SELDOM_WORD, RARE_WORD = "family", "summer", "harvest", "zeppelin"
_SHARES = ((COMMON_WORD, 0.09), (FREQUENT_WORD, 0.2), (SELDOM_WORD, 0.033))
_RARE = 40

TOKEN_FILE = "token"
_FIRST, _DAYS = datetime(2001, 1, 1, tzinfo=UTC), 9000
_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_BATCH = 5000
_MAKERS = ("Canon", "Nikon", "Sony", "Apple", "Fujifilm", "Olympus")
_COUNTRIES = ("de", "at", "fr", "it", "es", "ch", "gb", "us", "jp", "no", "pt", "gr", "nl", "se", "ca", "au")


class Draw:
    """Random values; the same seed gives the same values."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._weights: dict[int, list[float]] = {}

    def zipf(self, count: int) -> int:
        """A number below `count` by Zipf's law: small numbers are frequent."""
        if count not in self._weights:
            self._weights[count] = list(accumulate(1 / (rank + 1) for rank in range(count)))
        return self.random.choices(range(count), cum_weights=self._weights[count])[0]

    def word(self, number: int) -> str:
        """The word with this number, made of syllables, so that many words share a prefix."""
        syllables = (
            "ba", "ri", "mo", "ten", "la", "sur", "ke", "van", "do", "mi", "sta", "ler", "nu", "pho", "gar", "el",
        )  # fmt: skip
        return syllables[number % 16] + syllables[number // 16 % 16] + syllables[number // 256 % 16]

    def uid(self, prefix: str) -> str:
        return prefix + "".join(self.random.choices(BASE36, k=15))


def make_library(app: Flask, files: int, seed: int = 1) -> None:
    """Fill an empty instance with this many files."""
    with app.app_context():
        service = current_service()
        schema.upgrade(service.engine())
        draw = Draw(seed)
        with Session(service.engine()) as session:
            _fill(session, Path(app.instance_path, TOKEN_FILE), draw, files)


def _fill(session: Session, token_file: Path, draw: Draw, files: int) -> None:
    begin_write(session)
    places = _add_shared(session, draw)
    secret = issue(operation_in(session), name="bench", scope=parse_scope("*"))
    token_file.write_text(secret.secret)
    session.commit()
    started, made, photo_id = time.monotonic(), 0, 0
    while made < files:
        batch = list(_photos(draw, places, photo_id, min(_BATCH, files - made)))
        begin_write(session)
        made += _store(session, draw, batch, photo_id)
        photo_id += len(batch)
        session.commit()
        session.expunge_all()
        print(f"\r{made} files, {made / (time.monotonic() - started):.0f}/s", end="", file=sys.stderr)
    print(file=sys.stderr)
    begin_write(session)
    _scatter_rare(session, draw, photo_id)
    advance_sequences(session)
    session.commit()


def advance_sequences(session: Session) -> None:
    """Advance the sequences of PostgreSQL, which do not count ids that are inserted explicitly."""
    if session.get_bind().dialect.name != "postgresql":
        return
    for table in Base.metadata.sorted_tables:
        if "id" in table.c and table.c.id.type.python_type is int:
            last = select(func.max(table.c.id)).scalar_subquery()
            session.execute(select(func.setval(func.pg_get_serial_sequence(table.name, "id"), last)))


def _add_shared(session: Session, draw: Draw) -> list[dict[str, Any]]:
    session.execute(insert(Camera), [{"id": n + 2, "type": "", **_camera(n)} for n in range(40)])
    session.execute(insert(Lens), [{"id": n + 2, **_lens(n)} for n in range(60)])
    places = []
    for number in range(1500):
        country = _COUNTRIES[draw.zipf(len(_COUNTRIES))]
        city = draw.word(draw.random.randrange(4096)).title()
        places.append(
            {
                "id": f"{country}:{number:012}",
                "label": f"{city}, {country.upper()}",
                "city": city,
                "state": draw.word(number % 300).title(),
                "country": country,
                "lat": draw.random.uniform(-50, 65),
                "lng": draw.random.uniform(-180, 180),
            }
        )
    columns = ("id", "label", "city", "state", "country")
    session.execute(insert(Place), [{name: place[name] for name in columns} for place in places])
    words = {draw.word(number) for number in range(4096)} | {word for word, _ in _SHARES}
    session.execute(insert(Keyword), [{"id": n + 1, "word": w, "folded": w} for n, w in enumerate(sorted(words))])
    session.execute(
        insert(Album),
        [
            {"id": n + 1, "uid": draw.uid("a"), "title": f"Album {n}", "created_at": _NOW, "updated_at": _NOW}
            for n in range(20)
        ],
    )
    return places


def _camera(number: int) -> dict[str, str]:
    return {"make": _MAKERS[number % 6], "model": f"Model {number}"}


def _lens(number: int) -> dict[str, str]:
    return {"make": _MAKERS[number % 6], "model": f"{number + 10}mm F2.8"}


def _photos(draw: Draw, places: list[dict[str, Any]], first: int, files: int) -> Iterator[dict[str, Any]]:
    made, number = 0, first
    while made < files:
        number += 1
        chance = draw.random.random()
        kinds = ["jpg", "dng"] if chance < 0.15 else ["heic", "mov"] if chance < 0.22 else ["jpg"]
        kinds = kinds[: files - made]
        made += len(kinds)
        yield {"id": number, "kinds": kinds, **_photo(draw, places, number)}


def _photo(draw: Draw, places: list[dict[str, Any]], number: int) -> dict[str, Any]:
    chance = draw.random.random
    taken = _FIRST + timedelta(days=_DAYS * chance() ** 0.6, seconds=draw.random.randrange(86400))
    place = places[draw.zipf(len(places))] if chance() < 0.7 else None
    shown = [word for word, share in _SHARES if chance() < share]
    description = " ".join(draw.word(draw.zipf(4096)) for _ in range(12)) if chance() < 0.3 else ""
    title = " ".join([*shown[:1], *(draw.word(draw.zipf(4096)) for _ in range(3))]).capitalize()
    lat, lng = (place["lat"] + chance() / 50, place["lng"] + chance() / 50) if place else (0.0, 0.0)
    return {
        "uid": draw.uid("p"),
        "type": "image",
        "taken_at": taken,
        "taken_at_local": taken,
        "taken_src": "meta",
        "time_zone": "UTC",
        "path": f"{taken:%Y/%m}",
        "name": f"IMG_{number % 10000:04}_{number:07}",
        "title": title,
        "title_src": "meta",
        "description": description,
        "description_src": "meta" if description else "",
        "year": taken.year,
        "month": taken.month,
        "day": taken.day,
        "country": place["country"] if place else "zz",
        "favorite": chance() < 0.04,
        "private": chance() < 0.02,
        "iso": draw.random.choice((50, 100, 200, 400, 800, 1600)),
        "focal_length": draw.random.choice((24, 28, 35, 50, 85, 200)),
        "f_number": draw.random.choice((1.8, 2.8, 4.0, 5.6, 8.0)),
        "exposure": draw.random.choice(("1/60", "1/125", "1/250", "1/1000")),
        "camera_id": 2 + draw.zipf(40),
        "camera_src": "meta",
        "lens_id": 2 + draw.zipf(60),
        "lat": lat,
        "lng": lng,
        "cell_id": f"s2:{cell_token(lat, lng)}" if place else "zz",
        "place_id": place["id"] if place else "zz",
        "place_src": "meta" if place else "",
        "quality": draw.random.choice((3, 3, 4, 4, 5)),
        "resolution": 12,
        "color": draw.zipf(16),
        "created_at": _NOW - timedelta(seconds=10_000_000 - number),
        "updated_at": _NOW - timedelta(seconds=10_000_000 - number),
        "words": shown,
    }


def _store(session: Session, draw: Draw, batch: list[dict[str, Any]], first: int) -> int:
    files, keywords, in_albums = [], [], []
    ids = dict(session.execute(select(Keyword.folded, Keyword.id)).all())
    for photo in batch:
        kinds, words = photo.pop("kinds"), photo.pop("words")
        words = {*words, *(draw.word(draw.zipf(4096)) for _ in range(4))}
        details = dump_metadata(_metadata(photo, words))
        files += [{**_file(draw, photo, kind, rank), "details": details} for rank, kind in enumerate(kinds)]
        keywords += [{"photo_id": photo["id"], "keyword_id": ids[word]} for word in words]
        if draw.random.random() < 0.3:
            in_albums.append({"album_id": 1 + draw.zipf(20), "photo_id": photo["id"], "created_at": _NOW})
    if cells := [{"id": photo["cell_id"], "place_id": photo["place_id"]} for photo in batch if photo["place_src"]]:
        session.execute(insert_into(Cell, session).on_conflict_do_nothing(), cells)
    session.execute(insert(Photo), batch)
    session.execute(insert(File), files)
    session.execute(insert(photo_keywords), keywords)
    if in_albums:
        session.execute(insert(AlbumPhoto), in_albums)
    project(session, range(first + 1, first + len(batch) + 1))
    return len(files)


def _file(draw: Draw, photo: dict[str, Any], kind: str, rank: int) -> dict[str, Any]:
    video = kind == "mov"
    return {
        "uid": draw.uid("f"),
        "photo_id": photo["id"],
        "name": f"{photo['path']}/{photo['name']}.{kind}",
        "hash": f"{draw.random.getrandbits(160):040x}",
        "size": draw.random.randrange(1_000_000, 12_000_000),
        "mtime_ns": 0,
        "primary": rank == 0,
        "codec": {"jpg": "jpeg", "heic": "heic", "mov": "avc1"}.get(kind, kind),
        "file_type": kind,
        "media_type": "video" if video else "raw" if kind == "dng" else "image",
        "mime": "video/quicktime" if video else "image/jpeg",
        "width": 4000,
        "height": 3000,
        "main_color": photo["color"],
        "colors": "123456789",
        "luminance": "987654321",
        "diff": draw.random.randrange(512, 1024),
        "chroma": draw.random.randrange(60),
        "created_at": photo["created_at"],
        "updated_at": photo["updated_at"],
    }


def _metadata(photo: dict[str, Any], words: Iterable[str]) -> Metadata:
    """What the files say, so that a photo stays the same when it is described again."""
    camera, lens = _camera(photo["camera_id"] - 2), _lens(photo["lens_id"] - 2)
    same = ("title", "description", "iso", "focal_length", "f_number", "exposure")
    return Metadata(
        taken_local=photo["taken_at_local"].replace(tzinfo=None),
        utc_offset=0,
        camera_make=camera["make"],
        camera_model=camera["model"],
        lens_make=lens["make"],
        lens_model=lens["model"],
        lat=photo["lat"] if photo["place_src"] else None,
        lng=photo["lng"] if photo["place_src"] else None,
        keywords=tuple(sorted(words)),
        **{name: photo[name] for name in same},
    )


def _scatter_rare(session: Session, draw: Draw, photos: int) -> None:
    """Give a rare word to 40 photos, for any size of the library."""
    chosen = draw.random.sample(range(1, photos + 1), min(_RARE, photos))
    session.execute(update(Photo).where(Photo.id.in_(chosen)).values(description=f"A {RARE_WORD} over the lake"))
    project(session, chosen)


def main() -> None:
    count, folder = int(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True)
    make_library(create_app(instance=folder), count)


if __name__ == "__main__":
    main()
