"""Uploads: POST sends files, PUT adds them to the originals."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from photosvc.cli.index import other_jobs_of
from photosvc.web import uploads
from photosvc.web.admission_gate import Cost
from photosvc.web.indexer import Indexer
from photosvc.web.service import current_service
from photosvc.web.transactions import WritersBusyError
from photosvc.web.uploads import add_uploads
from tests.app.index.indexing_requests import index_at_once
from tests.app.uploads.upload_client import changed, originals, parts, picture, post, put, sha1, unmounted, upload
from tests.helpers.api_client import check_error
from tests.helpers.pictures import clouds, dng, encoded, exif, jpeg, quarters, xmp


def test_a_picture_is_added_by_the_time_it_was_taken_and_found_at_once(api, token):
    data = picture(1)
    answer = post(api, token, "first", ("IMG_1.JPG", data))
    received = {"name": "IMG_1.JPG", "size": len(data), "hash": sha1(data)}
    assert answer.json == {"code": 200, "message": "1 file received", "files": [received]}
    assert len(parts(api)) == 1
    before = originals(api)
    answer = put(api, token, "first", albums=[])
    name = f"2024/05/20240501_120000_{sha1(data)[:8].upper()}.jpg"
    (found,) = api.call("GET", f"/photos?q=hash:{sha1(data)}", token).json
    (file,) = answer.json["files"]
    assert answer.json == {"code": 200, "message": "1 file added", "indexed": True, "files": [file]}
    assert file == {
        "name": "IMG_1.JPG", "status": "added", "hash": sha1(data), "token": file["token"], "FileName": name,
        "PhotoUID": found["UID"], "FileUID": found["FileUID"],
    }  # fmt: skip
    assert (originals(api), parts(api)) == ({**before, name: data}, [])
    assert put(api, token, "first").json["files"] == []


def test_a_request_waits_for_the_index_until_20_seconds_after_its_beginning(api, token, monkeypatch):
    clock, added = api.library.clock, add_uploads
    monkeypatch.setattr("photosvc.web.uploads.wake_indexer", lambda _: Indexer.RUNNING)
    for adding, total in ((0, 20), (15, 20), (25, 25)):

        def add(*given, adding=adding, **options):
            clock.move(seconds=adding)
            return added(*given, **options)

        monkeypatch.setattr("photosvc.api.uploads.add_uploads", add)
        post(api, token, "late", ("a.jpg", picture(120 + adding)))
        began = clock.seconds
        answer = put(api, token, "late")
        (file,) = answer.json["files"]
        assert (answer.json["indexed"], file["indexed"], file["status"]) == (False, False, "added"), adding
        assert clock.seconds - began == pytest.approx(total, abs=0.11), adding


def test_a_duplicate_is_answered_with_its_uid_and_not_stored_again(api, token):
    data = picture(2)
    (first,) = upload(api, token, "dup1", ("a.jpg", data))
    os.utime(api.library.originals / first["FileName"], (1_500_000_000, 1_500_000_000))
    before = originals(api)
    second, third = upload(api, token, "dup2", ("b.jpg", data), ("c.jpg", data))
    known = {"status": "duplicate", **{name: first[name] for name in ("PhotoUID", "FileName")}}
    assert {name: second[name] for name in known} == known
    assert third["status"] == "duplicate"
    assert (originals(api), parts(api)) == (before, [])


def replace_by_other(path):
    path.write_bytes(picture(99))


def lengthen(path):
    with path.open("ab") as file:
        file.write(b"x")


def change_one_byte(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("is_indexed", [True, False])
def test_an_upload_is_kept_when_the_original_with_its_content_is_gone_from_the_disk(
    api, token, monkeypatch, is_indexed
):
    if not is_indexed:
        monkeypatch.setattr("photosvc.web.uploads.wake_indexer", lambda _: Indexer.NONE)
    ways = (Path.unlink, replace_by_other, lengthen, change_one_byte)
    data = [picture(number + 10 * is_indexed) for number in range(100, 104)]

    def send():
        sent = [(f"{way.__name__}.jpg", one) for way, one in zip(ways, data, strict=True)]
        assert post(api, token, "spoilt", *sent).status_code == 200
        return put(api, token, "spoilt").json["files"]

    first = send()
    for spoil, file in zip(ways, first, strict=True):
        spoil(api.library.originals / file["FileName"])
    second = send()
    assert {file["name"]: file["status"] for file in second} == {f"{way.__name__}.jpg": "added" for way in ways}
    assert set(data) <= set(originals(api).values())
    if is_indexed:
        assert second[0]["PhotoUID"] == first[0]["PhotoUID"]
    assert {file["status"] for file in send()} == {"duplicate"}


def test_uploads_wait_while_the_disk_of_the_originals_is_away(api, token):
    for leaves_folder in (True, False):
        known, new = picture(61 + leaves_folder), picture(63 + leaves_folder)
        (first,) = upload(api, token, "away1", ("a.jpg", known))
        post(api, token, "away2", ("a.jpg", known), ("b.jpg", new))
        with unmounted(api.library, leaves_folder=leaves_folder):
            answer = put(api, token, "away2")
            check_error(answer, 503)
            assert answer.headers["Retry-After"] == "30"
            check_error(post(api, token, "away3", ("c.jpg", picture(65))), 503)
        found = {file["name"]: file for file in put(api, token, "away2").json["files"]}
        assert (found["a.jpg"]["status"], found["a.jpg"]["FileName"]) == ("duplicate", first["FileName"])
        assert found["b.jpg"]["status"] == "added"
        assert originals(api)[found["b.jpg"]["FileName"]] == new


def test_an_upload_that_is_answered_503_leaves_no_original_and_can_be_added_again(api, token, monkeypatch):
    def fails(*_, **__):
        raise WritersBusyError

    data = picture(77, "2019:09:09 09:09:09")
    assert post(api, token, "taken-back", ("a.jpg", data)).status_code == 200
    with monkeypatch.context() as broken:
        broken.setattr("photosvc.library.admission.enqueue", fails)
        assert put(api, token, "taken-back", albums=[]).status_code == 503
    assert list((api.library.originals / "2019").rglob("*.jpg")) == []
    assert put(api, token, "taken-back", albums=[]).status_code == 200
    assert [path.read_bytes() for path in (api.library.originals / "2019").rglob("*.jpg")] == [data]


def test_files_that_belong_together_keep_one_name_and_are_one_photo(api, token, tmp_path):
    raw = dng(tmp_path / "x.dng").read_bytes()
    shown = picture(3, "2023:01:02 03:04:05")
    about = xmp('<dc:title><rdf:Alt><rdf:li xml:lang="x-default">At the lake</rdf:li></rdf:Alt></dc:title>')
    given = ("IMG_7.jpg", shown), ("img_7.DNG", raw), ("IMG_7.jpg.xmp", about), ("other.xmp", about)
    found = {file["name"]: file for file in upload(api, token, "raw", *given)}
    base = found["img_7.DNG"]["FileName"].removesuffix(".dng")
    assert base.endswith(f"_{sha1(raw)[:8].upper()}")
    assert found["IMG_7.jpg"]["FileName"] == f"{base}.jpg"
    assert found["IMG_7.jpg.xmp"]["FileName"] == f"{base}.jpg.xmp"
    assert found["IMG_7.jpg"]["PhotoUID"] == found["img_7.DNG"]["PhotoUID"]
    assert (found["other.xmp"]["status"], found["other.xmp"]["code"]) == ("refused", "unrelated")
    photo = api.call("GET", f"/photos/{found['IMG_7.jpg']['PhotoUID']}", token).json
    assert photo["Title"] == "At the lake"


def test_files_of_one_name_and_format_are_photos_of_their_own_with_their_own_times(api, token):
    """Apps name every picture `image.jpg`; as one group they had one time and one long transaction."""
    pictures = [picture(40 + number, f"202{number}:01:02 03:04:05") for number in range(3)]
    about = xmp('<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Mine</rdf:li></rdf:Alt></dc:title>')
    files = upload(api, token, "alike", *(("image.jpg", data) for data in pictures), ("image.xmp", about))
    assert [file.get("FileName") for file in files] == [
        *(f"202{n}/01/202{n}0102_030405_{sha1(data)[:8].upper()}.jpg" for n, data in enumerate(pictures)),
        None,
    ]
    assert files[3]["code"] == "unrelated"  # nothing tells of which picture it is
    assert len({file["PhotoUID"] for file in files[:3]}) == 3


def test_the_content_decides_what_a_file_is(api, token):
    png = encoded(clouds(4, 32, 24), "PNG")
    given = ("a.jpg", png), ("b.exe", picture(5)), ("c.jpg", b"no picture"), ("d.jpg", b""), ("e.php", b"<?php ?>")
    found = {file["name"]: file for file in upload(api, token, "kinds", *given)}
    assert found["a.jpg"]["FileName"].endswith(".png")
    assert found["b.exe"]["FileName"].endswith(".jpg")
    assert [(found[name]["status"], found[name]["code"]) for name in ("c.jpg", "d.jpg", "e.php")] == [
        ("refused", "wrong_content"),
        ("refused", "empty"),
        ("refused", "wrong_content"),
    ]
    assert parts(api) == []


def test_photos_are_added_to_albums_by_uid_and_title_duplicates_included(api, token):
    album = api.call("POST", "/albums", token, json={"Title": "Old"}).json["UID"]
    one, two = picture(6), picture(7)
    upload(api, token, "albums1", ("1.jpg", one))
    files = upload(api, token, "albums2", ("1.jpg", one), ("2.jpg", two), albums=[album, "New"])
    uids = {file["PhotoUID"] for file in files}
    assert {photo["UID"] for photo in api.call("GET", f"/photos?s={album}&count=9", token).json} == uids
    (new,) = [found for found in api.call("GET", "/albums?count=99", token).json if found["Title"] == "New"]
    assert {photo["UID"] for photo in api.call("GET", f"/photos?s={new['UID']}&count=9", token).json} == uids
    post(api, token, "albums3", ("3.jpg", picture(8)))
    check_error(put(api, token, "albums3", albums=["atb7yo0000000000"]), 404)
    check_error(put(api, token, "albums3", albums=[1]), 400)
    narrow = api.app_password("alice", "files")
    check_error(put(api, narrow, "albums3", albums=[album]), 403)
    assert put(api, narrow, "albums3").json["files"][0]["status"] == "added"


def test_many_titles_are_looked_up_among_all_albums_at_once_and_equal_ones_are_one_album(api, token):
    titles = [f"Trip {number}" for number in range(5)]
    post(api, token, "titles", ("1.jpg", picture(61)))
    with api.library.statements() as statements:
        assert put(api, token, "titles", albums=[*titles, "TRIP 0"]).status_code == 200
    reads = [one for one in statements if "photosvc_albums.title" in one and "ORDER BY photosvc_albums.id" in one]
    assert len(reads) == 1
    made = [one["Title"] for one in api.call("GET", "/albums?count=999&q=trip", token).json]
    assert sorted(made) == titles


def test_a_photo_that_was_removed_comes_back_when_it_is_sent_again(api, token):
    data = picture(9)
    (file,) = upload(api, token, "gone1", ("a.jpg", data))
    api.call("POST", "/batch/photos/delete", token, json={"photos": [file["PhotoUID"]]})
    (again,) = upload(api, token, "gone2", ("a.jpg", data))
    assert (again["FileName"], again["PhotoUID"]) == (file["FileName"], file["PhotoUID"])


def test_uploads_need_the_right_and_stay_invisible_to_other_accounts(api, token):
    data, ann = ("a.jpg", picture(10)), api.app_password("ann", "*")
    for name, other in (("vera", api.app_password("vera", "*")), ("ann", token), ("alice", api.access_token("*"))):
        check_error(post(api, other, "no", data, name=name), 403)
        check_error(put(api, other, "no", name=name), 403)
    check_error(post(api, api.app_password("alice", "photos"), "no", data), 403)
    check_error(post(api, None, "no", data), 401)
    with changed(api, readonly=True):
        check_error(post(api, token, "no", data), 403)
        check_error(put(api, token, "no"), 403)
        assert api.call("GET", "/config", token).json["readonly"] is True
    assert parts(api) == []
    post(api, token, "same", data)
    assert put(api, ann, "same", name="ann").json["files"] == []
    assert [file["status"] for file in put(api, token, "same").json["files"]] == ["added"]


def test_too_many_and_too_large_files_are_refused_and_leave_nothing(api, token):
    two = ("a.jpg", picture(12)), ("b.jpg", picture(13))
    with changed(api, upload_files=1):
        check_error(post(api, token, "many", *two), 413)
        assert post(api, token, "many", two[0]).status_code == 200
        check_error(post(api, token, "many", two[1]), 413)
    put(api, token, "many")
    with changed(api, max_file_size=1):
        check_error(post(api, token, "large", ("a.jpg", bytes(2 << 20))), 413)
    assert parts(api) == []


def test_a_file_that_the_originals_exclude_is_refused_with_the_reason(api, token):
    rule = api.library.originals / ".ppignore"
    rule.write_text("*.png")
    try:
        post(api, token, "excluded", ("a.jpg", picture(21)), ("b.png", encoded(quarters(), "PNG")))
        files = put(api, token, "excluded").json["files"]
    finally:
        rule.unlink()
    assert [(file["status"], file.get("code")) for file in files] == [("added", None), ("refused", "excluded")]


def test_an_account_uploads_no_more_than_its_quota(api):
    token = api.app_password("ann", "*")
    data = picture(14) + bytes(600_000)
    with changed(api, upload_quota=1):
        assert post(api, token, "quota", ("a.jpg", data), name="ann").status_code == 200
        error = check_error(post(api, token, "quota", ("b.jpg", data + b"0"), name="ann"), 507)
        assert "PHOTOSVC_UPLOAD_QUOTA" in error["error"]
        assert put(api, token, "quota", name="ann").json["message"] == "1 file added"
        check_error(post(api, token, "quota", ("b.jpg", data + b"0"), name="ann"), 507)
        assert post(api, api.app_password("alice", "*"), "quota", ("b.jpg", b"x")).status_code == 200
    assert len(parts(api)) == 1
    put(api, api.app_password("alice", "*"), "quota")


def test_uploads_that_wait_for_the_index_free_their_place_and_too_many_are_refused(api, token, monkeypatch):
    with api.library.app.app_context():
        places = current_service().gate.places[Cost.RECEIVE]
    is_full = []

    def wake(service):
        is_full.append(places.are_all_taken)
        return index_at_once(service)

    monkeypatch.setattr(uploads, "wake_indexer", wake)
    assert post(api, token, "waits", ("a.jpg", picture(130))).status_code == 200
    taken = [places.take("somebody") for _ in range(3)]
    assert put(api, token, "waits").json["message"] == "1 file added"
    assert is_full == [False]
    taken.append(places.take("somebody"))
    refused = post(api, token, "busy", ("a.jpg", b"x"))
    for free in taken:
        free()
    check_error(refused, 503)
    assert refused.headers["Retry-After"] == "5"


def test_the_original_name_is_shown_found_and_returned_after_the_file_was_renamed(own):
    api, token = own, own.app_password("alice", "*")
    data, others = picture(140), picture(141)
    (file,) = upload(api, token, "names", ("folder/Grandma at home.JPG", data))
    upload(api, token, "names2", ("IMG_7.MP.jpg", others))

    def found(q):
        return [(one["UID"], one["OriginalName"]) for one in api.call("GET", f"/photos?q={q}", token).json]

    own = [(file["PhotoUID"], "Grandma at home")]
    for change in (None, "rescan", "rename"):
        if change == "rename":
            (api.library.originals / file["FileName"]).rename(api.library.originals / "renamed.jpg")
        if change:
            api.library.index(force=True)
        assert found("original:Grandma*") == found('original:"grandma at home.jpg"') == found("Grandma home") == own
        if not change:
            assert api.call("GET", f"/photos/{file['PhotoUID']}", token).json["Title"] == "Grandma At Home / 2024"
    assert api.call("GET", f"/files/{file['hash']}", token).json["OriginalName"] == "Grandma at home.JPG"
    answer = api.call("GET", f"/photos/{file['PhotoUID']}/dl?name=original", token, buffered=True)
    assert "Grandma" in answer.headers["Content-Disposition"]
    assert found("original:IMG_7*")[0][1] == "IMG_7.MP"


def test_a_damaged_file_is_told_apart_from_those_that_were_added(api, token):
    """Storing it is no success: without the index, the picture would count as added and show nothing."""
    gps = {1: "N", 2: [(52, 1), (31, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]}
    tags = exif({0x0110: "Maplecam"}, {0x9003: "2023:01:02 10:00:00"}, gps)
    whole, cut = jpeg(300, 200, exif=tags), jpeg(301, 200, exif=tags)[:-900]
    added, damaged, again = (upload(api, token, f"damaged{number}", ("a.jpg", one))[0]
                             for number, one in enumerate((whole, cut, cut)))  # fmt: skip
    assert (added["status"], damaged["status"], again["status"]) == ("added", "damaged", "duplicate")
    assert (damaged["code"], damaged["reason"]) == ("truncated", "the picture is truncated")
    assert damaged.get("PhotoUID") != added["PhotoUID"]
    post(api, token, "both", ("a.jpg", picture(131)), ("b.jpg", cut + b"0"), ("c.jpg", picture(131)[:200]))
    answer = put(api, token, "both").json
    assert answer["message"] == "1 file added, 2 files stored but damaged"
    assert [file["status"] for file in answer["files"]] == ["added", "damaged", "damaged"]


def test_addresses_of_uploads_have_a_token_of_plain_letters(api, token):
    for bundle in ("a b", "%00", "ä", "x" * 201):
        assert put(api, token, bundle).status_code == 400, bundle


def test_a_part_that_disappeared_is_reported(api, token):
    others = set(parts(api))
    post(api, token, "lost", ("a.jpg", jpeg()))
    (name,) = set(parts(api)) - others
    (api.library.originals / ".photosvc" / name).unlink()
    (file,) = put(api, token, "lost").json["files"]
    assert (file["status"], file["code"]) == ("refused", "vanished")


def test_the_sweep_deletes_uploads_after_days_and_files_that_no_upload_waits_for_after_a_day(own):
    orphan = own.library.originals / ".photosvc" / f"{'0' * 32}.kept"
    orphan.parent.mkdir()
    orphan.write_bytes(b"of a server that was killed")
    own.clock.present = datetime.fromtimestamp(orphan.stat().st_ctime, UTC)
    token = own.app_password("alice", "*")
    post(own, token, "waits", ("a.jpg", b"x"))
    (waiting,) = set(parts(own)) - {orphan.name}
    with own.library.app.app_context():
        for hours, left in ((23, {waiting, orphan.name}), (2, {waiting}), (96, set())):
            own.clock.move(hours=hours)
            other_jobs_of(current_service()).hourly()
            assert set(parts(own)) == left, hours
    assert put(own, token, "waits").json["files"] == []
