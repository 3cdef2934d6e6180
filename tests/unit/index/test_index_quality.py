import pytest

from photosvc.index.describe import Scored, quality


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
