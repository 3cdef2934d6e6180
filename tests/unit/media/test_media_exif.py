import struct
from datetime import UTC, datetime
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.exif import Exif, read_canon_exif, read_exif, read_exif_file
from photosvc.media.metadata import Metadata
from tests.helpers.examples import examples
from tests.helpers.pictures import apple_note, exif, jpeg


def metadata_of(image=None, camera=None, gps=None) -> Metadata:
    return read_exif(exif(image, camera, gps)).metadata


def degrees(whole, minutes=0, seconds=0):
    return [(whole, 1), (minutes, 1), (seconds, 1)]


def test_every_field_of_a_camera_is_read():
    exif_data = read_exif(
        exif(
            {0x010F: "Canon", 0x0110: "Canon EOS RP", 0x0112: 6, 0x013B: "Ann", 0x8298: "(c) Ann", 0x0131: "v1.2"},
            {
                0x829A: [(10, 1600)], 0x829D: [(28, 10)], 0x8827: 200, 0x9003: "2020:02:18 08:56:03", 0x9011: "-07:00",
                0x9291: "93", 0x920A: [(35, 1)], 0xA405: 56, 0xA420: "abc123", 0xA431: "0820", 0xA434: "RF35mm F1.8",
                0x9286: b"ASCII\0\0\0a note",
            },
            {1: "N", 2: degrees(43, 28, 30), 3: "W", 4: degrees(11, 30), 5: b"\1", 6: [(1234, 10)],
             7: degrees(15, 56, 3), 29: "2020:02:18"},
        )
    )  # fmt: skip
    assert exif_data.orientation == 6
    assert exif_data.metadata == Metadata(
        taken_local=datetime.fromisoformat("2020-02-18T08:56:03.930"),
        taken_utc=datetime(2020, 2, 18, 15, 56, 3, tzinfo=UTC),
        utc_offset=-420,
        camera_make="Canon",
        camera_model="EOS RP",
        camera_serial="0820",
        lens_model="RF35mm F1.8",
        iso=200,
        focal_length=56,
        f_number=2.8,
        exposure="1/160",
        lat=43.475,
        lng=-11.5,
        altitude=-123,
        artist="Ann",
        copyright="(c) Ann",
        notes="a note",
        software="v1.2",
        document_id="abc123",
    )


def test_cameras_have_the_names_that_their_makers_advertise():
    for make, model, *names in (
        ("NIKON CORPORATION", "NIKON D90", "NIKON", "D90"),
        ("OLYMPUS OPTICAL CO.,LTD", "C3000Z", "OLYMPUS", "C3000Z"),
        ("EASTMAN KODAK COMPANY", "KODAK DC280", "Kodak", "DC280"),
        ("SEIKO EPSON CORP.", "PhotoPC 3100Z", "Epson", "PhotoPC 3100Z"),
        ("Hewlett-Packard", "hp photosmart 735", "HP", "photosmart 735"),
        ("PENTAX Corporation", "PENTAX *ist DL", "PENTAX", "*ist DL"),
        ("Apple", "iPhone XR", "Apple", "iPhone XR"),
        ("Canon", "Canon Canon EOS R", "Canon", "EOS R"),
    ):
        metadata = metadata_of({0x010F: make, 0x0110: model})
        assert [metadata.camera_make, metadata.camera_model] == names


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        ((1, 160), "1/160"), ((10, 1600), "1/160"), ((5, 2), "2.5"), ((30, 1), "30"), ((2, 5), "0.4"), ((1, 3), "1/3"),
        ((1, 1), "1"), ((0, 1), ""), ((1, 0), ""), ((4_000_000_000, 1), ""),
    ],
)  # fmt: skip
def test_exposure_has_its_usual_notation(fraction, text):
    assert metadata_of(camera={0x829A: [fraction]}).exposure == text


def test_impossible_dates_are_no_dates_and_the_next_one_serves():
    void = ("0000:00:00 00:00:00", "9999:12:31 23:59:59", "2020:13:01 00:00:00", "    :  :     :  :  ", "x" * 500_000)
    for date in void:
        assert metadata_of(camera={0x9003: date}).taken_local is None, date[:20]
    metadata = metadata_of({0x0132: "2021:01:01 10:00:00"}, {0x9003: void[0], 0x9004: "2020:05:06 07:08:09"})
    assert metadata.taken_local == datetime.fromisoformat("2020-05-06T07:08:09")


def test_the_last_change_is_not_when_the_picture_was_taken():
    metadata = metadata_of({0x0132: "2021:01:01 10:00:00"}, {0x9290: "25", 0x9010: "+02:00"})
    assert (metadata.taken_local, metadata.utc_offset) == (None, None)
    assert (metadata.modified_local, metadata.modified_offset) == (
        datetime.fromisoformat("2021-01-01T10:00:00.25"),
        120,
    )


def test_tags_of_the_camera_are_read_from_the_main_directory_too():
    metadata = metadata_of({0x9003: "2020:05:06 07:08:09", 0x829A: [(1, 60)], 0x8827: 400}, {0x8827: 200})
    assert (metadata.taken_local, metadata.exposure, metadata.iso) == (
        datetime.fromisoformat("2020-05-06T07:08:09"),
        "1/60",
        200,
    )


def test_impossible_places_are_no_places():
    ten = degrees(10)
    odd = [(12, 3, struct.pack(">ddd", float(number), 0, 0)) for number in ("nan", "inf")]
    texts = ("43 28 30 here", "43 70 30", "5/0")
    for lat, lng in (
        *((one, ten) for one in (*odd, *texts, degrees(91), [(43, 0), (0, 1), (0, 1)], degrees(10, 70))),
        (ten, degrees(181)),
        ([(0, 0)] * 3, [(0, 0)] * 3),
        (degrees(0), degrees(0)),
    ):
        metadata = metadata_of(gps={1: "N", 2: lat, 3: "E", 4: lng})
        assert (metadata.lat, metadata.lng) == (None, None), (lat, lng)


def test_a_place_without_a_fix_is_kept_and_marked():
    metadata = metadata_of(gps={1: "N", 2: degrees(43), 3: "E", 4: degrees(11), 9: "V"})
    assert (metadata.lat, metadata.lng, metadata.unfixed) == (43.0, 11.0, True)
    assert not metadata_of(gps={1: "N", 2: degrees(43), 3: "E", 4: degrees(11), 9: "A"}).unfixed
    assert not metadata_of(gps={9: "V"}).unfixed


def test_a_place_written_as_text_is_read():
    for ref in ("S", ""):
        for written in (
            "54.99", "54,59.4", "54 59 24", "54/1 59/1 240/10", "54/1,59/1,24/1", "54 deg 59' 24.0\"", "54° 59′ 24″ S",
            "54,990000", "54 59,4", "54° 59,4' S", "54 deg 59' 24,0\"", "54,99° S", "54,59,24",
        ):  # fmt: skip
            sign = "" if ref or "S" in written else "-"
            gps = {1: ref, 2: sign + written, 3: "E", 4: "7.5"}
            metadata = metadata_of(gps={tag: value for tag, value in gps.items() if value})
            assert (metadata.lat, metadata.lng) == (-54.99, 7.5), (ref, written)


def test_the_orientation_counts_in_any_type():
    for kind, value in ((1, b"\6"), (3, struct.pack(">H", 6)), (7, b"\6")):
        exif_data = read_exif(exif({0x0112: (kind, 1, value)}))
        assert (exif_data.orientation, exif_data.says_orientation) == (6, True), kind


def test_the_equator_and_missing_seconds_are_ordinary():
    metadata = metadata_of(gps={1: "S", 2: [(0, 1), (0, 1), (0, 0)], 3: "W", 4: [(179, 1), (5, 10)]})
    assert (metadata.lat, metadata.lng) == (0.0, -179.008333)


def test_windows_texts_are_utf16():
    def utf16(text):
        raw = (text + "\0").encode("utf-16-le")
        return (1, len(raw), raw)

    metadata = metadata_of({0x9C9B: utf16("Été"), 0x9C9E: utf16("sea;sun"), 0x9C9C: utf16("note"), 0x4746: 4})
    assert (metadata.title, metadata.keywords, metadata.notes, metadata.rating) == ("Été", ("sea", "sun"), "note", 4)


def test_control_characters_and_megabytes_come_out_clean():
    metadata = metadata_of({0x010E: "a\r\nb\x1b\u202ec" + "d" * 1_000_000, 0x013B: (2, 7, b"\xff\xfe\xfd\r\nZ\0")})
    assert metadata.description.startswith("a\nbcddd")
    assert len(metadata.description) == 4096
    assert metadata.artist == "ÿþý Z"


def test_loops_of_directories_and_wild_counts_end():
    loop = b"MM\0*\0\0\0\x08" + struct.pack(">HHHIII", 1, 0x8769, 4, 1, 8, 8)
    wild = b"MM\0*\0\0\0\x08" + struct.pack(">HHHIII", 1, 0x927C, 7, 0xFFFFFFFF, 8, 0)
    many = b"MM\0*\0\0\0\x08" + b"\xff\xff" + b"\0" * 100
    for blob in (loop, wild, many, b"", b"MM\0*", b"II*\0\xff\xff\xff\xff"):
        assert read_exif(blob).metadata == Metadata(), blob


@pytest.mark.parametrize(
    ("footer", "moved"),
    [(footer, moved) for footer in (b"MM\0*", b"II*\0") for moved in (0, 16, -16, 400, 70_000)]
    + [(b"", moved) for moved in (0, -16, 400, 70_000)],
)
def test_a_canon_note_gives_lens_and_serial_wherever_a_program_moved_it(footer, moved):
    # The note's offsets count from the start of the Exif structure, so it is laid after a known prefix.
    note_at = 8 + 2 + 24 + 4 + 6 + 2 + 12 + 4
    origin = note_at + moved
    lens = b"EF28-135mm f/3.5-5.6 IS USM\0"
    note = struct.pack(">H", 2) + struct.pack(">HHII", 0x000C, 4, 1, 1320708797)
    note += struct.pack(">HHII", 0x0095, 2, len(lens), origin + 2 + 24 + 4) + b"\0\0\0\0" + lens
    if footer:
        note += footer + origin.to_bytes(4, "little" if footer[:1] == b"I" else "big")
    main = struct.pack(">HHHIIHHIII", 2, 0x010F, 2, 6, 38, 0x8769, 4, 1, 44, 0)
    camera = struct.pack(">HHHIII", 1, 0x927C, 7, len(note), note_at, 0)
    metadata = read_exif(b"MM\0*\0\0\0\x08" + main + b"Canon\0" + camera + note).metadata
    assert (metadata.lens_model, metadata.camera_serial) == ("EF28-135mm f/3.5-5.6 IS USM", "1320708797")


def test_an_apple_note_gives_the_identifiers_of_live_photos_and_bursts_wherever_it_is_cut():
    content_id = "4F6A2B1C-0000-4000-8000-1234567890AB"
    note = apple_note(content_id=content_id, burst_id="B-1")
    metadata = metadata_of({0x010F: "Apple"}, {0x927C: note})
    assert (metadata.content_id, metadata.burst_id) == (content_id, "B-1")
    for end in range(len(note)):
        assert content_id.startswith(metadata_of({0x010F: "Apple"}, {0x927C: note[:end]}).content_id)


def test_a_lens_without_a_name_is_named_by_its_limits():
    metadata = metadata_of(camera={0xA432: [(18, 1), (55, 1), (35, 10), (56, 10)]})
    assert metadata.lens_model == "18-55mm f/3.5-5.6"


@pytest.mark.parametrize(
    ("limits", "kind", "written", "name"),
    [
        ((18, 105, 35, 56), 14, "", "AF-S DX NIKKOR 18-105mm f/3.5-5.6G ED VR"),
        ((18, 105, 35, 56), 14, "18.0-105.0 mm f/3.5-5.6", "AF-S DX NIKKOR 18-105mm f/3.5-5.6G ED VR"),
        ((18, 105, 35, 56), 14, "Tamron 18-105mm", "Tamron 18-105mm"),
        ((50, 50, 18, 18), 2, "", "AF NIKKOR 50mm f/1.8D"),
        ((50, 50, 14, 14), 6, "", "50mm f/1.4G"),  # of Nikon or of Sigma
        ((24, 70, 28, 28), 0x4E, "", "24-70mm f/2.8E VR"),
        ((28, 80, 35, 56), 0, "", "28-80mm f/3.5-5.6"),
        ((28, 80, 0, 0), 6, "", "28-80mm"),
        ((0, 0, 0, 0), 6, "50.0 mm f/1.8", "50.0 mm f/1.8"),
    ],
)
def test_a_nikon_note_names_the_lens(limits, kind, written, name):
    low, high, wide, tele = limits
    note = exif({0x0083: (1, 1, bytes([kind])), 0x0084: [(low, 1), (high, 1), (wide, 10), (tele, 10)]})[6:]
    tags = {0x927C: b"Nikon\0\x02\x10\0\0" + note, **({0xA434: written} if written else {})}
    assert metadata_of({0x010F: "NIKON CORPORATION"}, tags).lens_model == name


def test_the_directories_of_a_cr3_are_read():
    def box(kind, body):
        return struct.pack(">I", len(body) + 8) + kind + body

    uuid = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
    parts = box(b"CMT1", exif({0x010F: "Canon", 0x0110: "Canon EOS R5", 0x0112: 8})[6:])
    parts += box(b"CMT2", exif({0x9003: "2022:01:02 03:04:05", 0x8827: 400})[6:])
    parts += box(b"CMT4", exif({1: "N", 2: degrees(43), 3: "E", 4: degrees(11)})[6:])
    canon = read_canon_exif(BytesIO(box(b"ftyp", b"crx ") + box(b"moov", box(b"uuid", uuid + parts))))
    assert canon.orientation == 8
    assert (canon.metadata.camera_model, canon.metadata.iso, canon.metadata.lat) == ("EOS R5", 400, 43.0)
    assert canon.metadata.taken_local == datetime.fromisoformat("2022-01-02T03:04:05")


def test_the_embedded_preview_is_found():
    preview = jpeg(160, 120)
    assert read_exif(exif({0x010F: "x"}, thumbnail=preview)).thumbnail == preview
    assert read_exif(exif({0x010F: "x"}, thumbnail=b"not a picture")).thumbnail == b""


@examples(300)
@given(st.binary(max_size=200), st.integers(0, 150), st.integers(0, 255))
def test_any_damage_to_exif_leaves_clean_values(noise, place, byte):
    blob = bytearray(exif({0x010F: "Canon", 0x0110: "R"}, {0x9003: "2020:01:01 00:00:00"}, {1: "N", 2: degrees(3)}))
    blob[6 + place % (len(blob) - 6)] = byte
    for data in (bytes(blob), bytes(blob[: place + 6]) + noise, b"MM\0*\0\0\0\x08" + noise):
        assert isinstance(read_exif(data), Exif)
        assert isinstance(read_exif_file(BytesIO(data)), Exif)
