"""Random edits, batches and undos: index runs change none of them, undoing all of them gives the first state back."""

import random

import pytest

from photosvc.index.run import rebuild_search
from photosvc.models import Photo
from photosvc.models.engine import UnitOfWork
from photosvc.search.rows.check import differing
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import InlinePool
from tests.helpers.library import copy_library, hashes, open_library
from tests.helpers.pictures import exif, jpeg, xmp

#: A run may estimate other places of photos after edits of those beside them.
NO_ESTIMATES = {"PHOTOSVC_ESTIMATE_PLACES": False}
#: What an index run writes again, and what remains of an edit that was undone: the photo was edited.
BY_RUNS = frozenset(("UpdatedAt", "CheckedAt"))
BY_EDITS = BY_RUNS | {"EditedAt", "Quality"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("filled") / "instance", settings=NO_ESTIMATES)
    title = xmp("<dc:title><rdf:Alt><rdf:li>Old</rdf:li></rdf:Alt></dc:title>")
    for number in range(4):
        taken = exif({0x010F: "Canon", 0x0110: "EOS R5"}, {0x9003: f"2020:01:02 0{number}:04:05"})
        library.put(f"a/{number}.jpg", jpeg(64 + number, 48, exif=taken, xmp=title if number % 2 else b""))
    taken = exif({0x010F: "Canon"}, {0x9003: "2021:01:02 03:04:05"})
    library.put("b/lake.jpg", jpeg(100, 80, exif=taken))
    library.put("b/lake-edited.jpg", jpeg(64, 48, exif=taken))
    library.index()
    library.close()
    return library


@pytest.fixture
def inline_library(filled, tmp_path, monkeypatch):
    monkeypatch.setattr("photosvc.index.run.WorkerPool", InlinePool)
    library = copy_library(filled, tmp_path / "instance", settings=NO_ESTIMATES)
    yield library
    library.close()


class Person:
    """Somebody who changes photos at random."""

    def __init__(self, library, seed):
        self.library, self.chance = library, random.Random(seed)
        self.uids = sorted({record["UID"] for record in library.find()})

    def call(self, method, path, **options):
        headers = {"X-Auth-Token": self.library.token(role="admin")}
        answer = self.library.app.test_client().open(f"/api/v1{path}", method=method, headers=headers, **options)
        assert answer.status_code in {200, 409}, (method, path, options, answer.text)
        return answer.status_code, answer.json

    def photos(self, without):
        found = {uid: self.call("GET", f"/photos/{uid}")[1] for uid in self.uids}
        for photo in found.values():
            photo["Files"] = [{name: file[name] for name in file.keys() - BY_RUNS} for file in photo["Files"]]
        return {uid: {name: photo[name] for name in photo.keys() - without} for uid, photo in found.items()}

    def history(self, uid):
        return self.call("GET", f"/photos/{uid}/history?count=1000")[1]

    def act(self):
        uid = self.chance.choice(self.uids)
        some = self.chance.sample(self.uids, self.chance.randint(1, len(self.uids)))
        edit, batch = self.values(), {"photos": some}
        file = self.chance.choice(self.call("GET", f"/photos/{uid}")[1]["Files"])["UID"]
        turned = {"Orientation": self.chance.choice([1, 3, 6, 8, None])}
        flag = self.chance.choice(["archive", "restore", "approve", "private"])
        changes = self.history(uid)
        undone = changes[0]["ID"] if changes else 0
        return self.chance.choice([
            *[lambda: self.call("PUT", f"/photos/{uid}", json=edit)] * 4,
            *[lambda: self.call("POST", "/batch/photos/edit", json={**batch, "values": edit})] * 2,
            lambda: self.call("POST", f"/batch/photos/{flag}", json=batch),
            lambda: self.call(self.chance.choice(["POST", "DELETE"]), f"/photos/{uid}/like"),
            lambda: self.call("PUT", f"/photos/{uid}/files/{file}/orientation", json=turned),
            lambda: self.call("POST", f"/photos/{uid}/files/{file}/primary"),
            *[lambda: undone and self.call("POST", f"/photos/{uid}/history/{undone}/undo")] * 2,
        ])()  # fmt: skip

    def values(self):
        pick = self.chance.choice
        every = {
            "Title": pick(["Mine", "Ours", None]),
            "Description": pick(["", "At the lake", None]),
            "TakenAtLocal": pick(["2001-02-03T04:05:06Z", "1999-12-31T23:59:59Z", None]),
            "TimeZone": pick(["Europe/Berlin", "Asia/Tokyo"]),
            "Day": pick([-1, None]),
            "Lat": pick([47.5, -33.9, None]),
            "Lng": pick([9.5, 151.2]),
            "Altitude": pick([0, 800]),
            "CameraMake": pick(["Acme", "Leica"]),
            "LensModel": pick(["50 mm", ""]),
            "Iso": pick([100, 0, None]),
            "Rating": pick([0, 5, None]),
            "Favorite": pick([True, False, None]),
            "Private": pick([True, False]),
            "Scan": pick([True, False, None]),
            "Panorama": pick([True, None]),
            "Type": pick(["image", "raw", None]),
            "Details": {
                "Keywords": pick(["sun, sea", "", None]),
                "Artist": pick(["Ann", None]),
                "Notes": pick(["n", ""]),
            },
        }
        return {name: every[name] for name in self.chance.sample(sorted(every), self.chance.randint(1, 5))}


@pytest.mark.parametrize("seed", range(4))
def test_no_index_run_changes_what_people_did_and_undoing_it_all_gives_the_first_state_back(inline_library, seed):
    originals, person = hashes(inline_library.originals), Person(inline_library, seed)
    first = person.photos(BY_EDITS)
    for _ in range(16):
        person.act()
    done = person.photos(BY_RUNS)
    with inline_library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
    inline_library.index()
    assert person.photos(BY_RUNS) == done
    inline_library.index(force=True)
    assert person.photos(BY_RUNS) == done
    rows = inline_library.stored()
    with inline_library.app.app_context():
        service = current_service()
        with UnitOfWork(service.engine()) as session:
            rebuild_search(session, service.settings, service.clock)
    assert inline_library.stored() == rows
    for uid in person.uids:
        for change in person.history(uid):
            status, answer = person.call("POST", f"/photos/{uid}/history/{change['ID']}/undo")
            assert status == 200, (change["Before"], change["After"], answer)
    assert person.photos(BY_EDITS) == first
    inline_library.index(force=True)
    assert person.photos(BY_EDITS) == first
    assert hashes(inline_library.originals) == originals
