"""Folding and words, on which the comparisons of both databases rest."""

from hypothesis import given
from hypothesis import strategies as st

from photosvc.query.fold import LONGEST_WORD, fold, words
from tests.helpers.examples import examples


def test_case_accents_and_variants_fold_away() -> None:
    for text, folded in (
        ("Ärger", "arger"),
        ("Straße", "strasse"),
        ("STRASSE", "strasse"),
        ("Øresund", "oresund"),
        ("Æsir œuvre", "aesir oeuvre"),
        ("Łódź", "lodz"),
        ("Đorđe", "dorde"),
        ("İstanbul ısı", "istanbul isi"),
        ("Ελλάς", "ελλασ"),
        ("Ёлка", "елка"),
        ("e\u0301te\u0301", "ete"),
        ("ﬁn", "fin"),
        ("Արև", "արեւ"),
        ("\ufb13\ufb14\ufb15\ufb16\ufb17", "մնմեմիվնմխ"),
        ("soft\u00adware", "software"),
        ("A\u00a0 \tB", "a b"),
        ("한국", "한국"),
    ):
        assert fold(text) == folded


def test_words_are_runs_of_letters_and_digits_and_emoji() -> None:
    for text, found in (
        ("IMG_1234.JPG", ("img", "1234", "jpg")),
        ("O'Brien’s well-known café", ("o", "brien", "s", "well", "known", "cafe")),
        ("東京タワー 2023", ("東", "京", "タ", "ワ", "ー", "2023")),
        ("हिन्दी", ("हिनदी",)),
        ("ทะเลสวย 2023", ("ทะ", "เล", "ส", "ว", "ย", "2023")),
        ("ວຽງຈັນ", ("ວຽ", "ງ", "ຈັ", "ນ")),
        ("မြန်မာ", ("မြ", "န", "မာ")),
        ("ភ្នំពេញ", ("ភ", "នំ", "ពេ", "ញ")),
        ("าx เ", ("า", "x", "เ")),
        ("・ — € *", ()),
        ("☂ rain 🎉🎉", ("☂", "rain", "🎉", "🎉")),
        ("👨\u200d👩 👍🏽 ♥\ufe0f", ("👨", "👩", "👍", "♥")),
        ("20° C", ("20", "c")),
        ("", ()),
    ):
        assert words(text) == found


def test_long_words_are_cut_and_many_words_are_limited() -> None:
    assert words("x" * 1000) == ("x" * LONGEST_WORD,)
    assert words("a b c d", limit=2) == ("a", "b")
    assert words("a b", limit=2) == ("a", "b")


@examples(400)
@given(st.text(max_size=60))
def test_folding_twice_is_folding_once_and_words_are_their_own_words(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    for word in words(text):
        assert words(word) == (word,)


@examples(200)
@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_words_of_ascii_are_split_as_those_beside_other_letters(text: str) -> None:
    assert words(f"{text} ж") == (*words(text), "ж")
