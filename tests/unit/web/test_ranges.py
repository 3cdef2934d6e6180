"""Byte ranges and preconditions (RFC 9110 sections 13 and 14): exact outcomes, each trap of other parsers a case."""

from datetime import UTC, datetime
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import Headers

from photosvc.web.sending import (
    MAX_RANGES,
    Range,
    RangeNotSatisfiableError,
    check_preconditions,
    parse_ranges,
    range_applies,
)
from tests.helpers.examples import examples

ETAG = "0123456789abcdef"
MODIFIED = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)
BEFORE, AT, AFTER = (f"Wed, 01 May 2024 {time} GMT" for time in ("11:59:59", "12:00:00", "12:00:01"))


def pairs(header: str, size: int = 100) -> list[tuple[int, int]]:
    return [(found.start, found.stop) for found in parse_ranges(header, size)]


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", [(0, 1)]),
        ("bytes=0-99", [(0, 100)]),
        ("bytes=10-19", [(10, 20)]),
        ("bytes=90-", [(90, 100)]),
        ("bytes=90-999", [(90, 100)]),
        ("bytes=-10", [(90, 100)]),
        ("bytes=-500", [(0, 100)]),
        ("BYTES=0-4", [(0, 5)]),
        ("bytes=0-1,5-6", [(0, 2), (5, 7)]),
        ("bytes= 0-1 ,\t5-6", [(0, 2), (5, 7)]),
        ("bytes=0-1,,5-6", [(0, 2), (5, 7)]),
        ("bytes=50-59,0-9", [(50, 60), (0, 10)]),
        ("bytes=0-9,5-20", [(0, 21)]),
        ("bytes=0-9,10-19", [(0, 20)]),
        ("bytes=0-1,200-300", [(0, 2)]),
        ("bytes=9999999999999999999-,0-1", [(0, 2)]),
    ],
)
def test_satisfiable_ranges_are_cut_to_the_file_and_merged(header, expected):
    assert pairs(header) == expected


@pytest.mark.parametrize(
    "header",
    [
        "items=0-1",
        "bytes",
        "bytes=",
        "bytes=,",
        "bytes=-",
        "bytes=a-b",
        "bytes=5-2",
        "bytes=0-1;5-6",
        "bytes=0--1",
        "bytes=+0-1",
        "bytes=0-1 2-3",
        "bytes=٠-١",
        "bytes=0x0-0x1",
        "bytes=" + "1" * 20 + "-",
        "bytes=" + ",".join(f"{n * 10}-{n * 10 + 1}" for n in range(MAX_RANGES + 1)),
        "bytes=0-1" + " " * 600,
        "",
    ],
)
def test_what_is_malformed_or_of_another_unit_is_ignored(header):
    assert pairs(header) == []


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=200-300,400-500"])
def test_valid_ranges_beyond_the_file_are_not_satisfiable(header):
    with pytest.raises(RangeNotSatisfiableError):
        parse_ranges(header, 100)


def test_no_range_of_an_empty_file_is_satisfiable():
    with pytest.raises(RangeNotSatisfiableError):
        parse_ranges("bytes=0-0", 0)


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), min_size=1, max_size=8), st.integers(1, 100))
def test_merged_ranges_cover_exactly_the_bytes_asked_for_once(asked, size):
    valid = [(low, high) for low, high in asked if low <= high]
    header = "bytes=" + ",".join(f"{low}-{high}" for low, high in valid)
    wanted = {byte for low, high in valid for byte in range(low, min(high + 1, size))}
    if not valid:
        return
    if not wanted:
        with pytest.raises(RangeNotSatisfiableError):
            parse_ranges(header, size)
        return
    covered = [byte for found in parse_ranges(header, size) for byte in range(found.start, found.stop)]
    assert sorted(covered) == sorted(wanted)


@examples(100)
@given(st.text(alphabet="bytes=0123456789-, \t;x", max_size=40))
def test_any_text_is_ranges_nothing_or_not_satisfiable(header):
    try:
        found = parse_ranges(header, 50)
    except RangeNotSatisfiableError:
        return
    assert all(0 <= one.start < one.stop <= 50 for one in found)


def test_a_range_writes_its_content_range():
    assert (Range(10, 20).length, Range(10, 20).content_range(100)) == (10, "bytes 10-19/100")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"If-None-Match": f'"{ETAG}"'}, HTTPStatus.NOT_MODIFIED),
        ({"If-None-Match": f'W/"{ETAG}"'}, HTTPStatus.NOT_MODIFIED),
        ({"If-None-Match": f'"x", "{ETAG}"'}, HTTPStatus.NOT_MODIFIED),
        ({"If-None-Match": "*"}, HTTPStatus.NOT_MODIFIED),
        ({"If-None-Match": '"x"'}, None),
        ({"If-None-Match": '"x"', "If-Modified-Since": AFTER}, None),
        ({"If-None-Match": f'"{ETAG}"', "Range": "bytes=0-1"}, HTTPStatus.NOT_MODIFIED),
        ({"If-Modified-Since": AT}, HTTPStatus.NOT_MODIFIED),
        ({"If-Modified-Since": BEFORE}, None),
        ({"If-Modified-Since": "yesterday"}, None),
        ({"If-Match": f'"{ETAG}"'}, None),
        ({"If-Match": "*"}, None),
        ({"If-Match": f'W/"{ETAG}"'}, HTTPStatus.PRECONDITION_FAILED),
        ({"If-Match": '"x"'}, HTTPStatus.PRECONDITION_FAILED),
        ({"If-Match": f'"{ETAG}"', "If-Unmodified-Since": BEFORE}, None),
        ({"If-Unmodified-Since": BEFORE}, HTTPStatus.PRECONDITION_FAILED),
        ({"If-Unmodified-Since": AT}, None),
    ],
)
def test_preconditions_decide_in_the_order_of_section_13_2_2(headers, expected):
    assert check_preconditions(Headers(headers), ETAG, MODIFIED) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("", True),
        (f'"{ETAG}"', True),
        (f'W/"{ETAG}"', False),
        ('"x"', False),
        (AT, True),
        (BEFORE, False),
        (AFTER, False),
        ("nonsense", False),
    ],
)
def test_if_range_needs_a_strong_tag_or_the_exact_date(condition, expected):
    assert range_applies(Headers({"If-Range": condition}), ETAG, MODIFIED) is expected
