"""Filters and words as people type them, and the photos that they find, on both databases."""

import pytest
from sqlalchemy import select

from photosvc.models import Photo
from tests.databases.search.typed_library import CLIP, EVERY, IMG, NIGHT, PARK, fill_typed_library
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import edit_photos

FOUND = {
    # Ranges, in which an unknown number is never.
    "year:>2020": {PARK},
    "year:<=2020": {IMG, NIGHT, CLIP},
    "year:2020..2023": {NIGHT, PARK, CLIP},
    "year:..2019": {IMG},
    "year:<2020|>2020": {IMG, PARK},
    "iso:>800": {PARK},
    "iso:0-200": {IMG},
    "iso:0": {CLIP},
    "f:<2.8": {IMG},
    "f:>=1.8": {IMG, NIGHT},
    "f:1.5..2": {IMG},
    "f:0-4": {IMG, NIGHT},
    "mm:-4000": {IMG, NIGHT},
    "alt:<0": {NIGHT},
    "alt:*-1000": {IMG, NIGHT},
    "alt:-10-1000": {IMG, NIGHT},
    "alt:0": {PARK, CLIP},
    "taken:<2020-12-24": {IMG, CLIP},
    "taken:<=2020-12": {IMG, NIGHT, CLIP},
    "taken:2019-07..2020": {IMG, NIGHT, CLIP},
    "date:2019-07": {IMG},
    "added:>=2000": EVERY,
    "added:>2030-05": set(),
    "month:august-december": {NIGHT, CLIP},
    "month:!july": {NIGHT, CLIP},
    "rating:3-": {IMG, NIGHT},
    "rating:-1": {PARK},
    "rating:0": {CLIP},
    "rating:<4": {NIGHT, PARK},
    "width:>=1920": {IMG, CLIP},
    "height:480": {PARK},
    "size:>5mb": {IMG, CLIP},
    "size:5.2mb": {IMG},
    "size:..1MiB": {NIGHT, PARK},
    # Plurals, singulars, little words and words with a meaning.
    "flowers": {IMG},
    "label:flowers": {IMG},
    "city": {NIGHT},
    "label:cat": {IMG},
    "label:cat*": {IMG, CLIP},
    "keywords:cat": {IMG, CLIP},
    '"boat"': set(),
    "boat": {PARK, CLIP},
    "*boat*": {PARK, CLIP},
    "family in summer": {PARK},
    "the": {IMG, CLIP},
    '"the" boats': {CLIP},
    "videos": {CLIP},
    "-videos": EVERY - {CLIP},
    "blue": {CLIP},
    "raw": set(),
    "f/1.8": {IMG},
    "lake NOT summer": {IMG},
    "NOT (lake OR stars)": {CLIP},
    "lake AND NOT color:blue": {PARK},
    "한강": {PARK},
    "🎉": {IMG},
    "🎈": set(),
    "-🎉": EVERY - {IMG},
    'description:"🎉"': {IMG},
    # Names of files.
    "IMG_3615.JPG": {IMG},
    '"3615.jpg"': {IMG},
    "mp4": {CLIP},
    "night.png": set(),
    "ext:JPG": {IMG, NIGHT},
    "ext:!jpg|!png": {CLIP},
    'name:"night "': set(),
    r'name:"\-*"': set(),
    # Titles and descriptions.
    "title:lake": {IMG},
    "title:city": {NIGHT},
    'title:"lake at"': {IMG},
    'title:"at lake"': set(),
    'title:"*ake at*"': {IMG},
    "title:lake*": {IMG},
    "title:*night": {NIGHT},
    'title:""': {PARK},
    "title:false": {PARK},
    "title:true": EVERY - {PARK},
    "title:lake|false": {IMG, PARK},
    r'title:"\!lake"': {IMG},
    "has:!title": {PARK},
    "description:boat": {PARK, CLIP},
    'description:"*in summer*"': {PARK},
    "description:false": {NIGHT},
    # Places and cameras.
    "country:Italy|de": {IMG, PARK},
    "place:tuscany": {IMG},
    'place:"Arezzo"': {IMG},
    "place:flower": set(),
    "has:geo": {IMG, NIGHT, PARK},
    "near:Tokyo,Japan": {NIGHT},
    'near:"munich, Germany"@5': {PARK},
    "near:munich|arezzo": {IMG, PARK},
    "near:munich dist:1": set(),
    "near:munich dist:600": {IMG, PARK},
    "-near:tokyo": EVERY - {NIGHT},
    "camera:*iPhone*": {IMG},
    'lens:"*4.15mm"': {IMG},
    # Faces, and what is not recorded.
    "faces:yes": {IMG, NIGHT},
    "faces:2": {IMG},
    "faces:no": {PARK, CLIP},
    "faces:0-1": {NIGHT, PARK, CLIP},
    "face:x": set(),
    "category:x | ext:png": {PARK},
    "-category:x": EVERY,
}


@pytest.fixture(scope="module")
def library(new_library):
    library = new_library()
    with library.session() as session:
        fill_typed_library(session, NOW)
    return library


def found(library, **parameters):
    return {record["FileName"] for record in library.find(token=library.token(role="admin"), **parameters)}


def test_a_query_finds_its_photos(library):
    assert found(library) == EVERY
    wrong = {query: names for query in FOUND if (names := found(library, q=query)) != FOUND[query]}
    assert wrong == {}


def test_operators_mean_the_same_inside_quotes_and_in_parameters(library):
    for name, value, names in (
        ("label", "!cat", {NIGHT, PARK, CLIP}),
        ("label", "cat&!flower", set()),
        ("keywords", "cat*|blue&!flower", {CLIP}),
        ("title", "-lake|-cities", {PARK, CLIP}),
        ("name", "-img_*", {NIGHT, PARK, CLIP}),
        ("color", "!blue|!black", {PARK, CLIP}),
        ("iso", "!100|!3200", {NIGHT, CLIP}),
        ("people", "!jane", {NIGHT, PARK, CLIP}),
        ("is", "video|!geo", {CLIP}),
    ):
        for asked in ({"q": f"{name}:{value}"}, {"q": f'{name}:"{value}"'}, {name: value}, {name: f'"{value}"'}):
            assert found(library, **asked) == names, asked


def test_filter_is_a_scope_of_the_query(library):
    assert found(library, q="lake", filter="iso:>=800") == {PARK}
    assert found(library, q="title:lake", filter="title:cities") == set()
    assert found(library, iso="100", filter="iso:800") == set()


def test_exposures_are_found_in_any_case(library):
    with library.session() as session:
        photo = session.scalars(select(Photo).where(Photo.path == "2021")).one()
        edit_photos(session, [photo.id], exposure="2\u00bd S\u00c9C")
    for query in ('exposure:"2\u00bd s\u00e9c"', "exposure:2\u00bd*", 'exposure:"2\u00bd S\u00c9C"', "shutter:*sec"):
        assert found(library, q=query) == {PARK}, query


def test_a_distance_of_0_is_not_set(library):
    (there,) = library.find(q="ext:png")
    near = f"near:{there['UID']}"
    for query in (f"{near} dist:0", f"{near}@0", f"{near} dist:0.0", near):
        assert found(library, q=query) == {PARK}, query
    assert found(library, near=there["UID"], dist="0") == {PARK}
    assert found(library, dist="0") == EVERY
    assert found(library, lat=there["Lat"], lng=there["Lng"], dist=0) == {PARK}


def test_stars_are_a_field_and_a_facet(library):
    stars = {record["FileName"]: record.get("Rating") for record in library.find()}
    assert stars == {IMG: 5, NIGHT: 3, PARK: -1, CLIP: None}
    facets = library.get("by=rating", path="/api/v1/photos/facets").json["rating"]
    counted = [(-1, "-1", 1), (0, "0", 1), (3, "3", 1), (5, "5", 1)]
    assert sorted((one["value"], one["label"], one["count"]) for one in facets) == counted
