"""Thumbnails as pixels: geometry, orientation, colours, alpha and encodings, against values worked out by hand."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from photosvc.pictures.render import render_thumbnails
from photosvc.pictures.sizes import NAMED, SIZES, Area, Target, needed_side, thumbnail_size
from tests.helpers.examples import examples
from tests.helpers.pictures import CORNERS, encoded, quarters, swapped_profile

T = Image.Transpose
#: How an upright picture is stored when its Exif orientation is this (TIFF 6.0, tag 274).
STORED = {
    1: None, 2: T.FLIP_LEFT_RIGHT, 3: T.ROTATE_180, 4: T.FLIP_TOP_BOTTOM, 5: T.TRANSPOSE, 6: T.ROTATE_90,
    7: T.TRANSVERSE, 8: T.ROTATE_270,
}  # fmt: skip


def thumbnail(data, *targets, orientation=1):
    """The decoded thumbnails; one alone without a list."""
    with Image.open(BytesIO(data)) as picture:
        made = [Image.open(BytesIO(result)) for result in render_thumbnails(picture, targets, orientation)]
    return made[0] if len(made) == 1 else made


def near(pixel, expected, tolerance=6):
    return all(abs(one - other) <= tolerance for one, other in zip(pixel, expected, strict=True))


def corners(picture):
    width, height = picture.size
    points = ((width // 8, height // 8), (width * 7 // 8, height // 8), (width // 8, height * 7 // 8))
    return [picture.convert("RGB").getpixel(point) for point in (*points, (width * 7 // 8, height * 7 // 8))]


def test_every_orientation_comes_out_upright():
    sizes = [Target(SIZES[name]) for name in ("fit_720", "tile_100", "left_224")]
    for orientation, turn in STORED.items():
        upright = quarters(160, 120)
        data = encoded(upright if turn is None else upright.transpose(turn), "PNG")
        targets = (*sizes, Target(SIZES["fit_720"], Area(500, 0, 500, 500)))
        fit, tile, left, part = thumbnail(data, *targets, orientation=orientation)
        assert [one.size for one in (fit, tile, left, part)] == [(160, 120), (100, 100), (224, 224), (80, 60)], (
            orientation
        )
        assert all(map(near, corners(fit), CORNERS)), orientation
        assert all(map(near, corners(tile), CORNERS)), orientation
        assert near(left.getpixel((112, 20)), CORNERS[0]), orientation
        assert near(left.getpixel((112, 200)), CORNERS[2]), orientation
        assert near(part.getpixel((40, 30)), CORNERS[1]), orientation


@pytest.mark.parametrize(
    ("whole", "size", "expected"),
    [
        ((4000, 3000), "fit_1280", (1280, 960)), ((4000, 3000), "fit_720", (720, 540)),
        ((3000, 4000), "fit_1280", (768, 1024)), ((4000, 3000), "fit_1920", (1600, 1200)),
        ((640, 480), "fit_1280", (640, 480)), ((9000, 100), "fit_720", (720, 8)), ((9000, 3), "fit_720", (720, 1)),
        ((4000, 3000), "tile_500", (500, 500)), ((30, 20), "tile_500", (500, 500)),
        ((4000, 3000), "right_384", (384, 384)),
    ],
)  # fmt: skip
def test_fit_stays_inside_its_box_and_tile_fills_it(whole, size, expected):
    assert thumbnail_size(whole, SIZES[size]) == expected


@examples(100)
@given(st.integers(1, 12_000), st.integers(1, 12_000), st.sampled_from(sorted(SIZES)))
def test_no_picture_leaves_its_box_or_is_enlarged_to_fit(width, height, name):
    size = SIZES[name]
    made = thumbnail_size((width, height), size)
    assert 1 <= made[0] <= size.width
    assert 1 <= made[1] <= size.height
    if not size.fills:
        assert made[0] <= width
        assert made[1] <= height


@examples(100)
@given(st.integers(1, 90), st.integers(1, 90), st.sampled_from(sorted(NAMED)), st.integers(1, 8))
def test_pictures_of_every_shape_have_thumbnails(width, height, name, orientation):
    data = encoded(Image.new("RGB", (width, height), (10, 200, 30)), "JPEG")
    made = thumbnail(data, Target(NAMED[name]), orientation=orientation)
    whole = (height, width) if orientation >= 5 else (width, height)
    assert made.size == thumbnail_size(whole, NAMED[name])
    assert near(made.getpixel((0, 0)), (10, 200, 30))


def test_a_tile_is_cut_from_the_centre_and_sides_from_their_side():
    stripes = Image.new("RGB", (300, 100))
    for number, colour in enumerate(("red", "lime", "blue")):
        stripes.paste(colour, (number * 100, 0, number * 100 + 100, 100))
    made = thumbnail(
        encoded(stripes, "PNG"), Target(SIZES["tile_224"]), Target(SIZES["left_224"]), Target(SIZES["right_224"])
    )
    assert [picture.getpixel((112, 112)) for picture in made] == [(0, 255, 1), (254, 0, 0), (0, 0, 254)]


def test_pictures_of_every_mode_keep_their_tones_and_lie_on_white():
    half = Image.new("RGBA", (40, 40), (255, 0, 0, 0))
    half.paste((0, 0, 255, 128), (20, 0, 40, 40))
    palette = Image.new("P", (40, 40), 1)
    palette.putpalette([0, 0, 0, 0, 0, 200])
    palette.paste(0, (0, 0, 20, 40))
    white, grey = (255, 255, 255), Image.new("RGBA", (40, 40), (90, 90, 90, 255))
    deep = Image.frombytes("I;16", (40, 40), (b"\x00\x80" * 20 + b"\xff\xff" * 20) * 40)
    frames = {"save_all": True, "append_images": [Image.new("RGB", (40, 40), "lime")]}
    for data, left, right in (
        (encoded(half, "PNG"), white, (127, 127, 255)),
        (encoded(palette, "PNG", transparency=0), white, (0, 0, 200)),
        *((encoded(grey.convert(mode), "PNG"), (90, 90, 90), (90, 90, 90)) for mode in ("P", "L", "LA")),
        (encoded(Image.new("1", (40, 40), 1), "PNG"), white, white),
        (encoded(deep, "PNG"), (128, 128, 128), white),
        (encoded(Image.new("CMYK", (40, 40), (0, 255, 255, 0)), "JPEG", quality=95), (255, 0, 0), (255, 0, 0)),
        (encoded(Image.new("RGB", (40, 40), "red"), "GIF", **frames), (255, 0, 0), (255, 0, 0)),
    ):
        made = thumbnail(data, Target(SIZES["fit_720"]))
        assert made.mode in {"RGB", "L"}, data[:99]
        colours = [made.convert("RGB").getpixel(point) for point in ((5, 20), (35, 20))]
        assert near(colours[0], left, 12), (data[:99], colours)
        assert near(colours[1], right, 12), (data[:99], colours)


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP", "TIFF"])
def test_a_webp_keeps_transparency_and_a_jpeg_lies_on_white(kind):
    half = Image.new("RGBA", (160, 120), (200, 0, 0, 255))
    half.paste((0, 0, 0, 0), (80, 0, 160, 120))
    data = encoded(half, kind)
    for size in ("tile_50", "tile_100", "fit_720"):
        clear, plain = thumbnail(data, Target(SIZES[size], encoding="webp"), Target(SIZES[size]))
        red, gone = (clear.getpixel((clear.width * part // 8, clear.height // 2)) for part in (2, 6))
        assert near(red, (200, 0, 0, 255), 12), size
        assert (clear.mode, gone[3]) == ("RGBA", 0), size
        assert (plain.mode, near(plain.getpixel((plain.width * 6 // 8, 9)), (255, 255, 255))) == ("RGB", True), size
    assert thumbnail(encoded(half.convert("RGB"), kind), Target(SIZES["tile_100"], encoding="webp")).mode == "RGB"


def test_the_pixels_of_an_icon_keep_their_colours():
    icon = Image.new("RGB", (48, 32))
    colours = [(220, 30, 30), (30, 30, 220), (30, 200, 30)]
    icon.putdata([colours[x % 3] for _ in range(32) for x in range(48)])
    drawn = icon.convert("RGBA")
    drawn.putpixel((0, 0), (0, 0, 0, 0))
    for data in (encoded(icon, "PNG"), encoded(icon, "GIF"), encoded(drawn, "GIF")):
        for encoding, tolerance in (("jpg", 30), ("webp", 0)):
            made = thumbnail(data, Target(SIZES["fit_720"], encoding=encoding)).convert("RGB")
            for x in range(8, 40):
                assert near(made.getpixel((x, 16)), colours[x % 3], tolerance), (encoding, x)


def test_another_profile_is_converted_to_srgb_and_not_carried_along_and_a_damaged_one_is_srgb():
    red = Image.new("RGBA", (64, 64), (250, 20, 20, 255))
    red.paste((0, 0, 0, 0), (0, 0, 32, 64))
    for kind in ("JPEG", "PNG", "WEBP"):
        data = encoded(
            red if kind == "PNG" else Image.new("RGB", (64, 64), (250, 20, 20)), kind, icc_profile=swapped_profile()
        )
        made = thumbnail(data, Target(SIZES["fit_720"]))
        assert near(made.getpixel((54, 32)), (20, 250, 20), 14), kind
        assert kind != "PNG" or near(made.getpixel((10, 32)), (255, 255, 255))  # its alpha outlives the conversion
        assert "icc_profile" not in made.info, kind
    for profile in (b"no profile at all", b"\0" * 4096, b"x" * (2 << 20)):
        data = encoded(Image.new("RGB", (64, 64), (250, 20, 20)), "WEBP", lossless=True, icc_profile=profile)
        assert near(thumbnail(data, Target(SIZES["fit_720"])).getpixel((32, 32)), (250, 20, 20)), profile[:20]


@pytest.mark.parametrize(("encoding", "kind"), [("jpg", "JPEG"), ("webp", "WEBP"), ("png", "PNG")])
def test_a_thumbnail_has_the_requested_encoding_and_no_metadata(encoding, kind):
    data = encoded(quarters(300, 200), "JPEG", exif=Image.Exif().tobytes(), comment=b"secret")
    made = thumbnail(data, Target(SIZES["tile_224"], encoding=encoding))
    assert made.format == kind
    assert not set(made.info) & {"exif", "comment", "xmp"}


def test_a_jpeg_is_decoded_at_the_scale_that_oversamples_by_half():
    data = encoded(quarters(2000, 1500), "JPEG")
    for size, decoded in (("tile_100", (250, 188)), ("fit_720", (2000, 1500))):
        with Image.open(BytesIO(data)) as picture:
            render_thumbnails(picture, [Target(SIZES[size])])
            assert picture.size == decoded, size


@pytest.mark.parametrize(
    ("whole", "size", "area", "expected"),
    [
        ((4000, 3000), "fit_1280", Area(0, 0, 1000, 1000), 1280),
        ((4000, 3000), "tile_500", Area(0, 0, 1000, 1000), 667),
        ((4000, 3000), "tile_500", Area(0, 0, 100, 100), 6667),
        ((0, 0), "fit_1280", Area(0, 0, 1000, 1000), 1280),
    ],
)
def test_the_pixels_a_source_needs_follow_from_size_and_area(whole, size, area, expected):
    assert needed_side(whole, [Target(SIZES[size], area)]) == expected
