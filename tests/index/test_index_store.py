from datetime import timedelta

import pytest
from sqlalchemy import select

from photosvc.core.problems import Problem, Reason
from photosvc.index.catalog import Catalog
from photosvc.index.places.gazetteer import Gazetteer
from photosvc.index.scan import FoundFile
from photosvc.index.store import Saved, Store
from photosvc.index.stored import keep, kept
from photosvc.media.metadata.record import Metadata, Region
from photosvc.models import Camera, File, Keyword, Photo, Place, RejectedFile, SearchRow
from tests.clock import NOW
from tests.factories.photos import new_extraction


@pytest.fixture
def session(library):
    with library.session() as session:
        yield session


def store(library, session, now=NOW):
    return Store(session, Catalog(session, Gazetteer.load()), library.originals, now)


def found(name, told):
    return FoundFile(name, told.size, told.mtime_ns)


def save(library, session, name, told, now=NOW):
    one = store(library, session, now)
    saved = one.save(found(name, told), told)
    assert one.finish() == (saved.problem is None)
    return saved


def test_a_new_file_makes_a_photo_and_its_row(library, session):
    assert save(library, session, "a/b.jpg", new_extraction(1)) == Saved(None, new=True)
    photo = session.scalars(select(Photo)).one()
    assert (photo.path, photo.name, photo.country, photo.place.city) == ("a", "b", "fr", "Paris")
    assert session.scalars(select(SearchRow.photo_uid)).all() == [photo.uid]


def test_the_same_file_again_changes_no_time_but_that_of_the_check(library, session):
    save(library, session, "a.jpg", new_extraction(1))
    assert save(library, session, "a.jpg", new_extraction(1), NOW + timedelta(days=1)) == Saved(None, new=False)
    photo, file = session.scalars(select(Photo)).one(), session.scalars(select(File)).one()
    assert (photo.updated_at, file.updated_at, photo.checked_at) == (NOW, NOW, NOW + timedelta(days=1))


def test_shared_things_are_one_row(library, session):
    for number in (1, 5, 13):
        save(library, session, f"{number}.jpg", new_extraction(number))
    assert session.query(Camera).filter_by(make="Maker").count() == 2
    assert session.query(Place).filter(Place.id != "zz").count() == 1
    assert sorted(session.scalars(select(Keyword.word))) == ["number 1", "number 13", "number 5", "tree"]


def test_a_rejected_file_is_remembered_until_it_is_read(library, session):
    told = new_extraction(1)
    one = store(library, session)
    one.reject(found("a.jpg", told), Problem(Reason.EMPTY))
    one.reject(found("a.jpg", told), Problem.of(Reason.WRONG_CONTENT, "picture"))
    one.finish()
    assert [(row.reason, row.detail) for row in session.scalars(select(RejectedFile))] == [("wrong_content", "picture")]
    save(library, session, "a.jpg", told)
    assert session.query(RejectedFile).count() == 0


def test_missing_files_are_counted_once(library, session):
    save(library, session, "a.jpg", new_extraction(1))
    one = store(library, session)
    assert one.mark_missing(["a.jpg", "never.jpg"]) == 1
    assert one.mark_missing(["a.jpg"]) == 0
    one.finish()
    assert session.scalars(select(SearchRow.listed)).all() == [False]
    assert session.scalars(select(Photo.quality)).all() == [-1]


def test_markers_of_the_file_are_replaced_and_those_of_people_stay(library, session):
    face = Region(kind="face", name="Ada", x=0.1, y=0.2, w=0.3, h=0.4)
    save(library, session, "a.jpg", new_extraction(1, metadata=Metadata(regions=(face,))))
    (marker,) = session.scalars(select(File)).one().markers
    uid = marker.uid
    save(library, session, "a.jpg", new_extraction(1, metadata=Metadata(regions=(face,))))
    assert [marker.uid for marker in session.scalars(select(File)).one().markers] == [uid]
    marker.src = "manual"
    session.flush()
    save(library, session, "a.jpg", new_extraction(1, metadata=Metadata()))
    assert [marker.uid for marker in session.scalars(select(File)).one().markers] == [uid]


def test_what_is_kept_of_a_file_is_what_was_read():
    face = Region(kind="face", name="Ada", x=0.1, y=0.2, w=0.3, h=0.4)
    metadata = Metadata(
        title="ä", taken_local=NOW.replace(tzinfo=None), taken_utc=NOW, lat=0.0, lng=0.0, keywords=("a", "b"),
        regions=(face,), utc_offset=0, f_number=2.8,
    )  # fmt: skip
    told = new_extraction(1, metadata=metadata)
    file = File()
    keep(file, told)
    assert kept(file) == told


def test_numbers_that_no_column_holds_are_the_nearest_it_does(library, session):
    far = Metadata(iso=2**40, focal_length=2**31, altitude=-(2**31) - 1, rating=2**15, lat=1.0, lng=2.0)
    told = new_extraction(
        1, width=2**32 - 1, height=1, frames=2**31, diff=-(2**40), duration_ns=2**63, orientation=2**15, metadata=far
    )
    save(library, session, "a.jpg", told)
    file, photo = session.scalars(select(File)).one(), session.scalars(select(Photo)).one()
    assert (file.width, file.height, file.frames, file.diff) == (0, 0, 2**31 - 1, -(2**31))
    assert (file.duration_ns, file.orientation) == (2**63 - 1, 2**15 - 1)
    assert (photo.iso, photo.focal_length, photo.altitude, photo.rating) == (2**31 - 1, 2**31 - 1, -(2**31), 2**15 - 1)


def test_the_largest_size_a_column_holds_makes_no_larger_number(library, session):
    save(library, session, "a.jpg", new_extraction(1, width=2**31 - 1, height=2**31 - 1))
    assert session.scalars(select(Photo.resolution)).one() == 2**31 - 1
