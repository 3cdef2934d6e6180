from datetime import timedelta

import pytest
from sqlalchemy import select

from photosvc.core.problems import Problem, Reason
from photosvc.media.metadata import Metadata, Region
from photosvc.models import Photo
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction, store_extractions


@pytest.fixture
def described(library):
    """A function that stores files of one photo and gives the photo."""
    with library.session() as session:

        def describe(*files, now=NOW):
            store_extractions(session, list(files), now)
            session.expire_all()
            return session.scalars(select(Photo)).one()

        yield describe


@pytest.mark.parametrize(
    ("values", "panorama"),
    [
        ({"width": 4000, "height": 2000}, True),
        ({"width": 4000, "height": 2200}, False),
        ({"width": 1000, "height": 500}, False),
        ({"width": 1001, "height": 501, "projection": "equirectangular"}, True),
        ({"width": 4000, "height": 2000, "media_type": "video"}, False),
    ],
)
def test_a_wide_or_projected_picture_is_a_panorama(described, values, panorama):
    assert described(("a.jpg", new_extraction(1, **values))).panorama is panorama


@pytest.mark.parametrize(("size", "megapixels"), [((4000, 3000), 12), ((800, 600), 0), ((1000, 800), 1), ((0, 0), 0)])
def test_the_resolution_is_in_whole_megapixels(described, size, megapixels):
    assert described(("a.jpg", new_extraction(1, width=size[0], height=size[1]))).resolution == megapixels


def test_a_picture_whose_colour_is_unknown_counts_as_black(described):
    assert described(("a.jpg", new_extraction(1, main_color=-1))).color == 0


def test_a_photo_of_broken_files_only_is_hidden_and_one_sound_file_shows_it(described):
    assert described(("a.jpg", new_extraction(1, problem=Problem(Reason.UNDECODABLE)))).quality == -1
    photo = described(("a.png", new_extraction(2, file_type="png", metadata=new_extraction(1).metadata)))
    assert (photo.quality >= 0, [file.primary for file in photo.files]) == (True, [False, True])


def test_a_stack_stays_one_and_what_people_took_apart_stays_apart(described):
    assert described(("a.jpg", new_extraction(1))).stack == 0
    same = new_extraction(1).metadata
    photo = described(("a.png", new_extraction(2, metadata=same)))
    assert photo.stack == 1
    photo.stack = -1
    assert described(("a.gif", new_extraction(3, metadata=same)), now=NOW + timedelta(hours=1)).stack == -1


def test_what_changes_is_stamped_and_what_does_not_is_only_checked(described):
    later = NOW + timedelta(days=1)
    described(("a.jpg", new_extraction(1)))
    photo = described(("a.jpg", new_extraction(1)), now=later)
    assert (photo.created_at, photo.updated_at, photo.checked_at) == (NOW, NOW, later)
    photo = described(("a.jpg", new_extraction(1, metadata=Metadata(title="new"))), now=later)
    assert (photo.title, photo.updated_at) == ("new", later)


def test_people_on_the_picture_name_it(described):
    faces = tuple(Region(name=name, kind="face", x=0.1, y=0.1, w=0.1, h=0.1) for name in ("Ada", "Bob"))
    photo = described(("a.jpg", new_extraction(1, metadata=Metadata(regions=faces))))
    assert photo.title == "Ada & Bob / 2020"
