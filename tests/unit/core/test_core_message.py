"""Numbers and their nouns in sentences."""

import pytest

from photosvc.core.message import agreeing, counted


@pytest.mark.parametrize(
    ("number", "many", "sentence"),
    [(0, "", "0 entries of mine"), (1, "", "1 entry"), (2000, "entries of mine", "2,000 entries of mine")],
)
def test_a_number_comes_with_the_form_of_its_word(number, many, sentence):
    assert counted(number, "entry", many or "entries of mine") == sentence


def test_a_usual_plural_has_an_s():
    assert [counted(number, "file") for number in (1, 2)] == ["1 file", "2 files"]


def test_a_word_follows_its_number():
    assert [agreeing(number, "is", "are") for number in (0, 1, 2)] == ["are", "is", "are"]
