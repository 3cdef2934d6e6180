"""Cost of changing photos: `python -m bench.edits FOLDER`.

FOLDER holds a library made by `bench.libraries.library`; a copy of it is changed.
Requests in this process, each with its transaction and the projection. Times of the processor, SQLite included, and
beside them what the clock says, which other load lengthens.

With `PHOTOSVC_DATABASE_URI`, for `bench.libraries.library` too, the library of that database is changed itself; the
processor time is then without that of the server.
"""

import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from bench.loads import new_password
from photosvc.app import create_app
from photosvc.core.accounts import ADMIN
from photosvc.index.batches import BatchWriter
from photosvc.index.run_log import Summary
from photosvc.models import File, Photo, schema
from photosvc.models.engine import UnitOfWork
from photosvc.models.statements import among
from photosvc.web.current import current_service

_MANY = 10_000
_SINGLE = 400
#: The body of the n-th edit of one photo.
EDITS: Mapping[str, Callable[[int], dict[str, Any]]] = {
    "title": lambda n: {"Title": f"A walk of {n} miles"},
    "favourite": lambda n: {"Favorite": n % 2 == 0},
    "time": lambda n: {"TakenAtLocal": f"2015-06-{1 + n % 28:02}T10:00:00Z"},
    "place": lambda n: {"Lat": 48.0 + n / 1000, "Lng": 11.5},
    "keywords": lambda n: {"Details": {"Keywords": f"walk, summer, tour {n % 10}"}},
}
BATCHES: Mapping[str, dict[str, Any]] = {
    "archive": {},
    "restore": {},
    "private": {},
    "approve": {},
    "edit": {"values": {"Title": "A walk", "Details": {"Artist": "Ada"}}},
}


@contextmanager
def library(folder: Path) -> Iterator[Flask]:
    """The app of a copy of this library, whose schema is brought up to date; or of its database on a server."""
    if "PHOTOSVC_DATABASE_URI" in os.environ:
        yield create_app(instance=folder)
        return
    with tempfile.TemporaryDirectory(prefix="photosvc-bench-", dir=folder.parent) as temporary:
        copy = Path(temporary, "library")
        shutil.copytree(folder, copy)
        app = create_app(instance=copy, environ={})
        with app.app_context():
            schema.upgrade(current_service().engine())
        yield app


def timed(send: Callable[[], Any]) -> tuple[float, float]:
    """Milliseconds of the processor and of the clock that a request takes."""
    clock, processor = time.monotonic(), time.process_time()
    answer = send()
    spent = (time.process_time() - processor) * 1000, (time.monotonic() - clock) * 1000
    if answer.status_code != 200:
        sys.exit(f"{answer.status_code}: {answer.get_data(as_text=True)[:300]}")
    return spent


def single(client: FlaskClient, uids: Sequence[str], headers: Mapping[str, str]) -> None:
    """Edit one photo at a time."""
    print("| one edit | p50 ms | p95 ms | p50 ms by the clock | p95 |\n|---|---|---|---|---|")
    for name, make in EDITS.items():
        found = [
            timed(lambda n=n, uid=uid, make=make: client.put(f"/api/v1/photos/{uid}", json=make(n), headers=headers))
            for n, uid in enumerate(random.Random(name).sample(uids, _SINGLE + 20))
        ][20:]
        processor, clock = zip(*found, strict=True)
        times = (median(processor), quantiles(processor, n=20)[18], median(clock), quantiles(clock, n=20)[18])
        print(f"| {name} | {' | '.join(f'{value:.1f}' for value in times)} |", flush=True)


def many(client: FlaskClient, uids: Sequence[str], headers: Mapping[str, str]) -> None:
    """Change many photos, and add them to an album."""
    print("\n| 10,000 photos | s | photos/s | s by the clock |\n|---|---|---|---|")
    chosen = random.Random(1).sample(uids, _MANY)
    album = client.post("/api/v1/albums", json={"Title": "Bench"}, headers=headers).get_json()["UID"]
    paths = {name: f"/batch/photos/{name}" for name in BATCHES} | {
        "add to an album": f"/albums/{album}/photos",
        "delete": "/batch/photos/delete",
    }
    for name, path in paths.items():
        body = {"photos": chosen, **BATCHES.get(name, {})}
        processor, clock = timed(lambda p=path, b=body: client.post(f"/api/v1{p}", json=b, headers=headers))
        print(f"| {name} | {processor / 1000:.1f} | {_MANY / processor * 1000:.0f} | {clock / 1000:.1f} |", flush=True)


def vanish(app: Flask) -> None:
    """Mark the files of many photos, far from each other, as gone from the originals, like an index run."""
    with app.app_context(), UnitOfWork(current_service().engine()) as session:
        ids = random.Random(2).sample(session.scalars(select(Photo.id).order_by(Photo.id)).all(), _MANY)
        names = sorted(session.scalars(select(File.name).where(among(session, File.photo_id, ids))))
        session.rollback()
        writer = BatchWriter(session, Path("originals"), current_service().clock, Summary())
        clock, processor = time.monotonic(), time.process_time()
        writer.mark_missing(iter(names))
        spent = time.process_time() - processor
        print(f"| vanish | {spent:.1f} | {_MANY / spent:.0f} | {time.monotonic() - clock:.1f} |")


def main(folder: Path) -> None:
    with library(folder) as app:
        with app.app_context(), current_service().reading() as connection:
            uids = connection.scalars(select(Photo.uid).order_by(Photo.id)).all()
        headers = {"X-Auth-Token": new_password(app, ADMIN)}  # who also sees archived photos
        single(app.test_client(), uids, headers)
        many(app.test_client(), uids, headers)
        vanish(app)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
