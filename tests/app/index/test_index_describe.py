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
            name = files[0][0].rpartition(".")[0]
            return session.scalars(select(Photo).where(Photo.name == name)).one()

        yield describe


def test_size_projection_and_colours_of_a_picture_are_described(described):
    for number, (values, expected) in enumerate((
        ({"width": 4000, "height": 2000}, {"panorama": True, "resolution": 8}),
        ({"width": 4000, "height": 2200}, {"panorama": False}),
        ({"width": 1000, "height": 500}, {"panorama": False}),
        ({"width": 1001, "height": 501, "projection": "equirectangular"}, {"panorama": True}),
        ({"width": 4000, "height": 2000, "media_type": "video"}, {"panorama": False}),
        ({"width": 4000, "height": 3000}, {"resolution": 12}),
        ({"width": 800, "height": 600}, {"resolution": 0}),
        ({"width": 1000, "height": 800}, {"resolution": 1}),
        ({"width": 0, "height": 0}, {"resolution": 0}),
        ({"main_color": -1}, {"color": 0}),
    )):  # fmt: skip
        photo = described((f"{number}.jpg", new_extraction(number, **values)))
        assert {name: getattr(photo, name) for name in expected} == expected, values


def test_a_photo_of_broken_files_only_is_hidden_and_one_sound_file_shows_it(described):
    assert described(("a.jpg", new_extraction(1, problem=Problem(Reason.UNDECODABLE)))).quality == -1
    photo = described(("a.png", new_extraction(2, file_type="png", metadata=new_extraction(1).metadata)))
    assert (photo.quality >= 0, [file.primary for file in photo.files]) == (True, [False, True])


def test_what_changes_is_stamped_and_what_does_not_is_only_checked_and_people_name_a_photo(described):
    later = NOW + timedelta(days=1)
    described(("a.jpg", new_extraction(1)))
    photo = described(("a.jpg", new_extraction(1)), now=later)
    assert (photo.created_at, photo.updated_at, photo.checked_at) == (NOW, NOW, later)
    photo = described(("a.jpg", new_extraction(1, metadata=Metadata(title="new"))), now=later)
    assert (photo.title, photo.updated_at) == ("new", later)
    faces = tuple(Region(name=name, kind="face", x=0.1, y=0.1, w=0.1, h=0.1) for name in ("Ada", "Bob"))
    assert described(("a.jpg", new_extraction(1, metadata=Metadata(regions=faces)))).title == "Ada & Bob / 2020"
