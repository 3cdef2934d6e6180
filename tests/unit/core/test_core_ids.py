import string
from datetime import UTC, datetime

import pytest

from photosvc.core import ids

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("prefix", [ids.PHOTO, ids.FILE, ids.ALBUM, ids.USER, ids.CLIENT, ids.MARKER])
def test_a_uid_begins_with_its_prefix_and_the_time(prefix):
    uid = ids.new_uid(prefix, NOW)
    assert ids.is_uid(uid, prefix)
    assert not ids.is_uid(uid, "x")
    assert int(uid[1:7], 36) == NOW.timestamp()


def test_a_thousand_uids_of_one_second_differ():
    assert len({ids.new_uid(ids.PHOTO, NOW) for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    "text", ["", "p", "p" + "0" * 14, "p" + "0" * 16, "P" + "0" * 15, "p" + "A" * 15, "p" + "0" * 15 + "\n"]
)
def test_other_texts_are_not_uids(text):
    assert not ids.is_uid(text, "p")


def test_a_hash_is_40_lower_case_hexadecimal_digits():
    assert ids.is_hash("0123456789abcdef" * 2 + "01234567")
    for text in ("", "0" * 39, "0" * 41, "A" * 40, "g" * 40, "0" * 40 + "\n"):
        assert not ids.is_hash(text)


def test_secrets_have_the_formats_of_the_design():
    token, password, secret = ids.new_access_token(), ids.new_app_password(), ids.new_client_secret()
    assert ids.is_access_token(token)
    assert ids.is_app_password(password)
    assert [len(group) for group in password.split("-")] == [6, 6, 6, 6]
    assert len(secret) == 32
    assert set(secret) <= set(string.ascii_letters + string.digits)
    assert not ids.is_access_token(token.upper() + "g")


def test_the_checksum_of_an_app_password_detects_each_single_wrong_character():
    password = "abcdef-ghijkl-mnopqr-stuvw"
    password += ids._check_character(password)
    assert ids.is_app_password(password)
    for place, character in enumerate(password):
        if character != "-":
            other = "Z" if character != "Z" else "Y"
            assert not ids.is_app_password(password[:place] + other + password[place + 1 :])


def test_a_digest_is_sha256_and_accepts_any_text():
    assert ids.digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert len(ids.digest("\ud800")) == 64


def test_a_computed_uid_is_always_the_same_for_a_text():
    uid = ids.computed_uid(ids.ALBUM, "folder/2023")
    assert uid == ids.computed_uid(ids.ALBUM, "folder/2023") != ids.computed_uid(ids.ALBUM, "folder/2024")
    assert ids.is_uid(uid, ids.ALBUM)
