"""A photo described by its files: which one leads, its type, its time and its title."""

from datetime import UTC, datetime, timedelta

from photosvc.core.problems import Problem, Reason
from photosvc.index.describe import StackedFile, make_title, merged_metadata, photo_type, primary_index, taken
from photosvc.index.extract import Extraction
from photosvc.media.metadata import Metadata

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WALL = NOW.replace(tzinfo=None)
HOUR = 3_600_000_000_000
RAW, VIDEO = {"file_type": "dng", "media_type": "raw"}, {"file_type": "mov", "media_type": "video"}
HEIC, GIF = {"file_type": "heic"}, {"file_type": "gif", "media_type": "animated"}
BROKEN = {"problem": Problem(Reason.UNDECODABLE)}
IDENTIFIED = Metadata(content_id="A")
NOTHING = Metadata()


def part(name="a.jpg", *, metadata=NOTHING, **values):
    plain = {
        "hash": "0" * 40, "size": 1, "mtime_ns": int(NOW.timestamp() * 1e9) - 100 * HOUR, "file_type": "jpg",
        "media_type": "image", "mime": "image/jpeg", "metadata": metadata,
    }  # fmt: skip
    return StackedFile(name, Extraction(**{**plain, **values}))


def when(metadata=NOTHING, name="a.jpg", zone="UTC", **values):
    found = taken(metadata, [part(name, **values)], NOW, zone)
    return found.at.isoformat(), found.local.isoformat(), found.zone, found.source, bool(found.parts)


def test_the_file_that_every_viewer_reads_leads():
    for parts, primary in (
        ([RAW, {}], 1), ([VIDEO, HEIC], 1), ([HEIC, {}], 1), ([BROKEN, RAW], 1), ([BROKEN, BROKEN], 0),
        ([{"width": 10}, {"width": 20}], 1), ([{}, {}], 0), ([VIDEO], 0),
    ):  # fmt: skip
        assert primary_index([part(**values) for values in parts]) == primary, parts
    frames = [part(f"IMG_1_BURST00{number}{cover}.jpg") for number, cover in ((1, ""), (2, "_COVER"), (3, ""))]
    assert primary_index(frames) == 1


def test_the_type_is_the_most_telling_its_files_allow():
    for parts, kind in (
        ([{}], "image"),
        ([{}, RAW], "raw"),
        ([VIDEO], "video"),
        ([HEIC, {**VIDEO, "duration_ns": 3_000_000_000}], "live"),
        ([{}, {**VIDEO, "duration_ns": 3_100_000_000}], "live"),
        ([{}, {**VIDEO, "duration_ns": 3_100_000_001}], "image"),
        ([{}, VIDEO], "image"),
        ([{"metadata": IDENTIFIED}, {**VIDEO, "duration_ns": 9 * 10**9, "metadata": IDENTIFIED}], "live"),
        ([{"metadata": IDENTIFIED}, {**VIDEO, "duration_ns": 9 * 10**9}], "image"),
        ([GIF, {**VIDEO, "duration_ns": 1}], "video"),
        ([GIF], "animated"),
        ([GIF, {}], "image"),
    ):
        assert photo_type([part(**values) for values in parts]) == kind, parts


def test_the_cameras_own_file_is_believed_and_others_fill_what_it_leaves_empty():
    jpeg = part("a.jpg", metadata=Metadata(title="edited", iso=100, lat=1.0, lng=2.0, altitude=3))
    raw = part("a.dng", metadata=Metadata(iso=200, camera_make="Maker", lat=5.0, lng=6.0), **RAW)
    found = merged_metadata([jpeg, raw])
    assert (found.iso, found.camera_make, found.title, found.lat, found.lng) == (200, "Maker", "edited", 5.0, 6.0)
    copy = part("a-edited.heic", metadata=Metadata(iso=1, title="edited"), **HEIC)
    found = merged_metadata([copy, part("a.jpg", metadata=Metadata(iso=100))])
    assert (found.iso, found.title) == (100, "edited")
    local = WALL - timedelta(days=3)  # a time is taken whole from one file
    first = part("a.dng", metadata=Metadata(taken_local=local), **RAW)
    second = part("a.jpg", metadata=Metadata(taken_local=WALL, utc_offset=120, taken_utc=NOW))
    found = merged_metadata([first, second])
    assert (found.taken_local, found.utc_offset, found.taken_utc) == (local, None, None)


def test_metadata_tells_the_time():
    new_york = {"lat": 40.7, "lng": -74.0}
    for fields, at, local, zone in (
        ({"taken_local": WALL}, "12:00", "12:00", ""),
        ({"taken_local": WALL, "utc_offset": 120}, "10:00", "12:00", "Etc/GMT-2"),
        ({"taken_local": WALL, "utc_offset": -90}, "13:30", "12:00", ""),
        ({"taken_local": WALL, "utc_offset": 0}, "12:00", "12:00", "UTC"),
        ({"taken_local": WALL, **new_york}, "17:00", "12:00", "America/New_York"),
        ({"taken_utc": NOW, **new_york}, "12:00", "07:00", "America/New_York"),
        ({"taken_utc": NOW}, "12:00", "12:00", "UTC"),
        ({"taken_local": WALL, "taken_utc": NOW - timedelta(hours=2)}, "10:00", "12:00", ""),
    ):
        expected = (f"2026-03-01T{at}:00+00:00", f"2026-03-01T{local}:00+00:00", zone, "meta", True)
        assert when(Metadata(**fields)) == expected, fields


def test_a_name_tells_the_time_when_metadata_do_not_and_then_the_last_change():
    assert when(name="2020-01-31/IMG_20190203_040506.jpg")[:4:3] == ("2019-02-03T04:05:06+00:00", "name")
    assert when(name="2020-01-31/party.jpg")[0] == "2020-01-31T00:00:00+00:00"
    for conflict in (".sync-conflict-20240503-141233-ABCDEFG", " (conflicted copy 2024-05-03 141233)"):
        assert when(name=f"party{conflict}.jpg")[3] == "", conflict
        assert when(name=f"a/20190203_040506{conflict}{conflict}.jpg")[0] == "2019-02-03T04:05:06+00:00"
    changed = Metadata(modified_local=WALL - timedelta(days=9), modified_offset=120)
    assert when(changed) == ("2026-02-20T10:00:00+00:00", "2026-02-20T12:00:00+00:00", "Etc/GMT-2", "estimate", True)
    assert when(changed, "IMG_20190203_040506.jpg")[1::2] == ("2019-02-03T04:05:06+00:00", "name")
    assert when(Metadata(modified_local=WALL, taken_local=WALL - timedelta(days=1)))[3] == "meta"


def test_a_video_in_utc_has_the_wall_time_in_its_name_else_that_of_the_usual_zone():
    utc, half_a_minute = datetime(2024, 7, 1, 12, 30, 15, tzinfo=UTC), 30_000_000_000
    for name, local, zone in (
        ("VID_20240701_083015.mp4", "08:30", "Etc/GMT+4"),
        ("VID_20240701_143015.mp4", "14:30", "Europe/Berlin"),  # as in the usual zone
        ("20240701_181514.mp4", "18:15", ""),  # Nepal
        ("20240702_013015.mp4", "01:30", "Etc/GMT-13"),
        ("WhatsApp Video 2024-07-01 at 21.29.45.mp4", "21:30", "Etc/GMT-9"),  # its UTC is that of its end
        ("2024-07-01/12.30.14.mp4", "12:30", "UTC"),
        ("VID_20240701_083226.mp4", "14:30", "Europe/Berlin"),  # another moment in every zone
        ("VID_20240703_083015.mp4", "14:30", "Europe/Berlin"),
        ("PXL_20240701_123015123.mp4", "14:30", "Europe/Berlin"),  # named in UTC
        ("mmexport1719837015000.mp4", "14:30", "Europe/Berlin"),
        ("2024-07-01 party.mp4", "14:30", "Europe/Berlin"),
        ("VID_0001.mp4", "14:30", "Europe/Berlin"),
    ):
        found = taken(Metadata(taken_utc=utc), [part(name, duration_ns=half_a_minute, **VIDEO)], NOW, "Europe/Berlin")
        day = "02" if name.startswith("20240702") else "01"
        assert (found.at, f"{found.local:%dT%H:%M:%S}") == (utc, f"{day}T{local}:15"), name
        assert (found.zone, found.source) == (zone, "meta"), name
    rome = Metadata(taken_utc=utc, lat=43.467, lng=11.885)
    assert when(rome, "VID_20240701_083015.mp4")[1:3] == ("2024-07-01T14:30:15+00:00", "Europe/Rome")
    pixel = when(name="PXL_20240701_123015123.jpg", zone="Europe/Berlin")
    assert pixel[:2] == ("2024-07-01T12:30:15+00:00", "2024-07-01T14:30:15+00:00")


def test_the_files_own_time_is_a_guess_that_counts_only_when_old_and_none_is_too_strange():
    assert when()[3:] == ("", True)
    assert when(mtime_ns=int(NOW.timestamp() * 1e9) - 24 * HOUR)[3:] == ("", False)
    assert when(mtime_ns=int(NOW.timestamp() * 1e9) - 25 * HOUR)[3:] == ("", True)
    for nanoseconds in (2**62, -(2**62), 2**63 - 1):
        assert taken(NOTHING, [part(mtime_ns=nanoseconds)], NOW, "UTC").at.tzinfo is not None, nanoseconds
    first = Metadata(taken_local=datetime.min, utc_offset=840)  # noqa: DTZ901 - wall time
    assert taken(first, [part()], NOW, "UTC").at.year == 1


def test_a_partial_date_stays_partial():
    found = taken(Metadata(taken_local=datetime.fromisoformat("1954-01-01"), date_parts=1), [part()], NOW, "UTC")
    assert (found.local.isoformat(), found.source, found.parts) == ("1954-01-01T00:00:00+00:00", "meta", 1)


def test_the_satellite_clock_tells_utc_and_the_camera_the_wall_time():
    local = datetime.fromisoformat("2025-07-01T12:00")  # Rome is two hours ahead of UTC in summer
    for utc, offset, at in (
        (None, None, "10:00:00"),
        ("16:00", None, "16:00:00"),  # the camera was left on the time of New York
        ("10:14:59", None, "10:00:00"),
        ("10:15", None, "10:15:00"),
        ("10:00", -240, "10:00:00"),
    ):
        utc_time = utc and datetime.fromisoformat(f"2025-07-01T{utc}+00:00")
        rome = Metadata(taken_local=local, taken_utc=utc_time, utc_offset=offset, lat=43.467, lng=11.885)
        expected = (f"2025-07-01T{at}+00:00", "2025-07-01T12:00:00+00:00", "Europe/Rome", "meta", True)
        assert when(rome) == expected, (utc, offset)


def test_a_title_names_people_else_place_else_file_and_the_year():
    for people, city, country, base, year, title in (
        ([], "", "zz", "IMG_0001", -1, "Unknown"),
        ([], "", "zz", "IMG_1234", 2020, "Unknown / 2020"),
        ([], "", "zz", "summer party", 2020, "Summer Party / 2020"),
        ([], "Paris", "fr", "x", 2020, "Paris / France / 2020"),
        ([], "", "fr", "x", -1, "France"),
        ([], "Singapore", "sg", "x", -1, "Singapore"),
        (["Ada"], "Paris", "fr", "x", 2020, "Ada / Paris / 2020"),
        (["Ada", "Bob"], "", "fr", "x", -1, "Ada & Bob / France"),
        (["Ada", "Bob", "Eve"], "", "zz", "x", 2020, "Ada, Bob & Eve / 2020"),
        (["A", "B", "C", "D"], "Paris", "fr", "x", 2020, "Paris / France / 2020"),
        ([], "Unknown", "zz", "x", -1, "Unknown"),
    ):
        assert make_title(people=people, city=city, country=country, base_name=base, year=year) == title
    assert len(make_title(people=["x" * 300], city="", country="zz", base_name="", year=2020)) == 200
