"""The merged picture of Photoshop files: right in every mode and depth, or refused with a reason."""

import random
import struct
from contextlib import suppress
from io import BytesIO
from itertools import product

import pytest
from PIL import Image, ImageCms

from photosvc.core.problems import Problem, Reason
from photosvc.media.decode import scaled
from photosvc.media.errors import DecodeError
from photosvc.media.formats import sniff
from photosvc.media.picture import open_shown, read_picture
from tests.unit.media.containers import near, photoshop_resource
from tests.unit.media.pixels.photoshop import alpha_names, photoshop

RED, GREEN, BLUE = (1.0, 0.0, 0.0, 1.0), (0.0, 0.5, 0.0, 1.0), (0.0, 0.0, 0.25, 1.0)
RGB = (RED, GREEN, BLUE)
#: The quarters of that picture in 8 bits.
SHOWN = [(255, 0, 0), (0, 128, 0), (0, 0, 64), (255, 255, 255)]
HALF = (0.5, 0.5, 0.5, 0.5)


def quarters_of(data: bytes) -> list[tuple[int, ...]]:
    row = sniff(data[:512], "a.psd")
    found = read_picture(BytesIO(data), row)
    assert (found.problem, found.width, found.height) == (None, 6, 4)
    with open_shown(BytesIO(data), row, 6) as (picture, _):
        small = scaled(picture, 6)
    return [small.getpixel(at) for at in ((0, 0), (5, 0), (0, 3), (5, 3))]


def problem_of(data: bytes) -> Problem | None:
    return read_picture(BytesIO(data), sniff(data[:512], "a.psd")).problem


def test_further_channels_are_selections_and_change_no_pixel():
    for version, packing, depth, further in product((1, 2), (0, 1), (8, 16), (0, 1, 4)):
        channels = [*RGB, *[HALF] * further]
        for more in ({"resources": alpha_names(*range(1, further + 1))}, {"layers": 2}):
            data = photoshop(3, depth, channels, packing=packing, version=version, **more)
            assert near(quarters_of(data), SHOWN, 1), (version, packing, depth, further, more)


def test_transparency_is_distinguished_from_selections():
    for (depth, level), packing in product(((8, 128), (16, 127)), (0, 1)):
        for further, sign in (
            (1, {"layers": -1}),
            (1, {"resources": alpha_names(0)}),
            (2, {"resources": alpha_names(0, 7)}),
        ):
            data = photoshop(1, depth, [HALF, *[HALF] * further], packing=packing, **sign)
            assert near(quarters_of(data), [(level, level, level, level)] * 4, 1), (depth, packing, sign)


@pytest.mark.parametrize("packing", [0, 1])
@pytest.mark.parametrize("depth", [8, 16])
def test_every_colour_mode_is_shown(depth, packing):
    grey = [(value, value, value) for value in (0, 128, 191, 255)]
    levels = (0.0, 0.5, 0.75, 1.0)
    assert near(quarters_of(photoshop(1, depth, [levels], packing=packing)), grey, 1)
    assert near(quarters_of(photoshop(8, depth, [levels], packing=packing, palette=bytes(600))), grey, 1)
    ink = [(0.0, 1.0, 1.0, 1.0), (1.0, 0.0, 1.0, 1.0), (1.0, 1.0, 0.0, 1.0), (1.0, 1.0, 1.0, 1.0)]
    colours = quarters_of(photoshop(4, depth, ink, packing=packing))
    assert near(colours, [(0, 255, 255), (255, 0, 255), (255, 255, 0), (255, 255, 255)], 1)
    lab = [(1.0, 0.0, 0.53, 0.53), (128 / 255,) * 2 + (208 / 255, 0.5), (128 / 255,) * 2 + (195 / 255, 0.5)]
    colours = quarters_of(photoshop(9, depth, lab, packing=packing))
    assert near(colours[:3], [(255, 255, 255), (0, 0, 0), (255, 0, 0)], 12)


@pytest.mark.parametrize("packing", [0, 1])
def test_pictures_of_one_bit_and_of_a_palette_are_shown(packing):
    colours = quarters_of(photoshop(0, 1, [(0, 1, 1, 0)], packing=packing))
    assert colours == [(255, 255, 255), (0, 0, 0), (0, 0, 0), (255, 255, 255)]
    palette = bytes(range(256)) + bytes(256) + bytes([9]) * 256
    index = [(1 / 255, 2 / 255, 3 / 255, 4 / 255)]
    colours = quarters_of(photoshop(2, 8, index, packing=packing, palette=palette))
    assert colours == [(1, 0, 9), (2, 0, 9), (3, 0, 9), (4, 0, 9)]
    clear = photoshop_resource(0x0417, b"\0\2")
    colours = quarters_of(photoshop(2, 8, index, packing=packing, palette=palette, resources=clear))
    assert [colour[3] for colour in colours] == [255, 0, 255, 255]


def test_a_psb_is_recognised_by_its_name_and_content():
    assert sniff(photoshop(3, 8, RGB, version=2)[:512], "a.PSB").name == "psd"


def test_the_name_of_the_profile_is_read():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = photoshop(3, 16, RGB, resources=photoshop_resource(0x040F, profile))
    assert read_picture(BytesIO(data), sniff(data[:512], "a.psd")).color_profile == "sRGB built-in"


def test_a_file_that_cannot_be_shown_right_is_refused_with_the_reason():
    assert problem_of(photoshop(7, 8, RGB)) == Problem.of(Reason.UNREAD_PIXELS, "multichannel")
    assert problem_of(photoshop(3, 32, [HALF] * 3)) == Problem.of(Reason.UNREAD_PIXELS, "mode 3, 32 bits")
    without = photoshop_resource(0x0421, bytes(5) + bytes(8))
    reason = Problem.of(Reason.UNREAD_PIXELS, "saved without its merged picture")
    assert problem_of(photoshop(3, 8, RGB, resources=without)) == reason
    data = bytearray(photoshop(3, 8, RGB))
    struct.pack_into(">H", data, len(data) - 24 * 3 - 2, 3)
    assert problem_of(bytes(data)) == Problem.of(Reason.UNREAD_PIXELS, "packing 3")
    assert problem_of(photoshop(3, 8, RGB[:2])) == Problem(Reason.BAD_HEADER)


def test_a_cut_file_is_truncated():
    for depth, packing in product((8, 16), (0, 1)):
        problem = problem_of(photoshop(3, depth, RGB, packing=packing)[:-9])
        assert problem is not None, (depth, packing)
        assert problem.reason in (Reason.TRUNCATED, Reason.UNDECODABLE)


def test_a_layer_section_that_is_longer_than_any_file_is_damage():
    data = bytearray(photoshop(3, 8, RGB, version=2))
    struct.pack_into(">Q", data, 34, (1 << 64) - 1)
    assert problem_of(bytes(data)) == Problem(Reason.TRUNCATED)


def test_any_damage_ends_as_a_picture_or_a_reason():
    drawn = random.Random(3)
    for _ in range(150):
        data = bytearray(
            photoshop(
                drawn.choice((0, 1, 2, 3, 4, 8, 9)), drawn.choice((1, 8, 16, 32)), [HALF] * 4,
                packing=drawn.randrange(2), version=drawn.choice((1, 2)), layers=drawn.choice((0, -1)),
            )
        )  # fmt: skip
        for _ in range(drawn.randrange(5)):
            data[drawn.randrange(14, len(data))] = drawn.choice((0, 1, 0x80, 0xFF, drawn.randrange(256)))
        data = data[: drawn.randrange(26, len(data) + 1)]
        found = read_picture(BytesIO(data), sniff(bytes(data[:512]), "a.psd"))
        assert (found.colors is None) == (found.problem is not None)
        with suppress(DecodeError), open_shown(BytesIO(data), sniff(bytes(data[:512]), "a.psd"), 6) as (picture, _):
            assert isinstance(picture, Image.Image)
            scaled(picture, 6)
