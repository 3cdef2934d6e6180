"""Which source of a metadata value replaces which."""

import pytest

from photosvc.core.vocabulary import AUTO, MANUAL, META, NAME, XMP, gives_way


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
