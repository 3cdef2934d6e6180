"""Sources of values, and the kinds of stacks."""

import pytest

from photosvc.core.vocabulary import AUTO, DEFAULT_KINDS, MANUAL, META, NAME, XMP, gives_way, parse_kinds


@pytest.mark.parametrize(
    ("current", "new", "replaced"),
    [
        (AUTO, NAME, True),
        (NAME, META, True),
        (META, META, True),
        (META, XMP, True),
        (XMP, META, False),
        (MANUAL, XMP, False),
        (MANUAL, MANUAL, True),
        ("unheard-of", NAME, False),
        ("unheard-of", META, True),
        (XMP, "unheard-of", False),
    ],
)
def test_a_value_gives_way_to_a_source_of_equal_or_higher_priority(current, new, replaced):
    assert gives_way(current, new) is replaced


def test_kinds_are_separated_by_blanks_or_commas_in_any_case():
    assert parse_kinds("live, Burst moment") == {"live", "burst", "moment"}
    assert parse_kinds("none") == frozenset()
    assert parse_kinds(DEFAULT_KINDS) == {"live", "edited", "burst", "document", "moment"}


@pytest.mark.parametrize("written", ["", " ", "all", "live,names,x"])
def test_other_words_are_refused_with_the_list(written):
    with pytest.raises(ValueError, match=r"^expected none, or some of live, edited, burst, document, moment, names$"):
        parse_kinds(written)
