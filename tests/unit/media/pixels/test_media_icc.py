"""Colours that are not sRGB: profiles that Pillow leaves out, CIELAB and LogLuv; the part of an AVIF that is shown."""

import math
import random
import struct
from base64 import b64decode
from io import BytesIO

import pytest
from PIL import Image, ImageCms

from photosvc.media.icc import profile_name
from photosvc.media.isobmff import clean_aperture
from photosvc.media.jxl import JxlColours, read_colours
from photosvc.media.picture import open_shown, read_picture
from photosvc.pictures.render import draw
from photosvc.pictures.sizes import SIZES, Target
from tests.helpers.pictures import CORNERS, encoded, jxl, quarters, swapped_profile
from tests.unit.media.containers import box, near, row

ODD = swapped_profile()
AT = ((8, 6), (55, 6), (8, 41), (55, 41))


def shown(data, extension):
    """The colours of the four quarters in a thumbnail."""
    with open_shown(BytesIO(data), row(extension), 64) as (picture, orientation):
        (small,) = draw(picture, [Target(SIZES["fit_720"])], orientation)
    return [small.convert("RGB").getpixel((x * small.width // 64, y * small.height // 48)) for x, y in AT]


def name_of(data, extension):
    picture = read_picture(BytesIO(data), row(extension))
    assert (picture.problem, picture.width, picture.height) == (None, 64, 48)
    return picture.color_profile


def jp2_with(colours):
    """A JPEG 2000 whose colour specification box is this one."""
    data = encoded(quarters(), "JPEG2000", irreversible=True)
    at = data.index(b"colr") - 4
    old = data[at : at + int.from_bytes(data[at : at + 4], "big")]
    head = data.index(b"jp2h") - 4
    size = int.from_bytes(data[head : head + 4], "big") + len(colours) - len(old)
    return data[:head] + struct.pack(">I", size) + data[head + 4 :].replace(old, colours)


def bmp_with(profile, *, mark=b"DEBM"):
    picture = quarters().transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    pixels = picture.tobytes("raw", "BGR")
    head = struct.pack("<IiiHHIIiiII", 124, 64, 48, 1, 24, 0, len(pixels), 2835, 2835, 0, 0) + bytes(16) + mark
    head += bytes(48) + struct.pack("<IIII", 4, 124 + len(pixels), len(profile), 0)
    return b"BM" + struct.pack("<IHHI", 138 + len(pixels) + len(profile), 0, 0, 138) + head + pixels + profile


def tiff_with(photometric, bits, rows, *, packing=1):
    """A big-endian TIFF of 64 by 48 pixels and three samples in one strip."""
    tags = [
        (256, 3, [64]), (257, 3, [48]), (258, 3, [bits] * 3), (259, 3, [packing]), (262, 3, [photometric]),
        (273, 4, [8]), (277, 3, [3]), (278, 3, [48]), (279, 4, [len(rows)]), (284, 3, [1]),
    ]  # fmt: skip
    place = 8 + len(rows)
    extra, entries, blob = place + 2 + 12 * len(tags) + 4, b"", b""
    for tag, kind, values in tags:
        raw = b"".join(struct.pack(">H" if kind == 3 else ">I", value) for value in values)
        if len(raw) > 4:
            raw, blob = struct.pack(">I", extra + len(blob)), blob + raw
        entries += struct.pack(">HHI", tag, kind, len(values)) + raw.ljust(4, b"\0")
    return b"MM\0*" + struct.pack(">I", place) + rows + struct.pack(">H", len(tags)) + entries + bytes(4) + blob


def lab_rows(photometric, bits):
    """The four quarters in L*a*b*, whose axes are signed in CIELAB and shifted in ICC L*a*b*."""
    transform = ImageCms.buildTransform(ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), "RGB", "LAB")
    values = ImageCms.applyTransform(quarters(), transform).tobytes()  # signed
    lightness, axes = values[::3], [values[1::3], values[2::3]]
    if photometric == 9:
        axes = [bytes(value ^ 128 for value in axis) for axis in axes]
    rows = b""
    for light, a, b in zip(lightness, *axes, strict=True):
        if bits == 8:
            rows += bytes((light, a, b))
        else:
            rows += struct.pack(">HHH", light * 257 if photometric == 8 else light << 8, a << 8, b << 8)
    return rows


def log_luv_rows():
    """The four quarters in LogLuv of 32 bits, packed as libtiff packs it: each row by its bytes, the highest first."""

    def packed(colour):
        red, green, blue = (
            value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
            for value in (part / 255 for part in colour)
        )
        x = 0.4124564 * red + 0.3575761 * green + 0.1804375 * blue
        y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
        z = 0.0193339 * red + 0.1191920 * green + 0.9503041 * blue
        total = x + 15 * y + 3 * z
        return int(256 * (math.log2(y) + 64)) << 16 | int(410 * 4 * x / total) << 8 | int(410 * 9 * y / total)

    values = [packed(colour) for colour in CORNERS]
    rows = b""
    for number in range(48):
        line = [values[2 * (number >= 24) + (x >= 32)] for x in range(64)]
        for shift in (24, 16, 8, 0):
            rows += bytes([64]) + bytes(value >> shift & 255 for value in line)
    return rows


JP2 = jp2_with(box(b"colr", b"\2\0\0" + ODD))


#: Four quarters of 16 by 12 pixels, encoded with loss by cjxl. The first has the primaries of Display P3 as numbers.
LOSSY_BY_NUMBERS = b64decode(
    "/wpYMJAg5MyoKOIlKAdNyfsmhFcIaUmwBxMNAnEhABKIAgBMAnWmGgAAFSqjjBu8nOv58kOHxbSN6wxttW1hCWPiGWAhx8uCbNNz"
    "h4iH+AtRUEH1xPw26/TNex5d1pJH+p0jpRRMAaACoLLrVlQTyA7wJBVFSnmw0PhJ0862c6Msl+tfjLK9CDp+Ax854ZLFYe/Wlp0l"
    "Yj1oMMRBm86BjQGd++DiCp/VfZojMZLBV/SCcgCX4YBgBg=="
)
#: The second has an ICC profile that numbers cannot express: red and green exchanged, and a gamma of 1.5.
LOSSY_BY_PROFILE = b64decode(
    "/wpYMJDCa8OAhHkApKaowPDSvI5Om15jPow7DBpiGxsx4Cbz1GOYR/TdJPAuEnNPGOJhQJEh3NnGre3OJnF0bQ05Ojq6tIYDyDra"
    "OiPAVzyn5oyb3GIxFcCA/wtLK75mcajrxFUu+0pKThigaG0qKz3NVJff5v0l68fogVzW8R3g6CtsrmzqKSo9bIC1s+UATWVLS1lz"
    "yJ6V9RnVdBrrUAGe8vbv33zKW70J1A/Sv3/7Qv37108Ee1wI+Fr7BoLB1WEPAkP6wHkEyNYQFLtAtw5wsSz7xzwAkLwTnJrBnaBw"
    "5OYoqmzLhx2gUVeQcgeZmlAmDYzRfF3kAAASiAIAKAJFnRwAABUqo4wbvJzr+fJDh8W0jesMbbVtYQlj4hlgIcdLQ+xyitOcxkgR"
    "+eWXH575YemW52rnw0mmsTd9JO+8tSgAVABUrl2RaRIDAB8xzy1cJDWFKw3Ez3weNkKTAlxh9eCyui3ZP45aAvxRp4TbjNUG92dq"
    "xgg+BidSLbgocBSQ7NKzj48E5QY="
)


def test_a_lossy_jpeg_xl_has_the_colours_of_its_source():
    for data, name, expected in (
        (LOSSY_BY_NUMBERS, "Custom", [(240, 0, 0), (0, 163, 41), (29, 71, 187), (250, 250, 250)]),
        (LOSSY_BY_PROFILE, "odd! built-in", [(73, 233, 73), (191, 73, 106), (116, 85, 205), (252, 252, 252)]),
    ):
        picture = read_picture(BytesIO(data), row("jxl"))
        assert (picture.problem, picture.color_profile, picture.width) == (None, name, 16)
        assert near(shown(data, "jxl"), expected, 8), name


def test_the_colours_of_a_jpeg_xl_are_found_in_its_container():
    colours = read_colours(BytesIO(LOSSY_BY_NUMBERS))
    head = box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl \0\0\0\0jxl ")
    assert read_colours(BytesIO(head + box(b"jxlc", LOSSY_BY_NUMBERS))) == colours
    assert read_colours(BytesIO(head + box(b"jxlp", bytes(4), LOSSY_BY_NUMBERS))) == colours
    assert (len(colours.profile) > 400, colours.is_linear) == (True, False)
    assert read_colours(BytesIO(LOSSY_BY_PROFILE)).is_linear
    for plain in (jxl(quarters()), jxl(quarters(), lossless=True), head, b"\xff\x0a"):
        assert read_colours(BytesIO(plain)) == JxlColours()


@pytest.mark.parametrize(
    ("primaries", "transfer", "name"),
    [
        (11, 13, "Display P3"), (9, 1, "BT.2020"), (1, 8, "sRGB"), (1, 13, ""), (11, 16, "Display P3 PQ"),
        (9, 18, "BT.2020 HLG"), (11, 99, ""),
    ],
)  # fmt: skip
def test_the_colour_space_of_a_jpeg_xl_is_named_by_its_numbers(primaries, transfer, name):
    def number(value):
        return [(2, value)] if value < 2 else [(2, 2), (4, value - 2)] if value < 18 else [(2, 3), (6, value - 18)]

    fields = [(1, 1), (5, 0), (3, 1), (1, 0), (1, 0), (1, 0), (2, 0), (1, 1), (2, 0), (1, 1), (1, 0), (1, 0), (2, 0)]
    fields += [*number(1), *number(primaries), (1, 0), *number(transfer)]
    value = at = 0
    for width, field in fields:
        value, at = value | field << at, at + width
    profile = read_colours(BytesIO(b"\xff\x0a" + value.to_bytes(16, "little"))).profile
    picture = Image.new("RGB", (1, 1))
    picture.info["icc_profile"] = profile
    assert profile_name(picture) == name


def test_any_header_of_a_jpeg_xl_gets_an_answer():
    drawn = random.Random(6)
    for _ in range(500):
        head = b"\xff\x0a" + LOSSY_BY_NUMBERS[2 : drawn.randrange(2, 9)] + drawn.randbytes(drawn.randrange(60))
        colours = read_colours(BytesIO(head))
        assert colours.profile == b"" or isinstance(ImageCms.ImageCmsProfile(BytesIO(colours.profile)), object)


def test_the_profile_is_named_and_applied_in_every_format_and_one_that_is_none_changes_nothing():
    swapped = [(green, red, blue) for red, green, blue in CORNERS]
    lossless = jxl(quarters(), icc=ODD, lossless=True)
    for extension, data, name in (
        ("jp2", JP2, "odd! built-in"),
        ("bmp", bmp_with(ODD), "odd! built-in"),
        ("jxl", lossless, "odd! built-in"),
        ("png", encoded(quarters(), "PNG", icc_profile=ODD), "odd! built-in"),
        ("jp2", jp2_with(box(b"colr", b"\2\0\0" + b"no profile" * 9)), ""),
        ("bmp", bmp_with(b"no profile"), ""),
        ("bmp", bmp_with(ODD, mark=b"BGRs"), ""),
        ("bmp", bmp_with(b""), ""),
    ):
        assert name_of(data, extension) == name, (extension, data[-40:])
        assert near(shown(data, extension), swapped if name else CORNERS), (extension, data[-40:])


def test_a_floating_point_tiff_names_its_profile_and_is_not_converted_twice():
    tifffile, np = pytest.importorskip("tifffile"), pytest.importorskip("numpy")
    out = BytesIO()
    with tifffile.TiffWriter(out) as writer:
        light = np.asarray(quarters()).astype(np.float32) / 255
        writer.write(light, photometric="rgb", metadata=None, iccprofile=ODD)
    assert name_of(out.getvalue(), "tif") == "odd! built-in"
    first = shown(out.getvalue(), "tif")[0]
    assert first[0] > first[1]  # red is not exchanged with green


def test_a_tiff_in_lab_or_log_luv_has_its_colours():
    for photometric, bits in ((8, 8), (8, 16), (9, 8), (9, 16)):
        data = tiff_with(photometric, bits, lab_rows(photometric, bits))
        assert name_of(data, "tif") == ""
        assert near(shown(data, "tif"), CORNERS, 45), (photometric, bits)
        assert near(shown(data, "tif")[::3], CORNERS[::3], 12), (photometric, bits)
    data = tiff_with(32845, 16, log_luv_rows(), packing=34676)
    assert name_of(data, "tif") == ""
    assert near(shown(data, "tif"), CORNERS, 45)  # each axis of its colours has eight bits


def avif_with_aperture(*numbers):
    """An AVIF of 64 by 48 pixels whose first item has this clean aperture, in place of its pixel information."""
    data = bytearray(encoded(quarters(), "AVIF", quality=95))
    at = data.index(b"pixi") - 4
    length = int.from_bytes(data[at : at + 4], "big")
    clap = box(b"clap", struct.pack(">8i", *numbers))
    grown = len(clap) - length
    for name in (b"meta", b"iprp", b"ipco"):
        place = data.index(name) - 4
        data[place : place + 4] = struct.pack(">I", int.from_bytes(data[place : place + 4], "big") + grown)
    item = data.index(b"iloc")
    offset = data.index(b"mdat") + 4
    where = data.index(struct.pack(">I", offset), item)
    data[where : where + 4] = struct.pack(">I", offset + grown)
    data[at : at + length] = clap
    return bytes(data)


def numbered(form, primaries, transfer, levels):
    """A picture of four grey quarters whose colours are these numbers of H.273."""
    picture = Image.new("RGB", (64, 48))
    for at, level in zip(AT, levels, strict=True):
        picture.paste(
            (level, level, level), (at[0] // 32 * 32, at[1] // 24 * 24, at[0] // 32 * 32 + 32, at[1] // 24 * 24 + 24)
        )
    data = encoded(picture, form, quality=100)
    at = data.find(b"colrnclx") + 8
    if at < 8:
        pytest.skip("this version of pillow-heif writes no numbers of colours")
    return data[:at] + struct.pack(">HH", primaries, transfer) + data[at + 4 :]


@pytest.mark.parametrize(
    ("transfer", "levels", "expected"),
    [
        (16, (0, 99, 148, 192), (0, 105, 228, 255)),  # 0, 28, 203 and 1000 cd/m2
        (18, (0, 128, 191, 255), (0, 138, 228, 255)),  # 0, 51, 203 and 1000 cd/m2
    ],
)
@pytest.mark.parametrize("primaries", [1, 9, 12])
@pytest.mark.parametrize(("form", "extension"), [("AVIF", "avif"), ("HEIF", "heic")])
def test_light_of_pq_and_hlg_is_shown_as_bright_as_ordinary_light(
    form, extension, primaries, transfer, levels, expected
):
    if form == "HEIF":
        pytest.importorskip("pillow_heif").register_heif_opener()
    data = numbered(form, primaries, transfer, levels)
    assert near(shown(data, extension), [(level,) * 3 for level in expected], 3)
    name = {1: "BT.709", 9: "BT.2020", 12: "Display P3"}[primaries]
    assert name_of(data, extension) == f"{name} {'PQ' if transfer == 16 else 'HLG'}"


def test_colours_by_the_numbers_of_srgb_or_unknown_ones_are_left_as_they_are():
    for primaries, transfer in ((1, 13), (2, 2), (9, 99), (0, 0), (65535, 65535)):
        data = numbered("AVIF", primaries, transfer, (0, 99, 148, 192))
        assert near(shown(data, "avif"), [(level,) * 3 for level in (0, 99, 148, 192)], 2)
        assert name_of(data, "avif") == ""


def test_the_clean_aperture_of_an_avif_is_cut_out_if_it_is_a_part():
    data = avif_with_aperture(32, 1, 24, 1, -16, 1, 12, 1)  # the quarter below left
    picture = read_picture(BytesIO(data), row("avif"))
    assert (picture.problem, picture.width, picture.height) == (None, 32, 24)
    assert near(shown(data, "avif"), [CORNERS[2]] * 4)
    for numbers in (
        (64, 1, 48, 1, 0, 1, 0, 1), (65, 1, 48, 1, 0, 1, 0, 1), (32, 0, 24, 1, 0, 1, 0, 1), (32, 1, 24, 1, 20, 1, 0, 1),
        (0, 1, 0, 1, 0, 1, 0, 1), (-32, 1, -24, 1, 0, 1, 0, 1),
    ):  # fmt: skip
        assert clean_aperture(BytesIO(avif_with_aperture(*numbers)), (64, 48)) is None, numbers


def test_any_damage_leaves_an_aperture_within_the_picture():
    drawn = random.Random(4)
    whole = avif_with_aperture(32, 1, 24, 1, 0, 1, 0, 1)
    for _ in range(500):
        data = bytearray(whole[: drawn.randrange(1, len(whole) + 1)])
        for _ in range(drawn.randrange(6)):
            data[drawn.randrange(min(len(data), 400))] = drawn.randrange(256)
        box = clean_aperture(BytesIO(data), (64, 48))
        assert box is None or (0 <= box[0] < box[2] <= 64 and 0 <= box[1] < box[3] <= 48)
