"""The table of sizes, and areas written as twelve digits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.pictures.sizes import SIZES, USUAL, WHOLE, Area
from tests.helpers.examples import examples


def test_every_size_has_its_pixels():
    asked = {name: (size.width, size.height) for name, size in SIZES.items()}
    assert asked == {
        **{f"tile_{side}": (side, side) for side in (50, 100, 160, 224, 320, 384, 480, 500, 1080)},
        **{f"{side}_{pixels}": (pixels, pixels) for side in ("left", "right") for pixels in (224, 384, 480)},
        "fit_720": (720, 720),
        "fit_1280": (1280, 1024),
        "fit_1600": (1600, 900),
        "fit_1920": (1920, 1200),
        "fit_2048": (2048, 2048),
        "fit_2560": (2560, 1600),
        "fit_3840": (3840, 2400),
        "fit_4096": (4096, 4096),
        "fit_5120": (5120, 5120),
        "fit_7680": (7680, 4320),
    }


def test_the_usual_sizes_are_the_six_most_requested_ones_and_the_size_of_the_web_page():
    clients = ["tile_100", "tile_224", "tile_500", "fit_720", "fit_1280", "fit_1920"]
    assert [size.name for size in USUAL] == [*clients, "fit_360"]


def test_an_area_is_read_from_twelve_digits():
    assert Area.parse("0640c81f412c") == Area(100, 200, 500, 300)


@pytest.mark.parametrize(
    "text",
    [
        "", "0640c81f412", "0640c81f412cc", "0640c81f412g", "0640C81F412C", "0000003e9001", "000000000001",
        "3e8000001001",
    ],
)  # fmt: skip
def test_any_other_text_is_no_area(text):
    assert Area.parse(text) is None


@examples(100)
@given(st.integers(0, 999), st.integers(0, 999), st.integers(1, 1000), st.integers(1, 1000), st.integers(1, 9000))
def test_areas_survive_being_written_and_stay_inside_the_picture(x, y, w, h, side):
    area = Area(x, y, min(w, 1000 - x), min(h, 1000 - y))
    assert Area.parse(str(area)) == area
    left, upper, right, lower = area.box(side, side)
    assert 0 <= left < right <= side
    assert 0 <= upper < lower <= side


def test_the_whole_picture_is_its_whole_box():
    assert WHOLE.box(640, 480) == (0, 0, 640, 480)
