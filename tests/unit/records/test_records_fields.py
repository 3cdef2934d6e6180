from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema

from photosvc.records.fields import Decimal, Timestamp
from tests.examples import examples


class Both(Schema):
    at = Timestamp()
    number = Decimal(places=2)


def dumped(**values):
    return Both().dump(values)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (None, "0001-01-01T00:00:00Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
        (datetime(987, 6, 5, 4, 3, 2, 999_999, tzinfo=UTC), "0987-06-05T04:03:02Z"),
        (datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2019-12-31T23:00:00Z"),
        (datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC), "9999-12-31T23:59:59Z"),
    ],
)
def test_a_time_is_written_in_utc_with_whole_seconds(moment, text):
    assert dumped(at=moment) == {"at": text}


@pytest.mark.parametrize(("value", "number"), [(None, 0.0), (0, 0), (2.8, 2.8), (1 / 3, 0.33), (-1.005, -1.0)])
def test_a_number_is_rounded_to_its_places(value, number):
    assert dumped(number=value) == {"number": pytest.approx(number)}


@examples(100)
@given(st.floats(-1e9, 1e9))
def test_a_number_is_close_to_what_it_was(value):
    assert abs(dumped(number=value)["number"] - value) <= 0.0051
