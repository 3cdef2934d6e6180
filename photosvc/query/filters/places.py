"""Filters: where photos were taken."""

from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters.making import CHOICE, flag, is_not, number, text, words
from photosvc.query.operands import Pattern

PLACES = (
    FilterSpec(
        "country",
        Kind.COUNTRY,
        ("country",),
        "Countries by two letters (ISO 3166) or by their English names; zz is unknown.",
        "country:de|at|japan",
        operators=CHOICE,
    ),
    text("state", "States or provinces.", "state:Bavaria"),
    text("city", "Cities.", 'city:"New York*"'),
    words(
        "place", "place", "Words in the names of cities, states and countries.", "place:tuscany", aliases=("location",)
    ),
    flag("geo", "cell_id", "Photos with a known place.", is_not(Pattern(("zz",)))),
    number("alt", "altitude", "Altitude in metres.", "alt:300-500", Kind.SIGNED),
    FilterSpec(
        "near",
        Kind.NEAR,
        ("lat", "lng"),
        "Close to another photo, given by its UID, or to a place, given by its English name; dist says how close.",
        "near:pqbcf5j446s0futy|tokyo dist:5",
        operators="|!-",
    ),
    FilterSpec(
        "latlng",
        Kind.BOX,
        ("lat", "lng"),
        "Inside the box north, east, south, west; or around a latitude, longitude.",
        "latlng:49.5,8.5,49.4,8.4",
        operators="|!",
    ),
    FilterSpec(
        "s2",
        Kind.CELL,
        ("cell_id",),
        "Inside an S2 cell, by its token; with dist, around its centre.",
        "s2:4799e370ca54",
        operators="|!",
    ),
    FilterSpec(
        "olc",
        Kind.PLUS_CODE,
        ("lat", "lng"),
        "Inside the area of a plus code; with dist, around its centre.",
        "olc:8FWCHX7W+",
        operators="|!",
    ),
    FilterSpec("lat", Kind.LATITUDE, ("lat", "lng"), "Latitude in degrees; goes with lng.", "lat:48.2 lng:16.4 dist:5"),
    FilterSpec(
        "lng", Kind.LONGITUDE, ("lat", "lng"), "Longitude in degrees; goes with lat.", "lat:48.2 lng:16.4 dist:5"
    ),
    FilterSpec(
        "dist",
        Kind.DISTANCE,
        (),
        "Kilometres around what near, lat and lng, s2 or olc give; 2 if left out, around places 20.",
        "near:pqbcf5j446s0futy dist:0.5",
    ),
)
