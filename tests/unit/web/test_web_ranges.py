"""Byte ranges and preconditions (RFC 9110 sections 13 and 14): exact outcomes, each trap of other parsers a case."""

from datetime import UTC, datetime
from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import Headers

from photosvc.web.files import (
    ByteRange,
    RangeNotSatisfiableError,
    check_preconditions,
    parse_range,
    range_applies,
)
from tests.helpers.examples import examples

ETAG = "0123456789abcdef"
MODIFIED = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)
BEFORE, AT, AFTER = (f"Wed, 01 May 2024 {time} GMT" for time in ("11:59:59", "12:00:00", "12:00:01"))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", (0, 1)),
        ("bytes=0-99", (0, 100)),
        ("bytes=90-", (90, 100)),
        ("bytes=90-999", (90, 100)),
        ("bytes=-10", (90, 100)),
        ("bytes=-500", (0, 100)),
        ("BYTES= 0-4\t", (0, 5)),
    ],
)
def test_a_range_is_cut_to_the_file(header, expected):
    found = parse_range(header, 100)
    assert (found.start, found.stop) == expected


def test_malformed_and_several_ranges_and_other_units_are_ignored():
    for header in (
        *(
            "items=0-1",
            "bytes",
            "bytes=",
            "bytes=,",
            "bytes=-",
            "bytes=a-b",
            "bytes=5-2",
            "bytes=0-1;5-6",
            "bytes=0--1",
        ),
        *(
            "bytes=+0-1",
            "bytes=0--1",
            "bytes=0-1 2-3",
            "bytes=\u0660-\u0661",
            "bytes=0x0-0x1",
            "bytes=" + "1" * 20 + "-",
            "",
        ),
        *("bytes=0-1,5-6", "bytes=0-1,", "bytes=200-300,400-500"),
    ):
        assert parse_range(header, 100) is None, header


def test_a_valid_range_beyond_the_file_is_not_satisfiable():
    for header, size in (("bytes=100-", 100), ("bytes=100-200", 100), ("bytes=-0", 100), ("bytes=0-0", 0)):
        with pytest.raises(RangeNotSatisfiableError):
            pytest.fail(f"{header}: {parse_range(header, size)}")


@examples(100)
@given(st.text(alphabet="bytes=0123456789-, \t;x", max_size=40))
def test_any_text_is_a_range_nothing_or_not_satisfiable(header):
    try:
        found = parse_range(header, 50)
    except RangeNotSatisfiableError:
        return
    assert found is None or 0 <= found.start < found.stop <= 50


def test_a_range_writes_its_content_range():
    assert (ByteRange(10, 20).length, ByteRange(10, 20).content_range(100)) == (10, "bytes 10-19/100")


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
