"""Albums that are shared with accounts: who shares them, who adds photos, and what the answers tell."""

from copy import copy

import pytest
from sqlalchemy import select, update

from photosvc.library import shares as shares_module
from photosvc.models import File, Photo, UploadedFile, User
from tests.helpers.api_client import HASH, PASSWORD, check_error
from tests.helpers.clients.upload_client import FORM, changed, form_of, open_uploads, originals, picture, used_quota
from tests.helpers.factories.accounts import add_user
from tests.helpers.pictures import xmp

#: Tests of the SQL that counts, limits and locks; all others are about rules that no database changes.
ON_BOTH = pytest.mark.parametrize(
    "prepared", ["new_sqlite", pytest.param("new_postgres", marks=pytest.mark.slow)], indirect=True
)

FIELDS = {"AlbumUID", "AccountUID", "Name", "DisplayName", "Role", "CreatedBy", "CreatedAt", "ModifiedAt"}


class Sharing:
    """A library with an album of one photo that `alice` may share, and the guest `gus`."""

    def __init__(self, api):
        self.api = api
        self.known, self.private = picture(1), picture(2)
        api.library.put("known.jpg", self.known)
        api.library.put("private.jpg", self.private)
        api.library.put("member.jpg", picture(3))
        api.library.index()
        with api.library.session() as session:
            api.uids["gus"] = add_user(session, "gus", "guest", password_hash=HASH).uid
        self.token, self.guest = api.app_password(), api.session_of("gus", PASSWORD)
        self.photos = {one["Name"]: one["UID"] for one in api.call("GET", "/photos", self.token).json}
        api.call("PUT", f"/photos/{self.photos['private']}", self.token, json={"Private": True})
        self.album = self.make_album("Summer")
        self.put_in(self.album, "member")

    def make_album(self, title, **values):
        return self.api.call("POST", "/albums", self.token, json={"Title": title, **values}).json["UID"]

    def put_in(self, album, name):
        chosen = {"photos": [self.photos[name]]}
        assert self.api.call("POST", f"/albums/{album}/photos", self.token, json=chosen).status_code == 200

    def share(self, account="gus", role="contributor", album=None, token=None):
        body = {"Account": account, "Role": role}
        return self.api.call("POST", f"/albums/{album or self.album}/accounts", token or self.token, json=body)

    def of_album(self, method="GET", rest="", json=None):
        return self.api.call(method, f"/albums/{self.album}/accounts{rest}", self.token, json=json)

    def add(self, *files, token=None, album=None):
        path = f"/shared/{album or self.album}/photos"
        return self.api.call("POST", path, token or self.guest, data=form_of(*files), content_type=FORM)

    def take_out(self, *uids, token=None):
        return self.api.call("DELETE", f"/shared/{self.album}/photos", token or self.guest, json={"photos": list(uids)})

    def in_album(self, token=None):
        answer = self.api.call("GET", f"/photos?s={self.album}&order=newest", token or self.guest)
        assert answer.status_code == 200, answer.text
        return {photo["UID"] for photo in answer.json}

    def used(self, name="gus"):
        return used_quota(self.api, name)


@pytest.fixture(scope="module")
def prepared(request, tmp_path_factory):
    """The library that `sharing` copies, with the address of its database."""
    address = request.getfixturevalue(getattr(request, "param", "new_sqlite"))()
    with open_uploads(tmp_path_factory.mktemp("prepared"), settings={"PHOTOSVC_DATABASE_URI": address}) as api:
        made = Sharing(api)
    return made, address


@pytest.fixture
def sharing(prepared, copied_database, tmp_path):
    made, address = prepared
    settings = {"PHOTOSVC_DATABASE_URI": copied_database(address)}
    with open_uploads(tmp_path, like=made.api, settings=settings) as api:
        sharing = copy(made)
        sharing.api = api
        yield sharing


@ON_BOTH
def test_an_album_is_shared_with_an_account_changed_and_ended(sharing):
    made = sharing.share(role="viewer").json
    assert made.keys() == FIELDS
    assert (made["AlbumUID"], made["Name"], made["Role"]) == (sharing.album, "gus", "viewer")
    assert made["CreatedBy"] == sharing.api.uids["alice"]
    (shared,) = sharing.api.call("GET", "/shared", sharing.guest).json
    assert (shared["UID"], shared["Title"], shared["PhotoCount"], shared["Role"]) == (
        sharing.album, "Summer", 1, "viewer",
    )  # fmt: skip
    account = f"/{made['AccountUID']}"
    assert sharing.of_album("PUT", account, {"Role": "contributor"}).json["Role"] == "contributor"
    assert [one["Role"] for one in sharing.of_album().json] == ["contributor"]
    assert sharing.of_album("DELETE", account).json["Role"] == "contributor"
    assert sharing.of_album().json == []
    assert sharing.api.call("GET", "/shared", sharing.guest).json == []
    check_error(sharing.of_album("DELETE", account), 404)


def test_a_share_that_cannot_be_is_refused_with_its_reason(sharing):
    smart = sharing.make_album("Smart", Filter="year:2024")
    private = sharing.make_album("Private", Private=True)
    check_error(sharing.share("nobody"), 404)
    check_error(sharing.share("a\0b"), 404)
    check_error(sharing.share("alice"), 400)
    check_error(sharing.share(album="atb7yo0000000000"), 404)
    check_error(sharing.share(album=smart), 409)
    assert sharing.share(album=smart, role="viewer").status_code == 200
    check_error(sharing.share(album=private), 409)
    check_error(sharing.share(role="owner"), 400)
    check_error(sharing.share(token=sharing.api.app_password("vera")), 403)
    check_error(sharing.share(token=sharing.guest), 403)
    assert sharing.share().status_code == 200
    check_error(sharing.share(), 409)


def test_an_account_leaves_an_album(sharing):
    sharing.share()
    assert sharing.api.call("DELETE", f"/shared/{sharing.album}", sharing.guest).status_code == 200
    assert sharing.of_album().json == []
    for album in (sharing.album, "atb7yo0000000000", "x", "%00"):
        check_error(sharing.api.call("DELETE", f"/shared/{album}", sharing.guest), 404)


def test_accounts_that_see_the_library_are_told_of_the_album_and_see_the_library_as_before(sharing):
    viewer = sharing.api.app_password("vera")
    before = sharing.api.call("GET", "/photos", viewer).json
    sharing.share("vera")
    assert [one["UID"] for one in sharing.api.call("GET", "/shared", viewer).json] == [sharing.album]
    assert sharing.api.call("GET", "/photos", viewer).json == before


def test_the_security_log_has_who_shared_changed_left_and_removed(sharing):
    account = f"/{sharing.share().json['AccountUID']}"
    sharing.of_album("PUT", account, {"Role": "viewer"})
    sharing.api.call("DELETE", f"/shared/{sharing.album}", sharing.guest)
    lines = sharing.api.call("GET", "/audit?event=changes", sharing.api.session_of("ann")).json
    found = [line for line in lines if "share" in line["event"]]
    assert [(line["event"], line["actor"], line["subject"], line["detail"]) for line in found] == [
        ("share.ended", "gus", "gus", "viewer"),
        ("share.changed", "alice", "gus", "contributor to viewer"),
        ("album.shared", "alice", "gus", "contributor"),
    ]
    assert {line["target"] for line in found} == {sharing.album}


def test_a_share_ends_with_its_account_and_with_the_account_that_made_it(sharing):
    admin = sharing.api.session_of("ann")
    sharing.share()
    sharing.share("vera")
    assert sharing.api.call("DELETE", sharing.api.user_path("vera"), admin).status_code == 200
    assert [one["Name"] for one in sharing.of_album().json] == ["gus"]
    assert sharing.api.call("DELETE", sharing.api.user_path("alice"), admin).status_code == 200
    assert sharing.api.call("GET", f"/albums/{sharing.album}/accounts", admin).json == []
    assert sharing.api.call("GET", "/photos", sharing.guest).json == []


@ON_BOTH
def test_a_contributor_adds_photos_and_takes_out_own_ones_alone(sharing):
    sharing.share()
    before, new = sharing.in_album(), picture(9)
    answer = sharing.add(("new.jpg", new), ("words.txt", b"words"))
    assert answer.status_code == 200, answer.text
    assert [(one["name"], one["status"]) for one in answer.json["files"]] == [
        ("new.jpg", "added"), ("words.txt", "refused"),
    ]  # fmt: skip
    (uid,) = sharing.in_album() - before
    assert sharing.used() == len(new)
    check_error(sharing.take_out(*before), 404)
    check_error(sharing.take_out("x"), 404)
    check_error(sharing.take_out(*["x"] * 501), 400)
    assert sharing.take_out(uid, *before).json["photos"] == [uid]
    assert sharing.in_album() == before
    assert sharing.api.call("GET", f"/photos/{uid}", sharing.token).status_code == 200  # it stays in the library
    check_error(sharing.api.call("GET", f"/photos/{uid}/dl", sharing.guest), 404)


def test_a_copy_of_a_photo_of_others_does_not_make_it_one_s_own(sharing):
    sharing.share()
    (member,) = sharing.in_album()
    original = sharing.api.call("GET", f"/photos/{member}/dl", sharing.guest, buffered=True).data
    assert sharing.add(("member.jpg", original)).status_code == 200
    check_error(sharing.take_out(member), 404)
    (own,) = sharing.in_album() - {member}
    assert sharing.take_out(own).json["photos"] == [own]
    assert sharing.in_album() == {member}


def test_a_file_that_joins_the_photo_of_others_does_not_make_it_one_s_own(sharing):
    sharing.share()
    sharing.add(("new.jpg", picture(9)))
    new = next(iter(sharing.in_album() - {sharing.photos["member"]}))
    with sharing.api.library.session() as session:
        owner = session.scalar(select(Photo.id).where(Photo.uid == sharing.photos["member"]))
        guest = session.scalar(select(Photo.id).where(Photo.uid == new))
        session.execute(update(File).where(File.photo_id == guest).values(photo_id=owner, primary=False))
        session.commit()
    check_error(sharing.take_out(sharing.photos["member"]), 404)


def test_a_file_of_a_contributor_is_never_stacked(sharing):
    sharing.share()
    sharing.add(("new.jpg", picture(9)))
    (uid,) = sharing.in_album() - {sharing.photos["member"]}
    with sharing.api.library.session() as session:
        found = session.scalars(select(Photo.uid).join(File, File.photo_id == Photo.id).where(File.unstacked)).all()
    assert found == [uid]


@pytest.mark.slow
def test_only_contributors_of_an_album_add_to_it(sharing):
    check_error(sharing.add(("new.jpg", picture(9))), 404)
    account = sharing.share(role="viewer").json["AccountUID"]
    check_error(sharing.add(("new.jpg", picture(9))), 403)
    assert sharing.of_album("PUT", f"/{account}", {"Role": "contributor"}).status_code == 200
    check_error(sharing.add(("new.jpg", picture(9)), album=sharing.make_album("Other")), 404)
    check_error(sharing.add(("new.jpg", picture(9)), album="%00"), 404)
    with changed(sharing.api, readonly=True):
        check_error(sharing.add(("new.jpg", picture(9))), 403)
    assert len(originals(sharing.api)) == 3
    assert sharing.add(("new.jpg", picture(9))).status_code == 200
    assert sharing.of_album("DELETE", f"/{account}").status_code == 200
    check_error(sharing.add(("other.jpg", picture(8))), 404)
    assert len(originals(sharing.api)) == 4


@pytest.mark.slow
def test_the_answer_does_not_tell_what_the_library_has_and_a_private_photo_is_not_pulled_in(sharing):
    sharing.share()
    answers = [
        sharing.add((f"{name}.jpg", data)).json
        for name, data in (("new", picture(9)), ("private", sharing.private), ("known", sharing.known))
    ]
    shapes = [(answer["message"], [(one["status"], sorted(one)) for one in answer["files"]]) for answer in answers]
    assert shapes == [("1 file added", [("added", ["hash", "name", "status"])])] * 3
    assert sharing.used() == len(picture(9)) + len(sharing.private) + len(sharing.known)
    added = sharing.in_album()
    assert added & set(sharing.photos.values()) == {sharing.photos["member"]}
    assert sharing.photos["private"] not in sharing.in_album(sharing.token)
    assert len(originals(sharing.api)) == 6


@pytest.mark.slow
def test_the_same_file_counts_once_in_the_quota(sharing):
    sharing.share()
    for data in (sharing.private, picture(9)):
        before = sharing.used()
        for _ in range(3):
            sharing.add(("again.jpg", data))
        assert sharing.used() == before + len(data)


def test_the_quota_is_that_of_the_contributor(sharing):
    sharing.share()
    with changed(sharing.api, upload_quota=1):
        large = picture(9) + bytes(2 << 20)
        check_error(sharing.add(("large.jpg", large)), 413)
        with sharing.api.library.session() as session:
            user = session.query(User).filter_by(name="gus").one()
            values = {"name": "x", "size": 1 << 20, "original_name": "", "created_at": sharing.api.clock()}
            session.add(UploadedFile(hash=None, user_id=user.id, **values))
            session.commit()
        check_error(sharing.add(("new.jpg", picture(9))), 507)


def test_sidecars_of_a_contributor_change_no_photo(sharing):
    sharing.share()
    text = xmp(
        '<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Alt><rdf:li xml:lang="x-default">Mine</rdf:li>'
        "</rdf:Alt></dc:title>"
    )
    answer = sharing.add(("known.jpg", sharing.known), ("known.jpg.xmp", text), ("known.xmp", text))
    assert [one["status"] for one in answer.json["files"]] == ["added", "refused", "refused"]
    with sharing.api.library.session() as session:
        assert session.scalar(select(Photo.title).where(Photo.uid == sharing.photos["known"])) != "Mine"
    assert len(originals(sharing.api)) == 4


@ON_BOTH
def test_the_numbers_of_accounts_of_an_album_and_of_albums_of_an_account_are_limited(sharing, monkeypatch):
    monkeypatch.setattr(shares_module, "MOST_SHARES", 1)
    assert sharing.share().status_code == 200
    check_error(sharing.share("vera"), 409)
    check_error(sharing.share(album=sharing.make_album("Other")), 409)
