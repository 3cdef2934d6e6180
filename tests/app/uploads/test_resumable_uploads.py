"""Resumable uploads by tus 1.0: every status of the protocol."""

from base64 import b64encode
from datetime import timedelta
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.index.requested import wish
from photosvc.library.staging import Staging
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clients.upload_client import changed, open_uploads, originals, parts, picture, post, put, sha1
from tests.helpers.examples import examples

TYPE = "application/offset+octet-stream"


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("tus")) as api:
        yield api


@pytest.fixture(scope="module")
def token(api):
    return api.app_password("alice", "files")


def tus(api, token, method, path="/uploads", data=b"", **headers):
    given = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    answer = api.call(method, path, token, data=data, headers={"Tus-Resumable": "1.0.0", **given})
    assert answer.headers["Tus-Resumable"] == "1.0.0"
    return answer


def metadata(**values):
    return ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in values.items())


def create(api, token, length, **values):
    """The path of a new upload."""
    answer = tus(api, token, "POST", Upload_Length=length, Upload_Metadata=metadata(**values))
    assert (answer.status_code, answer.data) == (201, b"")
    return answer.headers["Location"].removeprefix("/api/v1")


def patch(api, token, path, data, offset, **headers):
    return tus(api, token, "PATCH", path, data, Upload_Offset=offset, Content_Type=TYPE, **headers)


def offset_of(api, token, path):
    answer = tus(api, token, "HEAD", path)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    return int(answer.headers["Upload-Offset"])


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
    assert tus(api, token, "DELETE", path).status_code == 204
    assert name in originals(api)


def test_a_file_whose_original_is_gone_is_added_again(api, token):
    data = picture(40, "2022:02:03 04:05:06")
    name = f"2022/02/20220203_040506_{sha1(data)[:8].upper()}.jpg"
    for _ in range(2):
        path = create(api, token, len(data), filename="a.jpg")
        assert patch(api, token, path, data, 0).status_code == 204
        assert originals(api)[name] == data
        (api.library.originals / name).unlink()


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


def test_a_piece_at_another_place_is_refused(api, token):
    path = create(api, token, 10)
    check_error(patch(api, token, path, b"x", 1), 409)
    assert patch(api, token, path, b"abc", 0).status_code == 204
    check_error(patch(api, token, path, b"abc", 0), 409)
    assert offset_of(api, token, path) == 3
    check_error(patch(api, token, path, b"12345678", 3), 413)
    assert offset_of(api, token, path) == 3
    assert tus(api, token, "DELETE", path).status_code == 204


def killed(*_arguments, **_options):
    raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["before the hash", "before the name", "after the name"])
def test_a_server_that_was_killed_at_the_last_piece_adds_the_file_when_it_is_asked_where_to_go_on(
    api, token, monkeypatch, moment
):
    data = picture(["before the hash", "before the name", "after the name"].index(moment) + 40)
    path = create(api, token, len(data), filename="a.jpg")
    with monkeypatch.context() as change:
        if moment == "before the hash":
            change.setattr("photosvc.api.resumable.store", killed)
        elif moment == "before the name":
            change.setattr("photosvc.api.resumable.finish", killed)
        else:
            change.setattr("photosvc.web.incoming.delete", killed)
            change.setattr("photosvc.web.incoming.update", killed)
        with pytest.raises(KeyboardInterrupt):
            patch(api, token, path, data, 0)
    assert (data in originals(api).values()) == (moment == "after the name")
    assert offset_of(api, token, path) == len(data)
    assert data in originals(api).values()
    assert len(api.call("GET", f"/photos?q=hash:{sha1(data)}", api.app_password()).json) == 1
    assert parts(api) == []


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


def test_who_asks_while_another_request_adds_the_file_is_told_to_ask_again(tmp_path, new_postgres, monkeypatch):
    asked, data = [], picture(62)
    with open_api(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()}) as api:
        monkeypatch.setattr("photosvc.api.resumable.wake_indexer", lambda _: None)
        token = api.app_password("alice", "files")
        path = create(api, token, len(data))

        def ask():
            asked.append(tus(api, token, "HEAD", path).status_code)
            asked.append(patch(api, token, path, b"", len(data)).status_code)

        def wish_when_placed(*given):
            thread = Thread(target=ask)
            thread.start()
            thread.join()
            return wish(*given)

        monkeypatch.setattr("photosvc.library.uploads.wish", wish_when_placed)
        assert patch(api, token, path, data, 0).status_code == 204
        assert asked == [423, 423]
        assert offset_of(api, token, path) == len(data)
        assert len(originals(api)) == 1


def test_another_version_of_the_protocol_is_refused(api, token):
    path = create(api, token, 10)
    for method, to in (("POST", "/uploads"), ("HEAD", path), ("PATCH", path), ("DELETE", path)):
        for version in ("", "0.2.2"):
            answer = api.call(method, to, token, headers={"Tus-Resumable": version, "Upload-Length": "10"})
            assert (answer.status_code, answer.headers["Tus-Version"]) == (412, "1.0.0")
    assert tus(api, token, "DELETE", path).status_code == 204


def test_pieces_of_other_types_are_refused(api, token):
    path = create(api, token, 10)
    answer = tus(api, token, "PATCH", path, b"abc", Upload_Offset=0, Content_Type="application/octet-stream")
    check_error(answer, 415)
    for offset in ("", "-1", "x", "1.0", "9" * 30):
        check_error(patch(api, token, path, b"abc", offset), 400)
    assert tus(api, token, "DELETE", path).status_code == 204


def test_uploads_that_cannot_be_are_refused(api, token):
    for length in ("", "0", "-5", "x", "1e3"):
        check_error(tus(api, token, "POST", Upload_Length=length), 400)
    check_error(tus(api, token, "POST", Upload_Defer_Length=1), 400)
    for kind in ("partial", "final;/files/a /files/b", "x"):
        error = check_error(tus(api, token, "POST", Upload_Length=5, Upload_Concat=kind), 400)
        assert error["details"][0]["field"] == "Upload-Concat"
    check_error(tus(api, token, "POST", Upload_Length=(1000 << 20) + 1), 413)
    for wrong in ("filename %%%", "a b c", metadata(upload="../x")):
        check_error(tus(api, token, "POST", Upload_Length=5, Upload_Metadata=wrong), 400)
    with changed(api, upload_quota=1):
        check_error(tus(api, token, "POST", Upload_Length=2 << 20), 507)
    with changed(api, readonly=True):
        check_error(tus(api, token, "POST", Upload_Length=5), 403)
    assert parts(api) == []


def test_what_is_no_picture_is_refused_when_it_is_complete(api, token):
    path = create(api, token, 10, filename="a.jpg")
    check_error(patch(api, token, path, b"no picture", 0), 422)
    check_error(patch(api, token, path, b"", 10), 404)
    assert parts(api) == []


def test_the_files_of_an_account_that_wait_are_limited_whatever_uploads_they_belong_to(api, monkeypatch):
    monkeypatch.setattr("photosvc.library.upload_albums.MOST_WAITING", 3)
    token, before = api.app_password("ann", "files"), parts(api)
    with changed(api, upload_files=2):
        paths = [create(api, token, 10, upload=f"bundle{number}") for number in range(3)]
        for headers in ({}, {"Upload_Metadata": metadata(upload="further")}):
            error = check_error(tus(api, token, "POST", Upload_Length=10, **headers), 413)
            assert error["error"].startswith("3 files of yours wait already")
        check_error(post(api, token, "form", ("a.jpg", b"x"), name="ann"), 413)
        assert len(parts(api)) == len(before) + 3
        other = create(api, api.app_password("alice", "files"), 10, upload="bundle0")
        assert tus(api, token, "DELETE", paths.pop()).status_code == 204
        paths.append(create(api, token, 10))
    with changed(api, upload_files=4):  # one upload may have more than all
        paths.append(create(api, token, 10, upload="bundle0"))
    for path in paths:
        tus(api, token, "DELETE", path)
    tus(api, api.app_password("alice", "files"), "DELETE", other)
    assert parts(api) == before


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
    assert tus(api, token, "DELETE", path).status_code == 204


def test_two_requests_never_write_to_one_upload_at_once(api, token):
    path = create(api, token, 10)
    with Staging(api.library.originals).resume(path.rpartition("/")[2], most_bytes=10):
        check_error(patch(api, token, path, b"abc", 0), 423)
    assert tus(api, token, "DELETE", path).status_code == 204


HEADERS = ["Upload-Length", "Upload-Offset", "Upload-Metadata", "Upload-Defer-Length"]
VALUES = st.sampled_from(["0", "5", "-1", "sha1 YWJj", "filename YQ==", "\u00ff", "9" * 40, "," * 50, " "])


@examples(30)
@given(
    st.sampled_from(["POST", "PATCH", "HEAD", "DELETE"]),
    st.dictionaries(st.sampled_from(HEADERS), VALUES),
    st.sampled_from(["/uploads", "/uploads/x", "/uploads/%00", "/uploads/" + "a" * 32]),
)
def test_whatever_headers_say_is_never_an_error_of_the_service(api, token, method, headers, path):
    headers = {"Tus-Resumable": "1.0.0", "Content-Type": TYPE, **headers}
    answer = api.call(method, path, token, data=b"abc", headers=headers)
    assert answer.status_code in {201, 204, 400, 404, 405, 409, 413}, answer.text
