"""Exif orientations and their combinations, compared with the transpositions of Pillow."""

from itertools import product

import pytest
from PIL import Image
from PIL.Image import Transpose

from photosvc.core.orientation import followed_by, inverse, swaps_sides, turned_box

ALL = range(1, 9)
#: What shows a picture of each orientation upright.
TURNS = {
    2: Transpose.FLIP_LEFT_RIGHT,
    3: Transpose.ROTATE_180,
    4: Transpose.FLIP_TOP_BOTTOM,
    5: Transpose.TRANSPOSE,
    6: Transpose.ROTATE_270,
    7: Transpose.TRANSVERSE,
    8: Transpose.ROTATE_90,
}


def turned(picture, *orientations):
    for orientation in orientations:
        picture = picture.transpose(TURNS[orientation]) if orientation in TURNS else picture
    return picture.size, picture.tobytes()


@pytest.fixture(scope="module")
def picture():
    """Six pixels of different grey."""
    return Image.frombytes("L", (3, 2), bytes(range(6)))


def test_one_orientation_combines_two(picture):
    for first, then in product(ALL, ALL):
        assert turned(picture, followed_by(first, then)) == turned(picture, first, then), (first, then)


@pytest.mark.parametrize("orientation", ALL)
def test_the_inverse_undoes_an_orientation(picture, orientation):
    assert turned(picture, orientation, inverse(orientation)) == turned(picture)
    assert followed_by(orientation, inverse(orientation)) == 1


@pytest.mark.parametrize("orientation", ALL)
def test_width_becomes_height_as_in_the_picture(picture, orientation):
    assert swaps_sides(orientation) == (turned(picture, orientation)[0] == (2, 3))


@pytest.mark.parametrize("orientation", ALL)
def test_a_turned_box_shows_the_same_pixels_of_the_turned_picture(orientation):
    picture = Image.effect_noise((30, 20), 90)
    whole = picture.transpose(TURNS[orientation]) if orientation in TURNS else picture
    shown = picture.crop((3, 2, 11, 13))
    shown = shown.transpose(TURNS[orientation]) if orientation in TURNS else shown
    assert whole.crop(turned_box((3, 2, 11, 13), orientation, 30, 20)).tobytes() == shown.tobytes()


@pytest.mark.parametrize("unknown", [-1, 0, 9, 65_535])
def test_an_unknown_orientation_turns_nothing(unknown):
    assert [followed_by(unknown, 6), followed_by(6, unknown), followed_by(unknown, unknown)] == [6, 6, 1]
