import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from photosvc.core.vocabulary import COLORS
from photosvc.media.colours import chroma, color_id, colors_of, difference_hash, main_color, read_colors, to_lab
from tests.helpers.examples import examples

DOCUMENTED = (
    "000000 9e9e9e 795548 ffdf00 ffffff 9c27b0 3f51b5 00bcd4 009688 4caf50 cddc39 ffeb3b ff00ff ff9800 f44336 e91e63"
)
PIXEL = st.tuples(*[st.integers(0, 255)] * 3)


def hexadecimal(digits):
    return [int(digit, 16) for digit in digits]


def test_the_documented_example_has_colour_brown_and_difference_767():
    assert main_color(hexadecimal("616121222")) == 2
    assert difference_hash(hexadecimal("AACA5A888")) == 767


@pytest.mark.parametrize(("number", "colour"), list(enumerate(DOCUMENTED.split())))
def test_each_documented_colour_is_itself(number, colour):
    assert color_id(tuple(bytes.fromhex(colour))) == number


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ("777777", "grey"), ("5a5c5f", "grey"), ("0f0e0d", "black"), ("0a143c", "blue"), ("87b4dc", "blue"),
        ("5a7832", "green"), ("f0eee6", "white"), ("3a1a4a", "purple"), ("7f0f12", "red"), ("ffc0cb", "pink"),
    ],
)  # fmt: skip
def test_everyday_shades_have_the_name_people_give_them(colour, name):
    assert COLORS[color_id(tuple(bytes.fromhex(colour)))] == name


def test_lab_agrees_with_published_values():
    assert to_lab((255, 255, 255)) == pytest.approx((1, 0, 0), abs=2e-4)
    assert to_lab((255, 0, 0)) == pytest.approx((0.5324, 0.8009, 0.6720), abs=2e-4)
    assert to_lab((0, 0, 255)) == pytest.approx((0.3230, 0.7919, -1.0786), abs=2e-4)
    assert chroma(to_lab((255, 0, 0))) == pytest.approx(1.0455, abs=2e-4)


def test_of_equal_weights_the_first_colour_to_reach_it_wins():
    assert main_color([9, 6, 6, 9, 0, 0, 0, 0, 0]) == 0
    assert main_color([9, 6, 6, 9, 1, 1, 1, 1, 1]) == 6
    assert main_color([1, 1, 1, 1, 1, 1, 1, 1, 10]) == 1


def test_a_flat_picture_has_one_colour_and_all_comparisons_true():
    colours = read_colors(Image.new("RGB", (50, 40), (255, 0, 0)))
    assert (colours.colors, colours.luminance, colours.main_color, colours.chroma, colours.diff) == (
        "EEEEEEEEE", "888888888", 14, 100, 1023,
    )  # fmt: skip


def test_transparency_counts_as_white():
    assert read_colors(Image.new("RGBA", (9, 9), (255, 0, 0, 0))).colors == "444444444"


def test_the_nine_pixels_are_read_row_by_row():
    picture = Image.new("RGB", (3, 3), "black")
    picture.putpixel((2, 0), (255, 255, 255))
    picture.putpixel((0, 1), (255, 0, 0))
    assert read_colors(picture).colors == "004E00000"


@examples(100)
@given(st.lists(PIXEL, min_size=9, max_size=9))
def test_any_nine_pixels_have_valid_colours(pixels):
    colours = colors_of(pixels)
    assert len(colours.colors) == len(colours.luminance) == 9
    assert int(colours.colors, 16) >= 0 <= int(colours.luminance, 16)
    assert 0 <= colours.main_color <= 15
    assert 0 <= colours.chroma <= 100
    assert 512 <= colours.diff <= 1023
    assert f"{colours.main_color:X}" in colours.colors
