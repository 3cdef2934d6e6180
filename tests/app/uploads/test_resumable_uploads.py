"""Resumable uploads by tus 1.0: every status of the protocol."""

from datetime import timedelta

import pytest

from photosvc.library.staging import Staging
from tests.helpers.api_client import check_error
from tests.helpers.clients.tus_client import cancel, create, metadata, offset_of, patch, tus
from tests.helpers.clients.upload_client import changed, open_uploads, originals, parts, picture, post, put, sha1


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("tus")) as api:
        yield api


@pytest.fixture(scope="module")
def token(api):
    return api.app_password("alice", "files")


def test_options_say_without_a_credential_what_is_served(api):
    for path in ("/uploads", "/uploads/x"):
        answer = api.call("OPTIONS", path)
        assert answer.status_code == 204
        assert {name: value for name, value in answer.headers.items() if name.startswith("Tus-")} == {
            "Tus-Resumable": "1.0.0",
            "Tus-Version": "1.0.0",
            "Tus-Extension": "creation,expiration,termination",
            "Tus-Max-Size": str(1000 << 20),
        }


def test_a_file_in_pieces_is_added_with_the_last_one(api, token):
    data = picture(1, "2022:02:03 04:05:06")
    path = create(api, token, len(data), filename="../IMG 1.jpg", filetype="image/jpeg")
    assert offset_of(api, token, path) == 0
    for start in range(0, len(data), 200):
        answer = patch(api, token, path, data[start : start + 200], start)
        assert (answer.status_code, answer.headers["Upload-Offset"]) == (204, str(min(start + 200, len(data))))
        assert "Upload-Expires" in answer.headers
    name = f"2022/02/20220203_040506_{sha1(data)[:8].upper()}.jpg"
    assert originals(api)[name] == data
    assert len(api.call("GET", f"/photos?q=hash:{sha1(data)}", api.app_password()).json) == 1
    assert parts(api) == []
    head = tus(api, token, "HEAD", path)
    assert (head.headers["Upload-Offset"], head.headers["Upload-Length"]) == (str(len(data)), str(len(data)))
    assert head.headers["Upload-Metadata"] == metadata(filename="../IMG 1.jpg", filetype="image/jpeg")
    assert patch(api, token, path, b"", len(data)).status_code == 204
    check_error(patch(api, token, path, b"x", len(data)), 409)
    cancel(api, token, path)
    assert name in originals(api)


def test_no_piece_is_refused_for_good_while_the_disk_of_the_originals_is_away(api, token):
    post(api, token, "known", ("b.jpg", picture(42)))
    put(api, token, "known")
    data = picture(41, "2022:02:03 04:05:06")
    path = create(api, token, len(data), filename="a.jpg")
    assert patch(api, token, path, data[:10], 0).status_code == 204
    root = api.library.originals
    root.rename(root.with_name("unmounted"))
    root.mkdir()
    try:
        answers = [patch(api, token, path, data[10:], 10), tus(api, token, "HEAD", path)]
        answers.append(tus(api, token, "POST", Upload_Length=9))
        assert [answer.status_code for answer in answers] == [503, 503, 503]
        assert list(root.iterdir()) == []
    finally:
        root.rmdir()
        root.with_name("unmounted").rename(root)
    assert offset_of(api, token, path) == 10
    assert patch(api, token, path, data[10:], 10).status_code == 204
    assert data in originals(api).values()


def test_files_of_a_bundle_are_added_together(api, token):
    one, two = picture(2), picture(3)
    path = create(api, token, len(one), filename="a.jpg", upload="trip")
    assert patch(api, token, path, one[:-1], 0).status_code == 204
    post(api, token, "trip", ("b.jpg", two))
    assert [file["name"] for file in put(api, token, "trip").json["files"]] == ["b.jpg"]
    assert patch(api, token, path, one[-1:], len(one) - 1).status_code == 204
    assert sha1(one) not in {sha1(data) for data in originals(api).values()}
    (file,) = put(api, token, "trip").json["files"]
    assert (file["name"], file["status"], originals(api)[file["FileName"]]) == ("a.jpg", "added", one)


def killed(*_arguments, **_options):
    raise KeyboardInterrupt


def test_a_server_that_was_killed_at_the_last_piece_adds_the_file_when_it_is_asked_where_to_go_on(
    api, token, monkeypatch
):
    for number, (moment, steps) in enumerate({
        "before the hash": ["api.resumable.store"],
        "before the name": ["api.resumable.finish"],
        "after the name": ["web.incoming.delete", "web.incoming.update"],
    }.items()):  # fmt: skip
        data = picture(40 + number)
        path = create(api, token, len(data), filename="a.jpg")
        with monkeypatch.context() as change:
            for step in steps:
                change.setattr(f"photosvc.{step}", killed)
            with pytest.raises(KeyboardInterrupt):
                patch(api, token, path, data, 0)
        assert (data in originals(api).values()) == (moment == "after the name"), moment
        assert offset_of(api, token, path) == len(data), moment
        assert data in originals(api).values(), moment
        assert len(api.call("GET", f"/photos?q=hash:{sha1(data)}", api.app_password()).json) == 1, moment
        assert parts(api) == [], moment


def test_a_complete_file_of_a_bundle_waits_although_its_last_answer_was_lost(api, token, monkeypatch):
    data = picture(43)
    path = create(api, token, len(data), filename="a.jpg", upload="lost")
    with monkeypatch.context() as change:
        change.setattr("photosvc.api.resumable.store", killed)
        with pytest.raises(KeyboardInterrupt):
            patch(api, token, path, data, 0)
    assert put(api, token, "lost").json["files"] == []
    assert offset_of(api, token, path) == len(data)
    assert [file["status"] for file in put(api, token, "lost").json["files"]] == ["added"]


def test_another_version_of_the_protocol_is_refused(api, token):
    path = create(api, token, 10)
    for method, to in (("POST", "/uploads"), ("HEAD", path), ("PATCH", path), ("DELETE", path)):
        for version in ("", "0.2.2"):
            answer = api.call(method, to, token, headers={"Tus-Resumable": version, "Upload-Length": "10"})
            assert (answer.status_code, answer.headers["Tus-Version"]) == (412, "1.0.0")
    cancel(api, token, path)


def test_pieces_of_other_types_and_uploads_that_cannot_be_are_refused(api, token):
    path = create(api, token, 10)
    answer = tus(api, token, "PATCH", path, b"abc", Upload_Offset=0, Content_Type="application/octet-stream")
    check_error(answer, 415)
    cancel(api, token, path)
    check_error(tus(api, token, "POST", Upload_Defer_Length=1), 400)
    for kind in ("partial", "final;/files/a /files/b", "x"):
        error = check_error(tus(api, token, "POST", Upload_Length=5, Upload_Concat=kind), 400)
        assert error["details"][0]["field"] == "Upload-Concat"
    with changed(api, readonly=True):
        check_error(tus(api, token, "POST", Upload_Length=5), 403)
    assert parts(api) == []


def test_what_is_no_picture_is_refused_when_it_is_complete(api, token):
    path = create(api, token, 10, filename="a.jpg")
    check_error(patch(api, token, path, b"no picture", 0), 422)
    check_error(patch(api, token, path, b"", 10), 404)
    assert parts(api) == []


def test_uploads_belong_to_their_owner_and_expire(api, token):
    path = create(api, token, 10)
    other = api.app_password("ann", "*")
    assert tus(api, other, "HEAD", path).status_code == 404
    check_error(patch(api, other, path, b"abc", 0), 404)
    check_error(tus(api, other, "DELETE", path), 404)
    check_error(tus(api, api.app_password("vera", "*"), "POST", Upload_Length=5), 403)
    check_error(tus(api, api.access_token("*"), "POST", Upload_Length=5), 403)
    check_error(patch(api, token, "/uploads/..", b"abc", 0), 404)
    api.clock.present += timedelta(days=3)
    check_error(patch(api, token, path, b"abc", 0), 410)
    assert tus(api, token, "HEAD", path).status_code == 410
    api.clock.present -= timedelta(days=3)
    cancel(api, token, path)


def test_two_requests_never_write_to_one_upload_at_once(api, token):
    path = create(api, token, 10)
    with Staging(api.library.originals).resume(path.rpartition("/")[2], most_bytes=10):
        check_error(patch(api, token, path, b"abc", 0), 423)
    cancel(api, token, path)
