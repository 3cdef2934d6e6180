import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.text import KEYWORD, KEYWORDS, clean, keywords
from tests.support.examples import examples


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
    text = clean(written, limit)
    assert len(text) <= limit
    assert text.encode().decode() == text
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in text)
    assert clean(text, limit) == text
