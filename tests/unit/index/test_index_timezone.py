# ruff: noqa: DTZ001, DTZ901 - wall times are naive here on purpose
import math
from datetime import UTC, datetime, timedelta
from zoneinfo import available_timezones

from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.times import to_local, to_utc
from photosvc.index.gazetteer import zone_at
from tests.helpers.examples import examples

zones = st.sampled_from(["", "UTC", "Europe/Berlin", "Pacific/Kiritimati", "Etc/GMT+12", "Nowhere/Else"])


def test_a_position_has_the_zone_of_its_land_or_sea():
    for lat, lng, zone in (
        (52.52, 13.4, "Europe/Berlin"),
        (-33.86, 151.21, "Australia/Sydney"),
        (-54.8, -68.3, "America/Argentina/Ushuaia"),
        (0, 0, "Etc/GMT"),
        (0, 180, "Etc/GMT-12"),
        (0, -180, "Etc/GMT+12"),
        (-90, 0, "Antarctica/McMurdo"),
    ):
        assert zone_at(lat, lng) == zone
        assert zone in available_timezones(), lat


def test_what_is_no_position_has_no_zone():
    for position in ((91, 0), (0, 181), (math.nan, 0), (0, math.inf), (-1e300, 1e300)):
        assert zone_at(*position) == "", position


def test_wall_time_becomes_utc():
    assert to_utc(datetime(2023, 7, 1, 12), "Europe/Berlin") == datetime(2023, 7, 1, 10, tzinfo=UTC)
    assert to_utc(datetime(2023, 1, 1, 12), "Europe/Berlin") == datetime(2023, 1, 1, 11, tzinfo=UTC)


def test_an_hour_shown_twice_is_its_first_occurrence():
    twice = datetime(2023, 10, 29, 2, 30)
    assert to_utc(twice, "Europe/Berlin") == datetime(2023, 10, 29, 0, 30, tzinfo=UTC)
    assert to_utc(twice.replace(fold=1), "Europe/Berlin") == datetime(2023, 10, 29, 0, 30, tzinfo=UTC)


def test_a_skipped_hour_moves_forward_by_the_gap():
    utc = to_utc(datetime(2023, 3, 26, 2, 30), "Europe/Berlin")
    assert utc == datetime(2023, 3, 26, 1, 30, tzinfo=UTC)
    assert to_local(utc, "Europe/Berlin") == datetime(2023, 3, 26, 3, 30)


def test_an_unknown_zone_counts_as_utc():
    for zone in ("", "Nowhere/Else", "../../etc/passwd", "/etc/passwd", "Europe", "\0", "é" * 999):
        assert to_utc(datetime(2023, 7, 1, 12), zone) == datetime(2023, 7, 1, 12, tzinfo=UTC)
        assert to_local(datetime(2023, 7, 1, 12, tzinfo=UTC), zone) == datetime(2023, 7, 1, 12), zone


def test_the_ends_of_the_calendar_are_clipped():
    assert to_utc(datetime.min, "Asia/Tokyo") == datetime.min.replace(tzinfo=UTC)
    assert to_utc(datetime.max, "America/New_York") == datetime.max.replace(tzinfo=UTC)
    assert to_local(datetime.min.replace(tzinfo=UTC), "America/New_York") == datetime.min
    assert to_local(datetime.max.replace(tzinfo=UTC), "Asia/Tokyo") == datetime.max


@examples(150)
@given(st.datetimes(), zones)
def test_any_wall_time_comes_back_from_utc_but_for_skipped_hours(local, zone):
    utc = to_utc(local, zone)
    assert utc.tzinfo is UTC
    back = to_local(utc, zone)
    assert back.tzinfo is None
    assert abs(back - local) <= (timedelta(hours=2) if 1 < local.year < 9999 else timedelta(hours=15))
