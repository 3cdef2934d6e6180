"""When photos were taken: which source counts, and what a search shows of a date that is only partly known."""

import pytest

from tests.helpers.clock import NOW
from tests.helpers.library import open_library
from tests.helpers.pictures import exif, jpeg, video, xmp

SHOWN = ("TakenSrc", "TakenAt", "TakenAtLocal", "TimeZone", "Year", "Month", "Day")


def shown(library, **parameters):
    return [tuple(record[name] for name in SHOWN) for record in library.find(order="oldest", **parameters)]


@pytest.mark.slow
def test_the_date_of_the_last_change_is_an_estimate_that_gives_way_to_a_name(library):
    changed = exif({0x0132: "2019:01:02 03:04:05"}, {0x9010: "+02:00"})
    library.put("a.jpg", jpeg(exif=changed))
    library.put("PXL_20210506_070809123.jpg", jpeg(80, 48, exif=changed))
    library.index()
    assert shown(library) == [
        ("estimate", "2019-01-02T01:04:05Z", "2019-01-02T03:04:05Z", "Etc/GMT-2", 2019, 1, 2),
        ("name", "2021-05-06T07:08:09Z", "2021-05-06T07:08:09Z", "", 2021, 5, 6),
    ]


@pytest.mark.slow
def test_a_month_or_year_of_a_folder_is_an_estimate_where_the_file_is_younger(library):
    library.put("2005/08 Lake/a.jpg", jpeg(64), age=9 * 365 * 86_400)
    library.put("1998 Wedding/b.jpg", jpeg(72, exif=exif({0x0132: "2019:01:02 03:04:05"})))
    library.put("2019 Best/c.jpg", jpeg(80, exif=exif({0x0132: "2019:01:02 03:04:05"})))
    library.put("2020 Copies/d.jpg", jpeg(88), age=7 * 365 * 86_400)
    library.put("2026/e.jpg", jpeg(112), age=60)
    library.put("24.12.2008 Party.jpg", jpeg(96))
    library.put("1920x1080/IMG_1998.jpg", jpeg(104))
    library.index()
    assert [found[:3:2] + found[-3:] for found in shown(library)] == [
        ("estimate", "1998-01-01T00:00:00Z", 1998, -1, -1),
        ("estimate", "2005-08-01T00:00:00Z", 2005, 8, -1),
        ("name", "2008-12-24T00:00:00Z", 2008, 12, 24),
        ("estimate", "2019-01-02T03:04:05Z", 2019, 1, 2),
        ("", "2019-03-03T12:00:00Z", 2019, 3, 3),
        ("", "2026-03-01T11:00:00Z", -1, -1, -1),
        ("", "2026-03-01T11:59:00Z", -1, -1, -1),
    ]


@pytest.mark.slow
def test_a_sidecar_that_says_the_same_instant_in_utc_leaves_the_wall_time(library):
    library.put("a.jpg", jpeg(exif=exif({}, {0x9003: "2020:07:05 15:40:39", 0x9011: "+02:00"})))
    library.put("a.jpg.xmp", xmp(attributes='exif:DateTimeOriginal="2020-07-05T13:40:39Z"'))
    library.index()
    assert shown(library) == [
        ("meta", "2020-07-05T13:40:39Z", "2020-07-05T15:40:39Z", "Etc/GMT-2", 2020, 7, 5),
    ]


@pytest.mark.slow
def test_an_editors_date_comes_before_that_of_the_last_change(library):
    changed = exif({0x0132: "2019:01:02 03:04:05"})
    library.put("a.jpg", jpeg(exif=changed, xmp=xmp(attributes='photoshop:DateCreated="1994-07-08"')))
    library.index()
    assert shown(library) == [("meta", "1994-07-08T00:00:00Z", "1994-07-08T00:00:00Z", "", 1994, 7, 8)]


@pytest.mark.slow
def test_a_partial_date_is_shown_as_such_and_comes_first_in_its_month_or_year(library):
    for number, written in enumerate(("1954-02-03T10:00:00", "1954-02", "1954", "1953-12-31")):
        library.put(f"{number}.jpg", jpeg(64 + 8 * number, xmp=xmp(attributes=f'photoshop:DateCreated="{written}"')))
    library.index()
    assert [found[-3:] for found in shown(library)] == [(1953, 12, 31), (1954, -1, -1), (1954, 2, -1), (1954, 2, 3)]
    assert {found[0] for found in shown(library)} == {"meta"}
    assert len(shown(library, year=1954)) == 3
    assert len(shown(library, month=2)) == 2


@pytest.mark.slow
def test_the_satellite_clock_tells_utc_when_the_camera_is_on_the_time_of_another_place(library):
    rome = {1: "N", 2: [(43, 1), (28, 1), (0, 1)], 3: "E", 4: [(11, 1), (53, 1), (0, 1)]}
    clock = {7: [(16, 1), (0, 1), (0, 1)], 29: "2025:07:01"}
    library.put("a.jpg", jpeg(exif=exif({}, {0x9003: "2025:07:01 12:00:00"}, rome | clock)))
    library.index()
    assert shown(library) == [
        ("meta", "2025-07-01T16:00:00Z", "2025-07-01T12:00:00Z", "Europe/Rome", 2025, 7, 1),
    ]


@pytest.mark.parametrize(
    ("zone", "named", "utc", "local"),
    [
        ("Pacific/Auckland", "Pacific/Auckland", "2025-06-30T12:00:00Z", "2025-07-01T12:00:00Z"),
        ("America/St_Johns", "America/St_Johns", "2025-07-01T02:30:00Z", "2025-06-30T21:30:00Z"),
        ("UTC", "", "2025-07-01T00:00:00Z", "2025-07-01T00:00:00Z"),
    ],
)
def test_times_without_a_zone_are_of_the_zone_of_the_service(tmp_path, zone, named, utc, local):
    library = open_library(tmp_path, settings={"PHOTOSVC_TIMEZONE": zone})
    rome = {1: "N", 2: [(43, 1), (28, 1), (0, 1)], 3: "E", 4: [(11, 1), (53, 1), (0, 1)]}
    midnight = "2025:07:01 00:00:00"
    # Wall times.
    library.put("a-exif.jpg", jpeg(exif=exif({}, {0x9003: midnight})))
    library.put("b-changed.jpg", jpeg(72, exif=exif({0x0132: midnight})))
    library.put("IMG_20250701_000000.jpg", jpeg(80))
    # The same instant, in UTC.
    library.put("1751328000000.jpg", jpeg(88))
    library.put("c-file.jpg", jpeg(96), age=NOW.timestamp() - 1_751_328_000)
    video(library.originals / "d.mp4", tags={"creation_time": "2025-07-01T00:00:00Z"})
    # Those that tell a zone or position.
    library.put("e-offset.jpg", jpeg(104, exif=exif({}, {0x9003: midnight, 0x9011: "+05:00"})))
    library.put("f-rome.jpg", jpeg(112, exif=exif({}, {0x9003: midnight}, rome)))
    library.index()
    found = {record["FileName"]: tuple(record[name] for name in SHOWN[1:4]) for record in library.find()}
    shown_midnight = "2025-07-01T00:00:00Z"
    assert found == {
        **dict.fromkeys(["a-exif.jpg", "b-changed.jpg", "IMG_20250701_000000.jpg"], (utc, shown_midnight, named)),
        **dict.fromkeys(["1751328000000.jpg", "c-file.jpg"], (shown_midnight, local, named)),
        "d.mp4": (shown_midnight, local, zone),
        "e-offset.jpg": ("2025-06-30T19:00:00Z", shown_midnight, "Etc/GMT-5"),
        "f-rome.jpg": ("2025-06-30T22:00:00Z", shown_midnight, "Europe/Rome"),
    }
    library.close()
    moved = open_library(tmp_path, settings={"PHOTOSVC_TIMEZONE": "Asia/Tokyo"}, upgrade=False)
    moved.index(force=True)
    (record,) = moved.find(q="name:a-exif")
    assert [record[name] for name in SHOWN[1:4]] == ["2025-06-30T15:00:00Z", shown_midnight, "Asia/Tokyo"]
    moved.close()
