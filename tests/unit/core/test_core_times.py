from datetime import UTC, datetime, timedelta

import pytest

from photosvc.core.errors import InvalidValueError
from photosvc.core.times import parse_since, parse_until
from tests.helpers.clock import NOW


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30s", NOW - timedelta(seconds=30)),
        ("90m", NOW - timedelta(minutes=90)),
        ("12h", NOW - timedelta(hours=12)),
        (" 2d ", NOW - timedelta(days=2)),
        ("1w", NOW - timedelta(weeks=1)),
        ("0d", NOW),
        ("999999w", datetime.min.replace(tzinfo=UTC)),
        ("2026-02-28", datetime(2026, 2, 28, tzinfo=UTC)),
        ("2026-02-28T12:30:00Z", datetime(2026, 2, 28, 12, 30, tzinfo=UTC)),
        ("2026-02-28t12:30z", datetime(2026, 2, 28, 12, 30, tzinfo=UTC)),
        ("2026-02-28 12:30:00+02:00", datetime(2026, 2, 28, 10, 30, tzinfo=UTC)),
    ],
)
def test_a_moment_in_the_past(text, moment):
    assert parse_since(text, NOW) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2",
        "2x",
        "-2d",
        "1.5d",
        "٢d",
        "2d2h",
        "1234567s",
        "2026-02-30",
        "2026-13-01",
        "2026-02-28T12:30:00",
        "2026-02-28T25:00:00Z",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+23:59",
        "2026-W01-1",
        "20260228",
    ],
)
def test_other_texts_are_refused_by_the_name_of_the_field(text):
    with pytest.raises(InvalidValueError) as caught:
        parse_since(text, NOW, field="--since")
    assert caught.value.field == "--since"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-02-28", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2d", NOW - timedelta(days=2)),
        ("2026-02-28T12:30:00Z", datetime(2026, 2, 28, 12, 30, tzinfo=UTC)),
    ],
)
def test_a_day_at_the_end_of_a_period_counts_as_a_whole(text, moment):
    assert parse_until(text, NOW) == moment


def test_the_last_day_of_all_ends_at_the_last_moment():
    assert parse_until("9999-12-31", NOW).year == 9999
