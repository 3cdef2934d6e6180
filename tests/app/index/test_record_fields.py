"""Every field of search results and of their files, with its type, in every answer."""

import json
import re

import pytest

from photosvc.models import File, Photo
from photosvc.search.reading.pages import join_results
from photosvc.search.rows.check import rebuild
from photosvc.search.rows.render import render_file, render_head
from tests.helpers.library import open_library
from tests.helpers.pictures import encoded, exif, jpeg, quarters, video, xmp

STRING, INTEGER, NUMBER, BOOLEAN, TIME, LIST = "string", "integer", "number", "boolean", "timestamp", "array"
LINES = "text of several lines"

RESULT = {
    "ID": STRING, "UID": STRING, "Type": STRING, "TypeSrc": STRING, "TakenAt": TIME, "TakenAtLocal": TIME,
    "TakenSrc": STRING, "TimeZone": STRING, "Path": STRING, "Name": STRING, "OriginalName": STRING, "Title": STRING,
    "Description": LINES, "Year": INTEGER, "Month": INTEGER, "Day": INTEGER, "Country": STRING, "Stack": INTEGER,
    "Favorite": BOOLEAN, "Private": BOOLEAN, "Iso": INTEGER, "FocalLength": INTEGER, "FNumber": NUMBER,
    "Exposure": STRING, "Quality": INTEGER, "Resolution": INTEGER, "Color": INTEGER, "Scan": BOOLEAN,
    "Panorama": BOOLEAN, "CameraID": INTEGER, "CameraSrc": STRING, "CameraSerial": STRING, "CameraMake": STRING,
    "CameraModel": STRING, "LensID": INTEGER, "LensModel": STRING, "Lat": NUMBER, "Lng": NUMBER, "CellID": STRING,
    "PlaceID": STRING, "PlaceSrc": STRING, "PlaceLabel": STRING, "PlaceCity": STRING, "PlaceState": STRING,
    "PlaceCountry": STRING, "InstanceID": STRING, "FileUID": STRING, "FileRoot": STRING, "FileName": STRING,
    "Hash": STRING, "Width": INTEGER, "Height": INTEGER, "Portrait": BOOLEAN, "Merged": BOOLEAN, "CreatedAt": TIME,
    "UpdatedAt": TIME, "EditedAt": TIME, "CheckedAt": TIME, "Files": LIST,
}  # fmt: skip
# Newer names of PhotoPrism, which are always sent too.
RESULT |= {"Caption": LINES, "Mime": STRING}
EXTRA = {
    "DocumentID": STRING, "Rating": INTEGER, "Faces": INTEGER, "Altitude": INTEGER, "Duration": INTEGER,
    "CameraType": STRING, "LensMake": STRING,
}  # fmt: skip
FILE = {
    "UID": STRING, "PhotoUID": STRING, "Name": STRING, "Root": STRING, "Hash": STRING, "Size": INTEGER,
    "Primary": BOOLEAN, "Codec": STRING, "FileType": STRING, "MediaType": STRING, "Mime": STRING, "Width": INTEGER,
    "Height": INTEGER, "Orientation": INTEGER, "AspectRatio": NUMBER, "Colors": STRING, "Luminance": STRING,
    "Diff": INTEGER, "Chroma": INTEGER, "CreatedAt": TIME, "UpdatedAt": TIME, "ModTime": INTEGER, "Markers": LIST,
}  # fmt: skip
#: Fields of a file that are sent if they say something.
FILE_EXTRA = {"Sidecar": BOOLEAN, "Video": BOOLEAN, "Duration": INTEGER, "FPS": NUMBER, "Frames": INTEGER}
MARKER = {
    "UID": STRING, "FileUID": STRING, "Type": STRING, "Src": STRING, "Name": STRING, "SubjUID": STRING, "X": NUMBER,
    "Y": NUMBER, "W": NUMBER, "H": NUMBER, "CreatedAt": TIME,
}  # fmt: skip
RANGES = {
    "Color": (0, 255), "Stack": (-1, 1), "Quality": (-1, 7), "Year": (-1, 9999), "Month": (-1, 12), "Day": (-1, 31),
    "Lat": (-90, 90), "Lng": (-180, 180), "Orientation": (1, 8), "Diff": (-1, 1023), "Chroma": (-1, 255),
    "Iso": (0, 2**31), "FocalLength": (0, 2**31), "FNumber": (0, 1e6), "Resolution": (0, 10_000),
    "Width": (0, 2**31), "Height": (0, 2**31), "CameraID": (1, 2**63), "LensID": (1, 2**63),
}  # fmt: skip
PATTERNS = {
    "ID": r"\d+-\d+", "UID": r"[pfm][0-9a-z]{15}", "FileUID": r"f[0-9a-z]{15}", "Hash": r"[0-9a-f]{40}",
    "Country": r"[a-z]{2}", "PlaceCountry": r"[a-z]{2}", "CellID": r"zz|s2:[0-9a-f]{12}",
    "PlaceID": r"zz|[a-z]{2}:[0-9A-Za-z]{12}", "Type": r"image|raw|live|video|animated|face|",
    "Colors": r"|[0-9A-F]{9}", "Luminance": r"|[0-9A-F]{9}",
}  # fmt: skip
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_UNCLEAN = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_UNCLEAN_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
KINDS = {
    STRING: lambda value: type(value) is str and not _UNCLEAN.search(value),
    LINES: lambda value: type(value) is str and not _UNCLEAN_LINES.search(value),
    INTEGER: lambda value: type(value) is int,
    NUMBER: lambda value: type(value) in {int, float} and abs(value) < float("inf"),
    BOOLEAN: lambda value: type(value) is bool,
    TIME: lambda value: type(value) is str and bool(_TIME.fullmatch(value)),
    LIST: lambda value: type(value) is list,
}


def check(record, fields, extra=()):
    assert set(fields) - set(record) == set()
    assert set(record) - set(fields) - set(extra) == set()
    for name, value in record.items():
        kind = fields[name] if name in fields else extra[name]
        assert KINDS[kind](value), f"{name} is {value!r}, not a {kind}"
        if name in RANGES:
            low, high = RANGES[name]
            assert low <= value <= high, f"{name} is {value!r}"
        if name in PATTERNS:
            assert re.fullmatch(PATTERNS[name], value), f"{name} is {value!r}"
        if name in extra:
            assert value, f"{name} says nothing and is sent"


def check_stored(result, file):
    record, part = json.loads(result, parse_constant=pytest.fail), json.loads(file, parse_constant=pytest.fail)
    check(record, RESULT, EXTRA)
    assert (record["Merged"], record["Files"]) == (False, [])
    check(part, FILE, FILE_EXTRA)
    for marker in part["Markers"]:
        check(marker, MARKER)
    assert (record["FileUID"], record["UID"], record["Hash"]) == (part["UID"], part["PhotoUID"], part["Hash"])


def check_library(library):
    """Check the types of all rows, and that a fresh dump and a rebuild give the same; return their number."""
    rows = library.stored()
    for result, file, _ in rows.values():
        check_stored(result, file)
    with library.session() as session:
        for photo in session.query(Photo):
            for file in photo.files:
                assert join_results([render_head(photo, file)]) == rows[file.uid][0]
                assert render_file(file) == rows[file.uid][1]
        assert session.query(File).count() == len(rows)
    with library.session() as session:
        assert rebuild(session) == len(rows)
    assert library.stored() == rows
    return len(rows)


@pytest.fixture(scope="module")
def indexed_library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("fields"))
    exif_blob = exif(
        {0x010F: "Canon", 0x0110: "Canon EOS R5", 0x010E: 'A "quoted" day & <b>night</b>'},
        {
            0x9003: "2021:07:04 18:30:15", 0x8827: 400, 0x829D: [(28, 10)], 0x829A: [(1, 250)], 0x920A: [(50, 1)],
            0xA433: "Canon", 0xA434: "RF50mm F1.8 STM", 0xA431: "0123",
        },
        {
            1: "N", 2: [(48, 1), (51, 1), (30, 1)], 3: "E", 4: [(2, 1), (17, 1), (40, 1)], 5: (1, 1, b"\0"),
            6: [(35, 1)],
        },
    )  # fmt: skip
    face = """<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:AppliedToDimensions stArea:w="64" stArea:h="48"
      stArea:unit="pixel"/><mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType="Resource"><mwg-rs:Name>Ada</mwg-rs:Name>
      <mwg-rs:Type>Face</mwg-rs:Type><mwg-rs:Area stArea:x="0.5" stArea:y="0.5" stArea:w="0.25" stArea:h="0.5"
      stArea:unit="normalized"/></rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"""
    packet = xmp(face, 'xmpMM:DocumentID="xmp.did:1234" xmpMM:InstanceID="xmp.iid:5678"')
    library.put("2021/rich.jpg", jpeg(640, 480, exif=exif_blob, xmp=packet))
    library.put("plain.png", encoded(quarters(), "PNG"))
    library.put("grey.webp", encoded(quarters(48, 64).convert("L"), "WEBP"))
    library.put("moving.gif", encoded(quarters(), "GIF", save_all=True, append_images=[quarters().rotate(90)]))
    video(library.put("clip.mp4", b""))
    library.put("broken.jpg", jpeg(640, 480)[:1500])
    summary = library.index()
    assert [name for name, _ in summary.failed] == ["broken.jpg"]
    return library


def test_every_row_has_the_fields_of_the_spec_with_their_types_and_equals_a_fresh_dump(indexed_library):
    assert check_library(indexed_library) == 6


def test_what_a_search_gives_is_the_stored_record(indexed_library):
    for record in indexed_library.find(count=100):
        check(record, RESULT, EXTRA)
    assert len(indexed_library.find(count=100)) == 5


def test_a_rich_picture_tells_all_it_knows(indexed_library):
    (record,) = (record for record in indexed_library.find() if record["Name"] == "rich")
    expected_values = {
        "Type": "image", "TypeSrc": "", "TakenAt": "2021-07-04T16:30:15Z", "TakenAtLocal": "2021-07-04T18:30:15Z",
        "TakenSrc": "meta", "TimeZone": "Europe/Paris", "Path": "2021", "Name": "rich", "OriginalName": "",
        "Description": 'A "quoted" day & <b>night</b>', "Year": 2021, "Month": 7, "Day": 4, "Country": "fr",
        "Stack": 0, "Favorite": False, "Private": False, "Iso": 400, "FocalLength": 50, "FNumber": 2.8,
        "Exposure": "1/250", "Resolution": 0, "Scan": False, "Panorama": False, "CameraSrc": "meta",
        "CameraSerial": "0123", "CameraMake": "Canon", "CameraModel": "EOS R5", "LensMake": "Canon",
        "LensModel": "RF50mm F1.8 STM", "Lat": 48.858333, "Lng": 2.294444, "PlaceSrc": "meta", "PlaceCity": "Paris",
        "PlaceCountry": "fr", "Altitude": 35, "DocumentID": "xmp.did:1234", "InstanceID": "xmp.iid:5678", "Faces": 1,
        "FileRoot": "/", "FileName": "2021/rich.jpg", "Width": 640, "Height": 480, "Portrait": False,
        "CreatedAt": "2026-03-01T12:00:00Z", "EditedAt": "0001-01-01T00:00:00Z", "CheckedAt": "2026-03-01T12:00:00Z",
    }  # fmt: skip
    assert {name: record[name] for name in expected_values} == expected_values
    assert record["Title"].startswith("Ada / Paris / 2021")
    (file,) = (
        json.loads(file)
        for _, file, _ in indexed_library.stored().values()
        if json.loads(file)["Name"] == "2021/rich.jpg"
    )
    expected = {"FileUID": record["FileUID"], "Type": "face", "Name": "Ada", "X": 0.375, "Y": 0.25, "W": 0.25, "H": 0.5}
    assert {name: file["Markers"][0][name] for name in expected} == expected
    expected_values = {
        "Primary": True, "Codec": "jpeg", "FileType": "jpg", "MediaType": "image", "Mime": "image/jpeg",
        "Orientation": 1, "AspectRatio": 1.33,
    }  # fmt: skip
    assert {name: file[name] for name in expected_values} == expected_values


def test_a_bare_picture_has_the_zero_values_of_the_design(indexed_library):
    (record,) = (record for record in indexed_library.find() if record["Name"] == "plain")
    assert set(record) & set(EXTRA) == set()
    zero = {
        "EditedAt": "0001-01-01T00:00:00Z", "Year": -1, "Month": -1, "Day": -1, "Country": "zz", "CellID": "zz",
        "PlaceID": "zz", "PlaceSrc": "", "PlaceCountry": "zz", "CameraID": 1, "LensID": 1, "CameraMake": "",
        "CameraModel": "Unknown", "LensModel": "Unknown", "CameraSerial": "", "CameraSrc": "",
        "TakenSrc": "", "TimeZone": "",
        "Lat": 0, "Lng": 0, "Iso": 0, "FocalLength": 0, "FNumber": 0, "Exposure": "", "Description": "",
        "OriginalName": "", "InstanceID": "", "Path": "", "Stack": 0,
    }  # fmt: skip
    assert {name: record[name] for name in zero} == zero
    assert record["TakenAt"] == record["TakenAtLocal"] == "2026-03-01T11:00:00Z"


def test_a_broken_picture_keeps_a_row_whose_unknown_values_are_minus_one(indexed_library):
    (row,) = (row for row in indexed_library.stored().values() if json.loads(row[1])["Name"] == "broken.jpg")
    file = json.loads(row[1])
    assert (file["Diff"], file["Chroma"], file["Colors"]) == (-1, -1, "")
    assert (row[2]["listed"], json.loads(row[0])["Quality"], json.loads(row[0])["Color"]) == (False, -1, 0)
