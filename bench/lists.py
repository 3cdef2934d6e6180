"""Cost of lists after a change: `python -m bench.lists FOLDER [PATH…]`.

FOLDER holds a library made by `bench.libraries.library`; a copy of it is changed.
What was read of a whole library is kept until it changes, so one photo is edited before each request. Requests in this
process, one at a time; the processor time includes SQLite, and with `PHOTOSVC_DATABASE_URI` it is without that of the
server, whose library is changed itself.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select

from bench.edits import library, timed
from bench.loads import new_password
from photosvc.core.accounts import ADMIN, VIEWER
from photosvc.models import Photo
from photosvc.web.current import current_service

_ROUNDS = 5
LISTS = (
    "/labels?count=100",
    "/labels?count=100000",
    "/subjects?count=100",
    "/albums?count=100",
    "/albums?count=100&type=folder",
    "/albums?count=100&type=month",
    "/albums?count=100&type=state",
    "/albums?count=100&order=count",
    "/folders/originals",
    "/folders/originals?recursive=true",
    "/folders/originals?recursive=true&files=true",
    "/moments/time",
    "/photos/timeline",
    "/photos/clusters?zoom=3&bbox=-180,-90,180,90",
    "/photos/facets?by=country,city",
    "/geo?count=100",
    "/config",
    "/suggest?q=la",
    "/errors",
    "/index",
    "/trash",
)


def main(folder: Path, lists: Sequence[str]) -> None:
    with library(folder) as app:
        with app.app_context(), current_service().reading() as connection:
            uids = connection.scalars(select(Photo.uid).order_by(Photo.id).limit(1000)).all()
        secrets = {role: new_password(app, role) for role in (ADMIN, VIEWER)}  # a viewer sees no private photos
        edited, started = iter(range(10**6)), time.time()
        client = app.test_client()
        print("| list after an edit | as | best ms of the processor | by the clock | kept, by the clock |")
        print("|---|---|---|---|---|")
        for path in lists or LISTS:
            for role, secret in secrets.items():
                headers, found, kept = {"X-Auth-Token": secret}, [], []
                if client.get(f"/api/v1{path}", headers=headers).status_code == 403:
                    continue
                for _ in range(_ROUNDS):
                    n = next(edited)
                    body, by = {"Title": f"A walk of {n} miles, {started}"}, {"X-Auth-Token": secrets[ADMIN]}
                    timed(lambda u=uids[n % 1000], b=body, h=by: client.put(f"/api/v1/photos/{u}", json=b, headers=h))
                    found.append(timed(lambda p=path, h=headers: client.get(f"/api/v1{p}", headers=h)))
                    kept.append(timed(lambda p=path, h=headers: client.get(f"/api/v1{p}", headers=h)))
                processor, clock = (min(column) for column in zip(*found, strict=True))
                again = min(clock for _, clock in kept)
                print(f"| `{path}` | {role} | {processor:.1f} | {clock:.1f} | {again:.1f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
