"""Uploads by visitors of links: who may add files, within which limits, and what the answers tell."""

from threading import Thread

import pytest
from sqlalchemy import select

from photosvc.auth.throttle import Allowance
from photosvc.jobs.queue import ALBUMS
from photosvc.library import links
from photosvc.library.admission import Admission
from photosvc.models import File, Photo, UploadedFile, User
from photosvc.web import uploads, visits
from photosvc.web.admission_gate import Cost
from photosvc.web.indexer import Indexer
from photosvc.web.service import current_service
from tests.app.uploads.upload_client import changed, picture, sha1, upload
from tests.helpers.api_client import check_error
from tests.helpers.pictures import clouds, encoded, exif, jpeg, titled


@pytest.fixture
def link(sharing):
    return sharing.link(CanUpload=True, ShowMetadata=True)


@pytest.fixture
def visit(sharing, link):
    return sharing.visit(link)


def added(sharing, token, *files):
    """Add files that must all be accepted; return the UIDs of the photos that are new in the album."""
    before = sharing.in_album().keys()
    answer = sharing.add(token, *files)
    assert (answer.status_code, {one["status"] for one in answer.json["files"]}) == (200, {"added"}), answer.text
    return sharing.in_album().keys() - before


def index(sharing, **files):
    """Run the indexer after these files have come into the originals."""
    for name, data in files.items():
        sharing.api.library.put(f"{name}.jpg", data)
    sharing.api.library.index()


def search(sharing, query):
    return sharing.call("GET", f"/photos?merged=true&count=99&q={query}").json


def test_a_visitor_adds_photos_that_the_album_shows_and_that_count_for_the_maker_of_the_link(sharing, link, visit):
    sharing.change(link, Comment="For the wedding")
    before, new = sharing.in_album(visit), picture(9)
    answer = sharing.add(visit, ("new.jpg", new), ("words.txt", b"words"))
    assert answer.status_code == 200, answer.text
    assert (answer.json["message"], [(one["name"], one["status"]) for one in answer.json["files"]]) == (
        "1 file added", [("new.jpg", "added"), ("words.txt", "refused")],
    )  # fmt: skip
    assert len(sharing.in_album(visit)) == len(before) + 1
    assert (sharing.used(), sharing.waits()) == (len(new), [])
    # Eight digits of a hash are found by trying: a sidecar of that name would belong to files of others, too.
    assert f"20240501_120000_{sha1(new)[:16].upper()}.jpg" in sharing.files()
    (line,) = sharing.audit("link.uploaded")
    assert (line["actor"], line["target"]) == (link["UID"], link["UID"])
    assert line["detail"] == f"2 files of 0.0 MB to album {sharing.album}: For the wedding"
    details = [one["detail"] for one in sharing.audit("link.made")]
    assert details == [f"album {sharing.album}, metadata and uploads, without end"]


def test_a_link_takes_files_only_if_it_says_so_and_as_long(sharing, link, visit):
    plain = sharing.link(CanUpload=False)
    assert (plain["CanUpload"], link["CanUpload"]) == (False, True)
    sharing.refuses(sharing.visit(plain), 403)
    assert sharing.call("GET", "/credential", visit).status_code == 204  # for a proxy: large bodies are welcome
    assert sharing.change(link, CanUpload=False).json["CanUpload"] is False
    sharing.refuses(visit, 403)
    check_error(sharing.call("GET", "/credential", visit), 403)
    sharing.change(link, CanUpload=True)
    for album in (sharing.make_album("Other"), "%00"):
        sharing.refuses(visit, 404, album=album)
    with changed(sharing.api, readonly=True):
        sharing.refuses(visit, 403)
    path = f"/albums/{sharing.album}"
    sharing.call("PUT", path, json={"Private": True})
    sharing.refuses(visit, 404)
    sharing.call("PUT", path, json={"Private": False})
    for values in ({"Disabled": True}, {"Disabled": False, "Role": "viewer"}):
        sharing.set_account(**values)
        sharing.refuses(visit, 401)
    sharing.set_account(Role="user")
    assert len(added(sharing, visit, ("new.jpg", picture(9)))) == 1
    other = sharing.visit(sharing.link(CanUpload=True))
    sharing.end(link)
    sharing.refuses(visit, 401)
    sharing.call("DELETE", path)
    sharing.refuses(other, 404)


def test_a_link_that_may_take_no_files_is_refused_with_its_reason(sharing, link):
    smart = sharing.make_album("Smart", Filter="year:2024")
    check_error(sharing.links("POST", album=smart, CanUpload=True), 409)
    client, plain = sharing.api.session_of("ann"), sharing.link()
    # It takes files already: no quota is spent in addition.
    assert sharing.change(link, token=client, CanUpload=True, Comment="x").status_code == 200
    check_error(sharing.change(plain, token=client, CanUpload=True), 400)
    assert sharing.change(plain, CanUpload=True).json["CanUpload"] is True


def test_the_quota_is_that_of_the_maker_of_the_link_or_of_the_contributor(sharing, visit):
    sharing.share()
    for name, token in (("alice", visit), ("gus", sharing.guest)):
        with changed(sharing.api, upload_quota=1):
            sharing.refuses(token, 413, data=picture(9) + bytes(2 << 20))
            with sharing.api.library.session() as session:
                user = session.query(User).filter_by(name=name).one()
                values = {"name": name, "size": 1 << 20, "original_name": "", "created_at": sharing.api.clock()}
                session.add(UploadedFile(hash=None, user_id=user.id, **values))
            sharing.refuses(token, 507)


def test_a_link_that_ends_while_files_arrive_adds_none(sharing, monkeypatch):
    received = uploads.receive_form
    for name, end, status in (
        ("ended", sharing.end, 401),
        ("changed", lambda link: sharing.change(link, CanUpload=False), 403),
        ("password", lambda link: sharing.change(link, Password="another"), 401),
        ("expired", lambda _: sharing.api.clock.move(hours=2), 401),
    ):
        link = sharing.link(CanUpload=True, Expires=3600)
        visit, done = sharing.visit(link), []

        def receive(*given, end=end, link=link, done=done):
            files = received(*given)
            # In this thread, the client would act in the context of the upload.
            elsewhere = Thread(target=lambda: done.append(end(link)))
            elsewhere.start()
            elsewhere.join()
            return files

        monkeypatch.setattr(uploads, "receive_form", receive)
        sharing.refuses(visit, status)
        assert len(done) == 1, name


def test_answers_reveal_no_content_of_the_library_and_no_hidden_photo(sharing, visit):
    """Each file counts for the maker of a link each time: else, the quota left tells which files its owner has."""
    upload(sharing.api, sharing.token, "b", ("mine.jpg", picture(8)))
    sharing.share()
    files = {"new": picture(9), "mine": picture(8), **sharing.pictures}
    files.pop("member")
    for account, token in (("alice", visit), ("gus", sharing.guest)):
        for name, data in files.items():
            before = sharing.used(account)
            for _ in range(2):
                answer = sharing.add(token, (f"{name}.jpg", data))
                shape = (answer.status_code, answer.json["message"], [sorted(one) for one in answer.json["files"]])
                assert shape == (200, "1 file added", [["hash", "name", "status"]]), (account, name)
            assert sharing.used(account) == before + len(data), (account, name)
    seen = sharing.in_album(sharing.api.session_of("ann")).keys()
    assert len(seen) == len(sharing.in_album(visit)) == 1 + 2 * len(files)
    assert seen & set(sharing.uids.values()) == {sharing.uids["member"]}
    private = sharing.call("GET", f"/photos/{sharing.uids['private']}").json
    assert (private["Private"], len(private["Files"])) == (True, 1)


def test_sidecars_of_visitors_and_contributors_change_no_photo(sharing, visit):
    sharing.share()
    for token in (visit, sharing.guest):
        files = [("known.jpg", sharing.pictures["known"])]
        files += [(name, titled("Mine")) for name in ("known.jpg.xmp", "known.xmp")]
        answer = sharing.add(token, *files)
        assert [one["status"] for one in answer.json["files"]] == ["added", "refused", "refused"]
    with sharing.api.library.session() as session:
        assert session.scalar(select(Photo.title).where(Photo.uid == sharing.uids["known"])) != "Mine"
        assert sorted(session.scalars(select(File.contributed))) == [False] * 4 + [True] * 2
        assert sorted(session.scalars(select(File.unstacked))) == [False] * 4 + [True] * 2


def test_a_visitor_has_no_other_way_to_send_or_change_anything(sharing, visit):
    shared, files = f"/shared/{sharing.album}/photos", "/files/" + "0" * 40
    for method, path, options in (
        ("POST", "/uploads", {"headers": {"Tus-Resumable": "1.0.0", "Upload-Length": "9"}}),
        ("POST", sharing.api.user_path("alice", "/upload/t"), {"data": b"a"}),
        ("DELETE", shared, {"json": {"photos": ["x"]}}), ("GET", "/shared", {}), ("GET", files, {}),
    ):  # fmt: skip
        answer = sharing.call(method, path, visit, **options)
        assert answer.status_code == 403, (method, path, answer.text)


def test_files_and_bytes_of_a_link_are_limited_in_a_day(sharing, visit, monkeypatch):
    monkeypatch.setattr(links, "_FILES", Allowance("link-files", burst=2, seconds=100))
    added(sharing, visit, ("new.jpg", picture(11)), ("new.jpg", picture(12)))
    refused = sharing.add(visit, ("new.jpg", picture(13)))
    check_error(refused, 429)
    assert 0 < int(refused.headers["Retry-After"]) <= 100
    other = sharing.visit(sharing.link(CanUpload=True))
    added(sharing, other, ("new.jpg", picture(13)))
    sharing.api.clock.move(seconds=101)
    check_error(sharing.add(visit, ("new.jpg", picture(14)), ("more.jpg", picture(15))), 429)
    added(sharing, visit, ("new.jpg", picture(14)))
    monkeypatch.setattr(links, "_MIBS", Allowance("link-other-mib", burst=2, seconds=100))
    sharing.refuses(other, 413, data=picture(16) + bytes(4 << 20))
    added(sharing, other, ("large.jpg", picture(16) + bytes(1 << 20)))
    sharing.refuses(other, 429, data=picture(17))


def test_requests_of_an_address_and_of_all_links_of_an_account_are_limited(sharing, link, monkeypatch):
    """Each leaves a job until its files are indexed, and the jobs of the account that made the links are limited."""
    assert visits._UPLOADS_BY_ACCOUNT.burst < ALBUMS.most_waiting
    monkeypatch.setattr(visits, "_UPLOADS_BY_ADDRESS", Allowance("link-uploads", burst=1, seconds=60))
    monkeypatch.setattr(visits, "_UPLOADS_BY_ACCOUNT", Allowance("link-requests", burst=2, seconds=60))
    mine = [sharing.visit(link), sharing.visit(sharing.link(CanUpload=True))]
    other = sharing.visit(sharing.links("POST", token=sharing.api.session_of("ann"), CanUpload=True).json)
    for visit, host, status in (
        (mine[0], 1, 200), (mine[0], 1, 429), (mine[0], 2, 200), (mine[1], 3, 429), (other, 3, 200),
    ):  # fmt: skip
        answer = sharing.add(visit, ("new.jpg", picture(host + 10)), address=f"203.0.113.{host}")
        assert answer.status_code == status, (host, answer.text)


def taken(side, minute=0, *, located=True, quality=75):
    """A picture by one camera in this minute, with or without the position of the camera."""
    gps = {1: "N", 2: [(52, 1), (31, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]} if located else {}
    tags = exif({0x010F: "Maple", 0x0110: "Maplecam"}, {0x9003: f"2021:07:01 10:{minute:02}:00"}, gps)
    return encoded(clouds(7, side, 200), "JPEG", quality=quality, exif=tags)


@pytest.mark.parametrize("indexed", [True, False], ids=["stored before", "stored in the same run"])
def test_a_file_of_a_visitor_never_joins_the_photo_of_others(sharing, visit, indexed):
    """Else, a made-up file would show the other files of that photo, or change it."""
    sharing.api.library.put("outside.jpg", taken(300, quality=90))
    if indexed:
        index(sharing)
    assert len(added(sharing, visit, *((f"{quality}.jpg", taken(300, quality=quality)) for quality in (91, 92)))) == 2
    index(sharing)
    index(sharing, later=taken(300, quality=93))
    names = [{file["Name"] for file in photo["Files"]} for photo in search(sharing, "camera:Maplecam")]
    assert sorted(map(len, names)) == [1, 1, 2]
    assert {"later.jpg", "outside.jpg"} in names
    assert len(sharing.in_album(visit)) == 3


def test_files_of_a_visitor_keep_their_place_until_they_are_stored(sharing, visit, monkeypatch):
    """Else, another request could take it, and the files that had arrived would be deleted."""
    with sharing.api.library.app.app_context():
        slots = current_service().gate.places[Cost.RECEIVE]
    occupied = [slots.take("somebody") for _ in range(3)]
    counted = uploads.count_files

    def count(*given):
        occupied.append(slots.take("somebody"))
        counted(*given)

    monkeypatch.setattr(uploads, "count_files", count)
    assert len(added(sharing, visit, ("new.jpg", picture(9)))) == 1
    for free in filter(None, occupied):
        free()


def test_the_answer_to_a_visitor_reports_a_damaged_picture(sharing, visit):
    answer = sharing.add(visit, ("new.jpg", jpeg(300, 200)[:-900]), ("whole.jpg", picture(9))).json
    assert answer["message"] == "1 file added, 1 file stored but damaged"
    assert [(file["status"], file.get("reason")) for file in answer["files"]] == [
        ("damaged", "the picture is truncated"), ("added", None),
    ]  # fmt: skip


def test_places_are_estimated_neither_from_a_photo_of_a_visitor_nor_for_it(sharing, visit):
    index(sharing, before=taken(300, 0, located=False))
    added(sharing, visit, ("mine.jpg", taken(301, 1)))
    index(sharing)
    found = {one["Name"] == "before": one["PlaceSrc"] for one in search(sharing, "camera:Maplecam")}
    assert found == {True: "", False: "meta"}
    index(sharing, located=taken(302, 2))
    assert [one["PlaceSrc"] for one in search(sharing, "name:before")] == ["estimate"]  # by one of the library
    (uid,) = added(sharing, visit, ("mine.jpg", taken(303, 1, located=False)))
    index(sharing)
    mine = sharing.in_album(visit)[uid]
    assert (mine["CameraModel"], mine["PlaceSrc"], mine["Lat"], mine["Country"]) == ("Maplecam", "", 0, "zz")


def entitle(sharing):
    """Give the known photo a title and an album that no visitor may read."""
    known, other = sharing.uids["known"], sharing.make_album("Secret")
    sharing.call("PUT", f"/photos/{known}", json={"Title": "Known to the owner alone"})
    sharing.put_in(other, "known")
    return known, other


def test_content_that_the_library_has_is_a_photo_of_the_visitor_with_nothing_of_the_other(sharing, visit):
    """Else, a visitor who has a file would read the folder, the title and the people of the photo in the library."""
    (known, other), data = entitle(sharing), sharing.pictures["known"]
    albums = sharing.call("GET", f"/photos/{known}").json["Albums"]
    mine = set()
    for token in (visit, visit, sharing.visit(sharing.link(CanUpload=True))):
        mine |= added(sharing, token, ("mine.jpg", data))
    index(sharing, later=data)  # a copy of the owner's own file
    assert len(mine) == 2  # one of each link
    seen = sharing.in_album(visit)
    assert {seen[uid]["FileName"].rpartition("/")[0] for uid in mine} == {"2024/05"}
    assert "Known to the owner alone" not in {photo["Title"] for photo in seen.values()}
    assert sharing.call("GET", f"/photos/{known}").json["Albums"] == albums
    assert list(sharing.in_album(album=other)) == [known]


def test_the_file_of_a_visitor_makes_no_later_file_of_the_owner_a_duplicate(sharing, visit):
    sent = added(sharing, visit, ("mine.jpg", picture(40)))
    (own,) = upload(sharing.api, sharing.token, "own", ("own.jpg", picture(40)))
    assert own["status"] == "added"
    assert own["PhotoUID"] not in sent
    (again,) = upload(sharing.api, sharing.token, "again", ("own.jpg", picture(40)))
    assert (again["status"], again["PhotoUID"]) == ("duplicate", own["PhotoUID"])


def test_an_edited_photo_keeps_its_edits_if_a_visitor_sends_its_former_content(sharing, visit, monkeypatch):
    monkeypatch.setattr(uploads, "wake_indexer", lambda _: Indexer.NONE)
    known = sharing.uids["known"]
    sharing.call("PUT", f"/photos/{known}", json={"Title": "Ours"})
    sharing.api.library.put("known.jpg", picture(41))
    assert sharing.add(visit, ("mine.jpg", sharing.pictures["known"])).status_code == 200
    index(sharing)
    found = [(one["UID"], one["Title"], one["Hash"]) for one in search(sharing, "name:known")]
    assert found == [(known, "Ours", sha1(picture(41)))]


@pytest.mark.parametrize("way", ["deleted by a person", "deleted on the disk"])
def test_a_file_of_a_visitor_brings_no_deleted_photo_back_which_can_be_restored_beside_it(sharing, visit, way):
    """Else, it would show what the library had written about that photo, and put it into its former albums again."""
    (known, other), originals = entitle(sharing), sharing.api.library.originals
    if way == "deleted by a person":
        sharing.call("POST", "/batch/photos/delete", json={"photos": [known]})
    else:
        (originals / "known.jpg").unlink()
        index(sharing)
    sharing.api.clock.move(minutes=1)
    (mine,) = added(sharing, visit, ("mine.jpg", sharing.pictures["known"]))
    index(sharing)
    assert mine != known
    assert "Known to the owner alone" not in {photo["Title"] for photo in sharing.in_album(visit).values()}
    assert sharing.in_album(album=other) == {}
    (stored,) = originals.glob("20*/*/*.jpg")
    stored.rename(originals / "moved.jpg")
    index(sharing)
    assert sharing.in_album().keys() == {sharing.uids["member"], mine}  # its owner's own moves are followed
    if way == "deleted by a person":
        restored = sharing.call("POST", "/trash/restore", json={"photos": [known]})
        assert restored.json["photos"] == [known]
        index(sharing)
        hash_ = sha1(sharing.pictures["known"])
        assert {one["UID"] for one in sharing.call("GET", "/photos?count=99").json if one["Hash"] == hash_} == {
            known, mine,
        }  # fmt: skip
        token = sharing.call("GET", "/photos", visit).headers["X-Preview-Token"]
        assert sharing.api.call("GET", f"/t/{hash_}/{token}/tile_100", buffered=True).status_code == 200


def test_files_of_one_name_are_not_added_in_one_transaction(sharing, visit, monkeypatch):
    """Else, all others would wait until the last of them is stored."""
    groups = []

    class Watched(Admission):
        def _admit_group(self, group, *args):
            groups.append([one.file.name for one in group])
            return super()._admit_group(group, *args)

    monkeypatch.setattr(uploads, "Admission", Watched)
    assert len(added(sharing, visit, *(("image.jpg", picture(one)) for one in (20, 21, 22)))) == 3
    assert groups == [["image.jpg"]] * 3
