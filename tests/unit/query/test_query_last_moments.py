"""Comparisons of days, moments and sizes at the end of their ranges."""

from datetime import UTC, datetime

from photosvc.query.nodes import Since
from tests.helpers.parsing import parse_query


def test_after_a_moment_or_period_begins_at_the_first_moment_behind_it() -> None:
    for text, moment in (
        ("added:>2023-01-01T10:00:00Z", datetime(2023, 1, 1, 10, 0, 0, 1, tzinfo=UTC)),
        ("updated:>2023", datetime(2024, 1, 1, tzinfo=UTC)),
        ("edited:>2023-02", datetime(2023, 3, 1, tzinfo=UTC)),
    ):
        assert parse_query(text).value == Since(moment)
