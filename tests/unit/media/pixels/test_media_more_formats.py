"""Formats beyond those of every browser: JPEG XL, JPEG 2000, PSD, SVG, unusual TIFF and AVIF."""

import struct
import sys
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from photosvc.core.problems import Problem, Reason
from photosvc.index.extract import extract
from photosvc.media import errors as extras
from photosvc.media.decode import scaled
from photosvc.media.errors import DecodeError
from photosvc.media.formats import HEAD_SIZE, sniff
from photosvc.media.picture import Picture, open_shown, read_picture
from tests.helpers.examples import examples
from tests.helpers.pictures import CORNERS, avif_with_plain_alpha, encoded, exif, jxl, quarters, tiff, xmp
from tests.unit.media.containers import box, row

BLOCK = exif({0x010F: "Canon", 0x0110: "Canon EOS R5", 0x0112: 1}, {0x9003: "2021:02:03 04:05:06"})


def shown(data, extension, longest=64):
    with open_shown(BytesIO(data), row(extension), longest) as (picture, orientation):
        return scaled(picture, longest, orientation)


def near(colour, other):
    return all(abs(a - b) <= 12 for a, b in zip(colour, other, strict=False))


def test_jpeg_xl_and_jpeg_2000_are_shown_with_their_metadata():
    whole = encoded(quarters(64, 48), "JPEG2000")
    for extension, data in (
        ("jp2", whole + box(b"uuid", b"JpgTiffExif->JP2" + BLOCK[6:])),
        ("jxl", jxl(quarters(64, 48), exif=BLOCK, xmp=xmp())),
    ):
        assert sniff(data[:512], "a.jpg").name == extension
        picture = read_picture(BytesIO(data), row(extension))
        assert (picture.problem, picture.width, picture.height) == (None, 64, 48)
        assert picture.metadata.camera_model == "EOS R5"
        assert str(picture.metadata.taken_local) == "2021-02-03 04:05:06"
        assert shows_quarters(shown(data, extension)), extension
    plain = jxl(quarters(64, 48))  # without a container
    assert plain[:2] == b"\xff\x0a"
    assert read_picture(BytesIO(plain), row("jxl")).problem is None
    assert shows_quarters(shown(plain, "jxl"))


def shows_quarters(small):
    return all(near(small.getpixel(at), CORNERS[n]) for n, at in enumerate([(2, 2), (61, 2), (2, 45), (61, 45)]))


#: A picture whose tiles begin at odd places, so that OpenJPEG fails at any reduction.
ODD_TILES = encoded(
    quarters(640, 480), "JPEG2000", tile_size=(50, 35), offset=(31, 17), tile_offset=(20, 10), num_resolutions=4
)


#: One whose first COD marker stands in its metadata, and promises more resolutions than it has.
FALSE_LEVELS = encoded(quarters(640, 480), "JPEG2000", num_resolutions=2)
FALSE_LEVELS = FALSE_LEVELS[:32] + box(b"xml ", b"\xff\x52" + bytes([9] * 20)) + FALSE_LEVELS[32:]


def test_a_jpeg_2000_that_cannot_be_reduced_is_decoded_in_full_below_the_memory(monkeypatch):
    opened = Image.open(BytesIO(ODD_TILES))
    opened.reduce = 1
    with pytest.raises(OSError, match="broken"):
        opened.load()
    for data in (ODD_TILES, FALSE_LEVELS):
        picture = read_picture(BytesIO(data), row("jp2"))
        assert (picture.problem, picture.width, picture.height) == (None, 640, 480)
        assert shows_quarters(shown(data, "jp2", 64))
    assert read_picture(BytesIO(FALSE_LEVELS[: len(FALSE_LEVELS) // 9]), row("jp2")).problem is not None
    monkeypatch.setattr("photosvc.media.cost.available_memory", lambda: 640 * 480 * 20 // 2)
    assert read_picture(BytesIO(ODD_TILES), row("jp2")).problem == Problem.of(Reason.OVER_MEMORY, 6)


@pytest.mark.parametrize(
    ("data", "brightness"),
    [
        (tiff([20_000, 60_000] * 8, bits=16), (78, 234)),
        (tiff([20_000, 60_000] * 8, bits=16, big=True), (78, 234)),
        (tiff([20_000, 60_000] * 8, bits=16, big=True, order="<"), (78, 234)),
        (tiff([20_000, 60_000] * 8, bits=16, colours=0), (177, 21)),
        (tiff([20_000, 60_000] * 8, bits=16, planes=True, colours=0), (177, 21)),
        (tiff([1 << 30, 3 << 30] * 8, bits=32), (63, 191)),
        (tiff(([1 << 30] * 3 + [3 << 30] * 3) * 8, bits=32, samples=3), (63, 191)),
        (tiff([1 << 30, 3 << 30] * 24, bits=32, samples=3, planes=True), (63, 191)),
        (tiff([20_000, 60_000] * 24, bits=16, samples=3, planes=True), (78, 234)),
        (tiff([20_000, 60_000] * 24, bits=16, samples=3, planes=True, order="<"), (78, 234)),
        (tiff([45_535, 5_535] * 24 + [0] * 16, bits=16, samples=4, planes=True, colours=5), (87, 221)),
        (tiff(([20_000] * 3 + [60_000] * 3) * 8, bits=16, samples=3), (78, 234)),
        (tiff(([20_000] * 3 + [60_000] * 3) * 8, bits=16, samples=3, big=True), (78, 234)),
        (tiff([0.25, 1.0] * 8, bits=32, kind=3), (63, 255)),
        (tiff([0.25, 1.0] * 8, bits=16, kind=3), (63, 255)),
        (tiff(([0.2] * 3 + [1.0] * 3) * 8, bits=32, samples=3, kind=3), (124, 255)),
        (tiff(([0.2] * 3 + [1.0] * 3) * 8, bits=32, samples=3, kind=3, big=True, order="<"), (124, 255)),
        (tiff(([50] * 3 + [200] * 3) * 8, bits=8, samples=3, big=True), (50, 200)),
        (tiff(([20_000] * 5 + [60_000] * 5) * 8, bits=16, samples=5), (78, 234)),
        (tiff(([20_000] * 3 + [0] * 3 + [60_000] * 3 + [0] * 3) * 8, bits=16, samples=6, big=True), (78, 234)),
        (tiff(([0.2] * 5 + [1.0] * 5) * 8, bits=32, samples=5, kind=3), (124, 255)),
        (tiff(([50] * 515 + [200] * 515) * 8, bits=8, samples=515), (50, 200)),
    ],
    ids=["16", "16 big", "16 big little-endian", "16 inverted", "16 inverted plane", "32", "RGB 32", "RGB 32 planes",
         "RGB 16 planes", "RGB 16 planes little-endian", "CMYK 16 planes", "RGB 16", "RGB 16 big", "float", "half",
         "RGB float", "RGB float big little-endian", "RGB 8 big", "5 samples", "6 samples big", "5 floats",
         "515 samples"],
)  # fmt: skip
def test_a_tiff_of_any_layout_is_shown(data, brightness):
    picture = read_picture(BytesIO(data), row("tif"))
    assert (picture.problem, picture.width, picture.height) == (None, 2, 8)
    small = shown(data, "tif").convert("L")
    assert all(abs(small.getpixel((x, 4)) - value) <= 1 for x, value in enumerate(brightness))


LEVELS = (0.2, 0.7)


def of_levels(bits, samples, planes, colours):
    """Two columns of these levels in samples of `bits`, and the levels in eight bits."""
    top = (1 << bits) - 1
    dark, light = (round(level * top) for level in LEVELS)
    values = [dark, light] * 8 * samples if planes else ([dark] * samples + [light] * samples) * 8
    shown = [value * 255 / top for value in (dark, light)]
    more = [(338, [0])] if samples in (2, 4) else []
    options = {"bits": bits, "samples": samples, "planes": planes, "colours": colours, "more": more}
    return {"values": values, **options}, shown


@pytest.mark.parametrize("bits", [*range(1, 17), 24, 32])
def test_a_tiff_of_any_number_of_bits_is_shown_in_its_levels(bits):
    for samples, planes, colours in (
        (1, False, 1), (1, False, 0), (3, False, 2), (3, True, 2), (2, False, 1), (2, True, 1), (4, True, 2),
    ):  # fmt: skip
        options, levels = of_levels(bits, samples, planes, colours)
        for packing, tiles, order, big in (
            (1, False, "<", False), (1, True, ">", True), (5, False, ">", False), (8, True, "<", True),
            (8, False, ">", True),
        ):  # fmt: skip
            data = tiff(**options, packing=packing, tiles=tiles, order=order, big=big)
            picture = read_picture(BytesIO(data), row("tif"))
            case = samples, planes, colours, packing, tiles, order, big
            assert (picture.problem, picture.width, picture.height) == (None, 2, 8), case
            small = shown(data, "tif").convert("RGB")
            for x, stored in enumerate(levels):
                level = 255 - stored if colours == 0 else stored
                assert all(abs(value - level) <= 1.5 for value in small.getpixel((x, 4))), (
                    case,
                    small.getpixel((x, 4)),
                )


def test_a_tiff_of_few_bits_keeps_its_palette_transparency_inks_and_orientation():
    palette = [value for channel in range(3) for value in (channel * 20_000, *[0] * 60, 65_535, 0, 0)]
    indexed = tiff([0, 61] * 8, bits=6, colours=3, more=[(320, palette)])
    assert [shown(indexed, "tif").convert("RGB").getpixel((x, 3)) for x in (0, 1)] == [(0, 78, 156), (255, 255, 255)]
    white = [65_535 * (index == 8) for index in range(16)]
    mirrored = tiff([1, 0] * 8, bits=4, colours=3, more=[(266, [2]), (320, white * 3)])  # the lowest bits come first
    assert [shown(mirrored, "tif").convert("L").getpixel((x, 3)) for x in (0, 1)] == [0, 255]
    for kind, red in ((2, 63), (1, 21)):  # alone, or multiplied into the colours
        clear = tiff([red, 0, 0, 21, 0, 0, 0, 0] * 8, bits=6, samples=4, more=[(338, [kind])])
        small = shown(clear, "tif")
        assert (small.mode, small.getpixel((0, 3)), small.getpixel((1, 3))[3]) == ("RGBA", (255, 0, 0, 85), 0), kind
    inks = shown(tiff([1023, 0, 0, 0, 0, 0, 0, 1023] * 8, bits=10, samples=4, colours=5), "tif").convert("RGB")
    assert [inks.getpixel((x, 3)) for x in (0, 1)] == [(0, 255, 255), (0, 0, 0)]
    turned = tiff([0, 4095] * 8, bits=12, more=[(274, [6])])
    picture = read_picture(BytesIO(turned), row("tif"))
    assert (picture.width, picture.height, picture.orientation) == (8, 2, 6)
    assert [shown(turned, "tif").convert("L").getpixel((3, y)) for y in (0, 1)] == [0, 255]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (tiff([1, 2] * 8, bits=12, packing=5, more=[(317, [2])]),
         "bits 12, sample format 1, photometric 1, compression 5, predictor 2"),
        (tiff([1, 2] * 8, bits=4, packing=8, big=True, more=[(317, [2])]),
         "bits 4, sample format 1, photometric 1, compression 8, predictor 2"),
        (tiff([1, 2] * 24, bits=10, samples=3, colours=6), "bits 10, sample format 1, photometric 6, compression 1"),
        (tiff([1, 2] * 24, bits=14, samples=3, colours=8), "bits 14, sample format 1, photometric 8, compression 1"),
        (tiff([1, 2] * 8, bits=24, kind=3), "bits 24, sample format 3, photometric 1, compression 1"),
        (tiff([1, 2] * 8, bits=12, colours=3, more=[(320, [0] * 300)]),
         "bits 12, sample format 1, photometric 3, compression 1"),
        (tiff([1, 2] * 8, bits=8, packing=9999), "bits 8, sample format 1, photometric 1, compression 9999"),
    ],
)  # fmt: skip
def test_a_tiff_that_is_not_read_is_refused_with_its_layout(data, problem):
    assert read_picture(BytesIO(data), row("tif")).problem == Problem.of(Reason.UNREAD_PIXELS, problem)


def test_a_damaged_or_vast_tiff_of_other_bits_is_refused_by_its_reason(monkeypatch):
    for packing, reason in ((1, Reason.TRUNCATED), (8, Reason.UNDECODABLE)):
        data = tiff([1, 4000] * 2000, bits=12, packing=packing)
        directory = int.from_bytes(data[4:8])
        cut = data[:4] + struct.pack(">I", 8) + data[directory:] + data[8:100]
        assert read_picture(BytesIO(cut), row("tif")).problem.reason is reason, packing
    tags = {tag: (4, 4000, struct.pack(">I", value) * 4000) for tag, value in ((273, 0), (279, 120_000))}
    layout = {256: 8, 257: 4000, 258: 12, 259: 1, 262: 1, 277: 1, 278: 1}
    in_one_place = exif({**layout, **tags})[6:] + bytes(90_000)  # half a gigabyte of strips
    assert read_picture(BytesIO(in_one_place), row("tif")).problem.reason is Reason.TRUNCATED
    tile = tiff([1, 2] * 8, bits=12, tiles=True).replace(
        struct.pack(">HHIH", 323, 3, 1, 16), struct.pack(">HHIH", 323, 3, 1, 65_535)
    )
    tile = tile.replace(struct.pack(">HHIH", 322, 3, 1, 16), struct.pack(">HHIH", 322, 3, 1, 65_528))
    assert read_picture(BytesIO(tile), row("tif")).problem.reason is Reason.BAD_HEADER
    monkeypatch.setattr("photosvc.media.cost.available_memory", lambda: 1000)
    monkeypatch.setattr("photosvc.media.decode.has_extra", lambda _: False)
    assert read_picture(BytesIO(tiff([1, 2] * 800, bits=12)), row("tif")).problem.reason is Reason.OVER_MEMORY


def test_a_small_bigtiff_that_promises_gigabytes_is_refused():
    for tag, number, reason in ((256, 16_000_000, Reason.BOMB), (257, 50_000_000, Reason.UNDECODABLE)):
        data = bytearray(tiff(([50] * 3 + [200] * 3) * 8, bits=8, samples=3, big=True))
        entry = data.rindex(struct.pack(">HHQ", tag, 3, 1))
        data[entry : entry + 20] = struct.pack(">HHQI4x", tag, 4, 1, number)
        picture = read_picture(BytesIO(data), row("tif"))
        assert picture.problem.reason is reason
        assert (picture.width, picture.height) == ((number, 8) if tag == 256 else (2, number))


def test_an_old_avif_whose_alpha_has_no_size_is_shown():
    data = avif_with_plain_alpha()
    picture = read_picture(BytesIO(data), row("avif"))
    assert (picture.problem, picture.width, picture.height) == (None, 64, 48)
    red, green, blue, alpha = shown(data, "avif").getpixel((30, 20))
    assert near((red, green, blue, alpha), (200, 30, 30, 128))


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}">{}</svg>'


def test_an_svg_is_drawn_at_the_size_that_is_needed():
    data = SVG.format(400, 200, '<rect width="400" height="200" fill="#c81e1e"/>').encode()
    picture = read_picture(BytesIO(data), row("svg"))
    assert (picture.problem, picture.width, picture.height) == (None, 400, 200)
    small = shown(data, "svg", 100)
    assert (small.size, small.getpixel((50, 25))) == ((100, 50), (200, 30, 30, 255))


ADOBE = b"<!DOCTYPE svg [\n" + b'\t<!ENTITY ns_x "http://ns.adobe.com/Extensibility/1.0/">\n' * 200 + b"]>\n"


def test_an_svg_is_identified_by_its_first_element(tmp_path):
    path = tmp_path / "a.svg"
    for prefix in (
        b"", b"\xef\xbb\xbf", b'<?xml version="1.0"?>\n', b"<!-- drawn by hand -->\n", b"<!DOCTYPE svg>\n",
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\r\n',
        b"<?xml version='1.0'?>\n<!-- " + b"<html> licence > " * 1500 + b"-->\n", b"\n" * 40 + ADOBE,
        b"<!---->" + ADOBE,
    ):  # fmt: skip
        data = prefix + SVG.format(10, 10, '<rect width="10" height="10"/>').encode()
        assert sniff(data[:HEAD_SIZE], "a.jpg").name == "svg", prefix[:40]
        path.write_bytes(data)
        extraction = extract(path)
        assert (extraction.file_type, extraction.problem, extraction.width) == ("svg", None, 10), prefix[:40]
    assert sniff(b'<s:svg xmlns:s="http://www.w3.org/2000/svg"/>', "a.svg").name == "svg"


def test_a_file_without_an_svg_as_its_first_element_is_no_svg():
    for data in (
        b"<?xml version='1.0'?><html/>", b"<?xml version='1.0'?><html><svg/></html>", b"<!-- <svg> -->", b"<!-- <svg>",
        b"<!DOCTYPE svg [ <!ENTITY a '<svg>'>", b"<!DOCTYPE html><svg/>"[:15], b"<" * 40_000,
        b"<!--" * 10_000 + b"<svg", b"<!DOCTYPE svg [" * 3000, b"<? <svg>", b"<svgz/>", b"< svg>",
    ):  # fmt: skip
        assert sniff(data[:HEAD_SIZE], "a.svg") is None, data[:40]


def test_an_svg_opens_no_other_file(tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(encoded(Image.new("RGB", (10, 10), (255, 0, 0)), "PNG"))
    for href in (secret.as_uri(), str(secret), "secret.png"):
        data = SVG.format(10, 10, f'<image href="{href}" width="10" height="10"/>').encode()
        path = tmp_path / "a.svg"
        path.write_bytes(data)
        with path.open("rb") as source, open_shown(source, row("svg"), 10) as (picture, _):
            assert picture.getpixel((5, 5)) == (0, 0, 0, 0)


ENTITIES = "<!DOCTYPE svg [" + '<!ENTITY a "' + "x" * 1000 + '">' + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 50}">' for before, name in zip("abcd", "bcde", strict=True)
) + "]>"  # fmt: skip


def test_a_hostile_svg_is_refused_and_a_vast_one_drawn_small():
    for data in (
        ENTITIES + SVG.format(10, 10, "<text>&e;</text>"),
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + SVG.format(10, 10, "<text>&a;</text>"),
        SVG.format(10, 10, "<rect"),
    ):
        picture = read_picture(BytesIO(data.encode()), row("svg"))
        assert picture.problem.sentence == "the picture is damaged", data[:60]
    vast = SVG.format(400_000, 400_000, '<rect width="400000" height="400000" fill="#00f"/>').encode()
    picture = read_picture(BytesIO(vast), row("svg"))
    assert (picture.problem, picture.width, picture.colors.main_color) == (None, 400_000, 6)


@pytest.mark.parametrize(
    ("module", "extra", "extension", "data"),
    [
        ("pyvips", "vips", "svg", SVG.format(10, 10, "").encode()),
        ("pyvips", "vips", "tif", tiff(([0.2] * 3 + [1.0] * 3) * 8, bits=32, samples=3, kind=3)),
        ("pyvips", "vips", "avif", avif_with_plain_alpha()),
        ("pylibjxl", "jxl", "jxl", b"\xff\x0a" + b"\0" * 60),
    ],
)
def test_a_missing_extra_is_named(monkeypatch, module, extra, extension, data):
    from photosvc.media import decode

    extras.register_jxl.cache_clear()
    decode._library.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    picture = read_picture(BytesIO(data), row(extension))
    assert picture.problem.sentence == f"needs the extra \"{extra}\": pip install 'photosvc[{extra}]'"


def makers():
    return {
        "jxl": jxl(quarters(32, 24), exif=BLOCK),
        "jp2": encoded(quarters(32, 24), "JPEG2000"),
        "svg": SVG.format(32, 24, '<rect width="9" height="9"/><use href="#a"/>').encode(),
        "tif": tiff(([0.2] * 3 + [1.0] * 3) * 8, bits=32, samples=3, kind=3),
        "tiff": tiff([1, 900] * 24, bits=10, samples=3, planes=True, packing=8, tiles=True),
        "avif": avif_with_plain_alpha(),
    }


WHOLE = makers()


@examples(100, everyday=50)
@given(st.sampled_from(sorted(WHOLE)), st.data())
def test_any_damage_ends_as_a_picture_or_a_reason(extension, data):
    whole = bytearray(WHOLE[extension])
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = whole[: data.draw(st.integers(1, len(whole)))]
    picture = read_picture(BytesIO(cut), row(extension))
    assert isinstance(picture, Picture)
    assert (picture.colors is None) == (picture.problem is not None)
    with suppress(DecodeError):
        assert max(shown(bytes(cut), extension).size) <= 64
