"""The clock, and moments at the first and the last one."""

from datetime import UTC, datetime, timedelta

import pytest

from photosvc.core.times import shifted

FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("at", "hours", "then"),
    [
        (datetime(2020, 1, 1, tzinfo=UTC), 36, datetime(2020, 1, 2, 12, tzinfo=UTC)),
        (datetime(2020, 1, 2, tzinfo=UTC), -24, datetime(2020, 1, 1, tzinfo=UTC)),
        (FIRST, -1, FIRST),
        (LAST, 1, LAST),
        (FIRST, 1, datetime(1, 1, 1, 1, tzinfo=UTC)),
    ],
)
def test_moments_are_shifted_up_to_the_first_and_the_last_one(at, hours, then):
    assert shifted(at, timedelta(hours=hours)) == then
