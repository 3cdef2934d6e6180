"""Cost of albums, people and labels: `python -m bench.albums FOLDER`, of a library made by `bench.libraries.library`.

A copy of the library gets 1,000 albums, 199 smart ones among them, and people on photos. Requests run in this process,
each with its transactions and the projection. Times are of the processor, SQLite included; `lock` is the longest that
one write transaction took.
"""

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy import Engine, insert, select
from sqlalchemy.orm import Session

from bench.loads import new_password
from photosvc.app import create_app
from photosvc.core import ids
from photosvc.core.accounts import ADMIN
from photosvc.library.album_photos import add_photos
from photosvc.models import Album, File, Marker, Photo
from photosvc.models.engine import begin_write
from photosvc.models.search import record_change
from photosvc.search.rows.write import project
from photosvc.web import transactions
from photosvc.web.current import current_service

_MANY = 10_000
_ALBUMS, _SMART = 801, 199
#: Name of a person -> share of all photos with them.
PEOPLE = {"Ada": 0.1, "Bob": 0.1, "Cleo": 0.25, **{f"Guest {number}": 0.0002 for number in range(300)}}


class Bench:
    """A library in this process and its requests."""

    def __init__(self, app: Flask) -> None:
        self._app, self._client, self._longest = app, app.test_client(), 0.0
        self._watch_lock()
        self._headers = {"X-Auth-Token": new_password(app, ADMIN)}

    def _watch_lock(self) -> None:
        """Take the time of every write transaction."""
        write_session = transactions.write_session

        @contextmanager
        def timed(engine: Engine) -> Iterator[Session]:
            with write_session(engine) as session:
                started = time.process_time()
                yield session
            self._longest = max(self._longest, time.process_time() - started)

        transactions.write_session = timed

    def change(self) -> None:
        """Make what was read of the library stale."""
        with self._app.app_context(), current_service().writing() as session:
            record_change(session)

    def call(self, name: str, method: str, path: str, body: object = None, repeats: int = 1) -> Any:  # noqa: ANN401 - JSON
        """Send a request and print what it cost; the answer's JSON."""
        found = []
        for _ in range(repeats):
            if method == "GET" and name.endswith("changed"):
                self.change()
            self._longest, started, clock = 0.0, time.process_time(), time.monotonic()
            answer = self._client.open(f"/api/v1{path}", method=method, json=body, headers=self._headers)
            found.append((time.process_time() - started, time.monotonic() - clock, self._longest))
            if answer.status_code != 200:
                sys.exit(f"{path} {answer.status_code}: {answer.get_data(as_text=True)[:300]}")
        spent, waited, lock = (sorted(column)[repeats // 2] * 1000 for column in zip(*found, strict=True))
        held = f"{lock:.0f}" if lock else ""
        print(f"| {name} | {spent:.1f} | {held} | {waited:.0f} | {len(answer.data)} |", flush=True)
        return answer.get_json()


def fill(app: Flask) -> list[str]:
    """Add albums and people; gives the UIDs of all photos."""
    draw = random.Random(1)
    with app.app_context():
        service = current_service()
        now = service.now()
        with Session(service.engine()) as session:
            begin_write(session)
            photos = session.execute(select(Photo.id, Photo.uid).order_by(Photo.id)).all()
            for number in range(_ALBUMS):
                album = Album(uid=ids.new_uid("a", now), title=f"Trip {number}", created_at=now, updated_at=now)
                session.add(album)
                session.flush()
                add_photos(session, album, draw.sample(range(1, len(photos) + 1), draw.randrange(20, 200)), now)
            for number in range(_SMART):
                query = draw.choice(
                    (f"year:{2001 + number % 25}", f"camera:{2 + number % 40}", "summer", "family|harvest")
                )
                album = Album(
                    uid=ids.new_uid("a", now), title=f"Smart {number}", filter=query, created_at=now, updated_at=now
                )
                session.add(album)
            session.commit()
            begin_write(session)
            file_ids = dict(session.execute(select(File.photo_id, File.id).where(File.primary)).all())
            shown: set[int] = set()
            for person, share in PEOPLE.items():
                chosen = draw.sample([photo_id for photo_id, _ in photos], int(share * len(photos)))
                shown.update(chosen)
                rows = [
                    {"uid": ids.new_uid("m", now), "file_id": file_ids[photo_id], "name": person, "created_at": now}
                    for photo_id in chosen
                ]
                session.execute(insert(Marker), rows)
            project(session, sorted(shown))
            session.commit()
        return [uid for _, uid in photos]


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="photosvc-bench-", dir=folder.parent) as temporary:
        copy = Path(temporary, "library")
        shutil.copytree(folder, copy)
        app = create_app(instance=copy, environ={})
        uids = fill(app)
        bench = Bench(app)
        print("| request | ms | lock, ms | ms by the clock | bytes |\n|---|---|---|---|---|")
        albums(bench, uids)
        lists(bench)
        people(bench)


def albums(bench: Bench, uids: list[str]) -> None:
    """Fill, order, open and empty a large album."""
    chosen = random.Random(2).sample(uids, _MANY)
    made = bench.call("make an album", "POST", "/albums", {"Title": "Large", "Order": "manual"})["UID"]
    photos = f"/albums/{made}/photos"
    bench.call("add 10,000 photos", "POST", photos, {"photos": chosen})
    bench.call("add them again", "POST", photos, {"photos": chosen})
    bench.call("move the last photo to the beginning", "PUT", photos, {"photos": chosen[-1:]})
    bench.call("move a photo into the middle", "PUT", photos, {"photos": chosen[:1], "before": chosen[5000]})
    bench.call("move 5,000 photos to the beginning", "PUT", photos, {"photos": chosen[:5000]})
    bench.call("move 5,000 photos into the middle", "PUT", photos, {"photos": chosen[:5000], "before": chosen[7000]})
    bench.call("its photos in order", "GET", photos)
    for query in ("", "&offset=9000", "&merged=true", "&q=favorite:true", "&q=zeppelin", "&order=oldest"):
        bench.call(f"a page of it {query}", "GET", f"/photos?s={made}{query}", repeats=9)
    bench.call("one album, library changed", "GET", f"/albums/{made}", repeats=5)
    copy = bench.call("make an album", "POST", "/albums", {"Title": "Copy"})["UID"]
    bench.call("clone it", "POST", f"/albums/{copy}/clone", {"albums": [made]})
    bench.call("remove 10,000 photos", "DELETE", photos, {"photos": chosen})
    bench.call("delete an album of 10,000", "DELETE", f"/albums/{copy}")
    smart = bench.call("make a smart album", "POST", "/albums", {"Title": "S", "Filter": "summer year:2010-"})["UID"]
    bench.call("change its query", "PUT", f"/albums/{smart}", {"Filter": "family favorite:true"}, repeats=5)
    bench.call("take photos out of it", "DELETE", f"/albums/{smart}/photos", {"q": "family favorite:true year:2015"})


def lists(bench: Bench) -> None:
    """The lists of albums and keywords, for the first time after a change and again."""
    for name, path in {
        "1,000 albums": "/albums?count=1000",
        "100 albums without a smart one": "/albums?count=100&q=trip",
        "albums by count": "/albums?count=100&order=count",
        "folders": "/albums?type=folder&count=1000",
        "months": "/albums?type=month&count=1000",
        "states": "/albums?type=state&count=1000",
        "people": "/subjects?count=1000",
        "keywords": "/labels?count=1000",
    }.items():
        bench.call(f"{name}, library changed", "GET", path, repeats=3)
        bench.call(name, "GET", path, repeats=5)
    for kind in ("folder", "month", "state"):
        uid = bench.call(f"one {kind}", "GET", f"/albums?type={kind}&count=1")[0]["UID"]
        bench.call(f"photos of a {kind}", "GET", f"/photos?s={uid}", repeats=5)
        bench.call(f"album of a {kind}, library changed", "GET", f"/albums/{uid}", repeats=3)


def people(bench: Bench) -> None:
    """Rename and merge people."""
    uids = {person["Name"]: person["UID"] for person in bench.call("people", "GET", "/subjects?count=1000")}
    photos = {name: int(share * 100) for name, share in PEOPLE.items()}
    for old, new in (("Ada", "Ada Lovelace"), ("Bob", "Ada Lovelace"), ("Cleo", "Cleopatra"), ("Guest 7", "Guest 8")):
        bench.call(f"{old} ({photos[old]} %) becomes {new}", "PUT", f"/subjects/{uids[old]}", {"Name": new})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
