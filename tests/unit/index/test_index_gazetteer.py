import json
import math
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from gzip import compress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from photosvc import data
from photosvc.core.geo import distance_m
from photosvc.index.gazetteer import Gazetteer, NamedPlace, country_name, place_of
from tests.helpers.examples import examples
from tools import build_places

SHIPPED = Gazetteer.load()


@pytest.fixture
def gazetteer(tmp_path):
    """A function that makes a gazetteer of these rows."""
    made = []

    def make(*rows):
        source, target = tmp_path / "source.gz", tmp_path / f"{len(made)}.sqlite"
        source.write_bytes(compress(json.dumps(rows).encode()))
        build_places.write(build_places.name_quarters(build_places.read(source)), target)
        made.append(Gazetteer(target))
        return made[-1]

    yield make
    for one in made:
        one._table.connection.close()


def test_the_identifier_of_a_place_never_changes():
    assert SHIPPED.lookup(48.8583, 2.2945).id == "fr:GaPwFAO34wgf"
    assert place_of("Paris", "Île-de-France", "fr").id == "fr:GaPwFAO34wgf"
    assert place_of("Paris", "Texas", "us").id != place_of("Paris", "Kentucky", "us").id
    assert re.fullmatch(r"fr:[0-9A-Za-z]{12}", place_of("Paris", "Île-de-France", "fr").id)


def test_labels_do_not_repeat_themselves():
    assert place_of("Panamá", "Panamá", "pa").label == "Panama"
    assert place_of("Monaco", "Municipality of Monaco", "mc").label == "Monaco"
    assert place_of("Longyearbyen", "Svalbard", "sj").label == "Longyearbyen, Svalbard and Jan Mayen"
    assert place_of("Oklahoma City", "Oklahoma", "us").label == "Oklahoma City, Oklahoma, United States"


def test_a_quarter_carries_the_name_of_its_city(gazetteer):
    city = gazetteer(
        row("Large", 10.0, 10.0, population=1_000_000),
        row("Quarter", 10.03, 10.0, population=50_000),
        row("Suburb", 10.08, 10.0, population=50_000),
        row("Over the border", 10.0, 10.03, country="TO"),
    )
    assert city.lookup(10.03, 10.0).city == "Large"
    assert city.lookup(10.08, 10.0).city == "Suburb"
    assert city.lookup(10.0, 10.03).city == "Over the border"


def test_control_characters_in_names_become_blanks(gazetteer):
    odd = gazetteer(row("A\nB\0C\t", 10.0, 10.0, state="X\tY"), row("D", 10.001, 10.0, state="Z"))
    assert odd.lookup(10.0, 10.0).city == "A B C"
    assert odd.lookup(10.0, 10.0).state == "X Y"
    assert odd.lookup(10.001, 10.0).city == "D"


@examples(40)
@given(st.floats(-90, 90), st.floats(-180, 180))
@example(47.0, 8.0)
@example(-17.0, 180.0)
@example(0.0, -78.0)
def test_the_nearest_place_is_that_of_a_scan_of_the_whole_table(lat, lng):
    rows = SHIPPED._table.connection.execute(
        "SELECT lat / 1000.0, lng / 1000.0, country, state, name FROM place JOIN region ON region.id = region"
        " WHERE abs(lat / 1000.0 - ?) < 1",
        (lat,),
    )
    near = [(distance_m(lat, lng, y, x), country, state, name) for y, x, country, state, name in rows]
    place = SHIPPED.lookup(lat, lng)
    if near and min(near)[0] <= 100_000:
        _, country, state, name = min(near)
        assert place == place_of(name, state, country)
    else:
        assert place is None or place.city == ""


def test_each_thread_that_looks_places_up_has_a_connection_of_its_own():
    with ThreadPoolExecutor(1) as other:
        elsewhere = other.submit(lambda: SHIPPED._table.connection).result()
        assert elsewhere is not SHIPPED._table.connection
        assert other.submit(SHIPPED.lookup, 52.5163, 13.3777).result().city == "Berlin"
        other.submit(elsewhere.close).result()


def row(city, lat, lng, country="FJ", state="", population=2000):
    place = {"country_code": country, "city": city, "state": state, "population": population}
    return {**place, "latitude": lat, "longitude": lng}


def test_well_known_positions_are_in_their_places_and_the_open_sea_and_poles_in_none():
    for position, label, state, country in (
        ((52.5163, 13.3777), "Berlin, Germany", "State of Berlin", "de"),
        ((48.8583, 2.2945), "Paris, Île-de-France, France", "Île-de-France", "fr"),
        ((40.7484, -73.9857), "New York City, New York, United States", "New York", "us"),
        ((-33.8568, 151.2153), "Sydney, New South Wales, Australia", "New South Wales", "au"),
        ((-13.163, -72.545), "Machupicchu, Cuzco Department, Peru", "Cuzco Department", "pe"),
        ((51.4779, 0.0), "London, England, United Kingdom", "England", "gb"),
        ((1.3, 103.85), "Singapore", "", "sg"),
        ((9.93, -84.08), "San José, Costa Rica", "San José", "cr"),
    ):
        place = SHIPPED.lookup(*position)
        assert (place.label, place.state, place.country) == (label, state, country)
        assert place.label.startswith(place.city)
    for nowhere in ((0, 0), (90, 0), (-90, 0), (30, -40), (71, -168), (math.nan, 0), (91, 0), (0, -181)):
        assert SHIPPED.lookup(*nowhere) is None, nowhere
    # Far from any place only the country is named.
    assert SHIPPED.lookup(-23.5, 124.0) == NamedPlace("au:rwTgCBRsmH6S", "Australia", "", "", "au")


def test_countries_have_english_names():
    assert country_name("de") == country_name("DE") == "Germany"
    assert country_name("xk") == "Kosovo"
    assert country_name("zz") == country_name("") == country_name("nonsense") == "Unknown"
    codes = {code for (code,) in SHIPPED._table.connection.execute("SELECT DISTINCT country FROM region")}
    assert len(codes) == 245
    assert all(country_name(code) != "Unknown" for code in codes)


def test_the_nearest_place_wins_over_the_antimeridian_and_over_a_pole(gazetteer):
    fiji = gazetteer(row("West", 0.0, 179.5), row("East", 0.0, -179.9))
    north = gazetteer(row("Near", 89.9, 170.0), row("Far", 89.5, -10.0))
    for places, lat, lng, city in (
        (fiji, 0.0, 179.9, "East"), (fiji, 0.0, 180.0, "East"), (fiji, 0.0, -180.0, "East"),
        (fiji, 0.0, 179.6, "West"), (north, 89.9, -10.0, "Near"), (north, 89.65, -10.0, "Far"),
        (north, 90.0, 0.0, "Near"),
    ):  # fmt: skip
        assert places.lookup(lat, lng).city == city, (lat, lng)


def test_the_table_cannot_be_written_takes_little_room_and_its_source_is_named():
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        SHIPPED._table.connection.execute("DELETE FROM place")
    assert data.PLACES.stat().st_size < 15_000_000
    notice = data.PLACES.with_name("NOTICE").read_text("utf-8")
    assert "GeoNames" in notice
    assert "https://creativecommons.org/licenses/by/4.0/" in notice
