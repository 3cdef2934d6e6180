from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.vocabulary import PRIORITY
from photosvc.index.quality import HIDDEN, Scored, quality, quality_after_edit
from tests.support.examples import examples


def scored(**values):
    plain = {
        "favorite": False, "edited": False, "type": "image", "taken_src": "", "place_src": "", "has_place": False,
        "year": 2020, "resolution": 1, "keywords": frozenset(),
    }  # fmt: skip
    return quality(Scored(**{**plain, **values}))


@pytest.mark.parametrize(
    ("values", "score"),
    [
        ({}, 1),
        ({"resolution": 2}, 2),
        ({"year": 2007, "resolution": 0}, 2),
        ({"year": 2011}, 2),
        ({"year": 2012}, 1),
        ({"year": -1}, 1),
        ({"taken_src": "name"}, 2),
        ({"taken_src": "estimate"}, 1),
        ({"has_place": True, "place_src": "meta"}, 2),
        ({"has_place": True, "place_src": "estimate"}, 1),
        ({"place_src": "meta"}, 1),
        ({"keywords": frozenset({"screenshot"})}, 0),
        ({"type": "animated"}, 3),
        ({"type": "video"}, 3),
        ({"edited": True}, 3),
        ({"favorite": True}, 4),
        (
            {"favorite": True, "taken_src": "meta", "has_place": True, "place_src": "meta", "resolution": 12},
            7,
        ),
    ],
)
def test_the_score_counts_what_speaks_for_a_photo(values, score):
    assert scored(**values) == score


SCORED = st.builds(
    Scored,
    favorite=st.booleans(),
    edited=st.booleans(),
    type=st.sampled_from(["image", "video", "animated", "raw"]),
    taken_src=st.sampled_from([*PRIORITY]),
    place_src=st.sampled_from([*PRIORITY]),
    has_place=st.booleans(),
    year=st.sampled_from([-1, 1999, 2007, 2008, 2011, 2012, 2026]),
    resolution=st.integers(0, 3),
    keywords=st.sampled_from([frozenset(), frozenset({"screenshot"}), frozenset({"lake"})]),
)


@given(photo=SCORED)
@examples(400)
def test_an_edit_raises_the_quality_to_what_the_description_of_an_edited_photo_computes(photo):
    assert quality_after_edit(quality(photo)) == quality(replace(photo, edited=True))


def test_an_edit_does_not_show_a_hidden_photo():
    assert quality_after_edit(HIDDEN) == HIDDEN == -1
