import random
import struct
import sys
import zlib
from datetime import datetime
from io import BytesIO

from photosvc.core.problems import Problem, Reason
from photosvc.index.extract import extract
from photosvc.media.containers import read_embedded, read_gif, read_png
from photosvc.media.errors import register_heic
from photosvc.media.formats import sniff
from photosvc.media.iptc import resource
from photosvc.media.isobmff import XMP_BOX, read_heif
from photosvc.media.metadata import Packets
from photosvc.media.picture import open_shown
from tests.helpers.pictures import clouds, encoded, exif, heic, iptc, jpeg, quarters, xmp
from tests.unit.media.containers import (
    bigtiff,
    box,
    gif_with_xmp,
    international_text,
    photoshop_resource,
    png_after_pixels,
    png_chunk,
    psd,
    raw_profile,
)

EXIF = exif({0x010F: "Canon", 0x0110: "Canon EOS R", 0x0112: 6}, {0x9003: "2020:01:02 03:04:05"})
XMP = xmp(attributes='photoshop:Headline="From XMP" tiff:Orientation="8"')
IPTC = iptc([(5, b"From IPTC"), (25, b"sea")])
PLAIN = EXIF[6:]
#: A JPEG XL without a picture.
JXL = box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl \0\0\0\0jxl ")


def embedded(data, name):
    row = sniff(data[:512], name)
    return read_embedded(BytesIO(data), row)


def extracted(tmp_path, data, name):
    path = tmp_path / name
    path.write_bytes(data)
    return extract(path)


def jp2(*boxes):
    return encoded(quarters(), "JPEG2000") + b"".join(boxes)


WITH_EXIF = {
    "jpeg.jpg": jpeg(exif=EXIF), "eXIf.png": png_after_pixels((b"eXIf", PLAIN)),
    "exif-profile.png": png_after_pixels(raw_profile("exif", EXIF)),
    "app1-profile.png": png_after_pixels(raw_profile("APP1", EXIF)), "a.webp": encoded(quarters(), "WEBP", exif=EXIF),
    "a.avif": encoded(quarters(), "AVIF", exif=EXIF), "a.heic": heic(exif=EXIF),
    "a.psd": psd(photoshop_resource(0x0422, PLAIN)), "a.jp2": jp2(box(b"uuid", b"JpgTiffExif->JP2", PLAIN)),
    "a.jxl": JXL + box(b"Exif", b"\0\0\0\6", EXIF),
}  # fmt: skip
WITH_XMP = {
    "jpeg.jpg": jpeg(xmp=XMP), "text.png": png_after_pixels(international_text("XML:com.adobe.xmp", XMP)),
    "packed.png": png_after_pixels(international_text("XML:com.adobe.xmp", XMP, packed=True)),
    "profile.png": png_after_pixels(raw_profile("xmp", XMP)), "after.gif": gif_with_xmp(XMP),
    "before.gif": gif_with_xmp(XMP, after=False), "a.webp": encoded(quarters(), "WEBP", xmp=XMP),
    "a.avif": encoded(quarters(), "AVIF", xmp=XMP), "a.heic": heic(xmp=XMP),
    "a.psd": psd(photoshop_resource(0x0424, XMP)), "a.jp2": jp2(box(b"uuid", XMP_BOX, XMP)),
    "a.jxl": JXL + box(b"xml ", XMP), "a.tif": encoded(quarters(), "TIFF", tiffinfo={700: XMP}),
}  # fmt: skip
WITH_IPTC = {
    "jpeg.jpg": jpeg(iptc=IPTC),
    "iptc-profile.png": png_after_pixels(raw_profile("iptc", photoshop_resource(0x0404, IPTC))),
    "bare-profile.png": png_after_pixels(raw_profile("iptc", IPTC)),
    "titled-profile.png": png_after_pixels(raw_profile("iptc", IPTC, title="IPTC profile")),
    "named-profile.png": png_after_pixels(raw_profile("IPTC profile", photoshop_resource(0x0404, IPTC))),
    "8bim-profile.png": png_after_pixels(raw_profile("8bim", photoshop_resource(0x0404, IPTC))),
    "a.psd": psd(photoshop_resource(0x03ED, b"odd") + photoshop_resource(0x0404, IPTC)),
}


def test_metadata_are_found_in_every_format():
    for name, data in WITH_EXIF.items():
        record = embedded(data, name)
        assert (record.metadata.camera_make, record.metadata.camera_model) == ("Canon", "EOS R"), name
        assert record.metadata.taken_local == datetime.fromisoformat("2020-01-02T03:04:05"), name
        orientation = 1 if name == "a.avif" else 6  # AVIF is written with a box that turns it
        assert record.exif.orientation == orientation, name
    for name, data in WITH_XMP.items():
        assert embedded(data, name).metadata.title == "From XMP", name
    for name, data in WITH_IPTC.items():
        metadata = embedded(data, name).metadata
        assert (metadata.title, metadata.keywords) == ("From IPTC", ("sea",)), name


def test_texts_of_a_png_are_read_wherever_they_stand():
    latin = (b"tEXt", b"Author\0M\xf6we")
    metadata = embedded(
        png_after_pixels(
            latin,
            international_text("Title", "Hafen ß".encode()),
            international_text("Comment", b"packed", packed=True),
        ),
        "a.png",
    ).metadata
    assert (metadata.artist, metadata.title, metadata.notes) == ("Möwe", "Hafen ß", "packed")


def test_the_creation_time_of_a_png_is_its_date_and_its_time_chunk_the_date_of_the_last_change():
    for written, moment, offset in (
        (b"Fri, 31 Jan 2020 10:11:12 +0200", "2020-01-31T10:11:12", 120),
        (b"Fri, 31 Jan 2020 10:11:12 GMT", "2020-01-31T10:11:12", 0),
        (b"2020:01:31 10:11:12", "2020-01-31T10:11:12", None),
        (b"2020-01-31T10:11:12+02:00", "2020-01-31T10:11:12", 120),
        *((none, "", None) for none in (b"", b"today", b"Fri, 31 Jan 1020 10:11:12", b"Fri, 99 Foo 2020 99:11:12")),
        (b"x" * 9999, "", None),
    ):
        metadata = embedded(png_after_pixels((b"tEXt", b"Creation Time\0" + written)), "a.png").metadata
        expected = datetime.fromisoformat(moment) if moment else None
        assert (metadata.taken_local, metadata.utc_offset) == (expected, offset), written[:40]
    for month, moment in ((1, datetime.fromisoformat("2020-01-31T10:11:59")), (13, None)):
        body = struct.pack(">H5B", 2020, month, 31, 10, 11, 60)
        metadata = embedded(png_after_pixels((b"tIME", body)), "a.png").metadata
        assert (metadata.taken_local, metadata.modified_local) == (None, moment)
        assert metadata.modified_offset == (0 if moment else None)


def test_a_picture_stands_upright_by_metadata_behind_its_pixels(tmp_path):
    extraction = extracted(tmp_path, png_after_pixels((b"eXIf", PLAIN)), "a.png")
    assert (extraction.width, extraction.height, extraction.orientation) == (48, 64, 6)
    # Red and green above, blue and white below, turned clockwise.
    assert (extraction.colors[0], extraction.colors[2], extraction.colors[6], extraction.colors[8]) == (
        "6",
        "E",
        "4",
        "9",
    )


def test_thumbnails_stand_upright_by_the_same_orientation():
    for name in ("eXIf.png", "exif-profile.png", "jpeg.jpg"):
        data = WITH_EXIF[name]
        with open_shown(BytesIO(data), sniff(data[:512], name), 100) as (_, orientation):
            assert orientation == 6, name


def test_the_orientation_of_xmp_counts_where_exif_and_the_container_have_none(tmp_path):
    both = jpeg(exif=exif({0x0112: 1}), xmp=XMP)  # Exif comes first, even when it says upright
    for name, data, *expected in (
        *((name, WITH_XMP[name], 48, 64, 8) for name in ("text.png", "jpeg.jpg", "a.webp", "after.gif")),
        *((name, WITH_XMP[name], 64, 48, 1) for name in ("a.tif", "a.avif")),
        ("a.jpg", both, 64, 48, 1),
    ):
        extraction = extracted(tmp_path, data, name)
        assert [extraction.width, extraction.height, extraction.orientation] == expected, name


def test_the_metadata_of_a_heic_are_read_without_its_decoder(tmp_path, monkeypatch):
    register_heic.cache_clear()
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    extraction = extracted(tmp_path, WITH_EXIF["a.heic"], "a.heic")
    assert extraction.problem == Problem.of(Reason.MISSING_EXTRA, "heic")
    assert extraction.metadata.camera_model == "EOS R"


def test_bytes_between_the_segments_of_a_jpeg_are_skipped():
    data = WITH_EXIF["jpeg.jpg"]
    first = 4 + int.from_bytes(data[4:6], "big")  # behind the start of the file and its first segment
    assert embedded(data[:first] + b"\0\xff\0odd" + data[first:], "a.jpg").metadata.camera_model == "EOS R"


def test_the_xmp_of_a_cr3_is_read():
    data = box(b"ftyp", b"crx \0\0\0\1crx ") + box(b"uuid", XMP_BOX, XMP)
    assert embedded(data, "a.cr3").metadata.title == "From XMP"


def test_iptc_of_a_tiff_is_read_whatever_its_type_and_byte_order():
    for order in "<>":
        for kind in (1, 4, 7):
            records = IPTC + b"\0" * (-len(IPTC) % 4)
            if kind == 4 and order == "<":  # as programs write it that take the records for numbers
                records = b"".join(records[at : at + 4][::-1] for at in range(0, len(records), 4))
            count = len(records) // (4 if kind == 4 else 1)
            tags = struct.pack(order + "HHHII", 1, 0x83BB, kind, count, 26)
            head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
            assert embedded(head + tags + b"\0" * 4 + records, "a.tif").metadata.title == "From IPTC", (order, kind)
    data = encoded(quarters(), "TIFF", tiffinfo={0x8649: photoshop_resource(0x0404, IPTC)})
    assert embedded(data, "a.tif").metadata.title == "From IPTC"


def test_metadata_of_a_bigtiff_are_read():
    tags = [
        (0x010F, 2, 0, "Canon", True), (0x0110, 2, 0, "Canon EOS R", True), (0x9003, 2, 0, "2020:01:02 03:04:05", True),
        (0x829A, 5, 1, (1, 160), True), (0x8827, 3, 1, 200, True), (700, 1, len(XMP), XMP, True),
    ]  # fmt: skip
    for order in "<>":
        record = embedded(bigtiff(byteorder=order, extratags=tags), "a.tif")
        facts = record.metadata
        assert (facts.camera_model, facts.iso, facts.exposure, facts.title) == ("EOS R", 200, "1/160", "From XMP"), (
            order
        )
        assert (facts.taken_local, record.exif.size) == (datetime.fromisoformat("2020-01-02T03:04:05"), (64, 48))


def test_metadata_are_read_although_the_pixels_are_damaged(tmp_path):
    for name, mark, behind in (("jpeg.jpg", b"\xff\xda", 0), ("a.webp", b"VP8 ", 8), ("eXIf.png", b"IDAT", 4)):
        data = bytearray(WITH_EXIF[name])
        at = data.rfind(mark) + behind
        data[at : at + 60] = bytes(60)
        extraction = extracted(tmp_path, bytes(data), name)
        assert extraction.problem is not None, name
        assert extraction.metadata.camera_model == "EOS R", name


def test_texts_that_unpack_to_more_than_fits_are_cut():
    bomb = international_text("Comment", b"x" * 20_000_000, packed=True)
    packets = read_png(BytesIO(png_after_pixels(*[bomb] * 9)))
    assert sum(map(len, packets.texts.values())) <= 1 << 23


def png_with(*chunks, animated=False):
    """A PNG with these chunks, of type and content or as they are, before and after its pixels."""
    more = {"save_all": True, "append_images": [clouds(1, 64, 48)]} if animated else {}
    data = encoded(clouds(2, 64, 48), "PNG", **more)
    extra = b"".join(chunk if isinstance(chunk, bytes) else png_chunk(*chunk) for chunk in chunks)
    return data[:33] + extra + data[33:-12] + extra + data[-12:]


def broken(kind, content):
    """A chunk whose check sum is wrong."""
    return png_chunk(kind, content)[:-4] + b"nope"


HISTORY = xmp("<photoshop:History>" + "Apply Curves; " * 120_000 + "</photoshop:History>", 'xmp:Rating="3"')


def test_a_png_with_chunks_that_can_be_left_out_is_shown(tmp_path):
    assert len(HISTORY) > 1 << 20
    history = international_text("XML:com.adobe.xmp", HISTORY, packed=True)
    chunks = [
        history, (b"zTXt", b"Comment\0\0" + zlib.compress(bytes(3_000_000))),
        international_text("Comment", b"x" * 3_000_000), broken(b"tEXt", b"Comment\0x"),
        broken(b"eXIf", exif({0x010F: "Canon"})[6:]), broken(b"pHYs", bytes(9)), broken(b"gAMA", bytes(4)),
        broken(b"prVt", b"a private chunk"), (b"iTXt", b"damaged"), (b"zTXt", b"Comment\0\0damaged"),
    ]  # fmt: skip
    for animated in (False, True):
        plain = extracted(tmp_path, png_with(animated=animated), "a.png")
        for chunk in chunks:
            extraction = extracted(tmp_path, png_with(chunk, animated=animated), "b.png")
            assert (extraction.problem, extraction.colors) == (None, plain.colors), chunk[:2]
            assert extraction.frames == plain.frames == (2 if animated else 0), chunk[:2]
    assert extracted(tmp_path, png_with(history), "a.png").metadata.rating == 3


def test_a_png_whose_critical_chunk_is_damaged_is_damaged(tmp_path):
    for kind in (b"IHDR", b"PLTE"):
        data = bytearray(encoded(quarters().convert("P"), "PNG"))
        data[data.index(kind) + 5] ^= 1
        assert extracted(tmp_path, bytes(data), "a.png").problem is not None, kind


def test_a_packet_of_a_gif_is_found_across_the_steps_of_the_search():
    for padding in ((1 << 20) - 14, (1 << 20) - 7, 1 << 20, (1 << 20) + 1):
        data = b"GIF89a".ljust(padding, b"\1") + gif_with_xmp(XMP)
        assert read_gif(BytesIO(data)).xmp == XMP
    assert read_gif(BytesIO(encoded(quarters(), "GIF"))) == Packets()


def test_an_item_may_lie_in_the_data_of_the_meta_box():
    item = b"\0\0\0\0" + PLAIN
    infe = box(b"infe", b"\2\0\0\0", struct.pack(">HH", 1, 0), b"Exif", b"\0")
    iinf = box(b"iinf", b"\0\0\0\0", struct.pack(">H", 1), infe)
    iloc = box(b"iloc", b"\1\0\0\0\x44\0", struct.pack(">HHHHHII", 1, 1, 1, 0, 1, 0, len(item)))
    data = box(b"ftyp", b"heic\0\0\0\0heic") + box(b"meta", b"\0\0\0\0", iinf, iloc, box(b"idat", item))
    assert read_heif(BytesIO(data)).exif == PLAIN


def test_resources_have_names_and_odd_lengths():
    named = b"8BIM" + struct.pack(">H", 1) + b"\3abc" + struct.pack(">I", 3) + b"xyz\0"
    assert resource(named + photoshop_resource(0x0404, b"found"), 0x0404) == b"found"
    assert resource(b"8BIM\x04\x04\0\0\xff\xff\xff\xffrest", 0x0404) == b"rest"
    assert resource(b"", 1) == resource(b"8BIM", 1) == resource(b"no resource", 1) == b""


def extended(*portions, name=b"A" * 32, length=0, note=""):
    """A JPEG with a packet that names an extension, and portions (place, bytes) of one."""
    noted = xmp("<dc:subject><rdf:Bag><rdf:li>sea</rdf:li></rdf:Bag></dc:subject>", 'xmp:Rating="3"')
    attribute = f'xmlns:xmpNote="http://ns.adobe.com/xmp/note/" xmpNote:HasExtendedXMP="{note or "A" * 32}" xmp:Rating'
    data = jpeg(exif=EXIF, xmp=noted.replace(b"xmp:Rating", attribute.encode()))
    segments = b""
    for place, portion in portions:
        body = b"http://ns.adobe.com/xmp/extension/\0" + name + struct.pack(">II", length or 9999, place) + portion
        segments += b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body
    return data[:2] + segments + data[2:]


MORE = xmp(
    "<dc:title><rdf:Alt><rdf:li>More</rdf:li></rdf:Alt></dc:title>"
    "<dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>sand</rdf:li></rdf:Bag></dc:subject>",
    'xmp:Rating="5"',
)


def test_an_extension_of_xmp_is_read_in_the_order_of_its_portions():
    metadata = embedded(extended((500, MORE[500:]), (0, MORE[:500])), "a.jpg").metadata
    assert (metadata.title, metadata.rating, metadata.keywords) == ("More", 3, ("sea", "sand"))
    assert metadata.camera_model == "EOS R"


def test_an_extension_of_xmp_that_is_not_whole_is_left_out():
    for fault, data in {
        "of another packet": extended((0, MORE), note="B" * 32),
        "a gap": extended((0, MORE[:500]), (501, MORE[501:])),
        "no beginning": extended((500, MORE[500:])),
        "too long": extended((0, MORE), length=1 << 30),
        "cut": extended((0, MORE[:700])),
        "empty": extended((0, b"")),
    }.items():
        metadata = embedded(data, "a.jpg").metadata
        assert (metadata.title, metadata.rating, metadata.keywords) == ("", 3, ("sea",)), fault


def test_damaged_containers_give_their_intact_parts():
    drawn = random.Random(1)
    for samples in (WITH_EXIF, WITH_XMP, WITH_IPTC, {"b.tif": bigtiff(), "x.jpg": extended((0, MORE))}):
        for name, data in samples.items():
            row = sniff(data[:512], name)
            for _ in range(40):
                damaged = bytearray(data[: drawn.randrange(len(data) + 1)] if drawn.random() < 0.5 else data)
                for _ in range(drawn.randrange(6)):
                    if damaged:
                        damaged[drawn.randrange(len(damaged))] = drawn.choice(
                            (0, 1, 0x7F, 0x80, 0xFF, drawn.randrange(256))
                        )
                assert read_embedded(BytesIO(damaged), row) is not None


def test_metadata_behind_hundreds_of_segments_of_a_jpeg_are_read():
    data = WITH_EXIF["jpeg.jpg"]
    depth_map = (b"\xff\xeb" + struct.pack(">H", 102) + bytes(100)) * 1_600
    assert embedded(data[:2] + depth_map + data[2:], "a.jpg").metadata.camera_model == "EOS R"
