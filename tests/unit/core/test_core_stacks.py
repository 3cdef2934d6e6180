"""The setting that lists the kinds of stacks."""

import pytest

from photosvc.core.vocabulary import DEFAULT_KINDS, parse_kinds


def test_kinds_are_separated_by_blanks_or_commas_in_any_case():
    assert parse_kinds("live, Burst moment") == {"live", "burst", "moment"}
    assert parse_kinds("none") == frozenset()
    assert parse_kinds(DEFAULT_KINDS) == {"live", "edited", "burst", "document", "moment"}


@pytest.mark.parametrize("written", ["", " ", "all", "live,names,x"])
def test_other_words_are_refused_with_the_list(written):
    with pytest.raises(ValueError, match=r"^expected none, or some of live, edited, burst, document, moment, names$"):
        parse_kinds(written)
