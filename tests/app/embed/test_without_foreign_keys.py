"""No row refers to one that is gone, on databases of hosts that neither cascade nor refuse it."""

import pytest
from sqlalchemy import select

from photosvc.auth import accounts, clients
from photosvc.auth.credentials import find_credential
from photosvc.models import (
    APP_PASSWORD,
    CLIENT_TOKEN,
    LOGIN_SESSION,
    Base,
    Credential,
    DistinctPhoto,
    LookAlike,
    Photo,
    RecoveryCode,
    Upload,
    UploadedFile,
)
from photosvc.models.engine import begin_write
from tests.helpers.api_client import ApiClient
from tests.helpers.clock import NOW
from tests.helpers.factories.accounts import add_client, add_credential, add_user
from tests.helpers.library import open_library
from tests.helpers.pictures import dng, exif, jpeg, showing, xmp
from tests.unit.auth.operations import by_command

TAKEN = exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})


@pytest.fixture
def unchecked_library(tmp_path, monkeypatch):
    """A library whose database has no foreign keys, as the engines of most hosts."""
    pragmas = ("PRAGMA journal_mode=WAL", "PRAGMA foreign_keys=OFF")
    monkeypatch.setattr("photosvc.models.engine._PRAGMAS", pragmas)
    library = open_library(tmp_path / "instance")
    with library.session() as session:
        assert session.connection().exec_driver_sql("PRAGMA foreign_keys").scalar() == 0
    yield library
    library.close()


def orphans(library):
    """Column -> its values that no row has, of every foreign key of the models."""
    with library.session() as session:
        found = {}
        for table in Base.metadata.sorted_tables:
            for key in table.foreign_keys:
                values = set(session.scalars(select(key.parent).where(key.parent.is_not(None))))
                if lost := values - set(session.scalars(select(key.column))):
                    found[str(key.parent)] = sorted(lost)
        return found


def call(library, method, path, **options):
    headers = {"X-Auth-Token": library.token(role="admin")}
    answer = library.app.test_client().open(f"/api/v1{path}", method=method, headers=headers, **options)
    assert answer.status_code == 200, answer.text
    return answer.json


def enter_everything(library):
    """Give every photo rows in all tables that refer to photos or files; their UIDs by file name."""
    uids = {record["FileName"]: record["UID"] for record in library.find()}
    album = call(library, "POST", "/albums", json={"Title": "Mine"})["UID"]
    call(library, "POST", f"/albums/{album}/photos", json={"photos": sorted(set(uids.values()))})
    for number, uid in enumerate(sorted(set(uids.values()))):
        call(library, "PUT", f"/photos/{uid}", json={"Details": {"Keywords": "snow"}})
        with library.session() as session:
            begin_write(session)
            photo_id = session.scalar(select(Photo.id).where(Photo.uid == uid))
            session.add(DistinctPhoto(number=7, photo_id=photo_id))
            session.add(LookAlike(number=1, place=number, photo_id=photo_id, distance=0))
    return uids


def test_photos_that_become_one_leave_nothing_and_hand_their_decisions_on(unchecked_library):
    unchecked_library.put("a/lake.jpg", jpeg(100, 80, exif=TAKEN, xmp=showing("Ada")))
    unchecked_library.put("a/other.jpg", jpeg(64, 48, exif=TAKEN, xmp=xmp("<dc:subject/>")))
    dng(unchecked_library.put("b/sea.dng", b""))
    of_its_camera = exif({0x010F: "Leica Camera AG", 0x0110: "LEICA M10"}, {0x9003: "2020:01:02 03:04:05"})
    unchecked_library.put("b/hill.jpg", jpeg(66, 48, exif=of_its_camera))
    unchecked_library.index()
    uids = enter_everything(unchecked_library)
    assert len(set(uids.values())) == 4
    assert orphans(unchecked_library) == {}
    (unchecked_library.originals / "b/hill.jpg").rename(unchecked_library.originals / "b/sea.jpg")
    unchecked_library.index()
    left = {record["UID"] for record in unchecked_library.find()}
    assert len(left) == 3
    assert orphans(unchecked_library) == {}
    with unchecked_library.session() as session:
        decided = select(Photo.uid).join(DistinctPhoto, DistinctPhoto.photo_id == Photo.id)
        assert set(session.scalars(decided)) == left


def test_photos_that_are_deleted_and_purged_leave_nothing(unchecked_library):
    for number in range(4):
        unchecked_library.put(f"{number}.jpg", jpeg(60 + number, 48, exif=TAKEN, xmp=showing("Ada")))
        unchecked_library.put(f"{number}.jpg.xmp", xmp("<dc:title><rdf:Alt><rdf:li>Sea</rdf:li></rdf:Alt></dc:title>"))
    unchecked_library.index()
    uids = enter_everything(unchecked_library)
    call(unchecked_library, "DELETE", f"/photos/{uids['0.jpg']}")
    assert orphans(unchecked_library) == {}
    assert ApiClient(unchecked_library).svc("trash", "empty", "--yes").returncode == 0
    assert orphans(unchecked_library) == {}
    object.__setattr__(unchecked_library.app.extensions["photosvc"].settings, "delete_originals", False)
    call(unchecked_library, "DELETE", f"/photos/{uids['1.jpg']}")
    (unchecked_library.originals / "2.jpg").unlink()
    assert ApiClient(unchecked_library).svc("purge", "--hard", "--yes").returncode == 0
    assert orphans(unchecked_library) == {}
    with unchecked_library.session() as session:
        assert session.scalars(select(Photo.uid)).all() == [uids["3.jpg"]]


@pytest.mark.parametrize("everybody", [True, False])
def test_accounts_and_clients_that_are_removed_leave_nothing(unchecked_library, everybody):
    with unchecked_library.session() as session:
        begin_write(session)
        vera = add_user(session, "vera", role="viewer")
        client = add_client(session, user_id=vera.id)
        client_uid = client.uid
        add_credential(session, CLIENT_TOKEN, client_id=client.id)
        parent = find_credential(session, add_credential(session, APP_PASSWORD, user_id=vera.id))
        add_credential(session, LOGIN_SESSION, user_id=vera.id, parent_id=parent.id)
        session.add(RecoveryCode(user_id=vera.id, digest="x", created_at=NOW))
        times = {"created_at": NOW, "expires_at": NOW}
        session.add(Upload(token="t", user_id=vera.id, name="a.jpg", size=1, **times))
        session.add(UploadedFile(hash="h", user_id=vera.id, name="a.jpg", size=1, original_name="", created_at=NOW))
    with unchecked_library.session() as session:
        begin_write(session)
        if everybody:
            accounts.remove_all(by_command(session))
        else:
            accounts.remove(by_command(session), "vera")
    assert orphans(unchecked_library) == {}
    with unchecked_library.session() as session:
        begin_write(session)
        clients.remove(by_command(session), client_uid)
    assert orphans(unchecked_library) == {}
    with unchecked_library.session() as session:
        assert session.query(Credential).filter(Credential.kind != APP_PASSWORD).count() == 0
        assert session.query(UploadedFile).count() == 1
