from hypothesis import given
from hypothesis import strategies as st

from photosvc.core.vocabulary import PRIORITY
from photosvc.index.quality import HIDDEN, quality_after_edit, quality_of
from photosvc.models import UNKNOWN_PLACE, Keyword, Photo
from tests.helpers.clock import NOW
from tests.helpers.examples import examples


def photo_with(*, has_place=False, keywords=(), **values):
    plain = {"favorite": False, "type": "image", "taken_src": "", "place_src": "", "year": 2020, "resolution": 1}
    cell_id = "s2:4799e370ff54" if has_place else UNKNOWN_PLACE
    return Photo(cell_id=cell_id, keywords=[Keyword(folded=word) for word in keywords], **{**plain, **values})


def scored(*, edited=False, **values):
    return quality_of(photo_with(**values), edited=edited)


def test_the_score_counts_what_speaks_for_a_photo():
    for values, score in (
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
        ({"keywords": ["screenshot"]}, 0),
        ({"type": "animated"}, 3),
        ({"type": "video"}, 3),
        ({"edited": True}, 3),
        ({"edited_at": NOW}, 3),
        ({"favorite": True}, 4),
        (
            {"favorite": True, "taken_src": "meta", "has_place": True, "place_src": "meta", "resolution": 12},
            7,
        ),
    ):
        assert scored(**values) == score, values


PHOTOS = st.builds(
    photo_with,
    favorite=st.booleans(),
    edited_at=st.sampled_from([None, NOW]),
    type=st.sampled_from(["image", "video", "animated", "raw"]),
    taken_src=st.sampled_from([*PRIORITY]),
    place_src=st.sampled_from([*PRIORITY]),
    has_place=st.booleans(),
    year=st.sampled_from([-1, 1999, 2007, 2008, 2011, 2012, 2026]),
    resolution=st.integers(0, 3),
    keywords=st.sampled_from([[], ["screenshot"], ["lake"]]),
)


@given(photo=PHOTOS)
@examples(400)
def test_an_edit_raises_the_quality_to_what_the_description_of_an_edited_photo_computes(photo):
    assert quality_after_edit(quality_of(photo, edited=False)) == quality_of(photo, edited=True)


def test_an_edit_does_not_show_a_hidden_photo():
    assert quality_after_edit(HIDDEN) == HIDDEN == -1
