"""Searching as people type: requests and the photos that they find."""

import pytest

from tests.clock import NOW
from tests.factories.typed_library import CLIP, EVERY, IMG, NIGHT, PARK, fill_typed_library
from tests.library import open_library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("typed"))
    with library.session() as session:
        fill_typed_library(session, NOW)
    yield library
    library.close()


def found(library, **parameters):
    return {record["FileName"] for record in library.find(token=library.token(role="admin"), **parameters)}


def refusal(library, query):
    answer = library.get({"q": query})
    assert answer.status_code == 400, answer.text
    return answer.json["details"][0]["message"]


def test_the_library_has_these_photos(library):
    assert found(library) == EVERY


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("year:>2020", {PARK}),
        ("year:>=2020", {NIGHT, PARK}),
        ("year:<2020", {IMG}),
        ("year:<=2020", {IMG, NIGHT}),
        ("year:2020..2023", {NIGHT, PARK}),
        ("year:2020..", {NIGHT, PARK}),
        ("year:..2019", {IMG}),
        ("iso:>=800", {NIGHT, PARK}),
        ("iso:>800", {PARK}),
        ("f:<2.8", {IMG}),
        ("f:<=2.8", {IMG, NIGHT}),
        ("f:>1.8", {NIGHT}),
        ("f:>=1.8", {IMG, NIGHT}),
        ("f:1.5..2", {IMG}),
        ("taken:>2020-12-24", {PARK}),
        ("taken:<2020-12-24", {IMG}),
        ("taken:>=2020-12-24", {NIGHT, PARK}),
        ("taken:<=2020-12", {IMG, NIGHT}),
        ("taken:2019-07..2020", {IMG, NIGHT}),
        ("added:>=2000", EVERY),
        ("added:>2030-05", set()),
        ("alt:<0", {NIGHT}),
        ("alt:>=250", {IMG}),
        ("year:<2020|>2020", {IMG, PARK}),
        ("month:july", {IMG, PARK}),
        ("month:Jul", {IMG, PARK}),
        ("month:august-december", {NIGHT}),
        ("month:june..aug", {IMG, PARK}),
        ("month:!july", {NIGHT}),
    ],
)
def test_comparisons_and_two_dots_are_ranges(library, query, names):
    assert found(library, q=query) - {CLIP} == names - {CLIP}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("f:-4", {IMG, NIGHT}),
        ("f:0-4", {IMG, NIGHT}),
        ("mm:-4000", {IMG, NIGHT}),
        ("iso:0-200", {IMG}),
        ("alt:*-1000", {IMG, NIGHT}),
        ("alt:-10-1000", {IMG, NIGHT}),
        ("alt:0", {PARK, CLIP}),
        ("iso:0", {CLIP}),
    ],
)
def test_an_unknown_number_is_in_no_range(library, query, names):
    assert found(library, q=query) == names


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "lake iso:>>5",
            'iso: ">>5" is not a number or a range such as 100-400, 100- or <=400 (character 10)',
        ),
        ("month:jully", 'month: "jully" is not a month such as 7, july or jul, or a range such as june-august'),
        ("iso:<1", 'iso: "<1" is not a number or a range'),
        ("added:<2020", 'added: "<2020" is not a day such as 2023-05-01'),
    ],
)
def test_what_is_no_range_is_refused_with_its_place(library, query, message):
    assert refusal(library, query).startswith(message)
