"""Resumable uploads beyond their limits: rights that are taken meanwhile, quotas, hostile headers and names."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, update

from photosvc.models import Upload, User
from photosvc.models.engine import begin_write
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clients.tus_client import TYPE, cancel, create, metadata, offset_of, patch, path_of, tus
from tests.helpers.clients.upload_client import changed, open_uploads, originals, parts, picture, post
from tests.helpers.examples import examples

LARGEST = 1000 << 20


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("limits")) as api:
        yield api


@pytest.fixture(scope="module")
def token(api):
    return api.app_password("alice", "files")


@pytest.fixture
def own(tmp_path, monkeypatch):
    """An API of the test alone."""
    monkeypatch.setattr("photosvc.api.resumable.wake_indexer", lambda _: None)
    with open_api(tmp_path) as api:
        yield api


def test_nothing_of_an_upload_is_open_to_who_lost_the_right_until_it_is_given_back(own):
    def change(statement):
        with own.library.session() as session:
            begin_write(session)
            session.execute(statement.where(User.name == "alice"))

    token, data = own.app_password("alice", "files"), picture(1)
    path = create(own, token, len(data))
    assert patch(own, token, path, data[:50], 0).status_code == 204
    for taken, status in (
        (update(User).values(role="viewer"), 403), (update(User).values(disabled=True), 401), (delete(User), 401),
    ):  # fmt: skip
        change(taken)
        for answer in (patch(own, token, path, data[50:], 50), tus(own, token, "DELETE", path)):
            assert answer.status_code == status, taken
            check_error(answer, status)
        assert tus(own, token, "HEAD", path).status_code == status, taken
        assert originals(own) == {}, taken
        change(update(User).values(role="user", disabled=False))
        if status == 403:
            assert offset_of(own, token, path) == 50
    with own.library.session() as session:
        assert session.query(Upload).count() == 0


def test_an_upload_continues_after_a_right_was_given_back(own):
    token, data = own.app_password("alice", "files"), picture(2)
    path = create(own, token, len(data))
    patch(own, token, path, data[:50], 0)
    for role, status in (("viewer", 403), ("user", 204)):
        with own.library.session() as session:
            session.execute(update(User).where(User.name == "alice").values(role=role))
        assert patch(own, token, path, data[50:], 50).status_code == status
    assert list(originals(own).values()) == [data]


def test_the_length_and_number_of_incomplete_uploads_of_an_account_are_limited(own, monkeypatch):
    token, half = own.app_password("alice", "files"), (1 << 20) // 2
    with changed(own, upload_quota=1):
        path = create(own, token, half + 1)
        check_error(tus(own, token, "POST", Upload_Length=half), 507)
        create(own, token, half - 1)
        cancel(own, token, path)
        create(own, token, half)
    monkeypatch.setattr("photosvc.library.upload_albums.MOST_INCOMPLETE", 2)
    check_error(tus(own, token, "POST", Upload_Length=10), 413)
    create(own, own.app_password("ann", "files"), 10)
    assert len(parts(own)) == 3


def test_the_files_of_an_account_that_wait_are_limited_whatever_uploads_they_belong_to(own, monkeypatch):
    monkeypatch.setattr("photosvc.library.upload_albums.MOST_WAITING", 3)
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
def test_a_file_may_have_any_name_and_metadata_are_given_back_as_they_were(api, token, name):
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
