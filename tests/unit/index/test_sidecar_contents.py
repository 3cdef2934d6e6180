import json
import unicodedata
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.problems import FileProblemError, Reason
from photosvc.index.sidecar_formats import MAX_BYTES, MAX_JSON, SidecarContent, SidecarKind, read_sidecar
from photosvc.media.metadata import Metadata, Region
from tests.helpers.examples import examples
from tests.helpers.pictures import xmp

PICTURE = {
    "title": "IMG_1.jpg",
    "description": "At the lake",
    "photoTakenTime": {"timestamp": "1580472000"},
    "geoData": {"latitude": 48.8584, "longitude": 2.2945, "altitude": 30.4},
    "geoDataExif": {"latitude": 1.0, "longitude": 1.0, "altitude": 0.0},
    "people": [{"name": "Ada"}, {"name": "Ada"}, {"name": "Bob"}],
    "favorited": True,
    "trashed": True,
}
APPLE = (
    b"<?xml version='1.0'?><plist><dict><key>adjustmentFormatIdentifier</key><string>com.apple</string></dict></plist>"
)
PHOTOPRISM = b"""UID: psabc12000000001
TakenAt: 2019-07-02T08:30:00Z
TakenAtLocal: 2019-07-02T10:30:00Z
TakenSrc: manual
TimeZone: Europe/Zurich
Lat: 46.9
Lng: 7.4
PlaceSrc: manual
Details: {Keywords: "berg, see", KeywordsSrc: manual}
"""


def content(record, file_type="json"):
    data = record if isinstance(record, bytes) else json.dumps(record).encode()
    return read_sidecar(data, file_type)


def content_or_reason(record, file_type="json"):
    try:
        return content(record, file_type)
    except FileProblemError as error:
        return error.problem.reason


def metadata(**values):
    found = content({**PICTURE, **values})
    assert found is not None
    assert found.kind is SidecarKind.TAKEOUT
    return found.metadata


def test_all_that_takeout_says_of_a_picture_is_read():
    assert metadata() == Metadata(
        taken_utc=datetime(2020, 1, 31, 12, tzinfo=UTC),
        lat=48.8584,
        lng=2.2945,
        altitude=30,
        description="At the lake",
        original_name="IMG_1.jpg",
        regions=tuple(Region(name, "", 0.0, 0.0, 1.0, 1.0) for name in ("Ada", "Bob")),
        favorite=True,
        archived=True,
    )


def test_titles_of_the_folders_of_a_year_make_no_album_in_the_languages_of_takeout():
    titles = [
        "Photos from 2014", "Fotos von 2014", "Fotos aus 2014", "Foto's uit 2014", "Foto’s uit 2014", "Photos de 2014",
        "Fotos de 2014", "Fotos del 2014", "Foto da 2014", "Foto dal 2014", "Foto del 2014", "Zdjęcia z 2014",
        "Fotky z roku 2014", "Foton från 2014", "Bilder fra 2014", "Billeder fra 2014", "Фото за 2014",
        "Фотографии за 2014", "Fotografii din 2014", "Fényképek - 2014", "2014年の写真", "2014 年の写真",
        "2014년의 사진", "2014年的照片", "2014年的相片", "תמונות מ-2014",
        unicodedata.normalize("NFD", "Foton från 2014"),
    ]  # fmt: skip
    others = ["Holidays 2014", "Fotos 2014", "Photos from Rome 2014", "2014", "Fotos de boda 2014"]
    for title in (*titles, *others, "Photos from 2014 and 2015"):
        expected = (
            None
            if title in titles
            else SidecarContent(SidecarKind.ALBUM, Metadata(title=title, description="By train"))
        )
        assert content({"title": title, "description": "By train", "access": "protected"}) == expected, title


EXIFTOOL = {
    "SourceFile": "./a.jpg", "EXIF:DateTimeOriginal": "2020:01:31 13:00:00", "EXIF:OffsetTimeOriginal": "+01:00",
    "EXIF:Make": "NIKON CORPORATION", "EXIF:Model": "NIKON D750", "EXIF:LensModel": "50mm f/1.8", "EXIF:ISO": 100,
    "EXIF:FNumber": 2.8, "EXIF:ExposureTime": "1/160", "EXIF:FocalLength": "50.0 mm",
    "Composite:GPSLatitude": "48 deg 51' 30.24\" N", "Composite:GPSLongitude": "2 deg 17' 40.20\" W",
    "Composite:GPSAltitude": "12.3 m Below Sea Level", "XMP:Title": "Tower", "IPTC:Caption-Abstract": "By night",
    "IPTC:Keywords": ["steel", "lights"], "XMP:Rating": -1, "XMP:Label": "Red", "XMP:Creator": ["Ann", "Bob"],
}  # fmt: skip


def test_what_exiftool_prints_is_read_with_and_without_groups():
    plain = {name.rpartition(":")[2]: value for name, value in EXIFTOOL.items()}
    expected = Metadata(
        taken_local=datetime(2020, 1, 31, 13),  # noqa: DTZ001 - wall time
        utc_offset=60, camera_make="NIKON", camera_model="D750", lens_model="50mm f/1.8", iso=100, f_number=2.8,
        exposure="1/160", focal_length=50, lat=48.8584, lng=-2.2945, altitude=-12, title="Tower",
        description="By night", keywords=("steel", "lights"), rating=-1, labels=("Red",), artist="Ann, Bob",
    )  # fmt: skip
    assert content([EXIFTOOL]) == content([plain]) == SidecarContent(SidecarKind.EXIFTOOL, expected)


SIDECARS = (
    (json.dumps(PICTURE).encode(), "json"),
    (json.dumps([EXIFTOOL]).encode(), "json"),
    (xmp("", 'xmp:Rating="5" xmp:Label="Red"'), "xmp"),
    (APPLE, "aae"),
    (PHOTOPRISM, "yml"),
)


@given(st.sampled_from(SIDECARS), st.data())
@examples(150)
def test_no_damage_makes_another_error(sidecar, data):
    written, file_type = sidecar
    damaged = bytearray(written[: data.draw(st.integers(0, len(written)))])
    for _ in range(data.draw(st.integers(0, 4)) if damaged else 0):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    found = content_or_reason(bytes(damaged), file_type)
    assert found in (None, Reason.BAD_SIDECAR) or isinstance(found, SidecarContent)


NAMES = [*PICTURE, *EXIFTOOL, "albumData", "date", "access", "timestamp", "latitude", "longitude", "altitude", "name"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(NAMES), inner),
    max_leaves=8,
)


def test_times_are_seconds_of_plausible_years_and_a_position_of_zeros_is_none():
    for timestamp, year in (
        ("-1000000000", 1938), (1580472000, 2020), ("0", None), ("1e9", None), (1.5e9, None), ("٣٣٣", None),
        ("99999999999", None), ("9" * 400, None), (-(10**15), None), (None, None), (True, None), ([1], None),
    ):  # fmt: skip
        found = metadata(photoTakenTime={"timestamp": timestamp}).taken_utc
        assert (found and found.year) == year, timestamp
    for own, of_file, position in (
        ((0.0, 0.0), (1.5, 2.5), (1.5, 2.5)),
        ((0.0, 0.0), (0.0, 0.0), (None, None)),
        ((91.0, 0.0), (1.5, 2.5), (1.5, 2.5)),
        ((True, 1.0), (1.5, 2.5), (1.5, 2.5)),
        (("48", "2"), None, (None, None)),
        ((-90, 180), None, (-90.0, 180.0)),
    ):
        values = [pair and {"latitude": pair[0], "longitude": pair[1], "altitude": 1e300} for pair in (own, of_file)]
        found = metadata(geoData=values[0], geoDataExif=values[1])
        assert ((found.lat, found.lng), found.altitude) == (position, 0), (own, of_file)


def test_wrong_types_are_as_good_as_absent_and_texts_and_numbers_of_people_are_bounded():
    for wrong in (None, 7, "x", [], [None], {}, {"name": 1}, [{"name": ["a"]}, 5, {"name": "\u202e"}]):
        found = metadata(**dict.fromkeys(set(PICTURE) - {"photoTakenTime"}, wrong))
        text = "x" if wrong == "x" else ""
        expected = Metadata(taken_utc=datetime(2020, 1, 31, 12, tzinfo=UTC), description=text, original_name=text)
        assert found == expected, wrong
    people = [{"name": f"P{number}"} for number in range(5000)]
    found = metadata(description="a\u202eb\nc" * 5000, title="t" * 5000, people=people)
    assert found.description.startswith("ab\ncab\nc")
    assert (len(found.description), len(found.original_name), len(found.regions)) == (4096, 255, 256)


def test_an_album_has_a_title_and_no_time_and_other_json_says_nothing_about_pictures():
    for record, title in (
        ({"title": "Trip", "description": "By train", "access": "protected", "date": {"timestamp": "1"}}, "Trip"),
        ({"albumData": {"title": "Trip", "description": "By train"}}, "Trip"),
        ({"title": "Summer 2020", "description": "By train", "date": {}}, "Summer 2020"),
        ({"title": "Fotos von 2020", "date": {}}, None),
        ({"title": "", "access": "protected"}, None),
        ({"title": 5, "albumData": 5}, None),
        ({"title": "a page", "lang": "en"}, None),
    ):
        expected = title and SidecarContent(SidecarKind.ALBUM, Metadata(title=title, description="By train"))
        assert content(record) == expected, record
    for record in (7, [], [1], [{}, {}], {}, {"title": "x"}, {"photoTakenTime": 5}, b'"' + b"a" * MAX_JSON + b'"'):
        assert content(record) is None


def test_numbers_of_exiftool_are_read_too_and_impossible_values_are_left_out():
    numbers = {
        "SourceFile": "a", "ExposureTime": 0.00625, "GPSLatitude": 48.8584, "GPSLatitudeRef": "S",
        "GPSLongitude": -2.2945, "GPSAltitude": 12.3, "GPSAltitudeRef": 1,
    }  # fmt: skip
    found = content([numbers]).metadata
    assert (found.exposure, found.lat, found.lng, found.altitude) == ("1/160", -48.8584, -2.2945, -12)
    names = (
        "DateTimeOriginal", "ISO", "FNumber", "ExposureTime", "FocalLength", "GPSLatitude", "GPSLongitude",
        "GPSAltitude", "Rating",
    )  # fmt: skip
    for value in (10**400, "9" * 400, "1/0", "nan", -1e300, True, None, [[[]]], {"a": 1}, "\x00" * 99):
        found = content_or_reason([{"SourceFile": "a", **dict.fromkeys(names, value)}])
        assert found in (SidecarContent(SidecarKind.EXIFTOOL, Metadata()), Reason.BAD_SIDECAR), value


def test_xmp_and_the_adjustments_of_apple_are_read_and_a_broken_sidecar_is_an_error():
    found = content(xmp("", 'xmp:Rating="5"'), "xmp")
    assert (found.kind, found.metadata.rating) == (SidecarKind.XMP, 5)
    assert content(APPLE, "aae") == SidecarContent(SidecarKind.APPLE, Metadata(edited=True))
    for data, file_type in (
        (b"", "json"), (b"{", "json"), (b'{"a": NaN}', "json"), (b'{"a": "\xff"}', "json"), (b"[" * 100_000, "json"),
        (b"", "xmp"), (b"<a>", "xmp"), (b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "xmp"),
        (b"<a/>" + b" " * MAX_BYTES, "xmp"), (b"<plist/>", "aae"), (APPLE + b" " * MAX_BYTES, "aae"),
    ):  # fmt: skip
        assert content_or_reason(data, file_type) is Reason.BAD_SIDECAR, (data[:50], file_type)


@given(st.dictionaries(st.sampled_from(NAMES), VALUES))
@examples(100, 10)
def test_no_record_makes_another_error(record):
    found = content_or_reason(record)
    assert found in (None, Reason.BAD_SIDECAR) or isinstance(found, SidecarContent)
