import random
import struct
import sys
from datetime import UTC, datetime
from io import BytesIO

import pytest

from photosvc.core.problems import Problem, Reason
from photosvc.index.extract import extract
from photosvc.media.isobmff import XMP_BOX
from photosvc.media.metadata import Metadata
from photosvc.media.video import read_video_metadata
from tests.helpers.pictures import video, xmp
from tests.unit.media.containers import box

XMP = xmp(attributes='photoshop:Headline="From XMP" xmp:Rating="4"')
FTYP = box(b"ftyp", b"qt  \0\0\0\0qt  ")
KEY = "com.apple.quicktime."
CREATED = 3_700_000_000  # seconds since 1904
PHONE = {
    "creationdate": "2021-09-27T07:12:52-0600", "location.ISO6709": "+43.4674-011.8851+312.5CRSWGS_84/",
    "make": "Apple", "model": "iPhone 13 Pro", "software": "15.0", "content.identifier": "ABC-1", "title": "Hafen ß",
    "description": "a boat", "keywords": "sea, boat",
}  # fmt: skip


def data(value, form=1):
    return box(b"data", struct.pack(">II", form, 0), value)


def keyed(values, *, version=b""):
    """A list of values with the keys of Apple."""
    names = b"".join(box(b"mdta", (KEY + name).encode()) for name in values)
    items = b"".join(box(struct.pack(">I", at), data(value.encode())) for at, value in enumerate(values.values(), 1))
    keys = box(b"keys", struct.pack(">II", 0, len(values)), names)
    return box(b"meta", version, box(b"hdlr", bytes(24)), keys, box(b"ilst", items))


def mvhd(seconds=CREATED, *, wide=False):
    return box(b"mvhd", bytes([wide, 0, 0, 0]) + struct.pack(">Q" if wide else ">I", seconds) + bytes(80))


def movie(*parts):
    return FTYP + box(b"moov", mvhd(), *parts)


def text(kind, value, *, language=0):
    return box(kind, struct.pack(">HH", len(value), language), value)


def metadata_of(content):
    return read_video_metadata(BytesIO(content))[0]


@pytest.mark.parametrize("version", [b"", b"\0\0\0\0"])
def test_the_keys_of_a_phone_are_read(version):
    assert metadata_of(movie(keyed(PHONE, version=version))) == Metadata(
        taken_local=datetime.fromisoformat("2021-09-27T07:12:52"),
        taken_utc=datetime(2021, 9, 27, 13, 12, 52, tzinfo=UTC),
        utc_offset=-360,
        camera_make="Apple",
        camera_model="iPhone 13 Pro",
        lat=43.4674,
        lng=-11.8851,
        altitude=312,
        title="Hafen ß",
        description="a boat",
        keywords=("sea", "boat"),
        software="15.0",
        document_id="ABC-1",
        content_id="ABC-1",
    )


def test_texts_are_read_under_each_key_of_quicktime_and_by_their_type():
    for field, *keys in (
        ("artist", "author", "artist"),
        ("description", "description", "comment", "information"),
        ("title", "title", "displayname"),
        ("copyright", "copyright"),
    ):
        for key in keys:
            assert getattr(metadata_of(movie(keyed({key: "Möwe am See"}))), field) == "Möwe am See", key
    for value, form, title in (
        ("Möwe".encode(), 1, "Möwe"), ("Möwe".encode("utf-16-be"), 2, "Möwe"), (b"\xff\xfe", 21, "-2"),
        (b"\xff\xfe", 22, "65534"), (struct.pack(">f", 2.5), 23, "2.5"), (b"picture", 13, ""),
    ):  # fmt: skip
        listed = box(b"ilst", box(b"\xa9nam", data(value, form)))
        metadata = metadata_of(movie(box(b"udta", box(b"meta", bytes(4), box(b"hdlr", bytes(24)), listed))))
        assert metadata.title == title, (value, form)


def test_user_data_of_quicktime_and_of_iso_files_are_read():
    metadata = metadata_of(
        movie(
            box(
                b"udta",
                text(b"\xa9xyz", b"+43.4674+011.8851/"),
                text(b"\xa9mak", b"Canon"),
                text(b"\xa9mod", b"Canon EOS R"),
                text(b"\xa9nam", "Möwe".encode("mac-roman")),
                box(b"cprt", bytes(4) + b"\x15\xc7" + "© Ann\0".encode()),
            )
        )
    )
    assert (metadata.lat, metadata.lng, metadata.camera_make, metadata.camera_model) == (
        43.4674,
        11.8851,
        "Canon",
        "EOS R",
    )
    assert (metadata.title, metadata.copyright) == ("Möwe", "© Ann")


def test_the_date_of_a_headset_names_its_zone():
    metadata = metadata_of(movie(keyed({"creationdate": "2024-04-22T14:38:09GMT+2"})))
    assert (metadata.taken_local, metadata.utc_offset) == (datetime.fromisoformat("2024-04-22T14:38:09"), 120)
    assert metadata.taken_utc == datetime(2024, 4, 22, 12, 38, 9, tzinfo=UTC)


def test_the_time_in_the_header_of_an_image_sequence_belongs_to_its_encoder():
    for brand in (b"msf1", b"hevc", b"hevx", b"avis"):
        content = box(b"ftyp", brand + b"\0\0\0\0" + brand) + box(b"moov", mvhd())
        tags = {"creation_time": "2021-03-31T01:46:40.000000Z"}
        assert read_video_metadata(BytesIO(content), tags)[0] == Metadata(), brand
        dated = content + box(b"uuid", XMP_BOX, xmp(attributes='xmp:CreateDate="2019-01-02T03:04:05Z"'))
        assert metadata_of(dated).taken_local == datetime.fromisoformat("2019-01-02T03:04:05"), brand


@pytest.mark.parametrize("wide", [False, True])
def test_the_time_of_the_movie_header_is_utc(wide):
    metadata = metadata_of(FTYP + box(b"moov", mvhd(wide=wide)))
    assert (metadata.taken_local, metadata.taken_utc) == (None, datetime(2021, 3, 31, 1, 46, 40, tzinfo=UTC))
    assert metadata_of(FTYP + box(b"moov", mvhd(0, wide=wide))).taken_utc is None


def test_xmp_of_a_video_is_read_and_its_date_comes_before_the_date_of_the_header():
    for content in (
        movie() + box(b"uuid", XMP_BOX, XMP),
        movie(box(b"uuid", XMP_BOX, XMP)),
        movie(box(b"udta", box(b"XMP_", XMP))),
        box(b"moov", mvhd(), box(b"udta", box(b"XMP_", XMP))),
    ):
        metadata = metadata_of(content)
        assert (metadata.title, metadata.rating) == ("From XMP", 4), content
    packet = xmp(attributes='xmp:CreateDate="2019-01-02T03:04:05+02:00"')
    metadata = metadata_of(movie() + box(b"uuid", XMP_BOX, packet))
    assert (metadata.taken_local, metadata.utc_offset) == (datetime.fromisoformat("2019-01-02T03:04:05"), 120)


def test_a_video_that_is_cut_is_recorded_as_cut_and_a_damaged_one_named_as_a_video(tmp_path):
    whole = video(tmp_path / "a.mp4", codec="libx264").read_bytes()
    at = whole.index(b"moov")
    for end in (at - 40, at + 40, len(whole) - 3):
        assert extracted(tmp_path, whole[:end]).problem == Problem(Reason.TRUNCATED_VIDEO), end
    index, media = whole[at - 4 :], whole[: at - 4]
    ftyp, mdat = media[: media.index(b"mdat") - 4], media[media.index(b"mdat") - 4 :]
    first = ftyp + moved(index, len(index)) + mdat  # the index comes first
    assert extracted(tmp_path, first).problem is None
    extraction = extracted(tmp_path, first[:-3])
    assert extraction.problem == Problem(Reason.TRUNCATED_VIDEO)
    assert extraction.problem.sentence == "the video is truncated"
    assert (extraction.width, extraction.height, extraction.codec, len(extraction.colors)) == (64, 48, "avc1", 9)
    extraction = extracted(tmp_path, whole.replace(b"moov", b"none"))
    assert extraction.problem == Problem(Reason.UNDECODABLE_VIDEO)
    assert extraction.problem.sentence == "the video is damaged"


def moved(index, distance):
    """The index of a video with its media data moved back by a number of bytes."""
    at = index.index(b"stco") + 8
    count = struct.unpack_from(">I", index, at)[0]
    offsets = (value + distance for value in struct.unpack_from(f">{count}I", index, at + 4))
    return index[: at + 4] + struct.pack(f">{count}I", *offsets) + index[at + 4 + 4 * count :]


def extracted(tmp_path, data, name="b.mp4"):
    path = tmp_path / name
    path.write_bytes(data)
    return extract(path)


def test_metadata_are_read_without_the_decoder_of_videos(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    extraction = extracted(tmp_path, movie(keyed(PHONE)), "a.mov")
    assert extraction.problem == Problem.of(Reason.MISSING_EXTRA, "video")
    assert (extraction.metadata.camera_model, extraction.metadata.content_id) == ("iPhone 13 Pro", "ABC-1")


def asf(created, *, before=b""):
    identifier = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
    properties = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
    body = before + properties + struct.pack("<Q", 104) + bytes(24) + struct.pack("<Q", created) + bytes(48)
    return identifier + struct.pack("<QI", 30 + len(body), 2) + b"\1\2" + body


def test_the_creation_date_of_asf_is_read():
    created = 132_249_246_000_000_000 + 7
    other = bytes(16) + struct.pack("<Q", 40) + bytes(16)
    for content in (asf(created), asf(created, before=other)):
        assert metadata_of(content).taken_utc == datetime(2020, 1, 31, 6, 10, tzinfo=UTC)
    for nothing in (0, 1, 1 << 63):
        assert metadata_of(asf(nothing)) == Metadata()


def transport(message, *, blu_ray=False):
    """A transport stream with this message between two packets of another stream."""
    content = b"\0\0\1\xe0\0\0\x80\0\0\0\0\0\1\6\5\xff" + message
    packets = [b"\x47\x40\0\x10" + b"\xff" * 184]
    for start in range(0, len(content), 100):  # short pieces behind an adaptation field
        piece = content[start : start + 100]
        packets.append(b"\x47\x10\x11\x30" + bytes([183 - len(piece)]) + b"\xff" * (183 - len(piece)) + piece)
        packets.append(b"\x47\0\x12\x10" + b"\xff" * 184)
    return b"".join((b"\0\0\0\0" if blu_ray else b"") + packet for packet in packets)


def recorded(*entries):
    """The message of a camcorder, behind one of another kind; protected against start codes."""
    body = bytes([len(entries)]) + b"".join(bytes([number]) + value for number, value in entries)
    return b"x" * 90 + bytes.fromhex("17ee8c60f84d11d98cd60800200c9a66") + b"MDPM" + body.replace(b"\0\0", b"\0\0\3")


def test_the_recording_time_of_avchd_is_read_and_an_impossible_one_ignored():
    rest = (0x19, b"\x02\x16\0\0"), (0xE0, b"\1\x08\0\0")
    for zone, offset in ((0x00, None), (0x02, 60), (0x22, -60), (0x0B, 330), (0xFF, None), (0x42, 60)):
        entries = (0x13, b"\1\2\3\4"), (0x18, bytes([zone]) + b"\x20\x09\x11"), *rest
        taken = Metadata(taken_local=datetime(2009, 11, 2, 16), utc_offset=offset, camera_make="Sony")  # noqa: DTZ001
        for blu_ray in (False, True):
            assert metadata_of(transport(recorded(*entries), blu_ray=blu_ray)) == taken, (zone, blu_ray)
    for entries in (
        (),
        [(0x18, b"\0\x20\x09\x11")],
        [(0x18, b"\0\x99\x99\x11"), (0x19, b"\1\1\1\1")],
        [(0x18, b"\0\x20\x09\xff"), (0x19, b"\1\1\1\1")],
    ):
        assert metadata_of(transport(recorded(*entries))) == Metadata(), entries
    assert metadata_of(transport(b"nothing")) == Metadata()


def test_the_position_of_avchd_is_read():
    south = [(0xB1, b"S\0\0\0"), (0xB2, b"\0\x21\0\1"), (0xB3, b"\0\x33\0\1"), (0xB4, b"\1\xc2\0\x64")]
    east = [(0xB5, b"E\0\0\0"), (0xB6, b"\0\x97\0\1"), (0xB7, b"\0\x0c\0\1"), (0xB8, b"\0\0\0\1")]
    assert metadata_of(transport(recorded(*south, *east))) == Metadata(lat=-33.85125, lng=151.2)
    for damaged in (south, [*south, *east[:-1]], [*south, *east[:-1], (0xB8, b"\0\0\0\0")]):
        assert metadata_of(transport(recorded(*damaged))) == Metadata()


def test_damaged_videos_give_their_intact_parts():
    drawn = random.Random(2)
    samples = [movie(keyed(PHONE)), movie(box(b"udta", text(b"\xa9nam", b"x"), box(b"XMP_", XMP))), asf(1 << 57)]
    samples.append(transport(recorded((0x18, b"\0\x20\x09\x11"), (0x19, b"\x02\x16\0\0"))))
    for sample in samples:
        for _ in range(100):
            damaged = bytearray(sample[: drawn.randrange(len(sample) + 1)] if drawn.random() < 0.5 else sample)
            for _ in range(drawn.randrange(6)):
                if damaged:
                    damaged[drawn.randrange(len(damaged))] = drawn.choice((0, 1, 0x80, 0xFF, drawn.randrange(256)))
            assert isinstance(metadata_of(bytes(damaged)), Metadata)
