from datetime import UTC, datetime, timedelta

import pytest

from photosvc.index.describe import StackedFile, taken
from photosvc.index.extract import Extraction
from photosvc.media.metadata import Metadata

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WALL = NOW.replace(tzinfo=None)
HOUR = 3_600_000_000_000


def part(name="a.jpg", **values):
    plain = {
        "hash": "0" * 40, "size": 1, "mtime_ns": int(NOW.timestamp() * 1e9) - 100 * HOUR, "file_type": "jpg",
        "media_type": "image", "mime": "image/jpeg",
    }  # fmt: skip
    return StackedFile(name, Extraction(**{**plain, **values}))


def when(metadata=None, name="a.jpg", zone="UTC", **values):
    found = taken(metadata or Metadata(), [part(name, **values)], NOW, zone)
    return found.at.isoformat(), found.local.isoformat(), found.zone, found.source, bool(found.parts)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"taken_local": WALL}, ("2026-03-01T12:00:00", "2026-03-01T12:00:00", "", "meta")),
        ({"taken_local": WALL, "utc_offset": 120}, ("2026-03-01T10:00:00", "2026-03-01T12:00:00", "Etc/GMT-2", "meta")),
        ({"taken_local": WALL, "utc_offset": -90}, ("2026-03-01T13:30:00", "2026-03-01T12:00:00", "", "meta")),
        ({"taken_local": WALL, "utc_offset": 0}, ("2026-03-01T12:00:00", "2026-03-01T12:00:00", "UTC", "meta")),
        (
            {"taken_local": WALL, "lat": 40.7, "lng": -74.0},
            ("2026-03-01T17:00:00", "2026-03-01T12:00:00", "America/New_York", "meta"),
        ),
        (
            {"taken_utc": NOW, "lat": 40.7, "lng": -74.0},
            ("2026-03-01T12:00:00", "2026-03-01T07:00:00", "America/New_York", "meta"),
        ),
        ({"taken_utc": NOW}, ("2026-03-01T12:00:00", "2026-03-01T12:00:00", "UTC", "meta")),
        (
            {"taken_local": WALL, "taken_utc": NOW - timedelta(hours=2)},
            ("2026-03-01T10:00:00", "2026-03-01T12:00:00", "", "meta"),
        ),
    ],
)
def test_metadata_tells_the_time(fields, expected):
    at, local, zone, source = expected
    assert when(Metadata(**fields)) == (f"{at}+00:00", f"{local}+00:00", zone, source, True)


def test_a_name_tells_the_time_when_metadata_do_not():
    assert when(name="2020-01-31/IMG_20190203_040506.jpg")[:4:3] == ("2019-02-03T04:05:06+00:00", "name")
    assert when(name="2020-01-31/party.jpg")[0] == "2020-01-31T00:00:00+00:00"


def test_the_files_own_time_is_a_guess_that_counts_only_when_old():
    assert when()[3:] == ("", True)
    assert when(mtime_ns=int(NOW.timestamp() * 1e9) - 24 * HOUR)[3:] == ("", False)
    assert when(mtime_ns=int(NOW.timestamp() * 1e9) - 25 * HOUR)[3:] == ("", True)


@pytest.mark.parametrize("nanoseconds", [2**62, -(2**62), 2**63 - 1])
def test_no_file_time_is_too_strange(nanoseconds):
    assert taken(Metadata(), [part(mtime_ns=nanoseconds)], NOW, "UTC").at.tzinfo is not None


def test_an_offset_at_the_end_of_time_does_not_overflow():
    found = taken(Metadata(taken_local=datetime.min, utc_offset=840), [part()], NOW, "UTC")  # noqa: DTZ901 - wall time
    assert found.at.year == 1


def test_the_last_change_comes_after_the_name_and_before_the_time_of_the_file():
    changed = Metadata(modified_local=WALL - timedelta(days=9), modified_offset=120)
    assert when(changed) == ("2026-02-20T10:00:00+00:00", "2026-02-20T12:00:00+00:00", "Etc/GMT-2", "estimate", True)
    assert when(changed, "IMG_20190203_040506.jpg")[1::2] == ("2019-02-03T04:05:06+00:00", "name")
    assert when(Metadata(modified_local=WALL, taken_local=WALL - timedelta(days=1)))[3] == "meta"


def test_a_partial_date_stays_partial():
    found = taken(Metadata(taken_local=datetime.fromisoformat("1954-01-01"), date_parts=1), [part()], NOW, "UTC")
    assert (found.local.isoformat(), found.source, found.parts) == ("1954-01-01T00:00:00+00:00", "meta", 1)


@pytest.mark.parametrize(
    ("fields", "at", "zone"),
    [
        # Rome is two hours ahead of UTC in summer: the camera was left on the time of New York.
        ({}, "2025-07-01T10:00:00", "Europe/Rome"),
        ({"taken_utc": "2025-07-01T16:00:00"}, "2025-07-01T16:00:00", "Europe/Rome"),
        ({"taken_utc": "2025-07-01T10:14:59"}, "2025-07-01T10:00:00", "Europe/Rome"),
        ({"taken_utc": "2025-07-01T10:15:00"}, "2025-07-01T10:15:00", "Europe/Rome"),
        ({"taken_utc": "2025-07-01T10:00:00", "utc_offset": -240}, "2025-07-01T10:00:00", "Europe/Rome"),
    ],
)
def test_the_satellite_clock_tells_utc_and_the_camera_the_wall_time(fields, at, zone):
    if "taken_utc" in fields:
        fields = fields | {"taken_utc": datetime.fromisoformat(fields["taken_utc"]).replace(tzinfo=UTC)}
    local = datetime.fromisoformat("2025-07-01T12:00")
    found = when(Metadata(taken_local=local, lat=43.467, lng=11.885, **fields))
    assert found == (f"{at}+00:00", "2025-07-01T12:00:00+00:00", zone, "meta", True)
