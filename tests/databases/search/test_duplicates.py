"""Groups of look-alikes against the plain comparison of every pair."""

import random

import pytest
from sqlalchemy import update

from photosvc.library.look_alikes import find_duplicates
from photosvc.models import File
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library

PHOTOS = 200


@pytest.fixture(scope="module")
def looks_of(tmp_path_factory):
    """A library whose photos have looks a few bits apart from some centres; and the look of each photo."""
    library = open_library(tmp_path_factory.mktemp("duplicates") / "instance")
    draw = random.Random(3)
    centres = [draw.getrandbits(64) for _ in range(60)]
    looks = {}
    with library.session() as session:
        add_photos(session, PHOTOS, NOW)
        for file in session.query(File).filter(File.primary, File.missing.is_(False)).order_by(File.id):
            look = draw.choice(centres)
            for bit in draw.sample(range(64), draw.randrange(7)):
                look ^= 1 << bit
            parts = {f"look_{part}": look >> 64 - 16 * part & 0xFFFF for part in (1, 2, 3, 4)}
            session.execute(update(File).where(File.id == file.id).values(**parts))
            looks[file.name] = look
        session.commit()
    yield library, looks
    library.close()


def test_a_group_holds_the_photos_near_its_first_that_are_in_no_better_group(looks_of):
    for distance in range(5):
        library, looks = looks_of
        with library.session() as session:
            groups = find_duplicates(session.connection(), distance)
        grouped = set()
        for group in groups:
            best = looks[group[0].name]
            near = {name for name, look in looks.items() if (look ^ best).bit_count() <= distance}
            assert {copy.name for copy in group} == near - grouped, distance
            assert [copy.distance for copy in group[1:]] == [
                (looks[copy.name] ^ best).bit_count() for copy in group[1:]
            ], distance
            grouped |= near
        alone = [looks[name] for name in looks.keys() - grouped]
        assert all((one ^ other).bit_count() > distance for at, one in enumerate(alone) for other in alone[:at])
        assert groups, distance


def test_without_photos_there_are_no_groups(tmp_path):
    library = open_library(tmp_path / "instance")
    with library.session() as session:
        assert find_duplicates(session.connection()) == []
    library.close()
