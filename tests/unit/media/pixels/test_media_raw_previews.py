"""Camera raws that LibRaw does not know, or that come without the extra: recognised, and shown by their preview."""

import struct
import sys
from io import BytesIO

from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.formats import FORMATS, sniff
from photosvc.media.picture import Picture, open_shown, read_picture
from photosvc.media.raw import find_preview
from tests.helpers.examples import examples
from tests.helpers.pictures import exif, jpeg, raf, raw_with_preview

PREVIEW = jpeg(320, 240)

# Of each family: extension, make, model as written, model as shown; the byte order mark that differs from TIFF.
FAMILIES = [
    ("nef", "NIKON CORPORATION", "NIKON Z 6", "Z 6", b""), ("nrw", "NIKON", "COOLPIX P7800", "COOLPIX P7800", b""),
    ("cr2", "Canon", "Canon EOS 5D Mark IV", "EOS 5D Mark IV", b""), ("arw", "SONY", "ILCE-7M4", "ILCE-7M4", b""),
    ("sr2", "SONY", "DSC-R1", "DSC-R1", b""), ("pef", "PENTAX", "PENTAX K-1", "K-1", b""),
    ("orf", "OLYMPUS CORPORATION", "E-M1MarkIII", "E-M1MarkIII", b"MMOR"), ("srw", "SAMSUNG", "NX500", "NX500", b""),
    ("3fr", "Hasselblad", "X1D", "X1D", b""), ("iiq", "Phase One", "P45+", "P45+", b""),
    ("erf", "SEIKO EPSON CORP.", "R-D1", "R-D1", b""), ("mef", "Mamiya", "ZD", "ZD", b""),
    ("kdc", "Kodak", "DC120", "DC120", b""), ("gpr", "GoPro", "HERO10 Black", "HERO10 Black", b""),
    ("dng", "Google", "Pixel 7", "Pixel 7", b""),
]  # fmt: skip


def test_a_raw_is_recognised_and_shown_by_its_preview(monkeypatch):
    for extra in (True, False):
        if not extra:
            monkeypatch.setitem(sys.modules, "rawpy", None)
        for extension, make, model, shown, mark in FAMILIES:
            data = raw_with_preview(make, model, PREVIEW, mark=mark)
            row = sniff(data[:512], f"a.{extension.upper()}")
            assert row.media_type == "raw", extension
            found = read_picture(BytesIO(data), row)
            assert (found.problem, found.width, found.height) == (None, 6000, 4000), (extension, extra)
            assert (found.metadata.camera_model, str(found.metadata.taken_local)) == (shown, "2021-02-03 04:05:06")
            assert found.colors is not None, (extension, extra)
            with open_shown(BytesIO(data), row, 100) as (picture, _):
                assert picture.size == (320, 240), (extension, extra)


def test_every_extension_of_a_raw_made_of_tiff_directories_is_shown_by_its_preview():
    data = raw_with_preview("Canon", "Canon EOS 5D", PREVIEW)
    for extension in (one for row in FORMATS if row.is_tiff for one in row.extensions):
        row = sniff(data[:512], f"a.{extension}")
        assert extension in row.extensions, extension
        if row.media_type == "raw":
            picture = read_picture(BytesIO(data), row)
            assert (picture.problem, picture.width, picture.metadata.camera_model) == (None, 6000, "EOS 5D"), extension


def rw2(preview):
    texts, start = b"Panasonic\0DC-GH5\0", 8 + 2 + 5 * 12 + 4
    tags = [
        (0x002E, 7, len(preview), start + len(texts)),
        (0x0100, 4, 1, 5184),
        (0x0101, 4, 1, 3888),
        (0x010F, 2, 10, start),
        (0x0110, 2, 7, start + 10),
    ]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return b"IIU\0" + struct.pack("<IH", 8, 5) + entries + b"\0" * 4 + texts + preview


def test_an_rw2_is_shown_by_its_preview_and_completed_by_the_exif_of_the_preview():
    block = exif(
        {0x010F: "Other", 0x0110: "Other", 0x0112: 6, 0x013B: "Ann"},
        {0x9003: "2021:02:03 04:05:06", 0x8827: 400, 0xA431: "XG1", 0xA434: "LUMIX G 25/F1.7"},
        {1: "N", 2: [(48, 1), (30, 1), (0, 1)], 3: "E", 4: [(2, 1), (15, 1), (0, 1)]},
    )
    data = rw2(jpeg(320, 240, exif=block))
    for extension in ("rw2", "rwl"):
        picture = read_picture(BytesIO(data), sniff(data[:512], f"a.{extension}"))
        facts = picture.metadata
        assert (picture.problem, picture.width, picture.height, picture.colors is None) == (None, 3888, 5184, False)
        assert (facts.camera_make, facts.camera_model, facts.camera_serial) == ("Panasonic", "DC-GH5", "XG1")
        assert (str(facts.taken_local), facts.iso, facts.lens_model) == ("2021-02-03 04:05:06", 400, "LUMIX G 25/F1.7")
        assert (facts.lat, facts.lng, facts.artist, picture.orientation) == (48.5, 2.25, "Ann", 6)


def test_a_raf_is_shown_by_its_preview():
    block = exif({0x010F: "FUJIFILM", 0x0110: "X-T3"}, {0x9003: "2021:02:03 04:05:06"})
    data = raf(jpeg(640, 480, exif=block))
    picture = read_picture(BytesIO(data), sniff(data[:512], "a.raf"))
    assert (picture.problem, picture.width, picture.height) == (None, 640, 480)
    assert picture.metadata.camera_model == "X-T3"


def test_the_longest_jpeg_of_pixels_is_the_preview():
    lossless = bytearray(jpeg(640, 480) + b"\0" * 50_000)
    lossless[lossless.index(b"\xff\xc0") + 1] = 0xC3
    ends = raw_with_preview("Canon", "Canon EOS 5D", PREVIEW)
    strip = {0x0103: 7, 0x0111: (4, 1, struct.pack(">I", len(ends) + 36)), 0x0117: len(lossless)}
    data = raw_with_preview("Canon", "Canon EOS 5D", PREVIEW, block=strip) + lossless
    assert find_preview(BytesIO(data)).size == (320, 240)
    strip = {0x0103: 7, 0x0111: (4, 1, struct.pack(">I", len(ends) + 36)), 0x0117: len(jpeg(640, 480))}
    data = raw_with_preview("Canon", "Canon EOS 5D", PREVIEW, block=strip) + jpeg(640, 480)
    assert find_preview(BytesIO(data)).size == (640, 480)
    assert find_preview(BytesIO(data[:400])) is None


def test_a_raw_without_a_preview_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rawpy", None)
    data = raw_with_preview("NIKON", "NIKON Z 6", b"")
    picture = read_picture(BytesIO(data), sniff(data[:512], "a.nef"))
    assert picture.problem.sentence == "needs the extra \"raw\": pip install 'photosvc[raw]'"
    assert picture.metadata.camera_model == "Z 6"


@examples(150, everyday=50)
@given(st.data())
def test_any_damage_ends_as_a_picture_or_a_reason(data):
    whole = bytearray(data.draw(st.sampled_from([raw_with_preview("SONY", "ILCE-7M4", PREVIEW), raf(PREVIEW)])))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, min(300, len(whole) - 1)))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(1, len(whole)))])
    for name in ("a.arw", "a.raf"):
        row = sniff(cut[:512], name)
        if row is not None:
            assert isinstance(read_picture(BytesIO(cut), row), Picture)
