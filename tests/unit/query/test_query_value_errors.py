"""Invalid values of filters, and the messages about them."""

import pytest

from photosvc.query.filters import FILTERS
from photosvc.query.nodes import InvalidQueryError, Span
from photosvc.query.reader import read_filter

PHOTO = "pqbcf5j446s0futy"
SHA1 = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"


def message(name: str, raw: str) -> str:
    with pytest.raises(InvalidQueryError) as caught:
        read_filter(FILTERS[name], raw, Span("q", 10, 10 + len(raw)))
    assert caught.value.field == "q"
    return caught.value.message


NEAR = 'the UID of a photo, or the name of a place such as tokyo or "Paris, Texas"'
COUNTRY = "two letters, such as de, or the name of a country"


def test_errors_name_the_filter_the_place_and_the_valid_values() -> None:
    for name, raw, expected in (
        ("favorite", "maybe", 'favorite: "maybe" is not true, yes, 1, on, false, no, 0, off (character 11)'),
        ("favorite", "!true", 'favorite: "!true" is not true, yes, 1, on, false, no, 0, off (character 11)'),
        ("country", "germanyy", f'country: "germanyy" is not {COUNTRY}; did you mean "germany"? (character 11)'),
        ("iso", "much", 'iso: "much" is not a number or a range such as 100-400, 100- or <=400 (character 11)'),
        ("near", "12", f'near: "12" is not {NEAR} (character 11)'),
        ("keywords", "a*b", 'keywords: "a*b" is not words, with * only at their end (character 11)'),
        ("country", "\u202e" + "x" * 60, 'country: "�' + "x" * 38 + '…" is not ' + f"{COUNTRY} (character 11)"),
    ):  # fmt: skip
        assert message(name, raw) == expected


def test_wildcards_are_bounded_because_databases_try_them_all() -> None:
    expected = 'name: "a*a*a*a*a*a*a*a*a*" is not text with at most 8 wildcards (character 11)'
    assert message("name", "a*" * 9) == expected


def test_a_wrong_colour_hears_of_the_nearest_one() -> None:
    assert message("color", "red|blu") == (
        'color: "blu" is not black, grey, brown, gold, white, purple, blue, cyan, teal, green, lime, yellow, '
        'magenta, orange, red, pink; did you mean "blue"? (character 15)'
    )


def test_errors_of_a_wrong_month_and_state_name_the_valid_values() -> None:
    months = 'month: "jully" is not a month such as 7, july or jul, or a range such as june-august'
    assert message("month", "jully").startswith(months)
    assert message("is", "favorit").endswith('did you mean "favorite"? (character 11)')


def test_invalid_values_are_refused() -> None:
    for name, raws in (
        ("iso", ["-", "-0", "*-*", "1-2-3", "1.5", "1e3", "1234567890", "٣", "--5", "1-*-"]),
        ("alt", ["-", "--", "1,5"]),
        ("size", ["mb", "5xb", "-", "999999999tb", "5mb5"]),
        ("year", ["x", "-"]),
        ("f", ["-", ".", "1e3", "nan", "inf"]),
        ("quality", ["x", "-1-x"]),
        ("chroma", ["x"]),
        ("taken", ["2023-13", "2023-02-30", "0000", "23", "-", "*-*", "2023-05-01T25", "x", "2023-05-01-x",
                   ">9999-12-31", "<=9999", ">x", ">"]),
        ("before", ["2020-2022", "-2020"]),
        ("after", ["2020-", "yesterday"]),
        ("added", ["x", "2024-05-26T25:00:00Z", "0001-01-01T00:00:00+10:00", "9999-12-31T23:59:59-10:00", "2024-13"]),
        ("added", [">9999", ">9999-12-31T23:59:59.999999Z", "<2020", ">x", ">0", ">=nothing"]),
        ("uid", ["x", "aqbcf5j446s0futy", SHA1[1:]]),
        ("similar", ["x", SHA1]),
        ("near", ["17", "a,b,c", ",de", "…", "x" * 121, PHOTO + "@", PHOTO + "@x", PHOTO + "@-1", "aqbcf5j446s0futy"]),
        ("latlng", ["1", "1,2,3", "91,0", "0,181", "1,2,3,4,5", "1,2,3,4@5", "x,y", "nan,0"]),
        ("s2", ["x", "", "0000", "c", "4799e370ca54f000g", "08", "47a0000000000002", "4799e370ca5411111"]),
        ("olc", ["x", "CHX7W+", "8FWCHX7W", "8FWCHX7W+2", "8FWC0000+22", "8F+", "8FWCHX7A+", "X2000000+", "8FW00000+"]),
        ("lat", ["91", "x", "", "1-2"]),
        ("lng", ["-181"]),
        ("dist", ["-1", "far"]),
        ("hidden", ["2"]),
    ):  # fmt: skip
        for raw in filter(None, raws):
            assert name in message(name, raw)
