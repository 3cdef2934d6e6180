"""Cost of the page of a shared album beside that of the same album for its owner: `python -m bench.shared FOLDER`.

FOLDER holds a library made by `bench.libraries.library`; a copy of it gets albums, each with a link. Requests in this
process, in turn; the processor time includes SQLite.
"""

import statistics
import sys
from pathlib import Path

from sqlalchemy import select

from bench.edits import library, timed
from bench.loads import new_password
from photosvc.core.accounts import ADMIN
from photosvc.models import Photo
from photosvc.web.current import current_service

_ROUNDS = 60
_SIZES = (20, 120, 1_000, 4_000)
_RIGHTS = {"pictures": {}, "details": {"ShowMetadata": True}, "downloads": {"ShowMetadata": True, "CanDownload": True}}


def main(folder: Path) -> None:
    with library(folder) as app:
        with app.app_context(), current_service().reading() as connection:
            uids = connection.scalars(select(Photo.uid).order_by(Photo.id).limit(max(_SIZES))).all()
        owner, visitor, headers = app.test_client(), app.test_client(), {"X-Auth-Token": new_password(app, ADMIN)}
        print("| pictures | link | owner's page, ms | visitor's page, ms | ratio | bytes |\n|---|---|---|---|---|---|")
        for size in _SIZES:
            album = owner.post("/api/v1/albums", json={"Title": f"Shared {size}"}, headers=headers).get_json()["UID"]
            owner.post(f"/api/v1/albums/{album}/photos", json={"photos": uids[:size]}, headers=headers)
            for rights, values in _RIGHTS.items():
                link = owner.post(f"/api/v1/albums/{album}/links", json=values, headers=headers).get_json()["Token"]
                pages = ((owner, f"/albums/{album}", headers), (visitor, f"/s/{link}", {}))
                found: tuple[list[float], list[float]] = [], []
                for number in range(_ROUNDS + 1):
                    for (browser, path, shown), times in zip(pages, found, strict=True):
                        spent, _ = timed(lambda b=browser, p=path, h=shown: b.get(p, headers=h))
                        if number:  # the first one reads what is kept
                            times.append(spent)
                mine, theirs = map(statistics.median, found)
                sizes = " and ".join(str(len(browser.get(path, headers=shown).data)) for browser, path, shown in pages)
                print(f"| {size} | {rights} | {mine:.2f} | {theirs:.2f} | {theirs / mine:.2f} | {sizes} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
