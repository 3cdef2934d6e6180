import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.text import clean, clean_text, keywords
from photosvc.records.limits import KEYWORD, KEYWORDS
from tests.helpers.examples import examples


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (b"Canon EOS RP\0\0\0", "Canon EOS RP"),
        (b"kept\0dropped", "kept"),
        ("kept\0dropped", "kept"),
        ("a\r\nSet-Cookie: b", "a Set-Cookie: b"),
        ("tab\tbell\x07 esc\x1b[31m", "tab bell esc [31m"),
        ("photo\u202egpj.exe", "photogpj.exe"),
        ("\u2066isolated\u2069\ufeff", "isolated"),
        ("Cafe\u0301", "Caf\u00e9"),
        (b"Caf\xe9", "Caf\u00e9"),
        ("Caf\u00e9".encode(), "Caf\u00e9"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
        ("   ", ""),
    ],
)
def test_texts_come_out_clean(written, read):
    assert clean(written) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("one\r\n\r\ntwo\rthree\nfour", "one\n\ntwo\nthree\nfour"),
        ("\x85one\u2028two\u2029three\x0bfour\x0cfive\x85", "one\ntwo\nthree\nfour\nfive"),
        (" \n\tone  two\n\t- three\xa0!\n ", "one  two\n\t- three\xa0!"),
        ("bell\x07 esc\x1b[31m del\x7f \x9bcsi", "bell esc[31m del csi"),
        ("photo\u202egpj.exe Cafe\u0301 \ud800", "photogpj.exe Caf\u00e9"),
        (b"Caf\xe9\rau lait\0dropped", "Caf\u00e9\nau lait"),
    ],
)
def test_texts_of_several_lines_keep_them(written, read):
    assert clean_text(written) == read


def test_long_texts_are_clipped():
    assert clean("x" * 1_000_000) == "x" * 255
    assert clean(b"\xc3\xa9" * 1_000_000, 3) == "\u00e9\u00e9\u00e9"


def test_keywords_are_distinct_clipped_and_at_most_256():
    assert keywords(["Sea", "sea ", "Sun"]) == ("Sea", "Sun")
    assert keywords(["Sea, sun; Sand"], split=True) == ("Sea", "sun", "Sand")
    assert keywords(["Sea, sun"]) == ("Sea, sun",)
    assert len(keywords(str(number) for number in range(1000))) == KEYWORDS == 256
    assert keywords(["y" * 100, "x" * 300]) == ("y" * 100, "x" * KEYWORD)


@examples(300)
@given(st.one_of(st.text(), st.binary()), st.integers(1, 300))
def test_any_text_is_storable_and_cleaning_it_again_changes_nothing(written, limit):
    for cleaner, controls in ((clean, ""), (clean_text, "\n\t")):
        text = cleaner(written, limit)
        assert len(text) <= limit
        assert text.encode().decode() == text
        assert not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in text if one not in controls)
        assert cleaner(text, limit) == text
