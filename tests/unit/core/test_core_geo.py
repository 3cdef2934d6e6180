import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.errors import InvalidValueError
from photosvc.core.geo import bounding_boxes, cell_range, cell_token, chord, decode_plus_code, distance_m, unit_vector
from tests.helpers.examples import examples

latitudes = st.floats(-90, 90) | st.sampled_from([-90.0, 0.0, 90.0, 89.9999999])
longitudes = st.floats(-180, 180) | st.sampled_from([-180.0, 0.0, 180.0, 179.9999999])
radii = st.floats(0, 25_000_000) | st.sampled_from([0.0, 5.0, 2_000.0, 5_000_000.0])


def move(lat, lng, bearing, metres):
    """Where one lands: the direct problem on a sphere by vectors, independent of the code under test."""
    angle, phi, lam = metres / 6_371_008.8, math.radians(lat), math.radians(lng)
    here = (math.cos(phi) * math.cos(lam), math.cos(phi) * math.sin(lam), math.sin(phi))
    north = (-math.sin(phi) * math.cos(lam), -math.sin(phi) * math.sin(lam), math.cos(phi))
    east = (-math.sin(lam), math.cos(lam), 0.0)
    x, y, z = (
        p * math.cos(angle) + math.sin(angle) * (n * math.cos(bearing) + e * math.sin(bearing))
        for p, n, e in zip(here, north, east, strict=True)
    )
    return math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))


def holds(box, lat, lng):
    return box.south <= lat <= box.north and box.west <= lng <= box.east


@pytest.mark.parametrize(
    ("here", "there", "metres"),
    [
        ((52.5163, 13.3777), (48.8583, 2.2945), 879_094),  # Brandenburger Tor, Tour Eiffel
        ((0, 0), (0, 180), 20_015_115),
        ((0, 179.5), (0, -179.5), 111_195),
        ((90, 0), (-90, 77), 20_015_115),
        ((90, 10), (90, -120), 0),
        ((-33.8568, 151.2153), (-33.8568, 151.2153), 0),
    ],
)
def test_distances_are_those_of_a_great_circle(here, there, metres):
    assert distance_m(*here, *there) == pytest.approx(metres, rel=5e-4, abs=1e-3)


@examples(150)
@given(latitudes, longitudes, radii, st.floats(0, 1), st.floats(0, 2 * math.pi))
def test_boxes_hold_every_point_of_the_circle(lat, lng, radius, share, bearing):
    metres = min(radius, 20_000_000) * share
    point = move(lat, lng, bearing, metres)
    boxes = bounding_boxes(lat, lng, radius)
    assert 1 <= len(boxes) <= 2
    assert any(holds(box, *point) for box in boxes)
    for box in boxes:
        assert -90 <= box.south <= box.north <= 90
        assert -180 <= box.west <= box.east <= 180


@examples(100)
@given(latitudes, longitudes)
def test_a_small_circle_does_not_make_a_large_box(lat, lng):
    for box in bounding_boxes(lat, lng, 1000):
        assert (box.north - box.south) < 0.0181
        assert (box.east - box.west) == 360 or (box.east - box.west) * math.cos(math.radians(lat)) < 0.03


def test_a_circle_round_zero_is_an_ordinary_one():
    (box,) = bounding_boxes(0, 0, 1000)
    assert box == pytest.approx((-0.00899, 0.00899, -0.00899, 0.00899), rel=1e-3)


def test_a_circle_over_the_antimeridian_has_a_box_on_either_side():
    west, east = bounding_boxes(-17.0, 179.99, 5000)
    assert (west.east, east.west) == (180, -180)
    assert holds(west, -17, 179.95)
    assert holds(east, -17, -179.97)
    assert not holds(east, -17, -179.9)


def test_a_circle_round_a_pole_holds_all_longitudes():
    assert bounding_boxes(89.99, 20, 5000)[0][1:] == (90, -180, 180)


@pytest.mark.parametrize(
    "wrong", [(90.1, 0, 1), (0, 180.1, 1), (math.nan, 0, 1), (0, math.inf, 1), (0, 0, -1), (0, 0, math.nan)]
)
def test_a_circle_off_the_globe_is_refused(wrong):
    with pytest.raises(InvalidValueError):
        bounding_boxes(*wrong)


def test_a_cell_token_is_that_of_s2():
    assert cell_token(49.348, 8.3) == "47964b1ea7bc"
    assert cell_token(0, 0) == "100000000004"


@examples(150)
@given(latitudes, longitudes, st.integers(1, 16))
def test_a_cell_lies_in_the_range_of_each_cell_around_it(lat, lng, digits):
    import s2cell

    token = cell_token(lat, lng)
    assert len(token) == 12
    level = min(30, digits * 2)
    low, high = cell_range(s2cell.lat_lon_to_token(lat, lng, level))
    assert low <= token <= high
    assert (len(low), len(high)) == (12, 12)
    assert (low == high) == (level >= 21)


def test_the_range_of_a_parent_ends_where_its_sibling_begins():
    low, high = cell_range("s2:47964B")
    assert (low, high) == ("47964a000004", "47964bfffffc")
    assert cell_range("47964c")[0] == "479648000004"


@pytest.mark.parametrize("token", ["", "zz", "x", "0", "fff", "47964b\n", "12345678901234567", "s2:", "٤"])
def test_a_text_that_is_no_cell_is_refused(token):
    with pytest.raises(InvalidValueError):
        cell_range(token)


def test_a_cell_off_the_globe_is_refused():
    with pytest.raises(InvalidValueError):
        cell_token(math.nan, 0)


@pytest.mark.parametrize(
    ("code", "box"),
    [
        ("8FW4V75V+8Q", (48.85825, 48.858375, 2.294375, 2.2945)),  # Tour Eiffel
        ("8fw4v75v+8q", (48.85825, 48.858375, 2.294375, 2.2945)),
        ("6F000000+", (-10, 10, 0, 20)),
        ("22222222+22", (-90, -89.999875, -180, -179.999875)),
        ("CVXXXXXX+XX", (89.999875, 90, 179.999875, 180)),
        ("7FG49Q00+", (20.35, 20.4, 2.75, 2.8)),
        ("7FG49QCJ+2VXGJ", (20.370113, 20.370114, 2.782234375, 2.782236328125)),
    ],
)
def test_a_plus_code_names_a_box(code, box):
    assert decode_plus_code(code) == pytest.approx(box, abs=1e-12)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "+",
        "V75V+8Q",
        "8FW4V75V",
        "8FW4V75V+8",
        "8FW40000+8Q",
        "8FW00000+",
        "00000000+",
        "F2000000+",
        "2X000000+",
        "8FA4V75V+8Q",
        "8FW4V75V+8Q\n",
        "8FW4V75V+" + "2" * 99,
    ],
)
def test_a_malformed_plus_code_is_refused(code):
    with pytest.raises(InvalidValueError):
        decode_plus_code(code)


@pytest.mark.parametrize(
    ("lat", "lng", "point"),
    [(0, 0, (1, 0, 0)), (0, 90, (0, 1, 0)), (0, 180, (-1, 0, 0)), (90, 17, (0, 0, 1)), (-90, 0, (0, 0, -1))],
)
def test_positions_are_points_of_the_unit_sphere(lat, lng, point):
    assert unit_vector(lat, lng) == pytest.approx(point, abs=1e-15)


@examples(100)
@given(latitudes, longitudes, latitudes, longitudes)
def test_a_chord_is_as_long_as_the_line_between_points_at_that_distance(lat, lng, other_lat, other_lng):
    straight = math.dist(unit_vector(lat, lng), unit_vector(other_lat, other_lng))
    assert chord(distance_m(lat, lng, other_lat, other_lng)) == pytest.approx(straight, abs=1e-7)


def test_the_longest_chord_is_the_diameter():
    assert chord(25_000_000) == 2
