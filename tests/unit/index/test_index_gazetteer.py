import json
import math
import re
import time
from gzip import compress
from importlib import resources

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from photosvc.core.geo import distance_m
from photosvc.index.places.gazetteer import UNKNOWN_PLACE, Gazetteer, Place, country_name
from photosvc.index.places.place import place_of
from tools import build_places

SHIPPED = Gazetteer.load()


def row(city, lat, lng, country="FJ", state="", population=2000):
    return {
        "country_code": country,
        "city": city,
        "state": state,
        "latitude": lat,
        "longitude": lng,
        "population": population,
    }


def gazetteer(tmp_path, *rows):
    source = tmp_path / "source.gz"
    source.write_bytes(compress(json.dumps(rows).encode()))
    return Gazetteer(build_places.pack(build_places.with_quarters_named(build_places.read(source))))


@pytest.mark.parametrize(
    ("position", "label", "state", "country"),
    [
        ((52.5163, 13.3777), "Berlin, Germany", "State of Berlin", "de"),
        ((48.8583, 2.2945), "Paris, Île-de-France, France", "Île-de-France", "fr"),
        ((40.7484, -73.9857), "New York City, New York, United States", "New York", "us"),
        ((-33.8568, 151.2153), "Sydney, New South Wales, Australia", "New South Wales", "au"),
        ((-13.163, -72.545), "Machupicchu, Cuzco Department, Peru", "Cuzco Department", "pe"),
        ((51.4779, 0.0), "London, England, United Kingdom", "England", "gb"),
        ((1.3, 103.85), "Singapore", "", "sg"),
        ((9.93, -84.08), "San José, Costa Rica", "San José", "cr"),
    ],
)
def test_well_known_positions_are_in_their_places(position, label, state, country):
    place = SHIPPED.lookup(*position)
    assert (place.label, place.state, place.country) == (label, state, country)
    assert place.label.startswith(place.city)


@pytest.mark.parametrize(
    "nowhere", [(0, 0), (90, 0), (-90, 0), (30, -40), (71, -168), (math.nan, 0), (91, 0), (0, -181)]
)
def test_the_open_sea_the_poles_and_no_position_are_in_no_place(nowhere):
    assert SHIPPED.lookup(*nowhere) is None


def test_far_from_any_place_only_the_country_is_told():
    assert SHIPPED.lookup(-23.5, 124.0) == Place("au:rwTgCBRsmH6S", "Australia", "", "", "au")


def test_the_identifier_of_a_place_never_changes():
    assert SHIPPED.lookup(48.8583, 2.2945).id == "fr:GaPwFAO34wgf"
    assert place_of("Paris", "Île-de-France", "fr").id == "fr:GaPwFAO34wgf"
    assert place_of("Paris", "Texas", "us").id != place_of("Paris", "Kentucky", "us").id
    assert re.fullmatch(r"fr:[0-9A-Za-z]{12}", place_of("Paris", "Île-de-France", "fr").id)


def test_the_unknown_place_is_the_one_of_the_wire():
    assert Place("zz", "Unknown", "Unknown", "Unknown", "zz") == UNKNOWN_PLACE


def test_labels_do_not_repeat_themselves():
    assert place_of("Panamá", "Panamá", "pa").label == "Panama"
    assert place_of("Monaco", "Municipality of Monaco", "mc").label == "Monaco"
    assert place_of("Longyearbyen", "Svalbard", "sj").label == "Longyearbyen, Svalbard and Jan Mayen"
    assert place_of("Oklahoma City", "Oklahoma", "us").label == "Oklahoma City, Oklahoma, United States"


def test_countries_have_english_names():
    assert country_name("de") == country_name("DE") == "Germany"
    assert country_name("xk") == "Kosovo"
    assert country_name("zz") == country_name("") == country_name("nonsense") == "Unknown"


def test_every_country_of_the_table_has_a_name():
    codes = {code for code, _ in SHIPPED._region_names}
    assert len(codes) == 245
    assert all(country_name(code) != "Unknown" for code in codes)


def test_the_nearest_place_wins_over_the_antimeridian(tmp_path):
    fiji = gazetteer(tmp_path, row("West", 0.0, 179.5), row("East", 0.0, -179.9))
    assert fiji.lookup(0.0, 179.9).city == "East"
    assert fiji.lookup(0.0, 180.0).city == fiji.lookup(0.0, -180.0).city == "East"
    assert fiji.lookup(0.0, 179.6).city == "West"


def test_the_nearest_place_wins_over_a_pole(tmp_path):
    north = gazetteer(tmp_path, row("Near", 89.9, 170.0), row("Far", 89.5, -10.0))
    assert north.lookup(89.9, -10.0).city == "Near"
    assert north.lookup(89.65, -10.0).city == "Far"
    assert north.lookup(90.0, 0.0).city == "Near"


def test_a_quarter_carries_the_name_of_its_city(tmp_path):
    city = gazetteer(
        tmp_path,
        row("Large", 10.0, 10.0, population=1_000_000),
        row("Quarter", 10.03, 10.0, population=50_000),
        row("Suburb", 10.08, 10.0, population=50_000),
        row("Over the border", 10.0, 10.03, country="TO"),
    )
    assert city.lookup(10.03, 10.0).city == "Large"
    assert city.lookup(10.08, 10.0).city == "Suburb"
    assert city.lookup(10.0, 10.03).city == "Over the border"


def test_no_name_breaks_the_packed_table(tmp_path):
    odd = gazetteer(tmp_path, row("A\nB\0C\t", 10.0, 10.0, state="X\tY"), row("D", 10.001, 10.0, state="Z"))
    assert odd.lookup(10.0, 10.0).city == "A B C"
    assert odd.lookup(10.0, 10.0).state == "X Y"
    assert odd.lookup(10.001, 10.0).city == "D"


@settings(max_examples=40, deadline=None)
@given(st.floats(-90, 90), st.floats(-180, 180))
@example(47.0, 8.0)
@example(-17.0, 180.0)
@example(0.0, -78.0)
def test_the_grid_finds_what_a_scan_of_the_whole_table_finds(lat, lng):
    positions = SHIPPED._positions
    lats, lngs = positions[::2], positions[1::2]
    near = [index for index, y in enumerate(lats) if abs(y / 1000 - 90 - lat) < 1]
    metres = [distance_m(lat, lng, lats[index] / 1000 - 90, lngs[index] / 1000 - 180) for index in near]
    place = SHIPPED.lookup(lat, lng)
    if metres and min(metres) <= 100_000:
        nearest = near[metres.index(min(metres))]
        assert place == SHIPPED._place(nearest)
    else:
        assert place is None or place.city == ""


def test_the_table_loads_quickly_and_is_small():
    packed = resources.files("photosvc.data").joinpath("places.bin").read_bytes()
    assert len(packed) < 2_500_000
    best = math.inf
    for _ in range(3):
        start = time.perf_counter()
        Gazetteer(packed)
        best = min(best, time.perf_counter() - start)
    assert best < 0.5  # 0.03 s where nobody else computes


def test_the_source_of_the_places_is_named():
    notice = resources.files("photosvc.data").joinpath("NOTICE").read_text("utf-8")
    assert "GeoNames" in notice
    assert "https://creativecommons.org/licenses/by/4.0/" in notice
