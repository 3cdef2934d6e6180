"""Bad days: whatever lies among the originals ends as a clean stored value or a recorded reason."""

import json
import os
import random
import struct

import pytest
from test_record_fields import check_library

from photosvc.core.files import disk_name
from photosvc.search.reading.request import ORDERS
from tests.helpers.library import hashes, open_library, reasons
from tests.helpers.pictures import encoded, exif, jpeg, png_bomb, quarters, rational, xmp

LONG = "n" * 251
BELL = "\x07\x1b[31m\r\nSet-Cookie: a=b\u202e<script>alert(1)</script>=cmd|' /C calc'!A0"


def gps(lat, lng, altitude=(35, 1)):
    return {1: "N", 2: lat, 3: "E", 4: lng, 5: (1, 1, b"\0"), 6: [altitude]}


PICTURES = {
    "year-0000.jpg": exif({0x0132: "0000:00:00 00:00:00"}, {0x9003: "0000:01:01 00:00:00"}),
    "year-9999.jpg": exif({0x0132: "9999:12:31 23:59:59"}, {0x9003: "9999:12:31 23:59:59"}),
    "year-0001.jpg": exif({}, {0x9003: "0001:01:01 00:00:00", 0x9011: "+14:00"}),
    "no-date.jpg": exif({}, {0x9003: "2020:02:30 25:61:61"}),
    "gps-nan.jpg": exif({}, {}, gps([(0, 0), (0, 0), (0, 0)], [(0, 0), (0, 0), (0, 0)], (0, 0))),
    "gps-far.jpg": exif({}, {}, gps([(999, 1), (0, 1), (0, 1)], [(4_000_000_000, 1), (0, 1), (0, 1)])),
    "gps-pole.jpg": exif({}, {}, gps([(90, 1), (0, 1), (0, 1)], [(180, 1), (0, 1), (0, 1)])),
    "gps-high.jpg": exif({}, {}, gps([(1, 1), (0, 1), (0, 1)], [(1, 1), (0, 1), (0, 1)], (4_294_967_295, 1))),
    "infinite.jpg": exif({}, {0x829D: rational(1, 0), 0x829A: rational(0, 0), 0x920A: rational(4_294_967_295, 1)}),
    "many-iso.jpg": exif({}, {0x8827: (4, 1, b"\xff\xff\xff\xff"), 0x829A: rational(4_294_967_295, 1)}),
    "bell.jpg": exif({0x010E: BELL, 0x010F: BELL, 0x0110: BELL, 0x013B: BELL}, {0xA434: BELL, 0xA431: BELL}),
    "latin.jpg": exif({0x010E: (2, 6, b"caf\xe9 \0"), 0x010F: (2, 5, b"\xff\xfe\xfd\0\0")}),
    "turned-9.jpg": exif({0x0112: 9}),
    "turned-0.jpg": exif({0x0112: 0}),
    "loop.jpg": b"Exif\0\0MM\0*\0\0\0\x08" + struct.pack(">HHHIII", 1, 0x8769, 4, 1, 8, 8),
    "short.jpg": b"Exif\0\0MM\0*\0\0\0\x08\xff\xff",
}


def marker(*segments):
    """A JPEG with these raw segments behind its first two bytes."""
    data = jpeg(96, 64)
    return (
        data[:2] + b"".join(struct.pack(">BBH", 0xFF, kind, len(body) + 2) + body for kind, body in segments) + data[2:]
    )


def fill(library):
    """Every bad original of this module; gives how many are regular files."""
    for width, (name, metadata) in enumerate(PICTURES.items(), start=40):
        library.put(name, jpeg(width, 48, exif=metadata))
    million = "x" * 1_000_000
    library.put("million.png", encoded(quarters(99, 48), "PNG") + million.encode())
    library.put("million.tif", encoded(quarters(98, 48), "TIFF", tiffinfo={270: million, 271: million, 315: million}))
    library.put("million.webp", encoded(quarters(97, 48), "WEBP", xmp=xmp(f"<dc:source>{million}</dc:source>")))
    library.put("text.png", png_text(million))
    library.put("keywords.webp", encoded(quarters(94, 48), "WEBP", xmp=xmp(keywords(2000))))
    library.put("bombs.jpg", marker((0xE1, b"http://ns.adobe.com/xap/1.0/\0" + BILLION.encode())))
    library.put("empty.jpg", b"")
    library.put("empty.mp4", b"")
    library.put("words.jpg", b"Dear diary, this is no picture.\n" * 100)
    library.put("half.jpg", jpeg(640, 480)[:4000])
    library.put("half.png", encoded(quarters(640, 480), "PNG")[:200])
    library.put("half.heic", jpeg(10, 10)[:30])
    library.put("zeros.jpg", b"\0" * 4096)
    library.put("bomb.png", png_bomb())
    library.put(b"caf\xe9/\xff\xfe.jpg", jpeg(93, 48))
    library.put(b"line\nbreak\x1b[31m.jpg", jpeg(92, 48))
    library.put(f"{LONG}.jpg", jpeg(91, 48))
    library.put("%FFA.jpg", jpeg(90, 48))
    for number, begin in enumerate(BEGINNINGS):
        library.put(f"repository/data/{number:02x}", begin + random.Random(number).randbytes(20_000))
    library.put("back\\slash <b>&\"'.jpg", jpeg(89, 48))
    library.put("ümlaut/日本語 \u202efdp.jpg", jpeg(88, 48))
    library.put("a" * 200 + "/" + "b" * 200 + "/" + "c" * 200 + ".jpg", jpeg(87, 48))
    root = library.originals
    (root / "loop").symlink_to(root)
    (root / "self.jpg").symlink_to("self.jpg")
    (root / "outside.jpg").symlink_to("/etc/passwd")
    (root / "gone.jpg").symlink_to("nowhere.jpg")
    os.mkfifo(root / "pipe.jpg")


def png_text(value):
    from PIL import PngImagePlugin

    info = PngImagePlugin.PngInfo()
    for name in ("Title", "Description", "Author"):
        info.add_text(name, value, zip=True)
    return encoded(quarters(95, 48), "PNG", pnginfo=info)


def keywords(count):
    items = "".join(f"<rdf:li>word {number} {'y' * 200}</rdf:li>" for number in range(count))
    return f"<dc:subject><rdf:Bag>{items}</rdf:Bag></dc:subject>"


BILLION = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
<!ENTITY d SYSTEM "file:///etc/passwd">]><x:xmpmeta xmlns:x="adobe:ns:meta/">&c;&d;</x:xmpmeta>"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("hostile"))
    fill(library)
    before = hashes(library.originals)
    summary = library.index(workers=2)
    return library, summary, before


def test_every_file_ends_with_a_row_or_a_reason(made):
    library, summary, before = made
    shown = {json.loads(file)["Name"] for _, file, _ in library.stored().values()}
    found = dict(reasons(summary.skipped + summary.failed))
    for path in before:
        name = os.fsencode(path).removeprefix(os.fsencode(library.originals) + b"/")
        clean = next((one for one in shown | set(found) if os.fsencode(disk_name(one)) == name), None)
        assert clean is not None, name
    assert {name: found[name] for name in REASONS} == REASONS
    assert set(found) == set(REASONS)


#: First bytes by which files without an extension count as pictures or videos.
BEGINNINGS = (
    b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"GIF89a", b"\xff\x4f\xff\x51", b"8BPS\0\x01", b"\x1aE\xdf\xa3", b"OggS",
    b"FLV\x01", b"\0\0\x01\xba", b"\x1f\x07\x00\x3f", b"\x06\x0e\x2b\x34", b"1234moov",
)  # fmt: skip
REASONS = {
    **{
        f"repository/data/{number:02x}": "it has no extension, and its content is not a picture or video"
        for number in range(len(BEGINNINGS))
    },
    "empty.jpg": "the file is empty",
    "empty.mp4": "the file is empty",
    "words.jpg": "its content is not a picture",
    "zeros.jpg": "its content is not a picture",
    "half.jpg": "the picture is truncated",
    "half.png": "the picture is truncated",
    "half.heic": "the picture is truncated",
    "bomb.png": "the picture has 144 megapixels and unpacks to 1023 times its size",
    "loop": "a symbolic link, which is not followed",
    "self.jpg": "a symbolic link, which is not followed",
    "outside.jpg": "a symbolic link, which is not followed",
    "gone.jpg": "a symbolic link, which is not followed",
    "pipe.jpg": "not a regular file",
}


def test_all_rows_are_clean_and_equal_a_fresh_dump_and_every_order_answers_with_them(made):
    library = made[0]
    assert check_library(library) > 30
    for order in ORDERS:
        answer = library.get({"order": order, "count": 1000})
        assert answer.status_code == 200, order
        assert len(json.loads(answer.data.decode("utf-8", "strict"), parse_constant=pytest.fail)) > 25, order
        assert all("\n" not in value and "\r" not in value for value in answer.headers.values()), order


def test_a_second_run_changes_nothing_and_no_original_is_changed_by_one_byte_mode_or_time(made):
    library, first, before = made
    rows = library.stored()
    again = library.index(workers=2)
    assert (again.indexed, again.updated, again.missing, again.failed) == (0, 0, 0, [])
    assert sorted(reasons(again.skipped)) == sorted(reasons(first.skipped + first.failed))
    assert library.stored() == rows
    assert hashes(library.originals) == before


def test_impossible_values_count_as_none_long_texts_are_cut_and_names_are_written_reversibly(made):
    library = made[0]
    records = {record["FileName"]: record for record in library.find(count=1000)}
    for name in ("year-0000.jpg", "year-9999.jpg", "year-0001.jpg", "no-date.jpg"):
        record = records[name]
        assert (record["Year"], record["TakenSrc"], record["TakenAt"]) == (-1, "", "2026-03-01T11:00:00Z"), name
    for name in ("gps-nan.jpg", "gps-far.jpg"):
        record = records[name]
        assert (record["Lat"], record["Lng"], record["CellID"], record["Country"]) == (0, 0, "zz", "zz"), name
    assert (records["gps-pole.jpg"]["Lat"], records["gps-pole.jpg"]["Lng"]) == (90, 180)
    for name in ("million.tif", "text.png"):
        record = records[name]
        lengths = [len(record[field]) for field in ("Description", "Title", "CameraMake")]
        assert (lengths[0] <= 4096, lengths[1] <= 200, lengths[2] <= 255) == (True, True, True), name
        assert record["Caption"] == record["Description"]
        assert len(json.dumps({**record, "Caption": ""})) < 8000
    bell = records["bell.jpg"]
    assert bell["Description"] == "[31m\nSet-Cookie: a=b<script>alert(1)</script>=cmd|' /C calc'!A0"
    assert "\u202e" not in json.dumps(bell, ensure_ascii=False)
    assert {"%FFcaf%E9/%FF%FF%FE.jpg", "%FFline%0Abreak%1B[31m.jpg", "%FF%25FFA.jpg"} < set(records)
    assert all((library.originals / disk_name(name)).is_file() for name in records)
