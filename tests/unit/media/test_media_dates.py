from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.media.metadata import DAY, MONTH, YEAR, WrittenDate, read_date
from photosvc.media.text import parse_date, parse_offset
from tests.helpers.examples import examples


@pytest.mark.parametrize(
    ("text", "moment", "offset"),
    [
        ("2020:01:31 12:34:56", "2020-01-31T12:34:56", None),
        ("2020:01:31 12:34:56.5+05:30", "2020-01-31T12:34:56.500", 330),
        ("2003:08:27:00:09:15", "2003-08-27T00:09:15", None), ("2020-01-31T12:34:56Z", "2020-01-31T12:34:56", 0),
        ("2020-01-31T12:34-07:00", "2020-01-31T12:34:00", -420), ("2020-01-31", "2020-01-31T00:00:00", None),
        ("20200131 123456+0100", "2020-01-31T12:34:56", 60), ("1826:01:01 00:00:00", "1826-01-01T00:00:00", None),
        ("2016:12:31 23:59:60", "2016-12-31T23:59:59", None),
    ],
)  # fmt: skip
def test_dates_are_read_as_they_are_written(text, moment, offset):
    assert parse_date(text) == (datetime.fromisoformat(moment), offset)


@pytest.mark.parametrize(
    "text",
    [
        "", "0000:00:00 00:00:00", "9999:12:31 00:00:00", "1825:12:31 00:00:00", "2020:02:30 00:00:00", "2020",
        "٢٠٢٠:٠١:٠١",
    ],
)  # fmt: skip
def test_implausible_dates_are_none(text):
    assert parse_date(text) == (None, None)


@pytest.mark.parametrize(
    ("text", "moment", "parts"),
    [
        ("1954", "1954-01-01", YEAR), ("1954:00:00 00:00:00", "1954-01-01", YEAR), ("1954-00-00", "1954-01-01", YEAR),
        ("1954:00:00:00:00:00", "1954-01-01", YEAR),
        ("19540000", "1954-01-01", YEAR), ("1954:  :     :  :  ", "1954-01-01", YEAR), ("2020-01", "2020-01-01", MONTH),
        ("2020-12-00", "2020-12-01", MONTH), ("2020:03", "2020-03-01", MONTH), ("2020-01-31", "2020-01-31", DAY),
        ("2020-01-31T12:00+01:00", "2020-01-31T12:00:00", DAY),
    ],
)  # fmt: skip
def test_partial_dates_stay_partial(text, moment, parts):
    date = read_date(text)
    assert (date.local, date.parts) == (datetime.fromisoformat(moment), parts)


@pytest.mark.parametrize(
    "text",
    ["", "0000", "9999", "2020-13", "2020-02-30", "0000:00:00 00:00:00", "  20", "123", "20201", "2020-1", "a2020"],
)
def test_texts_without_a_date_have_none(text):
    assert read_date(text) == WrittenDate()


def test_next_year_is_plausible_and_the_year_after_is_not():
    year = SYSTEM_CLOCK().year
    assert parse_date(f"{year + 1}:01:01 00:00:00")[0] is not None
    assert parse_date(f"{year + 2}:01:01 00:00:00")[0] is None


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("+14:00", 840), ("-0330", -210), ("Z", 0), ("GMT", 0), ("GMT+2", 120), ("GMT-5:30", -330), ("UTC+0545", 345),
        ("GMT+16", None), ("GMT+2:60", None), ("+2", None), ("+16:00", None), ("x", None),
    ],
)  # fmt: skip
def test_offsets_are_minutes_east(text, minutes):
    assert parse_offset(text) == minutes


@examples(200)
@given(st.text(max_size=40))
def test_any_text_gets_an_answer(text):
    moment, offset = parse_date(text, subseconds=text)
    assert moment is None or read_date(text, subseconds=text) == (moment, offset, DAY)
    assert moment is None or moment.tzinfo is None
    assert offset is None or abs(timedelta(minutes=offset)) <= timedelta(hours=15)
