"""Plain photos are written back as they were changed, on both databases."""

import pytest
from sqlalchemy import create_engine, event, select
from sqlalchemy.orm import Session

from photosvc.index.catalog import PlainCatalog
from photosvc.index.file_columns import write_markers
from photosvc.index.places import Gazetteer
from photosvc.library.changing import load_photo, load_photos
from photosvc.media.metadata import Region
from photosvc.models import Photo
from photosvc.models.engine import configure_engine
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos


@pytest.fixture(scope="module")
def engine(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine.execution_options(photosvc_writes=True)) as session:
        add_photos(session, 3, NOW)
        session.commit()
    yield engine
    engine.dispose()


@pytest.fixture
def session(engine):
    """What a test writes is rolled back."""
    with Session(engine.execution_options(photosvc_writes=True)) as session:
        yield session


def test_only_what_differs_is_written(session):
    first, second, third = (loaded := load_photos(session, session.scalars(select(Photo.id)).all())).photos
    catalog = PlainCatalog(session, Gazetteer.load(), "UTC")
    first.title, first.camera = "Lake", catalog.camera("Acme", "One")
    second.keywords = catalog.keywords(["Sun", "Beach"])
    assert [loaded.is_changed(photo) for photo in (first, second, third)] == [True, True, False]
    loaded.store([first, second, third])
    stored = session.scalars(select(Photo).order_by(Photo.id)).all()
    assert [(photo.title, photo.camera.model) for photo in stored[:1]] == [("Lake", "One")]
    assert [keyword.word for keyword in stored[1].keywords] == ["Beach", "Sun"]
    assert [keyword.word for keyword in second.keywords] == ["Beach", "Sun"]
    assert stored[2].title == third.title


def test_nothing_is_written_when_nothing_differs(session):
    loaded = load_photos(session, session.scalars(select(Photo.id)).all())
    session.connection()
    driver = []
    event.listen(session.get_bind(), "before_cursor_execute", lambda *given: driver.append(given[2]))
    loaded.store(loaded.photos)
    assert driver == []


def test_keywords_are_taken_away_and_come_in_the_order_of_their_words(session):
    uid = session.scalar(select(Photo.uid))
    catalog = PlainCatalog(session, Gazetteer.load(), "UTC")
    for words in (["b", "c", "a"], ["c"], ["d", "c"], []):
        loaded = load_photo(session, uid)
        (photo,) = loaded.photos
        photo.keywords = catalog.keywords(words)
        loaded.store([photo])
        assert [keyword.word for keyword in photo.keywords] == sorted(words)
        assert [keyword.word for keyword in load_photo(session, uid).photos[0].keywords] == sorted(words)


def test_markers_are_added_renamed_and_removed(session):
    uid = session.scalar(select(Photo.uid))
    for names in (["Ann", "Ben"], ["Ann", "Cem"], []):
        loaded = load_photo(session, uid)
        (photo,) = loaded.photos
        areas = [Region(name, "face", ord(name[0]) / 100, 0.1, 0.2, 0.2) for name in names]
        write_markers(photo.files[0], [("meta", area) for area in areas], NOW)
        assert loaded.has_other_markers(photo)
        loaded.store([photo])
        (again,) = load_photo(session, uid).photos
        assert [marker.name for marker in again.files[0].markers] == names
        if names:
            loaded = load_photo(session, uid)
            loaded.photos[0].files[0].markers[0].name = "Dana"
            assert not loaded.has_other_markers(loaded.photos[0])
            loaded.store(loaded.photos)
            assert load_photo(session, uid).photos[0].files[0].markers[0].name == "Dana"


def test_a_photo_that_the_session_changed_is_read_again(session):
    uid = session.scalar(select(Photo.uid))
    loaded = load_photo(session, uid)
    (photo,) = loaded.photos
    session.scalars(select(Photo).where(Photo.uid == uid)).one().title = "By the session"
    session.flush()
    loaded.reload(photo)
    assert (photo.title, photo.files[0].photo is photo) == ("By the session", True)
    assert not loaded.is_changed(photo)


def test_an_unknown_photo_is_not_loaded(session):
    assert load_photo(session, "p" + "0" * 15).photos == []
