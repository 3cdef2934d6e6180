"""Resumable uploads by tus 1.0: every status of the protocol, rights and limits, and hostile headers and names."""

from base64 import b64encode
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, update

from photosvc.library.staging import Staging
from photosvc.models import Upload, User
from photosvc.models.engine import begin_write
from tests.app.uploads.tus_client import TYPE, cancel, create, metadata, offset_of, patch, path_of, tus
from tests.app.uploads.upload_client import changed, originals, parts, picture, post, put, sha1, unmounted
from tests.helpers.api_client import check_error
from tests.helpers.examples import examples

LARGEST = 1000 << 20


@pytest.fixture(scope="module")
def token(api):
    return api.app_password("alice", "files")


def test_options_names_the_protocol_without_a_credential(api):
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
    post(api, token, "known", ("b.jpg", picture(52)))
    put(api, token, "known")
    data = picture(51, "2022:02:03 04:05:06")
    path = create(api, token, len(data), filename="a.jpg")
    assert patch(api, token, path, data[:10], 0).status_code == 204
    with unmounted(api.library):
        answers = [patch(api, token, path, data[10:], 10), tus(api, token, "HEAD", path)]
        answers.append(tus(api, token, "POST", Upload_Length=9))
        assert [answer.status_code for answer in answers] == [503, 503, 503]
    assert offset_of(api, token, path) == 10
    assert patch(api, token, path, data[10:], 10).status_code == 204
    assert data in originals(api).values()


def test_files_of_a_bundle_are_added_together_also_when_the_last_answer_of_one_was_lost(api, token, monkeypatch):
    one, two, three = picture(2), picture(3), picture(43)
    path = create(api, token, len(one), filename="a.jpg", upload="trip")
    assert patch(api, token, path, one[:-1], 0).status_code == 204
    lost = create(api, token, len(three), filename="c.jpg", upload="trip")
    with monkeypatch.context() as change, pytest.raises(KeyboardInterrupt):
        change.setattr("photosvc.api.resumable.store", killed)
        patch(api, token, lost, three, 0)
    post(api, token, "trip", ("b.jpg", two))
    assert [file["name"] for file in put(api, token, "trip").json["files"]] == ["b.jpg"]
    assert patch(api, token, path, one[-1:], len(one) - 1).status_code == 204
    assert offset_of(api, token, lost) == len(three)
    assert not {one, three} & set(originals(api).values())
    files = {file["name"]: file for file in put(api, token, "trip").json["files"]}
    assert {name: (file["status"], originals(api)[file["FileName"]]) for name, file in files.items()} == {
        "a.jpg": ("added", one), "c.jpg": ("added", three),
    }  # fmt: skip


def killed(*_arguments, **_options):
    raise KeyboardInterrupt


def test_a_server_killed_at_the_last_piece_adds_the_file_at_the_next_request_for_the_offset(api, token, monkeypatch):
    for number, (moment, steps) in enumerate({
        "before the hash": ["api.resumable.store"],
        "before the name": ["api.resumable.finish"],
        "after the name": ["web.uploads.delete", "web.uploads.update"],
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


def test_another_version_of_the_protocol_is_refused(api, token):
    path = create(api, token, 10)
    for method, to in (("POST", "/uploads"), ("HEAD", path), ("PATCH", path), ("DELETE", path)):
        for version in ("", "0.2.2"):
            answer = api.call(method, to, token, headers={"Tus-Resumable": version, "Upload-Length": "10"})
            assert (answer.status_code, answer.headers["Tus-Version"]) == (412, "1.0.0")
    cancel(api, token, path)


def test_pieces_of_other_types_and_uploads_that_cannot_be_are_refused(api, token):
    path = create(api, token, 10, filename="a.jpg")
    check_error(patch(api, token, path, b"no picture", 0), 422)
    check_error(patch(api, token, path, b"", 10), 404)
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


def test_an_upload_is_closed_while_its_account_lacks_the_right(own):
    def change(statement):
        with own.library.session() as session:
            begin_write(session)
            session.execute(statement.where(User.name == "alice"))

    for seed, (taken, status) in enumerate((
        (update(User).values(role="viewer"), 403), (update(User).values(disabled=True), 401), (delete(User), 401),
    )):  # fmt: skip
        token, data, before = own.app_password("alice", "files"), picture(seed), originals(own)
        path = create(own, token, len(data))
        assert patch(own, token, path, data[:50], 0).status_code == 204
        change(taken)
        for answer in (patch(own, token, path, data[50:], 50), tus(own, token, "DELETE", path)):
            assert answer.status_code == status, taken
            check_error(answer, status)
        assert tus(own, token, "HEAD", path).status_code == status, taken
        assert originals(own) == before, taken
        if status == 403:
            change(update(User).values(role="user"))
            assert offset_of(own, token, path) == 50
            assert patch(own, token, path, data[50:], 50).status_code == 204
            assert data in originals(own).values()
        change(update(User).values(disabled=False))


def test_the_length_and_number_of_incomplete_uploads_of_an_account_are_limited(own, monkeypatch):
    token, half = own.app_password("alice", "files"), (1 << 20) // 2
    with changed(own, upload_quota=1):
        path = create(own, token, half + 1)
        check_error(tus(own, token, "POST", Upload_Length=half), 507)
        create(own, token, half - 1)
        cancel(own, token, path)
        create(own, token, half)
    monkeypatch.setattr("photosvc.library.upload_queue.MOST_INCOMPLETE", 2)
    check_error(tus(own, token, "POST", Upload_Length=10), 413)
    create(own, own.app_password("ann", "files"), 10)
    assert len(parts(own)) == 3


def test_the_files_of_an_account_that_wait_are_limited_whatever_uploads_they_belong_to(own, monkeypatch):
    monkeypatch.setattr("photosvc.library.upload_queue.MOST_WAITING", 3)
    token = own.app_password("ann", "files")
    with changed(own, upload_files=2):
        paths = [create(own, token, 10, upload=f"bundle{number}") for number in range(3)]
        for headers in ({}, {"Upload_Metadata": metadata(upload="further")}):
            error = check_error(tus(own, token, "POST", Upload_Length=10, **headers), 413)
            assert error["error"].startswith("3 files of yours wait already")
        check_error(post(own, token, "form", ("a.jpg", b"x"), name="ann"), 413)
        assert len(parts(own)) == 3
        create(own, own.app_password("alice", "files"), 10, upload="bundle0")
        cancel(own, token, paths.pop())
        create(own, token, 10)
    with changed(own, upload_files=4):  # one upload may have more than all
        create(own, token, 10, upload="bundle0")


NUMBERS = [
    "-1", "-0", "+5", " 5", "5 ", "5.0", "5e0", "0x5", "5_0", "٥", "５", "²", "5,5", "", "null", "NaN", "Infinity",
    "9" * 19, "9" * 400, "18446744073709551616", "5;", "5\t5", "1 0",
]  # fmt: skip


def test_a_length_and_an_offset_are_digits_alone(api, token):
    path = create(api, token, 10)
    before = parts(api)
    for text in NUMBERS:
        given = text.encode().decode("latin-1")  # as servers give headers to programs
        length = tus(api, token, "POST", Upload_Length=given)
        piece = patch(api, token, path, b"abc", given)
        if text.strip() == "5":  # blanks around a value are no part of it (RFC 9110 section 5.5)
            assert (length.status_code in {201, 400}, piece.status_code in {400, 409}) == (True, True), text
            if length.status_code == 201:
                cancel(api, token, path_of(length))
            continue
        for answer, field in ((length, "Upload-Length"), (piece, "Upload-Offset")):
            assert answer.status_code == 400, text
            assert check_error(answer, 400)["details"][0]["field"] == field, text
        assert (parts(api), offset_of(api, token, path)) == (before, 0), text
    cancel(api, token, path)


@examples(1000, everyday=30)
@given(st.one_of(st.integers(0, 10**18 - 1), st.integers(0, LARGEST), st.integers(LARGEST - 1, LARGEST + 2)))
def test_a_length_beyond_the_largest_file_is_refused_and_keeps_no_space(api, token, length):
    before = parts(api)
    answer = tus(api, token, "POST", Upload_Length=length)
    if 0 < length <= LARGEST:
        assert answer.status_code in {201, 507}
    else:
        check_error(answer, 413 if length else 400)
    if answer.status_code == 201:
        cancel(api, token, path_of(answer))
    assert parts(api) == before


@examples(1000, everyday=30)
@given(st.one_of(st.just(3), st.integers(0, 10**18 - 1)), st.binary(max_size=12))
def test_a_piece_is_stored_only_where_the_upload_ends_and_within_its_length(api, token, offset, data):
    path = create(api, token, 10)
    assert patch(api, token, path, b"abc", 0).status_code == 204
    answer = patch(api, token, path, data, offset)
    fits = offset == 3 and len(data) <= 6
    if offset != 3:
        check_error(answer, 409)
    elif len(data) > 7:
        check_error(answer, 413)
    elif fits:
        assert answer.status_code == 204
    else:
        check_error(answer, 422)  # complete, and no picture
        return
    assert offset_of(api, token, path) == 3 + (len(data) if fits else 0)
    cancel(api, token, path)


@examples(1000, everyday=30)
@given(st.text(max_size=300))
def test_a_file_may_have_any_name_and_metadata_are_returned_unchanged(api, token, name):
    described = metadata(filename=name.encode(errors="ignore").decode())
    path = path_of(tus(api, token, "POST", Upload_Length=10, Upload_Metadata=described))
    with api.library.session() as session:
        kept = session.query(Upload).filter_by(token=path.rpartition("/")[2]).one().name
    assert 0 < len(kept.encode()) <= 255
    assert not set(kept) & set("/\\\0\r\n:")
    assert kept not in {".", ".."}
    assert tus(api, token, "HEAD", path).headers["Upload-Metadata"] == described
    cancel(api, token, path)


def test_metadata_that_cannot_be_read_are_refused(api, token):
    before = parts(api)
    for described in (
        "filename %%%", "a b c", "filename " + b64encode(b"x" * 2000).decode(), metadata(upload="../x"),
        metadata(upload="x" * 201),
    ):  # fmt: skip
        answer = tus(api, token, "POST", Upload_Length=5, Upload_Metadata=described)
        assert answer.status_code == 400, described
        assert check_error(answer, 400)["details"][0]["field"] == "Upload-Metadata", described
        assert parts(api) == before, described


HEADERS = ["Upload-Length", "Upload-Offset", "Upload-Metadata", "Upload-Defer-Length"]
VALUES = st.sampled_from(["0", "5", "-1", "sha1 YWJj", "filename YQ==", "\u00ff", "9" * 40, "," * 50, " "])


@examples(1000, everyday=30)
@given(
    st.sampled_from(["POST", "PATCH", "HEAD", "DELETE"]),
    st.dictionaries(st.sampled_from(HEADERS), VALUES),
    st.sampled_from(["/uploads", "/uploads/x", "/uploads/%00", "/uploads/" + "a" * 32]),
)
def test_whatever_headers_say_is_never_an_error_of_the_service(api, token, method, headers, path):
    headers = {"Tus-Resumable": "1.0.0", "Content-Type": TYPE, **headers}
    answer = api.call(method, path, token, data=b"abc", headers=headers)
    assert answer.status_code in {201, 204, 400, 404, 405, 409, 413}, answer.text
    if answer.status_code == 201:
        cancel(api, token, path_of(answer))
