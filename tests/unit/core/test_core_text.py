"""Names like a mistyped one in hints of error messages, and digits as numbers."""

import pytest

from photosvc.core.message import did_you_mean
from photosvc.core.text import names_like, parse_digits


@pytest.mark.parametrize(
    ("typed", "known", "near"),
    [
        ("rde", ["blue", "red"], ["red"]),
        ("COUTNRY", ["count", "country"], ["country"]),
        ("germania", ["romania", "germany"], ["germany"]),
        ("fotos", ["folders", "photos"], ["photos"]),
        ("atlantis", ["albania"], []),
        ("x", ["xyz"], []),
        ("", ["a"], []),
    ],
)
def test_the_most_similar_name_is_suggested_if_it_is_similar_enough(typed, known, near):
    assert names_like(typed, known) == near


def test_several_names_may_be_suggested():
    assert names_like("sho", ["show", "shop", "list"], most=2) == ["show", "shop"]


def test_a_long_text_is_compared_by_its_beginning():
    assert names_like("x" * 100_000, ["x" * 40]) == ["x" * 40]


def test_the_hint_ends_a_sentence():
    assert did_you_mean("no album", "tittle", ["title"]) == 'no album; did you mean "title"?'
    assert did_you_mean("no album", "nothing", ["title"]) == "no album"
    assert did_you_mean("no album", "nothing", ["title"], "; try title") == "no album; try title"


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_ascii_digits_are_a_number(text, number):
    assert parse_digits(text) == number


@pytest.mark.parametrize("text", ["", "-1", "+1", " 1", "1_000", "1.0", "٣", "²", "9" * 19])
def test_other_texts_are_no_number(text):
    assert parse_digits(text) is None
