"""Thumbnails as pixels: geometry, orientation, colours, alpha and encodings, against values worked out by hand."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from photosvc.pictures.render import render
from photosvc.pictures.sizes import SIZES, Area, Target, needed_side, thumbnail_size
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
        made = [Image.open(BytesIO(result)) for result in render(picture, targets, orientation)]
    return made[0] if len(made) == 1 else made


def near(pixel, expected, tolerance=6):
    return all(abs(one - other) <= tolerance for one, other in zip(pixel, expected, strict=True))


def corners(picture):
    width, height = picture.size
    points = ((width // 8, height // 8), (width * 7 // 8, height // 8), (width // 8, height * 7 // 8))
    return [picture.convert("RGB").getpixel(point) for point in (*points, (width * 7 // 8, height * 7 // 8))]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_comes_out_upright(orientation, kind):
    upright = quarters(1600, 1200)
    turn = STORED[orientation]
    data = encoded(upright if turn is None else upright.transpose(turn), kind)
    fit, tile, left, part = thumbnail(
        data,
        Target(SIZES["fit_720"]),
        Target(SIZES["tile_100"]),
        Target(SIZES["left_224"]),
        Target(SIZES["fit_720"], Area(500, 0, 500, 500)),
        orientation=orientation,
    )
    assert (fit.size, tile.size, left.size, part.size) == ((720, 540), (100, 100), (224, 224), (720, 540))
    assert all(map(near, corners(fit), CORNERS))
    assert all(map(near, corners(tile), CORNERS))
    assert near(left.getpixel((112, 20)), CORNERS[0])
    assert near(left.getpixel((112, 200)), CORNERS[2])
    assert near(part.getpixel((360, 270)), CORNERS[1])


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
@given(st.integers(1, 90), st.integers(1, 90), st.sampled_from(sorted(SIZES)), st.integers(1, 8))
def test_pictures_of_every_shape_have_thumbnails(width, height, name, orientation):
    data = encoded(Image.new("RGB", (width, height), (10, 200, 30)), "JPEG")
    made = thumbnail(data, Target(SIZES[name]), orientation=orientation)
    whole = (height, width) if orientation >= 5 else (width, height)
    assert made.size == thumbnail_size(whole, SIZES[name])
    assert near(made.getpixel((0, 0)), (10, 200, 30))


def test_a_tile_is_cut_from_the_centre_and_sides_from_their_side():
    stripes = Image.new("RGB", (300, 100))
    for number, colour in enumerate(("red", "lime", "blue")):
        stripes.paste(colour, (number * 100, 0, number * 100 + 100, 100))
    made = thumbnail(
        encoded(stripes, "PNG"), Target(SIZES["tile_224"]), Target(SIZES["left_224"]), Target(SIZES["right_224"])
    )
    assert [picture.getpixel((112, 112)) for picture in made] == [(0, 255, 1), (254, 0, 0), (0, 0, 254)]


def test_alpha_lies_on_white():
    picture = Image.new("RGBA", (100, 100), (255, 0, 0, 0))
    picture.paste((0, 0, 255, 128), (50, 0, 100, 100))
    made = thumbnail(encoded(picture, "PNG"), Target(SIZES["fit_720"]))
    assert near(made.getpixel((20, 50)), (255, 255, 255))
    assert near(made.getpixel((80, 50)), (127, 127, 255))


@pytest.mark.parametrize("mode", ["P", "L", "1", "LA"])
def test_palettes_and_grey_pictures_keep_their_tones(mode):
    picture = Image.new("RGBA" if mode == "P" else "LA", (60, 40), (90, 90, 90, 255) if mode == "P" else (90, 255))
    if mode == "1":
        picture = Image.new("1", (60, 40), 1)
    expected = (255, 255, 255) if mode == "1" else (90, 90, 90)
    made = thumbnail(encoded(picture.convert(mode), "PNG"), Target(SIZES["fit_720"]))
    assert near(made.getpixel((30, 20)), expected, 8)


def test_a_palette_with_a_transparent_entry_lies_on_white():
    picture = Image.new("P", (40, 40), 1)
    picture.putpalette([0, 0, 0, 0, 0, 200])
    picture.paste(0, (0, 0, 20, 40))
    made = thumbnail(encoded(picture, "PNG", transparency=0), Target(SIZES["fit_720"]))
    assert near(made.getpixel((5, 20)), (255, 255, 255))
    assert near(made.getpixel((35, 20)), (0, 0, 200))


def test_sixteen_bits_keep_their_brightness():
    row = b"\x00\x80" * 20 + b"\xff\xff" * 20
    picture = Image.frombytes("I;16", (40, 40), row * 40)
    made = thumbnail(encoded(picture, "PNG"), Target(SIZES["fit_720"]))
    assert near(made.getpixel((5, 20)), (128, 128, 128))
    assert near(made.getpixel((35, 20)), (255, 255, 255))


def test_cmyk_becomes_rgb():
    picture = Image.new("CMYK", (64, 64), (0, 255, 255, 0))
    made = thumbnail(encoded(picture, "JPEG", quality=95), Target(SIZES["fit_720"]))
    assert made.mode == "RGB"
    assert near(made.getpixel((32, 32)), (255, 0, 0), 12)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_another_profile_is_converted_to_srgb_and_not_carried_along(kind):
    data = encoded(Image.new("RGB", (64, 64), (250, 20, 20)), kind, icc_profile=swapped_profile())
    made = thumbnail(data, Target(SIZES["fit_720"]))
    assert near(made.getpixel((32, 32)), (20, 250, 20), 14)
    assert "icc_profile" not in made.info


def test_alpha_outlives_the_conversion_of_the_profile():
    picture = Image.new("RGBA", (64, 64), (250, 20, 20, 255))
    picture.paste((0, 0, 0, 0), (0, 0, 32, 64))
    made = thumbnail(encoded(picture, "PNG", icc_profile=swapped_profile()), Target(SIZES["fit_720"]))
    assert near(made.getpixel((10, 32)), (255, 255, 255))
    assert near(made.getpixel((54, 32)), (20, 250, 20), 14)


@pytest.mark.parametrize("profile", [b"no profile at all", b"\0" * 4096, b"x" * (2 << 20)])
def test_a_damaged_profile_counts_as_srgb(profile):
    data = encoded(Image.new("RGB", (64, 64), (250, 20, 20)), "WEBP", lossless=True, icc_profile=profile)
    assert near(thumbnail(data, Target(SIZES["fit_720"])).getpixel((32, 32)), (250, 20, 20))


def test_an_animation_shows_its_first_frame():
    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "lime")]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert near(thumbnail(data, Target(SIZES["fit_720"])).getpixel((20, 20)), (255, 0, 0))


@pytest.mark.parametrize(("encoding", "kind"), [("jpg", "JPEG"), ("webp", "WEBP")])
def test_the_encoding_is_the_one_asked_for_and_carries_no_metadata(encoding, kind):
    data = encoded(quarters(300, 200), "JPEG", exif=Image.Exif().tobytes(), comment=b"secret")
    made = thumbnail(data, Target(SIZES["tile_224"], encoding=encoding))
    assert made.format == kind
    assert not set(made.info) & {"exif", "comment", "xmp"}


def test_a_jpeg_is_decoded_at_the_scale_that_oversamples_by_half():
    with Image.open(BytesIO(encoded(quarters(4000, 3000), "JPEG"))) as picture:
        render(picture, [Target(SIZES["tile_224"])])
        assert picture.size == (500, 375)
    with Image.open(BytesIO(encoded(quarters(4000, 3000), "JPEG"))) as picture:
        render(picture, [Target(SIZES["fit_1280"])])
        assert picture.size == (2000, 1500)


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
