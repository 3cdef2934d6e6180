from datetime import UTC, datetime, timedelta

import pytest

from photosvc.core.problems import Problem, Reason
from photosvc.index.compose import StackedFile, merged_metadata, photo_type, primary_index, taken
from photosvc.index.extract import Extraction
from photosvc.media.metadata import Metadata

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WALL = NOW.replace(tzinfo=None)
HOUR = 3_600_000_000_000


def part(name="a.jpg", *, metadata=None, **values):
    plain = {
        "hash": "0" * 40, "size": 1, "mtime_ns": int(NOW.timestamp() * 1e9) - 100 * HOUR, "file_type": "jpg",
        "media_type": "image", "mime": "image/jpeg", "metadata": metadata or Metadata(),
    }  # fmt: skip
    return StackedFile(name, Extraction(**{**plain, **values}))


RAW, VIDEO = {"file_type": "dng", "media_type": "raw"}, {"file_type": "mov", "media_type": "video"}
BROKEN = {"problem": Problem(Reason.UNDECODABLE)}
HEIC, GIF = {"file_type": "heic"}, {"file_type": "gif", "media_type": "animated"}


@pytest.mark.parametrize(
    ("parts", "primary"),
    [
        ([RAW, {}], 1),
        ([VIDEO, HEIC], 1),
        ([HEIC, {}], 1),
        ([BROKEN, RAW], 1),
        ([BROKEN, BROKEN], 0),
        ([{"width": 10}, {"width": 20}], 1),
        ([{}, {}], 0),
        ([VIDEO], 0),
    ],
)
def test_the_file_that_every_viewer_reads_leads(parts, primary):
    assert primary_index([part(**values) for values in parts]) == primary


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([{}], "image"),
        ([{}, RAW], "raw"),
        ([VIDEO], "video"),
        ([HEIC, {**VIDEO, "duration_ns": 3_000_000_000}], "live"),
        ([{}, {**VIDEO, "duration_ns": 3_100_000_000}], "live"),
        ([{}, {**VIDEO, "duration_ns": 3_100_000_001}], "video"),
        ([{}, VIDEO], "video"),
        ([GIF, {**VIDEO, "duration_ns": 1}], "video"),
        ([GIF], "animated"),
        ([GIF, {}], "image"),
    ],
)
def test_the_type_is_the_most_telling_its_files_allow(parts, kind):
    assert photo_type([part(**values) for values in parts]) == kind


def test_the_cameras_own_file_is_believed_and_others_fill_what_it_leaves_empty():
    jpeg = part("a.jpg", metadata=Metadata(title="edited", iso=100, lat=1.0, lng=2.0, altitude=3))
    raw = part("a.dng", metadata=Metadata(iso=200, camera_make="Maker", lat=5.0, lng=6.0), **RAW)
    found = merged_metadata([jpeg, raw])
    assert (found.iso, found.camera_make, found.title, found.lat, found.lng) == (200, "Maker", "edited", 5.0, 6.0)


def test_a_time_is_taken_whole_from_one_file():
    local = WALL - timedelta(days=3)
    first = part("a.dng", metadata=Metadata(taken_local=local), **RAW)
    second = part("a.jpg", metadata=Metadata(taken_local=WALL, utc_offset=120, taken_utc=NOW))
    found = merged_metadata([first, second])
    assert (found.taken_local, found.utc_offset, found.taken_utc) == (local, None, None)


def when(metadata=None, name="a.jpg", **values):
    found = taken(metadata or Metadata(), [part(name, **values)], NOW)
    return found.at.isoformat(), found.local.isoformat(), found.zone, found.source, found.known


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
    assert taken(Metadata(), [part(mtime_ns=nanoseconds)], NOW).at.tzinfo is not None


def test_an_offset_at_the_end_of_time_does_not_overflow():
    found = taken(Metadata(taken_local=datetime.min, utc_offset=840), [part()], NOW)  # noqa: DTZ901 - wall time
    assert found.at.year == 1
