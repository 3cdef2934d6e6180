"""Where a photo was taken, from the located photos before and after it."""

from datetime import datetime, timedelta

import pytest

from photosvc.index.place_estimates import Estimate, Located, estimate, located_neighbours

NOON = datetime(2020, 5, 1, 12)  # noqa: DTZ001 - wall time


def at(hours, lat=48.0, lng=2.0, place_id="fr:1"):
    return Located(NOON + timedelta(hours=hours), lat, lng, place_id)


def test_a_photo_lies_between_its_neighbours_or_at_the_place_of_the_nearer_one():
    for before, after, expected in (
        (None, None, None),
        (at(-37), None, None),
        (at(-36), None, Estimate(None, "fr:1")),
        (None, at(36, place_id="fr:2"), Estimate(None, "fr:2")),
        (at(-1), at(3, place_id="fr:2"), Estimate((48.0, 2.0), "fr:1")),
        (at(-3), at(1, 48.4, place_id="fr:2"), Estimate((48.3, 2.0), "fr:2")),
        (at(-1), at(1, 49.0, place_id="fr:2"), Estimate(None, "fr:1")),
        (at(0), at(1, 48.4), Estimate((48.0, 2.0), "fr:1")),
        (at(-1, 0.0, 179.9), at(1, 0.0, -179.9), Estimate((0.0, 180.0), "fr:1")),
        (at(-1, 89.9, 0.0), at(1, 89.9, 180.0), Estimate((90.0, 0.0), "fr:1")),
        (at(-37), at(1, 48.4, place_id="fr:2"), Estimate(None, "fr:2")),
    ):
        found = estimate(NOON, before, after)
        if expected is not None and expected.position is not None:
            assert found.place_id == expected.place_id
            assert found.position[0] == pytest.approx(expected.position[0], abs=1e-4)
            if expected.position[0] < 89:
                assert abs(found.position[1]) == pytest.approx(expected.position[1], abs=1e-4)
        else:
            assert found == expected


def test_neighbours_are_the_last_photo_before_or_at_a_time_and_the_first_one_after_it():
    first, second, same, last = located = [at(0), at(2, 49.0), at(2, 50.0), at(9)]
    for hours, expected in (
        (-1, (None, first)), (0, (first, second)), (1, (first, second)), (2, (second, last)), (9, (last, None)),
    ):  # fmt: skip
        assert located_neighbours(located, NOON + timedelta(hours=hours)) == expected, hours
    assert same is not second
    assert located_neighbours([], NOON) == (None, None)
