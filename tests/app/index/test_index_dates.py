"""Dates of photos: which source counts, and what a search shows of a date that is only partly known."""

from tests.helpers.clock import NOW
from tests.helpers.library import open_library
from tests.helpers.pictures import exif, jpeg, video, xmp

SHOWN = ("TakenSrc", "TakenAt", "TakenAtLocal", "TimeZone", "Year", "Month", "Day")
CHANGED = exif({0x0132: "2019:01:02 03:04:05"})
ROME = {1: "N", 2: [(43, 1), (28, 1), (0, 1)], 3: "E", 4: [(11, 1), (53, 1), (0, 1)]}


def test_the_source_of_a_date_is_the_camera_an_editor_a_name_the_last_change_or_a_folder(library):
    year = 365 * 86_400
    library.put("changed.jpg", jpeg(exif=exif({0x0132: "2019:01:02 03:04:05"}, {0x9010: "+02:00"})))
    library.put("PXL_20210506_070809123.jpg", jpeg(80, 48, exif=CHANGED))
    library.put("editor.jpg", jpeg(81, exif=CHANGED, xmp=xmp(attributes='photoshop:DateCreated="1994-07-08"')))
    library.put("2005/08 Lake/a.jpg", jpeg(64), age=9 * year)
    library.put("1998 Wedding/b.jpg", jpeg(72, exif=CHANGED))
    library.put("2019 Best/c.jpg", jpeg(82, exif=CHANGED))
    library.put("2020 Copies/d.jpg", jpeg(88), age=7 * year)
    library.put("2026/e.jpg", jpeg(112), age=60)
    library.put("24.12.2008 Party.jpg", jpeg(96))
    library.put("1920x1080/IMG_1998.jpg", jpeg(104))
    library.put("utc.jpg", jpeg(exif=exif({}, {0x9003: "2020:07:05 15:40:39", 0x9011: "+02:00"})))
    library.put("utc.jpg.xmp", xmp(attributes='exif:DateTimeOriginal="2020-07-05T13:40:39Z"'))
    satellites = {7: [(16, 1), (0, 1), (0, 1)], 29: "2025:07:01"}
    library.put("satellites.jpg", jpeg(exif=exif({}, {0x9003: "2025:07:01 12:00:00"}, ROME | satellites)))
    for number, written in enumerate(("1954-02-03T10:00:00", "1954-02", "1954", "1953-12-31")):
        library.put(f"{number}.jpg", jpeg(164 + number, xmp=xmp(attributes=f'photoshop:DateCreated="{written}"')))
    library.index()
    found = {record["FileName"]: tuple(record[name] for name in SHOWN) for record in library.find()}
    assert found == {
        "changed.jpg": ("estimate", "2019-01-02T01:04:05Z", "2019-01-02T03:04:05Z", "Etc/GMT-2", 2019, 1, 2),
        "PXL_20210506_070809123.jpg": ("name", *["2021-05-06T07:08:09Z"] * 2, "", 2021, 5, 6),
        "editor.jpg": ("meta", *["1994-07-08T00:00:00Z"] * 2, "", 1994, 7, 8),
        "2005/08 Lake/a.jpg": ("estimate", *["2005-08-01T00:00:00Z"] * 2, "", 2005, 8, -1),
        "1998 Wedding/b.jpg": ("estimate", *["1998-01-01T00:00:00Z"] * 2, "", 1998, -1, -1),
        "2019 Best/c.jpg": ("estimate", *["2019-01-02T03:04:05Z"] * 2, "", 2019, 1, 2),
        "2020 Copies/d.jpg": ("", *["2019-03-03T12:00:00Z"] * 2, "", 2019, 3, 3),
        "2026/e.jpg": ("", *["2026-03-01T11:59:00Z"] * 2, "", -1, -1, -1),
        "24.12.2008 Party.jpg": ("name", *["2008-12-24T00:00:00Z"] * 2, "", 2008, 12, 24),
        "1920x1080/IMG_1998.jpg": ("", *["2026-03-01T11:00:00Z"] * 2, "", -1, -1, -1),
        "utc.jpg": ("meta", "2020-07-05T13:40:39Z", "2020-07-05T15:40:39Z", "Etc/GMT-2", 2020, 7, 5),
        "satellites.jpg": ("meta", "2025-07-01T16:00:00Z", "2025-07-01T12:00:00Z", "Europe/Rome", 2025, 7, 1),
        "0.jpg": ("meta", *["1954-02-03T10:00:00Z"] * 2, "", 1954, 2, 3),
        "1.jpg": ("meta", *["1954-02-01T00:00:00Z"] * 2, "", 1954, 2, -1),
        "2.jpg": ("meta", *["1954-01-01T00:00:00Z"] * 2, "", 1954, -1, -1),
        "3.jpg": ("meta", *["1953-12-31T00:00:00Z"] * 2, "", 1953, 12, 31),
    }
    oldest = [record["FileName"] for record in library.find(order="oldest", count=4)]
    assert oldest == ["3.jpg", "2.jpg", "1.jpg", "0.jpg"]
    assert library.names(year=1954) == ["0.jpg", "1.jpg", "2.jpg"]
    assert library.names(month=2) == ["0.jpg", "1.jpg"]


def test_times_without_a_zone_are_of_the_zone_of_the_service(tmp_path):
    midnight, shown_midnight = "2025:07:01 00:00:00", "2025-07-01T00:00:00Z"
    for zone, named, utc, local in (
        ("Pacific/Auckland", "Pacific/Auckland", "2025-06-30T12:00:00Z", "2025-07-01T12:00:00Z"),
        ("America/St_Johns", "America/St_Johns", "2025-07-01T02:30:00Z", "2025-06-30T21:30:00Z"),
        ("UTC", "", "2025-07-01T00:00:00Z", "2025-07-01T00:00:00Z"),
    ):
        library = open_library(tmp_path / zone, settings={"PHOTOSVC_TIMEZONE": zone})
        # Wall times.
        library.put("a-exif.jpg", jpeg(exif=exif({}, {0x9003: midnight})))
        library.put("b-changed.jpg", jpeg(72, exif=exif({0x0132: midnight})))
        library.put("IMG_20250701_000000.jpg", jpeg(80))
        # The same instant, in UTC.
        library.put("1751328000000.jpg", jpeg(88))
        library.put("c-file.jpg", jpeg(96), age=NOW.timestamp() - 1_751_328_000)
        video(library.originals / "d.mp4", tags={"creation_time": "2025-07-01T00:00:00Z"})
        # With a zone or position.
        library.put("e-offset.jpg", jpeg(104, exif=exif({}, {0x9003: midnight, 0x9011: "+05:00"})))
        library.put("f-rome.jpg", jpeg(112, exif=exif({}, {0x9003: midnight}, ROME)))
        library.index()
        found = {record["FileName"]: tuple(record[name] for name in SHOWN[1:4]) for record in library.find()}
        assert found == {
            **dict.fromkeys(["a-exif.jpg", "b-changed.jpg", "IMG_20250701_000000.jpg"], (utc, shown_midnight, named)),
            **dict.fromkeys(["1751328000000.jpg", "c-file.jpg"], (shown_midnight, local, named)),
            "d.mp4": (shown_midnight, local, zone),
            "e-offset.jpg": ("2025-06-30T19:00:00Z", shown_midnight, "Etc/GMT-5"),
            "f-rome.jpg": ("2025-06-30T22:00:00Z", shown_midnight, "Europe/Rome"),
        }, zone
        library.close()
    moved = open_library(tmp_path / "UTC", settings={"PHOTOSVC_TIMEZONE": "Asia/Tokyo"}, upgrade=False)
    moved.index(force=True)
    (record,) = moved.find(q="name:a-exif")
    assert [record[name] for name in SHOWN[1:4]] == ["2025-06-30T15:00:00Z", shown_midnight, "Asia/Tokyo"]
    moved.close()
