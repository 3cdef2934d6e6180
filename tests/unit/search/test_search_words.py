"""Word texts: one substring says whether a word, a beginning or a phrase is there."""

from hypothesis import given
from hypothesis import strategies as st

from photosvc.models.search_values import needles, word_text
from photosvc.query.fold import MOST_WORDS, words
from photosvc.query.nodes import Phrase, Word
from tests.databases.search.query_model import has_term
from tests.helpers.examples import examples


def test_sections_are_separate_and_occur_once():
    assert word_text(("At the LAKE", "", "Élan", "at-the lake", "!!")) == " at the lake , elan "


def test_no_words_make_an_empty_text():
    assert word_text(("", "…", "  ")) == ""


def test_a_term_is_found_as_a_substring():
    for term, found in (
        (Word("lake", prefix=False), True),
        (Word("lakes", prefix=True, forms=("lake",)), True),
        (Word("lakes", prefix=True, forms=("lak",)), False),
        (Word("lak", prefix=True), True),
        (Word("lak", prefix=False), False),
        (Word("ake", prefix=True), False),
        (Phrase(("the", "lake")), True),
        (Phrase(("the", "la"), prefix=True), True),
        (Phrase(("the", "la")), False),
        (Phrase(("lake", "elan")), False),
    ):
        assert any(one in word_text(("At the lake", "Élan")) for one in needles(term)) is found


def test_words_are_bounded():
    assert len(word_text((" ".join(map(str, range(3 * MOST_WORDS))),)).split()) <= MOST_WORDS


TEXTS = st.lists(st.text("ab Éß-_1東", max_size=12), max_size=4)
TERMS = st.lists(st.text("abe1", min_size=1, max_size=3), min_size=1, max_size=2)


@examples(100)
@given(TEXTS, TERMS, st.booleans())
def test_the_substring_says_what_the_words_say(texts, wanted, prefix):
    term = Word(wanted[0], prefix, ("e", "ab")) if len(wanted) == 1 else Phrase(tuple(wanted), prefix)
    found = any(one in word_text(texts) for one in needles(term))
    assert found == any(has_term(words(text), term) for text in texts)
