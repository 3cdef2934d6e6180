"""Resumable uploads beyond their limits: rights that are taken meanwhile, quotas, hostile headers and names."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete, update

from photosvc.models import Upload, User
from photosvc.models.engine import begin_write
from tests.app.uploads.test_resumable_uploads import create, metadata, offset_of, patch, tus
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clients.upload_client import changed, open_uploads, originals, parts, picture
from tests.helpers.examples import examples


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("limits")) as api:
        yield api


@pytest.fixture(scope="module")
def token(api):
    return api.app_password("alice", "files")


@pytest.fixture
def stored(tmp_path, new_database):
    """An API on a database of one kind and then of the other."""
    with open_api(tmp_path, database=b"", settings={"PHOTOSVC_DATABASE_URI": new_database()}) as api:
        yield api


def change(api, statement):
    with api.library.session() as session:
        begin_write(session)
        session.execute(statement.where(User.name == "alice"))


TAKEN = {
    "the role": (update(User).values(role="viewer"), 403),
    "all rights": (update(User).values(disabled=True), 401),
    "the account": (delete(User), 401),
}


@pytest.mark.parametrize("taken", TAKEN)
def test_nothing_of_an_upload_is_open_to_who_lost_the_right_meanwhile(stored, taken):
    statement, status = TAKEN[taken]
    token, data = stored.app_password("alice", "files"), picture(1)
    path = create(stored, token, len(data))
    assert patch(stored, token, path, data[:50], 0).status_code == 204
    change(stored, statement)
    check_error(patch(stored, token, path, data[50:], 50), status)
    check_error(tus(stored, token, "DELETE", path), status)
    assert tus(stored, token, "HEAD", path).status_code == status
    assert originals(stored) == {}


@pytest.mark.slow
def test_an_upload_continues_after_a_right_was_given_back(stored, monkeypatch):
    monkeypatch.setattr("photosvc.api.resumable.wake_indexer", lambda _: None)
    token, data = stored.app_password("alice", "files"), picture(2)
    path = create(stored, token, len(data))
    patch(stored, token, path, data[:50], 0)
    change(stored, update(User).values(role="viewer"))
    check_error(patch(stored, token, path, data[50:], 50), 403)
    change(stored, update(User).values(role="user"))
    assert offset_of(stored, token, path) == 50
    assert patch(stored, token, path, data[50:], 50).status_code == 204
    assert list(originals(stored).values()) == [data]


def test_a_deleted_account_leaves_no_uploads_of_its_own(stored):
    path = create(stored, stored.app_password("alice", "files"), 10)
    change(stored, delete(User))
    with stored.library.session() as session:
        assert session.query(Upload).count() == 0
    other = stored.app_password("ann", "files")
    check_error(patch(stored, other, path, b"abc", 0), 404)


def test_the_announced_length_counts_in_the_quota_until_the_upload_is_cancelled(stored):
    token, half = stored.app_password("alice", "files"), (1 << 20) // 2
    with changed(stored, upload_quota=1):
        path = create(stored, token, half + 1)
        check_error(tus(stored, token, "POST", Upload_Length=half), 507)
        create(stored, token, half - 1)
        assert tus(stored, token, "DELETE", path).status_code == 204
        create(stored, token, half)
    assert len(parts(stored)) == 2


def test_the_number_of_incomplete_uploads_of_an_account_is_limited(stored, monkeypatch):
    monkeypatch.setattr("photosvc.library.upload_albums.MOST_INCOMPLETE", 2)
    token = stored.app_password("alice", "files")
    for _ in range(2):
        create(stored, token, 10)
    check_error(tus(stored, token, "POST", Upload_Length=10), 413)
    create(stored, stored.app_password("ann", "files"), 10)
    assert len(parts(stored)) == 3


NUMBERS = [
    "-1", "-0", "+5", " 5", "5 ", "5.0", "5e0", "0x5", "5_0", "٥", "５", "²", "5,5", "", "null", "NaN", "Infinity",
    "9" * 19, "9" * 400, "18446744073709551616", "5;", "5\t5", "1 0",
]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_a_length_and_an_offset_are_digits_alone(api, token, text):
    given = text.encode().decode("latin-1")  # as servers give headers to programs
    path = create(api, token, 10)
    before = parts(api)
    length = tus(api, token, "POST", Upload_Length=given)
    piece = patch(api, token, path, b"abc", given)
    if text.strip() == "5":  # blanks around a value are no part of it (RFC 9110 section 5.5)
        assert length.status_code in {201, 400}
        assert piece.status_code in {400, 409}
    else:
        assert check_error(length, 400)["details"][0]["field"] == "Upload-Length"
        assert check_error(piece, 400)["details"][0]["field"] == "Upload-Offset"
        assert parts(api) == before
    assert offset_of(api, token, path) == 0
    assert tus(api, token, "DELETE", path).status_code == 204


@examples(50)
@given(st.integers(0, 10**18 - 1))
def test_a_length_beyond_the_largest_file_is_refused_and_keeps_no_space(api, token, length):
    before = parts(api)
    answer = tus(api, token, "POST", Upload_Length=length)
    if 0 < length <= 1000 << 20:
        assert answer.status_code in {201, 507}
    else:
        check_error(answer, 413 if length else 400)
    if answer.status_code == 201:
        assert tus(api, token, "DELETE", answer.headers["Location"].removeprefix("/api/v1")).status_code == 204
    assert parts(api) == before


@examples(50)
@given(st.integers(0, 10**18 - 1), st.binary(max_size=12))
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
    assert tus(api, token, "DELETE", path).status_code == 204


@examples(50)
@given(st.text(max_size=300))
def test_a_file_may_have_any_name_and_metadata_are_given_back_as_they_were(api, token, name):
    described = metadata(filename=name.encode(errors="ignore").decode())
    answer = tus(api, token, "POST", Upload_Length=10, Upload_Metadata=described)
    path = answer.headers["Location"].removeprefix("/api/v1")
    with api.library.session() as session:
        kept = session.query(Upload).filter_by(token=path.rpartition("/")[2]).one().name
    assert 0 < len(kept.encode()) <= 255
    assert not set(kept) & set("/\\\0\r\n:")
    assert kept not in {".", ".."}
    assert tus(api, token, "HEAD", path).headers["Upload-Metadata"] == described
    assert tus(api, token, "DELETE", path).status_code == 204


METADATA = {
    "not in Base64": "filename %%%",
    "several values": "a b c",
    "too long": "filename " + b64encode(b"x" * 2000).decode(),
    "a path as the token of an upload": metadata(upload="../x"),
    "a token that is too long": metadata(upload="x" * 201),
}


@pytest.mark.parametrize("header", METADATA.values(), ids=METADATA)
def test_metadata_that_cannot_be_read_are_refused(api, token, header):
    before = parts(api)
    error = check_error(tus(api, token, "POST", Upload_Length=5, Upload_Metadata=header), 400)
    assert error["details"][0]["field"] == "Upload-Metadata"
    assert parts(api) == before
