"""Uploads by public links: who may add files, in whose quota, within which limits, and what the answers tell."""

from copy import copy
from threading import Thread

import pytest
from sqlalchemy import select

from photosvc.auth.throttle import Allowance
from photosvc.index.jobs import ALBUMS
from photosvc.library import links
from photosvc.library.uploads import Admission
from photosvc.models import File, Photo, Upload, UploadedFile, User
from photosvc.web import incoming, sessions
from photosvc.web.admission_gate import Cost
from photosvc.web.current import current_service
from photosvc.web.indexer import Indexer
from tests.helpers.api_client import check_error
from tests.helpers.clients.upload_client import (
    FORM,
    changed,
    form_of,
    open_uploads,
    originals,
    parts,
    picture,
    sha1,
    upload,
    used_quota,
)
from tests.helpers.pictures import clouds, encoded, exif, jpeg, xmp

pytestmark = pytest.mark.slow_on_postgresql


class Visiting:
    """A library with an album of one photo that `alice` shares by a link which takes files."""

    def __init__(self, api):
        self.api = api
        self.known, self.private, self.archived = picture(1), picture(2), picture(4)
        for name, data in (("known", self.known), ("private", self.private), ("archived", self.archived)):
            api.library.put(f"{name}.jpg", data)
        api.library.put("member.jpg", picture(3))
        api.library.index()
        self.token = api.app_password()
        self.photos = {one["Name"]: one["UID"] for one in api.call("GET", "/photos", self.token).json}
        api.call("PUT", f"/photos/{self.photos['private']}", self.token, json={"Private": True})
        api.call("POST", "/batch/photos/archive", self.token, json={"photos": [self.photos["archived"]]})
        self.album = self.make_album("Summer")
        api.call("POST", f"/albums/{self.album}/photos", self.token, json={"photos": [self.photos["member"]]})
        self.made = self.link()
        self.visit = self.open(self.made)

    def make_album(self, title, **values):
        return self.api.call("POST", "/albums", self.token, json={"Title": title, **values}).json["UID"]

    def ask_link(self, token=None, album=None, **values):
        body = {"CanUpload": True, **values}
        return self.api.call("POST", f"/albums/{album or self.album}/links", token or self.token, json=body)

    def link(self, **values):
        answer = self.ask_link(**values)
        assert answer.status_code == 200, answer.text
        return answer.json

    def change(self, token=None, link=None, **values):
        path = f"/albums/{self.album}/links/{(link or self.made)['UID']}"
        return self.api.call("PUT", path, token or self.token, json=values)

    def end(self):
        path = f"/albums/{self.album}/links/{self.made['UID']}"
        assert self.api.call("DELETE", path, self.token).status_code == 200

    def open(self, link, **values):
        return self.api.call("POST", "/session", json={"token": link["Token"], **values}).json["access_token"]

    def add(self, *files, visit=None, album=None, **options):
        path = f"/shared/{album or self.album}/photos"
        return self.api.call("POST", path, visit or self.visit, data=form_of(*files), content_type=FORM, **options)

    def in_album(self, token=None):
        answer = self.api.call("GET", f"/photos?s={self.album}&count=99", token or self.visit)
        assert answer.status_code == 200, answer.text
        return {photo["UID"] for photo in answer.json}

    def used(self, name="alice"):
        return used_quota(self.api, name)

    def waits(self):
        with self.api.library.session() as session:
            return [*session.scalars(select(Upload.name)), *parts(self.api)]


@pytest.fixture(scope="module")
def prepared(new_database, tmp_path_factory):
    """The library that `visiting` copies, with the address of its database."""
    address = new_database()
    with open_uploads(tmp_path_factory.mktemp("prepared"), settings={"PHOTOSVC_DATABASE_URI": address}) as api:
        made = Visiting(api)
    return made, address


@pytest.fixture
def visiting(prepared, copied_database, tmp_path):
    made, address = prepared
    settings = {"PHOTOSVC_DATABASE_URI": copied_database(address)}
    with open_uploads(tmp_path, like=made.api, settings=settings) as api:
        visiting = copy(made)
        visiting.api = api
        yield visiting


def test_a_visitor_adds_photos_that_the_album_shows_and_that_count_for_the_maker_of_the_link(visiting):
    before, new = visiting.in_album(), picture(9)
    answer = visiting.add(("new.jpg", new), ("words.txt", b"words"))
    assert answer.status_code == 200, answer.text
    assert (answer.json["message"], [(one["name"], one["status"]) for one in answer.json["files"]]) == (
        "1 file added", [("new.jpg", "added"), ("words.txt", "refused")],
    )  # fmt: skip
    assert len(visiting.in_album() - before) == 1
    assert visiting.used() == len(new)
    assert visiting.waits() == []


def test_a_link_takes_files_only_if_it_says_so_and_as_long(visiting):
    plain = visiting.link(CanUpload=False)
    assert (plain["CanUpload"], visiting.made["CanUpload"]) == (False, True)
    check_error(visiting.add(("new.jpg", picture(9)), visit=visiting.open(plain)), 403)
    assert visiting.change(CanUpload=False).json["CanUpload"] is False
    check_error(visiting.add(("new.jpg", picture(9))), 403)
    assert visiting.change(CanUpload=True).json["CanUpload"] is True
    check_error(visiting.add(("new.jpg", picture(9)), album=visiting.make_album("Other")), 404)
    check_error(visiting.add(("new.jpg", picture(9)), album="%00"), 404)
    with changed(visiting.api, readonly=True):
        check_error(visiting.add(("new.jpg", picture(9))), 403)
    assert len(originals(visiting.api)) == 4
    visiting.end()
    check_error(visiting.add(("new.jpg", picture(9))), 401)
    assert (len(originals(visiting.api)), visiting.waits()) == (4, [])


def test_a_link_that_may_take_no_files_is_refused_with_its_reason(visiting):
    smart = visiting.make_album("Smart", Filter="year:2024")
    check_error(visiting.ask_link(album=smart), 409)
    client = visiting.api.session_of("ann")
    refused = visiting.change(client, CanUpload=True, Comment="x")
    assert refused.status_code == 200  # it takes files already: no quota is spent in addition
    plain = visiting.link(CanUpload=False)
    check_error(visiting.change(client, plain, CanUpload=True), 400)
    assert visiting.change(link=plain, CanUpload=True).json["CanUpload"] is True


def test_an_album_that_became_smart_or_private_or_went_takes_no_files(visiting):
    path = f"/albums/{visiting.album}"
    for method, values in (("PUT", {"Private": True}), ("DELETE", None)):
        assert visiting.api.call(method, path, visiting.token, json=values).status_code == 200
        check_error(visiting.add(("new.jpg", picture(9))), 404)
        if values:
            visiting.api.call("PUT", path, visiting.token, json={"Private": False})
    assert (len(originals(visiting.api)), visiting.waits()) == (4, [])


@pytest.mark.parametrize("change", [{"Disabled": True}, {"Role": "viewer"}])
def test_a_link_takes_files_only_while_its_maker_may_upload(visiting, change):
    admin = visiting.api.session_of("ann")
    assert visiting.api.call("PUT", visiting.api.user_path("alice"), admin, json=change).status_code == 200
    check_error(visiting.add(("new.jpg", picture(9))), 401)


def test_the_quota_is_that_of_the_maker(visiting):
    with changed(visiting.api, upload_quota=1):
        check_error(visiting.add(("large.jpg", picture(9) + bytes(2 << 20))), 413)
        with visiting.api.library.session() as session:
            user = session.query(User).filter_by(name="alice").one()
            values = {"name": "x", "size": 1 << 20, "original_name": "", "created_at": visiting.api.clock()}
            session.add(UploadedFile(hash=None, user_id=user.id, **values))
            session.commit()
        check_error(visiting.add(("new.jpg", picture(9))), 507)


def test_what_ends_while_files_arrive_adds_none(visiting, monkeypatch):
    ends = {
        "ended": visiting.end,
        "changed": lambda: visiting.change(CanUpload=False),
        "password": lambda: visiting.change(Password="another"),
        "expired": lambda: visiting.api.clock.move(hours=2),
    }
    received = incoming.receive_form
    for name, end in ends.items():
        visiting.made = visiting.link(Expires=3600)
        visiting.visit = visiting.open(visiting.made)

        def receive(*given, end=end):
            files = received(*given)
            elsewhere = Thread(target=end)  # in this one, the client would act in the context of the upload
            elsewhere.start()
            elsewhere.join()
            return files

        monkeypatch.setattr(incoming, "receive_form", receive)
        answer = visiting.add(("new.jpg", picture(9)))
        assert answer.status_code in {401, 403}, (name, answer.text)
        monkeypatch.setattr(incoming, "receive_form", received)
        assert (len(originals(visiting.api)), visiting.waits()) == (4, []), name


def test_answers_do_not_tell_what_the_library_has_and_hidden_photos_are_not_pulled_in(visiting):
    new = picture(9)
    files = {"new": new, "private": visiting.private, "known": visiting.known, "archived": visiting.archived}
    shapes = []
    for name, data in files.items():
        before = visiting.used()
        for _ in range(2):
            answer = visiting.add((f"{name}.jpg", data))
            shapes.append((answer.status_code, answer.json["message"], [sorted(one) for one in answer.json["files"]]))
        assert visiting.used() == before + len(data), name
    assert shapes == [(200, "1 file added", [["hash", "name", "status"]])] * 8
    seen = visiting.in_album(visiting.api.session_of("ann"))
    assert len(seen) == len(visiting.in_album()) == 5
    assert seen & set(visiting.photos.values()) == {visiting.photos["member"]}
    private = visiting.api.call("GET", f"/photos/{visiting.photos['private']}", visiting.token).json
    assert (private["Private"], len(private["Files"])) == (True, 1)


def test_a_file_that_the_maker_uploaded_counts_again_for_visitors(visiting):
    """Else, what is left of the quota tells a visitor which files its owner has."""
    mine = picture(8)
    upload(visiting.api, visiting.token, "b", ("mine.jpg", mine))
    before = visiting.used()
    for _ in range(2):
        assert visiting.add(("mine.jpg", mine)).status_code == 200
    assert visiting.used() == before + len(mine)


def test_sidecars_of_a_visitor_change_no_photo(visiting):
    text = xmp(
        '<dc:title xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Alt><rdf:li xml:lang="x-default">Mine</rdf:li>'
        "</rdf:Alt></dc:title>"
    )
    answer = visiting.add(("known.jpg", visiting.known), ("known.jpg.xmp", text), ("known.xmp", text))
    assert [one["status"] for one in answer.json["files"]] == ["added", "refused", "refused"]
    with visiting.api.library.session() as session:
        assert session.scalar(select(Photo.title).where(Photo.uid == visiting.photos["known"])) != "Mine"
        assert sorted(session.scalars(select(File.contributed))) == [False] * 4 + [True]


def test_a_visitor_has_no_other_way_to_send_or_change_anything(visiting):
    call = visiting.api.call
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "9", "Authorization": f"Bearer {visiting.visit}"}
    check_error(call("POST", "/uploads", headers=tus), 403)
    check_error(
        call("POST", visiting.api.user_path("alice", "/upload/t"), visiting.visit, data=form_of(("a", b"a"))), 403
    )
    check_error(call("DELETE", f"/shared/{visiting.album}/photos", visiting.visit, json={"photos": ["x"]}), 403)
    check_error(call("GET", "/shared", visiting.visit), 403)
    check_error(call("GET", "/files/" + "0" * 40, visiting.visit), 403)


@pytest.mark.slow
def test_files_and_bytes_of_a_link_are_limited_in_a_day(visiting, monkeypatch):
    monkeypatch.setattr(links, "_FILES", Allowance("link-files", burst=2, seconds=100))
    for seed in (11, 12):
        assert visiting.add(("new.jpg", picture(seed))).status_code == 200
    refused = visiting.add(("new.jpg", picture(13)))
    check_error(refused, 429)
    assert 0 < int(refused.headers["Retry-After"]) <= 100
    assert visiting.add(("new.jpg", picture(13)), visit=visiting.open(visiting.link())).status_code == 200
    visiting.api.clock.move(seconds=101)
    check_error(visiting.add(("new.jpg", picture(14)), ("more.jpg", picture(15))), 429)
    assert visiting.add(("new.jpg", picture(14))).status_code == 200
    monkeypatch.setattr(links, "_MIBS", Allowance("link-other-mib", burst=2, seconds=100))
    visiting.visit = visiting.open(visiting.link())
    check_error(visiting.add(("large.jpg", picture(16) + bytes(4 << 20))), 413)
    assert visiting.add(("large.jpg", picture(16) + bytes(1 << 20))).status_code == 200
    check_error(visiting.add(("large.jpg", picture(17))), 429)
    assert visiting.waits() == []


def test_requests_of_one_address_are_limited(visiting, monkeypatch):
    monkeypatch.setattr(sessions, "_UPLOADS_BY_ADDRESS", Allowance("link-uploads", burst=2, seconds=60))
    for seed in (11, 12):
        assert visiting.add(("new.jpg", picture(seed))).status_code == 200
    check_error(visiting.add(("new.jpg", picture(13))), 429)
    elsewhere = {"address": "203.0.113.9"}
    assert visiting.add(("new.jpg", picture(13)), **elsewhere).status_code == 200


@pytest.mark.slow
def test_requests_of_all_links_of_an_account_are_limited_from_all_addresses_together(visiting, monkeypatch):
    """Each leaves a job until its files are indexed, and the jobs of the account that made the links are limited."""
    assert sessions._UPLOADS_BY_ACCOUNT.burst < ALBUMS.most_waiting
    monkeypatch.setattr(sessions, "_UPLOADS_BY_ACCOUNT", Allowance("link-requests", burst=2, seconds=60))
    visits = [visiting.visit, visiting.open(visiting.link()), visiting.open(visiting.link())]
    for host, (visit, status) in enumerate(zip(visits, (200, 200, 429), strict=True), 1):
        answer = visiting.add(("new.jpg", picture(host + 10)), visit=visit, address=f"203.0.113.{host}")
        assert answer.status_code == status, answer.text
    of_another = visiting.open(visiting.ask_link(visiting.api.session_of("ann")).json)
    assert visiting.add(("new.jpg", picture(13)), visit=of_another, address="203.0.113.3").status_code == 200


def test_the_security_log_has_the_link_its_note_and_what_came(visiting):
    visiting.change(Comment="For the wedding")
    visiting.add(("new.jpg", picture(9)), ("words.txt", b"words"))
    admin = visiting.api.session_of("ann")
    (line,) = visiting.api.call("GET", "/audit?event=link.uploaded", admin).json
    assert (line["actor"], line["target"]) == (visiting.made["UID"], visiting.made["UID"])
    assert line["detail"] == f"2 files of 0.0 MB to album {visiting.album}: For the wedding"
    changes = [one["detail"] for one in visiting.api.call("GET", "/audit?event=link.made", admin).json]
    assert changes == [f"album {visiting.album}, uploads, without end"]


def test_a_proxy_lets_visitors_send_large_bodies_only_by_links_that_take_them(visiting):
    assert visiting.api.call("GET", "/credential", visiting.visit).status_code == 204
    visiting.change(CanUpload=False)
    check_error(visiting.api.call("GET", "/credential", visiting.visit), 403)


def moment(quality):
    """A picture of another quality, taken by one camera at one time and place: an index run stacks such files."""
    gps = {1: "N", 2: [(52, 1), (31, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]}
    tags = exif({0x010F: "Maple", 0x0110: "Maplecam"}, {0x9003: "2021:07:01 10:00:00"}, gps)
    return encoded(clouds(7, 300, 200), "JPEG", quality=quality, exif=tags)


@pytest.mark.parametrize("indexed", [True, False], ids=["stored before", "stored in the same run"])
def test_a_file_of_a_visitor_never_joins_the_photo_of_others(visiting, indexed):
    """Else, a made-up file would show the other files of that photo, or change it."""
    visiting.api.library.put("outside.jpg", moment(90))
    if indexed:
        visiting.api.library.index()
    assert visiting.add(("mine.jpg", moment(91)), ("mine-too.jpg", moment(92))).status_code == 200
    visiting.api.library.index()
    visiting.api.library.put("later.jpg", moment(93))
    visiting.api.library.index()
    found = visiting.api.call("GET", "/photos?merged=true&count=99&q=camera:Maplecam", visiting.token).json
    names = sorted(sorted(file["Name"] for file in photo["Files"]) for photo in found)
    assert [len(one) for one in names if "later.jpg" in one] == [2]
    assert ["later.jpg", "outside.jpg"] in names
    assert len(names) == 3
    assert len(visiting.in_album()) == 3


def test_files_of_a_visitor_keep_their_place_until_they_are_stored(visiting, monkeypatch):
    """Else, another request could take it, and the files that had arrived would be deleted."""
    with visiting.api.library.app.app_context():
        slots = current_service().gate.places[Cost.RECEIVE]
    taken = [slots.take("somebody") for _ in range(3)]
    counted = incoming.count_files

    def count(*given):
        taken.append(slots.take("somebody"))
        counted(*given)

    monkeypatch.setattr(incoming, "count_files", count)
    answer = visiting.add(("new.jpg", picture(9)))
    for free in filter(None, taken):
        free()
    assert (answer.status_code, len(originals(visiting.api))) == (200, 5)


def test_a_visitor_is_told_that_a_picture_is_damaged(visiting):
    answer = visiting.add(("new.jpg", jpeg(300, 200)[:-900]), ("whole.jpg", picture(9))).json
    assert answer["message"] == "1 file added, 1 file stored but damaged"
    assert [(file["status"], file.get("reason")) for file in answer["files"]] == [
        ("damaged", "the picture is truncated"), ("added", None),
    ]  # fmt: skip


def test_names_of_a_visitor_s_files_cannot_be_those_of_others_files(visiting):
    """Eight digits of a hash are found by trying: a sidecar of that name would then belong to both files."""
    before, data = set(originals(visiting.api)), picture(9)
    assert visiting.add(("new.jpg", data)).status_code == 200
    (name,) = set(originals(visiting.api)) - before
    assert name == f"2024/05/20240501_120000_{sha1(data)[:16].upper()}.jpg"


def at_lake(side, minute, *, located):
    """A picture by one camera in this minute, with or without the position of the camera."""
    gps = {1: "N", 2: [(52, 1), (31, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]} if located else {}
    taken = {0x9003: f"2021:07:01 10:{minute:02}:00"}
    return jpeg(side, 200, exif=exif({0x010F: "Maple", 0x0110: "Maplecam"}, taken, gps))


def test_a_photo_of_a_visitor_changes_no_estimated_place(visiting):
    visiting.api.library.put("before.jpg", at_lake(300, 0, located=False))
    visiting.api.library.index()
    assert visiting.add(("mine.jpg", at_lake(301, 1, located=True))).status_code == 200
    visiting.api.library.index()
    found = visiting.api.call("GET", "/photos?count=99&q=camera:Maplecam", visiting.token).json
    assert {one["Name"] == "before": one["PlaceSrc"] for one in found} == {True: "", False: "meta"}
    visiting.api.library.put("located.jpg", at_lake(302, 2, located=True))
    visiting.api.library.index()
    found = visiting.api.call("GET", "/photos?count=99&q=name:before", visiting.token).json
    assert [one["PlaceSrc"] for one in found] == ["estimate"]  # by another photo of the library


def test_a_photo_of_a_visitor_is_not_told_where_the_camera_of_others_was(visiting):
    visiting.visit = visiting.open(visiting.link(ShowMetadata=True))
    visiting.api.library.put("secret.jpg", at_lake(300, 0, located=True))
    visiting.api.library.index()
    assert visiting.add(("mine.jpg", at_lake(301, 1, located=False))).status_code == 200
    visiting.api.library.index()
    found = visiting.api.call("GET", f"/photos?s={visiting.album}&count=99", visiting.visit).json
    (mine,) = (one for one in found if one["CameraModel"] == "Maplecam")
    assert (mine["PlaceSrc"], mine["Lat"], mine["Country"]) == ("", 0, "zz")


def test_content_that_the_library_has_is_a_photo_of_the_visitor_with_nothing_of_the_other(visiting):
    """Else, a visitor who has a file would read the folder, the title and the people of the photo in the library."""
    visiting.visit = visiting.open(visiting.link(ShowMetadata=True))
    known, other = visiting.photos["known"], visiting.make_album("Secret")
    visiting.api.call("PUT", f"/photos/{known}", visiting.token, json={"Title": "Known to the owner alone"})
    visiting.api.call("POST", f"/albums/{other}/photos", visiting.token, json={"photos": [known]})
    before = visiting.api.call("GET", f"/photos/{known}", visiting.token).json
    added = visiting.in_album()
    by_link = [visiting.add(("mine.jpg", visiting.known), visit=visit).json["message"]
               for visit in (visiting.visit, visiting.visit, visiting.open(visiting.link()))]  # fmt: skip
    assert by_link == ["1 file added"] * 3
    visiting.api.library.put("later.jpg", visiting.known)  # a copy of the owner's own file
    visiting.api.library.index()
    mine = visiting.in_album() - added
    assert len(mine) == 2  # one of each link
    found = visiting.api.call("GET", f"/photos?s={visiting.album}&count=99", visiting.visit).json
    names = {one["FileName"] for one in found if one["UID"] in mine}
    assert {name.rpartition("/")[0] for name in names} == {"2024/05"}
    assert {one["Title"] for one in found} & {before["Title"]} == set()
    assert visiting.api.call("GET", f"/photos/{known}", visiting.token).json["Albums"] == before["Albums"]
    assert [one["UID"] for one in visiting.api.call("GET", f"/photos?s={other}", visiting.token).json] == [known]


def test_what_a_visitor_sent_first_is_no_duplicate_of_what_its_owner_adds_later(visiting):
    data = picture(40)
    assert visiting.add(("mine.jpg", data)).status_code == 200
    sent = visiting.in_album()
    (own,) = upload(visiting.api, visiting.token, "own", ("own.jpg", data))
    assert own["status"] == "added"
    assert own["PhotoUID"] not in sent
    (again,) = upload(visiting.api, visiting.token, "again", ("own.jpg", data))
    assert (again["status"], again["PhotoUID"]) == ("duplicate", own["PhotoUID"])


def test_a_photo_that_is_edited_while_a_visitor_sends_its_former_content_keeps_what_people_entered(
    visiting, monkeypatch
):
    monkeypatch.setattr(incoming, "wake_indexer", lambda _: Indexer.NONE)
    known = visiting.photos["known"]
    visiting.api.call("PUT", f"/photos/{known}", visiting.token, json={"Title": "Ours"})
    visiting.api.library.put("known.jpg", picture(41))
    assert visiting.add(("mine.jpg", visiting.known)).status_code == 200
    visiting.api.library.index()
    found = visiting.api.call("GET", "/photos?q=name:known", visiting.token).json
    assert [(one["UID"], one["Title"], one["Hash"]) for one in found] == [(known, "Ours", sha1(picture(41)))]


@pytest.mark.parametrize("way", ["deleted by a person", "deleted on the disk"])
def test_a_file_of_a_visitor_brings_no_deleted_photo_back(visiting, way):
    """Else, it would show what the library had written about that photo, and put it into its former albums again."""
    visiting.visit = visiting.open(visiting.link(ShowMetadata=True))
    known, other = visiting.photos["known"], visiting.make_album("Secret")
    visiting.api.call("PUT", f"/photos/{known}", visiting.token, json={"Title": "Known to the owner alone"})
    visiting.api.call("POST", f"/albums/{other}/photos", visiting.token, json={"photos": [known]})
    if way == "deleted by a person":
        visiting.api.call("POST", "/batch/photos/delete", visiting.token, json={"photos": [known]})
    else:
        (visiting.api.library.originals / "known.jpg").unlink()
        visiting.api.library.index()
    visiting.api.clock.move(minutes=1)
    before = visiting.in_album()
    assert visiting.add(("mine.jpg", visiting.known)).status_code == 200
    visiting.api.library.index()
    (mine,) = visiting.in_album() - before
    found = visiting.api.call("GET", f"/photos?s={visiting.album}&count=99", visiting.visit).json
    assert mine != known
    assert "Known to the owner alone" not in {photo["Title"] for photo in found}
    assert visiting.api.call("GET", f"/photos?s={other}", visiting.token).json == []
    (stored,) = visiting.api.library.originals.glob("20*/*/*.jpg")
    stored.rename(visiting.api.library.originals / "moved.jpg")
    visiting.api.library.index()
    assert visiting.in_album() - before == {mine}  # its owner's own moves are followed


@pytest.mark.slow
def test_a_deleted_photo_and_the_one_that_a_visitor_sent_instead_are_both_there_once_it_is_restored(visiting):
    known = visiting.photos["known"]
    visiting.api.call("POST", "/batch/photos/delete", visiting.token, json={"photos": [known]})
    visiting.api.clock.move(minutes=1)
    assert visiting.add(("mine.jpg", visiting.known)).status_code == 200
    visiting.api.library.index()
    restored = visiting.api.call("POST", "/trash/restore", visiting.token, json={"photos": [known]})
    assert restored.json["photos"] == [known]
    visiting.api.library.index()
    path = f"/photos?s={visiting.album}&count=99"
    page = visiting.api.call("GET", path, visiting.visit)
    own = visiting.api.call("GET", path, visiting.token).json
    (mine,) = (one["UID"] for one in own if one["Hash"] == sha1(visiting.known))
    every = visiting.api.call("GET", "/photos?count=99", visiting.token).json
    assert {one["UID"] for one in every if one["Hash"] == sha1(visiting.known)} == {known, mine}
    thumbnail = f"/t/{sha1(visiting.known)}/{page.headers['X-Preview-Token']}/tile_100"
    with visiting.api.call("GET", thumbnail) as answer:
        assert answer.status_code == 200


def test_files_of_one_name_are_not_added_in_one_transaction(visiting, monkeypatch):
    """Else, all others would wait until the last of them is stored."""
    waited = []

    class Watched(Admission):
        def _admit_group(self, group, *args):
            waited.append([one.file.name for one in group])
            return super()._admit_group(group, *args)

    monkeypatch.setattr(incoming, "Admission", Watched)
    assert visiting.add(*(("image.jpg", picture(one)) for one in (20, 21, 22))).status_code == 200
    assert waited == [["image.jpg"]] * 3
    assert len(visiting.in_album()) == 4
