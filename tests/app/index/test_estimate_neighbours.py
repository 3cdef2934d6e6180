"""The neighbours that are remembered are those that a search for each photo finds."""

import random
from datetime import timedelta

import pytest

from photosvc.index.estimates import Located, Neighbours
from photosvc.index.sightings import WINDOW, Sighting
from photosvc.models import Camera, Cell, Photo, Place
from tests.helpers.clock import NOW

HOUR = timedelta(hours=1)


def add(session, number, at, *, utc=None, located=True, camera_id=2, serial=""):
    session.add(
        Photo(
            id=number, uid=f"p{number:015}", path="", name=str(number), keywords=[], camera_id=camera_id,
            camera_serial=serial, taken_at=utc or at, taken_at_local=at, taken_src="meta", day=1, quality=3,
            place_src="meta" if located else "", place_id="p", cell_id="c" if located else "zz", lat=float(number),
            lng=1.0, created_at=NOW, updated_at=NOW,
        )
    )  # fmt: skip


def seen(at, *, in_utc=False, camera_id=2, serial=""):
    return Sighting(camera_id, serial, at, False, True, 0.0, 0.0, "", in_utc)


@pytest.fixture
def places(library):
    """A session on a library with a place and two cameras."""
    with library.session() as session:
        session.add_all([Camera(id=2, make="A", model="B"), Camera(id=3, make="A", model="C")])
        session.add(Place(id="p", label="P", city="P", state="", country="de"))
        session.flush()
        session.add(Cell(id="c", place_id="p"))
        session.flush()
        yield session


@pytest.mark.parametrize("in_utc", [False, True])
def test_neighbours_are_the_last_before_and_the_first_after_in_any_order(places, in_utc):
    for seed in range(6):
        draw = random.Random(seed)
        serial = f"camera {seed}"  # of its own for each seed
        shift = 2 * HOUR if in_utc else 0 * HOUR
        times = [NOW + draw.randrange(200) * HOUR for _ in range((0, 1, 1, 4, 12, 12)[seed])]
        first = 100 * seed + 1
        for number, at in enumerate(times, start=first):
            add(places, number, at + shift, utc=at, serial=serial)
        add(places, first + 90, NOW + 7 * HOUR, located=False, serial=serial)
        add(places, first + 91, NOW + 8 * HOUR, camera_id=3, serial=serial)
        add(places, first + 92, NOW + 9 * HOUR, serial="7")
        places.flush()
        neighbours = Neighbours(places)
        asked = [draw.randrange(-60, 260) for _ in range(60)]
        for hours in asked if seed % 2 else sorted(asked):
            at = NOW + hours * HOUR
            found = [Located(time, float(number), 1.0, "p") for number, time in enumerate(times, start=first)]
            before = [one for one in found if at - WINDOW <= one.at <= at]
            after = [one for one in found if at < one.at <= at + WINDOW]
            expected = (
                max(before, key=lambda one: (one.at, -one.lat), default=None),
                min(after, key=lambda one: (one.at, one.lat), default=None),
            )
            assert neighbours.around(seen(at, in_utc=in_utc, serial=serial)) == expected, (seed, hours)


def test_a_time_lapse_looks_at_each_row_once(places):
    count = 200
    for number in range(1, count + 1):
        add(places, number, NOW + number * timedelta(seconds=20), located=False)
    places.flush()
    steps = 0

    def step():
        nonlocal steps
        steps += 1

    places.connection().connection.driver_connection.set_progress_handler(step, 100)
    neighbours = Neighbours(places)
    for number in range(1, count + 1):
        at = NOW + number * timedelta(seconds=20)
        assert neighbours.around(seen(at)) == (None, None)
    assert steps < 20 * count  # a search for each photo alone takes many times as many
