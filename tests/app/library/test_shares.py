"""Albums that are shared with accounts: who shares them and who adds photos.

Tests that visitors of links and contributors have in common are in `test_link_uploads`.
"""

from sqlalchemy import select, update

from photosvc.library import shares as shares_module
from photosvc.models import File, Photo
from tests.app.uploads.upload_client import changed, picture
from tests.helpers.api_client import check_error

FIELDS = {"AlbumUID", "AccountUID", "Name", "DisplayName", "Role", "CreatedBy", "CreatedAt", "ModifiedAt"}


def listed(sharing, token=None):
    """The albums that are shared with an account."""
    return sharing.call("GET", "/shared", token or sharing.guest).json


def take_out(sharing, *uids):
    return sharing.call("DELETE", f"/shared/{sharing.album}/photos", sharing.guest, json={"photos": list(uids)})


def test_an_album_is_shared_with_an_account_changed_and_ended(sharing):
    made = sharing.share(role="viewer").json
    assert made.keys() == FIELDS
    assert (made["AlbumUID"], made["Name"], made["Role"]) == (sharing.album, "gus", "viewer")
    assert made["CreatedBy"] == sharing.api.uids["alice"]
    assert [(one["UID"], one["Title"], one["PhotoCount"], one["Role"]) for one in listed(sharing)] == [
        (sharing.album, "Summer at the lake", 1, "viewer"),
    ]
    account = f"/{made['AccountUID']}"
    assert sharing.accounts("PUT", account, {"Role": "contributor"}).json["Role"] == "contributor"
    assert [one["Role"] for one in sharing.accounts().json] == ["contributor"]
    assert sharing.accounts("DELETE", account).json["Role"] == "contributor"
    assert (sharing.accounts().json, listed(sharing)) == ([], [])
    check_error(sharing.accounts("DELETE", account), 404)


def test_a_share_that_cannot_be_is_refused_with_its_reason(sharing, monkeypatch):
    smart, private = sharing.make_album("Smart", Filter="year:2024"), sharing.make_album("Private", Private=True)
    for status, values in (
        (404, {"account": "nobody"}), (404, {"account": "a\0b"}), (404, {"album": "atb7yo0000000000"}),
        (400, {"account": "alice"}), (400, {"role": "owner"}), (409, {"album": smart}), (409, {"album": private}),
        (403, {"token": sharing.api.app_password("vera")}), (403, {"token": sharing.guest}),
    ):  # fmt: skip
        answer = sharing.share(**values)
        assert answer.status_code == status, (values, answer.text)
    assert sharing.share(album=smart, role="viewer").status_code == 200
    assert sharing.share().status_code == 200
    check_error(sharing.share(), 409)
    monkeypatch.setattr(shares_module, "MOST_SHARES", 1)
    check_error(sharing.share("vera"), 409)
    check_error(sharing.share(album=sharing.make_album("Other")), 409)


def test_accounts_that_see_the_library_also_list_the_shared_album(sharing):
    viewer = sharing.api.app_password("vera")
    before = sharing.call("GET", "/photos", viewer).json
    sharing.share("vera")
    assert [one["UID"] for one in listed(sharing, viewer)] == [sharing.album]
    assert sharing.call("GET", "/photos", viewer).json == before


def test_an_account_leaves_an_album_and_the_security_log_names_all_who_acted(sharing):
    account = f"/{sharing.share().json['AccountUID']}"
    sharing.accounts("PUT", account, {"Role": "viewer"})
    assert sharing.call("DELETE", f"/shared/{sharing.album}", sharing.guest).status_code == 200
    assert sharing.accounts().json == []
    for album in (sharing.album, "atb7yo0000000000", "x", "%00"):
        check_error(sharing.call("DELETE", f"/shared/{album}", sharing.guest), 404)
    lines = [line for line in sharing.audit("changes") if "share" in line["event"]]
    assert [(line["event"], line["actor"], line["subject"], line["detail"]) for line in lines] == [
        ("share.ended", "gus", "gus", "viewer"),
        ("share.changed", "alice", "gus", "contributor to viewer"),
        ("album.shared", "alice", "gus", "contributor"),
    ]
    assert {line["target"] for line in lines} == {sharing.album}


def test_a_share_ends_with_its_account_and_with_the_account_that_made_it(sharing):
    admin = sharing.api.session_of("ann")
    sharing.share()
    sharing.share("vera")
    assert sharing.call("DELETE", sharing.api.user_path("vera"), admin).status_code == 200
    assert [one["Name"] for one in sharing.accounts().json] == ["gus"]
    assert sharing.call("DELETE", sharing.api.user_path("alice"), admin).status_code == 200
    assert sharing.call("GET", f"/albums/{sharing.album}/accounts", admin).json == []
    assert sharing.call("GET", "/photos", sharing.guest).json == []


def test_a_contributor_adds_photos_and_takes_out_own_ones_alone(sharing):
    sharing.share()
    before, member = sharing.in_album(sharing.guest).keys(), sharing.uids["member"]
    answer = sharing.add(sharing.guest, ("new.jpg", picture(9)), ("words.txt", b"words"))
    statuses = [(one["name"], one["status"]) for one in answer.json["files"]]
    assert statuses == [("new.jpg", "added"), ("words.txt", "refused")]
    (uid,) = sharing.in_album(sharing.guest).keys() - before
    for status, uids in ((404, before), (404, ["x"]), (400, ["x"] * 501)):
        check_error(take_out(sharing, *uids), status)
    assert take_out(sharing, uid, *before).json["photos"] == [uid]
    assert sharing.in_album(sharing.guest).keys() == before
    assert sharing.call("GET", f"/photos/{uid}").status_code == 200  # it stays in the library
    check_error(sharing.call("GET", f"/photos/{uid}/dl", sharing.guest), 404)
    original = sharing.call("GET", f"/photos/{member}/dl", sharing.guest, buffered=True).data
    assert sharing.add(sharing.guest, ("member.jpg", original)).status_code == 200
    check_error(take_out(sharing, member), 404)  # a copy does not make it one's own
    (own,) = sharing.in_album(sharing.guest).keys() - {member}
    assert take_out(sharing, own).json["photos"] == [own]
    assert sharing.in_album(sharing.guest).keys() == {member}


def test_a_file_that_joins_the_photo_of_others_does_not_make_it_removable(sharing):
    sharing.share()
    sharing.add(sharing.guest, ("new.jpg", picture(9)))
    (new,) = sharing.in_album(sharing.guest).keys() - {sharing.uids["member"]}
    with sharing.api.library.session() as session:
        owner, guest = (
            session.scalar(select(Photo.id).where(Photo.uid == uid)) for uid in (sharing.uids["member"], new)
        )
        session.execute(update(File).where(File.photo_id == guest).values(photo_id=owner, primary=False))
    check_error(take_out(sharing, sharing.uids["member"]), 404)


def test_only_contributors_of_an_album_add_to_it(sharing):
    sharing.refuses(sharing.guest, 404)
    account = sharing.share(role="viewer").json["AccountUID"]
    sharing.refuses(sharing.guest, 403)
    assert sharing.accounts("PUT", f"/{account}", {"Role": "contributor"}).status_code == 200
    for album in (sharing.make_album("Other"), "%00"):
        sharing.refuses(sharing.guest, 404, album=album)
    with changed(sharing.api, readonly=True):
        sharing.refuses(sharing.guest, 403)
    assert sharing.add(sharing.guest, ("new.jpg", picture(9))).status_code == 200
    assert sharing.accounts("DELETE", f"/{account}").status_code == 200
    sharing.refuses(sharing.guest, 404)
